//! Who may have a code and who they are then; nobody else is told either.

use super::{Site, other_than};
use crate::harness::{PASSWORD, whole, words};
use reqwest::Method;
use serde_json::json;
use std::time::{Duration, Instant};

#[test]
fn nothing_tells_whether_somebody_has_an_address() {
    let site = Site::new();
    site.server.user("ada@example.org", &[], None);
    let timed = |email: &str| {
        let begun = Instant::now();
        (site.send(email), begun.elapsed())
    };
    let (known, took) = timed("ada@example.org");
    let (unknown, took_too) = timed("nobody@example.org");
    assert_eq!(known, unknown);
    // Both wait for the same moment, which is past whatever differs.
    for took in [took, took_too] {
        assert!(took >= Duration::from_millis(300), "{took:?}");
    }
    assert_eq!(site.messages(), 1, "only who may sign in gets a mail");
    assert_eq!(site.server.count("one_time_passwords"), 2);
    // Nor does the sign-in: whoever guesses is told the same.
    site.shut_out("nobody@example.org", "123456");
    site.shut_out("nowhere@example.org", "123456");
    let code = site.code("ada@example.org").expect("a code");
    site.shut_out("ada@example.org", &other_than(&code));
    assert_eq!(site.users(), 1);
}

#[test]
fn who_may_have_one_is_a_setting_and_nobody_becomes_a_user_by_being_asked_for() {
    let site = Site::new();
    let all = site.server.caller_with_all();
    all.delegate(&json!({"firstName": "Ada", "email": "Ada@example.org"}));
    for email in ["two@example.org", "TWO@example.org"] {
        all.delegate(&json!({"email": email}));
    }
    let policy = |policy: &str| site.server.settings(&json!({"oneTimePasswords": policy}));
    // Unless said otherwise, who is a user.
    site.send("ada@example.org");
    assert_eq!(site.messages(), 0);

    policy("delegates");
    for nobody in ["two@example.org", "nobody@example.org"] {
        site.send(nobody);
    }
    assert_eq!(site.messages(), 0);
    let code = site.sent_as("ada@example.org", "Ada@example.org");
    assert_eq!(site.users(), 0);
    let ada = site.signed_in("ada@example.org", &code);
    assert_eq!(ada.get("/delegate/myself").data()["firstName"], "Ada");
    let made: String = site
        .server
        .value("SELECT actor || ' ' || action FROM audit WHERE record_type = 'user'");
    assert_eq!(
        made,
        format!(
            "client:{} create",
            site.client["client_id"].as_str().expect("an id")
        )
    );

    policy("anyone");
    let code = site.sent("two@example.org");
    assert_eq!(site.users(), 1);
    let two = site.signed_in("two@example.org", &code);
    two.get("/delegate/myself").refused(404, 1301, "");
    assert_eq!(site.users(), 2);

    // What is switched off is so for codes that are on their way, too.
    let code = site.sent("two@example.org");
    policy("off");
    site.send("two@example.org")
        .refused(403, 1202, "switched off");
    site.shut_out("two@example.org", &code);
}

#[test]
fn a_sign_in_by_code_ties_the_user_to_the_one_delegate_with_the_address() {
    let site = Site::new();
    let all = site.server.caller_with_all();
    for email in words("one@example.org two@example.org taken@example.org gone@example.org") {
        site.server.user(email, &[], None);
    }
    let one = all.delegate(&json!({"email": "ONE@example.org"}));
    for _ in 0..2 {
        all.delegate(&json!({"email": "two@example.org"}));
    }
    let taken = all.delegate(&json!({"email": "taken@example.org"}));
    site.server.user("holder@example.org", &[], Some(taken));
    let gone = all.delegate(&json!({"email": "gone@example.org"}));
    all.delete(&format!("/delegate/id:{gone}")).is(204);
    let tied = |email: &str| {
        site.signed_in(email, &site.sent(email))
            .get("/delegate/myself")
            .body["data"]["id"]
            .as_i64()
    };
    assert_eq!(tied("one@example.org"), Some(one));
    assert_eq!(tied("two@example.org"), None, "nobody knows which");
    assert_eq!(
        tied("taken@example.org"),
        None,
        "it is somebody else's already"
    );
    assert_eq!(tied("gone@example.org"), None);
    let audited = site
        .server
        .count("audit WHERE record_type = 'user' AND action = 'update'");
    assert_eq!(audited, 1);
    // Once tied it stays so, whatever the address in the record becomes.
    all.patch(&format!("/delegate/id:{one}"), &json!({"email": null}))
        .data();
    assert_eq!(tied("one@example.org"), Some(one));
    // A password ties nobody.
    all.delegate(&json!({"email": "new@example.org"}));
    site.server.user("new@example.org", &[], None);
    site.signed_in("new@example.org", PASSWORD)
        .get("/delegate/myself")
        .refused(404, 1301, "");
}

#[test]
fn who_asks_too_often_waits_whether_or_not_somebody_has_the_address() {
    let site = Site::new();
    site.server.user("ada@example.org", &[], None);
    let api = site.caller();
    for email in ["ada@example.org", "nobody@example.org"] {
        for _ in 0..5 {
            api.post("/otp/send", &json!({"email": email})).is(200);
        }
        let request = api
            .request(Method::POST, "/otp/send")
            .json(&json!({"email": email.to_uppercase()}));
        let answer = whole(request);
        answer
            .reply
            .refused(429, 1203, "too many codes were asked for");
        let wait: u32 = answer.header("retry-after").parse().expect("seconds");
        assert!((500..=600).contains(&wait), "{wait}");
    }
    assert_eq!(site.messages(), 5);
}
