//! One-time passwords (spec: Authentication, rules 1 and 2; contract §4, §8).

use super::tokens::{ask, granted, of_client, refused, with};
use crate::{
    comms::{
        self,
        smtp::{Act, MailServer},
    },
    harness::{Caller, PASSWORD, Reply, Server, reply, whole},
    luck::process::{beside, until},
    people::memmem,
};
use gatepost::auth::Role;
use reqwest::Method;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// A server with a client, by which codes are asked for and people sign in, and a mail server.
struct Site {
    server: Server,
    mail: MailServer,
    client: Value,
}

impl Site {
    fn new() -> Self {
        let server = Server::start();
        server.settings(&json!({"outgoing": {"allowLocal": true}}));
        let mail = MailServer::start();
        let gateway = json!({"kind": "smtp", "host": "127.0.0.1", "port": mail.port, "security": "none",
            "from": "Summit <summit@example.org>"});
        comms::gateway(&server, "email", &gateway, "");
        let (id, secret) = server.client(&[], &[]);
        let client = of_client(&id, &secret);
        Self {
            server,
            mail,
            client,
        }
    }

    fn caller(&self) -> Caller<'_> {
        let text = |name: &str| self.client[name].as_str().expect(name);
        self.server
            .caller_of(text("client_id"), text("client_secret"))
    }

    fn send(&self, email: &str) -> Reply {
        self.caller().post("/otp/send", &json!({"email": email}))
    }

    /// The code that came to an address last.
    fn code(&self, email: &str) -> Option<String> {
        let sent = format!("SELECT count(*) FROM messages WHERE address = '{email}'");
        let sent = self.server.value::<usize>(&sent);
        let came = || {
            let mut mails = self.mail.mails();
            mails.retain(|mail| mail.to == format!("RCPT TO:<{email}>"));
            mails
        };
        until("a mail", || came().len() >= sent);
        let text = came().pop()?.text.replace('\r', "");
        let (_, body) = text.split_once("\n\n")?;
        let mut words = body.split_whitespace();
        let code =
            words.find(|word| word.len() == 6 && word.bytes().all(|byte| byte.is_ascii_digit()));
        code.map(str::to_owned)
    }

    /// Has a code sent, and reads it.
    fn sent(&self, email: &str) -> String {
        assert_eq!(self.send(email).status, 200);
        self.code(email).expect("a code")
    }

    fn sign_in(&self, email: &str, password: &str) -> crate::harness::Whole {
        let body = json!({"grant_type": "password", "username": email, "password": password});
        ask(&self.server, &with(&self.client, &body))
    }

    fn signed_in(&self, email: &str, password: &str) -> Caller<'_> {
        let answer = self.sign_in(email, password);
        let token = granted(&answer)["access_token"]
            .as_str()
            .expect("a token")
            .to_owned();
        Caller::with_token(&self.server, &token)
    }

    #[track_caller]
    fn shut_out(&self, email: &str, password: &str) {
        refused(
            &self.sign_in(email, password),
            400,
            "invalid_grant",
            "the username or the password is wrong",
        );
    }

    fn users(&self) -> i64 {
        self.server.value("SELECT count(*) FROM users")
    }

    fn messages(&self) -> i64 {
        self.server.value("SELECT count(*) FROM messages")
    }
}

/// A code that is not this one.
fn other_than(code: &str) -> String {
    let number: u32 = code.parse().expect("a number");
    format!("{:06}", (number + 1) % 1_000_000)
}

#[test]
fn a_code_takes_the_place_of_the_password_once() {
    let site = Site::new();
    site.server
        .user("Ada@Example.org", &[Role::DelegateRead], None);
    let answer = site.send("ada@example.org");
    assert_eq!(
        (answer.status, &answer.body),
        (200, &json!({"data": {"expiresIn": 600}, "meta": {}}))
    );
    let code = site
        .code("Ada@Example.org")
        .expect("sent to the address that we know");
    let ada = site.signed_in("ADA@example.org", &code);
    assert_eq!(
        ada.get("/delegate/list").status,
        200,
        "with the roles of the user"
    );
    site.shut_out("ada@example.org", &code);
    site.signed_in("ada@example.org", PASSWORD);
    assert_eq!((site.users(), site.messages()), (1, 1));
    assert_eq!(
        site.server
            .value::<i64>("SELECT count(*) FROM one_time_passwords"),
        0
    );
}

#[test]
fn neither_code_nor_address_stands_where_codes_are_kept() {
    let site = Site::new();
    site.server.user("ada@example.org", &[], None);
    let code = site.sent("ada@example.org");
    let row: String = site
        .server
        .value("SELECT hex(address) || code_hash FROM one_time_passwords");
    assert!(row.contains("$argon2id$"), "{row}");
    assert!(
        !row.contains(&format!("{code}$")) && !row.contains("ada@"),
        "{row}"
    );
}

#[test]
fn a_code_that_waits_to_be_sent_stands_nowhere_in_the_file() {
    let site = Site::new();
    site.server.user("ada@example.org", &[], None);
    site.mail.act(&[Act::GoneAt("")]);
    assert_eq!(site.send("ada@example.org").status, 200);
    let tried = "SELECT count(*) FROM messages WHERE state = 'waiting' AND attempts = 1";
    until("the first attempt has failed", || {
        site.server.value::<i64>(tried) == 1
    });
    let file = site.server.path();
    let mut bytes = std::fs::read(&file).expect("the file");
    bytes.extend(std::fs::read(beside(&file, "-wal")).expect("its log"));
    site.server.sql("UPDATE messages SET next_at = 0");
    let code = site.code("ada@example.org").expect("a code");
    assert!(memmem(&bytes, b"Your code for "), "its mail is there");
    assert!(!memmem(&bytes, code.as_bytes()), "{code}");
    site.signed_in("ada@example.org", &code);
}

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
    assert_eq!(
        site.server
            .value::<i64>("SELECT count(*) FROM one_time_passwords"),
        2
    );
    // Nor does the sign-in: whoever guesses is told the same.
    site.shut_out("nobody@example.org", "123456");
    site.shut_out("nowhere@example.org", "123456");
    let code = site.code("ada@example.org").expect("a code");
    site.shut_out("ada@example.org", &other_than(&code));
    assert_eq!(site.users(), 1);
}

#[test]
fn five_guesses_are_all_there_are() {
    let site = Site::new();
    site.server.user("ada@example.org", &[], None);
    let code = site.sent("ada@example.org");
    for _ in 0..5 {
        site.shut_out("ada@example.org", &other_than(&code));
    }
    site.shut_out("ada@example.org", &code);
    // A new code has guesses of its own, and the fifth is as good as the first.
    let code = site.sent("ada@example.org");
    for _ in 0..4 {
        site.shut_out("ada@example.org", &other_than(&code));
    }
    // Ten failures from here close the account here for a minute; this was the tenth.
    assert_eq!(site.sign_in("ada@example.org", &code).reply.status, 429);
}

#[test]
fn a_code_ends_after_ten_minutes_and_when_a_newer_one_comes() {
    let site = Site::new();
    site.server.user("ada@example.org", &[], None);
    let first = site.sent("ada@example.org");
    let lasts: i64 = site
        .server
        .value("SELECT o.expires_at - m.created_at FROM one_time_passwords o, messages m");
    assert_eq!(lasts, 600_000);
    let second = site.sent("ada@example.org");
    if first != second {
        site.shut_out("ada@example.org", &first);
    }
    site.server
        .sql("UPDATE one_time_passwords SET expires_at = 1");
    site.shut_out("ada@example.org", &second);
    site.signed_in("ada@example.org", &site.sent("ada@example.org"));
}

#[test]
fn of_many_who_come_with_one_code_at_once_one_gets_in() {
    let site = Site::new();
    site.server.user("ada@example.org", &[], None);
    let code = site.sent("ada@example.org");
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let tries: Vec<_> = (0..5)
            .map(|_| scope.spawn(|| site.sign_in("ada@example.org", &code).reply.status))
            .collect();
        tries
            .into_iter()
            .map(|one| one.join().expect("an answer"))
            .collect()
    });
    assert_eq!(
        statuses.iter().filter(|status| **status == 200).count(),
        1,
        "{statuses:?}"
    );
}

#[test]
fn a_client_that_is_none_uses_no_guess_up() {
    let site = Site::new();
    site.server.user("ada@example.org", &[], None);
    let code = site.sent("ada@example.org");
    let body = json!({"grant_type": "password", "username": "ada@example.org", "password": code});
    for _ in 0..6 {
        let answer = ask(
            &site.server,
            &with(&with(&site.client, &body), &json!({"client_secret": "x"})),
        );
        refused(&answer, 401, "invalid_client", "");
    }
    assert_eq!(
        site.server
            .value::<i64>("SELECT tries FROM one_time_passwords"),
        0
    );
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

impl Site {
    /// Has a code sent, and reads it from what went to the address that we know.
    fn sent_as(&self, asked: &str, known: &str) -> String {
        assert_eq!(self.send(asked).status, 200);
        self.code(known).expect("a code")
    }
}

#[test]
fn a_sign_in_by_code_ties_the_user_to_the_one_delegate_with_the_address() {
    let site = Site::new();
    let all = site.server.caller_with_all();
    for email in [
        "one@example.org",
        "two@example.org",
        "taken@example.org",
        "gone@example.org",
    ] {
        site.server.user(email, &[], None);
    }
    let one = all.delegate(&json!({"email": "ONE@example.org"}));
    for _ in 0..2 {
        all.delegate(&json!({"email": "two@example.org"}));
    }
    let taken = all.delegate(&json!({"email": "taken@example.org"}));
    site.server.user("holder@example.org", &[], Some(taken));
    let gone = all.delegate(&json!({"email": "gone@example.org"}));
    assert_eq!(all.delete(&format!("/delegate/id:{gone}")).status, 204);
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
    let audited: i64 = site
        .server
        .value("SELECT count(*) FROM audit WHERE record_type = 'user' AND action = 'update'");
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
    let caller = site.caller();
    for email in ["ada@example.org", "nobody@example.org"] {
        for _ in 0..5 {
            assert_eq!(
                caller.post("/otp/send", &json!({"email": email})).status,
                200
            );
        }
        let request = caller
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

#[test]
fn it_is_at_each_of_its_addresses_and_takes_an_address_alone() {
    let site = Site::new();
    let caller = site.caller();
    let request = |path: &str| {
        site.server
            .request(Method::POST, path)
            .json(&json!({"email": "a@example.org"}))
    };
    for path in ["/api/otp/send", "/api/v5/otp/send", "/api/5/otp/send.json"] {
        reply(request(path)).refused(401, 1201, "needs a token");
        assert_eq!(
            reply(request(path).bearer_auth(&caller.token)).status,
            200,
            "{path}"
        );
    }
    for (body, about) in [
        (json!({}), "email"),
        (json!({"email": 7}), "email"),
        (json!({"email": null}), "email"),
        (json!({"email": "nobody"}), "e-mail address"),
        (json!({"email": "a b@example.org"}), "e-mail address"),
        (
            json!({"email": format!("{}@example.org", "x".repeat(300))}),
            "e-mail address",
        ),
        (json!({"email": "a@example.org", "sms": true}), "sms"),
        (json!(["a@example.org"]), ""),
    ] {
        caller.post("/otp/send", &body).refused(400, 1100, about);
    }
    let get = caller.request(Method::GET, "/otp/send");
    reply(get).refused(405, 1104, "");
}

#[test]
fn where_no_mail_leaves_it_is_said_so() {
    let server = Server::start();
    server.user("ada@example.org", &[], None);
    for email in ["ada@example.org", "nobody@example.org"] {
        let reply = server
            .caller(&[])
            .post("/otp/send", &json!({"email": email}));
        reply.refused(503, 1108, "no gateway for e-mail");
    }
}

/// The page on which a code is asked for.
mod page {
    use super::{Method, Site, json, whole};
    use crate::console::browser;

    fn asked(site: &Site, email: &str, headers: &[(&str, &str)]) -> crate::harness::Whole {
        let url = format!("{}/otp", site.server.url());
        let mut request = browser().post(url).form(&[("email", email)]);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        whole(request)
    }

    #[test]
    fn it_sends_a_code_to_whoever_reaches_the_server() {
        let site = Site::new();
        site.server.settings(&json!({"name": "Expo <26>"}));
        site.server.user("ada@example.org", &[], None);
        let form = whole(site.server.request(Method::GET, "/otp"));
        assert_eq!(form.reply.status, 200);
        assert!(form.text.contains("Expo &#60;26&#62;"), "{}", form.text);
        assert!(
            form.header("content-security-policy")
                .contains("default-src 'none'")
        );
        assert_eq!(form.header("set-cookie"), "");
        let kinds: Vec<_> = form
            .text
            .split("href=\"")
            .skip(1)
            .filter_map(|rest| rest.split('"').next())
            .map(|file| whole(site.server.request(Method::GET, file)))
            .map(|file| (file.reply.status, file.header("content-type").to_owned()))
            .collect();
        let found = |kind: &str| (200, kind.to_owned());
        assert_eq!(
            kinds,
            [found("image/svg+xml"), found("text/css; charset=utf-8")]
        );

        let known = asked(&site, "ada@example.org", &[]);
        assert_eq!(known.reply.status, 200);
        let unknown = asked(&site, "nob@example.org", &[]);
        assert_eq!(
            known.text.replace("ada@", "nob@"),
            unknown.text,
            "it tells nothing"
        );
        let code = site.code("ada@example.org").expect("a code");
        site.signed_in("ada@example.org", &code);
        assert_eq!(site.messages(), 1);
    }

    #[test]
    fn it_takes_nothing_from_other_sites_and_says_what_is_wrong() {
        let site = Site::new();
        site.server.user("ada@example.org", &[], None);
        for header in [
            ("Sec-Fetch-Site", "cross-site"),
            ("Origin", "https://evil.example"),
        ] {
            let refused = asked(&site, "ada@example.org", &[header]);
            assert_eq!(refused.reply.status, 403);
            assert!(refused.text.contains("another site"), "{}", refused.text);
        }
        let wrong = asked(&site, "<b>nobody</b>", &[]);
        assert_eq!(wrong.reply.status, 422);
        assert!(
            wrong.text.contains("not an e-mail address") && !wrong.text.contains("<b>"),
            "{}",
            wrong.text
        );
        assert_eq!(site.messages(), 0);
        for _ in 0..5 {
            assert_eq!(asked(&site, "ada@example.org", &[]).reply.status, 200);
        }
        let throttled = asked(&site, "ada@example.org", &[]);
        assert_eq!(throttled.reply.status, 429);
        assert_ne!(throttled.header("retry-after"), "");
        // It counts together with what apps ask for.
        site.send("ada@example.org").refused(429, 1203, "");
        site.server.settings(&json!({"oneTimePasswords": "off"}));
        let off = whole(site.server.request(Method::GET, "/otp"));
        assert!(
            off.text.contains("switched off") && !off.text.contains("<form"),
            "{}",
            off.text
        );
        assert_eq!(asked(&site, "bob@example.org", &[]).reply.status, 403);
    }
}
