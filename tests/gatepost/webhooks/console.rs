//! Webhooks in the console: who may do what, secrets that are shown once, and what one sees.

use super::{
    receiver::{Act, Receiver},
    server, subscribe, told, webhook,
};
use crate::{
    console::{Crew, Page},
    harness::Server,
};
use gatepost::identity::ConsoleRole;
use serde_json::json;

const NEW: &str = "/console/webhooks/new";

fn form<'a>(url: &'a str, more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let mut form = vec![
        ("name", "CRM"),
        ("url", url),
        ("interactions", "some"),
        ("kind", "check-in"),
        ("kind", "lead"),
        ("others", "my-own, prize-won"),
        ("devices", "any"),
    ];
    form.extend_from_slice(more);
    form
}

/// The secret on the page that shows it once.
#[track_caller]
fn secret_of(crew: &Crew, made: Page) -> String {
    assert_eq!(made.taken(), "/console/access/made");
    let shown = crew.get("/console/access/made").shown();
    let after = shown.split("id=\"made-secret\">").nth(1).expect("a secret");
    let secret = after.split('<').next().expect("a secret").to_owned();
    assert!(secret.starts_with("whsec_"), "{secret}");
    let again = crew.get("/console/access/made").shown();
    assert!(!again.contains(&secret));
    secret
}

fn id(server: &Server) -> i64 {
    server.value("SELECT max(id) FROM webhooks")
}

#[test]
fn an_administrator_makes_one_and_sees_its_secret_once() {
    let (server, receiver) = (server(), Receiver::start());
    let crew = server.crew(ConsoleRole::Administrator);
    assert!(
        crew.get("/console/webhooks")
            .shown()
            .contains("No webhooks yet")
    );
    assert!(crew.get(NEW).shown().contains("order-cleared"));
    let url = receiver.url() + "?key=s3cret";
    let secret = secret_of(
        &crew,
        crew.post(NEW, &form(&url, &[("changes", "delegate.updated")])),
    );
    let at = format!("/console/webhooks/{}", id(&server));
    let page = crew.get(&at).shown();
    for shown in [
        "check-in, lead, my-own, prize-won",
        "delegate.updated",
        "no deliveries yet",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    let (list, edit) = (
        crew.get("/console/webhooks").shown(),
        crew.get(&format!("{at}/edit")).shown(),
    );
    assert!(edit.contains("my-own, prize-won") && edit.contains("s3cret"));
    for page in [&page, &list, &edit, &crew.get("/console/audit").shown()] {
        assert!(!page.contains(&secret));
    }
    let audited: String =
        server.value("SELECT group_concat(after) FROM audit WHERE record_type = 'webhook'");
    assert!(
        !audited.contains(&secret) && !audited.contains("s3cret"),
        "{audited}"
    );
    let caller = server.caller_with_all();
    let ada = caller.delegate(&json!({}));
    caller.interact("prize-won", &json!({"delegate": ada})).id();
    assert_eq!(receiver.wait_for(1)[0].signed_by(&[&secret]), [true]);
}

#[test]
fn what_cannot_be_is_told_beside_the_form() {
    let server = server();
    let crew = server.crew(ConsoleRole::Administrator);
    let fine = "http://192.168.1.5/in";
    for (fields, about) in [
        (form("crm", &[]), "no address such as"),
        (
            form("http://169.254.169.254/", &[]),
            "a cloud keeps secrets",
        ),
        (
            form(fine, &[("others", "My Own")]),
            "is no type of interaction",
        ),
        (
            form(fine, &[("changes", "delegate.eaten")]),
            "is none; there are delegate.created",
        ),
        (
            form(fine, &[("devices", "some")]),
            "Choose at least one device",
        ),
        (form(fine, &[("name", "")]), "Must have 1 to 100"),
    ] {
        // Later fields go before earlier ones of their name.
        let mut last: Vec<(&str, &str)> = Vec::new();
        for (name, value) in fields {
            if !["kind", "changes"].contains(&name) {
                last.retain(|(known, _)| *known != name);
            }
            last.push((name, value));
        }
        crew.post(NEW, &last).refused(422, about);
    }
    let nothing = [
        ("name", "X"),
        ("url", fine),
        ("interactions", "none"),
        ("devices", "any"),
    ];
    crew.post(NEW, &nothing)
        .refused(422, "nothing would be sent");
    crew.post(NEW, &form(fine, &[])).taken();
    crew.post(NEW, &form(fine, &[]))
        .refused(422, "nother webhook is called CRM");
    assert_eq!(server.value::<i64>("SELECT count(*) FROM webhooks"), 1);
}

#[test]
fn operators_see_and_send_again_and_change_nothing() {
    let (server, receiver) = (server(), Receiver::start());
    let new = webhook("CRM", &(receiver.url() + "?key=s3cret"), &["lead"], &[]);
    let (id, _) = subscribe(&server, &new);
    let caller = server.caller_with_all();
    let ada = caller.delegate(&json!({}));
    caller.interact("lead", &json!({"delegate": ada})).id();
    let first = receiver.wait_for(1)[0].clone();
    let at = format!("/console/webhooks/{id}");
    let operator = server.crew(ConsoleRole::Operator);
    crate::faults::process::until("the delivery is shown", || {
        operator.get(&at).shown().contains("delivered (200)")
    });
    let page = operator.get(&at).shown();
    assert!(page.contains("thanks") && !page.contains("s3cret") && !page.contains("rotate"));
    let attempt: i64 = server.value("SELECT max(id) FROM webhook_attempts");
    operator
        .post(
            &format!("{at}/resend"),
            &[("attempt", &attempt.to_string())],
        )
        .taken();
    let second = receiver.wait_for(2)[1].clone();
    assert_eq!((first.id(), &first.text), (second.id(), &second.text));
    for end in ["pause", "skip", "test", "rotate", "remove"] {
        operator
            .post(&format!("{at}/{end}"), &[])
            .refused(403, "administrator");
    }
    operator
        .get(&format!("{at}/edit"))
        .refused(403, "administrator");
    let viewer = server.crew(ConsoleRole::Viewer);
    viewer.get("/console/webhooks").refused(403, "operator");
    operator
        .post(&format!("{at}/resend"), &[("attempt", "999")])
        .refused(400, "not kept any more");
}

#[test]
fn a_new_secret_signs_beside_the_old_one_until_that_is_cut_off() {
    let (server, receiver) = (server(), Receiver::start());
    let (id, first) = told(&server, &receiver, &["lead"], &[]);
    let crew = server.crew(ConsoleRole::Administrator);
    let caller = server.caller_with_all();
    let ada = caller.delegate(&json!({}));
    let at = format!("/console/webhooks/{id}");
    let mut count = 0;
    let mut next = || {
        caller.interact("lead", &json!({"delegate": ada})).id();
        count += 1;
        receiver.wait_for(count)[count - 1].clone()
    };
    assert_eq!(next().signed_by(&[&first]), [true]);
    let second = secret_of(&crew, crew.post(&format!("{at}/rotate"), &[]));
    assert!(
        crew.get(&at)
            .shown()
            .contains("The previous secret also signs")
    );
    assert_eq!(next().signed_by(&[&first, &second]), [true, true]);
    // A day later.
    server.sql("UPDATE webhooks SET previous_until = previous_until - 24 * 3600 * 1000");
    assert_eq!(next().signed_by(&[&first, &second]), [false, true]);
    let third = secret_of(
        &crew,
        crew.post(&format!("{at}/rotate"), &[("at_once", "1")]),
    );
    assert_eq!(next().signed_by(&[&second, &third]), [false, true]);
}

#[test]
fn a_test_tells_what_came_back() {
    let (server, receiver) = (server(), Receiver::start());
    let (id, secret) = told(&server, &receiver, &["lead"], &[]);
    let crew = server.crew(ConsoleRole::Administrator);
    let at = format!("/console/webhooks/{id}");
    let try_out = || {
        crew.post(&format!("{at}/test"), &[]).taken();
        crew.get(&at).shown()
    };
    assert!(try_out().contains("Test delivered. The receiver answered 200: thanks"));
    let came = receiver.wait_for(1);
    assert_eq!(came[0].kind(), "webhook.test");
    assert_eq!(came[0].signed_by(&[&secret]), [true]);
    receiver.now(|_| Act::Answer(401, "<script>alert(1)</script>"));
    let page = try_out();
    assert!(
        page.contains("Test failed. The receiver answered 401"),
        "{page}"
    );
    assert!(!page.contains("<script>alert"));
    server.settings(&json!({"outgoing": null}));
    assert!(try_out().contains("this machine itself (loopback)"));
}

#[test]
fn two_who_change_one_webhook_do_not_undo_each_other() {
    let (server, receiver) = (server(), Receiver::start());
    let (id, _) = told(&server, &receiver, &["lead"], &[]);
    let crew = server.crew(ConsoleRole::Administrator);
    let edit = format!("/console/webhooks/{id}/edit");
    let before = crew.get(&edit).version();
    let url = receiver.url();
    crew.post(&edit, &form(&url, &[("version", &before)]))
        .taken();
    let second = crew.post(
        &edit,
        &form("https://crm.example.org/", &[("version", &before)]),
    );
    second.refused(422, "changed this while you did");
    second.refused(422, "Address is now");
    second.refused(422, "https://crm.example.org/");
    // Told of it, the second saves again.
    let version = second.version();
    crew.post(&edit, &form("nonsense", &[("version", &version)]))
        .refused(422, "no address such as");
    crew.post(&edit, &form(&url, &[("version", &version)]))
        .taken();
}

#[test]
fn what_is_never_taken_can_be_given_up() {
    let server = server();
    let receiver = Receiver::that(|delivery| {
        if delivery.data()["data"]["n"] == 1 {
            Act::Answer(400, "")
        } else {
            Act::Answer(200, "")
        }
    });
    let (id, _) = told(&server, &receiver, &["lead"], &[]);
    let caller = server.caller_with_all();
    let ada = caller.delegate(&json!({}));
    let first = caller
        .interact("lead", &json!({"delegate": ada, "data": {"n": 1}}))
        .id();
    caller
        .interact("lead", &json!({"delegate": ada, "data": {"n": 2}}))
        .id();
    super::await_value(&server, "both wait", "SELECT count(*) FROM outbox", 2);
    let crew = server.crew(ConsoleRole::Administrator);
    let deliveries = format!("/console/deliveries?destination=webhook:{id}");
    let page = crew.get(&deliveries).shown();
    assert!(
        page.contains("Some deliveries fail: the receiver answered 400")
            && page.contains("Webhook"),
        "{page}"
    );
    let row: i64 = server.value(&format!(
        "SELECT id FROM outbox WHERE source = 'interaction' AND source_id = {first}"
    ));
    let at = format!("/console/deliveries/{row}/cancel");
    crew.post(&at, &[]).taken();
    receiver.wait("the second", |came| {
        came.iter().any(|came| came.data()["data"]["n"] == 2)
    });
    super::await_value(&server, "nothing waits", "SELECT count(*) FROM outbox", 0);
    crew.post(&at, &[]).refused(404, "not pending any more");
}
