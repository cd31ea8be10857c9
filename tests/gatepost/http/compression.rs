//! gzip: for large answers, on request, and the same once it is taken off.

use crate::harness::{Caller, Server, words};
use reqwest::{Method, blocking::Response};
use serde_json::json;
use std::io::Read;

/// Enough delegates for a list of several slices, which is streamed.
fn fill(server: &Server) -> Caller {
    let api = server.caller_with_all();
    server.sql(
        "WITH RECURSIVE n (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM n WHERE n < 2000)
         INSERT INTO delegates (barcode, first_name, sources, created_at, updated_at, public_id)
         SELECT 'B-' || n, 'Zoë ' || n, '[]', 0, 0, 'p-' || n FROM n",
    );
    api
}

fn ask(api: &Caller, path: &str, accepted: Option<&str>) -> Response {
    let mut request = api.request(Method::GET, path);
    if let Some(accepted) = accepted {
        request = request.header("Accept-Encoding", accepted);
    }
    request.send().expect("an answer")
}

fn header<'a>(response: &'a Response, name: &str) -> &'a str {
    let value = response.headers().get(name);
    value.map_or("", |value| value.to_str().expect("a plain header"))
}

fn varies(response: &Response) -> bool {
    let all = response.headers().get_all("vary").iter();
    all.into_iter().any(|value| value == "accept-encoding")
}

fn unpacked(packed: &[u8]) -> String {
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed)
        .read_to_string(&mut text)
        .expect("gzip");
    text
}

#[test]
fn a_large_answer_is_compressed_for_who_asks_and_is_the_same() {
    let server = Server::start();
    let api = fill(&server);
    // One slice with its length known, and several that are streamed.
    for path in ["/delegate/list?limit=100", "/delegate/list?limit=2000"] {
        let plain = ask(&api, path, None);
        assert_eq!(header(&plain, "content-encoding"), "");
        assert!(varies(&plain));
        let plain = plain.text().expect("text");
        let packed = ask(&api, path, Some("deflate, gzip;q=0.8"));
        assert_eq!(packed.status(), 200);
        assert_eq!(header(&packed, "content-encoding"), "gzip");
        assert_eq!(header(&packed, "content-length"), "");
        assert!(varies(&packed));
        let packed = packed.bytes().expect("bytes");
        assert!(
            packed.len() * 3 < plain.len(),
            "{} of {}",
            packed.len(),
            plain.len()
        );
        assert_eq!(unpacked(&packed), plain);
        let refused = ask(&api, path, Some("gzip;q=0, br"));
        assert_eq!(header(&refused, "content-encoding"), "");
    }
}

#[test]
fn a_small_answer_is_sent_as_it_is() {
    let (_server, api) = Server::with_api();
    api.delegate(&json!({"barcode": "A-1"}));
    for path in words("/delegate/barcode:A-1 /delegate/list /delegate/barcode:A-2") {
        let answer = ask(&api, path, Some("gzip"));
        assert_eq!(header(&answer, "content-encoding"), "", "{path}");
        assert_ne!(header(&answer, "content-length"), "", "{path}");
    }
}

/// A list is compressed as it is read: its beginning is there long before its end.
#[test]
fn a_compressed_list_is_streamed() {
    let server = Server::start();
    let api = fill(&server);
    let mut answer = ask(&api, "/delegate/list?limit=2000", Some("gzip"));
    assert_eq!(header(&answer, "transfer-encoding"), "chunked");
    let mut beginning = [0; 100];
    answer.read_exact(&mut beginning).expect("a beginning");
    assert_eq!(&beginning[..2], b"\x1f\x8b");
}
