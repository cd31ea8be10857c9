use super::*;
use crate::{
    db::{in_transaction, migrate},
    identity::{
        clients::{self, NewClient},
        password, tokens,
    },
    types::Patch,
};
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
fn a_user_is_made_changed_and_removed() {
    in_file(|tx| {
        let id = create(tx, &ctx(), &NewUser::of("Ada@Example.com"))?;
        let twice = create(tx, &ctx(), &NewUser::of("ada@example.com")).unwrap_err();
        assert_eq!(twice.kind, Kind::CodeTaken);
        let promoted = UserChange {
            console: Patch::Value(ConsoleRole::Viewer),
            roles: Some(Roles::default().with(Role::DeviceRead)),
            ..UserChange::default()
        };
        change(tx, &ctx(), "ADA@example.com", &promoted)?;
        let user = find(tx, "ada@example.com")?;
        assert!(
            user.id == id
                && user.console == Some(ConsoleRole::Viewer)
                && user.roles.has(Role::DeviceRead)
        );
        assert_eq!(list(tx)?.len(), 1);
        remove(tx, &ctx(), "ada@example.com")?;
        assert!(remove(tx, &ctx(), "ada@example.com").is_err());
        Ok(())
    })
    .unwrap();
}

#[test]
fn the_audit_tells_that_a_password_changed_and_never_which() {
    in_file(|tx| {
        create(tx, &ctx(), &NewUser::of("ada@example.com"))?;
        let changed = UserChange {
            password: Some(password::hash("correct horse")?),
            ..UserChange::default()
        };
        change(tx, &ctx(), "ada@example.com", &changed)?;
        let stored = stored_password(tx, "ada@example.com")?.unwrap().1;
        assert!(stored.unwrap().starts_with("$argon2id$"));
        let told: String = tx.query_row(
            "SELECT group_concat(action || coalesce(before, '') || coalesce(after, '')) FROM audit",
            [],
            |row| row.get(0),
        )?;
        assert!(
            told.contains("password") && !told.contains("argon2"),
            "{told}"
        );
        Ok(())
    })
    .unwrap();
}

#[test]
fn a_tie_needs_a_delegate_that_is_there() {
    let tied = NewUser {
        delegate: Some(DelegateId(9)),
        ..NewUser::of("ada@example.com")
    };
    let refused = in_file(|tx| create(tx, &ctx(), &tied)).unwrap_err();
    assert_eq!(refused.kind, Kind::DelegateNotFound);
}

#[test]
fn what_is_no_address_is_refused() {
    for bad in [
        "",
        "ada",
        "@example.com",
        "ada@",
        "a da@example.com",
        "a@b\n",
    ] {
        assert!(
            in_file(|tx| create(tx, &ctx(), &NewUser::of(bad))).is_err(),
            "{bad}"
        );
    }
    assert!(in_file(|tx| create(tx, &ctx(), &NewUser::of("ä@bücher.example"))).is_ok());
}

/// Whoever has a copy of a refresh token must not go on with the new password.
#[test]
fn a_new_password_and_a_removal_end_refresh_tokens() {
    in_file(|tx| {
        let client = clients::create(tx, &ctx(), &NewClient::named("App"), &[])?.id;
        let fresh = |tx: &Tx<'_>, email: &str| {
            let id = create(tx, &ctx(), &NewUser::of(email))?;
            let holder = tokens::Holder::of_user(client, id, Vec::new());
            Ok::<_, Error>(tokens::issue(tx, &holder)?.refresh.unwrap())
        };
        let is_good = |tx: &Tx<'_>, token: &str| {
            let presented = tokens::present(tx, token)?;
            Ok::<_, Error>(matches!(presented, tokens::Presented::Fresh(_)))
        };
        let (ada, bob) = (fresh(tx, "ada@example.com")?, fresh(tx, "bob@example.com")?);
        let other = fresh(tx, "other@example.com")?;
        let changed = UserChange {
            password: Some(password::hash("correct horse")?),
            ..UserChange::default()
        };
        assert!(is_good(tx, &ada)? && is_good(tx, &bob)?);
        change(tx, &ctx(), "ada@example.com", &changed)?;
        remove(tx, &ctx(), "bob@example.com")?;
        assert!(!is_good(tx, &ada)? && !is_good(tx, &bob)? && is_good(tx, &other)?);
        Ok(())
    })
    .unwrap();
}
