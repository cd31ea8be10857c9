//! The outbox: what is tried again, what is not, and what people decide.

use super::{Post, smtp::Act};
use crate::{
    erasure::memmem,
    faults::process::{beside, until},
};
use gatepost::{db::Tx, domain::messages, identity::ConsoleRole};
use serde_json::json;

/// Puts the welcome to Ada into the outbox, as somebody of the crew does: its id.
fn welcome(post: &Post) -> i64 {
    let template = post.welcome();
    let crew = post.server.crew(ConsoleRole::Operator);
    let led = crew
        .post(
            &format!("/console/messages/templates/{template}"),
            &[
                ("type", "email"),
                ("delegate", "barcode:ADA-1"),
                ("do", "send"),
            ],
        )
        .taken();
    led.rsplit('/')
        .next()
        .expect("an id")
        .parse()
        .expect("an id")
}

/// Puts a code into the outbox, as one-time passwords are: its id.
fn secret(post: &Post, to: &'static str, code: &str) -> i64 {
    let (app, ctx) = (post.server.app.clone(), post.server.context());
    let (subject, text) = (format!("Secret for {to}"), format!("Your code is {code}"));
    let put = move |tx: &Tx<'_>| {
        messages::enqueue_secret(tx, &ctx, &app.secret_message_bodies, to, &subject, text)
    };
    post.server.app.store.write(put).wait().expect("a message")
}

/// Waits until the first attempt at a message has failed.
fn tried(post: &Post, id: i64) {
    let sql = format!(
        "SELECT count(*) FROM messages WHERE id = {id} AND state = 'waiting' AND attempts > 0"
    );
    until("the first attempt has failed", || {
        post.server.value::<i64>(&sql) == 1
    });
}

#[test]
fn what_was_certainly_not_taken_is_tried_again_until_it_is() {
    let post = Post::open();
    post.mail.act(&[
        Act::GoneAt(""),
        Act::Answer("AUTH", "535 wrong"),
        Act::AnswerMessage("451 later"),
    ]);
    let id = welcome(&post);
    post.until(id, "sent");
    // Refused mails came, too; but only one was taken.
    assert_eq!(post.mail.connections(), 4);
    let kept: i64 = post
        .server
        .value("SELECT (SELECT count(*) FROM outbox) + 10 * attempts FROM messages");
    assert_eq!(kept, 40);
}

#[test]
fn after_ten_refusals_it_has_failed_but_an_unreachable_gateway_uses_up_none() {
    let post = Post::open();
    let mut acts = vec![Act::GoneAt("MAIL"); 2];
    acts.extend([Act::Answer("RCPT", "451 full"); 20]);
    post.mail.act(&acts);
    let id = welcome(&post);
    until("it has failed", || {
        post.later();
        post.state(id) == "failed"
    });
    assert_eq!(post.mail.connections(), 12);
}

#[test]
fn what_is_stuck_is_shown_and_a_click_sends_it() {
    let post = Post::open();
    post.mail
        .act(&[Act::Answer("AUTH", "535 wrong password"); 50]);
    let id = welcome(&post);
    let crew = post.server.crew(ConsoleRole::Administrator);
    let path = "/console/deliveries";
    for page in ["/console", path] {
        until("the gateway is shown as failing", || {
            let page = crew.get(page).shown();
            page.contains("E-mails")
                && page.contains("535")
                && page.contains("1 delivery is pending")
        });
    }
    assert!(crew.get(path).shown().contains(&format!("message {id}")));
    let viewer = post.server.crew(ConsoleRole::Viewer);
    viewer.get(path).refused(403, "operator");
    post.mail.act(&[]);
    let retry = format!("{path}/retry");
    for unknown in ["nobody", "webhook:99"] {
        crew.post(&retry, &[("destination", unknown)])
            .refused(404, "");
    }
    crew.post(&retry, &[("destination", "email")]).taken();
    post.until(id, "sent");
    until("nothing is stuck", || {
        let page = crew.get(path).shown();
        page.contains("Every destination accepts") && page.contains("Nothing is pending")
    });

    // What fails for good, and what nobody knows, is shown beside it; what waits can be cancelled.
    post.mail.act(&[Act::GoneAfterMessage]);
    let unknown = secret(&post, "bob@example.org", "123456");
    post.until(unknown, "unknown");
    let page = crew.get(path).shown();
    assert!(page.contains(&format!("/console/messages/{unknown}")));
    // One is not every delivery.
    assert!(page.contains("Every destination accepts"), "{page}");
    post.mail.act(&[Act::GoneAt(""); 50]);
    let waits = secret(&post, "eve@example.org", "123456");
    let pending = format!("SELECT coalesce(max(id), 0) FROM outbox WHERE source_id = {waits}");
    until("it waits", || post.server.value::<i64>(&pending) > 0);
    let row: i64 = post.server.value(&pending);
    viewer
        .post(&format!("{path}/{row}/cancel"), &[])
        .refused(403, "administrator");
    until("it is cancelled", || {
        crew.post(&format!("{path}/{row}/cancel"), &[]);
        post.state(waits) == "cancelled"
    });
}

#[test]
fn what_may_have_been_taken_is_sent_again_by_a_person_only() {
    let post = Post::open();
    post.mail.act(&[Act::GoneAfterMessage]);
    let id = welcome(&post);
    post.until(id, "unknown");
    post.later();
    // Another message goes its way meanwhile, so the outbox has been looked through.
    let other = secret(&post, "bob@example.org", "123456");
    post.until(other, "sent");
    assert_eq!(post.state(id), "unknown");
    let path = format!("/console/messages/{id}");
    let viewer = post.server.crew(ConsoleRole::Viewer);
    assert!(!viewer.get(&path).shown().contains("Send again"));
    viewer
        .post(&format!("{path}/resend"), &[])
        .refused(403, "needs the role");
    let crew = post.server.crew(ConsoleRole::Administrator);
    assert!(crew.get(&path).shown().contains("It may have arrived"));
    crew.post(&format!("{path}/resend"), &[]).taken();
    post.until(id, "sent");
    crew.post(&format!("{path}/resend"), &[])
        .refused(422, "is sent by now");
    let audited: i64 = post
        .server
        .value("SELECT count(*) FROM audit WHERE record_type = 'message' AND action = 'resend'");
    assert_eq!(audited, 1);
    assert_eq!(post.mail.wait_for(3).len(), 3);
}

#[test]
fn what_waits_can_be_called_back_and_goes_to_the_address_of_now_when_resent() {
    let post = Post::open();
    post.mail.act(&[Act::GoneAt(""); 50]);
    let id = welcome(&post);
    tried(&post, id);
    let crew = post.server.crew(ConsoleRole::Administrator);
    let path = format!("/console/messages/{id}");
    until("it is called back", || {
        crew.post(&format!("{path}/cancel"), &[]);
        post.state(id) == "cancelled"
    });
    post.mail.act(&[]);
    crew.post(&format!("{path}/cancel"), &[])
        .refused(422, "cancelled by now");
    let caller = post.server.caller_with_all();
    let ada = format!("/delegate/id:{}", post.ada);
    caller
        .patch(&ada, &json!({"email": "lovelace@example.org"}))
        .data();
    crew.post(&format!("{path}/resend"), &[]).taken();
    post.until(id, "sent");
    assert_eq!(
        post.mail.wait_for(1)[0].to,
        "RCPT TO:<lovelace@example.org>"
    );
}

#[test]
fn what_waits_goes_nowhere_once_it_is_late_its_delegate_is_gone_or_messages_are_off() {
    let post = Post::open();
    post.mail.act(&[Act::GoneAt(""); 90]);
    let id = welcome(&post);
    until("the first attempt has failed", || {
        post.state(id) == "waiting"
    });
    post.server
        .settings(&json!({"communications": {"enabled": false}}));
    post.later();
    // A message to a user goes in any case.
    let other = secret(&post, "bob@example.org", "123456");
    until("its attempts begin", || post.mail.connections() >= 2);
    assert_eq!(post.state(id), "waiting");
    let late = format!("UPDATE outbox SET expires_at = 1 WHERE source_id IN ({id}, {other})");
    post.server.sql(&late);
    post.until(id, "failed");
    post.until(other, "failed");
    let (_, why) = post.newest();
    assert!(why.contains("in time"), "{why}");

    post.server.settings(&json!({"communications": null}));
    let crew = post.server.crew(ConsoleRole::Administrator);
    crew.post(&format!("/console/messages/{id}/resend"), &[])
        .taken();
    until("the attempt has failed", || {
        post.state(id) == "waiting" && post.newest().0 == "failed"
    });
    let ada = format!("/delegate/id:{}", post.ada);
    assert_eq!(post.server.caller_with_all().delete(&ada).status, 204);
    until("it is cancelled", || {
        post.later();
        post.state(id) == "cancelled"
    });
    assert_eq!(post.mail.mails().len(), 0);
}

#[test]
fn a_secret_is_shown_to_nobody_and_stands_nowhere_in_the_file() {
    let post = Post::open();
    let repeated = "451 later: this is spam: Your code is 918273";
    post.mail.act(&[Act::AnswerMessage(repeated); 50]);
    let id = secret(&post, "bob@example.org", "918273");
    tried(&post, id);
    let why = post.newest().1;
    assert!(why.contains("this is spam: Your code is •••"), "{why}");
    let (file, log) = (post.server.path(), beside(&post.server.path(), "-wal"));
    let bytes = [file, log].map(|path| std::fs::read(path).expect("a file"));
    let holds = |text: &str| {
        let mut bytes = bytes.iter();
        bytes.any(|bytes| memmem(bytes, text.as_bytes()))
    };
    assert!(holds("Secret for bob@example.org") && !holds("918273"));
    let crew = post.server.crew(ConsoleRole::Administrator);
    for path in [
        "/console/messages".to_owned(),
        format!("/console/messages/{id}"),
        "/console/audit".to_owned(),
    ] {
        assert!(!crew.get(&path).shown().contains("918273"), "{path}");
    }
    assert_eq!(
        crew.get(&format!("/console/messages/{id}/page")).status,
        404
    );
    post.mail.act(&[]);
    post.later();
    post.until(id, "sent");
    let mails = post.mail.mails();
    let mail = &mails.last().expect("a mail").text;
    assert!(mail.contains("Your code is 918273"));
    assert!(!mail.contains("/o/"), "no picture in what goes to a user");
    assert_eq!(post.server.app.secret_message_bodies.find(id), None);
    let none = secret(&post, "nobody", "918273");
    assert_eq!(post.state(none), "failed");
    crew.post(&format!("/console/messages/{none}/resend"), &[])
        .refused(422, "held a secret");
}

#[test]
fn a_secret_that_waits_is_lost_with_the_process() {
    let mut post = Post::open();
    post.mail.act(&[Act::GoneAt(""); 50]);
    let id = secret(&post, "bob@example.org", "918273");
    tried(&post, id);
    post.server.restart();
    post.until(id, "failed");
    post.mail.act(&[]);
    assert!(post.newest().1.contains("have a new one sent"));
    post.later();
    // What comes later goes its way; by then this one would have, too.
    let other = secret(&post, "bob@example.org", "546372");
    post.until(other, "sent");
    let mails = post.mail.wait_for(1);
    assert!(mails.len() == 1 && mails[0].text.contains("546372"));
}

#[test]
fn erasing_a_person_takes_their_messages_along() {
    let post = Post::open();
    let id = welcome(&post);
    post.until(id, "sent");
    secret(&post, "ADA@example.org", "1");
    secret(&post, "bob@example.org", "2");
    let crew = post.server.crew(ConsoleRole::Administrator);
    let ada = post.ada.to_string();
    crew.post(
        &format!("/console/delegates/{ada}/erase"),
        &[("confirm", &ada)],
    )
    .taken();
    let left: String = post
        .server
        .value("SELECT group_concat(address) FROM messages");
    assert_eq!(left, "bob@example.org");
    crew.get(&format!("/console/messages/{id}"))
        .refused(404, "No such message");
}

#[test]
fn what_went_to_nobody_in_the_list_goes_after_a_month() {
    let mut post = Post::open();
    let to_ada = welcome(&post);
    let to_bob = secret(&post, "bob@example.org", "918273");
    let lately = secret(&post, "eve@example.org", "546372");
    for id in [to_ada, to_bob, lately] {
        post.until(id, "sent");
    }
    let day_ms = 24 * 3_600 * 1_000_i64;
    post.server.sql(&format!(
        "UPDATE messages SET created_at = created_at - 31 * {day_ms} WHERE id IN ({to_ada}, {to_bob});
         UPDATE messages SET created_at = created_at - 29 * {day_ms} WHERE id = {lately}"
    ));
    // As it does at every start, and each hour after it.
    post.server.restart();
    until("the old one goes", || {
        let left = format!("SELECT count(*) FROM messages WHERE id = {to_bob}");
        post.server.value::<i64>(&left) == 0
    });
    assert_eq!(
        (post.state(to_ada), post.state(lately)),
        ("sent".into(), "sent".into())
    );
}
