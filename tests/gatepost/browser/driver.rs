//! Debian's chromium through its driver (W3C `WebDriver`, <https://www.w3.org/TR/webdriver2/>), on a
//! port of its own and with a profile of its own. Both end with the test.
//!
//! The protocol is a dozen calls with JSON; what the tests have for HTTP does them.

use crate::faults::wire::PATIENCE;
use reqwest::{Method, blocking::Client};
use serde_json::{Value, json};
use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
};

const INSTALL: &str = "`tests/run` installs it (Debian: apt-get install chromium chromium-driver)";

/// A browser, as its driver knows it.
pub struct Session {
    http: Client,
    /// The address of its commands.
    url: String,
    driver: Driver,
}

/// The driver's process, the leader of a group in which the browser is, too.
struct Driver {
    child: Child,
    port: u16,
    profile: tempfile::TempDir,
}

impl Session {
    /// Starts the driver and has it start the browser.
    pub fn open() -> Self {
        let driver = Driver::start();
        let http = crate::harness::http()
            .timeout(PATIENCE)
            .build()
            .expect("a client");
        let mut session = Self {
            http,
            url: format!("http://127.0.0.1:{}/session", driver.port),
            driver,
        };
        let capabilities = capabilities(session.driver.profile.path());
        let made = session
            .call(Method::POST, "", &capabilities)
            .unwrap_or_else(|cause| panic!("chromium does not start: {INSTALL}: {cause}"));
        let id = made["sessionId"].as_str().expect("a session");
        session.url = format!("{}/{id}", session.url);
        session
    }

    /// A command of the session; what it gives, or what the driver says of it.
    pub fn call(&self, method: Method, path: &str, body: &Value) -> Result<Value, String> {
        let mut request = self
            .http
            .request(method.clone(), format!("{}{path}", self.url));
        if method == Method::POST {
            request = request.json(body);
        }
        let answer = request.send().map_err(|cause| cause.to_string())?;
        let status = answer.status();
        let mut told: Value = answer.json().map_err(|cause| cause.to_string())?;
        match told["value"].take() {
            value if status.is_success() => Ok(value),
            fault => Err(format!("{}: {}", fault["error"], fault["message"])),
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.call(Method::DELETE, "", &Value::Null);
    }
}

impl Driver {
    fn start() -> Self {
        // The port it chooses is free for IPv4; for IPv6 another may have it, and then it ends.
        let mut tries = (0..5).filter_map(|_| Self::try_start());
        tries.next().expect("chromedriver tells its port")
    }

    fn try_start() -> Option<Self> {
        let mut command = Command::new("chromedriver");
        command
            .arg("--port=0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command
            .spawn()
            .unwrap_or_else(|cause| panic!("chromedriver cannot be run: {INSTALL}: {cause}"));
        let output = BufReader::new(child.stdout.take().expect("its output"));
        let mut lines = output.lines().map_while(Result::ok);
        let port = lines.find_map(|line| {
            let (_, port) = line.split_once("started successfully on port ")?;
            port.trim_end_matches('.').parse().ok()
        });
        let Some(port) = port else {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        };
        // It goes on telling things; a full pipe would stop it.
        std::thread::spawn(move || lines.for_each(drop));
        Some(Self {
            child,
            port,
            profile: tempfile::tempdir().expect("a temporary folder"),
        })
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        // A browser that would not end by itself.
        #[cfg(unix)]
        let _ = Command::new("kill")
            .args(["-s", "KILL", "--", &format!("-{}", self.child.id())])
            .stderr(Stdio::null())
            .status();
    }
}

fn capabilities(profile: &Path) -> Value {
    let profile = format!("--user-data-dir={}", profile.display());
    let arguments = [
        profile.as_str(),
        "--headless=new",
        // The only pages are ours, and containers often allow no sandbox.
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--hide-scrollbars",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--force-color-profile=srgb",
        "--lang=en",
        // The console needs nothing from anywhere else.
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    ];
    json!({"capabilities": {"alwaysMatch": {
        "browserName": "chrome",
        "goog:chromeOptions": {"args": arguments},
        "goog:loggingPrefs": {"browser": "ALL"},
        // A page that asks waits until the test answers.
        "unhandledPromptBehavior": "ignore",
        "timeouts": {"script": 60_000},
    }}})
}
