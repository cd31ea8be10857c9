//! Users and clients: who may sign in, which apps may use the API, and what each of them may do.
//! Secrets made here are shown once, on a page that forgets them.

mod choice;
mod clients;
mod one_client;
mod one_user;
mod users;

use super::{Area, Layout, RequestContext, Route, answer, route};
use crate::{
    identity::{Role, Roles},
    types::error::Result,
};
use askama::Template;
use poem::Response;

/// Lines of a list.
const LINES: usize = 100;

pub(super) fn routes() -> Vec<Route> {
    let mut routes = vec![Route::get(
        "/console/access/made",
        route::ADMINISTRATOR,
        made,
    )];
    routes.extend(users::routes());
    routes.extend(one_user::routes());
    routes.extend(clients::routes());
    routes.extend(one_client::routes());
    routes.extend(choice::routes());
    routes
}

/// A secret that was just made, and whose it is.
#[derive(Clone)]
pub(super) struct Made {
    /// What it is called there, such as `Client secret`.
    pub(super) what: &'static str,
    pub(super) secret: String,
    /// The id that goes with it, and what that is called.
    pub(super) id: (&'static str, String),
    /// Where one can go from here.
    pub(super) back: String,
    /// Whose it is.
    pub(super) name: String,
}

#[derive(Template)]
#[template(path = "access/made.html")]
struct MadePage {
    layout: Layout,
    made: Option<Made>,
}

/// Shows a new secret, once: when the page is asked for again, it is gone.
async fn made(request: RequestContext) -> Result<Response> {
    let made = request.console.made.take(request.current_user()?);
    answer::page(&MadePage {
        layout: request.layout("Shown once", Some(Area::Access)),
        made,
    })
}

/// Keeps a secret for the page that shows it, and leads there.
pub(super) fn show_once(request: &RequestContext, made: Made) -> Result<Response> {
    request.console.made.keep(request.current_user()?, made);
    Ok(answer::go("/console/access/made"))
}

/// A box to tick.
struct Tick {
    value: &'static str,
    name: String,
    meaning: &'static str,
    on: bool,
}

/// The roles of the API as boxes.
fn role_ticks(roles: Roles) -> Vec<Tick> {
    let tick = |role: &Role| Tick {
        value: role.name(),
        name: short(role.name()),
        meaning: role.meaning(),
        on: roles.has(*role),
    };
    Role::ALL.iter().map(tick).collect()
}

/// `Delegate read` of `ROLE_OAUTH2_DELEGATE_READ`.
fn short(name: &str) -> String {
    let words = name
        .trim_start_matches("ROLE_OAUTH2_")
        .replace('_', " ")
        .to_lowercase();
    let mut letters = words.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// The roles that are ticked.
fn ticked_roles(request: &RequestContext) -> Result<Roles> {
    request.form.all("role").map(Role::parse).collect()
}

/// The id that the next page of a list begins after.
fn before(request: &RequestContext) -> Result<Option<i64>> {
    request.query.number("before")
}

/// The query string of the same list with another page.
fn next_page(request: &RequestContext, before: i64) -> String {
    let mut next = form_urlencoded::Serializer::new(String::new());
    for (name, value) in request.query.iter().filter(|(name, _)| *name != "before") {
        next.append_pair(name, value);
    }
    next.append_pair("before", &before.to_string()).finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_named_in_words() {
        assert_eq!(short("ROLE_OAUTH2_DELEGATE_READ"), "Delegate read");
        assert_eq!(short("REPORT_LIST"), "Report list");
    }
}
