//! One-time passwords (spec: Authentication, rules 1 and 2; contract §4, §8).

mod page;
mod people;

use super::tokens::{ask, granted, of_client, refused, with};
use crate::{
    comms::{
        self,
        smtp::{Act, MailServer},
    },
    erasure::memmem,
    faults::process::{beside, until},
    harness::{Caller, PASSWORD, Reply, Server, at_once, cases, has, lacks, reply, whole},
};
use gatepost::identity::Role;
use reqwest::Method;
use serde_json::{Value, json};

/// A server with a client, by which codes are asked for and people sign in, and a mail server.
struct Site {
    server: Server,
    mail: MailServer,
    client: Value,
}

impl Site {
    fn new() -> Self {
        // Who asks from elsewhere says so.
        let server = Server::start_behind(vec![std::net::Ipv4Addr::LOCALHOST.into()]);
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

    fn caller(&self) -> Caller {
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
        self.send(email).is(200);
        self.code(email).expect("a code")
    }

    /// Has a code sent, and reads it from what went to the address that we know.
    fn sent_as(&self, asked: &str, known: &str) -> String {
        self.send(asked).is(200);
        self.code(known).expect("a code")
    }

    fn sign_in(&self, email: &str, password: &str) -> crate::harness::Whole {
        let body = json!({"grant_type": "password", "username": email, "password": password});
        ask(&self.server, &with(&self.client, &body))
    }

    fn signed_in(&self, email: &str, password: &str) -> Caller {
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
    assert_eq!(site.server.count("one_time_passwords"), 0);
}

#[test]
fn neither_code_nor_address_stands_where_codes_are_kept() {
    let site = Site::new();
    site.server.user("ada@example.org", &[], None);
    let code = site.sent("ada@example.org");
    let row: String = site
        .server
        .value("SELECT hex(address) || code_hash FROM one_time_passwords");
    has(&row, "$argon2id$");
    lacks(&row, [&format!("{code}$"), "ada@"]);
}

#[test]
fn a_code_that_waits_to_be_sent_stands_nowhere_in_the_file() {
    let site = Site::new();
    site.server.user("ada@example.org", &[], None);
    site.mail.act(&[Act::GoneAt(""); 50]);
    site.send("ada@example.org").is(200);
    let tried = "SELECT count(*) FROM messages WHERE state = 'waiting' AND attempts > 0";
    until("the first attempt has failed", || {
        site.server.value::<i64>(tried) == 1
    });
    let file = site.server.path();
    let mut bytes = std::fs::read(&file).expect("the file");
    bytes.extend(std::fs::read(beside(&file, "-wal")).expect("its log"));
    site.mail.act(&[]);
    site.server.sql(crate::comms::LATER);
    let code = site.code("ada@example.org").expect("a code");
    assert!(memmem(&bytes, b"Your code for "), "its mail is there");
    assert!(!memmem(&bytes, code.as_bytes()), "{code}");
    site.signed_in("ada@example.org", &code);
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
    let statuses: Vec<u16> = at_once(5, |_| site.sign_in("ada@example.org", &code).reply.status);
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
fn it_is_at_each_of_its_addresses_and_takes_an_address_alone() {
    let site = Site::new();
    let api = site.caller();
    let request = |path: &str| {
        site.server
            .request(Method::POST, path)
            .json(&json!({"email": "a@example.org"}))
    };
    for path in ["/api/otp/send", "/api/v5/otp/send", "/api/5/otp/send.json"] {
        reply(request(path)).refused(401, 1201, "needs a token");
        assert_eq!(
            reply(request(path).bearer_auth(&api.token)).status,
            200,
            "{path}"
        );
    }
    for (body, about) in cases::<(Value, &str)>(json!([
        [{}, "email"],
        [{"email": 7}, "email"],
        [{"email": null}, "email"],
        [{"email": "nobody"}, "e-mail address"],
        [{"email": "a b@example.org"}, "e-mail address"],
        [{"email": format!("{}@example.org", "x".repeat(300))}, "e-mail address"],
        [{"email": "a@example.org", "sms": true}, "sms"],
        [["a@example.org"], ""],
    ])) {
        api.post("/otp/send", &body).invalid(about);
    }
    let get = api.request(Method::GET, "/otp/send");
    reply(get).refused(405, 1104, "");
}

#[test]
fn where_no_mail_leaves_it_is_said_so() {
    let server = Server::start();
    server.user("ada@example.org", &[], None);
    for email in ["ada@example.org", "nobody@example.org"] {
        let api = server.caller(&[]);
        let request = api.request(Method::POST, "/otp/send");
        let answer = whole(request.json(&json!({"email": email})));
        answer.reply.refused(503, 1110, "no gateway for e-mail");
        // Retrying does not help.
        assert_eq!(answer.header("retry-after"), "");
    }
}
