//! The metadata of the authorization server (RFC 8414), by which clients find the token endpoint.

use crate::{identity::Scope, web::Address};
use poem::{Response, handler, http::header};
use serde_json::json;

/// Where it is.
pub const PATH: &str = "/.well-known/oauth-authorization-server";

/// Answers with the metadata, under the address that the request was sent to.
#[handler]
pub fn show(address: Address) -> Response {
    let base = address.base();
    let scopes: Vec<&str> = Scope::ALL.iter().map(|scope| scope.name()).collect();
    let authentication = json!(["client_secret_basic", "client_secret_post"]);
    let metadata = json!({
        "issuer": base,
        "token_endpoint": format!("{base}/api/oauth/v2/token"),
        "revocation_endpoint": format!("{base}/api/oauth/v2/revoke"),
        "token_endpoint_auth_methods_supported": authentication,
        "revocation_endpoint_auth_methods_supported": authentication,
        "grant_types_supported": ["client_credentials", "password", "refresh_token"],
        // Required, and there is no authorization endpoint.
        "response_types_supported": [],
        "scopes_supported": scopes,
        "service_documentation": format!("{base}/docs"),
    });
    Response::builder()
        .content_type("application/json")
        .header(header::CACHE_CONTROL, "no-cache")
        .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff")
        // As public as the API, and without secrets.
        .header(header::ACCESS_CONTROL_ALLOW_ORIGIN, "*")
        .body(metadata.to_string())
}
