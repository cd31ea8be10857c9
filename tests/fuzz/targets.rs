//! What the fuzz targets call, and the laws that must hold whatever comes. The targets in
//! `fuzz_targets/` hand it what the fuzzer invents; the normal tests hand it `corpus/`.

use gatepost::{
    auth::Context,
    error::Kind,
    import::{self, Columns, Table},
    interactions::{batch::Batch, draft::BatchInput, forms},
    types::{DelegateSelector, DeviceSelector, EventSelector, json},
};
use serde_json::{Map, Value};
use std::sync::Arc;

/// What a target calls.
pub type Target = fn(&[u8]);

/// Every target: its name, which is its folder in `corpus/`, and what it calls.
#[allow(
    dead_code,
    reason = "each binary of the fuzzer calls one of them alone"
)]
pub const TARGETS: [(&str, Target); 4] = [
    ("forms", forms),
    ("csv", csv),
    ("selector", selector),
    ("batch", batch),
];

/// An interaction's `data`, as far as it is reshaped: what was sent stands in it as it was, and done
/// again nothing changes.
pub fn forms(bytes: &[u8]) {
    if json::check_limits(bytes).is_err() {
        return;
    }
    let Ok(sent) = json::parse::<Map<String, Value>>(bytes) else {
        return;
    };
    let mut data = sent.clone();
    if let Err(cause) = forms::reshape(&mut data) {
        assert_eq!(cause.kind, Kind::InteractionContent);
        assert_eq!(data, sent);
        return;
    }
    for (key, value) in &sent {
        assert_eq!(data.get(key), Some(value));
    }
    let text = Value::Object(data.clone()).to_string();
    let stored: Map<String, Value> = serde_json::from_str(&text).expect("it reads back");
    assert_eq!(stored, data);
    let mut again = data.clone();
    forms::reshape(&mut again).expect("once more");
    assert_eq!(again, data);
}

/// A table as it is imported: rows come in the order of their lines, and every row is good or told
/// with its line.
pub fn csv(bytes: &[u8]) {
    let Ok(table) = Table::parse(bytes.to_vec()) else {
        return;
    };
    assert!(!table.header().is_empty());
    let mut last = 0;
    for row in table.rows() {
        let row = row.expect("text in memory can be read");
        assert!(row.line > last, "line {} after {last}", row.line);
        last = row.line;
        assert_eq!(row.values().count(), row.width());
        assert_eq!(row.value(row.width()), "");
    }
    if let Ok(columns) = Columns::new(table.header(), &[]) {
        import::check(&table, &columns, None).expect("nothing is asked of a file");
    }
}

/// A selector in a path or a body: shown again, it means the same.
pub fn selector(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    if let Ok(read) = DelegateSelector::parse(text) {
        assert_eq!(DelegateSelector::parse(&read.to_string()).ok(), Some(read));
    }
    if let Ok(read) = DeviceSelector::parse(text) {
        assert_eq!(DeviceSelector::parse(&read.to_string()).ok(), Some(read));
    }
    if let Ok(EventSelector(read)) = EventSelector::parse(text) {
        let again = EventSelector::parse(&read.to_string());
        assert_eq!(again.map(|EventSelector(again)| again).ok(), Some(read));
    }
}

/// The body of a batch, up to where the store would be asked: it is taken or refused as malformed.
pub fn batch(bytes: &[u8]) {
    let read = json::check_limits(bytes).and_then(|()| json::parse::<BatchInput>(bytes));
    let refused = match read {
        Err(cause) => Some(cause),
        Ok(input) => Batch::new(input, &Context::of_command("api", Arc::default())).err(),
    };
    if let Some(cause) = refused {
        assert!(matches!(cause.kind, Kind::Invalid), "{cause:?}");
    }
}
