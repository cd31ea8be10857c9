//! Tag numbers for everybody.

use crate::harness::{Server, has};
use gatepost::identity::ConsoleRole;
use serde_json::json;

#[test]
fn everybody_gets_a_tag_number_and_none_is_given_twice() {
    let (server, all) = Server::with_api();
    let crew = server.crew(ConsoleRole::Administrator);
    let [ada, bo, cy] = ["Ada", "Bo", "Cy"].map(|name| all.delegate(&json!({"firstName": name})));
    let number = |counter: u8, id: i64| format!("E7E7{counter:02X}{id:018X}");
    // Somebody typed what Ada would get and what comes after it, and Bo lost his badge.
    for typed in [
        number(0, ada).to_lowercase(),
        number(1, ada),
        number(0, cy + 100),
    ] {
        all.delegate(&json!({"firstName": "Typed", "uhfId": typed}));
    }
    let of_bo = format!("/delegate/id:{bo}");
    all.patched(&of_bo, &json!({"uhfId": number(0, bo)}));
    let lost = format!("/console/delegates/{bo}/badge/uhfId");
    let number_of_bo = number(0, bo);
    crew.post(
        &lost,
        &[("value", &number_of_bo), ("reason", "reported lost")],
    )
    .taken();
    let assign = |prefix: &str| {
        crew.post("/console/readers/encode", &[("prefix", prefix)])
            .taken();
    };
    assign("E7E7E7E7E7E");
    has(crew.page("/console/readers"), "2 to 10 hexadecimal digits");
    assign("e7e7");
    for (id, counter) in [(ada, 2), (bo, 1), (cy, 0)] {
        let given = server.text(&format!("SELECT uhf_id FROM delegates WHERE id = {id}"));
        assert_eq!(given, number(counter, id));
    }
    assert_eq!(server.count("delegates WHERE uhf_id IS NULL"), 0);
}
