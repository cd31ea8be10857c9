//! The OpenAPI document as an outline: a line for each operation, parameter, body, answer and
//! property. Prose and examples are left out; the internal codes of errors stay.

use super::document::{document, operations};
use crate::harness::Server;
use serde_json::{Map, Value};
use std::fmt::Write;

/// What people read and clients do not.
const PROSE: &[&str] = &["description", "example", "examples", "summary", "title"];

fn object(value: &Value) -> &Map<String, Value> {
    value.as_object().unwrap_or_else(|| panic!("{value}"))
}

fn sorted(map: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let mut entries: Vec<_> = map.iter().collect();
    entries.sort_by_key(|(key, _)| *key);
    entries
}

/// Lines in any order of the document, sorted.
fn lines<'a>(lines: impl Iterator<Item = String> + 'a) -> Vec<String> {
    let mut lines: Vec<String> = lines.collect();
    lines.sort_unstable();
    lines
}

/// A schema on one line: what it refers to or its type, then everything else that it says.
fn brief(schema: &Value) -> String {
    let Some(map) = schema.as_object() else {
        return schema.to_string();
    };
    let all = |schemas: &Value| -> String {
        let schemas = schemas.as_array().expect("schemas").iter();
        schemas.map(brief).collect::<Vec<_>>().join(" | ")
    };
    let mut parts = Vec::new();
    for (key, value) in sorted(map) {
        parts.push(match key.as_str() {
            key if PROSE.contains(&key) => continue,
            "type" => continue,
            "required" if map.contains_key("properties") => continue,
            "$ref" => name(value).to_owned(),
            "items" => format!("of {}", brief(value)),
            "properties" => format!("{{{}}}", properties(schema).join(", ")),
            "additionalProperties" => format!("others: {}", brief(value)),
            "anyOf" | "oneOf" | "allOf" => format!("{key}({})", all(value)),
            "enum" => format!("enum {}", lines(strings(value)).join(" ")),
            key => format!("{key}={value}"),
        });
    }
    if map.is_empty() {
        parts.push("anything".to_owned());
    }
    if let Some(kind) = map.get("type") {
        let kinds: Vec<String> = match kind {
            Value::Array(kinds) => kinds.iter().map(text).collect(),
            kind => vec![text(kind)],
        };
        parts.insert(0, kinds.join("|"));
    }
    parts.join(" ")
}

/// The properties of a schema, with a `!` where they are required.
fn properties(schema: &Value) -> Vec<String> {
    let required: Vec<String> = strings(&schema["required"]).collect();
    let known = object(&schema["properties"]);
    assert!(required.iter().all(|name| known.contains_key(name)));
    lines(known.iter().map(|(name, schema)| {
        let mark = if required.contains(name) { "!" } else { "" };
        format!("{name}{mark}: {}", brief(schema))
    }))
}

fn text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

fn strings(value: &Value) -> impl Iterator<Item = String> {
    value.as_array().into_iter().flatten().map(text)
}

/// The last part of a reference.
fn name(reference: &Value) -> &str {
    let reference = reference.as_str().expect("a reference");
    reference.rsplit('/').next().expect("a name")
}

/// The media types of a body or an answer, with their schemas.
fn content(body: &Value) -> String {
    let Some(content) = body.get("content") else {
        return String::new();
    };
    let types = object(content).iter().map(|(kind, media)| {
        let kind = if kind.starts_with("application/json") {
            ""
        } else {
            kind
        };
        format!(" {kind}{}", brief(&media["schema"]))
    });
    lines(types).concat()
}

/// The internal codes that the description of an error names.
fn codes(response: &Value) -> Vec<&str> {
    let about = response["description"].as_str().unwrap_or_default();
    let quoted = about.split('`').skip(1).step_by(2);
    quoted
        .filter(|code| code.len() > 2 && code.bytes().all(|byte| byte.is_ascii_digit()))
        .collect()
}

fn answer(status: &str, response: &Value) -> String {
    let mut line = format!("{status}{}", content(response));
    if !status.starts_with('2') {
        let mut codes = codes(response);
        codes.sort_unstable();
        let _ = write!(line, " {}", codes.join(" "));
    }
    if let Some(headers) = response.get("headers") {
        for (name, header) in sorted(object(headers)) {
            let _ = write!(line, ", {name}: {}", brief(&header["schema"]));
        }
    }
    line
}

fn parameter(parameter: &Value) -> String {
    let mut line = format!("{} {}", text(&parameter["in"]), text(&parameter["name"]));
    if parameter["required"] == true {
        line.push('!');
    }
    let _ = write!(line, ": {}", brief(&parameter["schema"]));
    for (key, value) in sorted(object(parameter)) {
        let said = ["in", "name", "required", "schema"].contains(&key.as_str());
        // What every parameter says is no news.
        let usual = (key == "deprecated" && value == false) || (key == "explode" && value == true);
        if !said && !usual && !PROSE.contains(&key.as_str()) {
            let _ = write!(line, " {key}={value}");
        }
    }
    line
}

fn operation(path: &str, method: &str, operation: &Value) -> String {
    let security: Vec<String> = operation["security"]
        .as_array()
        .into_iter()
        .flatten()
        .flat_map(|one| object(one).keys().cloned())
        .collect();
    let mut text = format!(
        "{} {path} {} [{}] {}\n",
        method.to_uppercase(),
        text(&operation["operationId"]),
        strings(&operation["tags"]).collect::<Vec<_>>().join(", "),
        security.join(" "),
    );
    let parameters = operation["parameters"].as_array().into_iter().flatten();
    for line in lines(parameters.map(parameter)) {
        let _ = writeln!(text, "  {line}");
    }
    if let Some(body) = operation.get("requestBody") {
        let mark = if body["required"] == true { "!" } else { "" };
        let _ = writeln!(text, "  body{mark}{}", content(body));
    }
    for (status, response) in sorted(object(&operation["responses"])) {
        let _ = writeln!(text, "  {}", answer(status, response));
    }
    text
}

fn schema(name: &str, schema: &Value) -> String {
    if schema.get("properties").is_none() {
        return format!("{name}: {}\n", brief(schema));
    }
    let mut rest = object(schema).clone();
    for listed in ["properties", "required"] {
        rest.shift_remove(listed);
    }
    let mut text = format!("{name}: {}\n", brief(&rest.into()));
    for line in properties(schema) {
        let _ = writeln!(text, "  {line}");
    }
    text
}

#[test]
fn the_openapi_document_stays() {
    let server = Server::start();
    let document = document(&server);
    let mut outline = String::new();
    for (path, method, one) in operations(&document) {
        outline.push_str(&operation(&path, &method, one));
    }
    outline.push('\n');
    for (name, one) in sorted(object(&document["components"]["schemas"])) {
        outline.push_str(&schema(name, one));
    }
    outline.push('\n');
    for (name, one) in sorted(object(&document["x-webhooks"])) {
        for (method, one) in sorted(object(one)) {
            outline.push_str(&operation(name, method, one));
        }
    }
    let outline: Vec<&str> = outline.lines().map(str::trim_end).collect();
    insta::assert_snapshot!(outline.join("\n"));
}
