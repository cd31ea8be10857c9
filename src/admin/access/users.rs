//! The list of users.

use super::{LINES, before, choice::Subject, next_page};
use crate::{
    admin::{Area, Layout, RequestContext, Route, answer, route},
    identity::{
        second_factor, sessions, tokens,
        users::{self, User},
    },
    types::{Timestamp, UserId, error::Result},
};
use askama::Template;
use poem::Response;
use rusqlite::Connection;

pub(super) fn routes() -> Vec<Route> {
    vec![Route::get("/console/access", route::ADMINISTRATOR, show)]
}

#[derive(Template)]
#[template(path = "access/users.html")]
struct Page {
    layout: Layout,
    q: String,
    console: bool,
    lines: Vec<Line>,
    next: Option<String>,
}

struct Line {
    user: User,
    second_factor: bool,
    last: Option<Timestamp>,
    delegate: Option<String>,
}

impl Line {
    fn roles(&self) -> usize {
        self.user.roles.iter().count()
    }
}

/// When a user was heard of last: in the console, or by getting a token.
pub(super) fn last_seen(connection: &Connection, user: UserId) -> Result<Option<Timestamp>> {
    let seen = sessions::last_seen(connection, user)?;
    let usage = tokens::usage_of_user(connection, user, Timestamp::now())?;
    Ok(seen.max(usage.last))
}

async fn show(request: RequestContext) -> Result<Response> {
    let (q, console) = (
        request.query.text("q").to_owned(),
        request.query.ticked("console"),
    );
    let (part, from) = (q.clone(), before(&request)?.map(UserId));
    let mut lines = request
        .read(move |connection| {
            let users = users::page(connection, &part, console, from, LINES + 1)?;
            users
                .into_iter()
                .map(|user| line(connection, user))
                .collect::<Result<Vec<Line>>>()
        })
        .await?;
    let more = lines.len() > LINES;
    lines.truncate(LINES);
    let next = lines.last().filter(|_| more);
    let next = next.map(|line| next_page(&request, line.user.id.0));
    answer::page(&Page {
        layout: request.layout("Users and clients", Some(Area::Access)),
        q,
        console,
        lines,
        next,
    })
}

fn line(connection: &Connection, user: User) -> Result<Line> {
    let delegate = match user.delegate {
        Some(delegate) => Subject::Delegate.one(connection, delegate.0)?,
        None => None,
    };
    Ok(Line {
        second_factor: second_factor::is_on(connection, user.id)?,
        last: last_seen(connection, user.id)?,
        delegate: delegate.map(|delegate| delegate.name),
        user,
    })
}
