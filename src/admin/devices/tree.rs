//! Devices as a tree by parent, loaded branch by branch, and what a search among them finds.

use super::TYPES;
use crate::{
    admin::{Area, Layout, RequestContext, answer},
    domain::devices::{
        EVENT,
        record::Record,
        tree::{self, Level, Node, Wanted},
    },
    identity::App,
    types::error::{Error, Result},
};
use askama::Template;
use poem::Response;
use rusqlite::Connection;

/// Branches with no more than this are shown open.
const OPEN_MAX: i64 = 40;
/// Branches that a page shows open.
const OPEN_BRANCHES: usize = 5;

/// A list of devices and where it goes on.
struct Branch {
    nodes: Vec<Node>,
    total: i64,
    page: i64,
    /// Where the pages are; empty where there is one only.
    before: Option<String>,
    after: Option<String>,
}

impl Branch {
    fn of(level: Level, page: i64, size: i64, link: impl Fn(i64) -> String) -> Self {
        Self {
            nodes: level.nodes,
            total: level.total,
            page,
            before: (page > 1).then(|| link(page - 1)),
            after: (page * size < level.total).then(|| link(page + 1)),
        }
    }
}

/// What is asked for.
struct Asked(Wanted);

impl Asked {
    fn of(request: &RequestContext) -> Self {
        let page = request.query.number("page").ok().flatten().unwrap_or(1);
        Self(Wanted {
            text: request.query.text("q").to_owned(),
            kind: request.query.text("type").to_owned(),
            deleted: request.query.text("show") == "deleted",
            page: page.clamp(1, 1_000_000),
        })
    }

    /// Whether all that there is is asked for: a tree.
    fn is_all(&self) -> bool {
        self.0.text.is_empty() && self.0.kind.is_empty() && !self.0.deleted
    }

    fn link(&self, page: i64) -> String {
        let show = if self.0.deleted { "deleted" } else { "" };
        let query = form_urlencoded::Serializer::new(String::new())
            .append_pair("q", &self.0.text)
            .append_pair("type", &self.0.kind)
            .append_pair("show", show)
            .append_pair("page", &page.to_string())
            .finish();
        format!("/console/devices?{query}")
    }
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
        .read(move |connection| {
            let of = parent.map(|id| Record::find(connection, id)).transpose()?;
            let branch = if asked.is_all() {
                branch_of(connection, parent, asked.0.page, &app)?
            } else {
                let level = tree::search(connection, &asked.0, &app)?;
                Branch::of(level, asked.0.page, tree::FOUND, |page| asked.link(page))
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
        .read(move |connection| {
            Record::find(connection, id)?;
            branch_of(connection, Some(id), 1, &app)
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
    let mut kinds = tree::types(connection)?;
    kinds.extend(TYPES.iter().map(|(kind, _)| (*kind).to_owned()));
    Ok(kinds.into_iter().collect())
}

/// Living devices of a parent, or without one; those whose parent was deleted are on top as well.
fn branch_of(connection: &Connection, parent: Option<i64>, page: i64, app: &App) -> Result<Branch> {
    let mut level = tree::level(connection, parent, page, app)?;
    let opened = level
        .nodes
        .iter_mut()
        .filter(|node| node.children > 0 && node.children <= OPEN_MAX)
        .filter(|node| node.kind == EVENT || parent.is_none())
        .take(OPEN_BRANCHES);
    for node in opened {
        node.open = Some(tree::level(connection, Some(node.id), 1, app)?.nodes);
    }
    Ok(Branch::of(level, page, tree::PAGE, |page| match parent {
        Some(id) => format!("/console/devices?parent={id}&page={page}"),
        None => format!("/console/devices?page={page}"),
    }))
}

/// The first children of a device, for its page, and how many there are.
pub fn children(connection: &Connection, id: i64, app: &App) -> Result<(Vec<Node>, i64)> {
    let level = tree::level(connection, Some(id), 1, app)?;
    Ok((level.nodes, level.total))
}

/// The children of a device as HTML, where they are shown at once.
pub fn opened(node: &Node, layout: &Layout) -> Result<String> {
    let Some(nodes) = &node.open else {
        return Ok(String::new());
    };
    Part { layout, nodes }.render().map_err(Error::defect)
}
