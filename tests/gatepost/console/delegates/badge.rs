//! A lost badge, from the console to the gate; QR codes.

use crate::faults::process::gatepost;
use crate::harness::{Server, has, lacks, typed};
use reqwest::Method;
use serde_json::json;

#[test]
fn a_lost_badge_opens_no_gate_and_whoever_brings_it_is_told_why() {
    let (server, api) = Server::with_api();
    let ada = api.delegate(&json!({"firstName": "Ada", "barcode": "LOST-0001"}));
    let grace = api.delegate(&json!({"firstName": "Grace", "barcode": "G-1"}));
    let hall = api.device(&json!({"name": "Hall"}));
    let crew = server.operator();
    let path = format!("/console/delegates/{ada}/badge/barcode");
    crew.sees(&path, "LOST-0001");
    let block = |new: &str| {
        crew.post(
            &path,
            &typed(&format!("value=LOST-0001&reason=reported lost&new={new}")),
        )
    };
    block("G-1").refused(422, "already used");
    block("LOST-0001").refused(422, "is the one that is to be blocked");
    assert_eq!(api.get("/delegate/barcode:LOST-0001").id(), ada);
    block("NEW-000042").taken();
    assert_eq!(api.get("/delegate/barcode:NEW-000042").id(), ada);
    // A second click finds another badge there, and blocks nothing.
    block("NEW-000043").refused(422, "nothing is blocked");

    let told = "and replaced; the new one ends in …42";
    let scan = json!({"delegate": "barcode:LOST-0001", "device": hall});
    let refused = api.interact("check-in", &scan);
    refused.refused(404, 1301, told);
    assert!(
        refused
            .message()
            .starts_with("this badge was reported lost at ")
    );
    api.post("/interaction/test/check-in", &scan)
        .refused(404, 1301, told);
    api.get("/delegate/barcode:LOST-0001")
        .refused(404, 1301, told);
    let batch = api.post(
        "/interaction/batch",
        &json!({"interactions": {"a": {"interactionType": "check-in", "delegate": "barcode:LOST-0001", "device": hall}}}),
    );
    let message = &batch.data()[0]["meta"]["error"]["message"];
    assert!(message.as_str().expect("text").ends_with(told));
    // As a code of another kind it is unknown, as before.
    api.get("/delegate/rfid:LOST-0001")
        .refused(404, 1301, "there is no delegate");

    // Nobody may be given it.
    let named = "barcode: \"LOST-0001\" is blocked";
    api.post("/delegate/new", &json!({"barcode": "LOST-0001"}))
        .refused(409, 1105, named);
    for id in [ada, grace] {
        api.patch(
            &format!("/delegate/id:{id}"),
            &json!({"barcode": "LOST-0001"}),
        )
        .refused(409, 1105, named);
    }
    let html = crew.page(&format!("/console/delegates/{ada}"));
    has(&html, ["LOST-0001", "<p>Refused at"]);
    let found = crew.page("/console/delegates?q=LOST-0001");
    has(&found, "This badge was reported lost at");

    // Found again.
    let unblock = format!("/console/delegates/{ada}/unblock");
    let fields = [("kind", "barcode"), ("value", "LOST-0001"), ("back", "1")];
    crew.post(&unblock, &fields).taken();
    assert_eq!(api.get("/delegate/barcode:LOST-0001").id(), ada);
    api.get("/delegate/barcode:NEW-000042")
        .refused(404, 1301, "there is no delegate");
    crew.post(&unblock, &fields).refused(400, "is not blocked");
}

#[test]
fn a_code_is_blocked_without_another_too() {
    let (server, api) = Server::with_api();
    let ada = api.delegate(&json!({"firstName": "Ada", "rfid": "E-1"}));
    let crew = server.operator();
    let path = |kind: &str| format!("/console/delegates/{ada}/badge/{kind}");
    crew.get(&path("barcode")).refused(404, "has no Barcode");
    crew.get(&path("id")).refused(404, "no such code");
    let fields = [("value", "E-1"), ("other", "left in a taxi"), ("new", "")];
    crew.post(&path("rfid"), &fields).taken();
    let refused = api.get("/delegate/rfid:E-1");
    refused.refused(404, 1301, "left in a taxi");
    lacks(refused.message(), "replaced");
    let stored = api.get(&format!("/delegate/id:{ada}"));
    assert_eq!(stored.data().get("rfid"), None);
    let public = stored.data()["publicId"].as_str().expect("text").to_owned();
    crew.post(
        &path("publicId"),
        &[("value", &public), ("reason", "found damaged"), ("new", "")],
    )
    .taken();
    let stored = api.get(&format!("/delegate/id:{ada}"));
    assert_ne!(stored.data()["publicId"], public);
}

#[test]
fn an_import_cannot_give_out_a_blocked_code() {
    let (server, api) = Server::with_api();
    let ada = api.delegate(&json!({"firstName": "Ada", "barcode": "LOST-1"}));
    let crew = server.operator();
    crew.post(
        &format!("/console/delegates/{ada}/badge/barcode"),
        &typed("value=LOST-1&reason=reported lost&new="),
    )
    .taken();
    let list = server.file("list.csv", "First name,Barcode\nEve,LOST-1\n");
    let output = gatepost(&server.path(), &["import", "delegates", &list]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let told = [output.stderr, output.stdout].concat();
    let told = String::from_utf8_lossy(&told);
    has(&told, "\"LOST-1\" is blocked");
    assert_eq!(server.count("delegates"), 1);
}

#[test]
fn every_code_has_its_qr_and_a_page_to_print() {
    let (server, api) = Server::with_api();
    let ada = api.delegate(&json!({"firstName": "Ada", "barcode": "Ä/<1>"}));
    let crew = server.viewer();
    for kind in ["barcode", "publicId"] {
        let answer = crew
            .request(Method::GET, &format!("/console/delegates/{ada}/qr/{kind}"))
            .send()
            .expect("an answer");
        assert_eq!(answer.headers()["content-type"], "image/svg+xml");
        assert!(answer.text().expect("text").starts_with("<svg"));
    }
    let html = crew.page(&format!("/console/delegates/{ada}/code/barcode"));
    has(&html, "Ä/&#60;1&#62;");
    crew.get(&format!("/console/delegates/{ada}/qr/rfid"))
        .refused(404, "has no RFID");
}
