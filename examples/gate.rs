//! A gate in one file, to start an integration from: reads scanned barcodes from standard input,
//! one a line, and checks each in. Green or red is printed with the guest's name or the reason.
//!
//! When the server cannot be reached, or cannot take it (503), the gate decides by its own policy
//! (`--offline-admit`): it lets people in, keeps the scans in a file, and sends them as a batch
//! later. A scan keeps its nonce on all ways, so that it counts once however often it is sent.

use clap::Parser;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::blocking::{Client, RequestBuilder};
use serde_json::{Map, Value, json};
use std::{
    error::Error,
    fs::{self, File},
    io::{self, BufRead, ErrorKind, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// How long a guest waits at the most before the gate decides by itself.
const ANSWER_MAX: Duration = Duration::from_secs(3);
/// For so long after a failure the server is not asked again, so that the queue at the door moves.
const RETRY_AFTER: Duration = Duration::from_secs(5);
/// Scans that the server takes in one batch.
const BATCH_MAX: usize = 10_000;

/// A gate: checks in the barcodes that it reads from standard input
#[derive(Parser)]
struct Arguments {
    /// The server's address
    #[arg(long, default_value = "http://127.0.0.1:8080")]
    url: String,
    #[arg(long)]
    client_id: String,
    #[arg(long, env = "GATE_CLIENT_SECRET", hide_env_values = true)]
    client_secret: String,
    /// The door that this gate guards, such as code:hall-1 or externalId:S7
    #[arg(long)]
    device: String,
    /// Let people in while the server cannot be reached
    #[arg(long)]
    offline_admit: bool,
    /// Where scans wait that the server does not have yet
    #[arg(long, default_value = "gate-queue.ndjson")]
    queue: PathBuf,
}

/// What came of a request; a refusal with its status and reason.
enum Outcome {
    Done(Value),
    Refused(u16, String),
    /// Not reached in time, or it could not take it; whether it did may be unknown.
    Unavailable(String),
}

struct Gate {
    arguments: Arguments,
    http: Client,
    token: String,
    /// When the server may be asked again.
    retry_at: Instant,
}

impl Gate {
    fn scan(&mut self, barcode: &str) -> Result<()> {
        let mut check_in = json!({
            "firstDelegate": format!("barcode:{barcode}"),
            "firstDevice": self.arguments.device,
            "nonce": uuid::Uuid::new_v4().to_string(),
            "recordedAt": SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs(),
        });
        match self.post("interaction/new/check-in", &check_in) {
            Outcome::Done(_) => say(true, barcode, &self.name_of(barcode)),
            Outcome::Refused(_, why) => say(false, barcode, &why),
            Outcome::Unavailable(why) if self.arguments.offline_admit => {
                check_in["interactionType"] = json!("check-in");
                check_in["admitted"] = json!(true);
                append(&self.arguments.queue, &check_in)?;
                say(true, barcode, &format!("let in offline ({why})"));
            }
            Outcome::Unavailable(why) => say(false, barcode, &format!("cannot be checked: {why}")),
        }
        Ok(())
    }

    /// Sends what waits in the queue. Only when the server has all of it is the file removed;
    /// until then it is sent again as a whole, which the nonces make harmless.
    fn deliver(&mut self) -> Result<()> {
        let waiting = read_queue(&self.arguments.queue)?;
        let keyed = |scan: &Value| (text(&scan["nonce"]), scan.clone());
        for scans in waiting.chunks(BATCH_MAX) {
            let items: Map<_, _> = scans.iter().map(keyed).collect();
            match self.post("interaction/batch", &json!({ "interactions": items })) {
                Outcome::Done(answer) if all_settled(&answer, scans.len()) => {}
                Outcome::Refused(_, why) => return Err(why.into()),
                _ => return Ok(()),
            }
        }
        if !waiting.is_empty() {
            fs::remove_file(&self.arguments.queue)?;
            eprintln!("gate: delivered {} scans made offline", waiting.len());
        }
        Ok(())
    }

    fn name_of(&mut self, barcode: &str) -> String {
        let barcode = utf8_percent_encode(barcode, NON_ALPHANUMERIC);
        let path = format!("delegate/barcode:{barcode}?fields=firstName,lastName");
        match self.ask(self.http.get(self.address(&path))) {
            Outcome::Done(answer) => {
                text(&answer["data"]["firstName"]) + " " + &text(&answer["data"]["lastName"])
            }
            _ => String::new(),
        }
    }

    fn post(&mut self, path: &str, body: &Value) -> Outcome {
        self.ask(self.http.post(self.address(path)).json(body))
    }

    fn address(&self, path: &str) -> String {
        format!("{}/api/v5/{path}", self.arguments.url.trim_end_matches('/'))
    }

    /// Asks, and once more with a new token when the one it has is over.
    fn ask(&mut self, request: RequestBuilder) -> Outcome {
        if Instant::now() < self.retry_at {
            return Outcome::Unavailable("server not reached".into());
        }
        let again = request.try_clone();
        let mut outcome = send(request.bearer_auth(&self.token));
        if let (Outcome::Refused(401, _), Some(again)) = (&outcome, again) {
            outcome = self.fetch_token();
            if let Outcome::Done(answer) = &outcome {
                self.token = text(&answer["access_token"]);
                outcome = send(again.bearer_auth(&self.token));
            }
        }
        if let Outcome::Unavailable(_) = outcome {
            self.retry_at = Instant::now() + RETRY_AFTER;
        }
        outcome
    }

    fn fetch_token(&self) -> Outcome {
        let credentials = json!({
            "grant_type": "client_credentials",
            "client_id": self.arguments.client_id,
            "client_secret": self.arguments.client_secret,
        });
        let request = self.http.post(self.address("oauth/v2/token"));
        send(request.json(&credentials))
    }
}

fn send(request: RequestBuilder) -> Outcome {
    let answered = request
        .send()
        .and_then(|answer| Ok((answer.status().as_u16(), answer.json()?)));
    let Ok((status, body)): reqwest::Result<(u16, Value)> = answered else {
        return Outcome::Unavailable("server not reached".into());
    };
    let why = match &body["meta"]["error"]["message"] {
        Value::String(message) => message.clone(),
        _ => text(&body["error_description"]),
    };
    match status {
        200..300 => Outcome::Done(body),
        429 | 500..600 => Outcome::Unavailable(why),
        _ => Outcome::Refused(status, why),
    }
}

/// Whether no scan of a batch need be sent again.
fn all_settled(answer: &Value, sent: usize) -> bool {
    let answers = answer["data"].as_array().into_iter().flatten();
    let settled = answers.filter(|answer| match answer["status"].as_u64() {
        Some(429 | 500..600) | None => false,
        Some(400..500) => {
            let error = &answer["meta"]["error"];
            // 1109: the first attempt, before the gate went offline, had been stored after all.
            if error["internalCode"] != 1109 {
                say(false, "a scan made offline", &text(&error["message"]));
            }
            true
        }
        Some(_) => true,
    });
    settled.count() == sent
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn say(green: bool, barcode: &str, what: &str) {
    let (colour, light) = if green { (32, "GREEN") } else { (31, "RED  ") };
    let line = format!("\x1b[{colour}m{light}\x1b[0m {barcode}  {what}\n");
    let _ = io::stdout().write_all(line.as_bytes());
}

/// Writes a scan to the disk before the guest is let in. It begins with a line end of its own, in
/// case the last one was cut off by a power cut.
fn append(queue: &Path, scan: &Value) -> Result<()> {
    let mut file = File::options().create(true).append(true).open(queue)?;
    file.write_all(format!("\n{scan}\n").as_bytes())?;
    Ok(file.sync_all()?)
}

fn read_queue(queue: &Path) -> Result<Vec<Value>> {
    let bytes = match fs::read(queue) {
        Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        bytes => bytes?,
    };
    let scans = bytes.split(|byte| *byte == b'\n');
    Ok(scans.flat_map(serde_json::from_slice).collect())
}

fn work(arguments: Arguments) -> Result<()> {
    // reqwest leaves the choice of TLS to us in this build. It fails only where one is chosen.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let http = Client::builder().timeout(ANSWER_MAX).build()?;
    let mut gate = Gate {
        arguments,
        http,
        token: String::new(),
        retry_at: Instant::now(),
    };
    for line in io::stdin().lock().lines() {
        // First what happened first; but no trouble with it closes the door.
        if let Err(cause) = gate.deliver() {
            eprintln!("gate: scans made offline: {cause}");
        }
        let line = line?;
        if !line.trim().is_empty() {
            gate.scan(line.trim())?;
        }
    }
    gate.deliver()
}

fn main() -> ExitCode {
    if let Err(cause) = work(Arguments::parse()) {
        eprintln!("gate: {cause}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
