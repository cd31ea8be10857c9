//! One client's connection.

use super::{
    COMMANDS_MAX, Client, Command, EmulatedRead, Fault, Shared, encode,
    ro_spec::{self, EmulatedRoSpec},
};
use crate::{
    clock::now_us,
    decode::ReaderTime,
    kinds::{message, parameter, status},
    wire::{self, Encoder, Fields, HEADER, Message},
};
use bytes::BytesMut;
use std::{io, sync::Arc, time::Duration};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::mpsc,
    time::{Instant, sleep_until},
};

/// Codes of the greeting.
const WELCOME: u16 = 0;
const CLIENT_EXISTS: u16 = 2;
/// A client that acknowledges none of so many keepalives is gone.
const UNACKNOWLEDGED_MAX: u8 = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Running {
    Disabled,
    Enabled,
    Active,
}

pub struct Connection {
    shared: Arc<Shared>,
    number: u64,
    out: Encoder,
    spec: Option<(EmulatedRoSpec, Running)>,
    /// The time when the next is due, and the interval after it.
    keepalive: Option<(Instant, Duration)>,
    unacknowledged: u8,
    closing: bool,
}

/// The reason why a request was refused: a code of [`status`], and the words.
type Refusal = (u16, &'static str);

impl Connection {
    pub async fn serve(mut stream: TcpStream, shared: Arc<Shared>) {
        let (sender, commands) = mpsc::channel(COMMANDS_MAX);
        let number = {
            let mut state = shared.lock();
            state.next_client += 1;
            let number = state.next_client;
            let busy = state.client.is_some() || state.fault == Fault::SecondClient;
            if !busy {
                state.client = Some(Client {
                    number,
                    commands: sender,
                    inventories: false,
                });
            }
            (!busy).then_some(number)
        };
        let mut connection = Self {
            shared,
            number: number.unwrap_or_default(),
            out: Encoder::default(),
            spec: None,
            keepalive: None,
            unacknowledged: 0,
            closing: false,
        };
        let code = if number.is_some() {
            WELCOME
        } else {
            CLIENT_EXISTS
        };
        connection.event(parameter::CONNECTION_ATTEMPT, |event| {
            event.u16(code);
        });
        // The client sees that the connection ended, and needs no reason.
        if number.is_some() {
            let _ = connection.run(&mut stream, commands).await;
        } else {
            let _ = connection.send(&mut stream).await;
        }
    }

    async fn run(
        &mut self,
        stream: &mut TcpStream,
        mut commands: mpsc::Receiver<Command>,
    ) -> io::Result<()> {
        let mut received = BytesMut::new();
        stream.set_nodelay(true)?;
        loop {
            self.send(stream).await?;
            if self.closing {
                return Ok(());
            }
            let keepalive = self.keepalive;
            tokio::select! {
                read = stream.read_buf(&mut received) => {
                    if read? == 0 {
                        return Ok(());
                    }
                    while let Some(message) = wire::take_message(&mut received).map_err(io::Error::other)? {
                        self.handle(&message).map_err(io::Error::other)?;
                    }
                }
                command = commands.recv() => match command {
                    None => return Ok(()),
                    Some(Command::Reads(reads)) => self.report(&reads),
                    Some(Command::Antenna { antenna, connected }) => {
                        self.event(parameter::ANTENNA_EVENT, |event| {
                            event.u8(u8::from(connected)).u16(antenna);
                        });
                    }
                },
                () = sleep_until(keepalive.map_or_else(Instant::now, |(due, _)| due)), if keepalive.is_some() => {
                    self.keep_alive();
                }
            }
        }
    }

    async fn send(&mut self, stream: &mut TcpStream) -> io::Result<()> {
        let bytes = self.out.take();
        if bytes.is_empty() || self.shared.fault() == Fault::Silent {
            return Ok(());
        }
        stream.write_all(&bytes).await
    }

    fn time(&self, our_us: i64) -> ReaderTime {
        let options = &self.shared.options;
        let since_start = our_us.saturating_sub(self.shared.started_us);
        let us = |us: i64| u64::try_from(us).unwrap_or_default();
        if !options.utc_clock {
            ReaderTime::Uptime(us(since_start))
        } else if self.shared.fault() == Fault::Clock1970 {
            ReaderTime::Utc(us(since_start))
        } else {
            ReaderTime::Utc(us(
                our_us.saturating_add(options.clock_offset_ms.saturating_mul(1000))
            ))
        }
    }

    fn event(&mut self, kind: u16, fields: impl FnOnce(&mut Encoder)) {
        let time = self.time(now_us());
        encode::event(&mut self.out, time, kind, fields);
    }

    fn keep_alive(&mut self) {
        if self.unacknowledged >= UNACKNOWLEDGED_MAX {
            self.closing = true;
            return;
        }
        if self.shared.fault() != Fault::NoKeepalive {
            self.unacknowledged += 1;
            self.out.message(message::KEEPALIVE, 0, |_| ());
        }
        if let Some((due, period)) = &mut self.keepalive {
            *due = Instant::now() + *period;
        }
    }

    fn handle(&mut self, message: &Message) -> wire::Result<()> {
        let (kind, id) = (message.header.kind, message.header.id);
        let body = Fields::new(kind, &message.body);
        let done = match kind {
            message::KEEPALIVE_ACK => {
                self.unacknowledged = 0;
                return Ok(());
            }
            message::ENABLE_EVENTS_AND_REPORTS => return Ok(()),
            message::GET_READER_CAPABILITIES => {
                let shared = self.shared.clone();
                self.out.message(message::response(kind), id, |body| {
                    encode::capabilities(body, &shared.options);
                });
                return Ok(());
            }
            message::GET_READER_CONFIG => {
                let disconnected = self.shared.lock().disconnected.clone();
                let antennas = self.shared.options.antennas;
                self.out.message(message::response(kind), id, |body| {
                    encode::antennas(body, antennas, &disconnected);
                });
                return Ok(());
            }
            message::SET_READER_CONFIG => {
                if let Some(period_ms) = ro_spec::keepalive_period(body)? {
                    let period = Duration::from_millis(u64::from(period_ms));
                    self.keepalive = (period_ms > 0).then(|| (Instant::now() + period, period));
                }
                Ok(())
            }
            message::ADD_ROSPEC => self.add(ro_spec::decode(body)?),
            message::ENABLE_ROSPEC => self.change(body, Running::Disabled, Running::Enabled)?,
            message::START_ROSPEC => self.change(body, Running::Enabled, Running::Active)?,
            message::STOP_ROSPEC => self.change(body, Running::Active, Running::Enabled)?,
            message::DELETE_ROSPEC => self.delete(body)?,
            message::CLOSE_CONNECTION => {
                self.closing = true;
                Ok(())
            }
            _ => Err((status::UNSUPPORTED_MESSAGE, "unsupported message")),
        };
        let kind = match done {
            Err((status::UNSUPPORTED_MESSAGE, _)) => message::ERROR_MESSAGE,
            _ => message::response(kind),
        };
        let (code, text) = done.err().unwrap_or((status::SUCCESS, ""));
        self.out
            .message(kind, id, |body| encode::status(body, code, text));
        Ok(())
    }

    fn add(&mut self, spec: Option<EmulatedRoSpec>) -> Result<(), Refusal> {
        let spec = spec.ok_or((status::PARAMETER_ERROR, "no ROSpec"))?;
        let fault = self.shared.fault();
        if self.spec.is_some() {
            return Err((status::DUPLICATE_PARAMETER, "a ROSpec exists"));
        }
        if spec
            .antennas
            .iter()
            .any(|antenna| *antenna > self.shared.options.antennas)
        {
            return Err((status::OUT_OF_RANGE, "no such antenna"));
        }
        if fault == Fault::RefusePower && spec.sets_power {
            return Err((status::UNSUPPORTED_PARAMETER, "RFTransmitter"));
        }
        if fault == Fault::RefuseReports && spec.every.is_some() {
            return Err((status::UNSUPPORTED_PARAMETER, "ROReportSpec"));
        }
        self.spec = Some((spec, Running::Disabled));
        Ok(())
    }

    fn change(
        &mut self,
        mut body: Fields,
        from: Running,
        to: Running,
    ) -> wire::Result<Result<(), Refusal>> {
        let id = body.u32()?;
        let Some((_, running)) = self
            .spec
            .as_mut()
            .filter(|(spec, _)| id == 0 || id == spec.id)
        else {
            return Ok(Err((status::PARAMETER_ERROR, "no such ROSpec")));
        };
        if *running != from {
            return Ok(Err((status::PARAMETER_ERROR, "not now")));
        }
        *running = to;
        self.note_inventory();
        Ok(Ok(()))
    }

    fn delete(&mut self, mut body: Fields) -> wire::Result<Result<(), Refusal>> {
        let id = body.u32()?;
        let deleted = self.spec.take_if(|(spec, _)| id == 0 || id == spec.id);
        self.note_inventory();
        Ok(match deleted {
            None if id != 0 => Err((status::PARAMETER_ERROR, "no such ROSpec")),
            _ => Ok(()),
        })
    }

    fn note_inventory(&self) {
        let inventories = matches!(self.spec, Some((_, Running::Active)));
        let mut state = self.shared.lock();
        if let Some(client) = state
            .client
            .as_mut()
            .filter(|client| client.number == self.number)
        {
            client.inventories = inventories;
        }
    }

    fn report(&mut self, reads: &[EmulatedRead]) {
        let Some((spec, Running::Active)) = &self.spec else {
            return;
        };
        let fault = self.shared.fault();
        let hears = |read: &&EmulatedRead| {
            spec.antennas.is_empty() || spec.antennas.contains(&read.antenna)
        };
        let heard = reads.iter().filter(hears);
        let reports: Vec<_> = heard
            .map(|read| encode::report_of(read, self.time(read.at_ms.saturating_mul(1000))))
            .collect();
        let mut out = Encoder::default();
        encode::reports(&mut out, &reports, spec, fault == Fault::OddEpc);
        let (id, mut bytes) = (spec.id, out.take());
        match fault {
            Fault::HalfMessage => {
                bytes.truncate(HEADER + 3);
                self.closing = true;
            }
            Fault::HugeLength => put(&mut bytes, 2, &(1_u32 << 30).to_be_bytes()),
            // The length of the first TagReportData.
            Fault::WrongLength => put(&mut bytes, HEADER + 2, &[0xff, 0xff]),
            Fault::EndInventory => {
                self.event(parameter::RO_SPEC_EVENT, |event| {
                    event.u8(1).u32(id).u32(0);
                });
            }
            _ => {}
        }
        self.out.raw(&bytes);
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.client.take_if(|client| client.number == self.number);
    }
}

fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    if let Some(place) = bytes.get_mut(at..at + value.len()) {
        place.copy_from_slice(value);
    }
}
