//! Paths, query strings and headers that nobody would send on purpose.

use super::{TABLE, Venue, send_bytes, told};
use crate::harness::{whole, words};
use reqwest::Method;
use serde_json::{Value, json};

/// Sends a request line's target as it is: the status, and the body where there is one.
fn target(venue: &Venue, target: &[u8]) -> (u16, Value) {
    let mut request = b"GET ".to_vec();
    request.extend_from_slice(target);
    let token = &venue.all.token;
    let rest = format!(
        " HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\r\n"
    );
    request.extend_from_slice(rest.as_bytes());
    let (status, text) = send_bytes(&venue.server, &request, false);
    let body = text.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    (status, serde_json::from_str(body).unwrap_or(Value::Null))
}

#[track_caller]
fn in_table(answer: &(u16, Value), of: &[u8]) {
    let of = String::from_utf8_lossy(&of[..of.len().min(200)]);
    let code = answer.1["meta"]["error"]["internalCode"]
        .as_i64()
        .unwrap_or_default();
    let row = TABLE.iter().find(|(status, _)| *status == answer.0);
    assert!(
        row.is_some_and(|(_, codes)| codes.contains(&code)),
        "{of}: {answer:?}"
    );
}

#[test]
fn broken_percent_encoding_is_refused() {
    let venue = Venue::new();
    for broken in words("% %4 %zz %G1 a% %%41 %ff %C3 %C3%28 %ED%A0%80 %F8%88%80%80%80") {
        for path in words("/delegate/barcode: /device/code: /event/externalId: /interaction/id:") {
            let path = format!("/api/v5{path}{broken}");
            let answer = target(&venue, path.as_bytes());
            if path.contains("/interaction") {
                in_table(&answer, path.as_bytes());
            } else {
                let code = &answer.1["meta"]["error"]["internalCode"];
                assert_eq!(
                    (answer.0, code),
                    (400, &Value::from(1100)),
                    "{path}: {answer:?}"
                );
            }
        }
        for query in ["limit=", "offset=", "fields=", "", "search=", "x="] {
            let path = format!("/api/v5/delegate/list?{query}{broken}");
            let answer = target(&venue, path.as_bytes());
            let code = &answer.1["meta"]["error"]["internalCode"];
            assert_eq!(
                (answer.0, code),
                (400, &Value::from(1100)),
                "{path}: {answer:?}"
            );
        }
    }
    venue.goes_on();
}

#[test]
fn a_nul_in_a_selector_finds_nothing() {
    let venue = Venue::new();
    for path in words(
        "/delegate/barcode:A%00 /delegate/barcode:%00 /device/code:gate%00x /delegate/id:1%00",
    ) {
        let answer = whole(venue.all.request(Method::GET, path));
        told(&answer);
        assert!(
            [400, 404].contains(&answer.reply.status),
            "{path}: {answer:?}"
        );
    }
    venue.goes_on();
}

#[test]
fn long_paths_and_queries_are_answered() {
    let venue = Venue::new();
    for length in [256, 5_000, 60_000] {
        let long = "x".repeat(length);
        for path in [
            format!("/api/v5/delegate/barcode:{long}"),
            format!("/api/v5/delegate/{long}"),
            format!("/api/v5/interaction/new/{long}"),
            format!("/api/v5/{}", "a/".repeat(length / 2)),
            format!("/api/v5/delegate/list?fields={long}"),
            format!("/api/v5/delegate/list?limit={}", "9".repeat(length)),
            format!("/{long}"),
        ] {
            in_table(&target(&venue, path.as_bytes()), path.as_bytes());
        }
    }
    venue.goes_on();
}

/// The HTTP library answers what is no request (contract §2).
#[test]
fn what_is_no_request_is_refused_and_ends_its_connection() {
    let venue = Venue::new();
    let get = |path: &str, headers: &str| {
        format!("GET {path} HTTP/1.1\r\nHost: x\r\n{headers}\r\n").into_bytes()
    };
    let long = format!("/api/v5/delegate/list?search={}", "x".repeat(70_000));
    let good = get("/api/v5/ping", "");
    // A head of exactly so many bytes, in one write.
    let head = |bytes: usize| {
        let headers = |value: &str| format!("Connection: close\r\nX: {value}\r\n");
        let bare = get("/health/live", &headers("")).len();
        get("/health/live", &headers(&"y".repeat(bytes - bare)))
    };
    // Whoever hangs up need not get an answer.
    let (_, most) = send_bytes(&venue.server, &head(80 * 1024), false);
    assert!(most.starts_with("HTTP/1.1 200"), "{most}");
    for (request, status) in [
        (get(&long, ""), 414),
        (head(80 * 1024 + 1), 431),
        (head(100 * 1024), 431),
        (get("/", &format!("X: {}\r\n", "y".repeat(200_000))), 431),
        (get("/", &"X: y\r\n".repeat(101)), 431),
        (get("/", "Content-Length: x\r\n"), 400),
        (b"\x00\x01\x02\r\n\r\n".to_vec(), 400),
        (b"GET / HTTP/1.1\r\nno header\r\n\r\n".to_vec(), 400),
        // After an answer, on the same connection.
        ([&good[..], b"\x00\r\n\r\n"].concat(), 400),
    ] {
        let (_, answers) = send_bytes(&venue.server, &request, false);
        let (_, answer) = answers.rsplit_once("HTTP/1.1 ").expect("an answer");
        assert!(answer.starts_with(&status.to_string()), "{answers}");
        assert!(answer.contains("\r\nconnection: close\r\n"), "{answers}");
    }
    venue.goes_on();
}

#[test]
fn raw_bytes_and_odd_targets_do_no_harm() {
    let venue = Venue::new();
    for odd in [
        &b"/api/v5/delegate/barcode:\xff\xfe"[..],
        b"/api/v5/delegate/barcode:\xc3\xa9",
        b"/api/v5/delegate/barcode:\x01",
        b"/api/v5/delegate/list?fields=\xff",
        b"/api/v5/delegate/list?\xc3\xa9=1",
        b"/api/v5/../../etc/passwd",
        b"/api/v5/delegate/../delegate/list/x",
        b"//api/v5/ping",
        b"/api/v5/ping;x",
        b"/api/v5/ping#x",
        b"/api/v5/%70ing/x",
        b"*",
        b"x",
        b"http://elsewhere/nope",
        b"/api/v5/delegate/list?limit=1&limit=0",
        b"/api/v5/delegate/list?limit[]=1",
        b"/api/v5/delegate/list?&&=&limit",
    ] {
        let (status, body) = target(&venue, odd);
        assert!(
            (200..500).contains(&status),
            "{} {body}",
            String::from_utf8_lossy(odd)
        );
    }
    venue.goes_on();
}

#[test]
fn odd_headers_do_no_harm() {
    let venue = Venue::new();
    let token = venue.all.token.to_string();
    let with = |headers: &[u8]| {
        let mut request =
            b"GET /api/v5/delegate/list?limit=1 HTTP/1.1\r\nConnection: close\r\n".to_vec();
        request.extend_from_slice(headers);
        request.extend_from_slice(b"\r\n\r\n");
        send_bytes(&venue.server, &request, false).0
    };
    for (headers, statuses) in [
        (
            b"Host: x\r\nAuthorization: Bearer \xff\xfe".to_vec(),
            &[401][..],
        ),
        (b"Host: x\r\nAuthorization: Bearer".to_vec(), &[401]),
        (
            format!("Host: x\r\nAuthorization: Bearer {}", "x".repeat(10_000)).into_bytes(),
            &[401],
        ),
        (
            format!("Host: x\r\nAuthorization: bEARER {token}").into_bytes(),
            &[200],
        ),
        (
            format!("Host: \"<script>\r\nAuthorization: Bearer {token}").into_bytes(),
            &[200, 400],
        ),
        (
            format!("Authorization: Bearer {token}").into_bytes(),
            &[200, 400],
        ),
        (
            format!("Host: x\r\nAuthorization: Bearer {token}\r\nContent-Length: x").into_bytes(),
            &[200, 400],
        ),
        (
            format!(
                "Host: x\r\nAuthorization: Bearer {token}\r\nX: {}",
                "x".repeat(1_000_000)
            )
            .into_bytes(),
            &[400, 431],
        ),
        (b"\x00\x01\x02".to_vec(), &[400]),
    ] {
        let status = with(&headers);
        let shown = String::from_utf8_lossy(&headers[..headers.len().min(80)]).into_owned();
        assert!(statuses.contains(&status), "{status}: {shown}");
    }
    let (status, _) = send_bytes(
        &venue.server,
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        false,
    );
    assert!([0, 400].contains(&status), "{status}");
    for key in ["x".repeat(256), "é".into(), String::new()] {
        let request = venue
            .all
            .request(Method::POST, "/delegate/new")
            .header("Idempotency-Key", key);
        let answer = whole(request.json(&json!({})));
        told(&answer);
    }
    venue.goes_on();
}
