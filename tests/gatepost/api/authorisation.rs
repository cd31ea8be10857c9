//! Who may call what (contract §9). The operations come from the server's own document: one that
//! has no row here fails the test, and so does a row that has no operation.

use crate::harness::{Caller, Reply, Server, reply, whole};
use Access::{AnyToken, DeviceToken, Public, Roles, Scopes, UserToken};
use gatepost::{
    identity::{
        Role::{self, *},
        Scope,
        clients::NewClient,
    },
    types::DeviceId,
};
use reqwest::{Method, blocking::RequestBuilder};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// What an operation requires.
#[derive(Clone, Copy, PartialEq)]
enum Access {
    /// No token.
    Public,
    /// Any valid token.
    AnyToken,
    /// A user's token, of whatever roles.
    UserToken,
    /// The token of a client that is bound to a device, of whatever roles.
    DeviceToken,
    /// One of these roles. `OwnRead` lets through to one's own records only, which
    /// [`own_read_admits_to_ones_own_records_alone`] looks at, and `Gate` to its own places (`gate.rs`).
    Roles(&'static [Role]),
    /// One of these scopes of the client, of whatever roles; and, where it says so, a user who signed
    /// in through it. Through a user's token `TRUSTED` stands for `REPORT_LIST` alone.
    Scopes(&'static [Scope], bool),
}

/// Every operation with what it requires.
const TABLE: &[(&str, Access)] = &[
    ("token", Public),
    ("revokeToken", Public),
    ("ping", AnyToken),
    ("sendOneTimePassword", AnyToken),
    (
        "listChanges",
        Roles(&[DelegateRead, DeviceRead, InteractionRead, TxWrite]),
    ),
    (
        "streamChanges",
        Roles(&[DelegateRead, DeviceRead, InteractionRead, TxWrite]),
    ),
    ("listDelegates", Roles(&[DelegateRead])),
    ("searchDelegates", Roles(&[DelegateRead])),
    ("findDelegates", Roles(&[DelegateRead])),
    ("createDelegate", Roles(&[DelegateWrite])),
    ("getDelegate", Roles(&[DelegateRead, OwnRead])),
    ("getBadge", Roles(&[DelegateRead])),
    ("printBadge", Roles(&[InteractionWrite, Gate])),
    ("getPrintJob", Roles(&[InteractionWrite, Gate])),
    ("getDelegateInfo", Roles(&[DelegateRead, OwnRead])),
    ("patchDelegate", Roles(&[DelegateWrite])),
    ("putDelegate", Roles(&[DelegateWrite])),
    ("putDelegates", Roles(&[DelegateWrite])),
    ("deleteDelegate", Roles(&[DelegateWrite])),
    ("getMyself", UserToken),
    ("patchMyself", UserToken),
    ("deleteMyself", UserToken),
    ("listDevices", Roles(&[DeviceRead])),
    ("searchDevices", Roles(&[DeviceRead])),
    ("createDevice", Roles(&[DeviceWrite])),
    ("getDevice", Roles(&[DeviceRead, OwnRead])),
    ("getDeviceInfo", Roles(&[DeviceRead, OwnRead])),
    ("patchDevice", Roles(&[DeviceWrite])),
    ("putDevice", Roles(&[DeviceWrite])),
    ("putDevices", Roles(&[DeviceWrite])),
    ("deleteDevice", Roles(&[DeviceWrite])),
    ("createDeviceRequest", Public),
    ("pingDevice", DeviceToken),
    ("pongDevice", Roles(&[DeviceRead, OwnRead])),
    ("putDeviceConfig", DeviceToken),
    ("listEvents", Roles(&[EventRead])),
    ("createEvent", Roles(&[EventWrite])),
    ("getEvent", Roles(&[EventRead])),
    ("patchEvent", Roles(&[EventWrite])),
    ("deleteEvent", Roles(&[EventWrite])),
    ("listInteractions", Roles(&[InteractionRead])),
    ("searchInteractions", Roles(&[InteractionRead])),
    ("getInteraction", Roles(&[InteractionRead])),
    ("createInteraction", Roles(&[InteractionWrite, Gate])),
    ("testInteraction", Roles(&[InteractionWrite, Gate])),
    ("createInteractions", Roles(&[InteractionWrite, Gate])),
    ("deleteInteraction", Roles(&[InteractionWrite, Gate])),
    ("recordTransaction", Roles(&[TxWrite])),
    (
        "listReports",
        Scopes(&[Scope::ReportList, Scope::Trusted], true),
    ),
    (
        "readReportJson",
        Scopes(&[Scope::ReportRead, Scope::Trusted], false),
    ),
    (
        "readReportCsv",
        Scopes(&[Scope::ReportRead, Scope::Trusted], false),
    ),
    ("sendComm", Roles(&[CommSend])),
    ("listWebhooks", Roles(&[WebhookWrite])),
    ("createWebhook", Roles(&[WebhookWrite])),
    ("getWebhook", Roles(&[WebhookWrite])),
    ("patchWebhook", Roles(&[WebhookWrite])),
    ("deleteWebhook", Roles(&[WebhookWrite])),
    ("rotateWebhookSecret", Roles(&[WebhookWrite])),
    ("testWebhook", Roles(&[WebhookWrite])),
    ("listWebhookDeliveries", Roles(&[WebhookWrite])),
    ("resendWebhookDelivery", Roles(&[WebhookWrite])),
    ("getGate", Roles(&[Gate])),
    ("getGateSnapshot", Roles(&[Gate])),
    ("searchGate", Roles(&[Gate])),
    ("createGateCodes", Roles(&[Gate])),
    ("createWalkIn", Roles(&[Gate])),
    ("replaceBadge", Roles(&[Gate])),
    ("checkPin", Roles(&[Gate])),
    ("findAtGate", Roles(&[Gate])),
    ("getGateEvacuation", Roles(&[Gate])),
    ("tickAtGate", Roles(&[Gate])),
    ("sendReads", Roles(&[ReaderWrite, InteractionWrite])),
    ("sendImpinjEvents", Roles(&[ReaderWrite, InteractionWrite])),
    ("sendZebraEvents", Roles(&[ReaderWrite, InteractionWrite])),
];

/// One operation of the server's document.
struct Operation {
    id: String,
    method: Method,
    path: String,
    described: Value,
    access: Access,
}

fn operations(server: &Server) -> Vec<Operation> {
    let document = reply(server.request(Method::GET, "/openapi.json")).body;
    let mut operations = Vec::new();
    for (path, methods) in document["paths"].as_object().expect("paths") {
        for (method, described) in methods.as_object().expect("methods") {
            let id = described["operationId"].as_str().expect("an operationId");
            let access = TABLE
                .iter()
                .find(|(row, _)| *row == id)
                .map(|(_, access)| *access);
            assert!(access.is_some(), "{method} {path} ({id}) has no row");
            operations.push(Operation {
                id: id.to_owned(),
                method: method.to_uppercase().parse().expect("a method"),
                path: path.clone(),
                described: described.clone(),
                access: access.expect("a row"),
            });
        }
    }
    operations
}

impl Operation {
    /// A request that gets past the door, if it is opened: for records that do not exist, with an
    /// empty body.
    fn request(&self, server: &Server) -> RequestBuilder {
        let path = self
            .path
            .replace("{idType}", "id")
            .replace("{id}", "999999")
            .replace("{event}", "999999")
            .replace("{dashboard}", "999999")
            .replace("{name}", "999999")
            .replace("{webhook}", "999999")
            .replace("{interactionType}", "lead")
            .replace("/gate/snapshot", "/gate/snapshot?place=1")
            .replace("/gate/search", "/gate/search?place=1&q=ada")
            // A stream would not end; an unusable cursor is looked at after the caller.
            .replace("/stream", "/stream?since=0");
        let path = if self.id == "getGateEvacuation" {
            format!("{path}?place=1")
        } else {
            path
        };
        assert!(!path.contains('{'), "a value for {path}");
        let request = server.request(self.method.clone(), &format!("/api/v5{path}"));
        if self.described["requestBody"].is_object() {
            request.json(&json!({}))
        } else {
            request
        }
    }

    fn called_by(&self, server: &Server, api: &Caller) -> Reply {
        reply(self.request(server).bearer_auth(&api.token))
    }

    #[track_caller]
    fn admits(&self, server: &Server, api: &Caller, who: &str) {
        let reply = self.called_by(server, api);
        assert!(
            ![401, 403].contains(&reply.status),
            "{} by {who}: {reply:?}",
            self.id
        );
        assert!(reply.status < 500, "{} by {who}: {reply:?}", self.id);
    }

    /// 403, naming every role that would pass.
    #[track_caller]
    fn forbids(&self, server: &Server, api: &Caller, roles: &[Role]) {
        let reply = self.called_by(server, api);
        reply.refused(403, 1202, "");
        for role in roles {
            assert!(
                reply.message().contains(role.name()),
                "{}: {reply:?}",
                self.id
            );
        }
    }
}

/// A caller without roles whose client is bound to a device.
fn bound(server: &Server) -> Caller {
    let device = server.caller(&[DeviceWrite]).device(&json!({}));
    let (id, secret) = server.new_client(NewClient {
        device: Some(DeviceId(device)),
        ..NewClient::named("bound")
    });
    server.caller_of(&id, &secret)
}

/// Every role but these.
fn all_but(passing: &[Role]) -> Vec<Role> {
    let all = Role::ALL.iter().copied();
    all.filter(|role| !passing.contains(role)).collect()
}

#[test]
fn every_operation_has_a_row_and_every_row_an_operation() {
    let server = Server::start();
    let operations: BTreeSet<String> = operations(&server).into_iter().map(|one| one.id).collect();
    let rows: BTreeSet<String> = TABLE.iter().map(|(id, _)| (*id).to_owned()).collect();
    assert_eq!(operations, rows);
    assert_eq!(rows.len(), TABLE.len());
}

#[test]
fn without_a_valid_token_there_is_401_whatever_is_sent() {
    let (server, api) = Server::with_api();
    let expired = server.caller_with_all();
    server.sql("UPDATE tokens SET expires_at = 1 WHERE id = (SELECT max(id) FROM tokens)");
    for operation in operations(&server) {
        if operation.access == Public {
            continue;
        }
        let request = || operation.request(&server);
        let basic = format!("Basic {}", api.token);
        let broken = request()
            .body("{ not json")
            .header("Content-Type", "text/plain");
        for (what, request) in [
            ("no token", request()),
            ("garbage", request().bearer_auth("garbage")),
            ("an empty one", request().header("Authorization", "Bearer ")),
            ("no scheme", request().header("Authorization", &*api.token)),
            ("another scheme", request().header("Authorization", basic)),
            ("an expired one", request().bearer_auth(&expired.token)),
            ("a broken body", broken),
        ] {
            let answer = whole(request);
            answer.reply.refused(401, 1201, "");
            let challenge = answer.header("WWW-Authenticate");
            // Only a token that was brought can be at fault (RFC 6750 section 3.1).
            let brought = ["garbage", "an expired one"].contains(&what);
            let expected = if brought {
                r#"Bearer realm="gatepost", error="invalid_token""#
            } else {
                r#"Bearer realm="gatepost""#
            };
            assert_eq!(challenge, expected, "{what} at {}", operation.id);
        }
    }
}

#[test]
fn every_role_but_the_right_one_gets_403_and_the_right_one_alone_passes() {
    let server = Server::start();
    for operation in operations(&server) {
        let Roles(passing) = operation.access else {
            continue;
        };
        operation.forbids(&server, &server.caller(&all_but(passing)), passing);
        operation.forbids(&server, &server.caller(&[]), passing);
        for role in passing
            .iter()
            .filter(|role| ![OwnRead, Gate].contains(role))
        {
            operation.admits(&server, &server.caller(&[*role]), role.name());
        }
    }
}

#[test]
fn any_token_passes_where_no_role_is_needed() {
    let server = Server::start();
    let user = server.caller_as_user("ada@example.org", &[], None);
    let client = server.caller(&[]);
    let bound = bound(&server);
    for operation in operations(&server) {
        match operation.access {
            Public if operation.id == "token" => {
                let reply = reply(operation.request(&server));
                assert_eq!(
                    (reply.status, &reply.body["error"]),
                    (400, &json!("invalid_request"))
                );
            }
            Public if operation.id == "revokeToken" => {
                let reply = reply(operation.request(&server));
                assert_eq!(
                    (reply.status, &reply.body["error"]),
                    (401, &json!("invalid_client"))
                );
            }
            Public => reply(operation.request(&server)).invalid(""),
            AnyToken => {
                operation.admits(&server, &client, "a client without roles");
                operation.admits(&server, &user, "a user without roles");
            }
            UserToken => {
                operation.admits(&server, &user, "a user without roles");
                operation
                    .called_by(&server, &client)
                    .refused(401, 1201, "user");
            }
            DeviceToken => {
                operation.admits(&server, &bound, "a client of a device");
                for other in [&client, &user] {
                    operation
                        .called_by(&server, other)
                        .refused(403, 1202, "device");
                }
            }
            Roles(_) | Scopes(..) => {}
        }
    }
}

#[test]
fn a_scope_is_the_clients_and_some_need_a_user_beside_it() {
    let server = Server::start();
    server.user("ada@example.org", Role::ALL, None);
    for operation in operations(&server) {
        let Scopes(passing, with_user) = operation.access else {
            continue;
        };
        for scopes in [
            vec![],
            vec![Scope::ReportRead],
            vec![Scope::ReportList],
            vec![Scope::Trusted],
        ] {
            let (id, secret) = server.client(Role::ALL, &scopes);
            let client = server.caller_of(&id, &secret);
            let user = server.sign_in(&id, &secret, "ada@example.org");
            let named = scopes.iter().any(|scope| passing.contains(scope));
            let trusted = scopes.contains(&Scope::Trusted);
            if named && !with_user {
                operation.admits(&server, &client, "a client with the scope");
            } else {
                let about = if named { "user" } else { passing[0].name() };
                operation
                    .called_by(&server, &client)
                    .refused(403, 1202, about);
            }
            let lists = passing.contains(&Scope::ReportList);
            if named && (lists || !trusted) {
                operation.admits(&server, &user, "a user through a client with the scope");
            } else {
                let refused = operation.called_by(&server, &user);
                refused.refused(403, 1202, passing[0].name());
                // What is of no use through a user is not named as if it helped.
                let told = refused.body.to_string().contains("TRUSTED");
                assert_eq!(told, lists, "{refused:?}");
            }
        }
    }
}

#[test]
fn trusted_passes_everywhere_but_where_a_user_is_needed() {
    let server = Server::start();
    let (id, secret) = server.client(&[], &[Scope::Trusted]);
    let trusted = server.caller_of(&id, &secret);
    let (id, secret) = server.client(&[], &[Scope::ReportRead, Scope::ReportList]);
    let reports = server.caller_of(&id, &secret);
    for operation in operations(&server) {
        match operation.access {
            Public => {}
            UserToken => operation
                .called_by(&server, &trusted)
                .refused(401, 1201, "user"),
            DeviceToken => operation
                .called_by(&server, &trusted)
                .refused(403, 1202, "device"),
            AnyToken => operation.admits(&server, &trusted, "TRUSTED"),
            Roles(passing) => {
                operation.admits(&server, &trusted, "TRUSTED");
                operation.forbids(&server, &reports, passing);
            }
            Scopes(_, true) => {
                operation
                    .called_by(&server, &trusted)
                    .refused(403, 1202, "user");
            }
            Scopes(_, false) => operation.admits(&server, &trusted, "TRUSTED"),
        }
    }
}

#[test]
fn a_users_token_has_the_users_roles_and_not_the_clients() {
    let server = Server::start();
    // The client through which they sign in has every role and scope.
    let nobody = server.caller_as_user("nobody@example.org", &[], None);
    let everybody = server.caller_as_user("everybody@example.org", Role::ALL, None);
    for operation in operations(&server) {
        match operation.access {
            Public => {}
            AnyToken | UserToken => operation.admits(&server, &nobody, "a user without roles"),
            DeviceToken => operation
                .called_by(&server, &nobody)
                .refused(403, 1202, "device"),
            Roles(passing) => {
                operation.forbids(&server, &nobody, passing);
                if operation.path.starts_with("/changes") {
                    operation.called_by(&server, &everybody).refused(
                        403,
                        1202,
                        "client's own token",
                    );
                } else {
                    operation.admits(&server, &everybody, "a user with every role");
                }
            }
            // The scopes are the client's.
            Scopes(..) => operation.admits(&server, &nobody, "a user without roles"),
        }
    }
}

#[test]
fn own_read_admits_to_ones_own_records_alone() {
    let (server, all) = Server::with_api();
    let own = all.delegate(&json!({"barcode": "OWN"}));
    let guest = all.delegate(&json!({"barcode": "GUEST", "owner": own}));
    let other = all.delegate(&json!({"barcode": "OTHER"}));
    let stand = all.device(&json!({"code": "stand"}));
    let gate = all.device(&json!({"code": "gate"}));
    all.scan("own", own, stand).is(201);
    all.scan("check-in", own, gate).is(201);
    // A user with a delegate has OWN_READ by default.
    let user = server.caller_as_user("own@example.org", &[], Some(own));
    for path in [
        format!("/delegate/id:{own}"),
        format!("/delegate/id:{guest}"),
        "/delegate/barcode:GUEST".into(),
        format!("/device/id:{stand}"),
        "/device/code:stand".into(),
    ] {
        assert_eq!(user.get(&path).status, 200, "{path}");
    }
    let needed = |path: &str| {
        if path.starts_with("/device") {
            DeviceRead
        } else {
            DelegateRead
        }
    };
    let client = server.caller(&[OwnRead]);
    for path in [
        format!("/delegate/id:{other}"),
        "/delegate/barcode:OTHER".into(),
        format!("/device/id:{gate}"),
        // Whether there is another record is not told.
        "/delegate/id:999999".into(),
        "/delegate/barcode:NOBODY".into(),
        "/device/code:nowhere".into(),
    ] {
        user.get(&path).refused(403, 1202, needed(&path).name());
        client.get(&path).refused(403, 1202, needed(&path).name());
    }
    // A client has no own delegate, and own records are not to be written or listed.
    client
        .get(&format!("/delegate/id:{own}"))
        .refused(403, 1202, DelegateRead.name());
    user.patch(&format!("/delegate/id:{own}"), &json!({}))
        .refused(403, 1202, DelegateWrite.name());
    user.get("/delegate/list")
        .refused(403, 1202, DelegateRead.name());
}

#[test]
fn the_document_says_what_each_operation_requires() {
    let server = Server::start();
    for Operation {
        id,
        described,
        access,
        ..
    } in operations(&server)
    {
        let text = described["description"].as_str().unwrap_or_default();
        let secured = described["security"]
            .as_array()
            .is_some_and(|schemes| !schemes.is_empty());
        assert_eq!(secured, access != Public, "security of {id}");
        match access {
            Public => {}
            AnyToken => assert!(text.contains("valid token"), "{id}: {text}"),
            UserToken => assert!(text.contains("user's token"), "{id}: {text}"),
            DeviceToken => assert!(text.contains("bound to a device"), "{id}: {text}"),
            Scopes(passing, with_user) => {
                assert!(text.contains(passing[0].name()), "{id}: {text}");
                assert_eq!(
                    text.contains("user who signed in"),
                    with_user,
                    "{id}: {text}"
                );
            }
            Roles(passing) => {
                for role in passing {
                    assert!(text.contains(role.name()), "{id}: {text}");
                }
                for role in all_but(passing) {
                    assert!(!text.contains(role.name()), "{id}: {text}");
                }
            }
        }
    }
}

#[test]
fn a_client_that_is_revoked_is_out_at_once() {
    let server = Server::start();
    let (id, secret) = server.client(&[DelegateRead], &[]);
    let api = server.caller_of(&id, &secret);
    api.get("/delegate/list").is(200);
    server.write(move |tx, ctx| gatepost::identity::clients::revoke(tx, ctx, &id));
    let refused = whole(api.request(Method::GET, "/delegate/list"));
    refused.reply.refused(401, 1204, "revoked");
    assert_ne!(refused.header("www-authenticate"), "");
    // A token that expired meanwhile tells it, too.
    server.sql("UPDATE tokens SET expires_at = 1");
    api.get("/ping").refused(401, 1204, "revoked");
}
