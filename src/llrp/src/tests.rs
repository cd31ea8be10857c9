use super::{
    AntennaConfig, Capabilities, Event, Read, ReaderConfig, State,
    clock::{AGE_MAX_MS, Arrival, ReaderClock, now_us},
    decode::{self, ReaderTime, TagReport},
    emulator::{EmulatedRead, Emulator, EmulatorOptions, Fault, encode, ro_spec},
    fuzz,
    kinds::{message, parameter},
    request::{RO_SPEC_ID, Reporting, RoSpec},
    run,
    wire::{Encoder, Fields, MESSAGE_MAX, Message, WireError, take_message},
};
use crate::epc::{EPC_MAX_BYTES, Epc};
use bytes::BytesMut;
use proptest::{collection::vec, option, prelude::*};
use std::{net::SocketAddr, time::Duration};
use tokio::{
    io::AsyncWriteExt,
    net::TcpListener,
    sync::{mpsc, oneshot},
    task::JoinHandle,
    time::Instant,
};

const ANY_PORT: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);

/// A client that runs against an address.
struct Client {
    events: mpsc::UnboundedReceiver<Event>,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

/// The value of the first event of a pattern.
macro_rules! first {
    ($client:expr, $pattern:pat => $value:expr) => {
        loop {
            if let $pattern = $client.events.recv().await.expect("a client that runs") {
                break $value;
            }
        }
    };
}

impl Client {
    fn start(address: SocketAddr, antennas: &[(u16, Option<f64>)]) -> Self {
        let antennas = antennas.iter().map(|(antenna, power_dbm)| AntennaConfig {
            antenna: *antenna,
            power_dbm: *power_dbm,
        });
        let config = ReaderConfig {
            address: address.to_string(),
            antennas: antennas.collect(),
        };
        let (sender, events) = mpsc::unbounded_channel();
        let (stop, stopped) = oneshot::channel();
        // The test may have ended.
        let pass_on = move |event| drop(sender.send(event));
        let task = tokio::spawn(run(config, |_| Ok(()), pass_on, async move {
            drop(stopped.await);
        }));
        Self { events, stop, task }
    }

    async fn connected(&mut self) -> Capabilities {
        first!(self, Event::State(State::Connected(capabilities)) => capabilities)
    }

    async fn down(&mut self) -> (String, Duration) {
        first!(self, Event::State(State::Down { reason, retry_in }) => (reason, retry_in))
    }

    async fn warning(&mut self) -> String {
        first!(self, Event::Warning(warning) => warning)
    }

    async fn reads(&mut self) -> Vec<Read> {
        first!(self, Event::Reads(reads) => reads)
    }

    async fn stop(self) {
        self.stop.send(()).expect("a client that runs");
        self.task.await.expect("a client that ends");
    }
}

async fn emulator(options: EmulatorOptions) -> Emulator {
    Emulator::start(ANY_PORT, options)
        .await
        .expect("a free port")
}

/// An emulator and a client that inventories it.
async fn connected() -> (Emulator, Client) {
    let emulator = emulator(EmulatorOptions::default()).await;
    let mut client = Client::start(emulator.address(), &[]);
    client.connected().await;
    (emulator, client)
}

fn epc(text: &str) -> Epc {
    text.parse().expect("an EPC")
}

fn emulated(antenna: u16, text: &str) -> EmulatedRead {
    EmulatedRead {
        antenna,
        epc: epc(text),
        rssi_dbm: -51.4,
        at_ms: now_us() / 1000,
    }
}

const TAG: &str = "303400000000000000000001";

#[tokio::test]
async fn a_client_inventories_and_stops() {
    let emulator = emulator(EmulatorOptions::default()).await;
    emulator.set_antenna(3, false).await;
    let mut client = Client::start(emulator.address(), &[]);
    let capabilities = client.connected().await;
    assert_eq!((capabilities.antennas, capabilities.utc_clock), (4, true));
    assert_eq!(
        (capabilities.firmware.as_str(), capabilities.llrp_version),
        ("Emulator", "1.0.1")
    );
    for number in 1..=4 {
        let (antenna, connected) =
            first!(client, Event::Antenna { antenna, connected } => (antenna, connected));
        assert_eq!((antenna, connected), (number, number != 3));
    }
    emulator.set_antenna(3, true).await;
    assert!(first!(client, Event::Antenna { antenna: 3, connected } => connected));
    let sent = vec![
        emulated(1, TAG),
        emulated(4, "30"),
        emulated(2, &"AB".repeat(EPC_MAX_BYTES)),
    ];
    assert!(emulator.send(sent.clone()).await);
    let mut reads = Vec::new();
    while reads.len() < sent.len() {
        reads.extend(client.reads().await);
    }
    for (read, sent) in reads.iter().zip(&sent) {
        assert_eq!(
            (read.antenna, read.epc, read.rssi_dbm, read.count),
            (sent.antenna, sent.epc, -51.0, 1)
        );
    }
    client.stop().await;
    // Nobody inventories any more.
    assert!(!emulator.send(sent).await);
}

#[tokio::test]
async fn only_configured_antennas_are_read() {
    let emulator = emulator(EmulatorOptions::default()).await;
    let mut client = Client::start(emulator.address(), &[(2, Some(21.1)), (9, None)]);
    let expected = "Antenna 9 does not exist: the reader has 4.";
    assert_eq!(client.warning().await, expected);
    client.connected().await;
    let sent = vec![emulated(1, "01"), emulated(2, "02")];
    assert!(emulator.send(sent).await);
    let reads: Vec<_> = client.reads().await.iter().map(|read| read.epc).collect();
    assert_eq!(reads, [epc("02")]);
    client.stop().await;
    let mut client = Client::start(emulator.address(), &[(9, None)]);
    let expected = "The reader has 4 antennas, and none of those that are configured.";
    assert_eq!(client.down().await.0, expected);
}

#[tokio::test]
async fn a_connection_ends_with_a_reason_and_begins_anew() {
    for (fault, expected) in [
        (Fault::HalfMessage, "The reader closed the connection."),
        (
            Fault::WrongLength,
            "The reader sent malformed LLRP: type 240 has the wrong length.",
        ),
        (
            Fault::HugeLength,
            "The reader sent a message of 1073741824 bytes; 10 to 1048576 are allowed.",
        ),
        (
            Fault::EndInventory,
            "The inventory was stopped at the reader.",
        ),
    ] {
        let (emulator, mut client) = connected().await;
        emulator.set_fault(fault);
        assert!(emulator.send(vec![emulated(1, TAG)]).await);
        assert_eq!(client.down().await.0, expected);
        emulator.set_fault(Fault::None);
        client.connected().await;
        assert!(emulator.send(vec![emulated(1, TAG)]).await);
        assert_eq!(client.reads().await.len(), 1);
    }
}

#[tokio::test]
async fn a_reader_with_another_client_is_tried_again() {
    let emulator = emulator(EmulatorOptions::default()).await;
    emulator.set_fault(Fault::SecondClient);
    let mut client = Client::start(emulator.address(), &[]);
    let (reason, _) = client.down().await;
    assert_eq!(reason, "Another client is connected to the reader.");
    emulator.set_fault(Fault::None);
    client.connected().await;
}

#[tokio::test]
async fn an_epc_of_odd_length_is_rounded_up_and_bad_ones_are_ignored() {
    let (emulator, mut client) = connected().await;
    emulator.set_fault(Fault::OddEpc);
    assert!(emulator.send(vec![emulated(1, "3034FF")]).await);
    let expected = "The reader reports tags without a usable EPC; they are ignored.";
    assert_eq!(client.warning().await, expected);
    assert_eq!(client.reads().await[0].epc, epc("3034E0"));
}

#[tokio::test]
async fn refused_parts_are_left_out() {
    for (fault, expected) in [
        (
            Fault::RefusePower,
            "The reader refused the transmit power and keeps its own: error 209, \"RFTransmitter\".",
        ),
        (
            Fault::RefuseReports,
            "The reader reports as it is set up, maybe without signal strengths: error 209, \"ROReportSpec\".",
        ),
    ] {
        let emulator = emulator(EmulatorOptions::default()).await;
        emulator.set_fault(fault);
        let mut client = Client::start(emulator.address(), &[(1, Some(20.0))]);
        assert_eq!(client.warning().await, expected);
        client.connected().await;
        assert!(emulator.send(vec![emulated(1, TAG)]).await);
        assert_eq!(client.reads().await[0].epc, epc(TAG));
    }
}

#[tokio::test]
async fn times_are_by_our_clock() {
    for (fault, utc_clock, clock_offset_ms) in [
        (Fault::None, true, 0),
        (Fault::None, true, -86_400_000),
        (Fault::None, true, 60_000),
        (Fault::Clock1970, true, 3_600_000 - now_us() / 1000),
        (Fault::None, false, 0),
    ] {
        let options = EmulatorOptions {
            utc_clock,
            clock_offset_ms,
            ..EmulatorOptions::default()
        };
        let emulator = emulator(options).await;
        emulator.set_fault(fault);
        let mut client = Client::start(emulator.address(), &[]);
        if utc_clock {
            let error_ms = first!(client, Event::ClockOffset(ms) => ms) - clock_offset_ms;
            assert!(error_ms.abs() < 1_500, "{error_ms} ms");
        }
        client.connected().await;
        // As just now without the greeting's time.
        let mut read = emulated(1, TAG);
        read.at_ms -= 3_000;
        assert!(emulator.send(vec![read]).await);
        let error_ms = client.reads().await[0].at_ms - read.at_ms;
        assert!(error_ms.abs() < 1_500, "{error_ms} ms");
    }
}

#[tokio::test(start_paused = true)]
async fn a_reader_without_keepalives_is_down() {
    let (emulator, mut client) = connected().await;
    let since = Instant::now();
    emulator.set_fault(Fault::NoKeepalive);
    assert_eq!(client.down().await.0, "The reader was silent for 11 s.");
    assert!(since.elapsed() < Duration::from_secs(12));
}

#[tokio::test(start_paused = true)]
async fn keepalives_are_acknowledged() {
    let (emulator, mut client) = connected().await;
    // At once, although it arrives together with the last answer.
    let since = Instant::now();
    assert!(emulator.send(vec![emulated(1, TAG)]).await);
    assert_eq!(client.reads().await.len(), 1);
    assert!(since.elapsed() < Duration::from_secs(1));
    // The emulator gives up on a client that acknowledges none.
    tokio::time::sleep(Duration::from_secs(60)).await;
    while let Ok(event) = client.events.try_recv() {
        assert!(!matches!(event, Event::State(_)), "{event:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_reader_is_given_up_and_tried_again() {
    let emulator = emulator(EmulatorOptions::default()).await;
    emulator.set_fault(Fault::Silent);
    let since = Instant::now();
    let mut client = Client::start(emulator.address(), &[]);
    let (reason, retry_in) = client.down().await;
    assert_eq!(reason, "The reader said nothing for 10 s after connecting.");
    assert!(since.elapsed() < Duration::from_secs(11));
    assert!(retry_in < Duration::from_secs(2));
    emulator.set_fault(Fault::None);
    client.connected().await;
    // It stops in time even if the reader does not answer.
    emulator.set_fault(Fault::Silent);
    let since = Instant::now();
    client.stop().await;
    assert!(since.elapsed() <= Duration::from_millis(1_010));
}

#[tokio::test(start_paused = true)]
async fn retries_become_rarer() {
    let listener = TcpListener::bind(ANY_PORT).await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    drop(listener);
    let mut client = Client::start(address, &[]);
    for seconds in [1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0] {
        let (reason, retry_in) = client.down().await;
        assert_eq!(reason, format!("{address} refused the connection."));
        let times = retry_in.as_secs_f64() / seconds;
        assert!((1.0..=1.25).contains(&times), "{retry_in:?}");
    }
}

#[tokio::test]
async fn what_is_no_reader_is_refused() {
    let listener = TcpListener::bind(ANY_PORT).await.expect("a free port");
    let mut client = Client::start(listener.local_addr().expect("an address"), &[]);
    let http = "The reader sent a message of 1414541105 bytes; 10 to 1048576 are allowed.";
    let other = "The reader did not greet with a connection event.";
    for (greeting, expected) in [
        (b"HTTP/1.1 400 \r\n\r\n".to_vec(), http),
        (keepalives(1), other),
    ] {
        let (mut stream, _) = listener.accept().await.expect("a client");
        let written = stream.write_all(&greeting).await;
        written.expect("a client that listens");
        assert_eq!(client.down().await.0, expected);
    }
}

#[tokio::test]
async fn a_flood_of_messages_is_endured() {
    let (emulator, mut client) = connected().await;
    let batch: Vec<_> = (0..1_000).map(|_| emulated(1, TAG)).collect();
    let sending = async {
        for _ in 0..50 {
            assert!(emulator.send(batch.clone()).await);
        }
    };
    let receiving = async {
        let mut received = 0;
        while received < 50_000 {
            received += client.reads().await.len();
        }
        received
    };
    assert_eq!(tokio::join!(sending, receiving).1, 50_000);
}

fn keepalives(count: usize) -> Vec<u8> {
    let mut out = Encoder::default();
    for _ in 0..count {
        out.message(message::KEEPALIVE, 7, |_| ());
    }
    out.take()
}

fn messages(bytes: &[u8]) -> Result<Vec<Message>, WireError> {
    let mut buffer = BytesMut::from(bytes);
    let mut messages = Vec::new();
    while let Some(message) = take_message(&mut buffer)? {
        messages.push(message);
    }
    Ok(messages)
}

fn fields(message: &Message) -> Fields<'_> {
    Fields::new(message.header.kind, &message.body)
}

fn one(kind: u16, body: impl FnOnce(&mut Encoder)) -> Message {
    let mut out = Encoder::default();
    out.message(kind, 1, body);
    messages(&out.take()).expect("a message").remove(0)
}

#[test]
fn lengths_that_cannot_be_are_refused_at_once() {
    let header = |first: u16, length: u32| {
        let mut out = Encoder::default();
        out.u16(first).u32(length).u32(1);
        messages(&out.take()).map(|messages| messages.len())
    };
    let keepalive = 1 << 10 | message::KEEPALIVE;
    let longest = u32::try_from(MESSAGE_MAX).expect("a short message");
    for length in [9, longest + 1, u32::MAX] {
        let expected = Err(WireError::MessageLength(length));
        assert_eq!(header(keepalive, length), expected);
    }
    assert_eq!(header(keepalive, longest), Ok(0));
    assert_eq!(header(keepalive, 10), Ok(1));
    assert_eq!(header(message::KEEPALIVE, 10), Err(WireError::Version(0)));
}

#[test]
fn unknown_parameters_are_skipped() {
    let report = one(message::RO_ACCESS_REPORT, |body| {
        body.tlv(1023, |custom| {
            custom.u32(25_882).u32(1).raw(&[0xff; 9]);
        });
        body.tlv(parameter::TAG_REPORT_DATA, |data| {
            // A short one that is known but unused, and an impossible one that ends the report.
            data.tv(7).u16(3).tv(parameter::EPC_96).raw(&[0x30; 12]);
            data.tlv(1023, |custom| {
                custom.u32(25_882).u32(56);
            });
            data.tv(parameter::ANTENNA_ID).u16(2).tv(99).u32(0);
        });
        body.tlv(999, |_| ());
    });
    let mut found = Vec::new();
    decode::tag_reports(fields(&report), |report| found.extend(report)).expect("a report");
    assert_eq!(
        (found.len(), found[0].epc, found[0].antenna),
        (1, epc(&"30".repeat(12)), 2)
    );
}

#[test]
fn deep_nesting_costs_nothing() {
    let report = one(message::RO_ACCESS_REPORT, |body| {
        for depth in (1..=16_000).rev() {
            body.u16(parameter::TAG_REPORT_DATA).u16(4 * depth);
        }
    });
    let mut found = Vec::new();
    decode::tag_reports(fields(&report), |report| found.push(report)).expect("a report");
    assert_eq!(found, [None]);
}

#[test]
fn a_clock_that_was_set_back_is_followed_after_a_minute() {
    let mut clock = ReaderClock::default();
    let start = Arrival {
        us: 2_500_000_000_000_000,
        instant: Instant::now(),
    };
    let mut age_ms = |second: u32, behind_us: i64| {
        let us = start.us + i64::from(second) * 1_000_000;
        let reader = ReaderTime::Utc(u64::try_from(us - behind_us).expect("a time after 1970"));
        let instant = start.instant + Duration::from_secs(1) * second;
        us / 1000 - clock.correct(Some(reader), Arrival { us, instant })
    };
    assert_eq!(age_ms(0, 0), 0);
    let ages: Vec<_> = (1..=80)
        .map(|second| age_ms(second, 3_600_000_000))
        .collect();
    assert_eq!((ages[0], ages[79]), (AGE_MAX_MS, 0));
}

fn any_time() -> impl Strategy<Value = Option<ReaderTime>> {
    option::of(prop_oneof![
        any::<u64>().prop_map(ReaderTime::Utc),
        any::<u64>().prop_map(ReaderTime::Uptime)
    ])
}

prop_compose! {
    fn any_report()(
        epc in prop_oneof![Just(vec![1; 12]), vec(any::<u8>(), 1..=EPC_MAX_BYTES)],
        antenna in any::<u16>(),
        rssi_dbm in option::of(any::<i8>()),
        first_seen in any_time(),
        last_seen in any_time(),
        count in any::<u16>(),
    ) -> TagReport {
        let epc = Epc::new(&epc).expect("an EPC");
        TagReport { epc, antenna, rssi_dbm, first_seen, last_seen, count }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reports_are_read_as_they_were_sent(reports in vec(any_report(), 0..20), chunk in 1_usize..200) {
        let mut out = Encoder::default();
        out.message(message::RO_ACCESS_REPORT, 5, |body| {
            for report in &reports {
                encode::tag_report(body, report, 8 * report.epc.as_bytes().len(), u16::MAX);
            }
        });
        out.raw(&keepalives(2));
        // However the bytes arrive.
        let (mut buffer, mut arrived) = (BytesMut::new(), Vec::new());
        for bytes in out.take().chunks(chunk) {
            buffer.extend_from_slice(bytes);
            while let Some(message) = take_message(&mut buffer).expect("a message") {
                arrived.push(message);
            }
        }
        prop_assert_eq!(arrived.len(), 3);
        let mut found = Vec::new();
        decode::tag_reports(fields(&arrived[0]), |report| found.extend(report)).expect("a report");
        prop_assert_eq!(found, reports);
    }

    #[test]
    fn capabilities_are_read_as_they_were_sent(antennas in 0_u16..100, utc_clock: bool, firmware in "[a-zä-ü0-9. ]{0,80}") {
        let options = EmulatorOptions { antennas, utc_clock, firmware: firmware.clone(), clock_offset_ms: 0 };
        let answer = one(11, |body| encode::capabilities(body, &options));
        let found = decode::capabilities(fields(&answer), 1).expect("capabilities");
        prop_assert_eq!((found.antennas, found.utc_clock, &found.firmware), (antennas, utc_clock, &firmware));
        prop_assert_eq!((found.hop_table, found.channel, found.powers.len()), (1, 0, 81));
    }

    #[test]
    fn a_ro_spec_is_read_as_it_was_sent(
        antennas in vec((1_u16..9, option::of(any::<u16>())), 1..9),
        reporting in prop_oneof![Just(Reporting::Each), Just(Reporting::Rounds), Just(Reporting::ReadersOwn)],
    ) {
        let spec = RoSpec { antennas: antennas.clone(), hop_table: 1, channel: 0, reporting };
        let request = one(message::ADD_ROSPEC, |body| spec.add(body));
        let found = ro_spec::decode(fields(&request)).expect("a request").expect("a ROSpec");
        prop_assert_eq!(found.id, RO_SPEC_ID);
        prop_assert_eq!(found.antennas, antennas.iter().map(|(antenna, _)| *antenna).collect::<Vec<_>>());
        prop_assert_eq!(found.sets_power, spec.sets_power());
        prop_assert_eq!(found.every, (reporting != Reporting::ReadersOwn).then_some(1));
    }

    #[test]
    fn the_nearest_power_is_chosen(dbm in 5.0..35.0) {
        let answer = one(11, |body| encode::capabilities(body, &EmulatorOptions::default()));
        let capabilities = decode::capabilities(fields(&answer), 1).expect("capabilities");
        let antenna = AntennaConfig { antenna: 1, power_dbm: Some(dbm) };
        let config = ReaderConfig { address: String::new(), antennas: vec![antenna] };
        let index = RoSpec::new(&config, &capabilities).antennas[0].1.expect("a power");
        let chosen = 10.0 + 0.25 * f64::from(index - 1);
        prop_assert!((chosen - dbm.clamp(10.0, 30.0)).abs() <= 0.126, "{} for {}", chosen, dbm);
    }

    #[test]
    fn any_bytes_are_endured(
        bytes in vec(any::<u8>(), 0..400),
        report in any_report(),
        at in any::<prop::sample::Index>(),
        kind in 0_u16..1024,
    ) {
        fuzz(&bytes);
        let mut out = Encoder::default();
        out.message(kind, 1, |body| { body.raw(&bytes); });
        out.message(message::RO_ACCESS_REPORT, 1, |body| encode::tag_report(body, &report, 8 * 12, u16::MAX));
        out.message(message::ADD_ROSPEC, 1, |body| {
            let antennas = vec![(1, Some(2))];
            RoSpec { antennas, hop_table: 1, channel: 0, reporting: Reporting::Each }.add(body);
        });
        out.message(11, 1, |body| encode::capabilities(body, &EmulatorOptions::default()));
        let mut stream = out.take();
        let at = at.index(stream.len());
        stream[at] ^= bytes.first().copied().unwrap_or(0xff);
        fuzz(&stream);
    }

    #[test]
    fn a_corrected_time_is_never_after_its_arrival_nor_old(times in vec((any::<i64>(), any_time(), 0_u64..100), 1..20)) {
        let mut clock = ReaderClock::default();
        let mut instant = Instant::now();
        for (us, time, seconds) in times {
            instant += Duration::from_secs(seconds);
            let us = us / 4;
            let at_ms = clock.correct(time, Arrival { us, instant });
            let arrival_ms = us.div_euclid(1000);
            prop_assert!((arrival_ms - AGE_MAX_MS..=arrival_ms).contains(&at_ms));
        }
    }

    #[test]
    fn the_fastest_message_of_a_minute_sets_the_clock(offset_ms in -2_000_000_000_000_i64..2_000_000_000_000, delays_ms in vec(0_i64..3_000, 1..50)) {
        let (mut clock, mut smallest) = (ReaderClock::default(), i64::MAX);
        let start = Arrival { us: 2_500_000_000_000_000, instant: Instant::now() };
        for (delay_ms, second) in delays_ms.into_iter().zip(0_u32..) {
            let sent_us = start.us + i64::from(second) * 1_000_000;
            let arrival = Arrival { us: sent_us + delay_ms * 1000, instant: start.instant + Duration::from_secs(1) * second };
            let reader_us = u64::try_from(sent_us + offset_ms * 1000).expect("a time after 1970");
            smallest = smallest.min(delay_ms);
            let at_ms = clock.correct(Some(ReaderTime::Utc(reader_us)), arrival);
            prop_assert_eq!(at_ms, sent_us / 1000 + smallest);
            prop_assert_eq!(clock.offset_ms(), Some(offset_ms - smallest));
        }
    }
}
