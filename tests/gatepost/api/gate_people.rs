//! What a gate does for people beside scanning them: walk-ins, lost badges, and attendees who look
//! themselves up.

use super::gate::Venue;
use crate::harness::{Caller, Reply, has, lacks};
use gatepost::{
    identity::{ConsoleRole, Role, clients::NewClient},
    types::{DeviceId, barcode::Barcode},
};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    thread,
};

impl Venue {
    /// A venue whose gate registers people, with what is added to its settings.
    fn with_walk_ins(more: &Value) -> Self {
        let venue = Self::new();
        let mut settings = json!({
            "place": "code:room", "places": ["code:room"], "supervisorPin": "471100",
            "availableFeatures": ["check-in", "delegate-create"],
        });
        for (name, value) in more.as_object().expect("settings") {
            settings[name] = value.clone();
        }
        venue.server.publish(&json!({"default": settings}));
        venue
    }

    fn walk_in(&self, nonce: &str, more: &Value) -> Reply {
        walk_in(&self.gate, self.room, nonce, more)
    }

    /// Rows of attendees, interactions and nonces.
    fn rows(&self) -> [i64; 3] {
        ["delegates", "interactions", "nonces"].map(|table| self.server.count(table))
    }

    /// Another gate at the same places.
    fn other_gate(&self) -> Caller {
        let app = self.all.device(&json!({"deviceType": "regoapp"}));
        let (id, secret) = self.server.new_client(NewClient {
            roles: [Role::Gate].into_iter().collect(),
            device: Some(DeviceId(app)),
            ..NewClient::named("other gate")
        });
        self.server.caller_of(&id, &secret)
    }

    fn scan(&self, code: &str) -> Reply {
        let scan = json!({"delegate": format!("scan:{code}"), "device": self.room});
        self.gate.interact("check-in", &scan)
    }
}

fn walk_in(gate: &Caller, place: i64, nonce: &str, more: &Value) -> Reply {
    let mut body = json!({"place": place, "nonce": nonce, "lastName": "Lovelace"});
    for (name, value) in more.as_object().expect("properties") {
        body[name] = value.clone();
    }
    gate.post("/gate/walk-in", &body)
}

/// What a walk-in created: whom, and the check-in.
#[track_caller]
fn created(reply: &Reply) -> (i64, i64) {
    assert_eq!(reply.status, 201, "{reply:?}");
    let check_in = reply.body["meta"]["interaction"].as_i64();
    (reply.id(), check_in.expect("a check-in"))
}

#[test]
fn a_walk_in_is_created_registered_and_checked_in_at_once() {
    let venue = Venue::with_walk_ins(&json!({"delegateType": "Guest"}));
    let ada = json!({"firstName": "Ada ", "email": "ada@example.org", "delegateType": "Press"});
    let first = venue.walk_in("n1", &ada);
    let (id, check_in) = created(&first);
    let shown = first.data();
    assert_eq!(
        [
            &shown["name"],
            &shown["category"],
            &shown["joined"],
            &shown["inside"],
            &shown["entries"]
        ],
        [
            &json!("Ada Lovelace"),
            &json!("Press"),
            &json!(true),
            &json!(true),
            &json!(1)
        ]
    );
    let code = shown["codes"][0].as_str().expect("a code");
    Barcode::parse(code).expect("one of the server's algorithm");
    venue.scan(code).refused(412, 740, "already used");
    let record = venue.all.read(&format!("/delegate/id:{id}"));
    assert_eq!(
        (&record["sources"], &record["email"]),
        (&json!(["api"]), &json!("ada@example.org"))
    );
    let noted = format!(
        "audit WHERE record_type = 'delegate' AND record_id = {id} AND action = 'create' AND actor LIKE 'client:%'"
    );
    assert_eq!(venue.server.count(&noted), 1);
    assert_eq!(
        record["firstInteractions"].as_array().map(Vec::len),
        Some(2)
    );

    // A resend creates nothing.
    let rows = venue.rows();
    let again = venue.walk_in("n1", &ada);
    again.is(200);
    assert_eq!(again.data(), shown);
    assert_eq!(
        again.body["meta"],
        json!({"replayed": true, "interaction": check_in})
    );
    assert_eq!(venue.rows(), rows);
    venue.walk_in("n1", &json!({})).refused(409, 1109, "nonce");
    let scan = json!({"delegate": id, "device": venue.room, "nonce": "n1"});
    venue
        .gate
        .interact("check-in", &scan)
        .refused(409, 1109, "nonce");
    // A nonce is a client's own.
    created(&walk_in(&venue.other_gate(), venue.room, "n1", &ada));

    let guest = venue.all.device(&json!({"name": "Foyer", "code": "foyer"}));
    venue.server.publish(&json!({"default": {
        "availableFeatures": ["delegate-create"], "delegateType": "Guest", "walkInTypes": ["Visitor", "Press"],
    }}));
    // Anybody may enter the foyer: no registration. The type is the settings'.
    let open = walk_in(&venue.gate, guest, "n2", &json!({}));
    let (guest, _) = created(&open);
    open.shows("category", "Guest");
    open.without("joined");
    let kinds = format!(
        "SELECT group_concat(interaction_type) FROM interactions WHERE first_delegate_id = {guest}"
    );
    assert_eq!(venue.server.text(&kinds), "check-in");
}

#[test]
fn a_walk_in_needs_the_feature_a_place_of_the_gate_and_a_name() {
    let venue = Venue::new();
    venue
        .walk_in("n", &json!({}))
        .refused(403, 1202, "delegate-create");
    let venue = Venue::with_walk_ins(&json!({"walkInTypes": ["Visitor", "Press"]}));
    let rows = venue.rows();
    let refused = |more: &Value, about: &str| venue.walk_in("n", more).invalid(about);
    walk_in(&venue.gate, venue.other, "n", &json!({})).refused(403, 1202, "places");
    walk_in(&venue.gate, 999_999, "n", &json!({})).refused(403, 1202, "places");
    refused(&json!({"lastName": " "}), "lastName");
    refused(&json!({"lastName": null}), "lastName");
    refused(&json!({"lastName": "x".repeat(10_001)}), "lastName");
    refused(&json!({"email": "\0"}), "email");
    refused(&json!({"code": ""}), "code");
    refused(&json!({"code": "x".repeat(256)}), "code");
    refused(&json!({"delegateType": "Staff"}), "one of Visitor, Press");
    refused(&json!({"nonce": ""}), "nonce");
    refused(&json!({"nonce": "x".repeat(129)}), "nonce");
    refused(&json!({"company": "x"}), "company");
    refused(&json!({"firstName": 1}), "firstName");
    venue
        .walk_in("n", &json!({"recordedAt": "soon"}))
        .refused(400, 1503, "recordedAt");
    assert_eq!(venue.rows(), rows);
    // What was let in while the gate was offline is stored, and what was stored before stays known.
    let admitted = json!({"delegateType": "Staff", "admitted": true});
    let reply = venue.walk_in("n", &admitted);
    let (id, _) = created(&reply);
    // But with no type that is not the gate's to give.
    reply.without("category");
    let warning = reply.body["meta"]["warning"].as_str().expect("a warning");
    has(warning, "Staff is not for walk-ins here, none is stored");
    let press = json!({"delegateType": "Press", "admitted": true});
    venue.walk_in("o", &press).shows("category", "Press");
    venue
        .server
        .publish(&json!({"default": {"places": ["code:other"]}}));
    let again = venue.walk_in("n", &admitted);
    assert_eq!((again.status, again.id()), (200, id));
    venue.walk_in("m", &admitted).refused(403, 1202, "places");
}

#[test]
fn a_walk_in_that_the_rules_refuse_leaves_nothing_but_the_refusal() {
    let venue = Venue::with_walk_ins(&json!({}));
    let code = |code: &str| json!({"code": code});
    created(&venue.walk_in("n1", &code("W-1")));
    created(&venue.walk_in("n2", &code("W-2")));
    let (rows, audit) = (venue.rows(), venue.server.count("audit"));
    venue.walk_in("n3", &code("W-3")).refused(412, 744, "Hall");
    assert_eq!((venue.rows(), venue.server.count("audit")), (rows, audit));
    let logged = "SELECT group_concat(delegate || ' ' || code || ' ' || (delegate_id IS NULL)) FROM refusals";
    assert_eq!(venue.server.text(logged), "barcode:W-3 744 1");
    venue.scan("W-3").refused(404, 1301, "W-3");
    // Let in offline an hour ago: a conflict, at the time at which it was.
    let then = venue.server.value::<i64>("SELECT unixepoch() - 3600");
    let admitted = json!({"code": "W-3", "admitted": true, "recordedAt": then});
    let third = venue.walk_in("n3", &admitted);
    created(&third);
    assert_eq!(
        (&third.data()["lastIn"], &third.data()["joined"]),
        (&json!(then * 1_000), &json!(true))
    );
    assert_eq!(venue.server.count("conflicts WHERE code = 744"), 1);
    // The nonce is used up now.
    venue
        .walk_in("n3", &code("W-3"))
        .refused(409, 1109, "nonce");
    // Without a code, the console has nothing to call them by.
    venue.walk_in("n6", &json!({})).refused(412, 744, "Hall");
    let refused = venue.server.crew(ConsoleRole::Viewer);
    let refused = refused.get("/console/interactions?refused=on").shown();
    assert_eq!(refused.matches("Walk-in").count(), 1, "{refused}");
    // Rules that nobody can read admit nobody.
    let broken = format!(
        "UPDATE devices SET data = '{{\"Access\": 1}}' WHERE id = {}",
        venue.room
    );
    venue.server.sql(&broken);
    venue.walk_in("n4", &json!({})).refused(412, 743, "");
    created(&venue.walk_in("n5", &json!({"admitted": true})));
}

#[test]
fn a_code_of_a_walk_in_is_nobodys() {
    let venue = Venue::with_walk_ins(&json!({}));
    let bob = venue
        .all
        .delegate(&json!({"lastName": "Bob", "barcode": "T-1", "rfid": "04A2"}));
    let carl = venue
        .all
        .delegate(&json!({"lastName": "Carl", "barcode": "T-3"}));
    venue
        .gate
        .post(
            "/gate/badge",
            &json!({"delegate": bob, "code": "T-2", "pin": "471100"}),
        )
        .data();
    let rows = venue.rows();
    for (code, about) in [
        ("T-2", "already used"),
        ("T-1", "blocked"),
        ("04A2", "blocked"),
        ("T-3", "already used"),
    ] {
        venue
            .walk_in("n", &json!({"code": code}))
            .refused(409, 1105, about);
        let badge = json!({"delegate": carl, "code": code, "pin": "471100"});
        venue
            .gate
            .post("/gate/badge", &badge)
            .refused(409, 1105, about);
    }
    // As another kind of code it is somebody's as well: a gate reads any.
    let rfid = venue.all.delegate(&json!({"rfid": "04B3"}));
    venue
        .walk_in("n", &json!({"code": "04B3"}))
        .refused(409, 1105, "already used");
    assert_eq!(venue.rows(), [rows[0] + 1, rows[1], rows[2]]);
    assert!(venue.all.delete(&format!("/delegate/id:{rfid}")).status == 204);
    created(&venue.walk_in("n", &json!({"code": "04B3"})));
}

#[test]
fn codes_for_walk_ins_are_made_in_advance() {
    let venue = Venue::with_walk_ins(&json!({}));
    let made = venue.gate.post("/gate/codes", &json!({"count": 200}));
    made.is(201);
    let codes: BTreeSet<&str> = made.list().iter().filter_map(Value::as_str).collect();
    assert_eq!(codes.len(), 200);
    for code in &codes {
        Barcode::parse(code).expect(code);
    }
    let code = codes.first().expect("a code");
    let reply = venue.walk_in("n", &json!({"code": code, "admitted": true}));
    assert_eq!(reply.data()["codes"][0], **code);
    for count in [
        json!(0),
        json!(201),
        json!(-1),
        json!(65_537),
        json!(1.5),
        json!("2"),
        json!(null),
    ] {
        venue
            .gate
            .post("/gate/codes", &json!({"count": count}))
            .invalid("count");
    }
    assert_eq!(venue.server.count("delegates"), 1);
}

#[test]
fn walk_ins_at_once_create_one() {
    let venue = Venue::with_walk_ins(&json!({}));
    let other = venue.other_gate();
    let at_once = |send: &(dyn Fn(usize) -> Reply + Sync)| {
        thread::scope(|scope| {
            let sent: Vec<_> = (0..8).map(|at| scope.spawn(move || send(at))).collect();
            let replies = sent.into_iter().map(|reply| reply.join().expect("a reply"));
            replies.collect::<Vec<_>>()
        })
    };
    let of_status = |replies: &[Reply], status: u16| {
        replies
            .iter()
            .filter(|reply| reply.status == status)
            .count()
    };
    // One client and one nonce.
    let replies = at_once(&|_| venue.walk_in("n", &json!({})));
    assert_eq!(
        (of_status(&replies, 201), of_status(&replies, 200)),
        (1, 7),
        "{replies:?}"
    );
    let ids: BTreeSet<i64> = replies.iter().map(Reply::id).collect();
    assert_eq!((ids.len(), venue.rows()), (1, [1, 2, 1]));
    // Two gates and one code: the hall has a place left.
    let gates = [&venue.gate, &other];
    let replies = at_once(&|at| {
        let more = json!({"code": "W-1"});
        walk_in(gates[at % 2], venue.room, &format!("n{at}"), &more)
    });
    assert_eq!(
        (of_status(&replies, 201), of_status(&replies, 409)),
        (1, 7),
        "{replies:?}"
    );
    // Two gates and one place.
    let to = venue
        .all
        .device(&json!({"code": "booth", "data": {"Access": {"capacity": 3}}}));
    venue
        .server
        .publish(&json!({"default": {"availableFeatures": ["delegate-create"]}}));
    let replies = at_once(&|at| walk_in(gates[at % 2], to, &format!("m{at}"), &json!({})));
    assert_eq!(
        (of_status(&replies, 201), of_status(&replies, 412)),
        (3, 5),
        "{replies:?}"
    );
    assert_eq!(venue.server.count("delegates"), 5);
}

#[test]
fn a_resend_finds_the_same_person_unless_they_are_gone() {
    let venue = Venue::with_walk_ins(&json!({}));
    let zoe = json!({"firstName": "Zoe-4711", "email": "zoe-4711@example.org"});
    let (id, check_in) = created(&venue.walk_in("zoe-4711", &zoe));
    // Somebody else deletes the check-in, not the attendee.
    assert_eq!(
        venue.all.delete(&format!("/interaction/{check_in}")).status,
        204
    );
    let again = venue.walk_in("zoe-4711", &zoe);
    assert_eq!((again.status, again.id()), (200, id));
    assert_eq!(again.body["meta"], json!({"replayed": true}));
    again.without("inside");
    again.shows("joined", true);
    venue
        .walk_in("zoe-4711", &json!({}))
        .refused(409, 1109, "nonce");

    let gone = |venue: &Venue| {
        let rows = venue.rows();
        let again = venue.walk_in("zoe-4711", &zoe);
        again.is(200);
        assert_eq!(again.data(), &json!({}));
        assert_eq!(again.body["meta"]["replayed"], true);
        assert_eq!(venue.rows(), rows);
    };
    assert_eq!(venue.all.delete(&format!("/delegate/id:{id}")).status, 204);
    gone(&venue);

    // Erased, before and after an undo: nothing is left but that the nonce is known.
    for is_undone in [false, true] {
        let venue = Venue::with_walk_ins(&json!({}));
        let (id, check_in) = created(&venue.walk_in("zoe-4711", &zoe));
        if is_undone {
            let undo = venue.all.delete(&format!("/interaction/{check_in}"));
            assert_eq!(undo.status, 204);
        }
        let herself = venue.server.caller_as_user("z@example.org", &[], Some(id));
        assert_eq!(herself.delete("/delegate/myself").status, 204);
        gone(&venue);
        venue
            .walk_in("zoe-4711", &json!({}))
            .refused(409, 1109, "nonce");
        assert_eq!(venue.server.traces(&["oe-4711"]), [""; 0]);
    }
}

#[test]
fn an_undo_takes_a_walk_in_along_unless_more_happened_to_them() {
    let venue = Venue::with_walk_ins(&json!({}));
    let undone = |check_in: i64| {
        let path = format!("/interaction/{check_in}");
        assert_eq!(venue.gate.delete(&path).status, 204);
    };
    let is_gone = |id: i64| {
        let deleted = format!("delegates WHERE id = {id} AND deleted_at IS NOT NULL");
        venue.server.count(&deleted) == 1
    };
    let code = json!({"code": "W-1"});
    let mut list = BTreeMap::new();
    let (cursor, _) = venue.follow(&mut list, None);
    let (ada, check_in) = created(&venue.walk_in("n1", &code));
    undone(check_in);
    assert!(is_gone(ada));
    venue.follow(&mut list, Some(cursor));
    assert!(
        !list.contains_key(&format!("\"delegate\" {ada}")),
        "{list:?}"
    );
    let noted =
        format!("audit WHERE record_id = {ada} AND action = 'delete' AND actor LIKE 'client:%'");
    assert_eq!(venue.server.count(&noted), 1);
    let again = venue.walk_in("n1", &code);
    assert_eq!((again.status, again.data()), (200, &json!({})));
    // The code is free again.
    created(&venue.walk_in("n2", &code));

    let change = |id: i64| {
        let changed = json!({"company": "Nordlicht"});
        venue.all.patched(&format!("/delegate/id:{id}"), &changed);
    };
    let badge = |id: i64| {
        let lost = json!({"delegate": id, "pin": "471100"});
        venue.gate.post("/gate/badge", &lost).is(200);
    };
    let check_out = |id: i64| {
        let out = json!({"delegate": id, "device": venue.room});
        venue.gate.interact("check-out", &out).id();
    };
    let child = |id: i64| {
        venue
            .all
            .delegate(&json!({"lastName": "Son", "parent": id}));
    };
    let ten_minutes = |id: i64| {
        venue.server.sql(&format!(
            "UPDATE interactions SET created_at = created_at - 660000 WHERE first_delegate_id = {id};
             UPDATE delegates SET created_at = created_at - 660000 WHERE id = {id}"
        ));
    };
    let nothing = |_| {};
    // By a client that may delete any interaction at any time.
    let more: [(&dyn Fn(i64), bool); 6] = [
        (&nothing, true),
        (&change, false),
        (&badge, false),
        (&check_out, false),
        (&child, false),
        (&ten_minutes, false),
    ];
    for (n, (happens, goes)) in more.into_iter().enumerate() {
        let made = walk_in(&venue.all, venue.room, &format!("m{n}"), &json!({}));
        let (id, check_in) = created(&made);
        happens(id);
        let path = format!("/interaction/{check_in}");
        venue.gate.delete(&path).refused(403, 1202, "ten minutes");
        assert_eq!(venue.all.delete(&path).status, 204);
        assert_eq!(is_gone(id), goes, "{n}");
    }
    // An attendee who was there before stays.
    let known = venue.all.delegate(&json!({"barcode": "T-1"}));
    venue
        .all
        .interact("join", &json!({"delegate": known, "device": venue.hall}));
    undone(venue.scan("T-1").id());
    assert!(!is_gone(known));
}

#[test]
fn a_lost_badge_is_blocked_and_replaced_in_one_step() {
    let venue = Venue::with_walk_ins(&json!({}));
    let ada = venue.all.delegate(&json!({
        "lastName": "Lovelace", "barcode": "T-1", "rfid": "04A2", "uhfId": "E2", "externalId": "X-1",
    }));
    venue
        .all
        .interact("join", &json!({"delegate": ada, "device": venue.hall}))
        .id();
    let mut list = BTreeMap::new();
    let (cursor, _) = venue.follow(&mut list, None);
    let lost = json!({
        "delegate": "scan:T-1", "code": "NEW-4711", "reason": "handed to somebody else", "pin": "471100",
    });
    let replaced = venue.gate.post("/gate/badge", &lost);
    replaced.shows("id", ada);
    replaced.shows("joined", true);
    let codes = replaced.data()["codes"].as_array().expect("codes");
    assert_eq!(codes[0], "NEW-4711");
    assert!(
        codes.contains(&json!("X-1")) && !replaced.body.to_string().contains("04A2"),
        "{codes:?}"
    );
    // Nobody gets in with what was on the old one, and every gate knows.
    for code in ["T-1", "04A2", "E2"] {
        venue
            .scan(code)
            .refused(404, 1301, "handed to somebody else");
    }
    venue.scan("NEW-4711").id();
    venue.follow(&mut list, Some(cursor));
    let blocked = list.iter().filter(|(key, _)| key.contains("blocked-code"));
    let blocked: BTreeSet<_> = blocked
        .filter_map(|(_, code)| code["code"].as_str())
        .collect();
    assert_eq!(blocked, BTreeSet::from(["T-1", "04A2", "E2"]));
    assert_eq!(list[&format!("\"delegate\" {ada}")]["codes"][0], "NEW-4711");
    let noted =
        format!("audit WHERE record_id = {ada} AND action = 'block' AND actor LIKE 'client:%'");
    assert_eq!(venue.server.count(&noted), 3);

    // Its answer was lost on the way.
    let mut resent = lost.clone();
    resent["delegate"] = json!(ada);
    venue.gate.post("/gate/badge", &resent).shows("id", ada);
    venue
        .gate
        .post("/gate/badge", &lost)
        .refused(404, 1301, "replaced; the new one ends in …11");
    assert_eq!(venue.server.count("blocked_codes"), 3);
    // The badge that is lost is no new one.
    let other_reason = json!({"delegate": ada, "code": "NEW-4711", "pin": "471100"});
    venue
        .gate
        .post("/gate/badge", &other_reason)
        .refused(409, 1105, "already used");
    venue
        .other_gate()
        .post("/gate/badge", &resent)
        .refused(409, 1105, "already used");
    venue
        .server
        .sql("UPDATE blocked_codes SET at = at - 660000");
    venue
        .gate
        .post("/gate/badge", &resent)
        .refused(409, 1105, "already used");

    let alone = json!({"delegate": ada, "pin": "471100"});
    let made = venue.gate.post("/gate/badge", &alone);
    let code = made.data()["codes"][0].as_str().expect("a code");
    Barcode::parse(code).expect("one of the server's algorithm");
    venue.scan("NEW-4711").refused(404, 1301, "reported lost");
    // Somebody without any code gets one.
    let bob = venue.all.delegate(&json!({"lastName": "Bob"}));
    let first = venue.gate.post(
        "/gate/badge",
        &json!({"delegate": bob, "code": "B-1", "pin": "471100"}),
    );
    assert_eq!(first.data()["codes"][0], "B-1");
}

#[test]
fn a_badge_is_replaced_where_there_are_supervisors() {
    let venue = Venue::with_walk_ins(&json!({}));
    let ada = venue.all.delegate(&json!({"barcode": "T-1"}));
    let badge = |more: &Value| {
        let mut body = json!({"delegate": ada, "pin": "471100"});
        for (name, value) in more.as_object().expect("properties") {
            body[name] = value.clone();
        }
        venue.gate.post("/gate/badge", &body)
    };
    badge(&json!({"delegate": "scan:T-9"})).refused(404, 1301, "T-9");
    badge(&json!({"delegate": "T-1"})).refused(400, 1101, "delegate");
    badge(&json!({"delegate": true})).invalid("delegate");
    badge(&json!({"reason": "  "})).invalid("reason");
    badge(&json!({"reason": "x".repeat(201)})).invalid("reason");
    badge(&json!({"code": ""})).invalid("code");
    badge(&json!({"place": venue.other})).refused(403, 1202, "places");
    badge(&json!({"pin": 4711})).invalid("pin");
    badge(&json!({"pin": null})).invalid("pin");
    // After five wrong PINs of a client none is right for a while; another gate goes on.
    for pin in [
        json!("471101"),
        json!(""),
        json!("4711001"),
        json!("9999"),
        json!("0000"),
    ] {
        badge(&json!({"pin": pin})).refused(403, 1202, "pin");
    }
    badge(&json!({})).refused(429, 1203, "wrong PINs");
    let other = venue.other_gate();
    let bob = venue.all.delegate(&json!({"lastName": "Bob"}));
    let badge_of_bob = json!({"delegate": bob, "pin": "471100"});
    other.post("/gate/badge", &badge_of_bob).shows("id", bob);
    venue
        .server
        .publish(&json!({"default": {"place": "code:room"}}));
    badge(&json!({})).refused(403, 1202, "supervisorPin");
    assert_eq!(venue.server.count("blocked_codes"), 0);
}

#[test]
fn an_attendee_is_found_by_name_and_email_together() {
    let venue = Venue::new();
    let add = |first: &str, last: &str, email: &str| {
        venue
            .all
            .delegate(&json!({"firstName": first, "lastName": last, "email": email}))
    };
    let ada = add("Ada", "Lovelace-Müller", "Ada@Example.org");
    let son = add("Björn", "Lovelace-Müller", "ada@example.org");
    let bob = add("Bob", "Sørensen", "bob@example.org");
    let find = |name: &str, email: &str| {
        let body = json!({"place": venue.room, "name": name, "email": email});
        let found = venue.gate.post("/gate/find", &body);
        found
            .list()
            .iter()
            .map(|one| one["id"].as_i64().expect("an id"))
            .collect::<Vec<_>>()
    };
    for (name, email, expected) in [
        ("lovelace muller", "ada@example.org", vec![ada, son]),
        ("ADA LOVELACE-MÜLLER", " ADA@EXAMPLE.ORG ", vec![ada]),
        ("bjorn lovelace müller", "ada@example.org", vec![son]),
        ("sorensen", "bob@example.org", vec![bob]),
        // A part is not enough, nor is one of the two.
        ("Lovelace", "ada@example.org", vec![]),
        ("Ada", "ada@example.org", vec![]),
        ("sorensen", "ada@example.org", vec![]),
        ("sorensen", "bob@", vec![]),
        ("sorensen", "%", vec![]),
    ] {
        assert_eq!(find(name, email), expected, "{name} {email}");
    }
    let body =
        |place: i64, name: &str, email: &str| json!({"place": place, "name": name, "email": email});
    venue
        .gate
        .post("/gate/find", &body(venue.room, "sorensen", " "))
        .invalid("email");
    venue
        .gate
        .post("/gate/find", &body(venue.room, "%", "bob@example.org"))
        .invalid("name");
    venue
        .gate
        .post(
            "/gate/find",
            &body(venue.other, "sorensen", "bob@example.org"),
        )
        .refused(403, 1202, "places");
    venue
        .gate
        .post(
            "/gate/find",
            &json!({"place": venue.room, "email": "bob@example.org"}),
        )
        .invalid("name");
    for _ in 0..9 {
        add("", "Group", "office@example.org");
    }
    assert_eq!(find("group", "office@example.org").len(), 5);
    // Who is deleted is not found.
    assert_eq!(venue.all.delete(&format!("/delegate/id:{bob}")).status, 204);
    assert_eq!(find("sorensen", "bob@example.org"), [0; 0]);
}

#[test]
fn a_typed_code_finds_the_holder_of_that_ticket_alone() {
    let venue = Venue::new();
    let ada = venue.all.delegate(
        &json!({"firstName": "Ada", "barcode": "T-1", "externalId": "R-00003", "rfid": "04A2", "publicId": "P-1"}),
    );
    let bob = venue
        .all
        .delegate(&json!({"firstName": "Bob", "externalId": "R-00004"}));
    let find = |code: &str| {
        let body = json!({"place": venue.room, "code": code});
        venue.gate.post("/gate/find", &body)
    };
    let found = find(" T-1 ");
    assert_eq!(found.list().len(), 1);
    assert_eq!(found.list()[0]["id"], ada);
    let wrong = ["R-00003", "R-00004", "04A2", "P-1", "T-", "T-%"];
    for code in wrong {
        assert_eq!(find(code).list().len(), 0, "{code}");
    }
    find(" ").invalid("code");
    let both = json!({"place": venue.room, "code": "T-1", "name": "Ada", "email": "a@example.org"});
    venue.gate.post("/gate/find", &both).invalid("code");
    // Offline the gate knows whose first code is no ticket's.
    let mut list = BTreeMap::new();
    venue.follow(&mut list, None);
    assert_eq!(list[&format!("\"delegate\" {bob}")]["noTicket"], true);
    assert!(list[&format!("\"delegate\" {ada}")]["noTicket"].is_null());
    // Who guesses on waits; another kiosk does not.
    for n in wrong.len()..30 {
        assert_eq!(find(&format!("R-{n:05}")).list().len(), 0);
    }
    find("T-1").refused(429, 1203, "look-ups without a result");
    let other = venue.other_gate();
    let body = json!({"place": venue.room, "code": "T-1"});
    assert_eq!(other.post("/gate/find", &body).list().len(), 1);
}

#[test]
fn a_gate_knows_who_belongs_to_one_booking() {
    let venue = Venue::new();
    let ada = venue
        .all
        .delegate(&json!({"firstName": "Ada", "lastName": "Lovelace"}));
    let bob = venue
        .all
        .delegate(&json!({"firstName": "Bob", "lastName": "Lovelace", "parent": ada}));
    let mut list = BTreeMap::new();
    let (cursor, _) = venue.follow(&mut list, None);
    let parent = |list: &BTreeMap<String, Value>, id: i64| {
        list[&format!("\"delegate\" {id}")].get("parent").cloned()
    };
    assert_eq!(
        (parent(&list, ada), parent(&list, bob)),
        (None, Some(json!(ada)))
    );
    let found = venue
        .gate
        .get(&format!("/gate/search?place={}&q=bob", venue.room));
    assert_eq!(found.list()[0]["parent"], ada);
    venue
        .all
        .patch(&format!("/delegate/id:{bob}"), &json!({"parent": null}))
        .data();
    venue.follow(&mut list, Some(cursor));
    assert_eq!(parent(&list, bob), None);
}

/// Whatever a gate is shown, it is of the properties that its client sees.
#[test]
fn a_gate_that_sees_some_properties_is_shown_those_alone() {
    let venue = Venue::with_walk_ins(&json!({}));
    let hidden = [
        "Secretperson",
        "hidden@example.org",
        "HIDDEN-1",
        "Hiddencompany",
        "hidden-photo",
        "Hiddentype",
    ];
    let [last, email, rfid, company, photo, category] = hidden;
    let ada = venue.all.delegate(&json!({
        "firstName": "Ada", "lastName": last, "email": email, "rfid": rfid, "barcode": "SEEN-1", "company": company,
        "delegateType": category, "data": {"Data": {"photo": photo}},
    }));
    let nameless = venue
        .all
        .delegate(&json!({"email": email, "barcode": "SEEN-2", "parent": ada}));
    let app = venue.all.device(&json!({"deviceType": "regoapp"}));
    let (id, secret) = venue.server.new_client(NewClient {
        roles: [Role::Gate].into_iter().collect(),
        device: Some(DeviceId(app)),
        visible_properties: Some(vec!["firstName".into(), "barcode".into()]),
        ..NewClient::named("narrow gate")
    });
    let gate = venue.server.caller_of(&id, &secret);
    let seen = |reply: &Reply| {
        assert!(reply.status < 300, "{reply:?}");
        lacks(reply.body.to_string(), hidden);
        reply.data().clone()
    };
    let place = venue.room;
    let snapshot = seen(&gate.get(&format!("/gate/snapshot?place={place}")));
    let names: Vec<_> = snapshot
        .as_array()
        .expect("changes")
        .iter()
        .map(|change| {
            let data = &change["data"];
            (
                data["id"].as_i64(),
                data["name"].as_str(),
                data["codes"].clone(),
                data["parent"].clone(),
            )
        })
        .collect();
    for expected in [
        (Some(ada), Some("Ada"), json!(["SEEN-1"]), Value::Null),
        (
            Some(nameless),
            Some("SEEN-2"),
            json!(["SEEN-2"]),
            Value::Null,
        ),
    ] {
        assert!(names.contains(&expected), "{names:?}");
    }
    let search = |words: &str| seen(&gate.get(&format!("/gate/search?place={place}&q={words}")));
    assert_eq!(search("ada")[0]["id"], json!(ada));
    for word in ["secret", "hidden", "HIDDEN-1", "hiddencompany"] {
        assert_eq!(search(word), json!([]), "{word}");
    }
    let claim = json!({"place": place, "name": format!("Ada {last}"), "email": email});
    assert_eq!(seen(&gate.post("/gate/find", &claim))[0]["name"], "Ada");
    let guest =
        json!({"place": place, "nonce": "n", "firstName": "Eve", "lastName": last, "email": email});
    assert_eq!(seen(&gate.post("/gate/walk-in", &guest))["name"], "Eve");
    let lost = json!({"delegate": ada, "place": place, "code": "SEEN-3", "pin": "471100"});
    assert_eq!(
        seen(&gate.post("/gate/badge", &lost))["codes"],
        json!(["SEEN-3"])
    );
    // Of the codes that were blocked, one is its to see.
    let again = seen(&gate.get(&format!("/gate/snapshot?place={place}"))).to_string();
    has(&again, "SEEN-1");
    // A gate that sees all is shown all.
    has(
        venue
            .gate
            .get(&format!("/gate/snapshot?place={place}"))
            .body
            .to_string(),
        [last, rfid, photo, category],
    );
}

#[test]
fn who_has_no_name_is_called_by_what_the_ticket_shows() {
    let venue = Venue::new();
    for (body, name) in [
        (
            json!({"externalId": "crm-1", "email": "a@example.org", "barcode": "T-77"}),
            "T-77",
        ),
        (
            json!({"externalId": "crm-2", "email": "b@example.org", "company": "Engines"}),
            "Engines",
        ),
        (
            json!({"externalId": "crm-3", "lastName": "Hopper"}),
            "Hopper",
        ),
        (
            json!({"externalId": "crm-4", "email": "d@example.org"}),
            "No. ",
        ),
    ] {
        let id = venue.all.delegate(&body);
        let mut list = BTreeMap::new();
        venue.follow(&mut list, None);
        let shown = list[&format!("\"delegate\" {id}")]["name"].as_str();
        let shown = shown.expect("a name").to_owned();
        assert!(shown.starts_with(name), "{shown}");
    }
}
