//! What a receiver that takes everything is told.

use super::{
    receiver::{Act, Delivery, Receiver},
    server, set, subscribe, told, webhook,
};
use crate::console::page;
use crate::harness::{has, lacks, words};
use gatepost::domain::webhooks::NewWebhook;
use serde_json::json;
use std::{
    collections::BTreeSet,
    io::Write,
    process::{Command, Stdio},
};

#[test]
fn a_check_in_is_told_signed_and_as_the_api_shows_it() {
    let (server, receiver) = (server(), Receiver::start());
    let (_, secret) = told(&server, &receiver, &["check-in"], &[]);
    let api = server.caller_with_all();
    let (ada, hall) = (
        api.delegate(&json!({"firstName": "Ada", "barcode": "A"})),
        api.device(&json!({"name": "Hall", "code": "hall"})),
    );
    let batch = json!({
        "sharedValues": {"photo": "QUJD"},
        "interactions": {"a": {"interactionType": "check-in", "delegate": ada, "device": hall,
            "data": {"photo": {"$shared": "photo"}, "said": "Grüße"}}},
    });
    api.post("/interaction/batch", &batch).data();
    let came = receiver.wait_for(1);
    let delivery = &came[0];
    assert_eq!(delivery.path, "/in");
    assert_eq!(delivery.headers["content-type"], "application/json");
    assert!(delivery.headers["user-agent"].starts_with("Gatepost/"));
    assert_eq!(delivery.kind(), "interaction.created");
    let shown = api.get("/interaction/list").data()[0].clone();
    assert_eq!(delivery.data(), &shown);
    assert_eq!(delivery.data()["data"]["photo"], "QUJD");
    assert_eq!(delivery.body["createdAt"], shown["createdAt"]);
    let other = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    assert_eq!(delivery.signed_by(&[&secret, other]), [true, false]);
}

#[test]
fn only_what_is_asked_for_is_told_and_only_from_then_on() {
    let (server, receiver) = (server(), Receiver::start());
    let api = server.caller_with_all();
    let ada = api.delegate(&json!({"firstName": "Ada"}));
    let event = api.device(&json!({"name": "Congress", "code": "c26", "deviceType": "event"}));
    let hall = api.device(&json!({"name": "Hall", "code": "hall", "parent": event}));
    let bar = api.device(&json!({"name": "Bar", "code": "bar"}));
    let record = |kind: &str, device: i64| {
        let body = json!({"delegate": ada, "device": device});
        api.interact(kind, &body).id()
    };
    record("lead", hall);
    let new = NewWebhook {
        devices: Some(set(&["c26", "not-there-yet"])),
        ..webhook("CRM", &receiver.url(), &["lead", "my-own"], &[])
    };
    subscribe(&server, &new);
    record("lead", bar);
    record("check-in", hall);
    let first = record("my-own", hall);
    let second = record("lead", event);
    let came = receiver.wait_for(2);
    let ids: Vec<_> = came.iter().map(|came| came.data()["id"].as_i64()).collect();
    assert_eq!(ids, [Some(first), Some(second)]);
    // A device of the list that comes later counts from then on.
    let later = api.device(&json!({"name": "Annexe", "code": "not-there-yet"}));
    let third = record("lead", later);
    let came = receiver.wait_for(3);
    assert_eq!(came[2].data()["id"], third);
    assert_eq!(came.len(), 3);
}

#[test]
fn changes_of_records_are_told() {
    let (server, receiver) = (server(), Receiver::start());
    told(&server, &receiver, &[], &["*"]);
    let api = server.caller_with_all();
    let crew = server.administrator();
    let ada = api.delegate(&json!({"firstName": "Ada", "email": "ada@example.org"}));
    receiver.wait_for(1);
    api.patch(
        &format!("/delegate/id:{ada}"),
        &json!({"company": "Engines"}),
    )
    .data();
    let came = receiver.wait_for(2);
    assert_eq!(came[0].kind(), "delegate.created");
    assert_eq!(came[1].kind(), "delegate.updated");
    let mut shown = api.read(&format!("/delegate/id:{ada}"));
    for carried in words("firstInteractions secondInteractions thirdInteractions children") {
        shown.as_object_mut().expect("an object").remove(carried);
    }
    assert_eq!(came[1].data(), &shown);
    assert_eq!(came[1].data()["company"], "Engines");

    let event = api.event(&json!({"eventName": "Congress"}));
    let room = api.device(&json!({"name": "Room"}));
    // Under the name of its device, too, an event is one.
    api.patch(&format!("/device/id:{event}"), &json!({"name": "Fair"}))
        .data();
    let seen = api.interact("lead", &json!({"delegate": ada})).id();
    api.delete(&format!("/interaction/id:{seen}"));
    api.delete(&format!("/device/id:{room}"));
    api.delete(&format!("/delegate/id:{ada}"));
    let came = receiver.wait_for(8);
    let kinds: Vec<_> = came[2..]
        .iter()
        .map(|came| came.kind().to_owned())
        .collect();
    for kind in words(
        "event.created event.updated device.created device.deleted interaction.deleted \
         delegate.deleted",
    ) {
        assert!(kinds.iter().any(|told| told == kind), "{kind} in {kinds:?}");
    }
    let of = |kind: &str| {
        let found = came.iter().rfind(|came| came.kind() == kind);
        found.expect(kind).data().clone()
    };
    assert_eq!(of("event.updated")["_type"], "event");
    assert_eq!(of("event.updated")["eventName"], "Fair");
    assert_eq!(
        of("interaction.deleted"),
        json!({"id": seen, "_type": "interaction"})
    );
    // Nothing is told of what a record was that is gone.
    assert_eq!(
        of("delegate.deleted"),
        json!({"id": ada, "_type": "delegate"})
    );
    crew.press(&format!("/console/delegates/{ada}/restore"));
    let came = receiver.wait_for(9);
    assert_eq!(came[8].kind(), "delegate.restored");
    assert_eq!(came[8].data()["firstName"], "Ada");
    // Settings, users and clients are nobody's business.
    assert_eq!(receiver.came().len(), 9);
}

#[test]
fn records_that_an_import_makes_are_told_one_by_one() {
    let (server, receiver) = (server(), Receiver::start());
    let import = |name: &str, list: &str, args: &[&str]| {
        let path = server.file(name, list);
        server.done(&[&["import", "delegates", &path], args].concat());
    };
    // What came before the webhook is none of its business.
    import("before.csv", "barcode,Name\nX,Xu\n", &[]);
    told(&server, &receiver, &[], &["*"]);
    let rows: Vec<String> = (0..300).map(|n| format!("C{n},N{n}\n")).collect();
    import("list.csv", &format!("barcode,Name\n{}", rows.concat()), &[]);
    let came = receiver.wait_for(300);
    let ids: BTreeSet<&str> = came.iter().map(Delivery::id).collect();
    let people: BTreeSet<i64> = came
        .iter()
        .map(|came| came.data()["id"].as_i64().expect("an id"))
        .collect();
    assert_eq!((ids.len(), people.len()), (300, 300));
    let api = server.caller_with_all();
    for one in came.iter().take(5) {
        assert_eq!(one.kind(), "delegate.created");
        let shown = api.read(&format!("/delegate/id:{}", one.data()["id"]));
        assert_eq!(one.data()["lastName"], shown["lastName"]);
        assert_eq!(one.body["createdAt"], shown["createdAt"]);
    }
    // The audit has one row an import, and what follows has its place behind.
    let audited = "SELECT count(*) FROM audit WHERE record_type = 'delegate'";
    assert_eq!(server.value::<i64>(audited), 0);
    let imports = "SELECT count(*) FROM audit WHERE record_type = 'batch'";
    assert_eq!(server.value::<i64>(imports), 2);
    import(
        "change.csv",
        "barcode,Name\nC7,New\nC8,N8\nY,Yen\n",
        &["--key", "barcode"],
    );
    let came = receiver.wait_for(302);
    let kinds: Vec<String> = came[300..].iter().map(|c| c.kind().to_owned()).collect();
    assert!(
        kinds.contains(&"delegate.updated".to_owned())
            && kinds.contains(&"delegate.created".to_owned()),
        "{kinds:?}"
    );
    // People see where somebody came from.
    let crew = server.administrator();
    let first: i64 = server.value("SELECT id FROM delegates WHERE barcode = 'C7'");
    let html = crew.page(&format!("/console/delegates/{first}"));
    has(&html, ["Imported", "import of list.csv"]);
    assert_eq!(receiver.came().len(), 302);
}

#[test]
fn two_records_that_become_one_are_told() {
    let (server, receiver) = (server(), Receiver::start());
    told(&server, &receiver, &[], &["delegate.*"]);
    let api = server.caller_with_all();
    let one = api.delegate(&json!({"firstName": "Ada"}));
    let two = api.delegate(&json!({"firstName": "Ada", "company": "Engines"}));
    server.write(move |tx, ctx| {
        use gatepost::{domain::delegates::merge::merge, types::DelegateId};
        merge(tx, ctx, DelegateId(one), DelegateId(two), &set(&[]))
    });
    // Of two records, so in any order; the one that stays names the other first, and then gets what it lacks.
    let came = receiver.wait("the merge", |came| {
        let count = |kind: &str| came.iter().filter(|came| came.kind() == kind).count();
        count("delegate.merged") == 1 && count("delegate.updated") == 2
    });
    let merged = came.iter().find(|came| came.kind() == "delegate.merged");
    assert_eq!(
        merged.expect("it came").data(),
        &json!({"id": two, "_type": "delegate", "into": {"id": one, "_type": "delegate"}})
    );
    let updated = came.iter().rfind(|came| came.kind() == "delegate.updated");
    assert_eq!(updated.expect("it came").data()["company"], "Engines");
}

#[test]
fn one_person_is_told_in_order_however_fast_it_goes() {
    let (server, receiver) = (server(), Receiver::start());
    told(&server, &receiver, &["*"], &["delegate.*"]);
    let api = server.caller_with_all();
    let people: Vec<i64> = (0..5)
        .map(|n| api.delegate(&json!({"barcode": format!("P{n}")})))
        .collect();
    let items: serde_json::Map<_, _> = (0..500)
        .map(|n| {
            let item =
                json!({"interactionType": "seen", "delegate": people[n % 5], "data": {"n": n}});
            (format!("{n}"), item)
        })
        .collect();
    api.post("/interaction/batch", &json!({"interactions": items}))
        .data();
    let came = receiver.wait_for(505);
    for person in people {
        let told: Vec<i64> = came
            .iter()
            .filter(|came| came.data()["firstDelegate"]["id"] == person)
            .map(|came| came.data()["data"]["n"].as_i64().expect("a number"))
            .collect();
        assert_eq!(told.len(), 100);
        assert!(told.is_sorted(), "{told:?}");
        let of_person = came
            .iter()
            .position(|came| came.kind() == "delegate.created" && came.data()["id"] == person);
        let first = came
            .iter()
            .position(|came| came.data()["firstDelegate"]["id"] == person);
        assert!(of_person < first, "made before it was seen");
    }
    assert_eq!(came.len(), 505, "each once, as all were taken");
}

#[test]
fn a_person_decides_what_is_told_from_now_on() {
    let (server, receiver) = (server(), Receiver::start());
    let (id, _) = told(&server, &receiver, &["lead"], &[]);
    let api = server.caller_with_all();
    let ada = api.delegate(&json!({"firstName": "Ada"}));
    let crew = server.administrator();
    let act = |end: &str| crew.press(&format!("/console/webhooks/{id}/{end}"));
    let lead = || api.interact("lead", &json!({"delegate": ada})).id();
    lead();
    receiver.wait_for(1);
    act("pause");
    let waited = lead();
    act("resume");
    assert_eq!(receiver.wait_for(2)[1].data()["id"], waited);
    act("pause");
    lead();
    act("skip");
    let after = lead();
    assert_eq!(receiver.wait_for(3)[2].data()["id"], after);
    crew.press(&format!("/console/webhooks/{id}/remove"));
    lead();
    let other = Receiver::that(|_| Act::Answer(204, ""));
    subscribe(&server, &webhook("Other", &other.url(), &["lead"], &[]));
    lead();
    other.wait_for(1);
    assert_eq!(receiver.came().len(), 3, "nobody is told who is removed");
    let listed = page(crew.request(reqwest::Method::GET, "/console/webhooks")).shown();
    has(&listed, ">Other<");
    lacks(&listed, ">CRM<");
}

#[test]
fn the_handbook_verifies_deliveries() {
    let (server, receiver) = (server(), Receiver::start());
    let (_, secret) = told(&server, &receiver, &["lead"], &[]);
    let api = server.caller_with_all();
    let ada = api.delegate(&json!({"firstName": "Ada"}));
    let body = json!({"delegate": ada, "data": {"said": "Grüße"}});
    api.interact("lead", &body).id();
    let delivery = receiver.wait_for(1)[0].clone();
    let page = include_str!("../../../assets/handbook/integrate.md");
    let part = page
        .split("### Verify a delivery")
        .nth(1)
        .expect("its part");
    let code = part.split("```python\n").nth(1).expect("a program");
    let code = code.split("```").next().unwrap_or_default();
    let program = format!(
        "import json, sys\n{code}\ngiven = json.load(sys.stdin)\n\
         print(is_ours(given['secret'], given['headers'], given['body'].encode()), \
         is_ours(given['secret'], given['headers'], given['body'].encode() + b' '))"
    );
    let mut python = Command::new("python3")
        .args(["-c", &program])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3");
    let given = json!({"secret": secret, "headers": delivery.headers, "body": delivery.text});
    let mut stdin = python.stdin.take().expect("a pipe");
    stdin
        .write_all(given.to_string().as_bytes())
        .expect("written");
    drop(stdin);
    let told = python.wait_with_output().expect("an end");
    assert_eq!(String::from_utf8_lossy(&told.stdout).trim(), "True False");
}
