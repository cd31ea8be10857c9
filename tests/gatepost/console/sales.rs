//! Sales: finding purchases, reading receipts, adding up, and working through what does not fit.

use super::{Crew, rehearsal};
use crate::harness::{Caller, Server, reply};
use gatepost::identity::ConsoleRole;
use reqwest::Method;
use serde_json::{Value, json};

/// 2026-09-21 14:13:20 UTC.
const NOON_S: i64 = 1_790_000_000;
const DAY_S: i64 = 24 * 3600;

struct Fair {
    caller: Caller,
    event: i64,
    pass: i64,
    mug: i64,
}

impl Fair {
    fn at(server: &Server) -> Self {
        let caller = server.caller_with_all();
        let event = caller.device(&json!({"name": "Fair", "deviceType": "event"}));
        Self {
            event,
            pass: caller.device(&json!({"name": "Full pass", "parent": event})),
            mug: caller.device(&json!({"name": "Mug <b>", "parent": event})),
            caller,
        }
    }

    fn mugs(&self, code: &str, count: i64, staff: &str, at_s: i64, method: &str) -> Value {
        let total = 900 * count;
        json!({
            "context": self.event, "code": code, "totalAmount": total, "createdAt": at_s, "recordedBy": staff,
            "transactions": [{"paymentMethod": method, "amount": total}],
            "items": [{"code": format!("{code}0000"), "product": self.mug, "quantity": count,
                "description": "Mug", "unitAmount": 900, "totalAmount": total}],
        })
    }

    fn passes(&self, code: &str, barcodes: &[&str]) -> Value {
        let total = 2_500 * barcodes.len();
        let tickets: Vec<Value> = barcodes
            .iter()
            .map(|barcode| json!({"product": self.pass, "barcode": barcode}))
            .collect();
        json!({
            "context": self.event, "code": code, "totalAmount": total, "createdAt": NOON_S, "recordedBy": "Ada",
            "notes": "wants an invoice",
            "transactions": [{"paymentMethod": "cash", "amount": 10_000, "change": 10_000 - total}],
            "items": [{"code": format!("{code}0000"), "product": self.pass, "quantity": barcodes.len(),
                "unitAmount": 2_500, "totalAmount": total, "delegates": tickets}],
        })
    }

    fn send(&self, body: &Value) -> i64 {
        self.caller.post("/tx/new", body).id()
    }
}

/// What a page shows, without its tags.
fn words(html: &str) -> String {
    let mut words = String::new();
    for part in html.split('<') {
        let text = part.split_once('>').map_or(part, |(_, text)| text);
        words.push_str(text);
        words.push(' ');
    }
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn found(crew: &Crew, query: &str) -> Vec<String> {
    let html = crew.get(&format!("/console/sales?{query}")).shown();
    let lines = html.split("class=\"code\">").skip(1);
    let code = |line: &str| line.split('<').next().unwrap_or_default().to_owned();
    lines.map(code).collect()
}

#[test]
fn purchases_are_found_and_added_up() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Viewer);
    assert!(
        crew.get("/console/sales")
            .shown()
            .contains("Nothing is sold yet")
    );
    assert!(
        crew.get("/console/sales/totals")
            .shown()
            .contains("Nothing is sold yet")
    );
    let fair = Fair::at(&server);
    fair.send(&fair.mugs("M1", 1, "Bo", NOON_S - DAY_S, "card"));
    fair.send(&fair.mugs("M2", 2, "Bo", NOON_S, "cash"));
    fair.send(&fair.passes("P1", &["T-1", "T-2"]));
    let mut odd = fair.mugs("M3", 1, "Ada & Co", NOON_S + DAY_S, "voucher");
    odd["totalAmount"] = json!(1);
    fair.send(&odd);
    let pass = fair.pass;
    for (query, codes) in [
        ("", &["M3", "P1", "M2", "M1"][..]),
        ("staff=Bo", &["M2", "M1"]),
        ("staff=Ada+%26+Co", &["M3"]),
        (&format!("product={pass}"), &["P1"]),
        ("method=cash", &["P1", "M2"]),
        ("method=card", &["M1"]),
        ("method=other", &["M3"]),
        ("fits=open", &["M3"]),
        ("fits=none", &["P1", "M2", "M1"]),
        (
            "since=2026-09-21T00:00&until=2026-09-21T14:13",
            &["P1", "M2"],
        ),
        ("since=2026-09-21T14:14", &["M3"]),
        ("q=t-2", &["P1"]),
        ("q=INVOICE", &["P1"]),
        ("staff=Nobody", &[]),
    ] {
        assert_eq!(found(&crew, query), codes, "{query}");
    }
    let page = words(&crew.get("/console/sales").shown());
    assert!(page.contains("77.01 in 4 purchases"), "{page}");
    assert!(page.contains("68.00 Cash 9.00"), "{page}");
    for (query, failure) in [
        ("since=soon", "Since: must be"),
        ("until=2026-02-30T10:00", "Until: must be"),
        ("product=mug", "Product: must be"),
        ("fits=perhaps", "Fits: must be one of open told none"),
    ] {
        for page in ["", "/totals"] {
            crew.get(&format!("/console/sales{page}?{query}"))
                .refused(422, failure);
        }
        crew.get(&format!("/console/sales/export?{query}"))
            .refused(400, failure);
    }
    let totals = words(&crew.get("/console/sales/totals").shown());
    for shown in [
        "Method 2026-09-20 2026-09-21 2026-09-22 All days Cash – 68.00 2 payments – 68.00 2 payments",
        "Full pass – 50.00 2 units – 50.00 2 units",
        "Bo 9.00 1 purchase 18.00 1 purchase – 27.00 2 purchases",
    ] {
        assert!(totals.contains(shown), "no {shown} in {totals}");
    }
    let csv = crew
        .get("/console/sales/totals/export?by=product&staff=Bo")
        .shown();
    assert_eq!(
        csv,
        "\u{feff}day,product,units,amount,amountCents\r\n\
         2026-09-20,Mug <b>,1,9.00,900\r\n2026-09-21,Mug <b>,2,18.00,1800\r\n"
    );
    crew.get("/console/sales/totals/export?by=shoe")
        .refused(400, "method, product or staff");
    let list = crew
        .get("/console/sales/export?format=csv&method=cash")
        .shown();
    assert_eq!(list.lines().count(), 3, "{list}");
    crew.get("/console/sales/export?format=pdf")
        .refused(400, "csv, xlsx or json");
}

#[test]
fn days_are_those_of_the_instances_zone() {
    let server = Server::start();
    server.settings(&json!({"timeZone": "Asia/Kolkata"}));
    let crew = server.crew(ConsoleRole::Viewer);
    let fair = Fair::at(&server);
    // 18:29 and 18:31 UTC are on two days there.
    fair.send(&fair.mugs("M1", 1, "Bo", 1_790_015_340, "cash"));
    fair.send(&fair.mugs("M2", 1, "Bo", 1_790_015_460, "cash"));
    let csv = crew.get("/console/sales/totals/export?by=staff").shown();
    let begin = "\u{feff}day,staff,purchases,amount,amountCents\r\n2026-09-21,Bo,1,";
    assert!(
        csv.starts_with(begin) && csv.contains("2026-09-22,Bo,1,"),
        "{csv}"
    );
}

#[test]
fn a_long_list_is_turned_page_by_page() {
    let server = Server::start();
    let fair = Fair::at(&server);
    for number in 0..120 {
        // Several at the same second.
        fair.send(&fair.mugs(
            &format!("M{number:03}"),
            1,
            "Bo",
            NOON_S + number / 7,
            "card",
        ));
    }
    let crew = server.crew(ConsoleRole::Viewer);
    let (mut seen, mut path) = (Vec::new(), "/console/sales?staff=Bo".to_owned());
    loop {
        let html = crew.get(&path).shown();
        let lines = html.split("class=\"code\">").skip(1);
        seen.extend(lines.map(|line| line[..4].to_owned()));
        let Some((before, _)) = html.split_once("\">Older") else {
            break;
        };
        let next = before.rsplit('"').next().expect("an address");
        path = next.replace("&#38;", "&");
    }
    let expected: Vec<String> = (0..120)
        .rev()
        .map(|number| format!("M{number:03}"))
        .collect();
    assert_eq!(seen, expected);
}

#[test]
fn a_receipt_tells_all_of_a_purchase_word_for_word() {
    let server = Server::start();
    let fair = Fair::at(&server);
    let first = fair.passes("P1", &["T-1"]);
    let mut second = fair.passes("P1", &["T-1", "T-2"]);
    second["notes"] = json!("<script>alert(1)</script>");
    let id = fair.send(&first);
    assert_eq!(fair.send(&second), id);
    let crew = server.crew(ConsoleRole::Viewer);
    let html = crew.get(&format!("/console/sales/{id}")).shown();
    let page = words(&html);
    for shown in [
        "Full pass P10000 1 25.00 – 25.00",
        "25.00 in total",
        "Cash – 100.00 75.00 25.00",
        "T-1",
        "T-2",
        "wants an invoice",
        "Revision 1:",
        "sent before with other content",
        "sent 2 times",
    ] {
        assert!(page.contains(shown), "no {shown} in {page}");
    }
    assert!(!html.contains("<script>alert"));
    let delegate = fair.caller.get("/delegate/barcode:T-2").id();
    assert!(html.contains(&format!("/console/delegates/{delegate}\"")));
    let bodies: Vec<String> = html
        .split(&format!("/console/sales/{id}/body/"))
        .skip(1)
        .map(|rest| rest.split('"').next().expect("an id").to_owned())
        .collect();
    let kept: Vec<String> = bodies
        .iter()
        .map(|body| {
            crew.get(&format!("/console/sales/{id}/body/{body}"))
                .shown()
        })
        .collect();
    assert_eq!(kept, [first.to_string(), second.to_string()]);
    crew.get("/console/sales/999")
        .refused(404, "There is no purchase 999");
    let other = fair.send(&fair.mugs("M", 1, "Bo", NOON_S, "cash"));
    crew.get(&format!("/console/sales/{other}/body/{}", bodies[0]))
        .refused(404, "no purchase");
}

/// The numbers of the inconsistencies that a page offers to settle.
fn offered(html: &str) -> Vec<String> {
    let boxes = html.split("name=\"inconsistency\" value=\"").skip(1);
    boxes
        .map(|rest| rest.split('"').next().expect("a number").to_owned())
        .collect()
}

#[test]
fn what_does_not_fit_is_settled_with_a_note_and_taken_up_again() {
    let server = Server::start();
    let fair = Fair::at(&server);
    let mut odd = fair.mugs("M1", 2, "Bo", NOON_S, "cash");
    odd["context"] = json!(999);
    odd["totalAmount"] = json!(1_750);
    let id = fair.send(&odd);
    let sound = fair.send(&fair.mugs("M2", 1, "Bo", NOON_S, "cash"));
    let here = "/console/sales/inconsistencies";
    let viewer = server.crew(ConsoleRole::Viewer);
    let html = viewer.get(here).shown();
    assert!(html.contains("there is no device 999") || html.contains("There is no device 999"));
    assert_eq!(offered(&html), [] as [&str; 0], "a viewer settles nothing");
    let settle = format!("/console/sales/{id}/settle");
    viewer
        .post(&settle, &[("note", "x")])
        .refused(403, "needs the role");
    let crew = server.crew(ConsoleRole::Operator);
    let open = offered(&crew.get(here).shown());
    assert_eq!(open.len(), 3, "{open:?}");
    crew.post(&settle, &[("inconsistency", &open[0]), ("note", " ")])
        .refused(422, "Note: must have 1 to 1000");
    crew.post(&settle, &[("note", "fine")])
        .refused(422, "Choose at least one");
    // One of another purchase is not settled by the way.
    crew.post(
        &format!("/console/sales/{sound}/settle"),
        &[("inconsistency", &open[0]), ("note", "fine")],
    )
    .refused(422, "Already settled");
    crew.post(
        &settle,
        &[
            ("inconsistency", &open[0]),
            ("inconsistency", &open[1]),
            ("note", "counted, 50 short"),
        ],
    )
    .taken();
    let flashed = crew.get(here).shown();
    assert!(flashed.contains("2 inconsistencies settled"));
    assert_eq!(offered(&flashed), &open[2..]);
    // Whoever was slower is told.
    crew.post(&settle, &[("inconsistency", &open[0]), ("note", "again")])
        .refused(422, "Already settled");
    let settled = crew.get(&format!("{here}/settled")).shown();
    assert!(settled.contains("counted, 50 short") && settled.contains("operator@example.com"));
    crew.post(
        &settle,
        &[
            ("inconsistency", &open[2]),
            ("note", "fine"),
            ("back", "receipt"),
        ],
    )
    .taken();
    assert!(crew.get(here).shown().contains("No inconsistencies"));
    assert_eq!(found(&crew, "fits=open"), [] as [&str; 0]);
    assert_eq!(found(&crew, "fits=told"), ["M1"]);
    crew.post(&format!("{here}/{}/reopen", open[1]), &[])
        .taken();
    assert_eq!(
        offered(&crew.get(&format!("/console/sales/{id}")).shown()),
        &open[1..2]
    );
    crew.post(&format!("{here}/{}/reopen", open[1]), &[])
        .refused(404, "no settled inconsistency");
    let actions: String = server.value(&format!(
        "SELECT group_concat(action) FROM audit WHERE record_type = 'transaction' AND record_id = {id}"
    ));
    assert_eq!(actions, "settle,settle,reopen");
    let audit = words(&crew.get("/console/audit?type=transaction").shown());
    assert!(
        audit.contains("settled inconsistencies of purchase M1")
            && audit.contains("counted, 50 short"),
        "{audit}"
    );
    // The same body again brings nothing back that was settled.
    fair.send(&odd);
    assert_eq!(offered(&crew.get(here).shown()), &open[1..2]);
}

/// Words that nobody else has.
const WORDS: [&str; 5] = [
    "Quetzalcoatl",
    "Xochimilco",
    "zyxw@example.com",
    "ZYXW-TICKET",
    "Elm Street",
];

/// A purchase of a person, one of a group, a mug for them, and what is no JSON.
fn bodies(fair: &Fair) -> [Value; 3] {
    let mut own = fair.passes("OWN", &["ZYXW-TICKET"]);
    own["customer"] = json!({"name": "Quetzalcoatl", "address": [{"street": "Elm Street 5"}]});
    own["items"][0]["delegates"][0]["guest"] = json!({"surname": "Xochimilco"});
    let mut group = fair.passes("GROUP", &["ZYXW-TICKET-2", "OTHER"]);
    group["notes"] = json!("for Quetzalcoatl Xochimilco and Grace");
    group["items"][0]["delegates"][1]["guest"] = json!({"name": "Grace"});
    let mut mug = fair.mugs("MUG", 1, "Bo", NOON_S, "cash");
    mug["items"][0]["description"] = json!("Mug for ZYXW@example.com");
    mug["mailTo"] = json!(["zyxw@example.com"]);
    mug["totalAmount"] = json!(1);
    [own, group, mug]
}

#[test]
fn who_is_deleted_for_good_is_gone_from_purchases_and_amounts_stay() {
    let server = Server::start();
    let fair = Fair::at(&server);
    let [own, group, mug] = bodies(&fair);
    let keyed = || {
        let request = fair.caller.request(Method::POST, "/tx/new");
        reply(request.header("Idempotency-Key", "own").json(&own))
    };
    let first = keyed();
    let (own_id, group_id) = (first.id(), fair.send(&group));
    let mug_id = fair.send(&mug);
    let id = fair.caller.get("/delegate/barcode:ZYXW-TICKET").id();
    let second = fair.caller.get("/delegate/barcode:ZYXW-TICKET-2").id();
    // It is one person with two tickets.
    let known =
        json!({"firstName": "Quetzalcoatl", "lastName": "Xochimilco", "email": "zyxw@example.com"});
    fair.caller
        .patch(&format!("/delegate/id:{id}"), &known)
        .data();
    let crew = server.crew(ConsoleRole::Administrator);
    // A revision of the own purchase names the person again, deeper, and once more by somebody's note.
    let mut revised = own.clone();
    revised["customer"]["again"] =
        json!([[{"to": {"zyxw@example.com": "Xochimilco, Quetzalcoatl"}}]]);
    fair.send(&revised);
    let raw = fair.caller.request(Method::POST, "/tx/new");
    reply(raw.body("total 25; Quetzalcoatl Xochimilco <zyxw@example.com>")).data();
    let open = offered(&crew.get(&format!("/console/sales/{mug_id}")).shown());
    crew.post(
        &format!("/console/sales/{mug_id}/settle"),
        &[
            ("inconsistency", &open[0]),
            ("note", "Quetzalcoatl Xochimilco paid the rest"),
        ],
    )
    .taken();
    let form = super::delegates::fields(
        &crew
            .get(&format!("/console/delegates/{id}/merge?other={second}"))
            .shown(),
        "/merge",
    );
    super::delegates::send(&crew, &format!("/console/delegates/{id}/merge"), &form).taken();
    assert_eq!(server.traces(&WORDS), WORDS, "all of it is there");
    crew.post(
        &format!("/console/delegates/{id}/erase"),
        &[("confirm", &id.to_string())],
    )
    .taken();
    assert_eq!(server.traces(&WORDS), [] as [&str; 0]);

    let kept = |id: i64| -> Vec<Value> {
        let html = crew.get(&format!("/console/sales/{id}")).shown();
        html.split(&format!("/console/sales/{id}/body/"))
            .skip(1)
            .map(|rest| {
                let body = rest.split('"').next().expect("an id");
                let text = crew
                    .get(&format!("/console/sales/{id}/body/{body}"))
                    .shown();
                serde_json::from_str(&text).expect("JSON")
            })
            .collect()
    };
    let of_own = kept(own_id);
    assert_eq!(of_own.len(), 2);
    for body in &of_own {
        assert_eq!(body["totalAmount"], own["totalAmount"]);
        assert_eq!(body["transactions"], own["transactions"]);
        assert_eq!(body["items"][0]["delegates"][0]["barcode"], "[erased]");
        assert_eq!(body["customer"]["address"][0]["street"], "[erased]");
    }
    let of_group = &kept(group_id)[0];
    assert_eq!(of_group["notes"], "[erased]");
    assert_eq!(
        of_group["items"][0]["delegates"][1],
        group["items"][0]["delegates"][1]
    );
    let page = words(&crew.get(&format!("/console/sales/{mug_id}")).shown());
    assert!(page.contains("9.00") && page.contains("[erased]"), "{page}");
    assert_eq!(
        server.value::<i64>("SELECT sum(net) FROM transaction_payments"),
        2_500 + 5_000 + 900
    );

    // Whatever the till sends again makes nobody anew.
    let again = keyed();
    assert_eq!(again.data()["delegates"][0]["barcode"], "[erased]");
    fair.send(&own);
    let mut another = own.clone();
    another["notes"] = json!("sent once more");
    fair.send(&another);
    assert_eq!(
        server.value::<i64>("SELECT group_concat(barcode) = 'OTHER' FROM delegates"),
        1
    );
}

#[test]
fn the_way_back_from_a_rehearsal_brings_no_erased_person_into_purchases() {
    let server = Server::start();
    let fair = Fair::at(&server);
    let [own, group, _] = bodies(&fair);
    let id = fair.send(&own);
    fair.send(&group);
    let person = fair.caller.get("/delegate/barcode:ZYXW-TICKET").id();
    let known =
        json!({"firstName": "Quetzalcoatl", "lastName": "Xochimilco", "email": "zyxw@example.com"});
    fair.caller
        .patch(&format!("/delegate/id:{person}"), &known)
        .data();
    let crew = server.crew(ConsoleRole::Administrator);
    rehearsal::take_snapshot(&crew);
    fair.send(&fair.passes("LATER", &["LATER-1"]));
    let second = fair.caller.get("/delegate/barcode:ZYXW-TICKET-2").id();
    for person in [person, second] {
        crew.post(
            &format!("/console/delegates/{person}/erase"),
            &[("confirm", &person.to_string())],
        )
        .taken();
    }
    rehearsal::go_back(&crew);
    let codes: String =
        server.value("SELECT group_concat(code) FROM (SELECT code FROM transactions ORDER BY id)");
    assert_eq!(codes, "OWN,GROUP");
    let body: Vec<u8> = server.value(&format!(
        "SELECT body FROM transaction_bodies WHERE transaction_id = {id}"
    ));
    let body = String::from_utf8(body).expect("text");
    assert!(!WORDS.iter().any(|word| body.contains(word)), "{body}");
    assert_eq!(
        server.value::<String>("SELECT group_concat(barcode) FROM delegates"),
        "OTHER"
    );
    fair.send(&own);
    assert_eq!(server.value::<i64>("SELECT count(*) FROM delegates"), 1);
}
