//! What the browser keeps, and where: its database, the app's files, the server's address.

use super::venue::{Venue, admits, hurry, is_offline, is_online, kept};
use crate::{
    browser::window::Browser,
    faults::proxy::{Network, Proxy},
};
use reqwest::{Method, blocking::Response};
use serde_json::json;

#[test]
fn a_full_disk_is_said_and_loses_nothing_while_the_page_is_open() {
    let venue = Venue::new(4, json!({}));
    let network = venue.network();
    let gate = venue.gate(&network);
    // Chromium looks at its own quota only now and then, so writes fail as by a full disk.
    let script = "if (!globalThis.putAll) {
            globalThis.putAll = IDBObjectStore.prototype.put;
            IDBObjectStore.prototype.put = function (...all) {
                const request = putAll.apply(this, all);
                if (globalThis.isFull) this.transaction.abort();
                return request;
            };
        }
        globalThis.isFull = arguments[0];";
    let disk_is_full = |full: bool| drop(gate.run(script, &[json!(full)]));
    network.set(Network::Down);
    disk_is_full(true);
    admits(&gate, &["T-1", "T-2"]);
    gate.tells("Scans are not stored on this device");
    assert!(kept(&gate, "queue").is_empty());
    // There is room again: the next scan takes the others along.
    disk_is_full(false);
    admits(&gate, &["T-3"]);
    assert_eq!(kept(&gate, "queue").len(), 3);
    gate.until("the warning is gone", || gate.has("#banner[hidden]"));
    // It fills up again, and the server is back.
    disk_is_full(true);
    admits(&gate, &["T-4"]);
    network.set(Network::Up);
    hurry(&gate);
    gate.until("all scans are stored", || venue.check_ins() == 4);
    disk_is_full(false);
    venue.has_each_once(&gate, 4);
}

#[test]
fn storage_that_the_browser_evicts_is_written_again() {
    let venue = Venue::new(4, json!({}));
    let network = venue.network();
    let gate = venue.gate(&network);
    network.set(Network::Down);
    admits(&gate, &["T-1", "T-2"]);
    gate.call(
        "Storage.clearDataForOrigin",
        &json!({"origin": network.origin(), "storageTypes": "indexeddb"}),
    );
    gate.until("the queue is stored again", || {
        kept(&gate, "queue").len() == 2
    });
    admits(&gate, &["T-3"]);
    assert_eq!(kept(&gate, "queue").len(), 3);
    assert_eq!(kept(&gate, "people").len(), 4);
    // A restart without the server finds everything.
    gate.reload();
    is_offline(&gate);
    admits(&gate, &["T-4"]);
    network.set(Network::Up);
    venue.has_each_once(&gate, 4);
}

/// The server has another version from now on, in which a file says something else.
fn update(venue: &Venue, network: &Proxy, file: &str, before: &str, after: &str) {
    let get = |path: &str| {
        let response = venue.server.request(Method::GET, path).send();
        response.and_then(Response::bytes).expect("a file").to_vec()
    };
    let text = |path: &str| String::from_utf8(get(path)).expect("text");
    let credentials = venue.credentials();
    let mut settings = venue
        .server
        .caller_of(&credentials.0, &credentials.1)
        .get("/gate")
        .body;
    let version = settings["data"]["appVersion"]
        .as_str()
        .expect("a version")
        .to_owned();
    settings["data"]["appVersion"] = json!("two");
    network.replace("/api/v5/gate", &settings.to_string());
    let worker = text("/gate/worker.js");
    let files = worker
        .lines()
        .nth(1)
        .and_then(|line| line.strip_prefix("const FILES = "));
    let files: Vec<String> =
        serde_json::from_str(files.expect("a list").trim_end_matches(';')).expect("JSON");
    network.replace("/gate/worker.js", &worker.replace(&version, "two"));
    network.replace("/gate", &text("/gate").replace(&version, "two"));
    for name in files {
        // Nobody reads codes by camera here.
        let body = if name.ends_with("wasm") || name.ends_with("png") {
            String::new()
        } else {
            text(&format!("/gate/{name}")).replace(&version, "two")
        };
        let body = if name == file {
            body.replace(before, after)
        } else {
            body
        };
        network.replace(&format!("/gate/two/{name}"), &body);
    }
}

/// A clock that the test moves on, from the next page on.
fn with_clock(gate: &Browser) {
    let clock = "globalThis.passed = 0;
        const now = performance.now.bind(performance);
        performance.now = () => now() + passed;";
    gate.call(
        "Page.addScriptToEvaluateOnNewDocument",
        &json!({"source": clock}),
    );
}

#[test]
fn a_kiosk_takes_a_new_version_while_nobody_uses_it() {
    let venue = Venue::new(1, json!({}));
    venue.allow(json!({"kiosk": true, "kioskLanguages": ["en"]}));
    let network = venue.network();
    let kiosk = Browser::open(&network.origin());
    with_clock(&kiosk);
    kiosk.go("/gate");
    kiosk.until("the app has begun", || kiosk.has("#setup:not([hidden])"));
    let (id, secret) = venue.credentials();
    venue.give(&kiosk, &id, &secret);
    kiosk.go("/gate");
    let is_kept =
        || kiosk.run("return navigator.serviceWorker.controller !== null", &[]) == json!(true);
    kiosk.until("the page is kept", || {
        kiosk.has("body[data-screen=kiosk]") && is_kept()
    });
    // Somebody is there.
    kiosk.press("I have no code");
    update(
        &venue,
        &network,
        "core/kiosk-texts.js",
        "Scan your ticket",
        "Scan it as version two",
    );
    kiosk.until("the new version is there", || {
        let script = "return navigator.serviceWorker.controller?.scriptURL.endsWith('v=two')";
        kiosk.run(script, &[]) == json!(true)
    });
    kiosk.run("globalThis.isOld = true", &[]);
    kiosk.click("[data-step=find] [data-step-to=start]");
    assert_eq!(kiosk.run("return globalThis.isOld", &[]), json!(true));
    // They are gone for a minute.
    kiosk.run("globalThis.passed += 61_000", &[]);
    kiosk.tells("Scan it as version two");
}

#[test]
fn a_new_version_waits_for_the_queue_and_loses_nothing() {
    let venue = Venue::new(2, json!({}));
    let network = venue.network();
    let gate = venue.gate(&network);
    network.block(Some("/api/v5/interaction/batch"));
    network.set(Network::Down);
    admits(&gate, &["T-1"]);
    // The server is updated, and cannot store the scan yet.
    update(
        &venue,
        &network,
        "core/texts-en.js",
        "Ready to scan",
        "Ready as version two",
    );
    network.set(Network::Up);
    // Every start asks for the version; otherwise the gate does now and then.
    gate.reload();
    gate.until("the new version is there", || {
        let script = "return navigator.serviceWorker.controller?.scriptURL.endsWith('v=two')";
        gate.run(script, &[]) == json!(true)
    });
    assert_eq!(kept(&gate, "queue").len(), 1);
    assert!(
        gate.run("return document.body.innerHTML", &[])
            .to_string()
            .contains("Ready to scan")
    );
    network.block(None);
    venue.has_each_once(&gate, 1);
    gate.tells("Ready as version two");
    is_online(&gate);
    admits(&gate, &["T-2"]);
    venue.has_each_once(&gate, 2);
}

#[test]
fn a_queue_stays_at_the_address_at_which_it_was_made() {
    let venue = Venue::new(2, json!({}));
    let network = venue.network();
    let gate = venue.gate(&network);
    network.set(Network::Down);
    admits(&gate, &["T-1"]);
    // The server has another address from now on. Who leaves the page is warned.
    let other = venue.network();
    let elsewhere = format!("{}/gate", other.origin());
    gate.run("location.assign(arguments[0])", &[json!(elsewhere)]);
    gate.agree();
    gate.until("the app of the new address knows nothing", || {
        gate.has("body[data-screen=setup] #setup:not([hidden])")
    });
    // The old address leads to the server again.
    network.set(Network::Up);
    gate.go("/gate");
    is_online(&gate);
    venue.has_each_once(&gate, 1);
}
