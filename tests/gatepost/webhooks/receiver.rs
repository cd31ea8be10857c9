//! A receiver of webhooks on loopback, which does with each delivery what a test says.

use hmac::{Hmac, KeyInit, Mac};
use serde_json::Value;
use sha2::Sha256;
use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex},
    thread,
    time::{Duration, Instant},
};

/// How long something that must come is waited for.
const PATIENCE: Duration = Duration::from_secs(40);

/// What is done with a delivery.
#[derive(Debug, Clone)]
pub enum Act {
    /// This status and body.
    Answer(u16, &'static str),
    /// This status, and a header.
    With(u16, &'static str),
    /// Nothing, and the connection ends.
    Cut,
    /// Nothing, and the connection stays.
    Hang,
}

/// A delivery as it came.
#[derive(Debug, Clone)]
pub struct Delivery {
    pub path: String,
    /// Names in lower case.
    pub headers: BTreeMap<String, String>,
    pub text: String,
    pub body: Value,
    /// When it came, in Unix seconds.
    pub at: i64,
    /// Whether the answer was one of success.
    pub taken: bool,
}

impl Delivery {
    pub fn id(&self) -> &str {
        self.body["id"].as_str().expect("an id")
    }

    pub fn kind(&self) -> &str {
        self.body["type"].as_str().expect("a type")
    }

    pub fn data(&self) -> &Value {
        &self.body["data"]
    }

    /// Which of these secrets it is signed by, as the standard says: HMAC-SHA256 over id, time and
    /// body, and the time is now.
    pub fn signed_by(&self, secrets: &[&str]) -> Vec<bool> {
        let header = |name: &str| self.headers[name].as_str();
        assert_eq!(header("webhook-id"), self.id());
        let sent: i64 = header("webhook-timestamp").parse().expect("seconds");
        assert!((self.at - sent).abs() < 60, "{sent} is not {}", self.at);
        let signed = format!("{}.{sent}.{}", self.id(), self.text);
        let signatures: Vec<&str> = header("webhook-signature").split(' ').collect();
        let by = |secret: &&str| {
            let key = base64(secret.strip_prefix("whsec_").expect("a secret"));
            let mut mac = Hmac::<Sha256>::new_from_slice(&key).expect("a key");
            mac.update(signed.as_bytes());
            let wanted = mac.finalize().into_bytes();
            signatures.iter().any(|signature| {
                let given = signature.strip_prefix("v1,").expect("a version");
                base64(given) == wanted[..]
            })
        };
        secrets.iter().map(by).collect()
    }
}

/// Base 64 to bytes, in the words of RFC 4648 and not in those of the library that made it.
fn base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bits, mut count, mut bytes) = (0_u32, 0, Vec::new());
    for letter in text.bytes().filter(|letter| *letter != b'=') {
        let digit = DIGITS.iter().position(|known| *known == letter);
        bits = (bits << 6) | u32::try_from(digit.expect("base 64")).expect("small");
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from((bits >> count) & 0xff).expect("a byte"));
        }
    }
    bytes
}

type Script = Box<dyn FnMut(&Delivery) -> Act + Send>;

struct Inside {
    came: Mutex<Vec<Delivery>>,
    more: Condvar,
    script: Mutex<Script>,
}

/// A receiver that runs until the tests end.
#[derive(Clone)]
pub struct Receiver {
    pub address: SocketAddr,
    inside: Arc<Inside>,
}

impl Receiver {
    /// Takes everything.
    pub fn start() -> Self {
        Self::that(|_| Act::Answer(200, "thanks"))
    }

    /// Does what the script says.
    pub fn that(script: impl FnMut(&Delivery) -> Act + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        Self::on(listener, script)
    }

    pub fn on(
        listener: TcpListener,
        script: impl FnMut(&Delivery) -> Act + Send + 'static,
    ) -> Self {
        let receiver = Self {
            address: listener.local_addr().expect("an address"),
            inside: Arc::new(Inside {
                came: Mutex::default(),
                more: Condvar::new(),
                script: Mutex::new(Box::new(script)),
            }),
        };
        let of_thread = receiver.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (receiver, stream) = (of_thread.clone(), stream.expect("a connection"));
                thread::spawn(move || receiver.serve(stream));
            }
        });
        receiver
    }

    /// From now on does something else.
    pub fn now(&self, script: impl FnMut(&Delivery) -> Act + Send + 'static) {
        *self.inside.script.lock().expect("a lock") = Box::new(script);
    }

    pub fn url(&self) -> String {
        format!("http://{}/in", self.address)
    }

    /// Everything that came.
    pub fn came(&self) -> Vec<Delivery> {
        self.inside.came.lock().expect("a lock").clone()
    }

    /// Waits until what came is enough.
    #[track_caller]
    pub fn wait(&self, what: &str, enough: impl Fn(&[Delivery]) -> bool) -> Vec<Delivery> {
        let until = Instant::now() + PATIENCE;
        let mut came = self.inside.came.lock().expect("a lock");
        while !enough(&came) {
            let left = until.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "never came: {what}; there are {came:#?}");
            came = self.inside.more.wait_timeout(came, left).expect("a lock").0;
        }
        came.clone()
    }

    /// Waits for so many.
    #[track_caller]
    pub fn wait_for(&self, count: usize) -> Vec<Delivery> {
        self.wait(&format!("{count} deliveries"), |came| came.len() >= count)
    }

    fn serve(&self, stream: TcpStream) {
        let mut reader = BufReader::new(stream.try_clone().expect("a stream"));
        let mut stream = stream;
        while let Some(mut delivery) = read(&mut reader) {
            let act = self.inside.script.lock().expect("a lock")(&delivery);
            delivery.taken = matches!(act, Act::Answer(200..300, _));
            self.inside.came.lock().expect("a lock").push(delivery);
            self.inside.more.notify_all();
            let (status, header, body) = match act {
                Act::Answer(status, body) => (status, "X-None: 1", body),
                Act::With(status, header) => (status, header, ""),
                Act::Cut => return,
                Act::Hang => {
                    let _ = reader.read(&mut [0; 1]);
                    return;
                }
            };
            let length = body.len();
            let answer = format!(
                "HTTP/1.1 {status} X\r\n{header}\r\nContent-Length: {length}\r\n\r\n{body}"
            );
            if stream.write_all(answer.as_bytes()).is_err() {
                return;
            }
        }
    }
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<Delivery> {
    let mut line = String::new();
    reader
        .read_line(&mut line)
        .ok()
        .filter(|count| *count > 0)?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader
            .read_line(&mut line)
            .ok()
            .filter(|count| *count > 0)?;
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        headers.insert(name.to_lowercase(), value.to_owned());
    }
    let length: usize = headers.get("content-length")?.parse().ok()?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let text = String::from_utf8(body).ok()?;
    Some(Delivery {
        path,
        headers,
        body: serde_json::from_str(&text).expect("JSON"),
        text,
        at: gatepost::types::Timestamp::now().0 / 1000,
        taken: false,
    })
}
