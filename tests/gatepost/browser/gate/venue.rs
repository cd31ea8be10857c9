//! A place with attendees, and gates that are set up there, each behind a network of its own.

use crate::{
    browser::window::Browser,
    faults::proxy::Proxy,
    harness::{Caller, Server, cases},
};
use gatepost::{
    identity::{Role, clients::NewClient},
    types::DeviceId,
};
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt::Write;

/// A server with one place, and attendees with the codes `T-1`, `T-2` and so on.
pub struct Venue {
    pub server: Server,
    pub api: Caller,
    pub place: i64,
}

/// What a gate showed of a scan.
#[derive(Debug, Deserialize)]
pub struct Verdict {
    /// `good`, `out`, `look` or `stop`.
    pub kind: String,
    pub text: String,
    /// From the last key to the verdict.
    pub ms: f64,
}

impl Venue {
    /// A place with these rules.
    pub fn new(attendees: usize, access: Value) -> Self {
        let (server, api) = Server::with_api();
        let place = api.device(&json!({
            "name": "Hall", "code": "hall", "deviceType": "room", "data": {"Access": access},
        }));
        let mut list = String::from("barcode,firstName,lastName\n");
        for n in 1..=attendees {
            writeln!(list, "T-{n},Guest,No{n}x").expect("text");
        }
        let list = server.file("list.csv", &list);
        server.done(&["import", "delegates", &list]);
        Self { server, api, place }
    }

    /// Publishes settings for all gates: what is added to those of a place with supervisors and walk-ins.
    pub fn allow(&self, more: Value) {
        let mut settings = json!({
            "supervisorPin": "471100", "walkInTypes": ["Visitor", "Press"],
            "availableFeatures": ["check-in", "check-out", "delegate-search", "delegate-create"],
        });
        let more: serde_json::Map<String, Value> = serde_json::from_value(more).expect("settings");
        settings.as_object_mut().expect("settings").extend(more);
        self.server.publish(&json!({"default": settings}));
    }

    /// A network in front of the server.
    pub fn network(&self) -> Proxy {
        Proxy::to(self.server.address())
    }

    /// The id and the secret of a new gate.
    pub fn credentials(&self) -> (String, String) {
        let app = json!({"deviceType": "regoapp"});
        self.server.new_client(NewClient {
            roles: [Role::Gate].into_iter().collect(),
            device: Some(DeviceId(self.api.device(&app))),
            ..NewClient::named("gate")
        })
    }

    /// A gate that is ready to scan.
    pub fn gate(&self, network: &Proxy) -> Browser {
        let gate = Browser::open(&network.origin());
        self.set_up(&gate);
        gate
    }

    /// Sets a gate up, and waits until it is ready to scan: its id and its secret.
    pub fn set_up(&self, gate: &Browser) -> (String, String) {
        let (id, secret) = self.credentials();
        gate.go("/gate");
        gate.until("the app has begun", || gate.has("#setup:not([hidden])"));
        self.give(gate, &id, &secret);
        gate.go("/gate");
        self.is_ready(gate);
        (id, secret)
    }

    /// Gives a gate what it gets when it is added in the console.
    pub fn give(&self, gate: &Browser, id: &str, secret: &str) {
        let kept = json!({
            "credentials": {"clientId": id, "clientSecret": secret},
            "settings": {
                "mode": "in", "theme": "auto", "sound": false, "vibration": false, "passed": 0, "name": "G-1",
                "place": {"id": self.place, "name": "Hall"},
            },
        });
        gate.run_until_told(&format!(
            "const tell = arguments[0];
             indexedDB.open('gatepost-gate').onsuccess = ({{ target: {{ result: db }} }}) => {{
                const writing = db.transaction('meta', 'readwrite', {{ durability: 'strict' }});
                for (const [key, value] of Object.entries({kept})) writing.objectStore('meta').put(value, key);
                writing.oncomplete = () => {{ db.close(); tell(1); }};
             }};"
        ));
    }

    /// Waits until the gate is online with the whole list, and its page is kept.
    #[track_caller]
    pub fn is_ready(&self, gate: &Browser) {
        let people = self.server.count("delegates");
        is_online(gate);
        gate.until("the list is complete", || {
            let numbers = gate.run("return document.getElementById('numbers').innerText", &[]);
            let numbers = numbers.as_str().unwrap_or_default().to_owned();
            numbers.contains(&format!("of {people} arrived")) && has_list(gate)
        });
        page_is_kept(gate);
    }

    /// How many check-ins are stored.
    pub fn check_ins(&self) -> i64 {
        self.server
            .count("interactions WHERE interaction_type = 'check-in'")
    }

    /// Waits until this many check-ins are stored and the gate's queue is empty: as many people as there are
    /// check-ins then.
    #[track_caller]
    pub fn has_each_once(&self, gate: &Browser, people: usize) {
        gate.until(&format!("{people} check-ins are stored"), || {
            usize::try_from(self.check_ins()) == Ok(people)
        });
        gate.until("the queue is empty", || kept(gate, "queue").is_empty());
        assert_eq!(usize::try_from(self.check_ins()), Ok(people));
        let distinct: i64 = self.server.value(
            "SELECT count(DISTINCT first_delegate_id) FROM interactions WHERE interaction_type = 'check-in'",
        );
        assert_eq!(usize::try_from(distinct), Ok(people));
    }
}

/// Waits until people can scan, with the server.
#[track_caller]
pub fn is_online(gate: &Browser) {
    gate.until("the gate is online", || {
        gate.has("body[data-screen=scan] #status-online.good")
    });
}

/// Waits until the gate says that it is offline.
#[track_caller]
pub fn is_offline(gate: &Browser) {
    gate.until("the gate is offline", || {
        gate.has("body[data-screen=scan] #status-online.warn")
    });
}

/// Waits until the page starts without the server.
fn page_is_kept(gate: &Browser) {
    gate.until("the page is kept", || {
        gate.run("return navigator.serviceWorker.controller !== null", &[]) == json!(true)
    });
}

fn has_list(gate: &Browser) -> bool {
    gate.has("#status-list.good, #status-list.warn")
}

/// Looks for the server at once, as when somebody takes the phone out of the pocket.
pub fn hurry(gate: &Browser) {
    let script = "document.dispatchEvent(new Event('visibilitychange'))";
    gate.run(script, &[]);
}

/// What a gate has in a store of its database.
pub fn kept(gate: &Browser, store: &str) -> Vec<Value> {
    let kept = gate.run_until_told(&format!(
        "const tell = arguments[0];
         const opening = indexedDB.open('gatepost-gate');
         opening.onupgradeneeded = () => opening.transaction.abort();
         opening.onerror = () => tell([]);
         opening.onsuccess = ({{ target: {{ result: db }} }}) => {{
            db.transaction('{store}').objectStore('{store}').getAll().onsuccess = ({{ target: {{ result }} }}) => {{
                db.close();
                tell(result);
            }};
         }};"
    ));
    cases(kept)
}

/// Scans codes one after the other, as a scanner types them: what the gate showed of each.
pub fn scan_all<S: AsRef<str>>(gate: &Browser, codes: &[S]) -> Vec<Verdict> {
    let codes: Vec<&str> = codes.iter().map(AsRef::as_ref).collect();
    let enter = "for (const key of [...code, 'Enter']) document.dispatchEvent(press(key));";
    enter_all(gate, &json!(codes), enter)
}

/// Enters codes one after the other by a script that has each as `code`.
pub fn enter_all(gate: &Browser, codes: &Value, enter: &str) -> Vec<Verdict> {
    let told = gate.run_until_told(&format!(
        "const tell = arguments[0];
         const press = (key) => new KeyboardEvent('keydown', {{ key, bubbles: true, cancelable: true }});
         const scan = async (code) => {{
            const verdict = document.getElementById('verdict');
            document.dispatchEvent(press('Escape'));
            const begun = performance.now();
            {enter}
            while (verdict.hidden) {{
                if (performance.now() - begun > 30_000) throw new Error(`no verdict for ${{code.slice(0, 99)}}`);
                await new Promise((next) => setTimeout(next, 2));
            }}
            const kind = verdict.classList[1];
            return {{ kind, text: verdict.innerText.toWellFormed(), ms: performance.now() - begun }};
         }};
         (async () => {{
            const told = [];
            for (const code of {codes}) told.push(await scan(code));
            tell(told);
         }})().catch((cause) => tell(String(cause)));"
    ));
    cases(told)
}

/// `T-1`, `T-2` and so on.
pub fn codes(numbers: std::ops::RangeInclusive<usize>) -> Vec<String> {
    numbers.map(|n| format!("T-{n}")).collect()
}

/// Scans codes whose holders are let in.
#[track_caller]
pub fn admits<S: AsRef<str>>(gate: &Browser, codes: &[S]) -> Vec<Verdict> {
    let verdicts = scan_all(gate, codes);
    for (verdict, code) in verdicts.iter().zip(codes) {
        assert_eq!(verdict.kind, "good", "{}: {verdict:?}", code.as_ref());
    }
    verdicts
}
