//! The API's document. poem-openapi makes it from the code; what it cannot know is added here:
//! selectors as `{idType}:{id}`, the errors of each operation, examples of parameters, and that
//! unknown properties are refused.
//!
//! - `errors`: the errors of each operation, and their headers
//! - `parameters`: parameters of paths, queries and headers
//! - `webhooks`: what the server sends by itself
//! - `about.md`: what every operation has in common

mod errors;
mod parameters;
mod webhooks;

use super::routes;
use crate::{
    domain::discovery::Discovery,
    identity::App,
    types::error::{Error, Result},
};
use poem_openapi::{LicenseObject, OpenApiService, ServerObject};
use serde_json::{Value, json};
use std::sync::Arc;

const ABOUT: &str = include_str!("about.md");

fn service(
    app: &App,
    discovery: &Arc<Discovery>,
) -> OpenApiService<impl poem_openapi::OpenApi + 'static, ()> {
    OpenApiService::new(
        routes::operations(app, discovery),
        "Gatepost",
        env!("CARGO_PKG_VERSION"),
    )
    .description(ABOUT)
    .server(ServerObject::new("/api/v5"))
    .license(LicenseObject::new("MIT"))
}

/// The document as JSON text.
pub fn document(app: &App, discovery: &Arc<Discovery>) -> Result<String> {
    let mut document: Value =
        serde_json::from_str(&service(app, discovery).spec()).map_err(Error::defect)?;
    document["components"]["schemas"]["Error"] = errors::schema();
    document["x-webhooks"] = webhooks::described();
    close_inputs(&mut document["components"]["schemas"]);
    let paths = document["paths"]
        .as_object_mut()
        .map(std::mem::take)
        .ok_or_else(|| Error::defect("the document has no paths"))?;
    document["paths"] = Value::Object(paths.into_iter().map(described).collect());
    serde_json::to_string_pretty(&document).map_err(Error::defect)
}

/// The page that shows the document, whole in itself: it needs no internet.
#[must_use]
pub fn page(app: &App, discovery: &Arc<Discovery>, document: &str) -> String {
    let service = service(app, discovery);
    service
        .swagger_ui_html()
        .replace(&service.spec(), document)
        .replace("<title>Swagger UI</title>", "<title>Gatepost API</title>")
}

/// An input refuses a property it does not know.
fn close_inputs(schemas: &mut Value) {
    for (name, schema) in schemas.as_object_mut().into_iter().flatten() {
        if name.ends_with("Input") {
            schema["additionalProperties"] = json!(false);
        }
    }
}

/// A path as it is meant, with the errors of its operations.
fn described((path, mut operations): (String, Value)) -> (String, Value) {
    for (method, operation) in operations.as_object_mut().into_iter().flatten() {
        errors::add(&path, method, operation);
        parameters::describe(&path, operation);
        add_etag(&path, method, operation);
        if operation["security"].is_null() {
            operation["security"] = json!([]);
        }
    }
    let path = path
        .replace("{selector}", "{idType}:{id}")
        .replace("{interaction}", "id:{id}")
        .replace("{interaction_type}", "{interactionType}");
    (path, operations)
}

/// Answers with one record have its version.
fn add_etag(path: &str, method: &str, operation: &mut Value) {
    let one = ["{selector}", "{event}", "{interaction}", "/myself"];
    let status = match method {
        "get" | "patch" if one.iter().any(|end| path.ends_with(end)) => "200",
        "post" if ["/delegate/new", "/device/new", "/event/new"].contains(&path) => "201",
        _ => return,
    };
    operation["responses"][status]["headers"]["ETag"] = json!({
        "description": "The version of the record, for `If-Match`; its interactions do not change it.",
        "schema": {"type": "string"},
    });
}
