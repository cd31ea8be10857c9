//! Grants over an in-memory file, from parameters to tokens.

use super::{
    grant::issue,
    password::SignedIn,
    request::{Parameters, TokenRequest},
};
use crate::{
    core::Context,
    db::{Tx, in_transaction, migrate},
    identity::{
        Scope,
        clients::{self, Credentials, NewClient},
        password,
        tokens::{self, Issued},
        users::{self, NewUser, UserChange},
    },
    types::{Timestamp, error::Result},
};
use rusqlite::Connection;
use std::sync::Arc;

struct Fixture {
    connection: Connection,
    gate: Credentials,
    other: Credentials,
}

fn ctx() -> Context {
    Context::of_command("admin", Arc::default())
}

impl Fixture {
    fn new() -> Self {
        let connection = Connection::open_in_memory().unwrap();
        migrate::create(&connection).unwrap();
        let (gate, other) = in_transaction(&connection, Timestamp::now(), |tx| {
            let gate = NewClient {
                scopes: vec![Scope::ReportRead, Scope::ReportList],
                ..NewClient::named("Gate")
            };
            let ada = NewUser {
                password: Some(password::hash("correct horse")?),
                ..NewUser::of("ada@example.com")
            };
            users::create(tx, &ctx(), &ada)?;
            Ok((
                clients::create(tx, &ctx(), &gate, &[])?,
                clients::create(tx, &ctx(), &NewClient::named("Other"), &[])?,
            ))
        })
        .unwrap();
        Self {
            connection,
            gate,
            other,
        }
    }

    fn write<T>(&self, work: impl FnOnce(&Tx<'_>) -> Result<T>) -> T {
        in_transaction(&self.connection, Timestamp::now(), work).unwrap()
    }

    /// The tokens, or the refusal's code.
    fn ask(&self, client: &Credentials, rest: &str) -> Result<Issued, &'static str> {
        let body = format!(
            "client_id={}&client_secret={}&{rest}",
            client.client_id, client.client_secret
        );
        self.ask_with(&body, None)
    }

    fn ask_with(&self, body: &str, user: Option<&SignedIn>) -> Result<Issued, &'static str> {
        let parameters =
            Parameters::read(None, body.as_bytes()).map_err(|refusal| refusal.code())?;
        let request = TokenRequest::read(parameters, None).map_err(|refusal| refusal.code())?;
        self.write(|tx| issue(tx, &request, user))
            .map_err(|refusal| refusal.code())
    }

    fn signed_in(&self) -> SignedIn {
        let stored = users::stored_password(&self.connection, "ada@example.com").unwrap();
        let (user, stored) = stored.unwrap();
        SignedIn::by_password("ada@example.com", user, stored)
    }

    fn sign_in(&self) -> Result<Issued, &'static str> {
        self.sign_in_as(&self.signed_in(), "")
    }

    fn sign_in_as(&self, user: &SignedIn, rest: &str) -> Result<Issued, &'static str> {
        let body = format!(
            "client_id={}&client_secret={}&grant_type=password&username=ada@example.com&password=x{rest}",
            self.gate.client_id, self.gate.client_secret
        );
        self.ask_with(&body, Some(user))
    }

    fn refresh(&self, client: &Credentials, token: &str) -> Result<Issued, &'static str> {
        self.ask(
            client,
            &format!("grant_type=refresh_token&refresh_token={token}"),
        )
    }

    fn valid_tokens(&self) -> i64 {
        self.connection
            .query_row(
                "SELECT count(*) FROM tokens WHERE revoked_at IS NULL",
                [],
                |row| row.get(0),
            )
            .unwrap()
    }
}

fn refusal(outcome: Result<Issued, &'static str>) -> &'static str {
    outcome.map_or_else(|code| code, |_| "issued")
}

#[test]
fn a_client_is_granted_its_scopes_whether_or_not_it_names_them() {
    let fixture = Fixture::new();
    for rest in ["", "&scope=REPORT_LIST", "&scope=REPORT_LIST%20REPORT_READ"] {
        let grant = format!("grant_type=client_credentials{rest}");
        let issued = fixture.ask(&fixture.gate, &grant).unwrap();
        assert_eq!(issued.scopes, [Scope::ReportRead, Scope::ReportList]);
        assert!(issued.refresh.is_none());
    }
    for rest in [
        "&scope=TRUSTED",
        "&scope=REPORT_READ+TRUSTED",
        "&scope=report_read",
    ] {
        let grant = format!("grant_type=client_credentials{rest}");
        assert_eq!(refusal(fixture.ask(&fixture.gate, &grant)), "invalid_scope");
    }
    let issued = fixture
        .ask(&fixture.other, "grant_type=client_credentials")
        .unwrap();
    assert_eq!(issued.scopes, []);
}

#[test]
fn a_wrong_secret_is_an_invalid_client_in_every_grant() {
    let fixture = Fixture::new();
    let refresh = fixture.sign_in().unwrap().refresh.unwrap();
    let user = fixture.signed_in();
    for rest in [
        "grant_type=client_credentials",
        "grant_type=password&username=ada@example.com&password=x",
        &format!("grant_type=refresh_token&refresh_token={refresh}"),
    ] {
        for client in [&fixture.gate.client_id, "nobody"] {
            let body = format!("client_id={client}&client_secret=wrong&{rest}");
            assert_eq!(
                refusal(fixture.ask_with(&body, Some(&user))),
                "invalid_client"
            );
        }
    }
    assert_eq!(refusal(fixture.refresh(&fixture.gate, &refresh)), "issued");
}

#[test]
fn a_refresh_token_rotates_and_its_second_use_cancels_the_family() {
    let fixture = Fixture::new();
    let first = fixture.sign_in().unwrap().refresh.unwrap();
    let second = fixture
        .refresh(&fixture.gate, &first)
        .unwrap()
        .refresh
        .unwrap();
    assert_eq!(fixture.valid_tokens(), 4);
    fixture.write(|tx| Ok(tx.execute("UPDATE tokens SET used_at = used_at - 31000", [])?));
    assert_eq!(
        refusal(fixture.refresh(&fixture.gate, &first)),
        "invalid_grant"
    );
    assert_eq!(fixture.valid_tokens(), 0);
    assert_eq!(
        refusal(fixture.refresh(&fixture.gate, &second)),
        "invalid_grant"
    );
}

#[test]
fn a_refresh_token_is_of_use_to_its_own_client_alone() {
    let fixture = Fixture::new();
    let token = fixture.sign_in().unwrap().refresh.unwrap();
    assert_eq!(
        refusal(fixture.refresh(&fixture.other, &token)),
        "invalid_grant"
    );
    assert_eq!(
        refusal(fixture.refresh(&fixture.gate, "unknown")),
        "invalid_grant"
    );
    assert_eq!(refusal(fixture.refresh(&fixture.gate, &token)), "issued");
}

#[test]
fn a_user_is_told_the_scopes_of_the_client_which_count() {
    let fixture = Fixture::new();
    let user = fixture.signed_in();
    let all = [Scope::ReportRead, Scope::ReportList];
    let issued = fixture.sign_in_as(&user, "&scope=REPORT_LIST").unwrap();
    assert_eq!(issued.scopes, all);
    // What was told can be named when it is refreshed.
    let refresh = format!(
        "grant_type=refresh_token&refresh_token={}&scope=REPORT_LIST%20REPORT_READ",
        issued.refresh.unwrap()
    );
    let issued = fixture.ask(&fixture.gate, &refresh).unwrap();
    assert_eq!(issued.scopes, all);
    for named in ["TRUSTED", "REPORT_LIST%20TRUSTED"] {
        let refused = fixture.sign_in_as(&user, &format!("&scope={named}"));
        assert_eq!(refusal(refused), "invalid_scope", "{named}");
    }
}

#[test]
fn nobody_is_trusted_for_a_password() {
    let mut fixture = Fixture::new();
    fixture.gate = fixture.write(|tx| {
        let trusted = NewClient {
            scopes: vec![Scope::ReportRead, Scope::Trusted],
            ..NewClient::named("Trusted")
        };
        clients::create(tx, &ctx(), &trusted, &[])
    });
    let user = fixture.signed_in();
    for named in ["TRUSTED", "REPORT_READ%20TRUSTED"] {
        let refused = fixture.sign_in_as(&user, &format!("&scope={named}"));
        assert_eq!(refusal(refused), "invalid_scope", "{named}");
    }
    let issued = fixture
        .sign_in_as(&user, "&scope=REPORT_LIST%20REPORT_READ")
        .unwrap();
    assert_eq!(issued.scopes, [Scope::ReportRead, Scope::ReportList]);
}

#[test]
fn a_password_changed_while_it_was_checked_counts_no_more() {
    let fixture = Fixture::new();
    let user = fixture.signed_in();
    let token = fixture.sign_in().unwrap().refresh.unwrap();
    let changed = UserChange {
        password: Some(password::hash("another horse").unwrap()),
        ..UserChange::default()
    };
    fixture.write(|tx| users::change(tx, &ctx(), "ada@example.com", &changed));
    assert_eq!(refusal(fixture.sign_in_as(&user, "")), "invalid_grant");
    assert_eq!(
        refusal(fixture.refresh(&fixture.gate, &token)),
        "invalid_grant"
    );
    assert_eq!(refusal(fixture.sign_in()), "issued");
}

#[test]
fn what_ended_with_its_user_or_client_is_not_refreshed() {
    let fixture = Fixture::new();
    let token = fixture.sign_in().unwrap().refresh.unwrap();
    fixture.write(|tx| users::remove(tx, &ctx(), "ada@example.com"));
    assert_eq!(
        refusal(fixture.refresh(&fixture.gate, &token)),
        "invalid_grant"
    );
    assert_eq!(fixture.valid_tokens(), 0);
    fixture.write(|tx| clients::revoke(tx, &ctx(), &fixture.gate.client_id));
    let grant = "grant_type=client_credentials";
    assert_eq!(refusal(fixture.ask(&fixture.gate, grant)), "invalid_client");
    assert_eq!(refusal(fixture.ask(&fixture.other, grant)), "issued");
}

#[test]
fn tokens_last_an_hour() {
    let fixture = Fixture::new();
    let before = Timestamp::now();
    let issued = fixture
        .ask(&fixture.gate, "grant_type=client_credentials")
        .unwrap();
    let lasts_ms = issued.expires_at.0 - before.0;
    assert!((0..1000).contains(&(lasts_ms - 1000 * tokens::ACCESS_S)));
}
