//! Deliveries that an older version left pending, failed or unknown: after the upgrade nothing is delivered
//! twice or left out, and receivers know repetitions by the same ids.

use super::{crash, smtp::MailServer};
use crate::{
    data::older,
    faults::process::{Served, gatepost, until},
    webhooks::receiver::Receiver,
};
use gatepost::types::secret::{digest, hex};
use serde_json::json;

/// The id that the version of schema 22 gave a delivery about an interaction.
fn delivery_id(interaction: i64, created_at: i64) -> String {
    let text = format!("whk-7f3a|interaction|{interaction}|{created_at}");
    format!("msg_{}", hex(&digest(text.as_bytes())[..16]))
}

#[test]
fn pending_deliveries_survive_the_upgrade_once_and_unknown_ones_stay_unknown() {
    let site = older::of_version(22);
    let (mail, receiver) = (MailServer::start(), Receiver::start());
    crash::run(
        &site.db,
        &format!(
            "UPDATE webhooks SET url = '{}', changes = '[]', devices = NULL;
             UPDATE webhook_states SET paused_at = NULL, paused_why = NULL, failures = 0",
            receiver.url()
        ),
    );
    let created = |id: i64| {
        let sql = format!("SELECT created_at FROM interactions WHERE id = {id}");
        crash::value(&site.db, &sql)
    };
    let mut expected = [6, 7, 8].map(|id| delivery_id(id, created(id)));
    expected.sort();
    let config = json!({
        "settings": {"outgoing": {"allowLocal": true}},
        "gateways": {"email": {"kind": "smtp", "host": "127.0.0.1", "port": mail.port, "security": "none", "from": "a@example.org"}},
    });
    let file = site.db.with_file_name("config.json");
    std::fs::write(&file, config.to_string()).expect("a file");
    assert!(gatepost(&site.db, &["migrate"]).status.success());
    let applied = gatepost(
        &site.db,
        &["config", "apply", file.to_str().expect("a name")],
    );
    assert!(applied.status.success(), "{applied:?}");

    let served = Served::start(&site.db);
    until("nothing is pending", || {
        crash::value(&site.db, "SELECT count(*) FROM outbox") == 0
            && crash::value(
                &site.db,
                "SELECT interaction_id FROM outbox_destinations WHERE name = 'webhook:1'",
            ) >= 8
    });
    served.stop();
    // The failed one, one that waited, and one that was not read yet.
    let mut ids: Vec<String> = receiver
        .came()
        .iter()
        .map(|came| came.id().to_owned())
        .collect();
    ids.sort();
    assert_eq!(ids, expected);
    let mut to: Vec<String> = mail.mails().into_iter().map(|mail| mail.to).collect();
    to.sort();
    assert_eq!(
        to,
        ["RCPT TO:<ada@example.com>", "RCPT TO:<bob@example.com>"]
    );
    let state = |id: i64, state: &str| {
        let sql = format!("SELECT count(*) FROM messages WHERE id = {id} AND state = '{state}'");
        assert_eq!(crash::value(&site.db, &sql), 1, "message {id}");
    };
    for (id, became) in [
        (1, "sent"),
        (2, "unknown"),
        (3, "failed"),
        (4, "sent"),
        (5, "sent"),
        (6, "unknown"),
    ] {
        state(id, became);
    }
}
