//! Reports without SQL: every choice there is runs, what was typed never becomes SQL, and who may make one.

use super::with;
use crate::{console::Crew, harness::Server};
use gatepost::{
    domain::reports::{
        self, Report,
        built::{Built, ColumnKind, Comparison, Filter, SOURCES, SPANS, Source},
    },
    identity::{ConsoleRole, Scope},
};
use reqwest::Method;
use serde_json::{Value, json};

/// A report of these choices.
fn built(choices: &Value) -> Result<Report, String> {
    let said = json!({"dashboard": "test", "id": "r", "label": "R", "built": choices});
    serde_json::from_value(said).map_err(|cause| cause.to_string())
}

/// The rows of a report, as texts.
fn rows(server: &Server, report: &Report) -> Vec<Vec<String>> {
    report.check(&server.path()).unwrap_or_else(|cause| {
        panic!("{cause}: {}", report.query);
    });
    let values = reports::Values::read(&report.parameters, &report.fixed, &[]);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let made = reports::preview(&server.app, report, values.expect("values"), 100);
    let made = runtime.block_on(made).unwrap_or_else(|cause| {
        panic!("{cause}: {}", report.query);
    });
    let rows = made.rows.into_iter();
    rows.map(|row| row.into_iter().map(|cell| cell.text).collect())
        .collect()
}

/// An event in Kathmandu: Ada and Bo of Acme came, Cy of another company did not; two purchases.
fn furnish(server: &Server) {
    server.settings(&json!({"timeZone": "Asia/Kathmandu"}));
    let all = server.caller_with_all();
    let person = |name: &str, company: &str, kind: &str| {
        all.delegate(
            &json!({"firstName": name, "lastName": "X", "company": company, "delegateType": kind}),
        )
    };
    let (ada, bo) = (
        person("Ada", "Acme", "Speaker"),
        person("Bo", "ACME", "Visitor"),
    );
    person("Cy", "O'Reilly \"Q\" & Söhne", "Visitor");
    let hall = all.device(&json!({"name": "Hall", "deviceType": "room"}));
    for (who, at) in [
        (ada, "03:15"),
        (bo, "03:20"),
        (ada, "04:20"),
        (ada, "23:00"),
    ] {
        let at = format!("2026-11-21T{at}:00Z");
        let body = json!({"delegate": who, "device": hall, "recordedAt": at});
        all.interact("check-in", &body).is(201);
    }
    all.interact("join", &json!({"delegate": bo, "device": hall}))
        .is(201);
    server.sql(
        "INSERT INTO transactions (id, code, bought_at, created_at, updated_at) VALUES (1, 'A', 1795248120000, 1, 1), (2, 'B', 1795248120000, 1, 1);
         INSERT INTO transaction_items (transaction_id, line, code, quantity, description, total_amount)
             VALUES (1, 1, 'D', 2, 'Day ticket', 2000), (1, 2, 'T', 1, 'Tea', 250), (2, 1, 'D', 1, 'Day ticket', 1050)",
    );
}

/// A value that a filter of a column takes.
fn value(kind: ColumnKind) -> &'static str {
    match kind {
        ColumnKind::Text | ColumnKind::PlaceType => "it's \"quoted\" -- ; %",
        ColumnKind::Activity => "Check-in",
        ColumnKind::Number => "1.5",
        ColumnKind::Flag => "yes",
        ColumnKind::Time => "2026-11-21",
    }
}

/// Every report of one source that has one column, filter, group, number or order.
fn choices(source: &Source) -> Vec<Value> {
    let mut all = Vec::new();
    let first = source.columns[0].key;
    for column in source.columns {
        for sort in ["", column.key, &format!("-{}", column.key)] {
            all.push(json!({"source": source.key, "columns": [column.key], "sort": sort}));
        }
        for (is, ..) in Comparison::ALL {
            let filter = Filter {
                column: column.key.to_owned(),
                is,
                value: value(column.kind).to_owned(),
            };
            let built = Built {
                source: source.key.to_owned(),
                columns: vec![first.to_owned()],
                filters: vec![filter],
                limit: Some(5),
                ..Built::default()
            };
            // What does not fit a column is refused, by its name.
            match built.compile() {
                Ok(_) => all.push(json!(built)),
                Err(cause) => assert!(cause.to_string().contains(column.label), "{cause}"),
            }
        }
    }
    for (group, _) in source.groups() {
        for number in source.measures {
            all.push(
                json!({"source": source.key, "group": [group], "numbers": [number.key], "chart": "bar"}),
            );
        }
        for (other, _) in source.groups() {
            if other != group {
                all.push(json!({"source": source.key, "group": [group, other],
                    "numbers": source.measures.iter().map(|one| one.key).collect::<Vec<_>>()}));
            }
        }
    }
    all
}

#[test]
fn every_column_filter_group_and_number_compiles_and_runs() {
    let server = Server::start();
    furnish(&server);
    let mut tried = 0;
    for source in &SOURCES {
        for choices in choices(source) {
            let report = built(&choices).unwrap_or_else(|cause| panic!("{cause}: {choices}"));
            rows(&server, &report);
            tried += 1;
        }
        // All at once, too.
        let all: Vec<_> = source.columns.iter().map(|one| one.key).collect();
        let report = built(&json!({"source": source.key, "columns": all})).expect("a report");
        assert!(!rows(&server, &report).is_empty(), "{}", source.key);
    }
    assert!(tried > 700, "{tried}");
}

#[test]
fn the_usual_questions_are_answered() {
    let server = Server::start();
    furnish(&server);
    let answers = |choices: Value| rows(&server, &built(&choices).expect("a report"));
    let check_in = json!({"column": "check_in", "is": "is", "value": "yes"});
    // Visits by company, however somebody wrote it.
    assert_eq!(
        answers(
            json!({"source": "activity", "group": ["company"], "numbers": ["number", "people"], "filters": [check_in]})
        ),
        [["Acme", "4", "2"]]
    );
    assert_eq!(
        answers(
            json!({"source": "attendees", "group": ["type"], "numbers": ["people"],
            "filters": [{"column": "arrived", "is": "is", "value": "no"}]})
        ),
        [["Visitor", "1"]]
    );
    // Hours of the event: it is a quarter to one there when it is seven in London.
    assert_eq!(
        answers(
            json!({"source": "activity", "group": ["time.hour"], "numbers": ["number"], "filters": [check_in]})
        ),
        [
            ["2026-11-21 09:00:00", "2"],
            ["2026-11-21 10:00:00", "1"],
            ["2026-11-22 04:00:00", "1"]
        ]
    );
    let day = |is: &str, value: &str| {
        let time = json!({"column": "time", "is": is, "value": value});
        let rows = answers(
            json!({"source": "activity", "columns": ["name"], "filters": [check_in, time]}),
        );
        rows.len()
    };
    assert_eq!(
        [
            day("is", "2026-11-21"),
            day("is", "2026-11-22"),
            day("to", "2026-11-21 09:00"),
            day("from", "2026-11-21 09:05"),
            day("is-not", "2026-11-21"),
        ],
        [3, 1, 1, 3, 1]
    );
    assert_eq!(
        answers(
            json!({"source": "sales", "group": ["product"], "numbers": ["quantity", "amount", "purchases"]})
        ),
        [["Day ticket", "3", "30.5", "2"], ["Tea", "1", "2.5", "1"]]
    );
    let hall = answers(
        json!({"source": "places", "columns": ["place", "people", "check_ins", "registered"]}),
    );
    assert_eq!(hall, [["Hall", "2", "4", "1"]]);
    // What is typed is compared as it stands.
    let company = |is: &str, value: &str| {
        let filter = json!({"column": "company", "is": is, "value": value});
        let rows =
            answers(json!({"source": "attendees", "columns": ["name"], "filters": [filter]}));
        rows.concat()
    };
    assert_eq!(company("is", "o'reilly \"q\" & Söhne"), ["Cy X"]);
    assert_eq!(company("contains", "\" & "), ["Cy X"]);
    assert_eq!(company("contains-not", "acme"), ["Cy X"]);
    assert!(company("contains", "%").is_empty());
}

#[test]
fn names_stand_where_people_look_for_them() {
    let server = Server::start();
    let all = server.caller_with_all();
    let names = ["zoe", "Özlem", "Otto", "Ärne", "adam"];
    for name in names {
        all.delegate(&json!({"firstName": name, "lastName": "X", "company": name}));
        all.device(&json!({"name": name, "deviceType": "room"}));
    }
    let sorted = ["adam", "Ärne", "Otto", "Özlem", "zoe"];
    let answers = |choices: Value| rows(&server, &built(&choices).expect("a report")).concat();
    let listed = answers(json!({"source": "attendees", "columns": ["company"], "sort": "company"}));
    assert_eq!(listed, sorted);
    let counted = answers(
        json!({"source": "attendees", "group": ["company"], "numbers": ["people"], "sort": "-company"}),
    );
    let counted: Vec<_> = counted.iter().step_by(2).rev().collect();
    assert_eq!(counted, sorted.iter().collect::<Vec<_>>());
    // So do places in the console.
    let html = server.administrator().page("/console/desk/places");
    let places: Vec<_> = sorted.map(|name| html.find(&format!(">{name} ("))).into();
    assert!(
        places.is_sorted() && places[0].is_some(),
        "{places:?}: {html}"
    );
}

#[test]
fn nothing_that_was_typed_becomes_sql() {
    let server = Server::start();
    furnish(&server);
    let attacks = [
        "name; DROP TABLE delegates",
        "d.first_name",
        "name, (SELECT secret_hash FROM clients)",
        "name) FROM delegates --",
        "time.hour'",
        "time.",
        "name.hour",
        "-name",
        "1",
        "*",
        "",
        "name\u{0}",
    ];
    for attack in attacks {
        for choices in [
            json!({"source": attack, "columns": ["name"]}),
            json!({"source": "activity", "columns": [attack]}),
            json!({"source": "activity", "group": [attack], "numbers": ["number"]}),
            json!({"source": "activity", "group": ["company"], "numbers": [attack]}),
            json!({"source": "activity", "columns": ["name"], "filters": [{"column": attack, "is": "is", "value": "x"}]}),
            json!({"source": "activity", "columns": ["name"], "filters": [{"column": "name", "is": attack, "value": "x"}]}),
            json!({"source": "activity", "columns": ["name"], "chart": format!("{attack}x")}),
            json!({"source": "activity", "columns": ["name"], "limit": attack}),
        ] {
            assert!(built(&choices).is_err(), "{choices}");
        }
        let sorted = json!({"source": "activity", "columns": ["what"], "sort": attack});
        assert!(attack.is_empty() || built(&sorted).is_err(), "{attack}");
    }
    let people = server.count("delegates");
    for typed in [
        "'; DROP TABLE delegates; --",
        "\" OR 1=1 --",
        "' OR 'a' = 'a",
        ":v1",
        "?1",
        "%' OR 1 --",
        "\\",
        "x' UNION SELECT secret_hash FROM clients --",
    ] {
        for is in ["is", "contains"] {
            let filter = json!({"column": "name", "is": is, "value": typed});
            let choices = json!({"source": "attendees", "columns": ["name"], "filters": [filter]});
            let report = built(&choices).expect("a report");
            let is_value = [":v1", "?1"].contains(&typed);
            assert!(
                is_value || !report.query.contains(typed),
                "{}",
                report.query
            );
            assert!(rows(&server, &report).is_empty(), "{typed}");
        }
    }
    assert_eq!(server.count("delegates"), people);
    // SQL beside the choices is refused: it would run in place of them.
    let both = json!({"dashboard": "test", "id": "r", "label": "R", "query": "SELECT 1",
        "built": {"source": "places", "columns": ["place"]}});
    assert!(serde_json::from_value::<Report>(both).is_err());
    assert_eq!(SPANS.len(), 3);
}

/// The form of visits by company.
const VISITS: [(&str, &str); 9] = [
    ("label", "Visits by company"),
    ("source", "activity"),
    ("group0", "company"),
    ("number", "number"),
    ("number", "people"),
    ("filter0", "check_in"),
    ("is0", "is"),
    ("value0", "yes"),
    ("chart", "bar"),
];

fn send(crew: &Crew, path: &str, changes: &[(&str, &str)]) -> crate::console::Page {
    let kept = VISITS
        .iter()
        .filter(|(name, _)| changes.iter().all(|(other, _)| other != name));
    let fields: Vec<_> = kept.chain(changes).copied().collect();
    crew.post(path, &fields)
}

const BUILD: &str = "/console/reports/build?of=activity";
const PATH: &str = "/console/reports/event/visits-by-company";

#[test]
fn an_operator_makes_a_report_and_clients_are_an_administrators() {
    let server = Server::start();
    furnish(&server);
    let crew = server.crew(ConsoleRole::Operator);
    let refused = send(&server.crew(ConsoleRole::Viewer), BUILD, &[]);
    assert_eq!(refused.status, 403);
    let tried = send(&crew, BUILD, &[("do", "try")]).shown();
    assert!(tried.contains("<td>Acme</td>"), "{tried}");
    assert_eq!(send(&crew, BUILD, &[]).taken(), PATH);
    let again = send(&crew, BUILD, &[]).taken();
    assert_eq!(again, format!("{PATH}-2"));
    crew.post(&format!("{again}/remove"), &[]).taken();
    let html = crew.get(PATH).shown();
    for part in ["<th scope=\"col\">Company</th>", ">People</th>", "/build\""] {
        assert!(html.contains(part), "no {part}: {html}");
    }
    let book = crew.request(Method::GET, &format!("{PATH}/file?format=xlsx"));
    let book = book.send().and_then(reqwest::blocking::Response::bytes);
    assert!(book.expect("a file").starts_with(b"PK"));
    // Its choices come back, and are changed.
    let edit = format!("{PATH}/build");
    let html = crew.get(&edit).shown();
    assert!(
        html.contains("<option value=\"company\" selected>"),
        "{html}"
    );
    let version = crew.get(&edit).version();
    let changes = [
        ("version", &*version),
        ("label", "By company"),
        ("limit", "3"),
    ];
    send(&crew, &edit, &changes).taken();
    // What is wrong stands beside its field.
    for (change, about) in [
        (("value0", "perhaps"), "id=\"value0-error\""),
        (("label", ""), "id=\"label-error\""),
        (("limit", "0"), "id=\"limit-error\""),
        (("number", "-"), "There is no"),
    ] {
        send(&crew, BUILD, &[change]).refused(422, about);
    }
    // Who may fetch it is no operator's business, and what clients fetch they do not change.
    assert_eq!(crew.get(&format!("{PATH}/access")).status, 403);
    let chief = server.crew(ConsoleRole::Administrator);
    let access = format!("{PATH}/access");
    let version = chief.get(&access).version();
    let fields = [
        ("dashboard", "event"),
        ("id", "visits-by-company"),
        ("exposed", "all"),
        ("version", &version),
    ];
    chief.post(&access, &fields).taken();
    let (id, secret) = server.client(&[], &[Scope::ReportRead]);
    let reader = server.caller_of(&id, &secret);
    let data = reader.get("/report/event/export/visits-by-company/data.json");
    assert_eq!(
        data.list(),
        &[json!({"company": "Acme", "number": 4, "people": 2})]
    );
    let version = crew.get(&edit).version();
    send(&crew, &edit, &[("version", &version)]).refused(422, "administrator");
    assert_eq!(crew.post(&format!("{PATH}/remove"), &[]).status, 403);
    // As SQL it is an administrator's for good.
    let html = chief.get(&format!("{PATH}/edit")).shown();
    assert!(html.contains("FROM interactions AS i"), "{html}");
}

#[test]
fn the_configuration_carries_the_choices_and_no_sql() {
    let server = Server::start();
    let report = built(&json!({"source": "places", "columns": ["place"]})).expect("a report");
    let report = with(&report, json!({"api_clients": ["*"]}));
    server.put(&report);
    let stored = server
        .app
        .store
        .look_up(|connection| reports::find(connection, "test", "r"));
    let stored = stored.expect("it is stored").report;
    assert_eq!(stored, report);
    assert_eq!(
        json!(stored),
        json!({"dashboard": "test", "id": "r", "label": "R", "api_clients": ["*"],
            "built": {"source": "places", "columns": ["place"]}})
    );
}
