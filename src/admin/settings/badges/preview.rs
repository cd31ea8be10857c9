//! A layout as it is being designed, drawn for one record: JSON for the designer.

use super::{Picture, editor::Draft};
use crate::admin::prelude::*;
use crate::{
    domain::badges::{self, Fold, Press, Records, SAMPLES},
    types::DelegateId,
};
use poem::http::StatusCode;
use serde::Serialize;
use serde_json::json;

/// Answers with a page for each side, however it is folded, and the warnings; 422 with the reason where something is
/// wrong.
pub(super) async fn draw(request: RequestContext) -> Result<Response> {
    match drawn(&request).await {
        Ok(picture) => Ok(as_json(StatusCode::OK, &picture)),
        Err(cause) if is_theirs(&cause) || cause.kind == Kind::DelegateNotFound => {
            let why = json!({"error": answer::sentence(&cause)});
            Ok(as_json(StatusCode::UNPROCESSABLE_ENTITY, &why))
        }
        Err(cause) => Err(cause),
    }
}

async fn drawn(request: &RequestContext) -> Result<Picture> {
    let draft = Draft {
        name: "this layout".to_owned(),
        types: String::new(),
        layout: request.form.text("layout").to_owned(),
    };
    let mut layout = draft.read()?;
    layout.fold = Fold::None;
    let delegate = request.form.number("delegate")?.map(DelegateId);
    let wanted = request
        .form
        .filled("sample")
        .unwrap_or(SAMPLES[0])
        .to_owned();
    let settings = request.console.settings();
    let read = move |connection: &Connection| {
        let records = Records::of(connection, &settings, None)?;
        let record = match delegate {
            Some(id) => Some(records.get(id)?),
            None => records.sample(&wanted)?,
        };
        let record = record.ok_or_else(|| {
            Error::invalid("the list has nobody like that: choose somebody else to preview with")
        })?;
        Ok((Press::load(connection, &settings)?, record, wanted))
    };
    let (press, record, wanted) = request.read(read).await?;
    let name = match delegate {
        Some(_) => badges::fields(&record, "")
            .remove("name")
            .unwrap_or_default(),
        None => wanted,
    };
    let draw = move || Picture::of(name, &press.draw_by(&layout, &record));
    tokio::task::spawn_blocking(draw)
        .await
        .map_err(Error::defect)
}

fn as_json(status: StatusCode, body: &impl Serialize) -> Response {
    let body = serde_json::to_string(body).unwrap_or_default();
    let answer = Response::builder().status(status);
    answer.content_type("application/json").body(body)
}
