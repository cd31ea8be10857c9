//! Choosing a delegate or a device by searching: a part of the forms of users and clients.

use crate::{
    admin::{Layout, RequestContext, Route, answer, route},
    core::records::Brief,
    domain::{delegates, devices},
    types::{error::Result, text::fold},
};
use askama::Template;
use poem::Response;
use rusqlite::Connection;

/// How many are offered.
const MOST: usize = 8;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get(
            "/console/access/find/delegate",
            route::ADMINISTRATOR,
            |request| offer(request, Subject::Delegate),
        ),
        Route::get(
            "/console/access/find/device",
            route::ADMINISTRATOR,
            |request| offer(request, Subject::Device),
        ),
    ]
}

/// What is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subject {
    Delegate,
    Device,
}

/// What a form shows to choose from.
pub(super) struct Chooser {
    /// The field's name.
    pub(super) field: &'static str,
    /// Where it leads without scripts.
    pub(super) action: String,
    /// What was looked for.
    pub(super) find: String,
    /// What was chosen before.
    pub(super) chosen: Option<Brief>,
    /// What was found.
    pub(super) found: Option<Vec<Brief>>,
}

impl Chooser {
    /// A chooser as it stands in a form at `action`.
    pub(super) async fn read(
        request: &RequestContext,
        subject: Subject,
        action: String,
        chosen: Option<i64>,
    ) -> Result<Self> {
        let find = request.query.text("find").to_owned();
        let asked = find.clone();
        let (chosen, found) = request
            .read(move |connection| {
                let chosen = chosen
                    .map(|id| subject.one(connection, id))
                    .transpose()?
                    .flatten();
                Ok((chosen, subject.find(connection, &asked)?))
            })
            .await?;
        Ok(Self {
            field: subject.field(),
            action,
            find,
            chosen,
            found,
        })
    }

    pub(super) fn legend(&self) -> &'static str {
        match self.field {
            "device" => "Device it is bound to",
            _ => "The attendee that this user is",
        }
    }

    pub(super) fn find_label(&self) -> &'static str {
        match self.field {
            "device" => "Find a device",
            _ => "Find an attendee",
        }
    }
}

impl Subject {
    fn field(self) -> &'static str {
        match self {
            Self::Delegate => "delegate",
            Self::Device => "device",
        }
    }

    /// The record of an id, a deleted one included: what is tied to it is to be seen.
    pub(super) fn one(self, connection: &Connection, id: i64) -> Result<Option<Brief>> {
        match self {
            Self::Delegate => delegates::brief(connection, id),
            Self::Device => devices::brief(connection, id),
        }
    }

    /// What is found by a text; `None` when none was given.
    fn find(self, connection: &Connection, find: &str) -> Result<Option<Vec<Brief>>> {
        if find.is_empty() {
            return Ok(None);
        }
        let ids: Vec<i64> = match self {
            Self::Delegate => delegates::matching(connection, find, MOST as u64)?,
            Self::Device => {
                let found = devices::matching(connection, &fold(find), MOST)?;
                found.into_iter().map(|device| device.id).collect()
            }
        };
        let choices = ids.iter().map(|id| self.one(connection, *id));
        let choices: Result<Vec<Option<Brief>>> = choices.collect();
        Ok(Some(choices?.into_iter().flatten().collect()))
    }
}

#[derive(Template)]
#[template(path = "access/found.html")]
struct Part {
    field: &'static str,
    found: Option<Vec<Brief>>,
}

#[derive(Template)]
#[template(path = "access/found_page.html")]
struct Page {
    layout: Layout,
    field: &'static str,
    found: Option<Vec<Brief>>,
}

async fn offer(request: RequestContext, subject: Subject) -> Result<Response> {
    let find = request.query.text("find").to_owned();
    let found = request
        .read(move |connection| subject.find(connection, &find))
        .await?;
    let field = subject.field();
    if request.is_part() {
        return answer::page(&Part { field, found });
    }
    answer::page(&Page {
        layout: request.layout("Found", Some(crate::admin::Area::Access)),
        field,
        found,
    })
}
