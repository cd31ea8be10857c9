//! `GET /badge/{selector}` (contract §15).

use crate::harness::{Server, whole};
use reqwest::Method;
use serde_json::json;

#[test]
fn a_badge_comes_in_three_formats_and_shows_what_the_client_may_see() {
    let (server, api) = Server::with_api();
    api.delegate(&json!({"barcode": "A/1", "firstName": "Ada", "lastName": "Lovelace"}));
    let get =
        |query: &str| whole(api.request(Method::GET, &format!("/badge/barcode:A%2F1{query}")));
    for (query, kind, begins) in [
        ("", "application/pdf", "%PDF"),
        ("?format=pdf", "application/pdf", "%PDF"),
        ("?format=svg", "image/svg+xml", "<svg"),
        ("?format=zpl", "application/zpl", "^XA^PW839^LL1183"),
        (
            "?format=zpl&dpi=300",
            "application/zpl",
            "^XA^PW1240^LL1748",
        ),
    ] {
        let badge = get(query);
        assert_eq!(badge.reply.status, 200, "{query}");
        assert_eq!(badge.header("content-type"), kind);
        assert!(
            badge.text.starts_with(begins),
            "{query}: {}",
            &badge.text[..40]
        );
    }
    get("?format=gif").reply.invalid("format");
    get("?dpi=7").reply.invalid("dpi");
    api.get("/badge/barcode:none").refused(404, 1301, "");
    let whole_name = get("?format=svg").text;
    let narrow = server.caller_seeing(&["firstName", "barcode"]);
    let seen = whole(narrow.request(Method::GET, "/badge/barcode:A%2F1?format=svg")).text;
    assert!(seen.len() < whole_name.len());
    api.patch("/delegate/barcode:A%2F1", &json!({"lastName": null}))
        .is(200);
    assert_eq!(get("?format=svg").text, seen);
}
