//! The headers that every answer carries, and what those must have that a browser shows.

use crate::{
    console::browser,
    harness::{Server, Whole, whole},
};
use gatepost::{
    admin::{self, Access},
    identity::ConsoleRole,
};
use reqwest::{Method, header};
use std::collections::BTreeSet;

/// What some answers have beside the headers of all. A page is HTML.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Page,
    File,
    Api,
    Download,
    Redirect,
}
use Kind::{Api, Download, File, Page, Redirect};

/// Addresses of each part of the server, in states of their own: `status path`.
const ADDRESSES: [(Kind, u16, &str); 42] = [
    (Redirect, 303, "/"),
    (Redirect, 303, "/console"),
    (Page, 200, "/console/sign-in"),
    (Page, 403, "/console/setup?token=x"),
    (Page, 404, "/console/nothing"),
    (File, 200, "/console/static/console.css"),
    (Page, 404, "/console/static/nothing.css"),
    (Page, 200, "/docs"),
    (File, 200, "/openapi.json"),
    (File, 200, "/health/live"),
    (File, 200, "/health/ready"),
    (File, 200, "/metrics"),
    (File, 404, "/logo"),
    (File, 200, "/o/nobody.gif"),
    (Page, 200, "/otp"),
    (File, 200, "/otp/style.css"),
    (File, 200, "/otp/icon.svg"),
    (Page, 404, "/t/7-0123"),
    (Page, 404, "/t/7-0123.ics"),
    (Page, 404, "/t/c7-0123"),
    (Page, 200, "/t/try"),
    (File, 200, "/t/style.css"),
    (Page, 200, "/gate"),
    (File, 200, "/gate/app.js"),
    (File, 200, "/gate/version.json"),
    (File, 404, "/gate/nothing.js"),
    (Page, 200, "/gate/trust"),
    (File, 404, "/gate/trust/ca.crt"),
    (File, 204, "/gate/trust/check"),
    (File, 200, "/gate/trust/trust.js"),
    (Page, 200, "/handbook"),
    (Page, 200, "/handbook/search?q=gate"),
    (Page, 200, "/handbook/start"),
    (File, 200, "/handbook/console.css"),
    (File, 404, "/handbook/nothing"),
    (File, 200, "/.well-known/oauth-authorization-server"),
    (File, 404, "/nothing"),
    (File, 400, "/%ff"),
    (Api, 401, "/api/v5/ping"),
    (Api, 404, "/api/v5/nothing"),
    (Api, 405, "/api/v5/delegate/new"),
    (Api, 405, "/api/oauth/v2/token"),
];

#[track_caller]
fn check(kind: Kind, named: &str, answer: &Whole) {
    assert_eq!(
        answer.header("x-content-type-options"),
        "nosniff",
        "{named}"
    );
    assert_eq!(answer.header("referrer-policy"), "no-referrer", "{named}");
    assert_ne!(answer.header("x-request-id"), "", "{named}");
    let (policy, cached) = (
        answer.header("content-security-policy"),
        answer.header("cache-control"),
    );
    let is_html = answer.header("content-type").starts_with("text/html");
    match kind {
        Page => {
            assert!(is_html, "{named}");
            for part in [
                "default-src 'none'",
                "frame-ancestors 'none'",
                "base-uri 'none'",
            ] {
                assert!(policy.contains(part), "{named}: {policy}");
            }
        }
        Api => assert_eq!(cached, "no-store", "{named}"),
        Download => {
            let kept = answer.header("content-disposition");
            assert!(kept.starts_with("attachment; "), "{named}: {kept}");
            assert_eq!(cached, "no-store", "{named}");
        }
        Redirect => assert_ne!(answer.header("location"), "", "{named}"),
        File => {}
    }
    assert!(
        kind == Page || kind == Redirect || !is_html,
        "{named}: no page"
    );
}

#[test]
fn every_public_address_has_the_headers_that_it_must_have() {
    let server = Server::start();
    server.crew(ConsoleRole::Administrator);
    for (kind, status, path) in ADDRESSES {
        let url = format!("{}{path}", server.url());
        let answer = whole(browser().get(url));
        assert_eq!(answer.reply.status, status, "{path}");
        check(kind, path, &answer);
    }
    for (method, path, kind) in [
        (Method::OPTIONS, "/api/v5/ping", Api),
        (Method::POST, "/console/sign-in", Page),
        (Method::POST, "/console/nothing", Page),
        (Method::DELETE, "/gate", File),
        (Method::POST, "/otp", Page),
        (Method::POST, "/api/v5/oauth/v2/token", Api),
    ] {
        check(kind, path, &whole(server.request(method, path)));
    }
}

#[test]
fn every_page_of_the_console_has_them_and_so_have_answers_of_the_api() {
    let (server, api) = Server::with_api();
    let crew = server.crew(ConsoleRole::Administrator);
    let delegate = api.delegate(&serde_json::json!({"barcode": "A"}));
    // Streams never end; the rest are pages, parts of pages, files and what is not there.
    let streams =
        |path: &str| path.contains("stream") || path.contains("live") || path.contains("events");
    let mut seen = BTreeSet::new();
    for route in admin::routes() {
        if route.method != Method::GET || route.access == Access::Anyone || streams(route.path) {
            continue;
        }
        let parts = route.path.split('/').map(|part| {
            if part.starts_with([':', '*']) {
                "1"
            } else {
                part
            }
        });
        let path = parts.collect::<Vec<_>>().join("/");
        let response = crew.request(Method::GET, &path).send().expect("an answer");
        let header = |name| {
            response
                .headers()
                .get(name)
                .map_or("", |value| value.to_str().expect("text"))
        };
        assert_eq!(header(header::X_CONTENT_TYPE_OPTIONS), "nosniff", "{path}");
        assert_eq!(header(header::REFERRER_POLICY), "no-referrer", "{path}");
        assert_eq!(header(header::X_FRAME_OPTIONS), "DENY", "{path}");
        assert!(
            header(header::CONTENT_SECURITY_POLICY).contains("frame-ancestors 'none'"),
            "{path}"
        );
        assert_eq!(header(header::CACHE_CONTROL), "no-store", "{path}");
        seen.insert(response.status().as_u16());
    }
    assert!(seen.contains(&200) && seen.contains(&404), "{seen:?}");
    let download = whole(crew.request(Method::GET, "/console/delegates/export?format=csv"));
    check(Download, "the export", &download);
    for path in [
        format!("/delegate/id:{delegate}"),
        "/delegate/list".to_owned(),
        "/changes".to_owned(),
    ] {
        check(Api, &path, &whole(api.request(Method::GET, &path)));
    }
}

#[test]
fn the_reference_is_packed_once_and_the_same_to_everybody() {
    let server = Server::start();
    for path in ["/docs", "/openapi.json"] {
        let ask = |accepted: &str| {
            let request = server.request(Method::GET, path);
            request
                .header("Accept-Encoding", accepted)
                .send()
                .expect("an answer")
        };
        let coding = |response: &reqwest::blocking::Response| {
            response
                .headers()
                .get(header::CONTENT_ENCODING)
                .is_some_and(|coding| coding == "gzip")
        };
        let plain = ask("identity");
        assert!(!coding(&plain));
        let plain = plain.bytes().expect("bytes");
        for accepted in ["gzip", "deflate, gzip;q=0.5"] {
            let packed = ask(accepted);
            assert!(coding(&packed), "{accepted}");
            // Its length is known: it is not packed while it is sent.
            assert!(
                packed.headers().contains_key(header::CONTENT_LENGTH),
                "{accepted}"
            );
            let packed = packed.bytes().expect("bytes");
            let mut unpacked = Vec::new();
            std::io::copy(
                &mut flate2::read::GzDecoder::new(&packed[..]),
                &mut unpacked,
            )
            .expect("gzip");
            assert!(unpacked == plain, "{path}");
        }
        assert!(!coding(&ask("gzip;q=0")));
    }
}
