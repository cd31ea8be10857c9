//! Views of the list of attendees: those that are always there, and those that a user saved.

use super::list::Filter;
use crate::admin::prelude::*;
use crate::{
    domain::delegates::types,
    identity::views::{self, SavedView},
    types::{
        UserId,
        text::{capital, fold},
    },
};
use std::time::{Duration, Instant};

/// Views that are always there, and the query strings of them; the missing ones of a type follow the second.
const VIEWS: [(&str, &str); 6] = [
    ("All", ""),
    ("Not arrived", "been=no"),
    ("Arrived", "been=yes"),
    ("Notes", "only=noted"),
    ("Blocked", "only=blocked"),
    ("Deleted", "deleted=1"),
];
/// The type that an event waits for, as its name begins.
const AWAITED: &str = "speaker";
/// The time for which the views may be counted.
const COUNTING: Duration = Duration::from_millis(100);

/// A view of the list.
pub(in crate::admin) struct View {
    pub name: String,
    pub query: String,
    /// The number of a saved one.
    pub saved: Option<i64>,
    pub count: Option<i64>,
}

impl View {
    fn new(name: &str, query: &str) -> Self {
        Self {
            name: name.to_owned(),
            query: query.to_owned(),
            saved: None,
            count: None,
        }
    }
}

/// All views of a user.
pub(in crate::admin) struct Views {
    pub all: Vec<View>,
    /// The filters of the list, without the words.
    pub query: String,
}

impl Views {
    pub fn read(connection: &Connection, user: UserId, filter: &Filter) -> Result<Self> {
        let mut all: Vec<View> = VIEWS
            .iter()
            .map(|(name, query)| View::new(name, query))
            .collect();
        let awaited = types(connection)?
            .into_iter()
            .find(|name| fold(name).starts_with(AWAITED));
        if let Some(kind) = awaited {
            let plural = if kind.ends_with('s') {
                kind.clone()
            } else {
                format!("{kind}s")
            };
            let query = crate::admin::filter::query(&[("type", &kind), ("been", "no")]);
            all.insert(
                2,
                View::new(&format!("{} missing", capital(&plural)), &query),
            );
        }
        let saved = views::of(connection, user)?.into_iter();
        all.extend(saved.map(|SavedView { id, name, query }| View {
            saved: Some(id),
            ..View::new(&name, &query)
        }));
        Ok(Self {
            all,
            query: filter.query_without_words(),
        })
    }

    pub fn is_current(&self, view: &View) -> bool {
        view.query == self.query
    }

    /// The saved view that shows the same.
    pub fn saved(&self) -> Option<&View> {
        self.all
            .iter()
            .find(|view| view.saved.is_some() && self.is_current(view))
    }

    /// Tells if the filters have no view yet.
    pub fn is_new(&self) -> bool {
        self.all.iter().all(|view| !self.is_current(view))
    }
}

#[derive(Template)]
#[template(path = "delegates/views.html")]
struct Part {
    layout: Layout,
    views: Views,
    is_part: bool,
    is_counted: bool,
}

/// The views with their counts, as far as those are quickly known.
pub(super) async fn show(request: RequestContext) -> Result<Response> {
    let filter = Filter::read(&request.query);
    let user = request.current_user()?.user;
    let zone = request.console.settings().zone.clone();
    let views = request
        .read(move |connection| {
            let mut views = Views::read(connection, user, &filter)?;
            let end = Instant::now() + COUNTING;
            for view in &mut views.all {
                let wanted = Filter::of(&view.query).wanted;
                let left = end.saturating_duration_since(Instant::now());
                if !left.is_zero() {
                    view.count = wanted.count_within(connection, &zone, left)?;
                }
            }
            Ok(views)
        })
        .await?;
    answer::page(&Part {
        layout: request.layout("", Some(Area::Delegates)),
        views,
        is_part: false,
        is_counted: true,
    })
}

/// Saves the filters of the list under a name.
pub(super) async fn save(request: RequestContext) -> Result<Response> {
    let user = request.current_user()?.user;
    let name = request.form.text("name").to_owned();
    let query = Filter::of(request.form.text("query")).query_without_words();
    let path = format!("/console/delegates?{query}");
    let told = format!("View {name} saved.");
    request
        .write(move |tx, _| views::save(tx, user, &name, &query))
        .await?;
    request.done(told, &path)
}

/// Removes a view; the list stays as it is.
pub(super) async fn remove(request: RequestContext) -> Result<Response> {
    let (user, id) = (request.current_user()?.user, request.id("id")?);
    request
        .write(move |tx, _| views::remove(tx, user, id))
        .await?;
    request.done("View removed.", "/console/delegates")
}
