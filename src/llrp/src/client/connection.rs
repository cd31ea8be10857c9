//! One connection to a reader. A single task reads and writes, so that nothing runs beside it.

use crate::{
    AntennaConfig, Capabilities, Event, RSSI_UNKNOWN_DBM, Read, ReaderConfig, State,
    clock::{Arrival, ReaderClock},
    decode::{self, ReaderEvent, Status, TagReport},
    kinds::message,
    request::{self, RO_SPEC_ID, Reporting, RoSpec},
    wire::{self, Encoder, Fields, Message},
};
use bytes::BytesMut;
use std::{
    io::{self, ErrorKind},
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::{Instant, sleep, timeout, timeout_at},
};

/// The time that a reader may take for an answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
const KEEPALIVE: Duration = Duration::from_secs(5);
/// Two keepalives missed, and a second for the network.
const SILENCE_MAX: Duration = Duration::from_secs(11);
/// Reads are collected for so long: one task switch for many of them.
const COLLECT: Duration = Duration::from_millis(10);
const READ_CHUNK: usize = 1 << 16;
/// Warnings of one connection; a reader that sends more has said enough.
const WARNINGS_MAX: u8 = 20;
/// Antennas whose state is passed on; readers with hubs have 32.
const ANTENNAS_MAX: u8 = 64;
const CLOSED: &str = "The reader closed the connection.";

pub struct Connection<'a> {
    stream: TcpStream,
    events: &'a (dyn Fn(Event) + Send + Sync),
    received: BytesMut,
    outgoing: Encoder,
    next_id: u32,
    clock: ReaderClock,
    offset_ms: Option<i64>,
    reads: Vec<Read>,
    reported_bad_epc: bool,
    warnings: u8,
    /// The `ROSpec` runs.
    running: bool,
}

/// The reason why a connection ended, as a sentence for operators.
type Failure = String;

/// The answer to a request: its body, or the status of a refusal.
type Answer = Result<Message, Status>;

impl<'a> Connection<'a> {
    pub fn new(stream: TcpStream, events: &'a (dyn Fn(Event) + Send + Sync)) -> Self {
        Self {
            stream,
            events,
            received: BytesMut::new(),
            outgoing: Encoder::default(),
            next_id: 1,
            clock: ReaderClock::default(),
            offset_ms: None,
            reads: Vec::new(),
            reported_bad_epc: false,
            warnings: 0,
            running: false,
        }
    }

    /// Sets the reader up and passes on what it sends, until the connection fails.
    pub async fn run(&mut self, config: &ReaderConfig) -> Failure {
        match self.serve(config).await {
            Ok(never) => match never {},
            Err(failure) => {
                // What arrived before the failure counts.
                self.flush_reads();
                failure
            }
        }
    }

    async fn serve(&mut self, config: &ReaderConfig) -> Result<std::convert::Infallible, Failure> {
        self.wait_for_connection_event().await?;
        let capabilities = self.capabilities().await?;
        self.configure().await?;
        self.start_inventory(config, &capabilities).await?;
        (self.events)(Event::State(State::Connected(capabilities)));
        self.ask_for_antennas().await?;
        loop {
            let heard = Instant::now();
            while let Some(message) = self.next_message()? {
                self.handle(&message)?;
            }
            let collect = !self.reads.is_empty();
            self.flush_reads();
            self.send().await?;
            if collect {
                sleep(COLLECT).await;
            }
            let received = timeout_at(heard + SILENCE_MAX, self.receive()).await;
            received
                .map_err(|_| format!("The reader was silent for {} s.", SILENCE_MAX.as_secs()))??;
        }
    }

    /// Stops the inventory and ends the connection.
    pub async fn close(&mut self) -> Result<(), Failure> {
        self.outgoing = Encoder::default();
        self.running = false;
        self.request(message::STOP_ROSPEC, |body| {
            request::ro_spec_id(body, RO_SPEC_ID);
        });
        self.request(message::DELETE_ROSPEC, |body| {
            request::ro_spec_id(body, RO_SPEC_ID);
        });
        let id = self.request(message::CLOSE_CONNECTION, |_| ());
        self.send().await?;
        self.answer(message::CLOSE_CONNECTION, id).await.map(|_| ())
    }

    async fn wait_for_connection_event(&mut self) -> Result<(), Failure> {
        let first = timeout(ANSWER_TIMEOUT, async {
            loop {
                if let Some(message) = self.next_message()? {
                    return Ok::<_, Failure>(message);
                }
                self.receive().await?;
            }
        });
        let silent = format!(
            "The reader said nothing for {} s after connecting.",
            ANSWER_TIMEOUT.as_secs()
        );
        let first = first.await.map_err(|_| silent)??;
        let mut status = None;
        if first.header.kind == message::READER_EVENT_NOTIFICATION {
            let note = |event| {
                if let ReaderEvent::ConnectionAttempt(code) = event {
                    status = Some(code);
                }
            };
            let time = decode::reader_events(fields(&first), note).map_err(words)?;
            self.clock.correct(time, Arrival::now());
            self.report_offset();
        }
        match status {
            Some(0) => Ok(()),
            Some(1 | 2) => Err("Another client is connected to the reader.".into()),
            Some(code) => Err(format!("The reader refused the connection: status {code}.")),
            None => Err("The reader did not greet with a connection event.".into()),
        }
    }

    async fn capabilities(&mut self) -> Result<Capabilities, Failure> {
        let answer = self
            .ask(message::GET_READER_CAPABILITIES, request::get_capabilities)
            .await?;
        let answer = answer
            .map_err(|status| format!("The reader did not give its capabilities: {status}."))?;
        decode::capabilities(fields(&answer), answer.header.version).map_err(words)
    }

    async fn configure(&mut self) -> Result<(), Failure> {
        // Whoever used the reader before may have left ROSpecs, and may have had it hold events back.
        if self.delete_ro_spec(0).await?.is_err() {
            let _ = self.delete_ro_spec(RO_SPEC_ID).await?;
        }
        let keepalive = self.ask(message::SET_READER_CONFIG, |body| {
            request::set_keepalive(body, KEEPALIVE);
        });
        if let Err(status) = keepalive.await? {
            return Err(format!("The reader refused keepalives: {status}."));
        }
        if let Err(status) = self
            .ask(message::SET_READER_CONFIG, request::set_events)
            .await?
        {
            self.warn(format!(
                "The reader does not report events of its antennas: {status}."
            ));
        }
        Ok(())
    }

    async fn delete_ro_spec(&mut self, id: u32) -> Result<Answer, Failure> {
        self.ask(message::DELETE_ROSPEC, |body| request::ro_spec_id(body, id))
            .await
    }

    async fn start_inventory(
        &mut self,
        config: &ReaderConfig,
        capabilities: &Capabilities,
    ) -> Result<(), Failure> {
        self.check_antennas(&config.antennas, capabilities)?;
        self.add_ro_spec(RoSpec::new(config, capabilities)).await?;
        for (request, verb) in [
            (message::ENABLE_ROSPEC, "enable"),
            (message::START_ROSPEC, "start"),
        ] {
            let answer = self
                .ask(request, |body| request::ro_spec_id(body, RO_SPEC_ID))
                .await?;
            answer
                .map_err(|status| format!("The reader did not {verb} the inventory: {status}."))?;
        }
        self.running = true;
        // It has no answer; a reader that knows nothing to enable may send an error.
        self.request(message::ENABLE_EVENTS_AND_REPORTS, |_| ());
        self.send().await
    }

    fn check_antennas(
        &mut self,
        antennas: &[AntennaConfig],
        capabilities: &Capabilities,
    ) -> Result<(), Failure> {
        let has = capabilities.antennas;
        let missing: Vec<u16> = antennas
            .iter()
            .map(|config| config.antenna)
            .filter(|antenna| *antenna > has)
            .collect();
        if has == 0 || missing.is_empty() {
            return Ok(());
        }
        if missing.len() == antennas.len() {
            return Err(format!(
                "The reader has {has} antennas, and none of those that are configured."
            ));
        }
        for antenna in missing {
            self.warn(format!(
                "Antenna {antenna} does not exist: the reader has {has}."
            ));
        }
        Ok(())
    }

    /// Adds the `ROSpec`, or a plainer one that the reader accepts.
    async fn add_ro_spec(&mut self, full: RoSpec) -> Result<(), Failure> {
        let reports = [full.reporting, Reporting::Rounds, Reporting::ReadersOwn];
        let mut specs: Vec<RoSpec> = reports
            .map(|reporting| RoSpec {
                reporting,
                ..full.clone()
            })
            .into();
        if full.sets_power() {
            let plainer: Vec<_> = specs.iter().cloned().map(RoSpec::without_power).collect();
            specs.extend(plainer);
        }
        let mut refusal = None;
        for spec in specs {
            match self.ask(message::ADD_ROSPEC, |body| spec.add(body)).await? {
                Ok(_) => {
                    if let Some(status) = refusal {
                        self.warn_of_plainer(&full, &spec, &status);
                    }
                    return Ok(());
                }
                // The first refusal says what the reader minds about the full one.
                Err(status) => refusal = refusal.or(Some(status)),
            }
        }
        let status = refusal.map(|status| status.to_string()).unwrap_or_default();
        Err(format!("The reader refused the inventory: {status}."))
    }

    fn warn_of_plainer(&mut self, full: &RoSpec, accepted: &RoSpec, status: &Status) {
        if full.sets_power() && !accepted.sets_power() {
            self.warn(format!(
                "The reader refused the transmit power and keeps its own: {status}."
            ));
        }
        if accepted.reporting == Reporting::ReadersOwn {
            self.warn(format!(
                "The reader reports as it is set up, maybe without signal strengths: {status}."
            ));
        }
    }

    async fn ask_for_antennas(&mut self) -> Result<(), Failure> {
        if let Ok(answer) = self
            .ask(message::GET_READER_CONFIG, request::get_antennas)
            .await?
        {
            let events = self.events;
            let mut left = ANTENNAS_MAX;
            let each = |antenna, connected| {
                if left > 0 {
                    left -= 1;
                    events(Event::Antenna { antenna, connected });
                }
            };
            decode::antennas(fields(&answer), each).map_err(words)?;
        }
        Ok(())
    }

    /// Queues a request; gives its id.
    fn request(&mut self, kind: u16, body: impl FnOnce(&mut Encoder)) -> u32 {
        let id = self.next_id;
        self.next_id = self.next_id.wrapping_add(1);
        self.outgoing.message(kind, id, body);
        id
    }

    /// Sends a request and waits for its answer.
    async fn ask(&mut self, kind: u16, body: impl FnOnce(&mut Encoder)) -> Result<Answer, Failure> {
        let id = self.request(kind, body);
        self.send().await?;
        let answer = timeout(ANSWER_TIMEOUT, self.answer(kind, id)).await;
        answer.map_err(|_| {
            format!(
                "The reader did not answer within {} s.",
                ANSWER_TIMEOUT.as_secs()
            )
        })?
    }

    /// Waits for the answer to a request, and handles what comes before it.
    async fn answer(&mut self, kind: u16, id: u32) -> Result<Answer, Failure> {
        loop {
            while let Some(message) = self.next_message()? {
                let refused = message.header.kind == message::ERROR_MESSAGE;
                if message.header.id == id
                    && (refused || message.header.kind == message::response(kind))
                {
                    self.flush_reads();
                    let status = decode::status(fields(&message)).map_err(words)?;
                    return Ok(match status {
                        Some(status) if refused || !status.is_success() => Err(status),
                        _ => Ok(message),
                    });
                }
                self.handle(&message)?;
            }
            self.flush_reads();
            self.send().await?;
            self.receive().await?;
        }
    }

    async fn send(&mut self) -> Result<(), Failure> {
        if self.outgoing.is_empty() {
            return Ok(());
        }
        let bytes = self.outgoing.take();
        match timeout(ANSWER_TIMEOUT, self.stream.write_all(&bytes)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(broken(&error)),
            Err(_) => Err(format!(
                "The reader took nothing for {} s.",
                ANSWER_TIMEOUT.as_secs()
            )),
        }
    }

    async fn receive(&mut self) -> Result<(), Failure> {
        self.received.reserve(READ_CHUNK);
        match self.stream.read_buf(&mut self.received).await {
            Ok(0) => Err(CLOSED.into()),
            Ok(_) => Ok(()),
            Err(error) => Err(broken(&error)),
        }
    }

    fn next_message(&mut self) -> Result<Option<Message>, Failure> {
        wire::take_message(&mut self.received).map_err(words)
    }

    /// Handles a message that is not the answer to a request.
    fn handle(&mut self, message: &Message) -> Result<(), Failure> {
        match message.header.kind {
            message::RO_ACCESS_REPORT => self.handle_report(message),
            message::KEEPALIVE => {
                self.outgoing
                    .message(message::KEEPALIVE_ACK, message.header.id, |_| ());
                self.report_offset();
                Ok(())
            }
            message::READER_EVENT_NOTIFICATION => self.handle_events(message),
            // Others are answers that came too late, errors without a request, and manufacturers' own.
            _ => Ok(()),
        }
    }

    fn handle_report(&mut self, message: &Message) -> Result<(), Failure> {
        let arrival = Arrival::now();
        let (clock, reads) = (&mut self.clock, &mut self.reads);
        let mut bad = false;
        let each = |report: Option<TagReport>| match report {
            Some(report) => reads.push(read(&report, clock, arrival)),
            None => bad = true,
        };
        decode::tag_reports(fields(message), each).map_err(words)?;
        if bad && !self.reported_bad_epc {
            self.reported_bad_epc = true;
            self.warn("The reader reports tags without a usable EPC; they are ignored.".into());
        }
        Ok(())
    }

    fn handle_events(&mut self, message: &Message) -> Result<(), Failure> {
        let mut found = Vec::new();
        let time =
            decode::reader_events(fields(message), |event| found.push(event)).map_err(words)?;
        self.clock.correct(time, Arrival::now());
        for event in found {
            match event {
                ReaderEvent::Antenna { antenna, connected } => {
                    (self.events)(Event::Antenna { antenna, connected });
                }
                ReaderEvent::RoSpecEnded(RO_SPEC_ID) if self.running => {
                    return Err("The inventory was stopped at the reader.".into());
                }
                ReaderEvent::RoSpecEnded(_) => {}
                ReaderEvent::ConnectionClosed => {
                    return Err(CLOSED.into());
                }
                ReaderEvent::ConnectionAttempt(_) => {
                    self.warn("Another client tried to connect to the reader.".into());
                }
                ReaderEvent::BufferFull(percent) => {
                    self.warn(format!(
                        "The reader's buffer of reports is {percent} % full."
                    ));
                }
                ReaderEvent::BufferOverflow => {
                    self.warn("The reader's buffer overflowed: reads were lost.".into());
                }
                ReaderEvent::Exception(text) => self.warn(format!("The reader reports: {text}")),
            }
        }
        Ok(())
    }

    fn flush_reads(&mut self) {
        if !self.reads.is_empty() {
            (self.events)(Event::Reads(std::mem::take(&mut self.reads)));
        }
    }

    fn report_offset(&mut self) {
        let offset_ms = self.clock.offset_ms();
        if let Some(offset_ms) = offset_ms.filter(|_| offset_ms != self.offset_ms) {
            self.offset_ms = Some(offset_ms);
            (self.events)(Event::ClockOffset(offset_ms));
        }
    }

    fn warn(&mut self, warning: String) {
        if self.warnings < WARNINGS_MAX {
            self.warnings += 1;
            (self.events)(Event::Warning(warning));
        }
    }
}

fn fields(message: &Message) -> Fields<'_> {
    Fields::new(message.header.kind, &message.body)
}

fn broken(error: &io::Error) -> Failure {
    match error.kind() {
        ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted | ErrorKind::BrokenPipe => {
            CLOSED.into()
        }
        _ => format!("The connection broke: {error}."),
    }
}

fn words(error: wire::WireError) -> Failure {
    error.to_string()
}

fn read(report: &TagReport, clock: &mut ReaderClock, arrival: Arrival) -> Read {
    Read {
        antenna: report.antenna,
        epc: report.epc,
        rssi_dbm: report.rssi_dbm.map_or(RSSI_UNKNOWN_DBM, f32::from),
        at_ms: clock.correct(report.last_seen.or(report.first_seen), arrival),
        count: u32::from(report.count.max(1)),
    }
}
