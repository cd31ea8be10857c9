//! A browser that a test drives, as somebody who looks at pages, types and clicks. What a test waits
//! for has a deadline; nothing is slept for.

use super::chromium::Chromium;
use crate::faults::wire::PATIENCE;
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use std::{
    cell::RefCell,
    path::Path,
    sync::Arc,
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

/// Where a script finds what can be seen: by CSS, and by what it says where that is given.
const FIND: &str =
    "const find = (css, text = null) => [...document.querySelectorAll(css)].find((one) =>
    one.checkVisibility({visibilityProperty: true}) && one.getClientRects().length > 0
        && (text === null || one.textContent.replace(/\\s+/g, ' ').trim() === text));";

/// A browser with its tabs, and with cookies and storage of its own; gone when this goes.
pub struct Browser {
    chromium: Arc<Chromium>,
    context: String,
    /// The tab in front.
    front: RefCell<Tab>,
    /// Paths are of this server.
    origin: String,
}

/// Counts clicks, a choice from a menu as one, letters and pages, in the storage of the tab.
const COUNT: &str = "try {
    const add = (at, count) => {
        if (!sessionStorage.took) return;
        const took = JSON.parse(sessionStorage.took);
        took[at] += count;
        sessionStorage.took = JSON.stringify(took);
    };
    add(2, 1);
    addEventListener('pointerdown', () => add(0, 1), true);
    addEventListener('change', event => event.target.tagName === 'SELECT' && add(0, 1), true);
    addEventListener('input', event => add(1, (event.data || '').length), true);
} catch {}";

/// A tab.
#[derive(Clone)]
pub struct Tab(String);

impl Browser {
    /// A browser for the pages of a server such as `http://127.0.0.1:8080`.
    pub fn open(origin: &str) -> Self {
        Self::open_in(Chromium::shared(), origin)
    }

    /// A browser on the network of this thread.
    pub fn open_here(origin: &str) -> Self {
        Self::open_in(Arc::new(Chromium::start()), origin)
    }

    /// A browser that was started with these arguments.
    pub fn open_with(origin: &str, arguments: &[String]) -> Self {
        Self::open_in(Arc::new(Chromium::start_with(arguments)), origin)
    }

    /// The browser of a user whose home this is.
    pub fn open_at(home: &Path, origin: &str) -> Self {
        Self::open_in(Arc::new(Chromium::start_at(home)), origin)
    }

    fn open_in(chromium: Arc<Chromium>, origin: &str) -> Self {
        let context = chromium.open_context();
        let browser = Self {
            front: RefCell::new(Tab(chromium.open_tab(&context))),
            chromium,
            context,
            origin: origin.to_owned(),
        };
        browser.look(DESK);
        browser.call(
            "Page.addScriptToEvaluateOnNewDocument",
            &json!({"source": COUNT}),
        );
        browser
    }

    /// Counts what hands do from here on, until the tab is closed.
    #[track_caller]
    pub fn count(&self) {
        self.run("sessionStorage.took = '[0, 0, 0]'", &[]);
    }

    /// Checks what it took since then: clicks, letters that were typed, and the most pages that were loaded. The page of
    /// something that goes on is loaded again at its end, unless that was sooner.
    #[track_caller]
    pub fn took(&self, clicks: i64, letters: i64, pages_max: i64) {
        let took = self.run("return JSON.parse(sessionStorage.took)", &[]);
        assert_eq!(
            [took[0].as_i64(), took[1].as_i64()],
            [Some(clicks), Some(letters)]
        );
        let pages = took[2].as_i64();
        assert!(pages.is_some_and(|pages| pages <= pages_max), "{took}");
    }

    /// As [`Browser::call`]: what it gives, or what is wrong.
    pub fn try_call(&self, method: &str, params: &Value) -> Result<Value, String> {
        self.chromium.call(&self.tab().0, method, params)
    }

    /// Calls a method of the protocol, for the tab in front.
    #[track_caller]
    pub fn call(&self, method: &str, params: &Value) -> Value {
        self.try_call(method, params)
            .unwrap_or_else(|cause| panic!("{method} {params}: {cause}\n{}", self.told()))
    }

    /// Where the browser is and what it shows, for a test that has failed.
    fn told(&self) -> String {
        let script = "`at ${location}: ${document.body.innerText}`";
        let told = self.try_call("Runtime.evaluate", &json!({"expression": script}));
        format!("{told:?}")
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
        self.call("Emulation.setDeviceMetricsOverride", &metrics);
        self.call("Emulation.setEmulatedMedia", &media);
    }

    /// Opens a path of the server.
    #[track_caller]
    pub fn go(&self, path: &str) {
        self.call(
            "Page.navigate",
            &json!({"url": format!("{}{path}", self.origin)}),
        );
        self.chromium.await_page(&self.tab().0);
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
        let list = json!(arguments);
        self.evaluate(&format!("(function() {{ {script}\n}})(...{list})"), true)["value"].take()
    }

    /// What a script gives to the function that is its argument.
    #[track_caller]
    pub fn run_until_told(&self, script: &str) -> Value {
        let promise = format!("new Promise(function() {{ {script}\n}})");
        self.evaluate(&promise, true)["value"].take()
    }

    /// What an expression is: its value, or a reference to it.
    #[track_caller]
    fn evaluate(&self, expression: &str, by_value: bool) -> Value {
        let asked = json!({"expression": expression, "returnByValue": by_value,
            "awaitPromise": true, "userGesture": true});
        let mut given = Value::Null;
        let mut cause = String::new();
        // A page that goes meanwhile gives nothing.
        self.until("a script runs", || {
            self.chromium.await_page(&self.tab().0);
            match self.try_call("Runtime.evaluate", &asked) {
                Ok(answer) => given = answer,
                Err(told) => cause = told,
            }
            !given.is_null() || self.asks()
        });
        let fault = &given["exceptionDetails"];
        assert!(fault.is_null(), "{expression:.2000}: {fault} {cause}");
        given["result"].take()
    }

    /// Whether the page asks something.
    fn asks(&self) -> bool {
        self.chromium.with_tab(&self.tab().0, |tab| tab.asks)
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

    /// Clicks on the first of what these find that can be seen, once nothing lies over it.
    #[track_caller]
    fn click_on(&self, css: &str, text: Option<&str>) {
        let script = format!(
            "{FIND} const element = find(...arguments);
             if (!element) return null;
             element.scrollIntoView({{block: 'center', inline: 'center', behavior: 'instant'}});
             const box = element.getClientRects()[0];
             const at = [box.x + box.width / 2, box.y + box.height / 2];
             return element.contains(document.elementFromPoint(...at)) ? at : null;"
        );
        let mut at = Value::Null;
        self.until(&format!("{css} {text:?} can be clicked"), || {
            at = self.run(&script, &[css.into(), text.into()]);
            at.is_array()
        });
        for kind in ["mousePressed", "mouseReleased"] {
            let event =
                json!({"type": kind, "x": at[0], "y": at[1], "button": "left", "clickCount": 1});
            self.call("Input.dispatchMouseEvent", &event);
        }
        // What the click begins has begun then, unless the page went at once.
        let begun =
            json!({"expression": "new Promise((done) => setTimeout(done))", "awaitPromise": true});
        let _ = self.try_call("Runtime.evaluate", &begun);
    }

    /// Presses a key, such as `Tab`, with modifiers (1 Alt, 2 Ctrl, 4 Meta, 8 Shift).
    #[track_caller]
    pub fn key(&self, key: &str, modifiers: u8) {
        let (code, number, text) = match key {
            "Enter" => (key.to_owned(), 13, "\r"),
            "Tab" => (key.to_owned(), 9, ""),
            "Escape" => (key.to_owned(), 27, ""),
            "PageUp" => (key.to_owned(), 33, ""),
            "PageDown" => (key.to_owned(), 34, ""),
            "ArrowLeft" => (key.to_owned(), 37, ""),
            "ArrowUp" => (key.to_owned(), 38, ""),
            "ArrowRight" => (key.to_owned(), 39, ""),
            "ArrowDown" => (key.to_owned(), 40, ""),
            "Delete" => (key.to_owned(), 46, ""),
            "F2" => (key.to_owned(), 113, ""),
            "F4" => (key.to_owned(), 115, ""),
            letter => (format!("Key{letter}"), letter.as_bytes()[0].into(), ""),
        };
        for kind in ["keyDown", "keyUp"] {
            let event = json!({"type": kind, "key": key, "code": code, "modifiers": modifiers, "text": text,
                "windowsVirtualKeyCode": number});
            self.call("Input.dispatchKeyEvent", &event);
        }
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
        let script = "return document.body?.innerText.includes(arguments[0])";
        self.until(&format!("the page tells {text:?}"), || {
            self.run(script, &[text.into()]) == json!(true)
        });
    }

    /// Types into the field of this name, in place of what it holds.
    #[track_caller]
    pub fn fill(&self, name: &str, value: &str) {
        self.fill_in(&format!("[name='{name}']"), value);
    }

    /// Types into the field that this CSS selector finds, in place of what it holds.
    #[track_caller]
    pub fn fill_in(&self, css: &str, value: &str) {
        let script = format!(
            "{FIND} const field = find(arguments[0]);
             if (!field) return false;
             field.focus();
             field.select();
             document.execCommand(arguments[1] ? 'insertText' : 'delete', false, arguments[1]);
             return field.value === arguments[1];"
        );
        let arguments = [css.into(), value.into()];
        self.until(&format!("{css} is filled in"), || {
            self.run(&script, &arguments) == json!(true)
        });
    }

    /// Gives a file to the file field of this name.
    #[track_caller]
    pub fn attach(&self, name: &str, file: &Path) {
        let css = format!("input[type=file][name='{name}']");
        self.until(&format!("there is {css}"), || self.has(&css));
        let field = self.evaluate(&format!("document.querySelector(\"{css}\")"), false);
        let path = file.canonicalize().expect("a file");
        self.call(
            "DOM.setFileInputFiles",
            &json!({"files": [path], "objectId": field["objectId"]}),
        );
    }

    /// Clicks on what this CSS selector finds.
    #[track_caller]
    pub fn click(&self, css: &str) {
        self.click_on(css, None);
    }

    /// Presses the button, or follows the link, that says this.
    #[track_caller]
    pub fn press(&self, text: &str) {
        self.click_on("button, a, summary, label", Some(text));
    }

    /// Says yes to what the page asks.
    #[track_caller]
    pub fn agree(&self) {
        self.until("the page asks", || self.asks());
        self.call("Page.handleJavaScriptDialog", &json!({"accept": true}));
        self.until("the page goes on", || !self.asks());
    }

    /// Loads the page again, whatever it asks.
    #[track_caller]
    pub fn reload(&self) {
        self.run("globalThis.isOld = true", &[]);
        self.call("Page.reload", &json!({}));
        self.until("the page is loaded again", || {
            if self.asks() {
                self.agree();
            }
            self.run("return globalThis.isOld === true", &[]) == json!(false)
        });
    }

    /// A picture of what the window shows, as PNG.
    #[track_caller]
    pub fn picture(&self) -> Vec<u8> {
        bytes(&self.call("Page.captureScreenshot", &json!({}))["data"])
    }

    /// How many sheets of A4 the page takes, printed.
    #[track_caller]
    pub fn sheets(&self) -> usize {
        let a4 = json!({"paperWidth": 21.0 / 2.54, "paperHeight": 29.7 / 2.54});
        let document = bytes(&self.call("Page.printToPDF", &a4)["data"]);
        let document = String::from_utf8_lossy(&document);
        document.matches("/Type /Page\n").count()
    }

    /// The tab that is in front.
    pub fn tab(&self) -> Tab {
        self.front.borrow().clone()
    }

    /// Another tab, in front from now on.
    #[track_caller]
    pub fn new_tab(&self) -> Tab {
        let tab = Tab(self.chromium.open_tab(&self.context));
        self.to_tab(&tab);
        self.look(DESK);
        tab
    }

    /// Brings a tab to the front.
    pub fn to_tab(&self, tab: &Tab) {
        self.front.replace(tab.clone());
    }

    /// The cookies of the page, as a header.
    #[track_caller]
    pub fn cookies(&self) -> String {
        let all = self.call("Network.getCookies", &json!({}));
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let pairs = all["cookies"].as_array().into_iter().flatten();
        let pairs =
            pairs.map(|cookie| format!("{}={}", text(&cookie["name"]), text(&cookie["value"])));
        pairs.collect::<Vec<_>>().join("; ")
    }

    /// What the browser complained about since this was asked last.
    pub fn complaints(&self) -> Vec<String> {
        self.chromium
            .with_tab(&self.tab().0, |tab| std::mem::take(&mut tab.complaints))
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.chromium.close_context(&self.context);
        }
    }
}

/// What stands in base 64.
fn bytes(text: &Value) -> Vec<u8> {
    let text = text.as_str().expect("text");
    STANDARD.decode(text).expect("base 64")
}
