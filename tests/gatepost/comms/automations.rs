//! Automations: what is sent by itself, and above all what is not.

use super::Post;
use crate::harness::{lacks, typed};
use crate::{console::Crew, faults::process::until};
use gatepost::{
    domain::messages::automations::{self, Entry},
    identity::ConsoleRole,
};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};

fn automate(post: &Post, entry: &Value) -> i64 {
    let entry: Entry = serde_json::from_value(entry.clone()).expect("an entry");

    post.server
        .write(move |tx, ctx| automations::save(tx, ctx, None, &entry))
}

/// What texts were sent to, once everything up to now was looked at: a last order of somebody else
/// tells.
#[track_caller]
fn texts(post: &Post) -> Vec<String> {
    static LAST: AtomicUsize = AtomicUsize::new(0);
    let phone = format!("+49998{:06}", LAST.fetch_add(1, Ordering::Relaxed));
    let api = post.server.caller_with_all();
    let last = api.delegate(&json!({"firstName": "Last", "phone": phone}));
    api.interact("order-cleared", &json!({"delegate": last}))
        .id();
    until("the last text is sent", || {
        post.provider
            .calls()
            .iter()
            .any(|call| call.body.contains(&phone))
    });
    // Several leave at once, and the last may be quicker than those before it.
    until("all texts are sent", || {
        let waiting = "SELECT count(*) FROM messages WHERE state IN ('waiting', 'sending')";
        post.server.value::<i64>(waiting) == 0
    });
    let texts = post
        .provider
        .calls()
        .into_iter()
        .map(|call| {
            let body: Value = serde_json::from_str(&call.body).expect("JSON");
            body["text"].as_str().expect("a text").to_owned()
        })
        .filter(|text| !text.contains("Last"));
    let mut texts: Vec<String> = texts.collect();
    texts.sort();
    texts
}

#[test]
fn a_cleared_order_sends_a_text_out_of_the_box() {
    let post = Post::open();
    let api = post.server.caller_with_all();
    api.interact("order-cleared", &json!({"delegate": post.ada}))
        .id();
    // Of other types, and for somebody without a phone, nothing is sent.
    api.interact("order", &json!({"delegate": post.ada})).id();
    let bob = api.delegate(&json!({"firstName": "Bob"}));
    api.interact("order-cleared", &json!({"delegate": bob}))
        .id();
    assert_eq!(texts(&post), ["Hello Ada, your order is ready. Summit"]);
    let origin: String = post
        .server
        .value("SELECT origin FROM messages WHERE id = 1");
    assert_eq!(origin, "automation:Order is ready");
}

#[test]
fn before_there_is_a_gateway_nothing_is_kept_for_later() {
    let post = Post::open();
    post.server.sql("DELETE FROM gateways");
    let api = post.server.caller_with_all();
    api.interact("order-cleared", &json!({"delegate": post.ada}))
        .id();
    let id = api
        .interact("order-cleared", &json!({"delegate": post.ada}))
        .id();
    // It has been looked at once the place in the file is past it.
    until("it was looked at", || {
        post.server.value::<i64>(
            "SELECT coalesce((SELECT value FROM counters WHERE name = 'automations'), 0)",
        ) >= id
    });
    post.set("sms", &post.http("/sms"));
    assert_eq!(texts(&post), Vec::<String>::new());
    assert_eq!(post.count(), 1);
}

#[test]
fn where_who_and_when_are_looked_at() {
    let post = Post::open();
    let api = post.server.caller_with_all();
    let event = api.device(&json!({"name": "Summit", "deviceType": "event", "code": "summit"}));
    let room = api.device(&json!({"name": "Room", "parent": event}));
    let other = api.device(&json!({"name": "Other"}));
    for (slug, text) in [
        ("anywhere", "A"),
        ("event", "E"),
        ("vip", "V {{ interaction.data.seat }}"),
    ] {
        post.template(&json!({"type": "sms", "slug": slug, "content": format!("{text} {{{{ delegate.firstName }}}}")}));
    }
    automate(
        &post,
        &json!({"name": "a", "interactionType": "check-in", "type": "sms", "template": "anywhere"}),
    );
    automate(
        &post,
        &json!({"name": "e", "interactionType": "check-in", "device": "summit", "type": "sms", "template": "event"}),
    );
    automate(
        &post,
        &json!({"name": "v", "interactionType": "check-in", "delegateType": "vip", "type": "sms", "template": "vip"}),
    );
    automate(
        &post,
        &json!({"name": "off", "active": false, "interactionType": "check-in", "type": "sms", "template": "anywhere"}),
    );
    let vip =
        api.delegate(&json!({"firstName": "Vic", "phone": "+49 40 777777", "delegateType": "vip"}));
    api.scan("check-in", post.ada, room).id();
    api.interact(
        "check-in",
        &json!({"delegate": vip, "device": other, "data": {"seat": "12"}}),
    )
    .id();
    api.scan("lead", vip, room).id();
    // An app was offline for two hours.
    let then = gatepost::types::Timestamp::now().0 / 1_000 - 7_200;
    api.interact(
        "check-in",
        &json!({"delegate": vip, "device": room, "recordedAt": then}),
    )
    .id();
    assert_eq!(texts(&post), ["A Ada", "A Vic", "E Ada", "V 12 Vic"]);
}

#[test]
fn what_is_imported_deleted_or_brought_back_sends_nothing() {
    let post = Post::open();
    let crew = post.server.administrator();
    let api = post.server.caller_with_all();
    api.interact("order-cleared", &json!({"delegate": post.ada}))
        .id();
    assert_eq!(texts(&post).len(), 1);
    // Back to a snapshot: nothing of before is sent again, whatever comes back.
    crew.press("/console/settings/rehearsal/snapshot");
    api.interact("order-cleared", &json!({"delegate": post.ada}))
        .id();
    assert_eq!(texts(&post).len(), 2);
    let here = "/console/settings/rehearsal";
    let html = crew.page(here);
    let form = html.split("/rehearsal/return").nth(1).expect("a form");
    let snapshot = form
        .split("name=\"snapshot\" value=\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .expect("a snapshot")
        .to_owned();
    crew.post(
        "/console/settings/rehearsal/return",
        &[("snapshot", &snapshot), ("words", "go back")],
    )
    .taken();
    // A list of old interactions.
    let list = post.server.folder.path().join("orders.csv");
    std::fs::write(
        &list,
        "interactionType,firstDelegate,recordedAt\norder-cleared,barcode:ADA-1,2026-11-21 09:00:00\n",
    )
    .expect("a list");
    post.server
        .done(&["import", "interactions", list.to_str().expect("a name")]);
    let texts = texts(&post);
    assert_eq!(texts.len(), 2, "{texts:?}");
}

#[test]
fn a_restart_goes_on_where_it_stopped() {
    let mut post = Post::open();
    post.server
        .caller_with_all()
        .interact("order-cleared", &json!({"delegate": post.ada}))
        .id();
    assert_eq!(texts(&post).len(), 1);
    post.server.restart();
    assert_eq!(texts(&post).len(), 1);
    // While it was away, another process wrote one.
    let api = post.server.caller_with_all();
    api.interact("order-cleared", &json!({"delegate": post.ada}))
        .id();
    assert_eq!(texts(&post).len(), 2);
}

#[test]
fn automations_are_made_switched_and_removed_in_the_console() {
    let post = Post::open();
    let crew = post.server.administrator();
    let here = "/console/messages/automations";
    let form = typed(
        "name=Welcome&interactionType=check-in&template=sms:order-cleared&withinMinutes=30&\
         active=1",
    );
    // What it sends is for somebody to choose.
    crew.sees(&format!("{here}/new"), "Choose …");
    crew.post(&format!("{here}/new"), &form).taken();
    crew.sees(here, "Welcome");
    for (field, value, about) in [
        ("name", "Order is ready", "already"),
        ("name", "", "Must have 1 to 100"),
        ("interactionType", "Check In", "malformed"),
        ("template", "sms:nothing", "cannot be chosen"),
        ("template", "", "Choose one"),
        ("withinMinutes", "0", "Must be from 1 to"),
        ("device", "nowhere", "cannot be chosen"),
    ] {
        let mut wrong = form.clone();
        wrong.retain(|(name, _)| *name != field);
        if field != "name" {
            wrong.retain(|(name, _)| *name != "name");
            wrong.push(("name", "Another"));
        }
        wrong.push((field, value));
        crew.post(&format!("{here}/new"), &wrong)
            .refused(422, about);
    }
    let id: i64 = post
        .server
        .value("SELECT id FROM automations WHERE name = 'Welcome'");
    // Two open it; the second is told.
    let edit = format!("{here}/{id}");
    let version = crew.get(&edit).version();
    let mut change = form.clone();
    change.extend([("version", version.as_str()), ("delegateType", "vip")]);
    crew.post(&edit, &change).taken();
    change.push(("delegateType", "guest"));
    change.remove(form.len() + 1);
    let told = crew.post(&edit, &change);
    told.refused(422, "changed this while you did");
    told.refused(422, "Attendees of this type is now");
    post.server
        .console_user("op@example.com", ConsoleRole::Operator);
    let operator = Crew::sign_in(&post.server, "op@example.com");
    operator
        .post(&format!("{here}/{id}/switch"), &[("active", "off")])
        .taken();
    let on: i64 = post
        .server
        .value(&format!("SELECT active FROM automations WHERE id = {id}"));
    assert_eq!(on, 0);
    operator
        .post(&format!("{here}/{id}/remove"), &[])
        .refused(403, "needs the role");
    crew.press(&format!("{here}/{id}/remove"));
    lacks(crew.page(here), "Welcome");
    let audited = post.server.count("audit WHERE record_type = 'automation'");
    assert_eq!(audited, 4);
}

#[test]
fn check_outs_of_everybody_send_nothing() {
    let post = Post::open();
    post.template(
        &json!({"type": "sms", "slug": "bye", "content": "Bye {{ delegate.firstName }}"}),
    );
    automate(
        &post,
        &json!({"name": "b", "interactionType": "check-out", "type": "sms", "template": "bye"}),
    );
    let api = post.server.caller_with_all();
    let moment = (jiff::Timestamp::now().as_second() - 300) / 60 * 60;
    let time = jiff::Timestamp::from_second(moment)
        .expect("a time")
        .strftime("%H:%M")
        .to_string();
    let hall = api.device(&json!({"name": "Hall", "data": {"Access": {"everybodyOutAt": time}}}));
    post.server
        .sql("UPDATE everybody_out SET since = since - 172800000");
    let late = json!({"firstDelegate": post.ada, "firstDevice": hall, "recordedAt": moment - 60, "admitted": true});
    api.interact("check-in", &late).is(201);
    let left = "SELECT count(*) FROM interactions WHERE interaction_type = 'check-out'";
    assert_eq!(post.server.value::<i64>(left), 1);
    assert_eq!(texts(&post), Vec::<String>::new());
    api.scan("check-out", post.ada, hall).is(201);
    assert_eq!(texts(&post).len(), 1);
}
