//! Fonts for letters that the embedded ones lack.

use super::{FONT_MAX_BYTES, HERE, list};
use crate::admin::prelude::*;
use crate::domain::badges::fonts::{self, CheckedFont};
use std::sync::Arc;

pub(super) async fn add(mut request: RequestContext) -> Result<Response> {
    let content = match request.upload() {
        Some(upload) => upload.small(FONT_MAX_BYTES).await,
        None => Ok(Vec::new()),
    };
    let added = match content {
        Ok(content) => store(&request, content).await,
        Err(cause) => Err(cause),
    };
    match added {
        Ok(name) => request.done(
            format!(
                "{name} added. Badges are drawn with it where the embedded fonts lack a letter."
            ),
            HERE,
        ),
        Err(cause) => request.failed(cause, list).await,
    }
}

async fn store(request: &RequestContext, content: Vec<u8>) -> Result<String> {
    let check = move || CheckedFont::new(content).map(Arc::new);
    let checked = tokio::task::spawn_blocking(check).await;
    let font = checked.map_err(Error::defect)??;
    let (ctx, store) = (request.context(), &request.console.store);
    let (before, name) = (ctx.clone(), font.name.clone());
    store
        .write_bulk(move |tx| fonts::remove(tx, &before, &name))
        .await?;
    for piece in font.pieces() {
        let (font, ctx) = (Arc::clone(&font), ctx.clone());
        store
            .write_bulk(move |tx| font.store(tx, &ctx, piece))
            .await?;
    }
    // The next badge need not wait for it.
    request
        .read(|connection| fonts::current(connection).map(drop))
        .await?;
    Ok(font.name.clone())
}

pub(super) fn remove(tx: &Tx<'_>, ctx: &Context, action: &Action) -> Result<Done> {
    let name = action.form.text("name");
    fonts::remove(tx, ctx, name)?;
    Ok(Done::new(format!("{name} removed."), HERE))
}
