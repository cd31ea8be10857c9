//! A receiver that refuses, cuts, hangs, redirects, goes away and comes back.

use super::{
    await_value,
    receiver::{Act, Delivery, Receiver},
    server, subscribe, told, webhook,
};
use crate::{
    console::rehearsal::{go_back, take_snapshot},
    faults::process::until,
    harness::{Caller, Server},
};
use gatepost::identity::ConsoleRole;
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

fn n(delivery: &Delivery) -> i64 {
    delivery.data()["data"]["n"].as_i64().expect("a number")
}

/// Somebody's lead, numbered.
fn lead(caller: &Caller, of: i64, n: i64) {
    let body = json!({"delegate": of, "data": {"n": n}});
    caller.interact("lead", &body).id();
}

#[test]
fn what_is_not_taken_holds_back_its_own_person_and_nobody_else() {
    let server = server();
    let refuses = Arc::new(AtomicBool::new(true));
    let still = Arc::clone(&refuses);
    let receiver = Receiver::that(move |delivery| {
        let poisoned = delivery.data()["data"]["n"] == 1;
        if poisoned && still.load(Ordering::SeqCst) {
            Act::Answer(500, "I choke on this")
        } else {
            Act::Answer(200, "")
        }
    });
    let (id, secret) = told(&server, &receiver, &["lead"], &[]);
    let caller = server.caller_with_all();
    let [ada, grace] = ["Ada", "Grace"].map(|name| caller.delegate(&json!({"firstName": name})));
    for (of, n) in [
        (ada, 1),
        (grace, 11),
        (ada, 2),
        (grace, 12),
        (ada, 3),
        (grace, 13),
    ] {
        lead(&caller, of, n);
    }
    let came = receiver.wait("all of Grace's", |came| {
        came.iter().filter(|came| n(came) > 10).count() == 3
    });
    let graces: Vec<i64> = came.iter().map(n).filter(|n| *n > 10).collect();
    assert_eq!(graces, [11, 12, 13]);
    await_value(&server, "three wait", "SELECT count(*) FROM outbox", 3);
    // What waits names the person by id alone.
    let held: String =
        server.value("SELECT group_concat(ordering_key || coalesce(why, '')) FROM outbox");
    assert!(
        held.contains(&format!("delegate:{ada}the receiver answered 500")),
        "{held}"
    );
    let crew = server.crew(ConsoleRole::Operator);
    let page = crew.get(&format!("/console/webhooks/{id}")).shown();
    assert!(page.contains("3 after a failure"), "{page}");
    assert!(page.contains("I choke on this"));
    // It is tried again by itself, under the same id, and what waited follows in order.
    receiver.wait("another try", |came| {
        came.iter().filter(|came| n(came) == 1).count() >= 2
    });
    refuses.store(false, Ordering::SeqCst);
    crew.post(&format!("/console/webhooks/{id}/resume"), &[])
        .taken();
    let came = receiver.wait("the rest", |came| came.iter().any(|came| n(came) == 3));
    let of_ada: Vec<i64> = came.iter().map(n).filter(|n| *n < 10).collect();
    let tries = of_ada.iter().filter(|n| **n == 1).count();
    assert_eq!(of_ada[tries..], [2, 3]);
    let ids: BTreeSet<&str> = came
        .iter()
        .filter(|came| n(came) == 1)
        .map(Delivery::id)
        .collect();
    assert_eq!(ids.len(), 1);
    assert!(came.iter().all(|came| came.signed_by(&[&secret]) == [true]));
    await_value(&server, "nothing waits", "SELECT count(*) FROM outbox", 0);
}

#[test]
fn a_receiver_that_cuts_and_then_comes_back_is_told_everything_in_order() {
    let server = server();
    let receiver = Receiver::that(|_| Act::Cut);
    let (id, _) = told(&server, &receiver, &["lead"], &[]);
    let caller = server.caller_with_all();
    let ada = caller.delegate(&json!({"firstName": "Ada"}));
    for n in 1..=30 {
        lead(&caller, ada, n);
    }
    receiver.wait_for(2);
    // Nothing overtakes what was not taken of one person.
    assert_eq!(
        receiver.came().iter().map(n).collect::<BTreeSet<_>>().len(),
        1
    );
    receiver.now(|_| Act::Answer(202, ""));
    let came = receiver.wait("all of them", |came| came.iter().any(|came| n(came) == 30));
    let mut told: Vec<i64> = came.iter().map(n).collect();
    assert!(told.is_sorted());
    told.dedup();
    assert_eq!(told, (1..=30).collect::<Vec<_>>());
    let state = format!("SELECT failures FROM outbox_destinations WHERE name = 'webhook:{id}'");
    await_value(&server, "it is well again", &state, 0);
}

#[test]
fn a_receiver_that_hangs_holds_up_no_other_and_no_gate() {
    let server = server();
    let hangs = Receiver::that(|_| Act::Hang);
    let takes = Receiver::start();
    subscribe(&server, &webhook("Hangs", &hangs.url(), &["lead"], &[]));
    subscribe(&server, &webhook("Takes", &takes.url(), &["lead"], &[]));
    let caller = server.caller_with_all();
    let people: Vec<i64> = (0..40).map(|_| caller.delegate(&json!({}))).collect();
    for (of, n) in people.iter().zip(0..) {
        lead(&caller, *of, n);
    }
    takes.wait_for(40);
    assert!(hangs.came().len() <= gatepost::domain::webhooks::AT_ONCE);
    // After ten seconds each is tried again.
    hangs.now(|_| Act::Answer(200, ""));
    hangs.wait("all of them", |came| {
        let taken = came.iter().filter(|came| came.taken).map(n);
        taken.collect::<BTreeSet<_>>().len() == 40
    });
    assert_eq!(takes.came().len(), 40);
}

#[test]
fn a_receiver_that_is_away_for_long_makes_the_file_no_larger() {
    let server = server();
    let away = crate::loopback::listener();
    let url = format!("http://{}/in", away.local_addr().expect("an address"));
    drop(away);
    subscribe(&server, &webhook("Away", &url, &["*"], &["*"]));
    let caller = server.caller_with_all();
    let ada = caller.delegate(&json!({"firstName": "Ada"}));
    for round in 0..3 {
        let items: serde_json::Map<String, Value> = (0..1000)
            .map(|n| {
                let item = json!({"interactionType": "seen", "delegate": ada});
                (format!("{round}-{n}"), item)
            })
            .collect();
        caller
            .post("/interaction/batch", &json!({"interactions": items}))
            .data();
    }
    await_value(
        &server,
        "it fails",
        "SELECT count(*) FROM outbox_destinations WHERE failures >= 6",
        1,
    );
    assert_eq!(server.value::<i64>("SELECT count(*) FROM outbox"), 0);
    let attempts: i64 = server.value("SELECT count(*) FROM webhook_attempts");
    assert!(attempts < 20, "{attempts}");
    let crew = server.crew(ConsoleRole::Operator);
    let list = crew.get("/console/webhooks").shown();
    assert!(list.contains("failing") && list.contains("3001"), "{list}");
}

/// Moves what the file says about the past.
fn long_ago(server: &mut Server, days: i64) {
    let since = gatepost::types::Timestamp::now().0 - days * 24 * 3_600 * 1000;
    let past = format!(
        "UPDATE outbox_destinations SET failing_since = {since}, next_at = {since};
         UPDATE outbox SET next_at = {since}"
    );
    server.restart_after(|server| server.sql(&past));
}

#[test]
fn after_three_days_of_failure_it_stops_and_a_click_has_it_go_on() {
    let mut server = server();
    let receiver = Receiver::that(|_| Act::Answer(503, "later"));
    let (id, _) = told(&server, &receiver, &["lead"], &[]);
    let failing = "SELECT count(*) FROM outbox_destinations WHERE failing_since IS NOT NULL";
    let stopped = "SELECT count(*) FROM outbox_destinations WHERE paused_why = 'failing'";
    {
        let caller = server.caller_with_all();
        let ada = caller.delegate(&json!({"firstName": "Ada"}));
        for n in 1..=3 {
            lead(&caller, ada, n);
        }
        await_value(&server, "it fails", failing, 1);
    }
    long_ago(&mut server, 2);
    receiver.wait_for(receiver.came().len() + 1);
    assert_eq!(server.value::<i64>(stopped), 0);
    long_ago(&mut server, 3);
    await_value(&server, "it stops", stopped, 1);
    let tried = receiver.came().len();
    let crew = server.crew(ConsoleRole::Administrator);
    let at = format!("/console/webhooks/{id}");
    assert!(crew.get("/console/webhooks").shown().contains("stopped"));
    assert!(
        crew.get(&at)
            .shown()
            .contains("every delivery failed for three days")
    );
    let dashboard = crew.get("/console").shown();
    assert!(dashboard.contains("CRM"), "the dashboard tells");
    receiver.now(|_| Act::Answer(200, ""));
    // A test says whether it is worth while, and changes nothing.
    let tested = crew.post(&format!("{at}/test"), &[]);
    assert_eq!(tested.status, 303);
    assert!(crew.get(&at).shown().contains("Test delivered."));
    assert_eq!(server.value::<i64>(stopped), 1);
    crew.post(&format!("{at}/resume"), &[]).taken();
    let came = receiver.wait("the rest", |came| {
        came[tried..]
            .iter()
            .any(|came| came.data()["data"]["n"] == 3)
    });
    let told: Vec<_> = came[tried..]
        .iter()
        .filter_map(|came| came.data()["data"]["n"].as_i64())
        .collect();
    assert_eq!(told, [1, 2, 3]);
}

#[test]
fn a_receiver_that_says_it_is_no_more_is_left_alone() {
    let server = server();
    let receiver = Receiver::that(|_| Act::Answer(410, ""));
    let (id, _) = told(&server, &receiver, &["lead"], &[]);
    let caller = server.caller_with_all();
    let people = [0; 8].map(|_| caller.delegate(&json!({})));
    for of in people {
        lead(&caller, of, 1);
    }
    let gone = "SELECT count(*) FROM outbox_destinations WHERE paused_why = 'gone'";
    await_value(&server, "it stops", gone, 1);
    assert!(receiver.came().len() <= gatepost::domain::webhooks::AT_ONCE);
    let crew = server.crew(ConsoleRole::Operator);
    let page = crew.get(&format!("/console/webhooks/{id}")).shown();
    assert!(page.contains("gone for good (410)"));
    // Nothing is tried by itself, so that no time is told; and what there is to be done is.
    assert!(page.matches("Resume").count() >= 2, "{page}");
    let page = crew.get("/console/deliveries").shown();
    assert!(
        page.contains("Stopped at") && !page.contains("Next attempt at"),
        "{page}"
    );
    receiver.now(|_| Act::Answer(200, ""));
    let resumed = crew.post(&format!("/console/webhooks/{id}/resume"), &[]);
    resumed.taken();
    receiver.wait("all of it", |came| {
        let taken = came.iter().filter(|came| came.taken);
        let told = taken.map(|came| came.data()["firstDelegate"]["id"].as_i64());
        people
            .iter()
            .all(|of| told.clone().any(|told| told == Some(*of)))
    });
}

#[test]
fn a_redirect_is_not_followed_and_told_as_what_it_is() {
    let server = server();
    let target = Receiver::start();
    let location: &'static str = Box::leak(format!("Location: {}", target.url()).into_boxed_str());
    let receiver = Receiver::that(move |_| Act::With(307, location));
    told(&server, &receiver, &["lead"], &[]);
    let caller = server.caller_with_all();
    let ada = caller.delegate(&json!({}));
    lead(&caller, ada, 1);
    await_value(&server, "it waits", "SELECT count(*) FROM outbox", 1);
    let why: String = server.value("SELECT why FROM outbox");
    assert!(why.contains("redirects are not followed"), "{why}");
    assert!(target.came().is_empty());
}

#[test]
fn this_machine_is_told_nothing_unless_it_may_be() {
    let (server, receiver) = (Server::start(), Receiver::start());
    let port = receiver.address.port();
    let create = |url: &str| {
        let (ctx, new) = (server.context(), webhook("X", url, &["*"], &[]));
        server
            .app
            .store
            .write(move |tx| gatepost::domain::webhooks::store::create(tx, &ctx, &new, None))
            .wait()
    };
    for host in [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f.0.0.1",
        "0177.1",
        "0",
        "0.0.0.0",
        "169.254.169.254",
        "169.254.0.7",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[fe80::1]",
        "[64:ff9b::7f00:1]",
        "user:pass@192.168.1.7",
    ] {
        let refused = create(&format!("http://{host}:{port}/in")).expect_err(host);
        assert!(refused.to_string().starts_with("url:"), "{host}: {refused}");
    }
    for url in [
        "file:///etc/passwd",
        "gopher://x/",
        "//x/",
        "http:/x",
        "unix:/run/x",
    ] {
        create(url).expect_err(url);
    }
    // A name is judged when it is looked up.
    create(&format!("http://localhost:{port}/in")).expect("a name");
    let caller = server.caller_with_all();
    let ada = caller.delegate(&json!({}));
    lead(&caller, ada, 1);
    let refused = "SELECT count(*) FROM webhook_attempts WHERE answer LIKE '%loopback%'";
    until("it is refused", || server.value::<i64>(refused) > 0);
    assert!(receiver.came().is_empty());
    server.settings(&json!({"outgoing": {"allowLocal": true}}));
    receiver.wait_for(1);
}

#[test]
fn a_record_of_a_rehearsal_that_ended_is_told_by_its_id() {
    let server = server();
    let receiver = Receiver::that(|_| Act::Answer(500, ""));
    let (id, _) = told(&server, &receiver, &["*"], &["*"]);
    let api = server.caller_with_all();
    let crew = server.administrator();
    crew.press(&format!("/console/webhooks/{id}/pause"));
    let grace = api.delegate(&json!({"firstName": "Grace"}));
    take_snapshot(&crew);
    crew.press(&format!("/console/webhooks/{id}/resume"));
    let ada = api.delegate(&json!({"firstName": "Ada"}));
    api.patch(
        &format!("/delegate/id:{grace}"),
        &json!({"company": "Tried"}),
    )
    .data();
    let hall = api.device(&json!({"name": "Hall"}));
    let seen = api.interact("seen", &json!({"device": hall})).id();
    let pending = "SELECT count(*) FROM outbox";
    await_value(&server, "all of it waits", pending, 5);
    go_back(&crew);
    let before = receiver.came().len();
    receiver.now(|_| Act::Answer(200, ""));
    crew.post(&format!("/console/webhooks/{id}/resume"), &[])
        .taken();
    let came = receiver.wait("that the rehearsal ended", |came| {
        let taken = came[before..].iter();
        let mut kinds = taken.map(Delivery::kind);
        kinds.any(|kind| kind == "rehearsal.returned")
    });
    await_value(&server, "nothing waits", pending, 0);
    drop(came);
    let mut told: Vec<(String, Value)> = receiver.came()[before..]
        .iter()
        .filter(|came| came.kind() != "rehearsal.returned")
        .map(|came| (came.kind().to_owned(), came.data().clone()))
        .collect();
    told.sort_by_key(|(kind, data)| (kind.clone(), data["id"].as_i64()));
    let id = |kind: &str, name: &str, id: i64| (kind.to_owned(), json!({"id": id, "_type": name}));
    assert_eq!(
        told,
        [
            id("delegate.created", "delegate", grace),
            id("delegate.created", "delegate", ada),
            id("delegate.updated", "delegate", grace),
            id("device.created", "device", hall),
            id("interaction.created", "interaction", seen),
        ]
    );
}
