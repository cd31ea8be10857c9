//! Every method of the API, sentence by sentence of the contract.

mod audit;
mod authorisation;
mod batch;
mod delegates;
mod devices;
mod document;
mod envelope;
mod events;
mod forms;
mod interactions;
mod lists;
mod myself;
mod nonces;

use crate::harness::{Server, reply};
use reqwest::Method;

/// The paths of the server's document with values in their parameters, each with its methods.
fn document_paths(server: &Server) -> Vec<(String, Vec<String>)> {
    let document = reply(server.request(Method::GET, "/openapi.json")).body;
    let paths = document["paths"].as_object().expect("paths").iter();
    let filled = paths.map(|(path, methods)| {
        let path = path
            .replace("{idType}", "id")
            .replace("{id}", "1")
            .replace("{event}", "1")
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
