//! The list of attendees, with search, filters, an expression, and export.

use super::views::Views;
use crate::admin::prelude::*;
use crate::{
    admin::{desk, export as file, filter::query, layout::number},
    core::search::Part,
    domain::{
        delegates::{
            counted_types,
            find::{Found, Wanted, find},
            overview::{Line, holder},
        },
        interactions::{inside::places, judge::DeviceCache},
    },
    ops::export::{What, Which},
};
use std::time::Duration;

/// The time that the search of an export may take.
const SEARCH_MAX: Duration = Duration::from_mins(2);

/// Attendees that an address can name one by one.
const IDS_MAX: usize = 1_000;

/// Expressions to begin with, and what they find.
const EXAMPLES: [(&str, &str); 6] = [
    ("no e-mail address", r#"{"==": ["email", null]}"#),
    (
        "have not checked in anywhere",
        r#"{"fi": ["check-in", {}, "== 0"]}"#,
    ),
    (
        "checked in three times or more",
        r#"{"fi": ["check-in", {}, ">= 3"]}"#,
    ),
    (
        "a value of their details",
        r#"{"ud": ["Data.dietaryNeeds", "==", "vegan"]}"#,
    ),
    (
        "one of two companies, by part of the name",
        r#"{"or": [{"*=": ["company", "north"]}, {"*=": ["company", "south"]}]}"#,
    ),
    (
        "changed since that day",
        r#"{">=": ["updatedAt", "2026-11-20 00:00:00"]}"#,
    ),
];

/// A search, and the query string that asks for it.
pub(in crate::admin) struct Filter {
    pub wanted: Wanted,
    pub query: String,
}

impl Filter {
    /// Reads a query string.
    pub fn of(query: &str) -> Self {
        let fields = form_urlencoded::parse(query.as_bytes()).into_owned();
        Self::read(&Fields(fields.collect()))
    }

    pub fn read(typed: &Fields) -> Self {
        let device = typed.number("device").ok().flatten();
        let text = |name| typed.text(name).to_owned();
        let names = [
            "q", "type", "flag", "company", "device", "been", "only", "search", "deleted", "ids",
        ];
        Self {
            query: query(&names.map(|name| (name, typed.text(name)))),
            wanted: Wanted {
                q: text("q"),
                kind: text("type"),
                flag: typed.text("flag").to_lowercase(),
                company: text("company"),
                device,
                been: match typed.text("been") {
                    "no" => "no",
                    "yes" => "yes",
                    _ if device.is_some() => "yes",
                    _ => "",
                },
                deleted: typed.ticked("deleted"),
                only: match typed.text("only") {
                    "blocked" => "blocked",
                    "noted" => "noted",
                    _ => "",
                },
                search: text("search"),
                ids: typed.filled("ids").map(|ids| {
                    let ids = ids.split('.').filter_map(|id| id.parse().ok());
                    ids.take(IDS_MAX).collect()
                }),
            },
        }
    }

    /// The filter of what is selected on a page of the list: the ticked rows, or all that it finds.
    pub fn of_selected(typed: &Fields) -> Self {
        let ids: Vec<&str> = typed.all("id").collect();
        if typed.ticked("all") || ids.is_empty() {
            return Self::read(typed);
        }
        Self::read(&Fields(vec![("ids".to_owned(), ids.join("."))]))
    }

    /// The fields that ask for it.
    pub fn fields(&self) -> Vec<(String, String)> {
        form_urlencoded::parse(self.query.as_bytes())
            .into_owned()
            .collect()
    }

    fn is_at(&self, device: &i64) -> bool {
        self.wanted.device == Some(*device)
    }

    /// Tells whether a filter is set that stands in the menu of further ones.
    fn has_more(&self) -> bool {
        let wanted = &self.wanted;
        let texts = [&wanted.flag, &wanted.company, &wanted.search];
        wanted.deleted || texts.iter().any(|text| !text.is_empty())
    }

    /// The query string of the filters alone: nothing of a person.
    pub fn query_without_words(&self) -> String {
        let fields = form_urlencoded::parse(self.query.as_bytes());
        let fields: Vec<_> = fields
            .filter(|(name, _)| name != "q" && name != "ids")
            .collect();
        let fields: Vec<_> = fields
            .iter()
            .map(|(name, value)| (&**name, &**value))
            .collect();
        query(&fields)
    }
}

#[derive(Template)]
#[template(path = "delegates/list.html")]
struct Page {
    part: FoundPart,
    layout: Layout,
    types: Vec<(String, i64)>,
    devices: Vec<(i64, String)>,
}

#[derive(Template)]
#[template(path = "delegates/found.html")]
struct FoundPart {
    layout: Layout,
    filter: Filter,
    views: Views,
    found: Found,
    /// The state of each of them: symbol, class and words.
    states: Vec<(&'static str, &'static str, String)>,
    /// The fault of the expression.
    fault: Option<String>,
    /// Set where htmx asks for it: its surroundings are sent along.
    is_part: bool,
    is_counted: bool,
}

impl FoundPart {
    /// Tells whether rows can be selected.
    fn selects(&self) -> bool {
        self.layout.operates() && !self.filter.wanted.deleted
    }
}

fn example_path(search: &str) -> String {
    format!("/console/delegates?{}", query(&[("search", search)]))
}

fn part(query: &Fields) -> Result<Part> {
    Ok(match (query.number("after")?, query.number("before")?) {
        (_, Some(id)) => Part::Before(id),
        (after, None) => Part::After(after.unwrap_or(0)),
    })
}

pub(super) async fn show(request: RequestContext) -> Result<Response> {
    let filter = Filter::read(&request.query);
    if request.query.ticked("go")
        && let Some(holder) = request.look_up(|connection| holder(connection, &filter.wanted.q))?
    {
        return Ok(answer::go(&format!("/console/delegates/{}", holder.id)));
    }
    let zone = request.console.settings().zone.clone();
    let (part, is_part) = (part(&request.query)?, request.is_part());
    let user = request.current_user()?.user;
    let (found, states, fault, types, devices, filter, views) = request
        .read(move |connection| {
            let wanted = &filter.wanted;
            let views = Views::read(connection, user, &filter)?;
            let (found, fault) = match find(connection, wanted, &zone, part) {
                Err(cause) if cause.kind == Kind::InvalidSearch || cause.kind.is_of_store() => {
                    (Found::default(), Some(cause.to_string()))
                }
                found => (found?, None),
            };
            let device_cache = DeviceCache::default();
            let state = |line: &Line| desk::state(connection, &device_cache, line.id, &zone);
            let states = found.lines.iter().map(state).collect::<Result<_>>()?;
            if is_part {
                return Ok((found, states, fault, Vec::new(), Vec::new(), filter, views));
            }
            let (types, places) = (counted_types(connection)?, places(connection)?);
            Ok((found, states, fault, types, places, filter, views))
        })
        .await?;
    let is_wrong = fault.is_some();
    let part = FoundPart {
        // Unnamed: messages are for the page around it.
        layout: request.layout("", Some(Area::Delegates)),
        filter,
        views,
        found,
        states,
        fault,
        is_part,
        is_counted: false,
    };
    if is_part {
        return answer::form_page(is_wrong, &part);
    }
    let page = Page {
        layout: request.layout("Attendees", Some(Area::Delegates)),
        part,
        types,
        devices,
    };
    answer::form_page(is_wrong, &page)
}

/// The number of all matches.
pub(super) async fn count(request: RequestContext) -> Result<Response> {
    let filter = Filter::read(&request.query);
    let (wanted, zone) = (
        filter.wanted.clone(),
        request.console.settings().zone.clone(),
    );
    let count = request
        .read(move |connection| {
            let search = wanted.search(connection, &zone)?;
            search.count(connection, u64::MAX >> 1)
        })
        .await?;
    let count = number(i64::try_from(count).unwrap_or(i64::MAX));
    if request.is_part() {
        return Ok(Response::builder()
            .content_type("text/plain; charset=utf-8")
            .body(count));
    }
    let list = format!("/console/delegates?{}", filter.query);
    request.done(format!("{count} attendees found."), &list)
}

/// The attendees that the filters of an address find; `None`: all of them.
pub(super) async fn found(request: &RequestContext) -> Result<Option<Vec<i64>>> {
    let wanted = Filter::read(&request.query).wanted;
    if !wanted.is_narrow() {
        return Ok(None);
    }
    ids(request, wanted).await.map(Some)
}

/// The attendees that are asked for.
pub(in crate::admin) async fn ids(request: &RequestContext, wanted: Wanted) -> Result<Vec<i64>> {
    let zone = request.console.settings().zone.clone();
    let found = request.read(move |connection| {
        let search = wanted.search(connection, &zone)?;
        search.ids(connection, SEARCH_MAX)
    });
    found.await
}

/// The filters of an address, as a query.
pub(super) fn filters(request: &RequestContext) -> String {
    Filter::read(&request.query).query
}

/// The attendees that are found, as a file.
pub(super) async fn export(request: RequestContext) -> Result<Response> {
    let format = file::format(request.query.text("format"))?;
    let which = found(&request).await?.map_or(Which::All, Which::Ids);
    let zone = request.console.settings().zone.clone();
    let app = request.console.app();
    Ok(file::sent(app, What::Delegates, which, zone, format))
}
