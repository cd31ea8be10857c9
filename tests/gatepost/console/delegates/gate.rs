//! Letting in by hand, and the note that gates show.

use crate::harness::{Server, has};
use serde_json::json;

#[test]
fn somebody_is_let_in_by_hand_by_the_rules_or_in_spite_of_them() {
    let (server, api) = Server::with_api();
    let ada = api.delegate(&json!({"firstName": "Ada"}));
    let hall = api.device(&json!({"name": "Hall", "data": {"Access": {"entry": "single"}}}));
    let hall = hall.to_string();
    let crew = server.operator();
    let pass = |kind: &str| {
        let fields = [("kind", kind), ("device", hall.as_str())];
        crew.post(&format!("/console/delegates/{ada}/passage"), &fields)
    };
    let record = pass("check-in").taken();
    let html = crew.page(&record);
    has(&html, ["Ada is checked in at Hall.", "Inside Hall</a>"]);
    has(&html, &format!("value=\"{hall}\" selected"));
    let refused = pass("check-in");
    refused.refused(422, "Already used at Hall");
    refused.refused(422, "Admit anyway");
    pass("check-in-override").taken();
    pass("check-out").taken();
    pass("check-out").refused(422, "Refused:");
    pass("lead").refused(400, "Kind: must be");
    for (device, about) in [
        ("", "Choose the place first."),
        ("x", "Choose the place first."),
        ("999999", "That place is gone"),
    ] {
        let fields = [("kind", "check-in"), ("device", device)];
        let again = crew.post(&format!("/console/delegates/{ada}/passage"), &fields);
        again.refused(422, about);
        again.refused(422, "id=\"device-error\"");
    }
    let inside = format!("SELECT inside FROM occupancy WHERE device_id = {hall}");
    assert_eq!(server.value::<i64>(&inside), 0);
    let kept = "SELECT count(*) FROM refusals WHERE user_id IS NOT NULL";
    assert_eq!(server.value::<i64>(kept), 2);
    crew.sees(&record, ["Refused at Hall", "Already used at Hall"]);
}

#[test]
fn a_gate_is_told_the_note_whether_somebody_passes_or_not() {
    let (server, api) = Server::with_api();
    let ada = api.delegate(&json!({"firstName": "Ada", "barcode": "T-1"}));
    let hall = api.device(&json!({"code": "hall", "data": {"Access": {"maxCheckIns": 1}}}));
    let crew = server.operator();
    // That there is no note is remembered for the next scan, until there is one.
    let foyer = api.device(&json!({"code": "foyer"}));
    let none = api.scan("check-in", ada, foyer);
    assert_eq!((none.status, &none.body["meta"]), (201, &json!({})));
    let path = format!("/console/delegates/{ada}/note");
    crew.post(
        &path,
        &[("note", "Allergic to \"nuts\""), ("level", "loud")],
    )
    .refused(400, "Level: must be");
    crew.post(
        &path,
        &[("note", "Allergic to \"nuts\""), ("level", "stop")],
    )
    .taken();
    let note = json!({"level": "stop", "note": "Allergic to \"nuts\""});
    // Whoever has not seen it does not write over it.
    crew.post(&path, &[("note", "VIP"), ("level", "info")])
        .refused(409, "changed this note meanwhile");
    let scan = json!({"delegate": "barcode:T-1", "device": hall});
    let tried = api.post("/interaction/test/check-in", &scan);
    assert_eq!(
        (tried.status, &tried.body["meta"]),
        (200, &json!({"note": note}))
    );
    let mut once = scan.clone();
    once["nonce"] = "n-1".into();
    let passed = api.interact("check-in", &once);
    assert_eq!(
        (passed.status, &passed.body["meta"]),
        (201, &json!({"note": note}))
    );
    let again = api.interact("check-in", &once);
    assert_eq!(
        (again.status, &again.body["meta"]),
        (200, &json!({"replayed": true, "note": note}))
    );
    for path in ["/interaction/new/check-in", "/interaction/test/check-in"] {
        let refused = api.post(path, &scan);
        refused.refused(412, 740, "already checked in once");
        assert_eq!(refused.body["meta"]["note"], note, "{path}");
    }
    let batch = api.post(
        "/interaction/batch",
        &json!({"interactions": {
            "in": {"interactionType": "check-in", "delegate": ada, "device": hall},
            "out": {"interactionType": "check-out", "delegate": ada, "device": hall},
            "lead": {"interactionType": "lead", "delegate": ada},
        }}),
    );
    let items = batch.list();
    assert_eq!(items[0]["status"], 412);
    assert_eq!(items[0]["meta"]["note"], note);
    assert_eq!(items[1]["meta"], json!({"note": note}));
    assert_eq!(items[2]["meta"], json!({}), "a lead is no passage");
    let html = crew.page(&format!("/console/delegates/{ada}"));
    has(&html, "Stop: hold the person and read it");
    let was = ("was", "Allergic to \"nuts\"");
    crew.post(
        &path,
        &[("note", "x"), ("level", "stop"), ("remove", "1"), was],
    )
    .taken();
    let tried = api.post("/interaction/test/check-out", &scan);
    assert_eq!(tried.body["meta"], json!({}));
}
