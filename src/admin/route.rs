//! Which paths the console has and who may go there. Whoever may not is kept out here, before a
//! page sees the request: by sign-in, role, CSRF token and origin.

use super::{Console, dashboard, host, session};
use crate::admin::prelude::*;
use crate::{
    identity::ConsoleRole,
    types::{error::panic_text, secret},
    web::{RequestId, RequestTrace},
};
use futures_util::{FutureExt, future::BoxFuture};
use poem::{
    Endpoint, Request,
    http::{Method, StatusCode, header},
};
use std::{future::Future, panic::AssertUnwindSafe, sync::Arc};

/// The people who may go somewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Everybody who reaches the console.
    Anyone,
    /// Users who are signed in with this role or a higher one.
    Role(ConsoleRole),
    /// Users who are signed in, and screens that the link of the wall display opened.
    Wall,
}

/// The wall display over all venues, on a hub; below that of one venue, as a screen's cookie is for that path.
pub const WALL_OF_VENUES: &str = "/console/wall/venues";

/// A page, or something that a page does.
pub type Handler =
    Arc<dyn Fn(RequestContext) -> BoxFuture<'static, Result<Response>> + Send + Sync + 'static>;

/// The future of a handler's response.
pub trait Answer: Future<Output = Result<Response>> + Send + 'static {}

impl<F: Future<Output = Result<Response>> + Send + 'static> Answer for F {}

/// A way into the console.
#[derive(Clone)]
pub struct Route {
    /// `GET` shows, `POST` changes.
    pub method: Method,
    /// The path, `:name` for a parameter.
    pub path: &'static str,
    /// The people who may go there.
    pub access: Access,
    handler: Handler,
}

impl Route {
    /// Shows something.
    pub fn get<R: Answer>(
        path: &'static str,
        access: Access,
        handler: impl Fn(RequestContext) -> R + Send + Sync + 'static,
    ) -> Self {
        Self {
            method: Method::GET,
            path,
            access,
            handler: Arc::new(move |request| Box::pin(handler(request))),
        }
    }

    /// Changes something.
    pub fn post<R: Answer>(
        path: &'static str,
        access: Access,
        handler: impl Fn(RequestContext) -> R + Send + Sync + 'static,
    ) -> Self {
        Self {
            method: Method::POST,
            ..Self::get(path, access, handler)
        }
    }
}

/// Shorthands for the tables of routes.
pub const VIEWER: Access = Access::Role(ConsoleRole::Viewer);
/// Operators and administrators.
pub const OPERATOR: Access = Access::Role(ConsoleRole::Operator);
/// Administrators alone.
pub const ADMINISTRATOR: Access = Access::Role(ConsoleRole::Administrator);

/// A table of routes. Each route needs the role that was named last before it.
pub(crate) struct Routes {
    access: Access,
    routes: Vec<Route>,
}

impl Routes {
    pub fn access(access: Access) -> Self {
        Self {
            access,
            routes: Vec::new(),
        }
    }

    /// The role that the routes from here on need.
    pub fn then(mut self, access: Access) -> Self {
        self.access = access;
        self
    }

    pub fn get<R: Answer>(
        mut self,
        path: &'static str,
        handler: impl Fn(RequestContext) -> R + Send + Sync + 'static,
    ) -> Self {
        self.routes.push(Route::get(path, self.access, handler));
        self
    }

    pub fn post<R: Answer>(
        mut self,
        path: &'static str,
        handler: impl Fn(RequestContext) -> R + Send + Sync + 'static,
    ) -> Self {
        self.routes.push(Route::post(path, self.access, handler));
        self
    }

    /// A button: one write, after which a page says what was done.
    pub fn action<W>(self, path: &'static str, work: W) -> Self
    where
        W: Fn(&Tx<'_>, &Context, &Action) -> Result<Done> + Clone + Send + Sync + 'static,
    {
        self.post(path, move |request: RequestContext| {
            let work = work.clone();
            async move {
                let params = path.split('/').filter_map(|part| part.strip_prefix(':'));
                let params = params.map(|name| Ok((name, request.path(name)?)));
                let action = Action {
                    id: request.id("id").unwrap_or_default(),
                    params: params.collect::<Result<_>>()?,
                    form: request.form.clone(),
                    by: request.current_user()?.clone(),
                };
                let done = request.write(move |tx, ctx| work(tx, ctx, &action)).await?;
                request.done(done.message, &done.path)
            }
        })
    }

    pub fn all(self) -> Vec<Route> {
        self.routes
    }

    /// Adds other routes, each with its own role.
    pub fn with(mut self, routes: impl IntoIterator<Item = Route>) -> Self {
        self.routes.extend(routes);
        self
    }
}

impl IntoIterator for Routes {
    type Item = Route;
    type IntoIter = std::vec::IntoIter<Route>;

    fn into_iter(self) -> Self::IntoIter {
        self.routes.into_iter()
    }
}

/// The content of a button's request.
pub struct Action {
    /// The id in the path; 0 where the path has none.
    pub id: i64,
    params: Vec<(&'static str, String)>,
    pub form: Fields,
    pub by: CurrentUser,
}

impl Action {
    /// A part of the path.
    pub fn text(&self, name: &str) -> &str {
        let found = self.params.iter().find(|(known, _)| *known == name);
        found.map_or("", |(_, text)| text)
    }

    /// A number in the path.
    pub fn param(&self, name: &str) -> Result<i64> {
        let number = self.text(name).parse();
        number.map_err(|_| Error::new(Kind::NoSuchPath, "there is no such page"))
    }
}

/// The message after a button was pressed, and the page that shows it.
pub struct Done {
    message: String,
    path: String,
}

impl Done {
    pub fn new(message: impl Into<String>, path: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            path: path.into(),
        }
    }
}

/// A route with its guard.
pub struct Guarded {
    /// The console.
    pub console: Arc<Console>,
    /// The way in.
    pub route: Route,
}

impl Endpoint for Guarded {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        let request_id =
            RequestTrace::of(&request).map_or_else(RequestId::next, |trace| trace.id.clone());
        let request = RequestContext::begin(Arc::clone(&self.console), request);
        let language = request.language();
        Ok(texts::scope(language, self.answer(request, &request_id)).await)
    }
}

impl Guarded {
    async fn answer(&self, mut request: RequestContext, request_id: &RequestId) -> Response {
        let outcome = match self.admit(&mut request).await {
            Ok(None) => {
                let layout = request.layout("", None);
                let handled = AssertUnwindSafe((self.route.handler)(request));
                match handled.catch_unwind().await {
                    Ok(Ok(response)) => Ok(response),
                    Ok(Err(error)) => Err((error, layout)),
                    Err(panic) => Err((Error::defect(panic_text(panic.as_ref())), layout)),
                }
            }
            Ok(Some(elsewhere)) => Ok(elsewhere),
            Err(error) => Err((error, request.layout("", None))),
        };
        let response =
            outcome.unwrap_or_else(|(error, layout)| answer::failure(layout, &error, request_id));
        answer::secured(response)
    }

    /// Lets a visit in, sends it elsewhere, or refuses it.
    async fn admit(&self, request: &mut RequestContext) -> Result<Option<Response>> {
        reachable(request)?;
        let changes = self.route.method != Method::GET;
        if changes && from_elsewhere(|name| request.header(name)) {
            return Err(Error::new(
                Kind::Forbidden,
                "this came from another site; open the page again and repeat it there",
            ));
        }
        let signed_in = session::of(request)?;
        match (self.route.access, signed_in) {
            (Access::Anyone, signed_in) | (Access::Wall, signed_in @ Some(_)) => {
                request.current_user = signed_in;
            }
            (Access::Wall, None) => {
                request.screen = dashboard::wall::screen(request)?;
                if request.screen.is_none() {
                    return Ok(Some(answer::to_sign_in(request)));
                }
            }
            (Access::Role(_), None) => return Ok(Some(answer::to_sign_in(request))),
            (Access::Role(role), Some(current_user)) if current_user.role >= role => {
                request.current_user = Some(current_user);
            }
            (Access::Role(role), Some(current_user)) => {
                let error = Error::new(
                    Kind::Forbidden,
                    format!(
                        "this needs the role {}; yours is {}",
                        role.name(),
                        current_user.role.name()
                    ),
                );
                request.current_user = Some(current_user);
                return Err(error);
            }
        }
        if changes {
            request.read_form().await?;
            if let Some(current_user) = &request.current_user {
                check_csrf(request, current_user)?;
            }
        }
        Ok(None)
    }
}

/// Answers a request that no route takes, as a page: such as one with a method that its path does not
/// know. Who may not reach the console is told that alone.
#[must_use]
pub fn refuse(console: &Arc<Console>, request: Request, error: Error) -> Response {
    let request_id =
        RequestTrace::of(&request).map_or_else(RequestId::next, |trace| trace.id.clone());
    let is_shown = request.method() == Method::GET;
    let mut request = RequestContext::begin(Arc::clone(console), request);
    let error = reachable(&request).err().unwrap_or(error);
    if is_shown
        && error.kind == Kind::MethodNotAllowed
        && let Some(page) = page_above(request.uri_path())
    {
        return answer::secured(answer::go(page));
    }
    request.current_user = session::of(&request).ok().flatten();
    texts::within(request.language(), || {
        let layout = request.layout("", None);
        answer::secured(answer::failure(layout, &error, &request_id))
    })
}

/// Tells whether a path is one of a pattern, in which `:name` stands for any segment.
pub fn is_path_of(pattern: &str, path: &str) -> bool {
    let mut segments = path.split('/');
    pattern.split('/').all(|part| {
        segments
            .next()
            .is_some_and(|segment| part.starts_with(':') || part == segment)
    }) && segments.next().is_none()
}

/// The nearest page above the address of a form: for an answer of that form which is loaded anew.
fn page_above(path: &str) -> Option<&str> {
    let routes = super::routes();
    let is_page = |path: &str| {
        let mut pages = routes.iter().filter(|route| route.method == Method::GET);
        pages.any(|route| is_path_of(route.path, path))
    };
    let mut above = path;
    while let Some((shorter, _)) = above.rsplit_once('/') {
        above = shorter;
        if is_page(above) {
            return Some(above);
        }
    }
    None
}

/// Without TLS the console answers on loopback only, unless `--console-lan` (contract §10), and under
/// this machine's own names.
fn reachable(request: &RequestContext) -> Result<()> {
    let reach = request.console.reach;
    if reach.tls || reach.lan || request.is_local() {
        return host::check(request);
    }
    Err(Error::new(
        Kind::Forbidden,
        "without TLS the console answers on this machine only; start the server with --tls-self-signed, \
         or with --console-lan if you trust everybody on this network",
    ))
}

/// Returns whether a browser says, by its headers, that another site made it send something.
pub fn from_elsewhere<'a>(header: impl Fn(&str) -> Option<&'a str>) -> bool {
    match header("sec-fetch-site") {
        Some(site) => !matches!(site, "same-origin" | "none"),
        None => match (header("origin"), header(header::HOST.as_str())) {
            (Some(origin), Some(host)) => {
                origin.split_once("://").map_or(origin, |(_, host)| host) != host
            }
            _ => false,
        },
    }
}

fn check_csrf(request: &RequestContext, current_user: &CurrentUser) -> Result<()> {
    let sent = request
        .header("x-csrf-token")
        .or_else(|| request.form.sent("csrf"))
        .unwrap_or_default();
    let same = secret::same(
        &secret::digest(sent.as_bytes()),
        &secret::digest(current_user.csrf.as_bytes()),
    );
    if same {
        Ok(())
    } else {
        Err(Error::new(
            Kind::Forbidden,
            "this form is of another session; open the page again and repeat it there",
        ))
    }
}

/// The status of a refused visit.
#[must_use]
pub fn status(code: u16) -> StatusCode {
    StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}
