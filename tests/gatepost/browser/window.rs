//! A browser that a test drives, as somebody who looks at pages, types and clicks. What a test waits
//! for has a deadline; nothing is slept for.

use super::driver::Session;
use crate::faults::wire::PATIENCE;
use reqwest::Method;
use serde_json::{Value, json};
use std::{
    path::Path,
    time::{Duration, Instant},
};

/// How often is asked whether something has happened.
const POLL: Duration = Duration::from_millis(20);

/// A way of looking at a page.
#[derive(Debug, Clone, Copy)]
pub struct View {
    pub width: u32,
    pub height: u32,
    /// `light` or `dark`.
    pub scheme: &'static str,
}

/// A desk's screen by day.
pub const DESK: View = View {
    width: 1440,
    height: 900,
    scheme: "light",
};

/// A browser with its tabs; gone when this goes.
pub struct Browser {
    session: Session,
    /// Paths are of this server.
    origin: String,
}

/// A tab.
#[derive(Clone)]
pub struct Tab(String);

/// An element of the page, as the driver names it.
struct Element(String);

impl Element {
    /// The path of a command on it.
    fn path(&self, command: &str) -> String {
        format!("/element/{}/{command}", self.0)
    }
}

impl Browser {
    /// A browser for the pages of a server such as `http://127.0.0.1:8080`.
    pub fn open(origin: &str) -> Self {
        let browser = Self {
            session: Session::open(),
            origin: origin.to_owned(),
        };
        browser.look(DESK);
        browser
    }

    #[track_caller]
    fn call(&self, method: Method, path: &str, body: &Value) -> Value {
        self.session
            .call(method, path, body)
            .unwrap_or_else(|cause| panic!("{path} {body}: {cause}\n{}", self.told()))
    }

    #[track_caller]
    fn post(&self, path: &str, body: &Value) -> Value {
        self.call(Method::POST, path, body)
    }

    #[track_caller]
    fn get(&self, path: &str) -> Value {
        self.call(Method::GET, path, &Value::Null)
    }

    /// Where the browser is and what it shows, for a test that has failed.
    fn told(&self) -> String {
        let address = self.session.call(Method::GET, "/url", &Value::Null);
        let script = json!({"script": "return document.body.innerText", "args": []});
        let text = self.session.call(Method::POST, "/execute/sync", &script);
        format!("at {address:?}: {text:?}")
    }

    /// Sets the size of the window and its colours.
    #[track_caller]
    pub fn look(&self, view: View) {
        let metrics = json!({"width": view.width, "height": view.height,
            "deviceScaleFactor": 1, "mobile": view.width < 600});
        // Nothing is on its way from one colour to another.
        let media = json!({"features": [
            {"name": "prefers-color-scheme", "value": view.scheme},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]});
        for (cmd, params) in [
            ("Emulation.setDeviceMetricsOverride", metrics),
            ("Emulation.setEmulatedMedia", media),
        ] {
            self.post("/goog/cdp/execute", &json!({"cmd": cmd, "params": params}));
        }
    }

    /// Opens a path of the server.
    #[track_caller]
    pub fn go(&self, path: &str) {
        self.post("/url", &json!({"url": format!("{}{path}", self.origin)}));
    }

    /// The path of the page.
    #[track_caller]
    pub fn path(&self) -> String {
        let path = self.run("return location.pathname", &[]);
        path.as_str().unwrap_or_default().to_owned()
    }

    /// Waits until the page has this path.
    #[track_caller]
    pub fn arrives_at(&self, path: &str) {
        self.until(&format!("the browser is at {path}"), || self.path() == path);
    }

    /// What a script returns; its arguments are `arguments[0]` and so on.
    #[track_caller]
    pub fn run(&self, script: &str, arguments: &[Value]) -> Value {
        self.post(
            "/execute/sync",
            &json!({"script": script, "args": arguments}),
        )
    }

    /// What a script gives to the function that is its last argument.
    #[track_caller]
    pub fn run_until_told(&self, script: &str, arguments: &[Value]) -> Value {
        self.post(
            "/execute/async",
            &json!({"script": script, "args": arguments}),
        )
    }

    /// Waits for something on the page.
    #[track_caller]
    pub fn until(&self, what: &str, mut happened: impl FnMut() -> bool) {
        let begun = Instant::now();
        while !happened() {
            assert!(
                begun.elapsed() < PATIENCE,
                "it never happens: {what}\n{}",
                self.told()
            );
            std::thread::sleep(POLL);
        }
    }

    /// The first element that can be seen of those that this CSS selector finds, once there is one.
    #[track_caller]
    fn element(&self, css: &str) -> Element {
        self.found("css selector", css)
    }

    #[track_caller]
    fn found(&self, by: &str, what: &str) -> Element {
        let mut found = None;
        self.until(&format!("there is {what}"), || {
            let all = self.post("/elements", &json!({"using": by, "value": what}));
            let ids = all.as_array().into_iter().flatten().filter_map(|element| {
                let id = element.as_object()?.values().next()?.as_str()?;
                Some(Element(id.to_owned()))
            });
            // One that has gone meanwhile is not to be seen.
            found = ids.into_iter().find(|element| {
                let seen = self
                    .session
                    .call(Method::GET, &element.path("displayed"), &Value::Null);
                seen == Ok(json!(true))
            });
            found.is_some()
        });
        found.expect("an element")
    }

    #[track_caller]
    fn click_on(&self, by: &str, what: &str) {
        // What a page renews may go just before the click.
        let mut told = String::new();
        self.until(&format!("{what} can be clicked"), || {
            let element = self.found(by, what);
            let clicked = self
                .session
                .call(Method::POST, &element.path("click"), &json!({}));
            told = clicked.as_ref().err().cloned().unwrap_or_default();
            clicked.is_ok()
        });
    }

    /// Whether this CSS selector finds anything now.
    #[track_caller]
    pub fn has(&self, css: &str) -> bool {
        self.run(
            "return document.querySelector(arguments[0]) !== null",
            &[css.into()],
        ) == json!(true)
    }

    /// Waits until the page tells this.
    #[track_caller]
    pub fn tells(&self, text: &str) {
        let script = "return document.body.innerText.includes(arguments[0])";
        self.until(&format!("the page tells {text:?}"), || {
            self.run(script, &[text.into()]) == json!(true)
        });
    }

    /// Types into the field of this name, in place of what it holds.
    #[track_caller]
    pub fn fill(&self, name: &str, value: &str) {
        let field = self.element(&format!("[name='{name}']"));
        self.post(&field.path("clear"), &json!({}));
        self.post(&field.path("value"), &json!({"text": value}));
    }

    /// Gives a file to the file field of this name.
    #[track_caller]
    pub fn attach(&self, name: &str, file: &Path) {
        let field = self.element(&format!("input[type=file][name='{name}']"));
        let path = file.canonicalize().expect("a file");
        self.post(
            &field.path("value"),
            &json!({"text": path.display().to_string()}),
        );
    }

    /// Clicks on what this CSS selector finds.
    #[track_caller]
    pub fn click(&self, css: &str) {
        self.click_on("css selector", css);
    }

    /// Presses the button, or follows the link, that says this.
    #[track_caller]
    pub fn press(&self, text: &str) {
        let named = ["button", "a", "summary", "label"]
            .map(|tag| format!("//{tag}[normalize-space()=\"{text}\"]"));
        self.click_on("xpath", &named.join(" | "));
    }

    /// Says yes to what the page asks.
    #[track_caller]
    pub fn agree(&self) {
        self.until("the page asks", || {
            self.session
                .call(Method::POST, "/alert/accept", &json!({}))
                .is_ok()
        });
    }

    /// A picture of what the window shows, as PNG.
    #[track_caller]
    pub fn picture(&self) -> Vec<u8> {
        let picture = self.get("/screenshot");
        let text = picture.as_str().expect("text");
        base64(text).expect("base 64")
    }

    /// How many sheets of A4 the page takes, printed.
    #[track_caller]
    pub fn sheets(&self) -> usize {
        let a4 = json!({"page": {"width": 21.0, "height": 29.7}});
        let printed = self.post("/print", &a4);
        let document = base64(printed.as_str().expect("text")).expect("base 64");
        let document = String::from_utf8_lossy(&document);
        document.matches("/Type /Page\n").count()
    }

    /// The tab that is in front.
    #[track_caller]
    pub fn tab(&self) -> Tab {
        Tab(self.get("/window").as_str().expect("a tab").to_owned())
    }

    /// Another tab, in front from now on.
    #[track_caller]
    pub fn new_tab(&self) -> Tab {
        let made = self.post("/window/new", &json!({"type": "tab"}));
        let tab = Tab(made["handle"].as_str().expect("a tab").to_owned());
        self.to_tab(&tab);
        self.look(DESK);
        tab
    }

    /// The tab that is not this one, of two.
    #[track_caller]
    pub fn other_tab(&self, tab: &Tab) -> Tab {
        let all = self.get("/window/handles");
        let mut all = all.as_array().into_iter().flatten();
        let other = all.find(|one| one.as_str() != Some(&tab.0));
        Tab(other
            .and_then(|one| one.as_str())
            .expect("a tab")
            .to_owned())
    }

    /// Brings a tab to the front.
    #[track_caller]
    pub fn to_tab(&self, tab: &Tab) {
        self.post("/window", &json!({"handle": tab.0}));
    }

    /// The cookies of the page, as a header.
    #[track_caller]
    pub fn cookies(&self) -> String {
        let all = self.get("/cookie");
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let pairs = all.as_array().into_iter().flatten();
        let pairs =
            pairs.map(|cookie| format!("{}={}", text(&cookie["name"]), text(&cookie["value"])));
        pairs.collect::<Vec<_>>().join("; ")
    }

    /// What the browser complained about since this was asked last.
    #[track_caller]
    pub fn complaints(&self) -> Vec<String> {
        let log = self.post("/se/log", &json!({"type": "browser"}));
        let entries = log.as_array().into_iter().flatten();
        entries
            .filter(|entry| entry["level"] == "SEVERE" || entry["level"] == "WARNING")
            .map(|entry| format!("{}: {}", entry["level"], entry["message"]))
            .collect()
    }
}

/// What stands in base 64 (RFC 4648); `None` for what does not.
fn base64(text: &str) -> Option<Vec<u8>> {
    const SYMBOLS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut values = [None; 256];
    for (value, symbol) in (0_u32..).zip(SYMBOLS) {
        values[usize::from(*symbol)] = Some(value);
    }
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    let (mut kept, mut bits) = (0_u32, 0);
    for symbol in text.trim_end_matches('=').bytes() {
        kept = kept << 6 | values[usize::from(symbol)]?;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push(u8::try_from(kept >> bits & 0xff).ok()?);
        }
    }
    Some(bytes)
}
