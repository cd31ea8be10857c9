use super::*;
use crate::{
    core::Context,
    db::{in_transaction, migrate},
    identity::{
        clients::{self, NewClient},
        users::{self, NewUser},
    },
    types::DelegateId,
};
use std::sync::Arc;

const START: Timestamp = Timestamp(1_795_248_120_000);

/// The scopes of the client.
const HELD: [Scope; 2] = [Scope::Trusted, Scope::ReportRead];

struct Fixture {
    connection: Connection,
    client: ClientId,
    user: UserId,
}

impl Fixture {
    fn new() -> Self {
        let connection = Connection::open_in_memory().unwrap();
        migrate::create(&connection).unwrap();
        connection
            .execute_batch(
                "INSERT INTO delegates (id, public_id, sources, created_at, updated_at)
                 VALUES (3, 'p', '[]', 0, 0)",
            )
            .unwrap();
        let (client, user) = in_transaction(&connection, START, |tx| {
            let ctx = Context::of_command("admin", Arc::default());
            let client = NewClient {
                roles: Roles::default().with(Role::DelegateWrite),
                scopes: HELD.to_vec(),
                ..NewClient::named("App")
            };
            let user = NewUser {
                roles: Roles::default().with(Role::DeviceRead),
                delegate: Some(DelegateId(3)),
                ..NewUser::of("ada@example.com")
            };
            let client = clients::create(tx, &ctx, &client, &[])?;
            Ok((client.id, users::create(tx, &ctx, &user)?))
        })
        .unwrap();
        Self {
            connection,
            client,
            user,
        }
    }

    fn at<T>(&self, seconds: i64, work: impl FnOnce(&Tx<'_>) -> Result<T>) -> T {
        in_transaction(&self.connection, after(START, seconds), work).unwrap()
    }

    fn sign_in(&self) -> Issued {
        let holder = Holder::of_user(self.client, self.user, HELD.to_vec());
        self.at(0, |tx| issue(tx, &holder))
    }

    fn refresh(&self, seconds: i64, token: &str) -> Option<Issued> {
        self.at(seconds, |tx| match present(tx, token)? {
            Presented::Fresh(found) => rotate(tx, &found).map(Some),
            Presented::Reused(family) => cancel_family(tx, family).map(|()| None),
            Presented::Unknown => Ok(None),
        })
    }

    fn holder(&self, access: &str) -> Option<Principal> {
        principal_of(&self.connection, &secret::digest(access.as_bytes())).unwrap()
    }

    fn rows(&self) -> i64 {
        self.connection
            .query_row("SELECT count(*) FROM tokens", [], |row| row.get(0))
            .unwrap()
    }
}

#[test]
fn a_users_token_has_the_users_roles_and_its_clients_scopes() {
    let fixture = Fixture::new();
    let principal = fixture.holder(&fixture.sign_in().access).unwrap();
    assert_eq!(principal.user, Some(fixture.user));
    assert_eq!(principal.delegate, Some(DelegateId(3)));
    let roles: Vec<_> = principal.roles.iter().collect();
    assert_eq!(roles, [Role::DeviceRead, Role::OwnRead]);
    // In place of `TRUSTED`, which its client has as well.
    assert_eq!(principal.scopes, [Scope::ReportRead, Scope::ReportList]);
    assert_eq!(principal.expires_at, after(START, ACCESS_S));
}

#[test]
fn a_clients_token_has_its_roles_and_scopes_and_no_refresh_token() {
    let fixture = Fixture::new();
    let holder = Holder::of_client(fixture.client, vec![Scope::ReportRead, Scope::ReportList]);
    let issued = fixture.at(0, |tx| issue(tx, &holder));
    assert!(issued.refresh.is_none());
    let principal = fixture.holder(&issued.access).unwrap();
    assert_eq!(principal.user, None);
    assert!(principal.roles.has(Role::DelegateWrite) && !principal.roles.has(Role::OwnRead));
    assert_eq!(principal.scopes, [Scope::ReportRead]);
}

#[test]
fn a_refresh_token_rotates_and_keeps_the_user() {
    let fixture = Fixture::new();
    let first = fixture.sign_in();
    let second = fixture.refresh(10, &first.refresh.unwrap()).unwrap();
    // What is told is what counts, each time.
    for scopes in [&first.scopes, &second.scopes] {
        assert_eq!(scopes, &[Scope::ReportRead, Scope::ReportList]);
    }
    let third = fixture.refresh(20, &second.refresh.unwrap()).unwrap();
    for access in [&first.access, &second.access, &third.access] {
        assert_eq!(fixture.holder(access).unwrap().user, Some(fixture.user));
    }
}

#[test]
fn a_refresh_token_used_twice_cancels_its_family_and_no_other() {
    let fixture = Fixture::new();
    let other = fixture.sign_in();
    let first = fixture.sign_in();
    let old = first.refresh.unwrap();
    let second = fixture.refresh(10, &old).unwrap();
    assert!(fixture.refresh(41, &old).is_none());
    assert!(fixture.holder(&first.access).is_none());
    assert!(fixture.holder(&second.access).is_none());
    assert!(fixture.refresh(42, &second.refresh.unwrap()).is_none());
    assert!(fixture.holder(&other.access).is_some());
    assert!(fixture.refresh(42, &other.refresh.unwrap()).is_some());
}

#[test]
fn an_answer_that_was_lost_is_had_again_for_thirty_seconds() {
    let fixture = Fixture::new();
    let old = fixture.sign_in().refresh.unwrap();
    fixture.refresh(10, &old).unwrap();
    // Lost more than once; the time runs from the first use.
    fixture.refresh(25, &old).unwrap();
    let last = fixture.refresh(40, &old).unwrap();
    let next = fixture.refresh(50, &last.refresh.unwrap()).unwrap();
    assert!(fixture.holder(&next.access).is_some());
    // A clock that was put back gives no grace.
    let other = fixture.sign_in().refresh.unwrap();
    fixture.refresh(100, &other).unwrap();
    assert!(fixture.refresh(99, &other).is_none());
}

#[test]
fn of_two_who_refresh_one_token_the_second_to_go_on_ends_both() {
    let fixture = Fixture::new();
    let old = fixture.sign_in().refresh.unwrap();
    let owner = fixture.refresh(10, &old).unwrap();
    let thief = fixture.refresh(12, &old).unwrap();
    let next = fixture.refresh(15, &owner.refresh.unwrap()).unwrap();
    assert!(fixture.holder(&thief.access).is_some());
    assert!(fixture.refresh(16, &thief.refresh.unwrap()).is_none());
    assert!(fixture.holder(&thief.access).is_none());
    assert!(fixture.holder(&next.access).is_none());
    assert!(fixture.refresh(17, &next.refresh.unwrap()).is_none());
}

#[test]
fn a_token_whose_successor_was_used_was_not_lost() {
    let fixture = Fixture::new();
    let old = fixture.sign_in().refresh.unwrap();
    let second = fixture.refresh(10, &old).unwrap();
    let third = fixture.refresh(12, &second.refresh.unwrap()).unwrap();
    assert!(fixture.refresh(14, &old).is_none());
    assert!(fixture.holder(&third.access).is_none());
}

#[test]
fn a_client_gives_its_own_tokens_back() {
    let fixture = Fixture::new();
    let other = ClientId(fixture.client.0 + 1);
    let (one, two) = (fixture.sign_in(), fixture.sign_in());
    assert!(!fixture.at(1, |tx| revoke(tx, other, &one.access)));
    assert!(fixture.holder(&one.access).is_some());
    assert!(fixture.at(1, |tx| revoke(tx, fixture.client, &one.access)));
    assert!(fixture.holder(&one.access).is_none());
    let next = fixture.refresh(2, &one.refresh.unwrap()).unwrap();
    let refresh = next.refresh.unwrap();
    assert!(fixture.at(3, |tx| revoke(tx, fixture.client, &refresh)));
    assert!(fixture.holder(&next.access).is_none());
    assert!(fixture.refresh(4, &refresh).is_none());
    assert!(fixture.holder(&two.access).is_some());
    assert!(fixture.at(5, |tx| revoke(tx, fixture.client, "unknown")));
}

#[test]
fn an_access_token_refreshes_nothing_and_a_refresh_token_opens_nothing() {
    let fixture = Fixture::new();
    let issued = fixture.sign_in();
    assert!(fixture.refresh(1, &issued.access).is_none());
    assert!(fixture.holder(&issued.refresh.unwrap()).is_none());
    assert!(fixture.holder(&issued.access).is_some());
}

#[test]
fn tokens_end_with_their_client_and_their_user() {
    let fixture = Fixture::new();
    let (one, other) = (fixture.sign_in(), fixture.sign_in());
    fixture.at(1, |tx| cancel_of_user(tx, fixture.user));
    assert!(fixture.holder(&one.access).is_none());
    assert!(fixture.refresh(2, &other.refresh.unwrap()).is_none());
    let third = fixture.sign_in();
    fixture.at(3, |tx| cancel_of_client(tx, fixture.client));
    assert!(fixture.holder(&third.access).is_none());
    assert!(fixture.refresh(4, &third.refresh.unwrap()).is_none());
}

#[test]
fn a_refresh_token_lasts_thirty_days() {
    let fixture = Fixture::new();
    let issued = fixture.sign_in().refresh.unwrap();
    assert!(fixture.refresh(REFRESH_S, &issued).is_none());
    assert!(fixture.refresh(REFRESH_S - 1, &issued).is_some());
}

#[test]
fn expired_tokens_are_purged_as_new_ones_are_issued() {
    let fixture = Fixture::new();
    for _ in 0..30 {
        fixture.sign_in();
    }
    let holder = Holder::of_client(fixture.client, Vec::new());
    fixture.at(ACCESS_S, |tx| issue(tx, &holder));
    assert_eq!(fixture.rows(), 60 - PURGED_AT_ONCE + 1);
    fixture.at(ACCESS_S, |tx| issue(tx, &holder));
    assert_eq!(fixture.rows(), 30 + 2);
}
