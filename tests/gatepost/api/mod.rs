//! Every method of the API, sentence by sentence of the contract.

mod admitted;
mod attendee_types;
mod audit;
mod authorisation;
mod badges;
mod batch;
mod changes;
mod content;
mod days;
mod delegates;
mod devices;
mod document;
mod doors;
mod envelope;
mod events;
mod everybody_out;
mod examples;
mod expanded;
mod find;
mod flags;
mod forms;
mod gate;
mod gate_evacuation;
mod gate_people;
mod gate_places;
mod interaction_test;
mod interactions;
mod limits;
mod lists;
mod myself;
mod nonces;
mod otp;
mod outline;
mod places;
mod put_by_code;
mod put_many;
mod records;
mod refusals;
mod resends;
mod rights_of_streams;
mod rules;
mod scanned_codes;
mod search;
mod sections;
mod settings;
mod sign_in;
mod signed_tickets;
mod throttling;
mod tills;
mod tokens;
mod transactions;
mod values;
mod versions;
mod visible_properties;
mod waiting_requests;

use crate::harness::{Caller, Server, reply};
use reqwest::Method;
use serde_json::{Value, json};

/// The paths of the server's document with values in their parameters, each with its methods.
fn document_paths(server: &Server) -> Vec<(String, Vec<String>)> {
    let document = reply(server.request(Method::GET, "/openapi.json")).body;
    let paths = document["paths"].as_object().expect("paths").iter();
    let filled = paths.map(|(path, methods)| {
        let path = path
            .replace("{idType}", "id")
            .replace("{id}", "1")
            .replace("{event}", "1")
            .replace("{dashboard}", "event")
            .replace("{name}", "attendance")
            .replace("{webhook}", "1")
            .replace("{interactionType}", "lead");
        let methods = methods.as_object().expect("methods").keys();
        let mut methods: Vec<String> = methods.map(|method| method.to_uppercase()).collect();
        methods.sort_unstable();
        (path, methods)
    });
    filled.collect()
}

/// Values that codes and selectors must carry through whole.
const ODD_VALUES: [&str; 16] = [
    "plain",
    "a:b:c",
    ":",
    "a/b//c/",
    "100%",
    "%41",
    "%2F",
    " spaced  out ",
    "a+b",
    "a?b#c&d=e",
    "Zoë 門 🎫",
    "e\u{301}",
    "'; DROP TABLE delegates; --",
    "\"quoted\\\"",
    "..",
    "line\nbreak\ttab",
];

/// A value as it stands in a path.
fn encoded(value: &str) -> String {
    percent_encoding::utf8_percent_encode(value, percent_encoding::NON_ALPHANUMERIC).to_string()
}

/// A new device called `Gate` with these rules.
fn gate(api: &Caller, access: &Value) -> i64 {
    api.device(&json!({"name": "Gate", "data": {"Access": access}}))
}

/// The refusals that the file keeps, the oldest first.
fn refusals(server: &Server) -> Vec<Value> {
    let rows: String = server.value(
        "SELECT json_group_array(json_object('kind', interaction_type, 'delegate', delegate,
             'delegateId', delegate_id, 'device', device, 'deviceId', device_id, 'client', client_id,
             'user', user_id, 'code', code, 'message', message)) FROM (SELECT * FROM refusals ORDER BY id)",
    );
    serde_json::from_str(&rows).expect("JSON")
}
