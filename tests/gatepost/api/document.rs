//! `/openapi.json` and `/docs`: what the server says about itself is whole and true.

use crate::harness::{Reply, Server, has, lacks, reply, whole, words};
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::BTreeSet;

pub(super) fn document(server: &Server) -> Value {
    reply(server.request(Method::GET, "/openapi.json")).body
}

/// Every operation: path, method, itself.
pub(super) fn operations(document: &Value) -> Vec<(String, String, &Value)> {
    let paths = document["paths"].as_object().expect("paths");
    let mut operations = Vec::new();
    for (path, methods) in paths {
        for (method, operation) in methods.as_object().expect("methods") {
            operations.push((path.clone(), method.clone(), operation));
        }
    }
    operations.sort_by(|one, other| (&one.0, &one.1).cmp(&(&other.0, &other.1)));
    operations
}

/// Calls `visit` with every object in the document.
pub(super) fn walk<'a>(
    value: &'a Value,
    visit: &mut impl FnMut(&'a serde_json::Map<String, Value>),
) {
    match value {
        Value::Object(object) => {
            visit(object);
            object.values().for_each(|value| walk(value, visit));
        }
        Value::Array(items) => items.iter().for_each(|value| walk(value, visit)),
        _ => {}
    }
}

#[test]
fn every_documented_error_tells_its_internal_codes() {
    let server = Server::start();
    let document = document(&server);
    for (path, method, operation) in operations(&document) {
        let responses = operation["responses"].as_object().expect("responses");
        assert!(
            responses.keys().any(|status| status.starts_with('2')),
            "{method} {path}"
        );
        for (status, response) in responses {
            let about = response["description"].as_str().unwrap_or_default();
            assert!(
                !about.is_empty(),
                "{method} {path} {status} is not described"
            );
            if status.starts_with('2') || path.starts_with("/oauth") {
                continue;
            }
            if ["429", "503"].contains(&status.as_str()) {
                let wait = &response["headers"]["Retry-After"]["schema"]["type"];
                assert_eq!(wait, "integer", "{method} {path} {status}");
            }
            let code = about
                .split('`')
                .nth(1)
                .and_then(|code| code.parse::<i64>().ok());
            assert!(
                code.is_some(),
                "no internal code at {method} {path} {status}: {about}"
            );
            // A device that is offline is told with the status of an error.
            let schema = &response["content"]["application/json"]["schema"];
            let schema = if path.ends_with("/pong") && status == "404" {
                &schema["anyOf"][1]
            } else {
                schema
            };
            assert_eq!(
                schema["$ref"], "#/components/schemas/Error",
                "{method} {path} {status}"
            );
        }
        if path.starts_with("/oauth") {
            continue;
        }
        let searches = operation["parameters"]
            .as_array()
            .is_some_and(|all| all.iter().any(|one| one["name"] == "search"))
            || (method == "post" && path.ends_with("/list"));
        let malformed = responses["400"]["description"].as_str();
        assert_eq!(
            malformed.is_some_and(|about| about.contains("`1102`")),
            searches,
            "{method} {path}"
        );
        for status in ["400", "401", "403", "500", "503"] {
            let public = operation["security"] == json!([]) && ["401", "403"].contains(&status);
            assert!(
                responses.contains_key(status) || path == "/ping" || public,
                "{status} at {method} {path}"
            );
        }
    }
}

#[test]
fn a_schema_names_what_the_server_answers() {
    let (server, api) = Server::with_api();
    let document = document(&server);
    let known = |schema: &str, record: &Value| {
        let properties = &document["components"]["schemas"][schema]["properties"];
        for name in record.as_object().expect("a record").keys() {
            assert!(
                properties[name].is_object(),
                "{schema} does not know {name}"
            );
        }
        for name in document["components"]["schemas"][schema]["required"]
            .as_array()
            .expect("required")
        {
            assert!(
                record.get(name.as_str().unwrap_or_default()).is_some(),
                "{name} of {schema}"
            );
        }
    };
    let data = |reply: Reply| reply.data().clone();
    let parent = api.delegate(&json!({}));
    let delegate = data(api.post(
        "/delegate/new",
        &json!({"parent": parent, "email": "a@example.org"}),
    ));
    known("Delegate", &delegate);
    let device = data(api.post("/device/new", &json!({"name": "Gate", "startAt": 0})));
    known("Device", &device);
    known(
        "Event",
        &data(api.post(
            "/event/new",
            &json!({"eventName": "Summit", "eventStartAt": 0}),
        )),
    );
    let made = json!({"delegate": delegate["id"], "device": device["id"], "data": {"a": 1}});
    known("Interaction", &data(api.interact("lead", &made)));
    known("Ping", &data(api.get("/ping")));
    for (schema, own) in [
        ("DelegateInput", "barcode"),
        ("DeviceInput", "deviceType"),
        ("EventInput", "eventName"),
        ("InteractionInput", "nonce"),
        ("BatchInput", "sharedValues"),
    ] {
        let schema = &document["components"]["schemas"][schema];
        assert!(schema["properties"][own].is_object(), "{own}");
        assert_eq!(schema["additionalProperties"], json!(false), "{own}");
    }
}

#[test]
fn the_reference_page_needs_nothing_from_elsewhere() {
    let server = Server::start();
    let page = whole(server.request(Method::GET, "/docs"));
    assert_eq!(page.reply.status, 200);
    assert!(page.header("content-type").starts_with("text/html"));
    has(&page.text, "createInteraction");
    let policy = page.header("content-security-policy");
    assert!(
        policy.starts_with("default-src 'none'; script-src 'sha256-"),
        "{policy}"
    );
    has(policy, "frame-ancestors 'none'");
    lacks(policy, "unsafe");
    lacks(
        &page.text,
        [
            "src=\"http",
            "href=\"http",
            "src='http",
            "@import",
            "src=\"//",
            "href=\"//",
        ],
    );
    let document = whole(server.request(Method::GET, "/openapi.json"));
    assert_eq!(document.header("content-type"), "application/json");
    let version = document.reply.body["openapi"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    assert!(version.starts_with("3."), "{version}");
}

#[test]
fn the_document_says_where_tokens_are_had() {
    let server = Server::start();
    let document = document(&server);
    let scheme = &document["components"]["securitySchemes"]["OAuth2"];
    assert_eq!(scheme["type"], "oauth2");
    for (flow, trusts) in [("clientCredentials", true), ("password", false)] {
        let flow = &scheme["flows"][flow];
        assert!(flow["scopes"]["REPORT_READ"].is_string(), "{scheme}");
        assert_eq!(flow["scopes"]["TRUSTED"].is_string(), trusts, "{scheme}");
        let url = flow["tokenUrl"].as_str().expect("an address");
        let refused = reply(server.request(Method::POST, url).json(&json!({})));
        assert_eq!(refused.body["error"], "invalid_request", "{url}");
    }
}

/// What linters do not look at, nor the outline.
#[test]
fn everything_is_described_and_used() {
    let server = Server::start();
    let document = document(&server);
    let mut referred = BTreeSet::new();
    walk(&document, &mut |object| {
        referred.extend(object.get("$ref").and_then(Value::as_str));
        assert!(
            !object.contains_key("nullable") || object.contains_key("type"),
            "{object:?}"
        );
    });
    for name in document["components"]["schemas"]
        .as_object()
        .expect("schemas")
        .keys()
    {
        let reference = format!("#/components/schemas/{name}");
        // Receivers of webhooks are made from it.
        let is_used = referred.contains(reference.as_str()) || name == "Delivery";
        assert!(is_used, "{name} is not used");
    }
    let tags = document["tags"].as_array().expect("tags").iter();
    let tags: Vec<&Value> = tags.map(|tag| &tag["name"]).collect();
    for (path, method, operation) in operations(&document) {
        let mut described = vec![&operation["summary"], &operation["description"]];
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        described.extend(parameters.map(|parameter| &parameter["description"]));
        for about in described {
            let about = about.as_str().unwrap_or_default();
            assert!(
                !about.is_empty() && !about.contains(":selector"),
                "{method} {path}"
            );
        }
        let own = operation["tags"].as_array().expect("tags");
        assert!(own.iter().all(|tag| tags.contains(&tag)), "{method} {path}");
    }
    let about = document["info"]["description"].as_str().unwrap_or_default();
    for operator in words("== != > >= < <= *= in and or not fi si ti ud st comms batch") {
        has(about, &format!("`{operator}`"));
    }
    let webhooks = document["x-webhooks"].as_object().expect("webhooks");
    assert!(webhooks.contains_key("webhook.test"));
    for change in gatepost::domain::webhooks::CHANGES {
        assert!(webhooks.contains_key(change.name), "{}", change.name);
    }
    // Deliveries and changes are told apart by their type.
    let shapes = &document["components"]["schemas"];
    let shape = |reference: &Value| {
        let reference = reference["$ref"].as_str().expect("a reference");
        &shapes[reference.rsplit('/').next().expect("a name")]
    };
    let told = |union: &Value| -> BTreeSet<String> {
        let all = union["oneOf"].as_array().expect("shapes").iter();
        let types = all.filter_map(|one| shape(one)["properties"]["type"]["enum"][0].as_str());
        types.map(ToOwned::to_owned).collect()
    };
    let deliveries: BTreeSet<String> = webhooks.keys().cloned().collect();
    assert_eq!(told(&shapes["Delivery"]), deliveries);
    let changes = told(&shapes["Changes"]["items"]);
    let known: Vec<_> = words("blocked-code delegate device interaction transaction").collect();
    assert_eq!(
        changes.iter().map(String::as_str).collect::<Vec<_>>(),
        known
    );
    for reader in ["impinj", "zebra"] {
        let body = &document["paths"][format!("/reader/{reader}")]["post"]["requestBody"];
        let schema = &body["content"]["application/json"]["schema"];
        let typed = ["type", "anyOf", "oneOf", "$ref"].map(|key| schema.get(key).is_some());
        assert_eq!(typed, [false; 4], "{schema}");
    }
}
