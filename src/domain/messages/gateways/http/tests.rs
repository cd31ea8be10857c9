//! Tests of what can be set, and how places are filled in.

use super::*;

fn http() -> Http {
    Http {
        preset: None,
        method: "POST".into(),
        url: "https://sms.example.org/send?to={{ to }}".into(),
        headers: BTreeMap::new(),
        content_type: "application/json".into(),
        body: r#"{"text": "{{text}}"}"#.into(),
        user: None,
        from: None,
        success: None,
    }
}

#[test]
fn a_call_that_cannot_be_made_is_refused_when_it_is_set() {
    assert!(http().check(Reach::Network).is_ok());
    let change = |change: fn(&mut Http)| {
        let mut changed = http();
        change(&mut changed);
        changed.check(Reach::Network).unwrap_err().to_string()
    };
    for (told, about) in [
        (
            change(|http| http.url = "https://{{ to }}/".into()),
            "host is fixed",
        ),
        (
            change(|http| http.url = "https://a.{{ user }}.example.org/".into()),
            "host is fixed",
        ),
        (change(|http| http.url = "{{ to }}".into()), "url"),
        (
            change(|http| http.url = "http://127.0.0.1/".into()),
            "loopback",
        ),
        (change(|http| http.url = "file:///etc/passwd".into()), "url"),
        (change(|http| http.method = "DELETE".into()), "method"),
        (
            change(|http| http.body = "{{ nothing }}".into()),
            "unknown {{ nothing }}",
        ),
        (
            change(|http| http.body = "{\"text\": {{ text".into()),
            "without its",
        ),
        (
            change(|http| http.body = r#"{"text": {{ text }}}"#.into()),
            "within quotes",
        ),
        (
            change(|http| http.headers = BTreeMap::from([("A B".into(), "x".into())])),
            "headers",
        ),
        (
            change(|http| http.headers = BTreeMap::from([("A".into(), "x\r\nB: y".into())])),
            "headers",
        ),
        (change(|http| http.user = Some("a\nb".into())), "user"),
        (
            change(|http| {
                http.success = Some(Success {
                    path: " ".into(),
                    equals: "0".into(),
                });
            }),
            "success.path",
        ),
    ] {
        assert!(told.contains(about), "no {about:?} in {told:?}");
    }
}

#[test]
fn a_place_is_filled_in_as_its_surroundings_ask() {
    let value = |_: &str| Some("a \"b\"&c=d\r\né".to_owned());
    for (part, filled) in [
        (Part::Url, "a%20%22b%22%26c%3Dd%0D%0A%C3%A9"),
        (Part::Form, "a%20%22b%22%26c%3Dd%0D%0A%C3%A9"),
        (Part::Header, "a \"b\"&c=dé"),
        (Part::Json, "a \\\"b\\\"&c=d\\r\\né"),
        (Part::Plain, "a \"b\"&c=d\r\né"),
    ] {
        assert_eq!(fill("{{to}}", part, value).unwrap(), filled, "{part:?}");
    }
    // What is filled in is not looked at again.
    let value = |name: &str| Some(if name == "to" { "{{ secret }}" } else { "x" }.to_owned());
    assert_eq!(
        fill("{{ to }}!", Part::Plain, value).unwrap(),
        "{{ secret }}!"
    );
}
