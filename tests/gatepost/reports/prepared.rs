//! Reports prepared at the office: `gatepost config` and what a report must be.

use crate::data::Site;
use crate::harness::{cases, has, lacks};
use serde_json::{Value, json};

fn reports(site: &Site) -> Vec<Value> {
    let document = site.configuration();
    document["reports"].as_array().expect("reports").clone()
}

fn audit(site: &Site) -> Vec<String> {
    let actions = "SELECT coalesce(group_concat(action), '') FROM (SELECT action FROM audit
                   WHERE record_type = 'report' ORDER BY id)";
    site.text(actions)
        .split(',')
        .map(ToOwned::to_owned)
        .collect()
}

fn full() -> Value {
    json!({
        "dashboard": "board", "id": "people-1", "label": "People",
        "query": "SELECT id FROM delegates WHERE id > :after AND delegate_type IS :kind LIMIT :most",
        "parameters": ["after", {"name": "kind", "label": "Of the type", "optional": true}],
        "fixed": [{"name": "most", "value": 100}],
        "api_clients": ["gate-b-1234", "*"],
    })
}

#[test]
fn reports_go_round_through_the_configuration() {
    let office = Site::new();
    office.told(&["client", "add", "gate"]);
    let mut first = office.configuration();
    first["reports"] = json!([full()]);
    office.applied(&first, &["--prune"]);
    assert_eq!(reports(&office), [full()]);
    let another = Site::new();
    let document = office.configuration();
    another.applied(&document, &["--prune"]);
    assert_eq!(reports(&another), [full()]);
    let before = audit(&another).len();
    // The same again changes nothing; what is not named stays without --prune.
    another.applied(&document, &[]);
    another.applied(&json!({"reports": []}), &[]);
    assert_eq!(
        (reports(&another), audit(&another).len()),
        (vec![full()], before)
    );
    let mut changed = full();
    changed["label"] = json!("Guests");
    another.applied(&json!({"reports": [changed]}), &["--dry-run"]);
    assert_eq!(reports(&another), [full()]);
    another.applied(&json!({"reports": [changed]}), &[]);
    assert_eq!(reports(&another), [changed]);
    first["reports"] = json!([]);
    another.applied(&first, &["--prune"]);
    assert!(reports(&another).is_empty());
    assert_eq!(audit(&another)[before..], ["update", "delete"]);
}

#[test]
fn what_cannot_be_run_is_not_stored_and_nothing_beside_it() {
    let office = Site::new();
    for (changes, about) in cases::<(Value, &str)>(json!([
        [{"query": "SELECT email FROM users"}, "prohibited"],
        [{"query": "DELETE FROM delegates"}, "it is a view"],
        [{"query": "SELECT 1; SELECT 2"}, "one statement"],
        [{"query": "SELECT id,\n  oops FROM delegates"}, "no such column: oops (line 2, column 3)"],
        [{"query": ""}, "query:"],
        [{"query": "SELECT id, id FROM delegates LIMIT :most"}, "two columns are called id"],
        [{"query": "SELECT :after, :most"}, ":kind"],
        [{"fixed": []}, ":most is neither"],
        [{"query": "SELECT ?1"}, "?1: parameters are written as :name"],
        [{"query": "SELECT @after"}, "@after: parameters are written as :name"],
        [{"parameters": ["after", "kind", "after"]}, "after stands there twice"],
        [{"parameters": ["after", "no name", "kind"]}, "no name"],
        [{"parameters": "after"}, "reports[0].parameters"],
        [{"parameters": [5]}, "must be a name"],
        [{"fixed": [{"name": "most", "value": [1]}]}, "most: must be a text"],
        [{"fixed": [{"name": "most", "value": 1, "kind": "x"}]}, "reports[0].fixed[0]"],
        [{"dashboard": "a b"}, "dashboard: must have"],
        [{"dashboard": ""}, "dashboard: must have"],
        [{"id": "../x"}, "id: must have"],
        [{"label": ""}, "label: must have"],
        [{"api_clients": "*"}, "reports[0].api_clients"],
        [{"api_clients": [""]}, "client ids"],
        [{"chart": "line"}, "chart"],
    ])) {
        let mut bad = full();
        for (key, value) in changes.as_object().expect("an object") {
            bad[key] = value.clone();
        }
        let document = json!({"settings": {"name": "Other"}, "reports": [bad]});
        let refused = office.apply_refused(&document);
        has(&refused, about);
        // The name that the file goes by in the sandbox is nobody's business.
        lacks(&refused, "file_");
    }
    let twice = office.apply_refused(&json!({"reports": [full(), full()]}));
    has(&twice, "board/people-1: stands there twice");
    assert_eq!(reports(&office).len(), 6);
    assert_eq!(office.configuration()["settings"], json!({}));
}
