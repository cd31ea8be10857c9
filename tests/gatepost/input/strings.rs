//! Text that would be something else where text is pasted together.

use super::{Venue, told};
use crate::harness::{Agrees, whole};
use reqwest::Method;
use serde_json::{Value, json};

const NASTY: [&str; 14] = [
    "'; DROP TABLE delegates; --",
    "' OR '1'='1",
    "\" OR 1=1 --",
    "1; SELECT * FROM tokens",
    "x' UNION SELECT secret_hash FROM clients --",
    "?1 :name @name $name",
    "%' ESCAPE '\\",
    "<script>alert(1)</script>",
    "{{7*7}} ${7*7}",
    "=1+1",
    "a\u{2028}b\u{202e}c\u{feff}",
    "\u{1}\u{7f}\t\r\n",
    "👩‍👩‍👧‍👦 ﷽ 𝕏",
    "../../../etc/passwd",
];

fn encoded(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}

#[test]
fn every_text_property_keeps_what_it_was_given() {
    let venue = Venue::new();
    let kinds: [(&str, &str, &[&str]); 3] = [
        (
            "/delegate/new",
            "/delegate/id:",
            &[
                "barcode",
                "rfid",
                "externalId",
                "publicId",
                "code",
                "uhfId",
                "slug",
                "firstName",
                "lastName",
                "email",
                "phone",
                "jobTitle",
                "company",
                "delegateType",
            ],
        ),
        (
            "/device/new",
            "/device/id:",
            &[
                "code",
                "publicId",
                "externalId",
                "rfid",
                "slug",
                "name",
                "shortName",
                "description",
                "deviceType",
                "deviceTags",
                "category",
            ],
        ),
        (
            "/event/new",
            "/event/",
            &[
                "eventName",
                "eventExternalID",
                "eventManagerEmail",
                "eventManagerPhone",
            ],
        ),
    ];
    for (new, path, names) in kinds {
        for text in NASTY {
            // What is judged of an address is its @.
            let value = |name: &str| {
                if name.to_lowercase().contains("email") {
                    format!("{text}@{text}")
                } else {
                    (*text).to_owned()
                }
            };
            let body: Value = names
                .iter()
                .map(|name| ((*name).to_owned(), json!(value(name))))
                .collect();
            let made = venue.all.post(new, &body);
            let path = format!("{path}{}", made.id());
            let shown = venue.all.read(&path);
            for name in names.iter().copied() {
                let value = value(name);
                assert_eq!(shown[name], value, "{name} of {new}");
                assert_eq!(
                    venue.all.patch(&path, &json!({name: value})).data()[name],
                    value
                );
                let error = venue.all.patch(&path, &json!({text: 1}));
                error.invalid("");
            }
            // Codes of events are codes of devices too.
            venue.all.delete(&path).is(204);
        }
    }
    venue.goes_on();
}

#[test]
fn keys_and_values_in_data_keep_what_they_were_given() {
    let venue = Venue::new();
    for text in NASTY {
        let data = json!({text: {text: [text, {text: text}]}, "\u{0}": {"\u{0}": "\u{0}"}});
        let made = venue.all.made("/delegate/new", &json!({"data": data}));
        assert_eq!(made["data"], data);
        let lead = json!({"delegate": made["id"], "data": data, "nonce": text});
        assert_eq!(venue.all.interact("lead", &lead).data()["data"], data);
        venue.all.interact("lead", &lead).is(200);
        let batch = json!({"interactions": {text: {"interactionType": "lead", "delegate": made["id"], "data": {"x": {"$shared": text}}}}, "sharedValues": {text: text}});
        let answers = venue.all.made("/interaction/batch", &batch);
        answers[0].agrees(&json!({"key": text, "status": 201}));
    }
    venue.goes_on();
}

#[test]
fn selectors_and_parameters_are_only_ever_values() {
    let venue = Venue::new();
    let before = venue.written();
    for text in NASTY {
        let value = encoded(text);
        for path in [
            format!("/delegate/barcode:{value}"),
            format!("/delegate/{value}:1"),
            format!("/delegate/id:{value}"),
            format!("/delegate/{value}"),
            format!("/device/code:{value}"),
            format!("/event/externalId:{value}"),
            format!("/event/{value}"),
            format!("/delegate/list?fields={value}"),
            format!("/delegate/list?limit={value}"),
            format!("/delegate/list?offset={value}"),
            format!("/interaction/list?fields={value}"),
            format!("/device/id:1?fields=id,{value}"),
        ] {
            let answer = whole(venue.all.request(Method::GET, &path));
            told(&answer);
            assert!(answer.reply.status >= 400, "{path}: {answer:?}");
        }
        for kind in ["new", "test"] {
            let path = format!("/interaction/{kind}/{value}");
            let answer = whole(
                venue
                    .all
                    .request(Method::POST, &path)
                    .json(&json!({"delegate": 1})),
            );
            told(&answer);
            assert_eq!(answer.reply.code(), 1501, "{path}");
        }
        let scan = json!({"delegate": format!("barcode:{text}"), "device": "code:gate"});
        venue
            .all
            .post("/interaction/test/check-in", &scan)
            .refused(404, 1301, "");
        let answer = whole(
            venue
                .all
                .request(Method::DELETE, &format!("/interaction/id:{value}")),
        );
        answer.reply.invalid("");
    }
    assert_eq!(venue.written(), before);
    venue.goes_on();
}

#[test]
fn a_nul_character_is_refused_in_text_and_kept_in_data() {
    let venue = Venue::new();
    for name in ["barcode", "firstName", "email", "rawFlags"] {
        venue
            .all
            .post("/delegate/new", &json!({name: "a\u{0}b"}))
            .invalid(name);
    }
    venue
        .all
        .post("/event/new", &json!({"eventName": "\u{0}"}))
        .invalid("eventName");
    let found = venue
        .all
        .interact("lead", &json!({"delegate": "barcode:A\u{0}"}));
    assert!([400, 404].contains(&found.status), "{found:?}");
    let form = json!({"form": "f", "answers": [{"field": "a\u{0}.b", "answer": "\u{0}"}]});
    let lead = venue
        .all
        .interact("lead", &json!({"delegate": "barcode:A", "data": form}));
    assert_eq!(
        lead.data()["data"]["answersData"],
        json!({"a\u{0}": {"b": "\u{0}"}})
    );
    venue.goes_on();
}
