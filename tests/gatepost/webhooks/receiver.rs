//! A receiver of webhooks on loopback, which does with each delivery what a test says.

use crate::{
    faults::wire::read_message,
    loopback::{self, Came},
};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::Value;
use sha2::Sha256;
use std::{
    collections::BTreeMap,
    io::{self, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
};

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
    came: Came<Delivery>,
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
        Self::on(loopback::listener(), script)
    }

    pub fn on(
        listener: TcpListener,
        script: impl FnMut(&Delivery) -> Act + Send + 'static,
    ) -> Self {
        let receiver = Self {
            address: listener.local_addr().expect("an address"),
            inside: Arc::new(Inside {
                came: Came::default(),
                script: Mutex::new(Box::new(script)),
            }),
        };
        let of_threads = receiver.clone();
        loopback::serve(listener, move |stream| of_threads.serve(stream));
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
        self.inside.came.all()
    }

    /// Waits until what came is enough.
    #[track_caller]
    pub fn wait(&self, what: &str, enough: impl Fn(&[Delivery]) -> bool) -> Vec<Delivery> {
        self.inside.came.wait(what, enough)
    }

    /// Waits for so many.
    #[track_caller]
    pub fn wait_for(&self, count: usize) -> Vec<Delivery> {
        self.inside.came.wait_for(count)
    }

    fn serve(&self, mut stream: TcpStream) -> io::Result<()> {
        let mut reader = BufReader::new(stream.try_clone()?);
        loop {
            let mut delivery = read(&mut reader)?;
            let act = self.inside.script.lock().expect("a lock")(&delivery);
            delivery.taken = matches!(act, Act::Answer(200..300, _));
            self.inside.came.add(delivery);
            let (status, header, body) = match act {
                Act::Answer(status, body) => (status, "X-None: 1", body),
                Act::With(status, header) => (status, header, ""),
                Act::Cut => return Ok(()),
                Act::Hang => return reader.read(&mut [0; 1]).map(drop),
            };
            let length = body.len();
            let answer = format!(
                "HTTP/1.1 {status} X\r\n{header}\r\nContent-Length: {length}\r\n\r\n{body}"
            );
            stream.write_all(answer.as_bytes())?;
        }
    }
}

fn read(reader: &mut BufReader<TcpStream>) -> io::Result<Delivery> {
    let message = read_message(reader)?;
    let header = |line: &str| {
        let (name, value) = line.split_once(':')?;
        Some((name.to_lowercase(), value.trim().to_owned()))
    };
    let path = message.start.split(' ').nth(1).expect("a path");
    let text = String::from_utf8(message.body).expect("text");
    Ok(Delivery {
        path: path.to_owned(),
        headers: message.headers.lines().filter_map(header).collect(),
        body: serde_json::from_str(&text).expect("JSON"),
        text,
        at: gatepost::types::Timestamp::now().0 / 1000,
        taken: false,
    })
}
