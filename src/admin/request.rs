//! The request of a page: who made it, and what it says, with the few ways of reading it that pages need.

use super::{
    Console,
    live::{Beats, Viewer},
    upload::Upload,
};
use crate::admin::prelude::*;
use crate::{
    domain::interactions::undo::Caller,
    identity::ConsoleRole,
    types::{UserId, secret::Digest, text::whole},
    web::{
        ClientAddress, RequestId, RequestTrace,
        body::{
            ANONYMOUS_FIELDS_MAX, ANONYMOUS_MAX_BYTES, check_fields, parse_aside, read_limited,
        },
        language,
        request::cookie,
    },
};
use poem::{
    Body, Request, RequestBody,
    http::{Method, StatusCode, Uri, header},
};
use std::{future::Future, net::IpAddr, ops::RangeInclusive, sync::Arc};

/// The largest form of somebody who is signed in, in bytes; files go by [`RequestContext::upload`].
const FORM_MAX_BYTES: usize = 4 << 20;
/// Fields of such a form, and of a query string.
const FIELDS_MAX: usize = 10_000;

/// Somebody who is signed in.
#[derive(Debug, Clone)]
pub struct CurrentUser {
    /// The user.
    pub user: UserId,
    /// The user's e-mail address.
    pub email: String,
    /// The rank of the user.
    pub role: ConsoleRole,
    /// The session.
    pub session: i64,
    /// The token that every form of this session carries.
    pub csrf: String,
}

/// A request to the console.
pub struct RequestContext {
    /// The console.
    pub console: Arc<Console>,
    /// The user who is signed in; always there where the route names a role.
    pub current_user: Option<CurrentUser>,
    /// The proof of a screen that the link of the wall display opened.
    pub(super) screen: Option<Digest>,
    /// The query string.
    pub query: Fields,
    /// The fields of the form.
    pub form: Fields,
    request: Request,
    body: Option<Body>,
    upload: Option<Upload>,
}

impl RequestContext {
    pub(super) fn begin(console: Arc<Console>, mut request: Request) -> Self {
        let body = request.take_body();
        Self {
            console,
            current_user: None,
            screen: None,
            query: Fields::read(request.uri().query().unwrap_or_default().as_bytes()),
            form: Fields::default(),
            request,
            body: Some(body),
            upload: None,
        }
    }

    /// Reads a form; the file of one that has a file is left for [`RequestContext::upload`].
    pub(super) async fn read_form(&mut self) -> Result<()> {
        let kind = self
            .header(header::CONTENT_TYPE.as_str())
            .unwrap_or_default()
            .to_owned();
        let (has_file, is_form) = (
            kind.starts_with("multipart/form-data"),
            kind.starts_with("application/x-www-form-urlencoded"),
        );
        if !has_file && !is_form {
            return Ok(());
        }
        let Some(body) = self.body.take() else {
            return Ok(());
        };
        if has_file {
            if let (Some(_), Some(trace)) = (&self.current_user, RequestTrace::of(&self.request)) {
                trace.disable_body_timeout();
            }
            let most = match &self.current_user {
                Some(_) => FORM_MAX_BYTES,
                None => ANONYMOUS_MAX_BYTES,
            };
            let (form, upload) = Upload::begin(body, &kind, most).await?;
            (self.form, self.upload) = (form, Some(upload));
            return Ok(());
        }
        let (max_bytes, max_fields) = match &self.current_user {
            Some(_) => (FORM_MAX_BYTES, FIELDS_MAX),
            None => (ANONYMOUS_MAX_BYTES, ANONYMOUS_FIELDS_MAX),
        };
        let mut body = RequestBody::new(body);
        let bytes = read_limited(&self.request, &mut body, max_bytes).await?;
        check_fields(&bytes, max_fields)?;
        self.form = parse_aside(bytes.len(), || Fields::read(&bytes));
        Ok(())
    }

    /// The file of a form that has one. From somebody who is signed in it may take as long as it
    /// takes.
    pub fn upload(&mut self) -> Option<Upload> {
        self.upload.take()
    }

    /// A part of the path, decoded.
    pub fn path(&self, name: &str) -> Result<String> {
        let raw = self
            .request
            .raw_path_param(name)
            .ok_or_else(|| Error::defect(format!("the route has no {name}")))?;
        Ok(percent_encoding::percent_decode_str(raw)
            .decode_utf8_lossy()
            .into_owned())
    }

    /// An id in the path.
    ///
    /// # Errors
    /// [`Kind::NoSuchPath`] for what is no id.
    pub fn id(&self, name: &str) -> Result<i64> {
        self.path(name)?
            .parse()
            .map_err(|_| Error::new(Kind::NoSuchPath, "there is no such page"))
    }

    /// The id in the path, where the route has one.
    pub(super) fn id_if_any(&self) -> Result<Option<i64>> {
        let is_there = self.request.raw_path_param("id").is_some();
        is_there.then(|| self.id("id")).transpose()
    }

    /// The path without its query string.
    #[must_use]
    pub fn uri_path(&self) -> &str {
        self.request.uri().path()
    }

    /// The path with its query string.
    #[must_use]
    pub fn target(&self) -> String {
        self.request
            .uri()
            .path_and_query()
            .map_or_else(|| "/console".to_owned(), ToString::to_string)
    }

    /// The address of the page that somebody is on: of a form or a part it is where that stands.
    pub fn page_address(&self) -> String {
        if *self.request.method() == Method::GET && !self.is_part() {
            return self.target();
        }
        let referer = self.header(header::REFERER.as_str());
        let path = referer
            .and_then(|from| from.parse::<Uri>().ok())
            .and_then(|from| from.path_and_query().map(ToString::to_string));
        path.unwrap_or_else(|| "/console".to_owned())
    }

    /// A header, as far as it is text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.request.headers().get(name)?.to_str().ok()
    }

    /// The caller's address.
    #[must_use]
    pub fn address(&self) -> IpAddr {
        ClientAddress::of(&self.request)
    }

    /// Returns whether the caller sits at this machine: the connection comes from it, and no trusted proxy
    /// names another address.
    pub(super) fn is_local(&self) -> bool {
        let peer = self.request.remote_addr().as_socket_addr();
        let local_peer = peer.is_some_and(|peer| peer.ip().to_canonical().is_loopback());
        // A proxy on this machine that speaks HTTPS to the browser.
        let public = self.console.public_url();
        let behind_tls = public.is_some_and(|url| url.starts_with("https://"));
        local_peer && (self.address().is_loopback() || behind_tls)
    }

    /// Returns whether htmx asks for a part of a page.
    #[must_use]
    pub fn is_part(&self) -> bool {
        self.header("hx-request").is_some()
    }

    /// Returns the user who is signed in.
    ///
    /// # Errors
    /// [`Kind::Forbidden`] where the route lets everybody in and nobody is.
    pub fn current_user(&self) -> Result<&CurrentUser> {
        self.current_user
            .as_ref()
            .ok_or_else(|| Error::new(Kind::Forbidden, "this needs a sign-in"))
    }

    /// The user, as far as an undo asks for them.
    pub fn caller(&self) -> Result<Caller> {
        let current_user = self.current_user()?;
        Ok(Caller {
            user: current_user.user,
            role: current_user.role,
        })
    }

    /// The context of what the page changes.
    #[must_use]
    pub fn context(&self) -> Context {
        let user = self
            .current_user
            .as_ref()
            .map(|current_user| current_user.user);
        Context {
            actor: user.map_or_else(|| "console".to_owned(), |user| format!("user:{user}")),
            request_id: Some(
                RequestTrace::of(&self.request)
                    .map_or_else(RequestId::next, |trace| trace.id.clone()),
            )
            .map(|id| id.as_str().to_owned()),
            client: None,
            user,
            source: "admin",
            hidden: Vec::new(),
            is_strict: true,
            settings: self.console.settings(),
        }
    }

    /// Writes, as who is signed in.
    pub async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Tx<'_>, &Context) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (ctx, language) = (self.context(), texts::current());
        let work = move |tx: &Tx<'_>| texts::within(language, || work(tx, &ctx));
        self.console.store.write(work).await
    }

    /// Reads more than a few records, on a thread that may wait.
    pub async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let language = texts::current();
        let work = move |connection: &Connection| texts::within(language, || work(connection));
        self.console.store.read(work).await
    }

    /// Looks a few records up.
    pub fn look_up<T>(&self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        self.console.store.look_up(work)
    }

    /// Goes on at another page, which says what was done.
    pub fn done(&self, message: impl Into<String>, path: &str) -> Result<Response> {
        self.flash(message);
        Ok(answer::go(path))
    }

    /// The page that a button was on, as `show` makes it, with why the button failed: 422.
    pub async fn failed<R: Future<Output = Result<Response>>>(
        mut self,
        cause: Error,
        show: impl FnOnce(Self) -> R,
    ) -> Result<Response> {
        let message = super::form::told(cause)?;
        let session = self.current_user()?.session;
        answer::flash(&self.console, session, message, true);
        let page = self.uri_path().rsplit_once('/');
        if let Some(Ok(page)) = page.map(|(page, _)| page.parse()) {
            *self.request.uri_mut() = page;
        }
        self.query = Fields::default();
        let mut response = show(self).await?;
        response.set_status(StatusCode::UNPROCESSABLE_ENTITY);
        Ok(response)
    }

    /// A page that `read` makes of what is stored.
    pub async fn page<P: Template + Send + 'static>(
        &self,
        title: &str,
        area: Area,
        read: impl FnOnce(&Connection, Layout) -> Result<P> + Send + 'static,
    ) -> Result<Response> {
        let layout = self.layout(title, Some(area));
        let page = self.read(move |connection| read(connection, layout));
        answer::page(&page.await?)
    }

    /// Makes the layout of the page.
    #[must_use]
    pub fn layout(&self, title: &str, area: Option<Area>) -> Layout {
        Layout::new(self, title, area)
    }

    /// Returns the beats that a stream of this visit waits for.
    pub fn beats(&self) -> Result<Beats> {
        let viewer = match self.screen {
            Some(hash) => Viewer::Screen(hash),
            None => Viewer::User(self.current_user()?.clone()),
        };
        Ok(Beats::of(&self.console, viewer))
    }

    /// Tells the user, on the next page, that something is done.
    pub fn flash(&self, message: impl Into<String>) {
        if let Some(current_user) = &self.current_user {
            answer::flash(&self.console, current_user.session, message.into(), false);
        }
    }

    /// The user's language, otherwise the first that the browser accepts and there is.
    pub(super) fn language(&self) -> Option<&'static texts::Language> {
        language(&self.request)
    }

    pub(super) fn cookie(&self, name: &str) -> Option<&str> {
        cookie(&self.request, name)
    }
}

/// The fields of a form or a query string.
#[derive(Debug, Clone, Default)]
pub struct Fields(pub(super) Vec<(String, String)>);

impl Fields {
    fn read(bytes: &[u8]) -> Self {
        let fields = form_urlencoded::parse(bytes).into_owned();
        Self(fields.take(FIELDS_MAX).collect())
    }

    /// A field as it was sent.
    #[must_use]
    pub fn sent(&self, name: &str) -> Option<&str> {
        self.iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| value)
    }

    /// A field without white space around it; empty where it is not there.
    #[must_use]
    pub fn text(&self, name: &str) -> &str {
        self.sent(name).unwrap_or_default().trim()
    }

    /// A field, unless it is empty.
    #[must_use]
    pub fn filled(&self, name: &str) -> Option<&str> {
        Some(self.text(name)).filter(|text| !text.is_empty())
    }

    /// Returns whether a box is ticked.
    #[must_use]
    pub fn ticked(&self, name: &str) -> bool {
        self.sent(name).is_some()
    }

    /// Every value of a field.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.iter()
            .filter(move |(known, _)| *known == name)
            .map(|(_, value)| value)
    }

    /// The rows of a list of names and values, without empty ones.
    #[must_use]
    pub fn pairs(&self) -> Vec<(String, String)> {
        let rows = self.all("key").zip(self.all("value"));
        let rows = rows.map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()));
        rows.filter(|(key, value)| !(key.is_empty() && value.is_empty()))
            .collect()
    }

    /// A whole number; `None` where the field is empty.
    ///
    /// # Errors
    /// [`Kind::Invalid`], naming the field.
    pub fn number(&self, name: &str) -> Result<Option<i64>> {
        self.filled(name)
            .map(|text| whole(text).map_err(|fault| Error::field(name, fault)))
            .transpose()
    }

    /// A number with or without decimals.
    pub fn decimal(&self, name: &str, range: RangeInclusive<f64>) -> Result<Option<f64>> {
        let Some(text) = self.filled(name) else {
            return Ok(None);
        };
        let number = text.replace(',', ".").parse().ok();
        match number.filter(|number| range.contains(number)) {
            Some(number) => Ok(Some(number)),
            None => Err(Error::field(
                name,
                format!("must be a number from {} to {}", range.start(), range.end()),
            )),
        }
    }

    /// Name and value of every field, in the order sent.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }
}
