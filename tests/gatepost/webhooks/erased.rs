//! Whoever is erased is told to nobody any more, and is in nothing that webhooks keep.

use super::{
    await_value,
    receiver::{Act, Receiver},
    server, told,
};
use crate::harness::lacks;
use serde_json::json;

#[test]
fn what_waits_of_somebody_who_is_erased_is_sent_without_a_word_of_it() {
    let server = server();
    // It repeats what it was told, as some do.
    let receiver = Receiver::that(|delivery| {
        let told = Box::leak(delivery.text.clone().into_boxed_str());
        if delivery.text.contains("Quetzalcoatl") {
            Act::Answer(500, told)
        } else {
            Act::Answer(200, told)
        }
    });
    told(&server, &receiver, &["*"], &["*"]);
    let api = server.caller_with_all();
    let other = api.delegate(&json!({"firstName": "Grace"}));
    let id = api.delegate(&json!({"firstName": "Quetzalcoatl"}));
    let said = json!({"delegate": other, "secondDelegate": id, "data": {"said": "Quetzalcoatl"}});
    api.interact("lead", &said).id();
    api.interact(
        "seen",
        &json!({"delegate": id, "data": {"note": "Xochimilco"}}),
    )
    .id();
    let deleted = api
        .interact(
            "seen",
            &json!({"delegate": id, "data": {"note": "Quetzalcoatl"}}),
        )
        .id();
    await_value(
        &server,
        "its record, its scans and the other's lead wait",
        "SELECT count(*) FROM outbox",
        4,
    );
    api.delete(&format!("/interaction/id:{deleted}"));
    let keeps = "SELECT count(*) FROM webhook_attempts WHERE answer LIKE '%Quetzalcoatl%'";
    crate::faults::process::until("answers are kept", || server.value::<i64>(keeps) > 0);
    let crew = server.administrator();
    crew.erase(id);
    let before = receiver.came().len();
    let at = format!(
        "/console/webhooks/{}",
        server.value::<i64>("SELECT id FROM webhooks")
    );
    crew.press(&format!("{at}/resume"));
    let came = receiver.wait("that it is erased", |came| {
        came.iter().any(|came| came.kind() == "delegate.erased")
    });
    await_value(&server, "nothing waits", "SELECT count(*) FROM outbox", 0);
    let erased = came.iter().find(|came| came.kind() == "delegate.erased");
    assert_eq!(
        erased.expect("it came").data(),
        &json!({"id": id, "_type": "delegate"})
    );
    for told in &receiver.came()[before..] {
        lacks(&told.text, ["Quetzalcoatl", "Xochimilco"]);
    }
    let created = |told: &super::receiver::Delivery| {
        told.kind() == "delegate.created" && told.data() == &json!({"id": id, "_type": "delegate"})
    };
    assert!(receiver.came()[before..].iter().any(created));
    let words = ["Quetzalcoatl", "Xochimilco"];
    assert_eq!(server.traces(&words), [] as [&str; 0]);
}
