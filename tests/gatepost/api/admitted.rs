//! What a gate admitted and the office no longer, or not yet, knows (contract §6, *admitted*).

use crate::harness::{Agrees, Caller, Reply, Server};
use gatepost::{
    domain::devices::deleted,
    identity::{ConsoleRole, Role, clients::NewClient},
    types::DeviceId,
};
use serde_json::{Value, json};

struct Venue {
    server: Server,
    all: Caller,
    hall: i64,
}

impl Venue {
    fn new() -> Self {
        let (server, all) = Server::with_api();
        let hall = all.device(&json!({"name": "Hall", "code": "hall"}));
        Self { server, all, hall }
    }

    /// A scan that a gate admitted ten minutes ago.
    fn scan(&self, code: &str, nonce: &str) -> Value {
        let at = jiff::Timestamp::now().as_second() - 600;
        json!({
            "firstDelegate": code, "firstDevice": self.hall, "recordedAt": at, "admitted": true, "nonce": nonce,
            "data": {"lane": nonce},
        })
    }

    fn waits(&self, scan: &Value) -> Reply {
        let reply = self.all.interact("check-in", scan);
        reply.is(201);
        assert_eq!(reply.data()["id"], Value::Null);
        assert_eq!(reply.body["meta"], json!({"unknown": true}));
        reply
    }

    fn inside(&self) -> i64 {
        let sql = format!(
            "SELECT coalesce(sum(inside), 0) FROM occupancy WHERE device_id = {}",
            self.hall
        );
        self.server.value(&sql)
    }

    /// The one interaction of a delegate.
    fn recorded(&self, delegate: i64) -> Value {
        let search = json!({"search": {"==": ["firstDelegate", delegate]}});
        let list = self.all.post("/interaction/list", &search).list().clone();
        assert_eq!(list.len(), 1, "{list:?}");
        list[0].clone()
    }

    fn conflicts(&self) -> String {
        self.server
            .text("SELECT coalesce(group_concat(code || ' ' || message, '; '), '') FROM conflicts")
    }

    /// Whether the counts are those that follow from the file.
    fn is_counted(&self) {
        self.server.done(&["check"]);
    }
}

#[test]
fn who_was_admitted_at_a_place_that_was_deleted_since_is_recorded_with_a_conflict() {
    let venue = Venue::new();
    let ada = venue
        .all
        .delegate(&json!({"firstName": "Ada", "barcode": "B1"}));
    let (id, secret) = venue.server.new_client(NewClient {
        roles: [Role::Gate].into_iter().collect(),
        ..NewClient::named("gate")
    });
    let gate = venue.server.caller_of(&id, &secret);
    venue.all.delete("/device/code:hall").is(204);
    for (at, caller) in [&venue.all, &gate].into_iter().enumerate() {
        let scan = |nonce: &str, device: Value, admitted: bool| {
            let mut scan = venue.scan("scan:B1", nonce);
            (scan["firstDevice"], scan["admitted"]) = (device, json!(admitted));
            caller.interact("check-in", &scan)
        };
        let made = scan(&format!("a{at}"), json!(venue.hall), true);
        made.is(201);
        assert_eq!(made.data()["firstDelegate"]["id"], ada);
        assert_eq!(made.data()["firstDevice"]["id"], venue.hall);
        scan(&format!("b{at}"), json!("code:hall"), true).is(201);
        assert_eq!(scan("c", json!("code:hall"), false).status, 404);
        assert_eq!(scan("d", json!("code:nowhere"), true).status, 404);
    }
    let conflicts = venue.conflicts();
    assert_eq!(
        conflicts.matches("the place Hall was deleted at ").count(),
        4,
        "{conflicts}"
    );
    assert_eq!(conflicts.matches("; ").count(), 3, "{conflicts}");
    venue.is_counted();
}

#[test]
fn a_resend_may_say_that_the_gate_admitted() {
    let venue = Venue::new();
    venue
        .all
        .delegate(&json!({"firstName": "Ada", "barcode": "B1"}));
    for first in [true, false] {
        let nonce = format!("n{first}");
        let mut scan = venue.scan("scan:B1", &nonce);
        scan["admitted"] = json!(first);
        let made = venue.all.interact("check-in", &scan);
        made.is(201);
        if first {
            // As a version before stored it.
            let body = json!([
                "check-in",
                ["scan:B1", null, null],
                [format!("id:{}", venue.hall), null, null],
                scan["recordedAt"].as_i64().map(|at| at * 1000),
                scan["data"],
                true,
            ]);
            let fingerprint = gatepost::types::json::fingerprint(&body);
            let hex = gatepost::types::secret::hex(&fingerprint);
            venue
                .server
                .sql(&format!("UPDATE nonces SET fingerprint = x'{hex}'"));
        }
        scan["admitted"] = json!(true);
        let again = venue.all.interact("check-in", &scan);
        again.is(200);
        assert_eq!(again.data()["id"], made.data()["id"]);
        scan["data"] = json!({});
        venue
            .all
            .interact("check-in", &scan)
            .refused(409, 1109, "another type or body");
    }
    assert_eq!(venue.server.count("interactions"), 2);
}

#[test]
fn an_admitted_ticket_that_was_deleted_or_blocked_since_is_recorded_with_one_conflict() {
    let venue = Venue::new();
    let dee = venue
        .all
        .delegate(&json!({"firstName": "Dee", "lastName": "Leted", "barcode": "DEL-1"}));
    venue.all.delete("/delegate/barcode:DEL-1").is(204);
    let made = venue
        .all
        .interact("check-in", &venue.scan("scan:DEL-1", "n1"));
    made.is(201);
    assert_eq!(made.data()["firstDelegate"]["id"], dee);
    assert_eq!(venue.inside(), 1);
    let conflicts = venue.conflicts();
    assert!(
        conflicts.starts_with("1301 the ticket of Dee Leted was deleted at "),
        "{conflicts}"
    );
    assert!(!conflicts.contains(';'), "{conflicts}");
    assert_eq!(venue.server.count("refusals"), 0);
    let page = venue
        .server
        .crew(ConsoleRole::Viewer)
        .get("/console/interactions/conflicts");
    assert!(page.shown().contains("Dee Leted"));
    // By whatever the gate knew them, and in a batch.
    for (at, selector) in [format!("id:{dee}"), "barcode:DEL-1".to_owned()]
        .into_iter()
        .enumerate()
    {
        let mut scan = venue.scan(&selector, &format!("n{}", at + 2));
        scan["interactionType"] = json!("check-out");
        let batch = venue
            .all
            .post("/interaction/batch", &json!({"interactions": {"a": scan}}));
        batch.list()[0].agrees(&json!({"status": 201}));
        assert_eq!(batch.list()[0]["data"]["firstDelegate"]["id"], dee);
    }
    assert_eq!(venue.server.count("conflicts"), 3);
    // A blocked one counts as whoever lost it.
    let eve = venue
        .all
        .delegate(&json!({"firstName": "Eve", "barcode": "LOST-1"}));
    let crew = venue.server.crew(ConsoleRole::Operator);
    crew.post(
        &format!("/console/delegates/{eve}/badge/barcode"),
        &[
            ("value", "LOST-1"),
            ("reason", "reported lost"),
            ("new", "NEW-1"),
        ],
    )
    .taken();
    let made = venue
        .all
        .interact("check-in", &venue.scan("scan:LOST-1", "b1"));
    made.is(201);
    assert_eq!(made.data()["firstDelegate"]["id"], eve);
    assert!(
        venue
            .conflicts()
            .contains("1301 this badge was reported lost"),
        "{}",
        venue.conflicts()
    );
    // What no gate admitted is refused as ever.
    venue
        .all
        .scan("check-in", "scan:DEL-1", venue.hall)
        .refused(404, 1301, "DEL-1");
    venue
        .all
        .scan("check-in", "scan:LOST-1", venue.hall)
        .refused(404, 1301, "lost");
    let nobody = venue
        .all
        .interact("check-in", &venue.scan("id:999999", "x"));
    nobody.refused(404, 1301, "999999");
    venue.is_counted();
}

#[test]
fn an_admitted_scan_of_an_unknown_code_counts_and_is_recorded_once_somebody_has_the_code() {
    let venue = Venue::new();
    let scan = venue.scan("scan:LATE-1", "n1");
    let tested = venue.all.post("/interaction/test/check-in", &scan);
    tested.is(200);
    assert_eq!(tested.body["meta"]["unknown"], true);
    assert_eq!(venue.server.count("refusals"), 0);
    let first = venue.waits(&scan);
    // A resend gives the same, single or in a batch, and so does another gate's scan at that place count once.
    assert_eq!(venue.waits(&scan).body, first.body);
    let mut item = scan.clone();
    item["interactionType"] = json!("check-in");
    let batch = venue
        .all
        .post("/interaction/batch", &json!({"interactions": {"a": item}}));
    batch.list()[0]
        .agrees(&json!({"status": 201, "data": first.data(), "meta": {"unknown": true}}));
    venue.waits(&venue.scan("barcode:LATE-1", "n2"));
    assert_eq!((venue.inside(), venue.server.count("interactions")), (1, 0));
    assert_eq!(venue.server.count("refusals"), 2);
    let mut other = venue.scan("scan:OTHER", "n1");
    venue
        .all
        .interact("check-in", &other)
        .refused(409, 1109, "nonce");
    other["nonce"] = json!("n3");
    venue.waits(&other);
    assert_eq!(venue.inside(), 2);
    venue.is_counted();
    let page = venue
        .server
        .crew(ConsoleRole::Viewer)
        .get("/console/interactions/refusals");
    assert!(
        page.shown()
            .contains("Unknown code LATE-1; the gate let the person in")
    );
    // The feed tells it as created.
    let cursor = venue.all.get("/changes?types=interaction").body["meta"]["cursor"].clone();
    let cursor = cursor.as_str().expect("a cursor");
    let eve = venue
        .all
        .delegate(&json!({"firstName": "Eve", "barcode": "LATE-1"}));
    let search = json!({"search": {"==": ["firstDelegate", eve]}});
    let list = venue.all.post("/interaction/list", &search).list().clone();
    assert_eq!(list.len(), 2);
    assert_eq!(list[0]["data"], json!({"lane": "n1"}));
    let at = jiff::Timestamp::from_second(scan["recordedAt"].as_i64().expect("seconds"))
        .expect("a time");
    assert_eq!(list[0]["recordedAt"], at.to_string().replace('Z', "+00:00"));
    assert_eq!(
        venue
            .server
            .text("SELECT group_concat(admitted || '-' || client_id, ' ') FROM interactions"),
        venue
            .server
            .text("SELECT '1-' || id || ' 1-' || id FROM clients ORDER BY id LIMIT 1"),
    );
    let told = venue
        .all
        .get(&format!("/changes?types=interaction&since={cursor}"));
    let told: Vec<_> = told
        .list()
        .iter()
        .map(|one| (one["kind"].clone(), one["id"].clone()))
        .collect();
    assert_eq!(
        told,
        list.iter()
            .map(|one| (json!("created"), one["id"].clone()))
            .collect::<Vec<_>>()
    );
    let again = venue.all.interact("check-in", &scan);
    again.is(200);
    assert_eq!(
        (again.id(), &again.body["meta"]["replayed"]),
        (list[0]["id"].as_i64().expect("an id"), &json!(true))
    );
    assert_eq!((venue.inside(), venue.server.count("refusals")), (2, 1));
    venue.is_counted();
}

#[test]
fn whichever_way_a_record_gets_the_code_the_scan_is_recorded() {
    let venue = Venue::new();
    let Venue { server, all, .. } = &venue;
    let crew = server.crew(ConsoleRole::Administrator);
    let scanned = |code: &str| drop(venue.waits(&venue.scan(&format!("scan:{code}"), code)));
    scanned("PATCHED");
    let ada = all.delegate(&json!({"firstName": "Ada"}));
    all.patch(&format!("/delegate/id:{ada}"), &json!({"rfid": "PATCHED"}))
        .is(200);
    venue.recorded(ada);
    scanned("BADGE");
    crew.post(
        &format!("/console/delegates/{ada}/badge/rfid"),
        &[
            ("value", "PATCHED"),
            ("reason", "reported lost"),
            ("new", "BADGE"),
        ],
    )
    .taken();
    assert_eq!(
        server.count(&format!("interactions WHERE first_delegate_id = {ada}")),
        2
    );
    for (code, row) in [("LISTED", "LISTED,Eve"), ("CHANGED", "CHANGED,Ada")] {
        scanned(code);
        let known = all.delegate(&json!({"firstName": "Known", "externalId": format!("E-{code}")}));
        let (head, key) = if code == "CHANGED" {
            (
                format!("Barcode,First name,externalId\n{row},E-CHANGED\n"),
                &["--key", "externalId"][..],
            )
        } else {
            (format!("Barcode,First name\n{row}\n"), &[][..])
        };
        let list = server.file(&format!("{code}.csv"), &head);
        server.done(&[&["import", "delegates", &list][..], key].concat());
        let holder: i64 = server.value(&format!(
            "SELECT id FROM delegates WHERE barcode = '{code}'"
        ));
        assert_eq!(holder == known, code == "CHANGED");
        venue.recorded(holder);
    }
    scanned("RESTORED");
    let bob = all.delegate(&json!({"firstName": "Bob", "barcode": "FREE"}));
    all.delete(&format!("/delegate/id:{bob}")).is(204);
    server.sql(&format!(
        "UPDATE delegates SET barcode = 'RESTORED' WHERE id = {bob}"
    ));
    crew.post(&format!("/console/delegates/{bob}/restore"), &[])
        .taken();
    venue.recorded(bob);
    scanned("BOUGHT");
    let product = all.device(&json!({"name": "Day", "deviceType": "product"}));
    let event = all.event(&json!({"eventName": "Fair"}));
    let ticket = json!({"product": product, "description": "Day ticket", "barcode": "BOUGHT"});
    let sold = all.made("/tx/new", &json!({
        "context": event, "code": "S-1", "totalAmount": 2500, "createdAt": 1_790_000_000, "recordedBy": "Ada",
        "transactions": [{"paymentMethod": "cash", "amount": 2500, "change": 0}],
        "items": [{"code": "S-10000", "product": product, "quantity": 1, "description": "Day ticket",
            "unitAmount": 2500, "totalAmount": 2500, "delegates": [ticket]}],
    }));
    let holder = sold["delegates"][0]["id"].as_i64().expect("an attendee");
    let entered = format!(
        "interactions WHERE first_delegate_id = {holder} AND interaction_type = 'check-in'"
    );
    assert_eq!(server.count(&entered), 1);
    assert_eq!(venue.server.count("conflicts"), 0);
    venue.is_counted();
}

#[test]
fn a_place_that_comes_back_has_the_scans_that_waited_there() {
    let venue = Venue::new();
    let hall = DeviceId(venue.hall);
    venue.waits(&venue.scan("scan:LATE-1", "n1"));
    venue
        .all
        .delete(&format!("/device/id:{}", venue.hall))
        .is(204);
    let eve = venue
        .all
        .delegate(&json!({"firstName": "Eve", "barcode": "LATE-1"}));
    let entered = format!("interactions WHERE first_delegate_id = {eve}");
    assert_eq!(venue.server.count(&entered), 0);
    venue
        .server
        .write(move |tx, ctx| deleted::restore(tx, ctx, hall));
    assert_eq!(venue.server.count(&entered), 1);
    assert_eq!((venue.inside(), venue.server.count("refusals")), (1, 0));
    venue.is_counted();
}

#[test]
fn undo_takes_a_waiting_scan_back_and_a_gate_only_its_own() {
    let venue = Venue::new();
    let other = venue.server.caller(&[Role::InteractionWrite]);
    let scan = venue.scan("scan:LATE-1", "n1");
    venue.waits(&scan);
    other
        .delete("/interaction/nonce:n1")
        .refused(404, 1504, "n1");
    venue.all.delete("/interaction/nonce:n1").is(204);
    assert_eq!((venue.inside(), venue.server.count("refusals")), (0, 0));
    venue
        .all
        .delete("/interaction/nonce:n1")
        .refused(404, 1504, "n1");
    // A resend creates nothing again.
    let again = venue.all.interact("check-in", &scan);
    again.is(200);
    assert_eq!(again.data(), &json!({}));
    let eve = venue
        .all
        .delegate(&json!({"firstName": "Eve", "barcode": "LATE-1"}));
    assert_eq!(
        venue
            .server
            .count(&format!("interactions WHERE first_delegate_id = {eve}")),
        0
    );
    // What was recorded is named by its nonce, too.
    venue
        .all
        .interact(
            "check-in",
            &json!({"delegate": eve, "device": venue.hall, "nonce": "n2"}),
        )
        .is(201);
    venue.all.delete("/interaction/nonce:n2").is(204);
    assert_eq!(venue.server.count("interactions"), 0);
    venue.is_counted();
}

#[test]
fn a_check_out_of_an_unknown_code_ends_its_stay_and_one_code_cannot_fill_the_file() {
    let venue = Venue::new();
    venue.waits(&venue.scan("scan:LATE-1", "n1"));
    let mut out = venue.scan("scan:LATE-1", "n2");
    out["recordedAt"] = json!(out["recordedAt"].as_i64().expect("seconds") + 60);
    venue.all.interact("check-out", &out).is(201);
    assert_eq!(venue.inside(), 0);
    let items = (0..300).map(|at| {
        let mut scan = venue.scan("scan:FLYER", &format!("f{at}"));
        scan["interactionType"] = json!("check-in");
        (format!("{at}"), scan)
    });
    let batch = json!({"interactions": Value::Object(items.collect())});
    let answer = venue.all.post("/interaction/batch", &batch);
    let kept = answer
        .list()
        .iter()
        .filter(|item| item["status"] == 201)
        .count();
    let refused = answer
        .list()
        .iter()
        .filter(|item| item["meta"]["error"]["internalCode"] == 1301)
        .count();
    assert_eq!((kept, refused, venue.inside()), (200, 100, 1));
    venue.is_counted();
    let eve = venue
        .all
        .delegate(&json!({"firstName": "Eve", "barcode": "FLYER"}));
    assert_eq!(
        venue
            .server
            .count(&format!("interactions WHERE first_delegate_id = {eve}")),
        200
    );
    venue.is_counted();
}

#[test]
fn an_erased_person_leaves_no_waiting_scan() {
    let venue = Venue::new();
    // Scanned by a scanner that changes the case of some letters: nobody knows whose it is.
    venue.waits(&venue.scan("scan: secRET-9 ", "nonce-of-eve"));
    let eve = venue
        .all
        .delegate(&json!({"firstName": "Eve", "barcode": "SEcret-9"}));
    let crew = venue.server.crew(ConsoleRole::Administrator);
    crew.erase(eve);
    assert_eq!((venue.inside(), venue.server.count("refusals")), (0, 0));
    assert_eq!(
        venue
            .server
            .traces(&["secRET-9", "SEcret-9", "nonce-of-eve"]),
        [""; 0]
    );
    venue.is_counted();
}

#[test]
fn a_type_that_is_nearly_a_check_in_is_refused_unless_the_file_has_it() {
    let (server, all) = Server::with_api();
    let hall = all.device(&json!({"name": "Hall"}));
    let ada = all.delegate(&json!({"barcode": "A-1"}));
    let body = json!({"delegate": ada, "device": hall});
    for kind in [
        "checkin",
        "check_in",
        "Check-In",
        "check-inn",
        "chek-in",
        "checkout",
        "checkinoverride",
    ] {
        for path in ["new", "test"] {
            let reply = all.post(&format!("/interaction/{path}/{kind}"), &body);
            reply.refused(400, 1501, "did you mean \"check-");
        }
        let item = json!({"interactionType": kind, "delegate": ada, "device": hall});
        let batch = all.post("/interaction/batch", &json!({"interactions": {"a": item}}));
        assert_eq!(
            batch.list()[0]["meta"]["error"]["internalCode"],
            1501,
            "{kind}"
        );
    }
    assert_eq!(server.count("interactions"), 0);
    let list = server.file(
        "past.csv",
        "interactionType,firstDelegate\ncheckin,barcode:A-1\n",
    );
    let output =
        crate::faults::process::gatepost(&server.path(), &["import", "interactions", &list]);
    let told = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(
        !output.status.success() && told.contains("did you mean \"check-in\"?"),
        "{told}"
    );
    // Another near miss is stored, and an unknown type without a word.
    let leads = all.interact("leads", &body);
    leads.is(201);
    assert!(
        leads.body["meta"]["warning"]
            .as_str()
            .is_some_and(|told| told.contains("\"lead\""))
    );
    assert_eq!(all.interact("survey", &body).body["meta"], json!({}));
    // Of a file of an earlier version.
    server.sql(
        "UPDATE interactions SET interaction_type = 'checkin' WHERE interaction_type = 'survey'",
    );
    all.interact("checkin", &body).is(201);
    all.interact("checkout", &body)
        .refused(400, 1501, "check-out");
    server.settings(&json!({"interactionTypes": {"knownOnly": true}}));
    for kind in ["checkin", "survey", "leads"] {
        all.interact(kind, &body)
            .refused(400, 1501, "known types only");
    }
    all.interact("lead", &body).is(201);
}
