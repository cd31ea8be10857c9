//! A receiver that was away hears of each change as it was, in its order, and nothing of what is gone for
//! good but its id.

use super::{receiver::Receiver, server, set, subscribe, told, webhook};
use crate::{
    console::Crew,
    harness::{Caller, lacks, words},
};
use gatepost::domain::webhooks::NewWebhook;
use serde_json::{Value, json};

/// Pauses or resumes a webhook.
fn press(crew: &Crew, webhook: i64, button: &str) {
    crew.press(&format!("/console/webhooks/{webhook}/{button}"));
}

/// A record as the API shows it now, without what it carries.
fn shown(api: &Caller, path: &str) -> Value {
    let mut shown = api.read(path);
    for carried in words("firstInteractions secondInteractions thirdInteractions children") {
        shown.as_object_mut().expect("an object").remove(carried);
    }
    shown
}

/// What came under an ordering key, in its order: the kind, and the data.
fn of_record(receiver: &Receiver, name: &str, id: i64) -> Vec<(String, Value)> {
    let came = receiver.came().into_iter();
    let of =
        came.filter(|came| came.data()["id"] == id && came.kind().starts_with(&format!("{name}.")));
    of.map(|came| (came.kind().to_owned(), came.data().clone()))
        .collect()
}

#[test]
fn each_change_comes_with_the_record_as_it_was() {
    let (server, receiver) = (server(), Receiver::start());
    let (webhook, _) = told(&server, &receiver, &[], &["*"]);
    let (api, crew) = (server.caller_with_all(), server.administrator());
    press(&crew, webhook, "pause");
    let org = api.delegate(&json!({"company": "Engines"}));
    let ada = api.delegate(&json!({"firstName": "Ada", "data": {"Data": {"n": 0}}}));
    let at = format!("/delegate/id:{ada}");
    let mut people = vec![("delegate.created".to_owned(), shown(&api, &at))];
    for change in [
        json!({"firstName": "Ada L.", "phone": "1", "data": {"Data": {"n": 1}}}),
        json!({"phone": null, "email": "ada@example.org", "parent": org}),
        json!({"phone": "3", "rawFlags": "p", "data": {"Data": null, "Other": {"n": 3}}}),
        json!({"phone": "4", "email": null, "parent": null}),
        json!({"firstName": null, "phone": "5"}),
    ] {
        api.patch(&at, &change).data();
        people.push(("delegate.updated".to_owned(), shown(&api, &at)));
    }
    let gone = || json!({"id": ada, "_type": "delegate"});
    api.delete(&at);
    people.push(("delegate.deleted".to_owned(), gone()));
    crew.press(&format!("/console/delegates/{ada}/restore"));
    people.push(("delegate.restored".to_owned(), shown(&api, &at)));
    api.patch(&at, &json!({"company": "Last"})).data();
    people.push(("delegate.updated".to_owned(), shown(&api, &at)));
    api.delete(&at);
    people.push(("delegate.deleted".to_owned(), gone()));
    // An event is changed under its own names and as the device that it is.
    let fair = api.event(&json!({"eventName": "Fair", "eventStartAt": "2026-11-21 09:00:00"}));
    let at = format!("/event/{fair}");
    let mut events = vec![("event.created".to_owned(), shown(&api, &at))];
    for (path, change) in [
        (
            "device",
            json!({"name": "Congress", "startAt": "2026-11-22 10:00:00"}),
        ),
        (
            "event",
            json!({"eventName": "Summit", "eventEndAt": "2026-11-23 18:00:00"}),
        ),
        (
            "device",
            json!({"name": null, "endAt": null, "description": "A device's alone"}),
        ),
        ("event", json!({"eventStartAt": null, "eventName": "Last"})),
    ] {
        api.patch(&format!("/{path}/id:{fair}"), &change).data();
        events.push(("event.updated".to_owned(), shown(&api, &at)));
    }
    press(&crew, webhook, "resume");
    receiver.wait_for(1 + people.len() + events.len());
    assert_eq!(of_record(&receiver, "delegate", ada), people);
    assert_eq!(of_record(&receiver, "event", fair), events);
}

#[test]
fn an_interaction_that_was_deleted_soon_is_told_as_it_was_and_then_by_its_id() {
    let (server, receiver) = (server(), Receiver::start());
    let deleted = ["interaction.deleted"];
    let (all, _) = told(&server, &receiver, &["*"], &deleted);
    let leads = Receiver::start();
    let of_hall = NewWebhook {
        devices: Some(set(&["hall"])),
        ..webhook("Leads", &leads.url(), &["lead"], &[])
    };
    let (some, _) = subscribe(&server, &of_hall);
    let (api, crew) = (server.caller_with_all(), server.administrator());
    let ada = api.delegate(&json!({"firstName": "Ada"}));
    let [hall, bar] = ["hall", "bar"].map(|code| api.device(&json!({"name": code, "code": code})));
    // What came before does not come again.
    let record = |kind: &str, device: i64| {
        let body = json!({"delegate": ada, "device": device, "data": {"said": "Hello"}});
        api.interacted(kind, &body)
    };
    let delete = |made: &Value| {
        api.delete(&format!("/interaction/id:{}", made["id"]));
    };
    let first = record("lead", hall);
    for receiver in [&receiver, &leads] {
        receiver.wait_for(1);
    }
    for webhook in [all, some] {
        press(&crew, webhook, "pause");
    }
    delete(&first);
    let made = [("lead", hall), ("seen", hall), ("lead", bar)].map(|(kind, at)| record(kind, at));
    made.iter().for_each(delete);
    let stayed = record("lead", hall);
    for webhook in [all, some] {
        press(&crew, webhook, "resume");
    }
    let came = receiver.wait_for(9);
    let told: Vec<Value> = came[1..].iter().map(|came| came.data().clone()).collect();
    let id = |made: &Value| json!({"id": made["id"], "_type": "interaction"});
    let [lead, seen, other] = &made;
    let order = [
        id(&first),
        lead.clone(),
        seen.clone(),
        other.clone(),
        id(lead),
        id(seen),
        id(other),
        stayed.clone(),
    ];
    assert_eq!(told, order);
    let of_hall = leads.wait_for(3);
    let told: Vec<&Value> = of_hall
        .iter()
        .map(super::receiver::Delivery::data)
        .collect();
    assert_eq!(told, [&first, lead, &stayed]);
}

#[test]
fn a_delivery_keeps_its_id_when_what_it_tells_of_is_deleted() {
    let server = server();
    let receiver = Receiver::that(|_| super::receiver::Act::Answer(500, ""));
    let (webhook, _) = told(&server, &receiver, &["*"], &["delegate.*"]);
    let (api, crew) = (server.caller_with_all(), server.administrator());
    let ada = api.delegate(&json!({"firstName": "Ada"}));
    receiver.wait_for(1);
    let hall = api.device(&json!({"name": "Hall"}));
    let seen = api.interact("seen", &json!({"device": hall})).id();
    receiver.wait("both", |came| {
        let told = |id: i64| came.iter().any(|came| came.data()["id"] == id);
        told(ada) && told(seen)
    });
    let ids = |name: &str| -> std::collections::BTreeSet<String> {
        let came = receiver.came().into_iter();
        let of = came.filter(|came| came.kind() == name);
        of.map(|came| came.id().to_owned()).collect()
    };
    api.delete(&format!("/interaction/id:{seen}"));
    api.delete(&format!("/delegate/id:{ada}"));
    let before = receiver.came().len();
    receiver.now(|_| super::receiver::Act::Answer(200, ""));
    press(&crew, webhook, "resume");
    let came = receiver.wait("both again", |came| {
        let again = |name: &str| came[before..].iter().any(|came| came.kind() == name);
        again("delegate.created") && again("interaction.created") && again("delegate.deleted")
    });
    let told = came[before..]
        .iter()
        .find(|came| came.kind() == "delegate.created");
    assert_eq!(told.expect("it came").data()["firstName"], "Ada");
    for name in ["delegate.created", "interaction.created"] {
        assert_eq!(ids(name).len(), 1, "{name}");
    }
}

#[test]
fn of_what_is_gone_for_good_the_ids_come_in_their_order() {
    let (server, receiver) = (server(), Receiver::start());
    let (webhook, _) = told(&server, &receiver, &["*"], &["*"]);
    let api = server.caller_with_all();
    let crew = server.administrator();
    press(&crew, webhook, "pause");
    let [ada, grace] =
        ["Quetzalcoatl", "Grace"].map(|name| api.delegate(&json!({"firstName": name})));
    let at = format!("/delegate/id:{ada}");
    api.patch(&at, &json!({"company": "Quetzalcoatl"})).data();
    let seen = api.interact("seen", &json!({"delegate": ada})).id();
    let deleted = api.interact("seen", &json!({"delegate": ada})).id();
    api.delete(&format!("/interaction/id:{deleted}"));
    // Another of the same person, so that its merger is gone as well.
    let other = api.delegate(&json!({"firstName": "Quetzalcoatl"}));
    server.write(move |tx, ctx| {
        use gatepost::{domain::delegates::merge::merge, types::DelegateId};
        merge(tx, ctx, DelegateId(ada), DelegateId(other), &set(&[]))
    });
    crew.erase(ada);
    let list = server.file("list.csv", "barcode,Name\nXochi,Xochimilco\n");
    server.done(&["import", "delegates", &list, "--key", "barcode"]);
    let imported: i64 = server.value("SELECT id FROM delegates WHERE barcode = 'Xochi'");
    server.done(&["import", "--undo", "1"]);
    press(&crew, webhook, "resume");
    receiver.wait("the end", |came| {
        came.iter().any(|came| came.kind() == "import.undone")
    });
    // Each record has an order of its own: the last of every one is waited for.
    let came = receiver.wait("the last of each", |came| {
        let last = [
            ("delegate.erased", ada),
            ("delegate.merged", other),
            ("delegate.created", imported),
            ("delegate.created", grace),
            ("interaction.created", seen),
            ("interaction.deleted", deleted),
        ];
        last.iter().all(|(kind, id)| {
            came.iter()
                .any(|came| came.kind() == *kind && came.data()["id"] == *id)
        })
    });
    for told in &came {
        lacks(&told.text, ["Quetzalcoatl", "Xochimilco"]);
    }
    let kinds = |name: &str, id: i64| -> Vec<String> {
        let of = of_record(&receiver, name, id);
        for (kind, data) in &of {
            assert_eq!(data, &json!({"id": id, "_type": name}), "{kind}");
        }
        of.into_iter().map(|(kind, _)| kind).collect()
    };
    let of_ada = kinds("delegate", ada);
    assert_eq!(of_ada[..2], ["delegate.created", "delegate.updated"]);
    assert_eq!(of_ada.last().map(String::as_str), Some("delegate.erased"));
    assert_eq!(
        kinds("delegate", other),
        ["delegate.created", "delegate.deleted", "delegate.merged"]
    );
    assert_eq!(kinds("interaction", seen), ["interaction.created"]);
    assert_eq!(
        kinds("interaction", deleted),
        ["interaction.created", "interaction.deleted"]
    );
    assert_eq!(kinds("delegate", imported), ["delegate.created"]);
    let other = of_record(&receiver, "delegate", grace);
    assert_eq!(other[0].1["firstName"], "Grace");
    assert_eq!(server.traces(&["Quetzalcoatl"]), [] as [&str; 0]);
}
