//! Answers of a page: a whole page, a part of one, a redirect, a stream of events; and what every answer
//! of the console carries.

pub use crate::types::text::capital;

use super::Console;
use crate::admin::prelude::*;
use crate::{
    types::{secret, text},
    web::{RequestId, envelope::attachment, error::status_code},
};
use bytes::{Bytes, BytesMut};
use fast_qr::{
    ECL, QRBuilder,
    convert::{Builder, Shape, svg::SvgBuilder},
};
use futures_util::{Stream, StreamExt, stream};
use poem::{
    Body,
    http::{HeaderName, HeaderValue, StatusCode, header},
};
use std::{
    collections::HashMap,
    fmt::Write,
    fs::File,
    future::Future,
    io::{self, Read},
    sync::Arc,
};
use tempfile::TempDir;

/// Nothing but our own files: no script, style or picture from elsewhere, none inline.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
     connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// For HTML that somebody wrote for elsewhere, shown by itself: an origin of its own, no script, no
/// form, nothing fetched.
const FOREIGN_POLICY: &str = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; \
     form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

/// Marks an answer as HTML for elsewhere.
#[derive(Clone)]
struct Foreign;

/// HTML that was written for elsewhere, such as an e-mail, shown by itself: it can do nothing here.
#[must_use]
pub fn foreign(html: String) -> Response {
    let mut response = Response::builder()
        .content_type("text/html; charset=utf-8")
        .body(html);
    response.extensions_mut().insert(Foreign);
    response
}

/// An error as a sentence of a page. One of a property begins with its label there.
pub fn sentence(error: &Error) -> String {
    let Some(path) = error.field.first().filter(|path| is_property(path)) else {
        let mut shown = error.clone();
        shown.message = say(&error.message);
        return text::sentence(&shown.to_string());
    };
    let name = path.rsplit('.').find(|part| !part.is_empty());
    let name = name.and_then(|name| name.split('[').next());
    let mut shown = error.clone();
    shown.field[0] = say(text::label(name.unwrap_or(path)));
    shown.message = say(&error.message);
    text::sentence(&shown.to_string())
}

/// Tells whether a text is the path of a property, such as `lastName` or `walkIn.types[0].product`.
fn is_property(path: &str) -> bool {
    path.starts_with(|first: char| first.is_ascii_lowercase())
        && path
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b".[]".contains(&byte))
}

/// Messages that wait for the next page of a session.
pub type Flashes = HashMap<i64, Vec<Flash>>;

/// A message above a page.
pub struct Flash {
    pub text: String,
    /// Set for a message that says what went wrong.
    pub is_bad: bool,
}

/// A page, or a part of one.
pub fn page(template: &impl Template) -> Result<Response> {
    with_status(StatusCode::OK, template)
}

/// A form that could not be taken, with what was wrong: 422, so that scripts and tests can tell.
pub fn form_again(template: &impl Template) -> Result<Response> {
    with_status(StatusCode::UNPROCESSABLE_ENTITY, template)
}

/// The HTML of a part of a page.
pub fn part(template: &impl Template) -> Result<String> {
    template.render().map_err(Error::defect)
}

/// A page with a form: as [`form_again`] where something is wrong with it.
pub fn form_page(is_wrong: bool, template: &impl Template) -> Result<Response> {
    if is_wrong {
        form_again(template)
    } else {
        page(template)
    }
}

fn with_status(status: StatusCode, template: &impl Template) -> Result<Response> {
    Ok(Response::builder()
        .status(status)
        .content_type("text/html; charset=utf-8")
        .body(part(template)?))
}

/// Goes on at another page, after something was changed.
#[must_use]
pub fn go(path: &str) -> Response {
    Response::builder()
        .status(StatusCode::SEE_OTHER)
        .header(header::LOCATION, path)
        .finish()
}

/// As [`go`], where htmx asked: it then loads the whole page.
#[must_use]
pub fn go_whole(request: &RequestContext, path: &str) -> Response {
    if request.is_part() {
        Response::builder()
            .status(StatusCode::NO_CONTENT)
            .header("HX-Redirect", path)
            .finish()
    } else {
        go(path)
    }
}

/// To the sign-in, and from there back to where the visit was to go.
pub(super) fn to_sign_in(request: &RequestContext) -> Response {
    let target = form_urlencoded::Serializer::new(String::new())
        .append_pair("next", &request.page_address())
        .finish();
    go_whole(request, &format!("/console/sign-in?{target}"))
}

/// A text as a QR code, exactly as a scanner is to read it.
pub fn qr(text: &str) -> Result<Response> {
    Ok(Response::builder()
        .content_type("image/svg+xml")
        .body(qr_picture(text)?))
}

/// As [`qr`], within a page that is shown once.
pub fn qr_data(text: &str) -> Result<String> {
    let picture = data_encoding::BASE64.encode(qr_picture(text)?.as_bytes());
    Ok(format!("data:image/svg+xml;base64,{picture}"))
}

fn qr_picture(text: &str) -> Result<String> {
    let code = QRBuilder::new(text)
        .ecl(ECL::M)
        .build()
        .map_err(|cause| Error::defect(cause.to_string()))?;
    Ok(SvgBuilder::default().shape(Shape::Square).to_str(&code))
}

/// A PDF that the browser shows, to be printed from there.
pub fn pdf(bytes: Vec<u8>, name: &str) -> Response {
    Response::builder()
        .content_type("application/pdf")
        .header(
            header::CONTENT_DISPOSITION,
            format!("inline; filename=\"{name}\""),
        )
        .body(bytes)
}

/// Bytes of a file that are sent at a time.
const CHUNK_BYTES: usize = 256 * 1024;

/// A file as a body, read as the browser takes it; `folder` goes when it is done.
pub fn file(file: File, folder: Option<TempDir>) -> Body {
    let chunks = stream::try_unfold((file, folder), |(mut file, folder)| async move {
        let read = tokio::task::spawn_blocking(move || {
            let mut chunk = vec![0; CHUNK_BYTES];
            let read = file.read(&mut chunk)?;
            chunk.truncate(read);
            Ok::<_, io::Error>((chunk, file))
        });
        let (chunk, file) = read.await.map_err(io::Error::other)??;
        Ok::<_, io::Error>((!chunk.is_empty()).then(|| (Bytes::from(chunk), (file, folder))))
    });
    Body::from_bytes_stream(chunks)
}

/// Something to keep: `name` is what the browser calls the file.
#[must_use]
pub fn download(name: &str, content_type: &str, body: impl Into<Body>) -> Response {
    Response::builder()
        .content_type(content_type)
        .header(header::CONTENT_DISPOSITION, attachment(name))
        .body(body.into())
}

/// A server-sent event with a name and its data.
pub fn event(name: &str, data: &str) -> Bytes {
    let mut event = format!("event: {name}\n");
    for line in data.lines() {
        let _ = writeln!(event, "data: {line}");
    }
    event.push('\n');
    event.into()
}

/// A stream of events.
#[must_use]
pub fn events(events: impl Stream<Item = Bytes> + Send + 'static) -> Response {
    Response::builder()
        .content_type("text/event-stream")
        .body(Body::from_bytes_stream(events.map(Ok::<_, io::Error>)))
}

/// A digest of a part of a page, so that only changed parts are sent.
pub fn mark(part: &str) -> String {
    secret::hex(&secret::digest(part.as_bytes())[..8])
}

/// A part of a page as an event, made once for all who look at it.
pub struct Rendered {
    mark: String,
    event: Bytes,
}

/// Parts with their names, ready to be sent.
pub fn rendered<const N: usize>(names: [&str; N], parts: &[String; N]) -> Arc<[Rendered; N]> {
    Arc::new(std::array::from_fn(|at| Rendered {
        mark: mark(&parts[at]),
        event: event(names[at], &parts[at]),
    }))
}

/// Parts of a page, each sent as an event whenever it changed. `render` makes them, every so many
/// beats; the page shows those with these marks.
pub fn parts<const N: usize, R>(
    request: RequestContext,
    shown: [String; N],
    every: u64,
    render: fn(Arc<RequestContext>, u64) -> R,
) -> Result<Response>
where
    R: Future<Output = Result<Arc<[Rendered; N]>>> + Send + 'static,
{
    let beats = request.beats()?;
    // The stream is read when the request is answered.
    let language = texts::current();
    let state = (Arc::new(request), beats, shown);
    let changed = stream::unfold(state, move |(request, mut beats, mut marks)| async move {
        loop {
            let beat = beats.next().await?;
            if beat % every != 0 {
                continue;
            }
            let mut changed = BytesMut::new();
            let rendered = render(Arc::clone(&request), beat);
            match texts::scope(language, rendered).await {
                Ok(made) => {
                    for (part, known) in made.iter().zip(&mut marks) {
                        if *known != part.mark {
                            known.clone_from(&part.mark);
                            changed.extend_from_slice(&part.event);
                        }
                    }
                }
                Err(cause) => tracing::warn!("{}: {cause}", request.uri_path()),
            }
            if !changed.is_empty() {
                return Some((changed.freeze(), (request, beats, marks)));
            }
        }
    });
    Ok(events(changed))
}

#[derive(Template)]
#[template(path = "failure.html")]
struct Failed {
    layout: Layout,
    status: u16,
    message: String,
}

/// The page that tells what went wrong. A defect's cause goes to the log.
pub(super) fn failure(mut layout: Layout, error: &Error, request_id: &RequestId) -> Response {
    let status = status_code(error.kind);
    let message = if error.kind == Kind::Defect {
        tracing::error!(%request_id, "defect: {error}");
        tx("shell-defect").with("request", request_id).to_string()
    } else {
        sentence(error)
    };
    let title = match status {
        403 => "shell-not-allowed",
        404 => "shell-not-found",
        _ => "shell-did-not-work",
    };
    layout.title = t(title);
    let page = Failed {
        layout,
        status,
        message,
    };
    with_status(super::route::status(status), &page)
        .unwrap_or_else(|_| super::route::status(status).into())
}

/// Adds what every answer of the console carries.
#[must_use]
pub fn secured(mut response: Response) -> Response {
    let headers = response.headers_mut();
    let fixed = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_FRAME_OPTIONS, "DENY"),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if response.extensions().get::<Foreign>().is_some() {
        let policy = HeaderValue::from_static(FOREIGN_POLICY);
        response
            .headers_mut()
            .insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    let headers = response.headers_mut();
    // Whoever signs out must not be followed by somebody who presses "back".
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    response
}

/// Keeps a message for the session's next page.
pub(in crate::admin) fn flash(console: &Console, session: i64, text: String, is_bad: bool) {
    if let Ok(mut flashes) = console.flashes.lock() {
        let waiting = flashes.entry(session).or_default();
        if waiting.len() < 10 {
            let text = say(text);
            waiting.push(Flash { text, is_bad });
        }
    }
}

/// The messages that wait for a session.
pub(super) fn flashes(console: &Console, session: i64) -> Vec<Flash> {
    console
        .flashes
        .lock()
        .ok()
        .and_then(|mut flashes| flashes.remove(&session))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_begin_with_the_labels_of_properties() {
        for (field, message, told) in [
            (
                "lastName",
                "a name is needed",
                "Last name: a name is needed.",
            ),
            (
                "walkIn.types[0].product",
                "must be one",
                "Product: must be one.",
            ),
            ("rfid", "must be unique", "RFID: must be unique."),
            (
                "supervisor PIN",
                "must have 6",
                "Supervisor PIN: must have 6.",
            ),
        ] {
            assert_eq!(sentence(&Error::field(field, message)), told);
        }
        let none = Error::invalid("there is none: not: one");
        assert_eq!(sentence(&none), "There is none: not: one.");
    }
}
