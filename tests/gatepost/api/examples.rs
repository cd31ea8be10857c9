//! Examples in `/openapi.json`: wherever something is sent or answered there is one, it has the shape
//! that it is an example of, and the server takes it.

use super::document::{document, operations, walk};
use crate::harness::Server;
use serde_json::{Value, json};

/// The document as JSON Schema reads it: `null` where it is allowed, and nothing in an object that
/// names its properties but these, so that an example has no misspelt ones.
fn strict(document: &Value) -> Value {
    let mut strict = document.clone();
    tighten(&mut strict);
    strict
}

fn tighten(value: &mut Value) {
    match value {
        Value::Object(object) => {
            object.values_mut().for_each(tighten);
            if object.get("nullable") == Some(&json!(true)) && object.contains_key("type") {
                object["type"] = json!([object["type"], "null"]);
            }
            if object.get("properties").is_some_and(Value::is_object)
                && !object.contains_key("additionalProperties")
            {
                object.insert("additionalProperties".to_owned(), json!(false));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(tighten),
        _ => {}
    }
}

/// What is wrong with a value as an example of a schema of the document.
fn fault(document: &Value, schema: &Value, value: &Value) -> Option<String> {
    let whole = json!({"allOf": [schema], "components": document["components"]});
    let validator = jsonschema::options()
        .should_validate_formats(true)
        .build(&whole)
        .expect("a schema");
    validator
        .validate(value)
        .err()
        .map(|fault| fault.to_string())
}

/// The example of a parameter or of a body's kind: its own, its schema's, or that of the schema which is
/// referred to.
fn example<'a>(document: &'a Value, place: &'a Value) -> Option<&'a Value> {
    let schema = &place["schema"];
    let referred = schema["$ref"]
        .as_str()
        .and_then(|reference| document.pointer(reference.strip_prefix('#').unwrap_or_default()));
    [Some(place), Some(schema), referred]
        .into_iter()
        .flatten()
        .find_map(|place| place.get("example"))
}

/// Every parameter, body and answer of success that has a content, by what to call it.
fn places(document: &Value) -> Vec<(String, &Value)> {
    let mut places = Vec::new();
    for (path, method, operation) in operations(document) {
        let of = format!("{method} {path}");
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            places.push((format!("{of}: {}", parameter["name"]), parameter));
        }
        let body = [("body".to_owned(), &operation["requestBody"])];
        let answers = operation["responses"]
            .as_object()
            .expect("responses")
            .iter();
        let answers = answers
            .filter(|(status, _)| status.starts_with('2'))
            .map(|(status, answer)| (status.clone(), answer));
        for (name, contained) in body.into_iter().chain(answers) {
            for (kind, media) in contained["content"].as_object().into_iter().flatten() {
                places.push((format!("{of}: {name} {kind}"), media));
            }
        }
    }
    places
}

#[test]
fn whatever_is_sent_or_answered_has_an_example_of_its_shape() {
    let server = Server::start();
    let document = document(&server);
    let strict = strict(&document);
    let (places, in_strict) = (places(&document), places(&strict));
    assert!(places.len() > 100, "{} places", places.len());
    let mut wrong = Vec::new();
    for ((name, place), (_, of_strict)) in places.iter().zip(&in_strict) {
        let told = match example(&document, place) {
            None => Some("has no example".to_owned()),
            Some(value) => fault(&strict, &of_strict["schema"], value),
        };
        wrong.extend(told.map(|told| format!("{name}: {told}")));
    }
    // Those that stand further in.
    walk(&strict, &mut |object| {
        if let Some(value) = object.get("example")
            && object.contains_key("type")
        {
            let schema = Value::Object(object.clone());
            let told = fault(&strict, &schema, value);
            wrong.extend(told.map(|told| format!("{value}: {told}")));
        }
    });
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn an_answer_is_shown_as_that_operation_gives_it() {
    let server = Server::start();
    let document = document(&server);
    let shown = |path: &str, method: &str, status: &str| {
        let content = &document["paths"][path][method]["responses"][status]["content"];
        example(&document, &content["application/json"])
            .expect("an example")
            .clone()
    };
    let delegate = &document["components"]["schemas"]["Delegate"]["example"];
    let by_id = "/delegate/{idType}:{id}";
    assert_eq!(
        shown(by_id, "get", "200"),
        json!({"data": delegate, "meta": {}})
    );
    let listed = shown("/delegate/list", "get", "200");
    assert_eq!(listed["data"], json!([delegate]));
    assert!(listed["meta"]["pagination"]["next"].is_string(), "{listed}");
    let new = "/interaction/new/{interactionType}";
    assert_eq!(shown(new, "post", "201")["data"]["id"], 41);
    assert_eq!(shown(new, "post", "200")["meta"], json!({"replayed": true}));
    let tried = shown("/interaction/test/{interactionType}", "post", "200");
    assert_eq!(tried["data"]["id"], Value::Null);
}

#[test]
fn the_server_takes_what_is_shown_as_an_example() {
    let (server, api) = Server::with_api();
    let document = document(&server);
    let body = |path: &str| {
        let body = &document["paths"][path]["post"]["requestBody"]["content"]["application/json"];
        example(&document, body).expect("an example").clone()
    };
    for path in ["/event/new", "/device/new", "/delegate/new", "/tx/new"] {
        let reply = api.post(path, &body(path));
        assert_eq!(reply.status, 201, "{path}: {}", reply.body);
    }
    let interaction = "/interaction/new/{interactionType}";
    // The device asks for an invitation.
    let check_in = body(interaction);
    let invited = json!({"delegate": check_in["firstDelegate"], "device": check_in["firstDevice"]});
    api.interact("join", &invited).id();
    api.interact("check-in", &check_in).id();
    let lists = [
        "/delegate/list",
        "/device/list",
        "/event/list",
        "/interaction/list",
    ];
    let paths = lists
        .into_iter()
        .chain(["/delegate/{idType}:{id}", "/event/{event}"]);
    // A page begins or ends in one way, and its ends belong to its order.
    let ways: [&[&str]; 3] = [
        &["after", "before"],
        &["offset", "before", "sort"],
        &["offset", "after", "sort"],
    ];
    let paths = paths.flat_map(|path| ways.map(|but| (path, but)));
    for (path, but) in paths {
        let parameters = document["paths"][path]["get"]["parameters"]
            .as_array()
            .expect("parameters");
        let (mut address, mut query) = (
            path.to_owned(),
            form_urlencoded::Serializer::new(String::new()),
        );
        for parameter in parameters {
            let name = parameter["name"].as_str().expect("a name");
            let value = match &parameter["example"] {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            if parameter["in"] == "path" {
                address = address.replace(&format!("{{{name}}}"), &value);
            } else if !but.contains(&name) {
                query.append_pair(name, &value);
            }
        }
        let reply = api.get(&format!("{address}?{}", query.finish()));
        assert_eq!(reply.status, 200, "{path}: {}", reply.body);
    }
}
