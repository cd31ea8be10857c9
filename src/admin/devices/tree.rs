//! Devices as a tree by parent, loaded branch by branch, and what a search among them finds.

use super::{
    TYPES,
    record::{NAME, Record, time_frame},
};
use crate::{
    admin::{Area, Layout, RequestContext, answer},
    identity::App,
    types::{
        DeviceId, Timestamp, Zone,
        error::{Error, Result},
        text,
    },
};
use askama::Template;
use poem::Response;
use rusqlite::{Connection, Row, named_params};
use std::collections::BTreeSet;

/// Devices of one parent on a page.
const PAGE: i64 = 100;
/// Branches with no more than this are shown open.
const OPEN_MAX: i64 = 40;
/// Branches that a page shows open.
const OPEN_BRANCHES: usize = 5;
/// What a search shows on a page.
const FOUND: i64 = 50;

/// A device as a line.
pub struct Node {
    pub id: i64,
    pub name: String,
    pub kind: String,
    pub code: String,
    pub when: String,
    pub available: bool,
    pub inside: i64,
    pub seen_at: Option<Timestamp>,
    pub online: bool,
    pub parent: Option<(i64, String)>,
    pub deleted_at: Option<Timestamp>,
    pub children: i64,
    /// Its children, where they are shown at once.
    pub open: Option<Vec<Node>>,
}

impl Node {
    /// The node with what is known of its app now.
    fn heard_of(mut self, app: &App) -> Self {
        (self.seen_at, self.online) = super::app::heard_of(app, DeviceId(self.id), self.seen_at);
        self
    }

    /// Its children as HTML, where they are shown at once.
    pub fn opened(&self, layout: &Layout) -> Result<String> {
        let Some(nodes) = &self.open else {
            return Ok(String::new());
        };
        Part { layout, nodes }.render().map_err(Error::defect)
    }
}

/// A list of devices and where it goes on.
struct Branch {
    nodes: Vec<Node>,
    total: i64,
    page: i64,
    /// Where the pages are; empty where there is one only.
    before: Option<String>,
    after: Option<String>,
}

/// What is asked for.
struct Asked {
    text: String,
    kind: String,
    deleted: bool,
    page: i64,
}

impl Asked {
    fn of(request: &RequestContext) -> Self {
        Self {
            text: request.query.text("q").to_owned(),
            kind: request.query.text("type").to_owned(),
            deleted: request.query.text("show") == "deleted",
            page: page_of(request),
        }
    }

    /// Whether all that there is is asked for: a tree.
    fn is_all(&self) -> bool {
        self.text.is_empty() && self.kind.is_empty() && !self.deleted
    }

    fn link(&self, page: i64) -> String {
        let show = if self.deleted { "deleted" } else { "" };
        let query = form_urlencoded::Serializer::new(String::new())
            .append_pair("q", &self.text)
            .append_pair("type", &self.kind)
            .append_pair("show", show)
            .append_pair("page", &page.to_string())
            .finish();
        format!("/console/devices?{query}")
    }
}

fn page_of(request: &RequestContext) -> i64 {
    let page = request.query.number("page").ok().flatten().unwrap_or(1);
    page.clamp(1, 1_000_000)
}

#[derive(Template)]
#[template(path = "devices/list.html")]
struct Page {
    layout: Layout,
    asked: Asked,
    kinds: Vec<String>,
    /// Of which device the branch is; all without it.
    of: Option<Record>,
    branch: Branch,
}

#[derive(Template)]
#[template(path = "devices/branch.html")]
struct Part<'a> {
    layout: &'a Layout,
    nodes: &'a [Node],
}

#[derive(Template)]
#[template(path = "devices/branch_page.html")]
struct BranchPage<'a> {
    layout: &'a Layout,
    branch: &'a Branch,
    of: i64,
}

pub async fn show(request: RequestContext) -> Result<Response> {
    let asked = Asked::of(&request);
    let parent = request.query.number("parent")?;
    let app = request.console.app().clone();
    let (branch, kinds, of, asked) = request
        .console
        .store
        .read(move |connection| {
            let of = parent.map(|id| Record::find(connection, id)).transpose()?;
            let branch = if asked.is_all() {
                tree(connection, parent, asked.page, &app)?
            } else {
                search(connection, &asked, &app)?
            };
            Ok((branch, kinds(connection)?, of, asked))
        })
        .await?;
    answer::page(&Page {
        layout: request.layout("Devices and events", Some(Area::Devices)),
        asked,
        kinds,
        of,
        branch,
    })
}

/// The children of a device, for a tree that is open in the browser.
pub async fn branch(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    if !request.is_part() {
        return Ok(answer::go(&format!("/console/devices?parent={id}")));
    }
    let app = request.console.app().clone();
    let branch = request
        .console
        .store
        .read(move |connection| {
            Record::find(connection, id)?;
            tree(connection, Some(id), 1, &app)
        })
        .await?;
    answer::page(&BranchPage {
        layout: &request.layout("", Some(Area::Devices)),
        branch: &branch,
        of: id,
    })
}

/// Types that may be filtered by: those in use and those that are known everywhere.
fn kinds(connection: &Connection) -> Result<Vec<String>> {
    let mut statement = connection
        .prepare_cached("SELECT DISTINCT device_type FROM devices WHERE device_type IS NOT NULL")?;
    let used = statement.query_map([], |row| row.get::<_, String>(0))?;
    let mut kinds = used.collect::<rusqlite::Result<BTreeSet<_>>>()?;
    kinds.extend(TYPES.iter().map(|(kind, _)| (*kind).to_owned()));
    Ok(kinds.into_iter().collect())
}

/// What every line shows.
const COLUMNS: &str =
    "d.id, coalesce(d.device_type, ''), d.code, d.start_at, d.end_at, d.available, d.deleted_at,
     (SELECT o.inside FROM occupancy o WHERE o.device_id = d.id),
     (SELECT s.seen_at FROM device_states s WHERE s.device_id = d.id)";

fn node(row: &Row<'_>, zone: &Zone) -> rusqlite::Result<Node> {
    let parent: Option<i64> = row.get("parent_id")?;
    let parent_name: Option<String> = row.get("parent_name")?;
    Ok(Node {
        id: row.get(0)?,
        kind: row.get(1)?,
        code: row.get(2)?,
        when: time_frame(row.get(3)?, row.get(4)?, zone),
        available: row.get(5)?,
        deleted_at: row.get(6)?,
        inside: row.get::<_, Option<i64>>(7)?.unwrap_or_default(),
        online: false,
        seen_at: row.get("seen_at")?,
        name: row.get("called")?,
        parent: parent.zip(parent_name),
        children: row.get("children")?,
        open: None,
    })
}

/// Living devices of a parent, or without one; those whose parent was deleted are on top as well.
fn tree(connection: &Connection, parent: Option<i64>, page: i64, app: &App) -> Result<Branch> {
    let mut branch = level(connection, parent, page, app)?;
    let opened = branch
        .nodes
        .iter_mut()
        .filter(|node| node.children > 0 && node.children <= OPEN_MAX)
        .filter(|node| node.kind == super::EVENT || parent.is_none())
        .take(OPEN_BRANCHES);
    for node in opened {
        node.open = Some(level(connection, Some(node.id), 1, app)?.nodes);
    }
    Ok(branch)
}

/// What is true of the devices of `:parent`.
const OF_PARENT: &str = "d.parent_id = :parent AND d.deleted_at IS NULL";
/// What is true of the devices on top.
const ON_TOP: &str = "d.deleted_at IS NULL AND :parent IS NULL AND (d.parent_id IS NULL
     OR EXISTS (SELECT 1 FROM devices p WHERE p.id = d.parent_id AND p.deleted_at IS NOT NULL))";

fn level(connection: &Connection, parent: Option<i64>, page: i64, app: &App) -> Result<Branch> {
    let zone = app.settings().zone.clone();
    let wanted = if parent.is_some() { OF_PARENT } else { ON_TOP };
    let sql = format!(
        "SELECT {COLUMNS} AS seen_at, {NAME} AS called, NULL AS parent_id, NULL AS parent_name,
                (SELECT count(*) FROM devices c WHERE c.parent_id = d.id AND c.deleted_at IS NULL) AS children
         FROM devices d WHERE {wanted}
         ORDER BY d.device_type IS NOT 'event', coalesce(d.start_at, 0), called COLLATE NOCASE, d.id
         LIMIT :limit OFFSET :offset"
    );
    let nodes = connection
        .prepare_cached(&sql)?
        .query_map(
            named_params! {":parent": parent, ":limit": PAGE, ":offset": (page - 1) * PAGE},
            |row| Ok(node(row, &zone)?.heard_of(app)),
        )?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    let total = connection
        .prepare_cached(&format!("SELECT count(*) FROM devices d WHERE {wanted}"))?
        .query_row(named_params! {":parent": parent}, |row| row.get(0))?;
    let link = |page: i64| match parent {
        Some(id) => format!("/console/devices?parent={id}&page={page}"),
        None => format!("/console/devices?page={page}"),
    };
    Ok(Branch {
        nodes,
        total,
        page,
        before: (page > 1).then(|| link(page - 1)),
        after: (page * PAGE < total).then(|| link(page + 1)),
    })
}

/// Columns that a search looks into.
const SEARCHED: [&str; 7] = [
    "name",
    "short_name",
    "code",
    "external_id",
    "rfid",
    "slug",
    "public_id",
];

fn search(connection: &Connection, asked: &Asked, app: &App) -> Result<Branch> {
    let found: Vec<_> = SEARCHED
        .iter()
        .map(|column| format!("text_contains(d.{column}, :text)"))
        .collect();
    let wanted = format!(
        "(d.deleted_at IS NOT NULL) = :deleted AND (:kind = '' OR d.device_type = :kind)
         AND (:text = '' OR {} OR CAST(d.id AS TEXT) = :text)",
        found.join(" OR ")
    );
    let sql = format!(
        "SELECT {COLUMNS} AS seen_at, {NAME} AS called, p.id AS parent_id,
                coalesce(p.name, p.short_name, p.code) AS parent_name, 0 AS children
         FROM devices d LEFT JOIN devices p ON p.id = d.parent_id AND p.deleted_at IS NULL
         WHERE {wanted} ORDER BY coalesce(d.start_at, 0), called COLLATE NOCASE, d.id
         LIMIT :limit OFFSET :offset"
    );
    let zone = app.settings().zone.clone();
    let folded = text::fold(&asked.text);
    let nodes = connection
        .prepare_cached(&sql)?
        .query_map(
            named_params! {
                ":deleted": asked.deleted, ":kind": asked.kind, ":text": folded,
                ":limit": FOUND, ":offset": (asked.page - 1) * FOUND,
            },
            |row| Ok(node(row, &zone)?.heard_of(app)),
        )?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    let total: i64 = connection
        .prepare_cached(&format!("SELECT count(*) FROM devices d WHERE {wanted}"))?
        .query_row(
            named_params! {":deleted": asked.deleted, ":kind": asked.kind, ":text": folded},
            |row| row.get(0),
        )?;
    let page = asked.page;
    Ok(Branch {
        nodes,
        total,
        page,
        before: (page > 1).then(|| asked.link(page - 1)),
        after: (page * FOUND < total).then(|| asked.link(page + 1)),
    })
}

/// The first children of a device, for its page, and how many there are.
pub fn children(connection: &Connection, id: i64, app: &App) -> Result<(Vec<Node>, i64)> {
    let branch = level(connection, Some(id), 1, app)?;
    Ok((branch.nodes, branch.total))
}
