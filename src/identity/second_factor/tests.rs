use super::*;
use crate::{
    db::{in_transaction, migrate},
    identity::users::{self, NewUser},
};
use std::sync::Arc;

const NOW: Timestamp = Timestamp(1_795_248_120_000);

fn ctx() -> Context {
    Context::of_command("admin", Arc::default())
}

fn later(steps: i64) -> Timestamp {
    Timestamp(NOW.0 + 30_000 * steps)
}

fn code(shared: &Shared, at: Timestamp) -> String {
    let seconds = u64::try_from(at.0 / 1000).unwrap();
    shared.totp().unwrap().generate(seconds).to_string()
}

/// A user with a second factor, confirmed at [`NOW`], and what each later moment makes of it.
fn with_user(work: impl FnOnce(&Connection, UserId, &Shared, &[String])) {
    let connection = Connection::open_in_memory().unwrap();
    migrate::create(&connection).unwrap();
    let shared = Shared::fresh().unwrap();
    let (user, codes) = in_transaction(&connection, NOW, |tx| {
        let user = users::create(tx, &ctx(), &NewUser::of("ada@example.com"))?;
        assert!(confirm(tx, &ctx(), user, &shared, "000000x")?.is_none());
        assert!(!is_on(tx, user)?);
        let codes = confirm(tx, &ctx(), user, &shared, &code(&shared, NOW))?.unwrap();
        assert!(confirm(tx, &ctx(), user, &shared, &code(&shared, NOW)).is_err());
        Ok((user, codes))
    })
    .unwrap();
    work(&connection, user, &shared, &codes);
}

#[test]
fn a_code_is_taken_once_and_none_before_it() {
    with_user(|connection, user, shared, _| {
        let taken = |at: Timestamp, code: &str| {
            in_transaction(connection, at, |tx| take(tx, &ctx(), user, code)).unwrap()
        };
        // The code that confirmed it is used up.
        assert!(!taken(NOW, &code(shared, NOW)));
        let spaced = code(shared, later(3));
        let spaced = format!(" {} {}", &spaced[..3], &spaced[3..]);
        assert!(taken(later(3), &spaced) && !taken(later(3), &spaced));
        // Of the step before, which a clock that is half a minute late would show.
        assert!(!taken(later(3), &code(shared, later(2))));
        assert!(taken(later(3), &code(shared, later(4))));
        assert!(!taken(later(9), &code(shared, later(4))));
        assert!(!taken(later(9), "") && !taken(later(9), "123"));
    });
}

#[test]
fn each_recovery_code_opens_once_however_it_is_typed() {
    with_user(|connection, user, _, codes| {
        let taken = |code: &str| {
            in_transaction(connection, NOW, |tx| take(tx, &ctx(), user, code)).unwrap()
        };
        assert_eq!(codes.len(), RECOVERY_CODES);
        let typed = codes[3].replace('-', " ").to_uppercase();
        assert!(taken(&typed) && !taken(&codes[3]));
        let left = state(connection, user).unwrap().unwrap().recovery_left;
        assert_eq!(left, RECOVERY_CODES - 1);
        assert!(are_codes(connection, user, &codes[4..]).unwrap());
        assert!(!are_codes(connection, user, codes).unwrap());
        let renewed = in_transaction(connection, NOW, |tx| renew_codes(tx, &ctx(), user));
        let renewed = renewed.unwrap();
        assert!(!taken(&codes[0]) && taken(&renewed[0]));
    });
}

#[test]
fn neither_the_file_nor_the_audit_has_a_recovery_code() {
    with_user(|connection, user, shared, codes| {
        in_transaction(connection, NOW, |tx| remove(tx, &ctx(), user)).unwrap();
        assert!(!is_on(connection, user).unwrap());
        let told: String = connection
            .query_row(
                "SELECT group_concat(action || coalesce(after, '')) FROM audit",
                [],
                |row| row.get(0),
            )
            .unwrap();
        assert!(
            told.contains(r#"second-factor{"secondFactor":true}"#),
            "{told}"
        );
        assert!(
            told.contains(r#"second-factor{"secondFactor":false}"#),
            "{told}"
        );
        let secret = shared.text().unwrap().replace(' ', "");
        assert!(!told.contains(&secret) && !told.contains(&codes[0]));
    });
}

#[test]
fn an_app_is_told_whose_codes_these_are() {
    let shared = Shared::fresh().unwrap();
    let address = shared.address("Nord: licht", "ada@example.com").unwrap();
    let secret = shared.text().unwrap().replace(' ', "");
    assert!(address.starts_with("otpauth://totp/"), "{address}");
    assert!(address.contains(&format!("secret={secret}")) && address.contains("issuer="));
    assert!(address.contains("ada%40example.com") && !address.contains("Nord:"));
}

#[test]
fn readable_texts_have_no_letters_that_look_alike() {
    let text = readable(16).unwrap();
    assert_eq!(text.len(), 19);
    assert!(!text.contains(['i', 'l', 'o', '1']), "{text}");
    assert_ne!(text, readable(16).unwrap());
}
