//! Debian's chromium, one for all tests, driven by the `DevTools` protocol
//! (<https://chromedevtools.github.io/devtools-protocol/>) over two pipes. It ends when they are closed, at the
//! latest with the process of the tests.

use crate::faults::wire::PATIENCE;
use crate::harness::cases;
use serde_json::{Value, json};
use std::{
    collections::HashMap,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError},
};

const INSTALL: &str = "`tests/run` installs it (Debian: apt-get install chromium)";

/// Starts it with a profile that goes with it. It reads from 3 and writes to 4.
const START: &str = r#"profile=$(mktemp -d)
chromium --user-data-dir="$profile" "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1
rm -rf "$profile""#;

const ARGUMENTS: [&str; 14] = [
    "--remote-debugging-pipe",
    "--headless=new",
    // The only pages are ours, and containers often allow no sandbox.
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--no-first-run",
    "--disable-background-networking",
    // Every page is in front for its test.
    "--disable-background-timer-throttling",
    "--disable-renderer-backgrounding",
    "--disable-component-update",
    "--force-color-profile=srgb",
    "--lang=en",
    // The console needs nothing from anywhere else.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
];

/// A running chromium.
pub struct Chromium {
    child: Child,
    input: Mutex<Option<ChildStdin>>,
    heard: Arc<Heard>,
}

/// What it said, and a bell for when it says more.
#[derive(Default)]
struct Heard(Mutex<State>, Condvar);

/// What is known of it.
#[derive(Default)]
pub struct State {
    calls: u64,
    answers: HashMap<u64, Value>,
    tabs: HashMap<String, TabState>,
    has_ended: bool,
}

/// What is known of a tab.
#[derive(Default)]
pub struct TabState {
    /// Its main frame.
    target: String,
    /// Whether a page is on its way.
    pub loads: bool,
    /// Whether the page waits for an answer to what it asks.
    pub asks: bool,
    /// Whether its process is gone.
    has_crashed: bool,
    /// What the browser complained about.
    pub complaints: Vec<String>,
}

impl Chromium {
    /// The one of all tests.
    pub fn shared() -> Arc<Self> {
        static SHARED: OnceLock<Arc<Chromium>> = OnceLock::new();
        Arc::clone(SHARED.get_or_init(|| Arc::new(Self::start())))
    }

    /// Starts one, on the network of this thread.
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// Starts one with more arguments.
    pub fn start_with(arguments: &[String]) -> Self {
        Self::start_by(&mut Command::new("sh"), arguments)
    }

    /// Starts one for a user whose home this is: the certificates there are trusted.
    pub fn start_at(home: &Path) -> Self {
        let data = home.join(".local/share");
        Self::start_by(
            Command::new("sh")
                .env("HOME", home)
                .env("XDG_DATA_HOME", data),
            &[],
        )
    }

    fn start_by(shell: &mut Command, arguments: &[String]) -> Self {
        let mut child = shell
            .args(["-c", START, "sh"])
            .args(ARGUMENTS)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell");
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let heard = Arc::<Heard>::default();
        let listener = Arc::clone(&heard);
        std::thread::spawn(move || listener.listen(output.expect("its output")));
        Self {
            child,
            input: Mutex::new(input),
            heard,
        }
    }

    /// Opens a tab with the cookies and the storage of this context: its session.
    pub fn open_tab(&self, context: &str) -> String {
        let text = |answer: Result<Value, String>, name: &str| {
            let answer = answer.unwrap_or_else(|cause| panic!("no {name}: {cause}"));
            answer[name].as_str().expect(name).to_owned()
        };
        let asked = json!({"url": "about:blank", "browserContextId": context, "newWindow": true});
        let target = text(self.call("", "Target.createTarget", &asked), "targetId");
        let asked = json!({"targetId": target, "flatten": true});
        let tab = text(self.call("", "Target.attachToTarget", &asked), "sessionId");
        let state = TabState {
            target,
            ..TabState::default()
        };
        self.heard.state().tabs.insert(tab.clone(), state);
        for (method, asked) in cases::<(&str, Value)>(json!([
            ["Page.enable", {}],
            ["Runtime.enable", {}],
            ["Log.enable", {}],
            ["Inspector.enable", {}],
            ["Emulation.setFocusEmulationEnabled", {"enabled": true}],
        ])) {
            let done = self.call(&tab, method, &asked);
            done.unwrap_or_else(|cause| panic!("{method}: {cause}"));
        }
        tab
    }

    /// A context with cookies and storage of its own.
    pub fn open_context(&self) -> String {
        let made = self.call("", "Target.createBrowserContext", &json!({}));
        let made = made.unwrap_or_else(|cause| panic!("chromium does not work: {cause}"));
        made["browserContextId"]
            .as_str()
            .expect("a context")
            .to_owned()
    }

    /// Closes a context with its tabs.
    pub fn close_context(&self, context: &str) {
        let asked = json!({"browserContextId": context});
        let _ = self.call("", "Target.disposeBrowserContext", &asked);
    }

    /// Calls a method of a tab, or without one of the browser: what it gives, or what is wrong. A page that
    /// asks something gives nothing before it has its answer, and one that crashed gives nothing any more: that
    /// is not waited for.
    pub fn call(&self, tab: &str, method: &str, params: &Value) -> Result<Value, String> {
        let id = {
            let mut state = self.heard.state();
            state.calls += 1;
            state.calls
        };
        let mut message = json!({"id": id, "method": method, "params": params});
        if !tab.is_empty() {
            message["sessionId"] = tab.into();
        }
        if let Some(input) = &mut *self.input.lock().unwrap_or_else(PoisonError::into_inner) {
            // Whether it has ended is told by the other pipe.
            let _ = input.write_all(format!("{message}\0").as_bytes());
        }
        let is_silent = |tab: &TabState| tab.asks || tab.has_crashed;
        let is_answered = |state: &State| {
            state.answers.contains_key(&id) || state.tabs.get(tab).is_some_and(is_silent)
        };
        let answer = self.wait(method, is_answered).answers.remove(&id);
        let mut answer = answer.unwrap_or_default();
        match answer["error"]["message"].as_str() {
            Some(cause) => Err(cause.to_owned()),
            None => Ok(answer["result"].take()),
        }
    }

    /// Waits until the tab's page is loaded, or asks something.
    pub fn await_page(&self, tab: &str) {
        let loaded = self.wait("a page is loaded", |state| {
            let tab = &state.tabs[tab];
            !tab.loads || tab.asks
        });
        drop(loaded);
    }

    /// Looks at what is known of a tab.
    pub fn with_tab<T>(&self, tab: &str, look: impl FnOnce(&mut TabState) -> T) -> T {
        look(self.heard.state().tabs.get_mut(tab).expect("a tab"))
    }

    fn wait(&self, what: &str, is_over: impl Fn(&State) -> bool) -> MutexGuard<'_, State> {
        let waits = |state: &mut State| !state.has_ended && !is_over(state);
        let waited = self
            .heard
            .1
            .wait_timeout_while(self.heard.state(), PATIENCE, waits);
        let (state, waited) = waited.unwrap_or_else(PoisonError::into_inner);
        assert!(!state.has_ended, "chromium has ended: {INSTALL}");
        assert!(!waited.timed_out(), "it never happens: {what}");
        state
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        *self.input.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let _ = self.child.wait();
    }
}

impl Heard {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn listen(&self, output: ChildStdout) {
        for message in BufReader::new(output).split(0).map_while(Result::ok) {
            if let Ok(message) = serde_json::from_slice(&message) {
                self.state().take(message);
                self.1.notify_all();
            }
        }
        self.state().has_ended = true;
        self.1.notify_all();
    }
}

impl State {
    fn take(&mut self, message: Value) {
        if let Some(id) = message["id"].as_u64() {
            self.answers.insert(id, message);
            return;
        }
        let tab = message["sessionId"].as_str();
        if let Some(tab) = tab.and_then(|tab| self.tabs.get_mut(tab)) {
            tab.take(&message["method"], &message["params"]);
        }
    }
}

impl TabState {
    fn take(&mut self, event: &Value, told: &Value) {
        let is_whole = told["frameId"] == self.target;
        match event.as_str().unwrap_or_default() {
            "Page.frameStartedLoading" if is_whole => self.loads = true,
            "Page.frameStoppedLoading" if is_whole => self.loads = false,
            "Page.javascriptDialogOpening" => self.asks = true,
            "Page.javascriptDialogClosed" => self.asks = false,
            "Inspector.targetCrashed" => self.has_crashed = true,
            "Log.entryAdded" => self.complain(&told["entry"]["level"], &told["entry"]),
            "Runtime.consoleAPICalled" => self.complain(&told["type"], &told["args"]),
            "Runtime.exceptionThrown" => self.complain(&"error".into(), &told["exceptionDetails"]),
            _ => {}
        }
    }

    fn complain(&mut self, level: &Value, about: &Value) {
        let is_fault = ["error", "warning", "assert"].contains(&level.as_str().unwrap_or_default());
        // What is replaced or left ends its requests, and htmx says so twice; of a request that failed another says so.
        let said = about[0]["value"].as_str().unwrap_or_default();
        let is_end = ["htmx:sendAbort", "htmx:afterRequest"]
            .iter()
            .any(|end| said.starts_with(end));
        if is_fault && !is_end {
            self.complaints.push(format!("{level}: {about}"));
        }
    }
}
