//! The page on which a code is asked for.

use super::Site;
use crate::{
    console::browser,
    harness::{Whole, has, lacks, whole},
};
use reqwest::Method;
use serde_json::json;

fn asked(site: &Site, email: &str, headers: &[(&str, &str)]) -> Whole {
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
    has(&form.text, "Expo &#60;26&#62;");
    has(form.header("content-security-policy"), "default-src 'none'");
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
        has(&refused.text, "another site");
    }
    let wrong = asked(&site, "<b>nobody</b>", &[]);
    assert_eq!(wrong.reply.status, 422);
    has(&wrong.text, "not an e-mail address");
    lacks(&wrong.text, "<b>");
    assert_eq!(site.messages(), 0);
    for _ in 0..5 {
        assert_eq!(asked(&site, "ada@example.org", &[]).reply.status, 200);
    }
    let throttled = asked(&site, "ada@example.org", &[]);
    assert_eq!(throttled.reply.status, 429);
    assert_ne!(throttled.header("retry-after"), "");
    // Whoever asked does not keep her out: she is elsewhere.
    let elsewhere = [("X-Forwarded-For", "192.0.2.7")];
    assert_eq!(
        asked(&site, "ada@example.org", &elsewhere).reply.status,
        200
    );
    // It counts together with what apps ask for.
    site.send("ada@example.org").refused(429, 1203, "");
    site.server.settings(&json!({"oneTimePasswords": "off"}));
    let off = whole(site.server.request(Method::GET, "/otp"));
    has(&off.text, "switched off");
    lacks(&off.text, "<form");
    assert_eq!(asked(&site, "bob@example.org", &[]).reply.status, 403);
}
