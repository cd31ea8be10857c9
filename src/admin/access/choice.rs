//! Choosing a delegate or a device by searching: a part of the forms of users and clients.

use crate::{
    admin::{Layout, RequestContext, Route, answer, route},
    core::search::Search,
    domain::delegates,
    types::{error::Result, text},
};
use askama::Template;
use poem::Response;
use rusqlite::{Connection, OptionalExtension};
use serde_json::json;

/// How many are offered.
const MOST: usize = 8;
/// Words of a search that count.
const WORDS: usize = 6;

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

/// Something that can be chosen.
pub(super) struct Choice {
    pub(super) id: i64,
    pub(super) name: String,
    pub(super) about: String,
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
    pub(super) chosen: Option<Choice>,
    /// What was found.
    pub(super) found: Option<Vec<Choice>>,
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
            .console
            .store
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
}

impl Subject {
    fn field(self) -> &'static str {
        match self {
            Self::Delegate => "delegate",
            Self::Device => "device",
        }
    }

    /// The record of an id, a deleted one included: what is tied to it is to be seen.
    pub(super) fn one(self, connection: &Connection, id: i64) -> Result<Option<Choice>> {
        let sql = match self {
            Self::Delegate => {
                "SELECT id, trim(coalesce(first_name, '') || ' ' || coalesce(last_name, '')), coalesce(barcode, public_id, ''),
                     iif(deleted_at IS NULL, coalesce(email, ''), 'deleted')
                 FROM delegates WHERE id = ?1"
            }
            Self::Device => {
                "SELECT id, coalesce(name, ''), coalesce(code, ''), iif(deleted_at IS NULL, device_type, 'deleted')
                 FROM devices WHERE id = ?1"
            }
        };
        let found = connection.prepare_cached(sql)?.query_row([id], |row| {
            let (name, code): (String, String) = (row.get(1)?, row.get(2)?);
            let about: Option<String> = row.get(3)?;
            let (name, code) = if name.is_empty() {
                (code, String::new())
            } else {
                (name, code)
            };
            let about = [code, about.unwrap_or_default()];
            let about: Vec<String> = about.into_iter().filter(|text| !text.is_empty()).collect();
            Ok(Choice {
                id: row.get(0)?,
                name,
                about: about.join(", "),
            })
        });
        Ok(found.optional()?)
    }

    /// What is found by a text; `None` when none was given.
    fn find(self, connection: &Connection, find: &str) -> Result<Option<Vec<Choice>>> {
        if find.is_empty() {
            return Ok(None);
        }
        let ids = match self {
            Self::Delegate => delegates_with(connection, find)?,
            Self::Device => devices_with(connection, find)?,
        };
        let choices = ids.iter().map(|id| self.one(connection, *id));
        let choices: Result<Vec<Option<Choice>>> = choices.collect();
        Ok(Some(choices?.into_iter().flatten().collect()))
    }
}

/// Delegates that have every word somewhere.
fn delegates_with(connection: &Connection, find: &str) -> Result<Vec<i64>> {
    let has = |word: &str| {
        let texts = ["firstName", "lastName", "email", "company", "barcode"];
        let tests: Vec<_> = texts
            .iter()
            .map(|name| json!({"*=": [name, word]}))
            .collect();
        json!({"or": tests})
    };
    let words: Vec<_> = find.split_whitespace().take(WORDS).map(has).collect();
    let text = json!({"and": words}).to_string();
    let search = Search::parse(
        &delegates::SEARCHED,
        &text,
        &crate::types::Zone::default(),
        None,
    )?;
    Ok(search.page(connection, 0, MOST as u64)?.ids)
}

fn devices_with(connection: &Connection, find: &str) -> Result<Vec<i64>> {
    let mut statement = connection.prepare_cached(
        "SELECT id FROM devices
         WHERE deleted_at IS NULL AND (text_contains(name, ?1) OR text_contains(code, ?1))
         ORDER BY device_type = 'event' DESC, name, id LIMIT ?2",
    )?;
    let ids = statement.query_map(rusqlite::params![text::fold(find), MOST], |row| row.get(0))?;
    Ok(ids.collect::<rusqlite::Result<_>>()?)
}

#[derive(Template)]
#[template(path = "access/found.html")]
struct Part {
    field: &'static str,
    found: Option<Vec<Choice>>,
}

#[derive(Template)]
#[template(path = "access/found_page.html")]
struct Page {
    layout: Layout,
    field: &'static str,
    found: Option<Vec<Choice>>,
}

async fn offer(request: RequestContext, subject: Subject) -> Result<Response> {
    let find = request.query.text("find").to_owned();
    let found = request
        .console
        .store
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
