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

fn strings<'a>(values: impl Iterator<Item = &'a Value>) -> Vec<&'a str> {
    values.filter_map(Value::as_str).collect()
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
fn every_reference_resolves_and_every_schema_is_used() {
    let server = Server::start();
    let document = document(&server);
    let mut referred = BTreeSet::new();
    walk(&document, &mut |object| {
        if let Some(reference) = object.get("$ref").and_then(Value::as_str) {
            referred.insert(reference);
        }
    });
    for reference in &referred {
        let pointer = reference
            .strip_prefix('#')
            .expect("a reference into the document");
        assert!(
            document.pointer(pointer).is_some(),
            "{reference} leads nowhere"
        );
    }
    for name in document["components"]["schemas"]
        .as_object()
        .expect("schemas")
        .keys()
    {
        let reference = format!("#/components/schemas/{name}");
        assert!(referred.contains(reference.as_str()), "{name} is not used");
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
fn operations_parameters_and_tags_are_described() {
    let server = Server::start();
    let document = document(&server);
    let mut ids = BTreeSet::new();
    let tags = document["tags"].as_array().expect("tags").iter();
    let tags: BTreeSet<&str> = strings(tags.map(|tag| &tag["name"])).into_iter().collect();
    for (path, method, operation) in operations(&document) {
        let id = operation["operationId"].as_str().expect("an operationId");
        assert!(ids.insert(id), "{id} stands twice");
        for name in ["summary", "description"] {
            assert!(
                operation[name]
                    .as_str()
                    .is_some_and(|text| !text.is_empty()),
                "{name} of {id}"
            );
        }
        for tag in operation["tags"].as_array().expect("tags") {
            assert!(
                tags.contains(tag.as_str().unwrap_or_default()),
                "{tag} of {id}"
            );
        }
        let parameters = operation["parameters"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        for parameter in &parameters {
            let about = parameter["description"].as_str().unwrap_or_default();
            assert!(!about.is_empty(), "{} of {id}", parameter["name"]);
            assert!(
                !about.contains(":selector"),
                "{} of {id}",
                parameter["name"]
            );
        }
        let in_path = parameters
            .iter()
            .filter(|parameter| parameter["in"] == "path");
        let in_path: BTreeSet<&str> = strings(in_path.map(|one| &one["name"]))
            .into_iter()
            .collect();
        let named: BTreeSet<&str> = path
            .split('{')
            .skip(1)
            .filter_map(|part| part.split('}').next())
            .collect();
        assert_eq!(in_path, named, "{method} {path}");
    }
}

#[test]
fn selectors_stand_as_the_spec_writes_them() {
    let server = Server::start();
    let document = document(&server);
    for path in words(
        "/delegate/{idType}:{id} /device/{idType}:{id} /interaction/id:{id} \
         /interaction/new/{interactionType} /interaction/test/{interactionType}",
    ) {
        assert!(document["paths"][path].is_object(), "{path}");
    }
    let id_types = |path: &str| {
        let parameters = document["paths"][path]["get"]["parameters"]
            .as_array()
            .expect(path)
            .iter();
        let found = parameters
            .clone()
            .find(|one| one["name"] == "idType")
            .expect("idType");
        strings(found["schema"]["enum"].as_array().expect("an enum").iter()).join(" ")
    };
    // Contract §1.
    assert_eq!(
        id_types("/delegate/{idType}:{id}"),
        "id barcode rfid externalId publicId code uhfId slug"
    );
    assert_eq!(
        id_types("/device/{idType}:{id}"),
        "id code publicId externalId rfid slug"
    );
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

#[test]
fn null_is_allowed_beside_a_type_and_every_operation_says_who_may_call_it() {
    let server = Server::start();
    let document = document(&server);
    walk(&document, &mut |object| {
        assert!(
            !object.contains_key("nullable") || object.contains_key("type"),
            "{object:?}"
        );
    });
    let public = ["token", "revokeToken", "createDeviceRequest"];
    for (path, method, operation) in operations(&document) {
        let security = operation["security"].as_array().expect("security");
        let id = operation["operationId"].as_str().unwrap_or_default();
        assert_eq!(security.is_empty(), public.contains(&id), "{method} {path}");
    }
    let token = &document["paths"]["/oauth/v2/token"]["post"]["requestBody"]["content"];
    let kinds: Vec<&String> = token.as_object().expect("kinds").keys().collect();
    assert_eq!(kinds, ["application/x-www-form-urlencoded"]);
}

#[test]
fn what_a_client_needs_to_know_is_described() {
    let server = Server::start();
    let document = document(&server);
    let schemas = &document["components"]["schemas"];
    let item = &schemas["BatchAnswer"]["items"]["properties"];
    assert_eq!(
        item["data"]["anyOf"][0]["$ref"],
        "#/components/schemas/Interaction"
    );
    assert_eq!(item["meta"]["$ref"], "#/components/schemas/InteractionMeta");
    for name in ["error", "note", "repeat", "replayed"] {
        let meta = &schemas["InteractionMeta"]["properties"];
        assert!(meta[name].is_object(), "{name}");
    }
    let note = &schemas["Error"]["properties"]["meta"]["properties"]["note"];
    assert_eq!(note["$ref"], "#/components/schemas/GateNote");
    for (device, rules) in [
        ("Device", "AccessRules"),
        ("DeviceInput", "AccessRulesInput"),
    ] {
        let access = &schemas[device]["properties"]["data"]["properties"]["Access"];
        assert_eq!(
            access["$ref"],
            json!(format!("#/components/schemas/{rules}"))
        );
        for rule in words("ruleSet entry maxCheckIns capacity opensBefore closesAfter") {
            assert!(schemas[rules]["properties"][rule].is_object(), "{rule}");
        }
    }
    assert!(schemas["Interaction"]["properties"]["id"]["nullable"].is_null());
    assert_eq!(
        schemas["TestedInteraction"]["properties"]["id"]["nullable"],
        true
    );
    let code = &schemas["DelegateInput"]["properties"]["barcode"];
    assert_eq!(
        (&code["minLength"], &code["maxLength"]),
        (&json!(1), &json!(255))
    );
    let about = document["info"]["description"].as_str().unwrap_or_default();
    for operator in "== != > >= < <= *= in and or not fi si ti ud st comms batch".split(' ') {
        assert!(about.contains(&format!("`{operator}`")), "{operator}");
    }
    let webhooks = document["x-webhooks"].as_object().expect("webhooks");
    for change in gatepost::domain::webhooks::CHANGES {
        assert!(webhooks.contains_key(change.name), "{}", change.name);
    }
    let etag = &document["paths"]["/delegate/{idType}:{id}"]["get"]["responses"]["200"]["headers"];
    assert!(etag["ETag"].is_object());
}
