//! A small file that a form sends.

use crate::{
    console::Visit,
    error::{Error, Kind, Result},
};
use poem::{Body, FromRequest, Request, RequestBody, http::header, web::Multipart};

/// What a form adds around its file, in bytes.
const AROUND_BYTES: usize = 16 * 1024;

/// The content of a form's field `name`; empty where no file was chosen.
///
/// # Errors
/// [`Kind::TooLarge`] for more than `most` bytes.
pub(super) async fn small(visit: &mut Visit, name: &str, most: usize) -> Result<Vec<u8>> {
    let body = visit.upload();
    let bytes = body
        .into_bytes_limit(most + AROUND_BYTES)
        .await
        .map_err(|cause| match cause {
            poem::error::ReadBodyError::PayloadTooLarge => Error::new(
                Kind::TooLarge,
                format!("the file may have at most {} KiB", most / 1024),
            ),
            other => Error::invalid_cause(other),
        })?;
    let kind = visit
        .header(header::CONTENT_TYPE.as_str())
        .unwrap_or_default();
    let request = Request::builder().content_type(kind).finish();
    let mut body = RequestBody::new(Body::from(bytes));
    let mut form = Multipart::from_request(&request, &mut body)
        .await
        .map_err(Error::invalid_cause)?;
    while let Some(field) = form.next_field().await.map_err(Error::invalid_cause)? {
        if field.name() == Some(name) {
            return field.bytes().await.map_err(Error::invalid_cause);
        }
    }
    Ok(Vec::new())
}
