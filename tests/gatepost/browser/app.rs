//! A gate app as it behaves on a phone: it reads the QR, asks to be let in, waits, and then does
//! what it was set up for.

use super::pictures::Pixels;
use crate::{
    faults::process::until,
    harness::{Reply, reply},
};
use reqwest::{
    Method,
    blocking::{Client, RequestBuilder},
};
use serde_json::{Value, json};
use sha2::Digest;
use std::{cell::RefCell, net::SocketAddr};

/// What a camera sees in a picture: the text of the first QR code in it.
pub fn scan(picture: &[u8]) -> Option<String> {
    let pixels = Pixels::of(picture);
    let mut seen =
        rqrr::PreparedImage::prepare_from_greyscale(pixels.width, pixels.height, |x, y| {
            pixels.grey(x, y)
        });
    let codes = seen.detect_grids();
    codes
        .iter()
        .find_map(|code| code.decode().ok())
        .map(|(_, text)| text)
}

/// The app.
pub struct App {
    http: Client,
    /// Where it was told to ask.
    pub request: String,
    code: String,
    secret: String,
    record: RefCell<Value>,
    token: RefCell<String>,
}

impl App {
    /// An app that has read this address from a QR; what does not resolve is at `server`.
    pub fn new(request: &str, code: &str, server: SocketAddr) -> Self {
        let http = crate::harness::http()
            .user_agent("Gate app 3.1 (Pixel 8)")
            .resolve(super::NAME, server);
        Self {
            http: http.build().expect("a client"),
            request: request.to_owned(),
            code: code.to_owned(),
            secret: "f3b1c2d4e5a69788f3b1c2d4e5a69788".to_owned(),
            record: RefCell::new(Value::Null),
            token: RefCell::default(),
        }
    }

    /// Asks to be let in, or how that stands.
    pub fn ask(&self) -> Reply {
        let body = json!({"code": self.code, "secret": self.secret, "preferredType": "checkin"});
        let asked = reply(self.http.post(&self.request).json(&body));
        if asked.status < 300 {
            *self.record.borrow_mut() = asked.data().clone();
        }
        asked
    }

    /// Waits until somebody added it, and gets its token.
    pub fn is_added(&self) {
        until("the app is added", || {
            self.ask().data()["clientSecret"].is_string()
        });
        assert_eq!(self.record.borrow()["clearedStatus"], "added");
        self.signs_in();
    }

    /// Gets a token with the credentials that it was given.
    pub fn signs_in(&self) {
        let granted = self.granted();
        let token = granted["access_token"].as_str();
        let token = token.unwrap_or_else(|| panic!("{granted}"));
        self.token.replace(token.to_owned());
    }

    /// Whether its credentials are good for a token.
    pub fn can_sign_in(&self) -> bool {
        self.granted()["access_token"].is_string()
    }

    fn granted(&self) -> Value {
        let record = self.record.borrow();
        let body = json!({
            "grant_type": "client_credentials",
            "client_id": record["clientId"], "client_secret": record["clientSecret"],
        });
        let url = format!("{}/oauth/v2/token", self.api());
        let answer = self.http.post(url).json(&body).send();
        answer.expect("an answer").json().expect("JSON")
    }

    /// Another phone with all that this one has.
    pub fn copied(&self) -> Self {
        Self {
            http: self.http.clone(),
            request: self.request.clone(),
            code: self.code.clone(),
            secret: self.secret.clone(),
            record: self.record.clone(),
            token: self.token.clone(),
        }
    }

    /// The device that it is.
    pub fn device(&self) -> i64 {
        self.record.borrow()["deviceId"].as_i64().expect("a device")
    }

    fn api(&self) -> String {
        let record = self.record.borrow();
        record["apiUrl"].as_str().expect("an address").to_owned()
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let url = format!("{}{path}", self.api());
        self.http
            .request(method, url)
            .bearer_auth(self.token.borrow())
    }

    /// Tells the server how it is, and that it has this version of the settings.
    pub fn ping(&self, version: i64) -> Reply {
        let now = std::time::SystemTime::now();
        let now = now
            .duration_since(std::time::UNIX_EPOCH)
            .expect("after 1970");
        reply(self.request(Method::POST, "/device/ping").json(&json!({
            "localTime": now.as_secs(), "lat": 53.56, "lon": 9.98, "battery": 81,
            "pingInterval": 60, "failedUploads": 0, "network": "Venue", "status": "foreground",
            "configVersion": version,
        })))
    }

    /// Tells what was set on it.
    pub fn tell_settings(&self, value: &Value) -> Reply {
        reply(
            self.request(Method::PUT, "/device-config")
                .json(&json!({"value": value})),
        )
    }

    /// The digits by which somebody tells it from others that ask (see `/docs`).
    pub fn check_digits(&self) -> String {
        let hash = sha2::Sha256::digest(self.secret.as_bytes());
        let number = u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]]);
        format!("{:04}", number % 10_000)
    }

    /// Who has a code.
    pub fn look_up(&self, barcode: &str) -> Reply {
        reply(self.request(Method::GET, &format!("/delegate/barcode:{barcode}")))
    }

    /// Lets the holder of a code in.
    pub fn check_in(&self, barcode: &str) -> Reply {
        let body = json!({"delegate": format!("barcode:{barcode}"), "device": self.device()});
        reply(
            self.request(Method::POST, "/interaction/new/check-in")
                .json(&body),
        )
    }
}
