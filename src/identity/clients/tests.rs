use super::*;
use crate::db::{in_transaction, migrate};
use std::sync::Arc;

fn ctx() -> Context {
    Context::of_command("admin", Arc::default())
}

fn in_file<T>(work: impl FnOnce(&Tx<'_>) -> Result<T>) -> Result<T> {
    let connection = Connection::open_in_memory().unwrap();
    migrate::create(&connection).unwrap();
    in_transaction(&connection, Timestamp(1), work)
}

#[test]
fn a_client_signs_in_with_its_newest_secret_until_it_is_revoked() {
    in_file(|tx| {
        let made = create(tx, &ctx(), &NewClient::named("Gate B"), &[])?;
        let signs_in = |secret: &str| {
            authenticate(tx, &made.client_id, secret.as_bytes())
                .unwrap()
                .is_some()
        };
        assert!(signs_in(&made.client_secret));
        assert!(!signs_in("") && !signs_in(&made.client_secret[1..]));
        let rotated = rotate_secret(tx, &ctx(), &made.client_id)?;
        assert!(signs_in(&rotated.client_secret) && !signs_in(&made.client_secret));
        revoke(tx, &ctx(), &made.client_id)?;
        revoke(tx, &ctx(), &made.client_id)?;
        assert!(!signs_in(&rotated.client_secret));
        assert!(rotate_secret(tx, &ctx(), &made.client_id).is_err());
        assert!(authenticate(tx, "nobody", b"")?.is_none());
        assert!(revoke(tx, &ctx(), "nobody").is_err());
        Ok(())
    })
    .unwrap();
}

#[test]
fn the_audit_tells_what_was_made_and_never_the_secret() {
    in_file(|tx| {
        let made = create(tx, &ctx(), &NewClient::named("Gate B"), &[])?;
        rotate_secret(tx, &ctx(), &made.client_id)?;
        revoke(tx, &ctx(), &made.client_id)?;
        let rows: Vec<String> = tx
            .prepare("SELECT action || coalesce(before, '') || coalesce(after, '') FROM audit ORDER BY id")?
            .query_map([], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        assert_eq!(rows.len(), 3);
        for (row, action) in rows.iter().zip(["create", "rotate", "revoke"]) {
            assert!(row.starts_with(action) && row.contains(&made.client_id), "{row}");
            assert!(!row.contains("ecret"), "{row}");
        }
        Ok(())
    })
    .unwrap();
}

#[test]
fn a_client_id_is_readable_and_plain() {
    for (name, slug) in [
        ("Gate B", "gate-b-"),
        ("  Süd/Tor (2) ", "s-d-tor-2-"),
        ("門", "client-"),
        (
            "a very long name of a gate app",
            "a-very-long-name-of-a-ga-",
        ),
    ] {
        let client_id = fresh_client_id(name).unwrap();
        assert!(client_id.starts_with(slug), "{client_id}");
        assert_eq!(client_id.len(), slug.len() + 8);
    }
}

#[test]
fn what_a_client_cannot_have_is_refused() {
    let refused = |new: &NewClient| {
        in_file(|tx| create(tx, &ctx(), new, &["id", "barcode"]).map(|_| ()))
            .unwrap_err()
            .kind
    };
    assert_eq!(refused(&NewClient::named("")), Kind::Invalid);
    let device = NewClient {
        device: Some(DeviceId(7)),
        ..NewClient::named("A")
    };
    assert_eq!(refused(&device), Kind::DeviceNotFound);
    let seeing = |names: &[&str]| NewClient {
        visible_properties: Some(names.iter().map(ToString::to_string).collect()),
        ..NewClient::named("A")
    };
    assert_eq!(refused(&seeing(&["id", "password"])), Kind::Invalid);
    in_file(|tx| {
        create(tx, &ctx(), &seeing(&["barcode"]), &["id", "barcode"])?;
        let listed = list(tx)?;
        assert_eq!(
            listed[0].visible_properties.as_deref(),
            Some(&["barcode".to_owned()][..])
        );
        Ok(())
    })
    .unwrap();
}
