//! `/otp`: the page on which somebody has a one-time password sent (spec: Authentication, rule 1). It
//! stands outside of the console: it needs no sign-in, keeps nothing, and is there for everybody who
//! reaches the server.

use crate::{
    admin::{answer, assets, route::from_elsewhere},
    core::{
        Context,
        settings::{OneTimePasswords, logo},
        texts,
    },
    domain::otp::{self, Asker, LIFE_S},
    identity::App,
    types::error::{Error, Kind, Result},
    web::{
        Failure, RequestId, RequestTrace,
        body::{ANONYMOUS_FIELDS_MAX, ANONYMOUS_MAX_BYTES, check_fields, read_limited},
        error::status_code,
        language,
    },
};
use askama::Template;
use poem::{
    Endpoint, FromRequest, Request, RequestBody, Response,
    http::{StatusCode, header},
};

#[derive(Template)]
#[template(path = "otp.html")]
struct Page {
    name: String,
    style: String,
    icon: String,
    logo: Option<String>,
    off: bool,
    email: String,
    /// True if a code was asked for.
    asked: bool,
    failure: Option<String>,
    minutes: i64,
}

impl Page {
    fn new(app: &App) -> Self {
        let settings = app.settings();
        let since = app.store.look_up(logo::since).ok().flatten();
        Self {
            name: settings.name().to_owned(),
            style: format!("/otp/style.css?v={}", assets::content("console.css").1),
            icon: format!("/otp/icon.svg?v={}", assets::content("icon.svg").1),
            logo: since.map(|since| format!("/logo?v={}", since.0)),
            off: settings.one_time_passwords == OneTimePasswords::Off,
            email: String::new(),
            asked: false,
            failure: None,
            minutes: LIFE_S / 60,
        }
    }

    fn answer(&self, status: StatusCode) -> poem::Result<Response> {
        let html = self
            .render()
            .map_err(|cause| Failure(Error::defect(cause)))?;
        let response = Response::builder()
            .status(status)
            .content_type("text/html; charset=utf-8")
            .body(html);
        Ok(answer::secured(response))
    }
}

/// Shows the form.
pub fn show(app: &App) -> poem::Result<Response> {
    Page::new(app).answer(StatusCode::OK)
}

/// The page's style: that of the console, which does not answer everybody.
pub fn style() -> Response {
    file("console.css", "text/css; charset=utf-8")
}

/// The page's icon.
pub fn icon() -> Response {
    file("icon.svg", "image/svg+xml")
}

fn file(name: &str, kind: &str) -> Response {
    let (content, _) = assets::content(name);
    Response::builder()
        .content_type(kind)
        .header(header::CACHE_CONTROL, "public, max-age=31536000, immutable")
        .body(content)
}

/// Takes the form.
pub struct Ask(pub App);

impl Endpoint for Ask {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        texts::scope(language(&request), self.answer(request)).await
    }
}

impl Ask {
    async fn answer(&self, mut request: Request) -> poem::Result<Response> {
        let app = &self.0;
        let mut body = RequestBody::new(request.take_body());
        let email = email(&request, &mut body).await;
        let asker = Asker::from_request(&request, &mut body).await?;
        let mut page = Page::new(app);
        let sent = match email {
            Ok(email) => {
                page.email.clone_from(&email);
                otp::send(app, context(app, &request), &email, asker).await
            }
            Err(cause) => Err(cause),
        };
        let Err(cause) = sent else {
            page.asked = true;
            return page.answer(StatusCode::OK);
        };
        if cause.kind == Kind::Defect {
            return Err(Failure(cause).into());
        }
        let status = match cause.kind {
            Kind::Invalid => StatusCode::UNPROCESSABLE_ENTITY,
            kind => {
                StatusCode::from_u16(status_code(kind)).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
            }
        };
        page.failure = Some(match cause.kind {
            Kind::Invalid => texts::t("account-not-an-e-mail-address"),
            _ => answer::sentence(&cause),
        });
        let mut response = page.answer(status)?;
        if let Kind::TooManyAttempts { retry_after_s } = cause.kind {
            let headers = response.headers_mut();
            headers.insert(header::RETRY_AFTER, retry_after_s.into());
        }
        Ok(response)
    }
}

/// The e-mail address of the form.
async fn email(request: &Request, body: &mut RequestBody) -> Result<String> {
    let header = |name: &str| request.headers().get(name)?.to_str().ok();
    if from_elsewhere(header) {
        return Err(Error::new(
            Kind::Forbidden,
            "this came from another site; type the address here",
        ));
    }
    let bytes = read_limited(request, body, ANONYMOUS_MAX_BYTES).await?;
    check_fields(&bytes, ANONYMOUS_FIELDS_MAX)?;
    let found = form_urlencoded::parse(&bytes)
        .find(|(name, _)| name == "email")
        .map(|(_, email)| email.trim().to_owned());
    Ok(found.unwrap_or_default())
}

fn context(app: &App, request: &Request) -> Context {
    let id = RequestTrace::of(request).map_or_else(RequestId::next, |trace| trace.id.clone());
    Context {
        actor: "page:otp".to_owned(),
        request_id: Some(id.as_str().to_owned()),
        ..Context::of_command("api", app.settings())
    }
}
