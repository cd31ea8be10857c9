//! Outgoing webhooks: a real receiver on loopback that takes, refuses, cuts, hangs and goes away.

mod configured;
mod console;
mod erased;
mod killed;
mod past;
mod programs;
pub mod receiver;
mod taken;
mod trouble;

use crate::{faults::process::until, harness::Server};
use gatepost::domain::webhooks::{NewWebhook, store};
use receiver::Receiver;
use serde_json::json;
use std::collections::BTreeSet;

fn set(entries: &[&str]) -> BTreeSet<String> {
    entries.iter().map(ToString::to_string).collect()
}

/// A server whose webhooks may call this machine.
fn server() -> Server {
    let server = Server::start();
    server.settings(&json!({"outgoing": {"allowLocal": true}}));
    server
}

fn webhook(name: &str, url: &str, interactions: &[&str], changes: &[&str]) -> NewWebhook {
    NewWebhook {
        name: name.to_owned(),
        url: url.to_owned(),
        interactions: set(interactions),
        changes: set(changes),
        devices: None,
        expand: BTreeSet::new(),
    }
}

/// Subscribes a receiver; the webhook's id and secret.
fn subscribe(server: &Server, new: &NewWebhook) -> (i64, String) {
    let new = new.clone();
    server.write(move |tx, ctx| store::create(tx, ctx, &new, None))
}

/// Subscribes a receiver to interactions and changes.
fn told(
    server: &Server,
    receiver: &Receiver,
    interactions: &[&str],
    changes: &[&str],
) -> (i64, String) {
    subscribe(
        server,
        &webhook("CRM", &receiver.url(), interactions, changes),
    )
}

/// Waits until something in the file is so.
#[track_caller]
fn await_value(server: &Server, what: &str, sql: &str, wanted: i64) {
    until(what, || server.value::<i64>(sql) == wanted);
}
