//! Users and clients: who may sign in, which apps may use the API, and what each of them may do.
//! Secrets made here are shown once, on a page that forgets them.

mod clients;
mod lookup;
mod users;

use crate::admin::prelude::*;
use crate::identity::{Role, Roles};

/// Records on a page of a list.
const PAGE: usize = 100;

pub(super) fn routes() -> Vec<Route> {
    Routes::access(ADMINISTRATOR)
        .get("/console/access/made", made)
        .with(users::routes())
        .with(clients::routes())
        .with(lookup::routes())
        .all()
}

/// A secret that was just made, and whose it is.
#[derive(Clone)]
pub(super) struct Made {
    /// Its name there, such as `Client secret`.
    pub(super) what: &'static str,
    pub(super) secret: String,
    /// The id that goes with it, and what that is called.
    pub(super) id: (&'static str, String),
    /// The path of the page that follows.
    pub(super) back: String,
    /// The name of its holder.
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

/// The roles of the API.
fn roles(label: &'static str) -> Input {
    let choice = |role: &Role| Choice::from((role.name(), short(role.name()), role.meaning()));
    Input::checks("role", label, Role::ALL.iter().map(choice))
}

fn role_names(roles: Roles) -> Vec<String> {
    roles.iter().map(|role| role.name().to_owned()).collect()
}

fn parse_roles(names: &[String]) -> Result<Roles> {
    names.iter().map(|name| Role::parse(name)).collect()
}

/// `Delegate read` of `ROLE_OAUTH2_DELEGATE_READ`.
fn short(name: &str) -> String {
    let words = name.trim_start_matches("ROLE_OAUTH2_").replace('_', " ");
    let (first, rest) = words.split_at(1);
    format!("{first}{}", rest.to_lowercase())
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
