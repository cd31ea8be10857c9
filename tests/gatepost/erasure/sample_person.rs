//! A person who has left something everywhere, among neighbours who have too.

use super::gatepost;
use crate::harness::{Caller, PASSWORD, Server, reply};
use gatepost::identity::{ConsoleRole, Role, Scope, password, users};
use reqwest::Method;
use serde_json::{Value, json};

/// Neighbours before and after the person, so that what is theirs shares pages with what stays.
const NEIGHBOURS: usize = 150;

/// A person, with every word that is theirs alone.
pub struct Person {
    pub id: i64,
    /// Somebody else, who knows the person.
    pub other: i64,
    pub words: Vec<String>,
    /// Where the person was.
    pub hall: i64,
    /// A token of the person's own.
    pub token: String,
    pub refresh: Value,
}

/// What is said of the person: a word that nobody else has, some of them awkward.
struct Words<'a> {
    tag: &'a str,
    all: Vec<String>,
}

impl Words<'_> {
    fn plain(&mut self, word: &str) -> String {
        let word = format!("{word}-{}", self.tag);
        self.all.push(word.clone());
        word
    }

    fn odd(&mut self, word: &str) -> String {
        let word = format!("{word} \"{}\" Müßig", self.tag);
        self.all.push(word.clone());
        word
    }

    fn mail(&mut self, name: &str) -> String {
        let word = format!("{name}.{}@example.org", self.tag);
        self.all.push(word.clone());
        word
    }
}

fn neighbours(caller: &Caller, hall: i64, tag: &str, from: usize) {
    let mut interactions = serde_json::Map::new();
    for at in from..from + NEIGHBOURS {
        let id = caller.delegate(&json!({
            "firstName": format!("Neighbour {at}"), "lastName": "Lives Next Door", "barcode": format!("N-{tag}-{at:05}"),
            "email": format!("n{at}@example.com"), "data": {"Data": {"diet": "anything at all", "notes": "x".repeat(at % 90)}},
        }));
        for kind in ["check-in", "lead"] {
            interactions.insert(
                format!("{kind}-{at}"),
                json!({"interactionType": kind, "delegate": id, "device": hall, "nonce": format!("{kind}-{tag}-{at}"),
                       "data": {"said": "y".repeat(at % 70)}}),
            );
        }
    }
    let reply = caller.post("/interaction/batch", &json!({"interactions": interactions}));
    assert_eq!(reply.status, 200, "{reply:?}");
}

pub fn keyed(caller: &Caller, path: &str, key: &str, body: &Value) -> crate::harness::Reply {
    let request = caller
        .request(Method::POST, path)
        .header("Idempotency-Key", key)
        .json(body);
    reply(request)
}

/// Fills somebody into everything; `tag` is part of each of their words.
#[expect(
    clippy::too_many_lines,
    reason = "everything there is, one after the other"
)]
pub fn fill(server: &Server, tag: &str) -> Person {
    let caller = server.caller_with_all();
    let mut words = Words {
        tag,
        all: Vec::new(),
    };
    let hall = caller.device(&json!({"name": "Hall", "code": format!("hall{tag}"), "data": {"Access": {"entry": "single"}}}));
    neighbours(&caller, hall, tag, 0);
    let other = caller.delegate(&json!({"firstName": "Grace"}));

    // The record, made under a key, changed, with a list, and by the person itself.
    let old_barcode = words.plain("old-barcode");
    // Clients make keys of what they know.
    let (key_make, key_batch) = (words.plain("key-make"), words.plain("key-batch"));
    let made = keyed(
        &caller,
        "/delegate/new",
        &key_make,
        &json!({
            "firstName": words.odd("First"), "lastName": words.odd("Before"), "barcode": old_barcode,
            "email": words.mail("before"), "phone": words.plain("+4930555"), "jobTitle": words.odd("Job"),
            "company": words.odd("Company"), "rfid": words.plain("rfid"), "externalId": words.plain("external"),
            "code": words.plain("code"), "uhfId": words.plain("uhf"), "slug": words.plain("slug"),
            "data": {"Data": {words.plain("key"): words.odd("Value"), "list": [words.odd("Item")]}},
        }),
    );
    let id = made.id();
    let at = format!("/delegate/id:{id}");
    let barcode = words.plain("barcode");
    let email = words.mail("person");
    caller
        .patch(
            &at,
            &json!({"lastName": words.odd("Last"), "barcode": barcode, "email": email, "uhfId": words.plain("new-uhf")}),
        )
        .data();
    caller
        .patch(
            &format!("/delegate/id:{other}"),
            &json!({"owner": id, "parent": id}),
        )
        .data();
    let list = server.folder.path().join(format!("{tag}.csv"));
    let row = format!("barcode,Notes\n{barcode},{}\n", words.plain("imported"));
    std::fs::write(&list, row).expect("a list");
    let list = list.to_str().expect("a name");
    let imported = gatepost(
        &server.path(),
        &["import", "delegates", list, "--key", "barcode"],
    );
    assert!(imported.status.success(), "{imported:?}");

    // What happened: passed, refused, admitted, deleted, in batches with shared values, answers, nonces.
    let scan = json!({"delegate": format!("barcode:{barcode}"), "device": hall, "nonce": words.plain("nonce"),
                      "data": {"photo": words.odd("Photo")}});
    caller.interact("check-in", &scan).id();
    caller
        .interact(
            "check-in",
            &json!({"delegate": format!("barcode:{barcode}"), "device": hall}),
        )
        .refused(412, 740, "");
    caller
        .interact(
            "check-in",
            &json!({"delegate": format!("barcode:{old_barcode}"), "device": hall}),
        )
        .refused(404, 1301, "");
    // Apps try a code as several types, and scanners add to it.
    for scanned in [
        format!("rfid:{old_barcode}"),
        format!("barcode:{old_barcode}\r"),
    ] {
        caller
            .interact("check-in", &json!({"delegate": scanned, "device": hall}))
            .refused(404, 1301, "");
    }
    caller
        .interact("lead", &json!({"delegate": other, "secondDelegate": format!("barcode:{old_barcode}"), "device": hall}))
        .refused(404, 1301, "");
    caller
        .interact("check-in", &json!({"delegate": id, "device": hall, "admitted": true, "nonce": words.plain("conflict")}))
        .id();
    let batch = json!({
        "sharedValues": {"face": words.plain("U2hhcmVk").repeat(40)},
        "interactions": {
            "a": {"interactionType": "lead", "delegate": other, "secondDelegate": id, "data": {"face": {"$shared": "face"}}},
            "b": {"interactionType": "feedback", "delegate": id, "device": hall, "data": {"form": "f", "answers": [
                {"field": "contact.name", "answer": words.odd("Answer"), "fieldLabel": "Name"}]}},
            "c": {"interactionType": "check-in", "delegate": format!("barcode:{old_barcode}"), "device": hall},
            "d": {"interactionType": "lead", "delegate": other, "device": hall},
        }
    });
    // Of the shared value one of the forty is enough to be found.
    assert_eq!(
        keyed(&caller, "/interaction/batch", &key_batch, &batch).status,
        200
    );
    let gone = caller
        .interact(
            "lead",
            &json!({"delegate": id, "data": {"said": words.odd("Deleted")}}),
        )
        .id();
    assert_eq!(
        caller.delete(&format!("/interaction/id:{gone}")).status,
        204
    );
    let past = server.folder.path().join(format!("{tag}-past.csv"));
    let row = format!(
        "interactionType,delegate,device,data\nlead,id:{id},id:{hall},\"{{\"\"said\"\": \"\"{}\"\"}}\"\n",
        words.plain("past")
    );
    std::fs::write(&past, row).expect("a list");
    let imported = gatepost(
        &server.path(),
        &["import", "interactions", past.to_str().expect("a name")],
    );
    assert!(imported.status.success(), "{imported:?}");

    // What the crew did about them: a note, a lost badge, two records made one.
    let crew = server.crew_once(ConsoleRole::Administrator);
    let page = |end: &str| format!("/console/delegates/{id}{end}");
    crew.post(
        &page("/note"),
        &[("note", &words.odd("Note")), ("level", "info")],
    )
    .taken();
    let noted = json!({"delegate": id, "device": hall, "nonce": words.plain("noted")});
    assert_eq!(
        keyed(
            &caller,
            "/interaction/new/check-out",
            &format!("key-noted-{}", tag.len()),
            &noted
        )
        .status,
        201
    );
    let reason = words.plain("found-in-the-river");
    let new = words.plain("new-badge");
    crew.post(
        &page("/badge/barcode"),
        &[("value", &barcode), ("reason", &reason), ("new", &new)],
    )
    .taken();
    let scan = json!({"interactions": {"x": {"interactionType": "check-in", "delegate": format!("barcode:{barcode}"), "device": hall}}});
    assert_eq!(
        keyed(
            &caller,
            "/interaction/batch",
            &format!("key-lost-{}", tag.len()),
            &scan
        )
        .status,
        200
    );
    let double = buy(&caller, &mut words, hall);
    let merged = merge(&crew, id, double);
    assert_eq!(merged.status, 303, "{merged:?}");

    // As who signs in, to an app and to the console.
    let ctx = server.context();
    let user = users::NewUser {
        email: email.clone(),
        password: Some(password::hash(PASSWORD).expect("a hash")),
        delegate: Some(gatepost::types::DelegateId(id)),
        ..users::NewUser::default()
    };
    server
        .app
        .store
        .write(move |tx| users::create(tx, &ctx, &user))
        .wait()
        .expect("a user");
    let (client, secret) = server.client(Role::ALL, Scope::ALL);
    let tokens = server.token(
        &json!({"grant_type": "password", "client_id": client, "client_secret": secret,
        "username": email, "password": PASSWORD}),
    );
    let token = tokens["access_token"].as_str().expect("a token").to_owned();
    let own = Caller::with_token(server, &token);
    own.patch(
        "/delegate/myself",
        &json!({"data": {"Data": {"pushTokens": [words.plain("push-token")]}}}),
    )
    .data();
    write_to(server, &mut words, id, &email);
    // The tag that was theirs before was read since, in upper case.
    let tag_read = format!("uhf-{tag}").to_uppercase();
    server.sql(&format!(
        "INSERT INTO unknown_tags VALUES ('{tag_read}', 1, 1, 1, {hall}, 1, {hall}, -50), ('NOBODY-{tag}', 1, 1, 1, {hall}, 1, {hall}, -50)"
    ));
    words.all.push(tag_read);
    neighbours(&caller, hall, tag, NEIGHBOURS);
    Person {
        id,
        other,
        words: words.all,
        hall,
        token,
        refresh: json!({"grant_type": "refresh_token", "client_id": client, "client_secret": secret,
            "refresh_token": tokens["refresh_token"]}),
    }
}

/// Buys a ticket, under a key: the delegate that it made.
fn buy(caller: &Caller, words: &mut Words<'_>, hall: i64) -> i64 {
    let tag = words.tag;
    let purchase = json!({
        "code": format!("P{}", tag.len()), "context": hall, "totalAmount": 2500, "notes": words.odd("Bought for"),
        "transactions": [{"paymentMethod": "cash", "amount": 2500, "change": 0}],
        "items": [{
            "code": format!("P{}0000", tag.len()), "product": hall, "quantity": 1, "unitAmount": 2500, "totalAmount": 2500,
            "delegates": [{"product": hall, "description": "Day ticket", "barcode": words.plain("ticket"),
                           "holder": words.odd("Holder")}],
        }],
    });
    let made = keyed(
        caller,
        "/tx/new",
        &format!("key-buy-{}", tag.len()),
        &purchase,
    );
    let double = made.data()["delegates"][0]["id"].as_i64().expect("an id");
    let named = json!({"firstName": words.odd("Double"), "email": words.mail("double")});
    caller
        .patch(&format!("/delegate/id:{double}"), &named)
        .data();
    double
}

/// Messages to somebody, and to whom they sign in as.
fn write_to(server: &Server, words: &mut Words<'_>, id: i64, email: &str) {
    let subject = words.plain("subject");
    let body = words.plain("letter");
    let code = words.plain("code-by-mail");
    server.sql(&format!(
        "INSERT INTO messages (delegate_id, channel, template, state, created_at, address, subject, body, html)
         VALUES ({id}, 'email', 'welcome', 'failed', 1, '{email}', '{subject}', '{body}', '<p>{body}</p>');
         INSERT INTO messages (channel, state, created_at, address, subject, body, secret)
         VALUES ('email', 'waiting', 1, '{email}', 'Your code', '{code}', 1);"
    ));
}

fn merge(crew: &crate::console::Crew, id: i64, double: i64) -> crate::console::Page {
    let path = format!("/console/delegates/{id}/merge");
    let html = crew.get(&format!("{path}?other={double}")).shown();
    let form = crate::console::form_fields(&html, "/merge");
    let form: Vec<(&str, &str)> = form
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    crew.post(&path, &form)
}
