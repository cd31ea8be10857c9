//! `/o/<token>.gif`: the picture of one dot in e-mails, by which it is known that one was opened (spec:
//! Delegate flags, `e`). It is the same whatever the token is, so that nobody learns anything by it.

use crate::{core::Context, domain::messages::opened, identity::App, types::error::Result};
use poem::{Request, Response, http::header};

/// The longest token that is looked at.
const TOKEN_MAX_BYTES: usize = 64;

/// The picture. What is kept beside must not keep anybody from seeing it.
pub async fn show(app: &App, request: &Request) -> Response {
    let token = request
        .raw_path_param("name")
        .and_then(|name| name.strip_suffix(".gif"))
        .filter(|token| token.len() <= TOKEN_MAX_BYTES);
    if let Some(token) = token
        && let Err(cause) = keep(app, token).await
    {
        tracing::warn!("an e-mail that was opened: {cause}");
    }
    Response::builder()
        .content_type("image/gif")
        .header(header::CACHE_CONTROL, "no-store")
        .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff")
        .body(opened::PICTURE)
}

async fn keep(app: &App, token: &str) -> Result<()> {
    let message = app
        .store
        .look_up(|connection| opened::unopened(connection, token))?;
    let Some(message) = message else {
        return Ok(());
    };
    let ctx = Context {
        actor: "mail".into(),
        ..Context::of_command("admin", app.settings())
    };
    app.store
        .write(move |tx| opened::record(tx, &ctx, message))
        .await
}
