//! Our LLRP client against a reader that nobody here wrote, and our emulator against such a client: those
//! of llrpkit, a Python library.

use llrp::{
    AntennaConfig, Capabilities, Epc, Event, Read, ReaderConfig, State,
    emulator::{EmulatedRead, Emulator, EmulatorOptions},
    run,
};
use std::{
    collections::BTreeSet,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::{Duration, SystemTime, UNIX_EPOCH},
};
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinHandle,
    time::timeout,
};

/// Several times what anything here takes on a slow machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Where `tests/run` installs it: beside the build's profiles.
fn python() -> PathBuf {
    let binary = Path::new(env!("CARGO_BIN_EXE_gatepost"));
    let target = binary.ancestors().nth(2).expect("the target folder");
    let found = target.join("llrpkit/bin/python");
    assert!(
        found.exists(),
        "{} is missing: `tests/run` installs it, which takes python3 with venv and the network",
        found.display()
    );
    found
}

fn script(name: &str, arguments: &[&str]) -> Child {
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/readers");
    Command::new(python())
        .arg(scripts.join(name))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python")
}

/// A reader of llrpkit's. It ends when it is dropped.
struct Reader {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    port: u16,
}

impl Reader {
    fn start(port: u16) -> Self {
        let mut child = script("llrpkit_reader.py", &[&port.to_string()]);
        let stdin = child.stdin.take().expect("a pipe");
        let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut reader = Self {
            child,
            stdin,
            stdout,
            port,
        };
        let listening: serde_json::Value = serde_json::from_str(&reader.line()).expect("JSON");
        let port = listening["port"]
            .as_u64()
            .and_then(|port| u16::try_from(port).ok());
        reader.port = port.expect("a port");
        reader
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).expect("a line");
        line
    }

    fn command(&mut self, command: &str) {
        writeln!(self.stdin, "{command}").expect("a reader that runs");
        assert!(!self.line().is_empty(), "the reader ended at {command:?}");
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Client {
    events: mpsc::UnboundedReceiver<Event>,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Client {
    fn start(port: u16, antennas: Vec<AntennaConfig>) -> Self {
        let address = format!("127.0.0.1:{port}");
        let (sender, events) = mpsc::unbounded_channel();
        let (stop, stopped) = oneshot::channel();
        // The test may have ended.
        let pass_on = move |event| drop(sender.send(event));
        let config = ReaderConfig { address, antennas };
        let task = tokio::spawn(run(config, |_| Ok(()), pass_on, async move {
            drop(stopped.await);
        }));
        Self { events, stop, task }
    }

    /// The first event that `choose` gives something for.
    async fn wait<T>(&mut self, mut choose: impl FnMut(Event) -> Option<T>) -> T {
        let chosen = async {
            loop {
                let event = self.events.recv().await.expect("a client that runs");
                if let Some(chosen) = choose(event) {
                    return chosen;
                }
            }
        };
        timeout(PATIENCE, chosen).await.expect("the event in time")
    }

    async fn connected(&mut self) -> Capabilities {
        let connected = |event| match event {
            Event::State(State::Connected(capabilities)) => Some(capabilities),
            _ => None,
        };
        self.wait(connected).await
    }

    async fn down(&mut self) -> String {
        let down = |event| match event {
            Event::State(State::Down { reason, .. }) => Some(reason),
            _ => None,
        };
        self.wait(down).await
    }

    async fn reads(&mut self) -> Vec<Read> {
        let reads = |event| match event {
            Event::Reads(reads) => Some(reads),
            _ => None,
        };
        self.wait(reads).await
    }

    async fn stop(self) {
        self.stop.send(()).expect("a client that runs");
        timeout(PATIENCE, self.task)
            .await
            .expect("an end in time")
            .expect("a client that ends");
    }
}

fn now_ms() -> i64 {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .expect("a time after 1970");
    i64::try_from(now.as_millis()).expect("a time of this age")
}

fn epc(text: &str) -> Epc {
    text.parse().expect("an EPC")
}

#[tokio::test]
async fn a_reader_is_inventoried() {
    let mut reader = Reader::start(0);
    let mut client = Client::start(reader.port, vec![]);
    let capabilities = client.connected().await;
    assert_eq!(capabilities.manufacturer, "Impinj");
    assert_eq!(
        (capabilities.model, capabilities.firmware.as_str()),
        (700, "llrpkit-emu 0.1")
    );
    assert_eq!((capabilities.antennas, capabilities.utc_clock), (2, true));
    assert_eq!(capabilities.powers.len(), 21);
    let mut seen = BTreeSet::new();
    while seen.len() < 3 {
        for read in client.reads().await {
            let age_ms = now_ms() - read.at_ms;
            assert!((0..10_000).contains(&age_ms), "{age_ms} ms old");
            assert!(
                (-70.0..-40.0).contains(&read.rssi_dbm),
                "{} dBm",
                read.rssi_dbm
            );
            seen.insert((read.epc, read.antenna));
        }
    }
    let expected = [
        (epc("303400000000000000000001"), 1),
        (epc("303400000000000000000002"), 2),
        (epc("3034000000000000000000000003"), 1),
    ];
    assert_eq!(seen, BTreeSet::from(expected));
    reader.command("antenna 2 off");
    let unplugged = |event| {
        (event
            == Event::Antenna {
                antenna: 2,
                connected: false,
            })
        .then_some(())
    };
    client.wait(unplugged).await;
    client.stop().await;
    // It takes the next client, so the first one left.
    Client::start(reader.port, vec![]).connected().await;
}

#[tokio::test]
async fn a_reader_takes_antennas_and_powers() {
    let reader = Reader::start(0);
    let antenna = AntennaConfig {
        antenna: 2,
        power_dbm: Some(27.3),
    };
    let mut client = Client::start(reader.port, vec![antenna]);
    let refused = |event| match event {
        Event::Warning(warning) => panic!("{warning}"),
        Event::Reads(reads) => Some(reads),
        _ => None,
    };
    let reads = client.wait(refused).await;
    assert!(reads.iter().all(|read| read.antenna == 2), "{reads:?}");
}

#[tokio::test]
async fn a_reader_that_is_cut_frozen_or_restarted_is_found_again() {
    let mut reader = Reader::start(0);
    let port = reader.port;
    let mut client = Client::start(port, vec![]);
    client.connected().await;
    reader.command("cut");
    assert_eq!(client.down().await, "The reader closed the connection.");
    client.connected().await;
    // Reads come once everything is set up, and nothing is asked any more.
    client.reads().await;

    reader.command("freeze");
    assert_eq!(client.down().await, "The reader was silent for 11 s.");
    reader.command("thaw");
    client.connected().await;

    drop(reader);
    client.down().await;
    let _reader = Reader::start(port);
    client.connected().await;
    assert!(!client.reads().await.is_empty());
    client.stop().await;
}

#[tokio::test]
async fn a_reader_knows_one_client() {
    let reader = Reader::start(0);
    let mut first = Client::start(reader.port, vec![]);
    first.connected().await;
    let mut second = Client::start(reader.port, vec![]);
    assert_eq!(
        second.down().await,
        "Another client is connected to the reader."
    );
    first.stop().await;
    second.connected().await;
}

#[tokio::test]
async fn the_emulator_satisfies_a_client() {
    let listen = "127.0.0.1:0".parse().expect("an address");
    let options = EmulatorOptions::default();
    let emulator = Emulator::start(listen, options).await.expect("a free port");
    let port = emulator.address().port().to_string();
    let mut client = script("llrpkit_client.py", &[&port, "3"]);
    let (sender, mut lines) = mpsc::unbounded_channel();
    let stdout = BufReader::new(client.stdout.take().expect("a pipe"));
    let reading = std::thread::spawn(move || {
        for line in stdout.lines() {
            let line: serde_json::Value =
                serde_json::from_str(&line.expect("a line")).expect("JSON");
            // The test may have failed.
            let _ = sender.send(line);
        }
    });
    let about = timeout(PATIENCE, lines.recv())
        .await
        .expect("a line in time")
        .expect("a line");
    let expected =
        serde_json::json!({"antennas": 4, "firmware": "Emulator", "powers": [10.0, 30.0]});
    assert_eq!(about, expected);
    let second = timeout(PATIENCE, lines.recv())
        .await
        .expect("a line in time")
        .expect("a line");
    assert_eq!(second, "refused");

    let at_ms = now_ms();
    let sent = [
        (1, "303400000000000000000001"),
        (3, "303400000000000000000003"),
        (2, "3034000000000000000000000002"),
        (1, "30"),
    ];
    let sent = sent.map(|(antenna, text)| EmulatedRead {
        antenna,
        epc: epc(text),
        rssi_dbm: -55.0,
        at_ms,
    });
    let sending = async {
        while !emulator.send(sent.to_vec()).await {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, sending)
        .await
        .expect("an inventory in time");
    let line = |epc: &str, antenna: u16| serde_json::json!({"epc": epc, "antenna": antenna, "rssi": -55.0, "lastSeenUs": at_ms * 1000});
    let expected = [
        line("303400000000000000000001", 1),
        line("3034000000000000000000000002", 2),
        line("30", 1),
        "closed".into(),
    ];
    for expected in expected {
        let found = timeout(PATIENCE, lines.recv())
            .await
            .expect("a line in time");
        assert_eq!(found, Some(expected));
    }
    assert!(client.wait().expect("an end").success());
    reading.join().expect("a reader of lines");
}
