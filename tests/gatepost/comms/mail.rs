//! E-mail: what goes over the wire, and what becomes of it when the wire is cut.

use super::{PASSWORD, Post, sender, smtp::Act};
use crate::harness::{has, lacks};
use serde_json::json;

#[test]
fn an_email_goes_to_the_mail_server_and_is_found_by_searches() {
    let post = Post::open();
    let id = post.welcome();
    assert_eq!(
        post.flags(&json!({"email_id": id, "delegate_id": post.ada})),
        (false, true)
    );
    let mails = post.mail.wait_for(1);
    let mail = &mails[0];
    assert_eq!(mail.from, "MAIL FROM:<summit@example.org>");
    assert_eq!(mail.to, "RCPT TO:<ada@example.org>");
    assert!(mail.auth.starts_with("AUTH PLAIN "), "{}", mail.auth);
    has(
        &mail.text,
        [
            "From: Summit <summit@example.org>",
            "To: ada@example.org",
            "Subject: Welcome to Summit, Ada",
            "Auto-Submitted: auto-generated",
            "Message-ID: <gatepost.",
            "Hello Ada",
            "<p>Hello <b>Ada</b></p>",
        ],
    );
    let api = post.server.caller_with_all();
    for (search, found) in [
        (json!({"comms": ["email", "welcome"]}), 1),
        (json!({"comms": ["sms", "welcome"]}), 0),
    ] {
        let search: String =
            form_urlencoded::byte_serialize(search.to_string().as_bytes()).collect();
        let reply = api.get(&format!("/delegate/list?search={search}"));
        assert_eq!(reply.list().len(), found);
    }
}

#[test]
fn what_became_of_a_mail_is_told_however_the_server_behaves() {
    let post = Post::open();
    let id = post.welcome();
    let ask = json!({"email_id": id, "delegate_id": post.ada});
    for (act, state, about) in [
        (Act::GoneAt(""), "failed", "cannot be reached"),
        (Act::GoneAt("EHLO"), "failed", "cannot be reached"),
        (
            Act::Answer("EHLO", "554 go away"),
            "failed",
            "cannot be reached",
        ),
        (Act::GoneAt("AUTH"), "failed", "sign in"),
        (
            Act::Answer("AUTH", "535 5.7.8 wrong password"),
            "failed",
            "wrong password",
        ),
        (Act::GoneAt("MAIL"), "failed", "mail from us"),
        (Act::Answer("MAIL", "451 later"), "failed", "later"),
        (Act::GoneAt("RCPT"), "failed", "this address"),
        (
            Act::Answer("RCPT", "550 5.1.1 no such mailbox"),
            "failed",
            "no such mailbox",
        ),
        (Act::Answer("RCPT", "450 4.2.1 full"), "failed", "full"),
        (Act::GoneAt("DATA"), "failed", "does not take the message"),
        (
            Act::Answer("DATA", "554 no"),
            "failed",
            "does not take the message",
        ),
        // From here on it may have been accepted.
        (Act::GoneInMessage, "unknown", "cut off"),
        (Act::GoneAfterMessage, "unknown", "cut off"),
        (Act::AnswerMessage("garbage"), "unknown", "cut off"),
        // … unless the server itself says.
        (Act::AnswerMessage("452 4.3.1 no room"), "failed", "no room"),
        (Act::AnswerMessage("554 5.7.1 spam"), "failed", "spam"),
        (Act::Take, "sent", ""),
    ] {
        post.mail.act(&[act]);
        let taken = act == Act::Take;
        assert_eq!(post.flags(&ask), (false, taken), "{act:?}");
        let (found, why) = post.newest();
        assert_eq!(found, state, "{act:?}: {why}");
        assert!(why.contains(about), "{act:?}: no {about:?} in {why:?}");
        assert!(!why.contains(PASSWORD), "{why}");
    }
}

#[test]
fn a_mail_server_that_says_nothing_is_not_waited_for_longer_than_ten_seconds() {
    let post = Post::open();
    let id = post.welcome();
    let ask = json!({"email_id": id, "delegate_id": post.ada});
    // Both at once, so that the test waits but once.
    post.mail.act(&[Act::NoGreeting, Act::SilentAfterMessage]);
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..2).map(|_| scope.spawn(|| post.flags(&ask))).collect();
        for call in calls {
            assert_eq!(call.join().expect("an answer"), (false, false));
        }
    });
    let states: String = post
        .server
        .value("SELECT group_concat(state) FROM (SELECT state FROM messages ORDER BY state)");
    assert_eq!(states, "failed,unknown");
    // Final: neither is tried again.
    assert_eq!(post.mail.connections(), 2);
}

#[test]
fn without_tls_where_it_is_wanted_nothing_is_said() {
    let post = Post::open();
    let id = post.welcome();
    let mut smtp = post.smtp();
    smtp["security"] = json!("starttls");
    post.set("email", &smtp);
    let ask = json!({"email_id": id, "delegate_id": post.ada});
    assert_eq!(post.flags(&ask), (false, false));
    assert!(post.newest().1.contains("TLS"), "{:?}", post.newest());
    assert_eq!(post.mail.mails().len(), 0);
    smtp["security"] = json!("tls");
    post.set("email", &smtp);
    post.mail.act(&[Act::NoGreeting]);
    assert_eq!(post.flags(&ask), (false, false));
    assert_eq!(post.mail.mails().len(), 0);
}

#[test]
fn what_a_record_says_stays_in_its_place() {
    let post = Post::open();
    let api = post.server.caller_with_all();
    let eve = api.delegate(&json!({
        "firstName": "Eve\r\nBcc: bob@example.org", "lastName": "<script>alert(1)</script>",
        "email": "eve@example.org", "company": "{{ settings }}\r\n.\r\nMAIL FROM:<x@example.org>",
    }));
    let id = post.template(&json!({
        "type": "email", "slug": "hostile", "subject": "For {{ delegate.firstName }}",
        "content": "You are of {{ delegate.company }}", "html": "<p>{{ delegate.lastName }}</p>",
    }));
    assert_eq!(
        post.flags(&json!({"email_id": id, "delegate_id": eve})),
        (false, true)
    );
    let mails = post.mail.wait_for(1);
    let text = &mails[0].text;
    let (head, body) = text.split_once("\r\n\r\n").expect("a head");
    lacks(head, "\r\nBcc:");
    lacks(body, "<script>");
    has(body, "{{ settings }}");
    assert_eq!(post.mail.connections(), 1);
}

#[test]
fn the_answer_says_what_cannot_be_sent() {
    let post = Post::open();
    let id = post.welcome();
    let api = post.server.caller_with_all();
    let nobody = api.delegate(&json!({"firstName": "Bob", "phone": "040 1234567"}));
    // As a list brought it.
    post.server.sql(&format!(
        "UPDATE delegates SET email = 'bob' WHERE id = {nobody}"
    ));
    let ask = json!({"email_id": id, "sms_code": "order-cleared", "delegate_id": nobody});
    assert_eq!(post.flags(&ask), (false, false));
    assert!(
        post.newest().1.contains("no e-mail address"),
        "{:?}",
        post.newest()
    );
    assert_eq!(
        (post.mail.connections(), post.provider.calls().len()),
        (0, 0)
    );
    // The country is known: the phone can be reached.
    post.server
        .settings(&json!({"communications": {"countryCode": "+49"}}));
    assert_eq!(post.flags(&ask), (true, false));
    let ada = json!({"email_id": id, "sms_code": "order-cleared", "delegate_id": post.ada});
    assert_eq!(post.flags(&ada), (true, true));
    for (off, flags) in [
        (json!({"enabled": false}), (false, false)),
        (json!({"email": false}), (true, false)),
        (json!({"sms": false}), (false, true)),
    ] {
        post.server.settings(&json!({"communications": off}));
        assert_eq!(post.flags(&ada), flags, "{off}");
    }
}

#[test]
fn what_is_no_request_is_refused_and_nothing_is_sent() {
    let post = Post::open();
    let id = post.welcome();
    let ada = post.ada;
    let api = sender(&post.server);
    api.answers(&json!([
        ["POST /delegate/send-comm", {}, 400, 1100, "delegate_id"],
        ["POST /delegate/send-comm", {"delegate_id": ada}, 400, 1100, "at least one"],
        ["POST /delegate/send-comm", {"delegate_id": "7", "email_id": id}, 400, 1100, "delegate_id"],
        ["POST /delegate/send-comm", {"delegate_id": ada, "email_id": "1"}, 400, 1100, "email_id"],
        ["POST /delegate/send-comm", {"delegate_id": ada, "email_id": 999}, 400, 1100, "no template 999"],
        ["POST /delegate/send-comm", {"delegate_id": ada, "sms_code": "nothing"}, 400, 1100, "nothing"],
        ["POST /delegate/send-comm", {"delegate_id": ada, "sms_code": ""}, 400, 1100, "sms_code"],
        ["POST /delegate/send-comm", {"delegate_id": ada, "email_id": id, "cc": "x"}, 400, 1100, "cc"],
        ["POST /delegate/send-comm", {"delegate_id": 999, "email_id": id}, 404, 1301, "999"],
        ["POST /delegate/send-comm", {"delegate_id": -1, "email_id": id}, 404, 1301, ""],
        // One of the two is wrong: neither is sent.
        ["POST /delegate/send-comm", {"delegate_id": ada, "email_id": id, "sms_code": "nothing"}, 400, 1100, "nothing"],
    ]));
    let deleted = post.server.caller_with_all();
    deleted.delete(&format!("/delegate/id:{ada}")).is(204);
    post.send(&json!({"delegate_id": ada, "email_id": id}))
        .refused(404, 1301, "");
    assert_eq!((post.count(), post.mail.connections()), (0, 0));
    // A text's template is no e-mail's.
    let text: i64 = post
        .server
        .value("SELECT id FROM message_templates WHERE channel = 'sms'");
    let again = post
        .server
        .caller_with_all()
        .delegate(&json!({"email": "x@example.org"}));
    sender(&post.server)
        .post(
            "/delegate/send-comm",
            &json!({"delegate_id": again, "email_id": text}),
        )
        .invalid("for e-mails");
}
