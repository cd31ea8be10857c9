//! What the fuzz targets call, and the laws that must hold whatever comes. The targets in
//! `fuzz_targets/` hand it what the fuzzer invents; the normal tests hand it `corpus/`.

use gatepost::{
    core::{
        Context,
        search::{Search, Subject},
    },
    db::{connection, migrate},
    domain::{
        delegates, devices,
        interactions::{self, answers, draft::BatchInput, forms, shared::SharedValues},
    },
    ops::background::Background,
    ops::import::{
        self, Findings, Plan, Source, Survey, What,
        batches::Options,
        source::{Content, Reading},
    },
    types::{DelegateSelector, DeviceSelector, EventSelector, Zone, error::Kind, json},
};
use rusqlite::Connection;
use serde_json::{Map, Value};
use std::{ops::ControlFlow, sync::Arc};

/// What a target calls.
pub type Target = fn(&[u8]);

/// Every target: its name, which is its folder in `corpus/`, and what it calls.
#[allow(
    dead_code,
    reason = "each binary of the fuzzer calls one of them alone"
)]
pub const TARGETS: [(&str, Target); 6] = [
    ("forms", forms),
    ("csv", csv),
    ("search", search),
    ("selector", selector),
    ("batch", batch),
    ("llrp", llrp),
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
    if let Err(cause) = forms::reshape(&mut data, &SharedValues::default()) {
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
    forms::reshape(&mut again, &SharedValues::default()).expect("once more");
    assert_eq!(again, data);
}

/// A list as it is imported: rows come in the order of their lines, and every row is good or told
/// with its line, whatever it is said to hold.
pub fn csv(bytes: &[u8]) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("list.csv");
    std::fs::write(&path, bytes).expect("a file");
    let Ok(source) = Source::open(&path, Reading::default()) else {
        return;
    };
    let mut last = 0;
    for row in source.rows().expect("it was read before") {
        let row = row.expect("it was read before");
        assert!(row.line > last, "line {} after {last}", row.line);
        last = row.line;
        if let (Content::Cells(cells), Some(header)) = (&row.content, source.header()) {
            assert!(cells.len() <= header.len());
        }
    }
    drop(source);
    for what in What::ALL {
        let ctx = Context::of_command("import", Arc::default());
        let source = Source::open(&path, Reading::default()).expect("it was read before");
        let source = source
            .with_header_found(what, &[])
            .expect("it was read before");
        let (options, background) = (Options::default(), Background::unchanged());
        let survey = Survey::of(&source, &options, &background).expect("it was read before");
        if let Ok(plan) = Plan::new(&source, ctx, what, options, None, &survey) {
            let _ = Findings::of(&plan.columns, &survey, &plan.options);
            import::check(&source, &plan, None, None, &Background::unchanged(), |_| {
                ControlFlow::Continue(())
            })
            .expect("rows are told, not failed over");
        }
    }
}

/// A search: refused with its path, or it runs on every list that takes it.
pub fn search(bytes: &[u8]) {
    thread_local! {
        static EMPTY: Connection = {
            let connection = Connection::open_in_memory().expect("memory");
            connection::prepare(&connection).expect("pragmas");
            migrate::create(&connection).expect("a schema");
            connection
        };
    }
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let subjects: [&'static Subject; 3] = [
        &delegates::SEARCHED,
        &devices::SEARCHED,
        &interactions::list::SEARCHED,
    ];
    for subject in subjects {
        match Search::parse(subject, text, &Zone::default(), None) {
            Err(cause) => assert_eq!(cause.kind, Kind::InvalidSearch),
            Ok(search) => {
                let found = EMPTY.with(|empty| search.page(empty, None, 0, 10));
                // Nobody defined the statement that it may name.
                assert!(found.is_ok_and(|found| found.total == 0) || text.contains("\"st\""));
            }
        }
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
        Ok(input) => answers::read_batch(input, &Context::of_command("api", Arc::default())).err(),
    };
    if let Some(cause) = refused {
        assert!(matches!(cause.kind, Kind::Invalid), "{cause:?}");
    }
}

/// What a reader sends, and what a client sends to the emulator.
pub fn llrp(bytes: &[u8]) {
    llrp::fuzz(bytes);
}
