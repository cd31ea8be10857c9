//! The cases that the gate app judges as the server does, besides the rules: written to `tests/gate/shared.json`,
//! against which `tests/gate/shared.test.mjs` holds the app.

use crate::{
    domain::apps::parameters::{FEATURES, LANGUAGES, POLICIES},
    types::{
        barcode::{Barcode, Base},
        error::{Kind, Refusal},
    },
};
use serde_json::{Value, json};

/// The codes that the app decides by, by their names in `core/codes.js`.
const CODES: [(&str, Kind); 14] = [
    ("discoveryClosed", Kind::DiscoveryClosed),
    ("requestCodeTaken", Kind::RequestCodeTaken),
    ("codeTaken", Kind::CodeTaken),
    ("unavailable", Kind::Unavailable),
    ("keyReused", Kind::KeyReused),
    ("clientRevoked", Kind::ClientRevoked),
    ("delegateNotFound", Kind::DelegateNotFound),
    ("tooMany", Kind::Refused(Refusal::TooMany)),
    ("notJoined", Kind::Refused(Refusal::NotJoined)),
    ("outsideWindow", Kind::Refused(Refusal::OutsideWindow)),
    ("notAvailable", Kind::Refused(Refusal::NotAvailable)),
    ("full", Kind::Refused(Refusal::Full)),
    ("notCheckedIn", Kind::Refused(Refusal::NotCheckedIn)),
    ("wrongType", Kind::Refused(Refusal::WrongType)),
];

/// Ticket codes of every length with one symbol changed at a time, each with whether its check symbols hold.
fn ticket_codes() -> Vec<Value> {
    let mut codes = Vec::new();
    for (length, sequence) in (1..=16).zip([0, 1, 31, 32, 1023, 32_767].into_iter().cycle()) {
        let base = Base::parse(&"T1H260110WXYZKMN"[..length]).expect("a purchase code");
        let random = std::array::from_fn(|at| u8::try_from(at * 7 + length).expect("small"));
        let code = Barcode::assemble(&base, sequence, random).expect("a code");
        let code = code.to_string().replace('-', "");
        for at in 0..code.len() {
            let mut changed = code.clone().into_bytes();
            changed[at] = if changed[at] == b'7' { b'8' } else { b'7' };
            let changed = String::from_utf8(changed).expect("symbols");
            codes.push(json!([changed, Barcode::parse(&changed).is_ok()]));
        }
        codes.push(json!([code, true]));
    }
    codes
}

#[test]
fn what_the_gate_app_knows_as_well_is_written_down() {
    let names = |table: &[(&'static str, &str)]| -> Vec<&str> {
        table.iter().map(|(name, _)| *name).collect()
    };
    let codes: serde_json::Map<_, _> = CODES
        .iter()
        .map(|(name, kind)| ((*name).to_owned(), json!(kind.code())))
        .collect();
    let shared = json!({
        "about": "Written by src/domain/gate/shared.rs.",
        "codes": codes,
        "features": names(FEATURES),
        "languages": names(LANGUAGES),
        "policies": names(POLICIES),
        "ticketCodes": ticket_codes(),
    });
    let fresh = serde_json::to_string(&shared)
        .expect("JSON")
        .replace("],[", "],\n[")
        + "\n";
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/gate/shared.json");
    if std::env::var_os("INSTA_UPDATE").is_some_and(|update| update == "always") {
        std::fs::write(path, &fresh).expect("written");
    }
    let kept = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        kept == fresh,
        "tests/gate/shared.json is stale: run this test with INSTA_UPDATE=always, then tests/gate"
    );
}
