//! The tree of devices, loaded branch by branch, and the search.

use super::TYPES;
use crate::{
    admin::{Area, Fields, Layout, RequestContext, answer, filter::Typed},
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

/// A page of devices.
struct Branch {
    nodes: Vec<Node>,
    total: i64,
    page: i64,
    /// Links to the pages beside it.
    before: Option<String>,
    after: Option<String>,
}

impl Branch {
    fn new(level: Level, page: i64, size: i64, link: impl Fn(i64) -> String) -> Self {
        Self {
            nodes: level.nodes,
            total: level.total,
            page,
            before: (page > 1).then(|| link(page - 1)),
            after: (page * size < level.total).then(|| link(page + 1)),
        }
    }
}

/// What is looked for.
struct Filter {
    typed: Typed<3>,
    wanted: Wanted,
}

impl Filter {
    fn read(query: &Fields) -> Self {
        let typed = Typed::read(query, ["q", "type", "show"]);
        let page = query.number("page").ok().flatten().unwrap_or(1);
        Self {
            wanted: Wanted {
                text: typed.get("q").to_owned(),
                kind: typed.get("type").to_owned(),
                deleted: typed.get("show") == "deleted",
                page: page.clamp(1, 1_000_000),
            },
            typed,
        }
    }

    /// Whether the tree is shown, and not a list of what was found.
    fn is_all(&self) -> bool {
        self.typed.is_empty()
    }
}

#[derive(Template)]
#[template(path = "devices/list.html")]
struct Page {
    layout: Layout,
    filter: Filter,
    kinds: Vec<String>,
    /// The device that the branch belongs to.
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
    let filter = Filter::read(&request.query);
    let parent = request.query.number("parent")?;
    let app = request.console.app().clone();
    let (branch, kinds, of, filter) = request
        .read(move |connection| {
            let of = parent.map(|id| Record::find(connection, id)).transpose()?;
            let branch = if filter.is_all() {
                branch_of(connection, parent, filter.wanted.page, &app)?
            } else {
                let level = tree::search(connection, &filter.wanted, &app)?;
                Branch::new(level, filter.wanted.page, tree::FOUND, |page| {
                    let query = filter.typed.with("page", &page.to_string());
                    format!("/console/devices?{query}")
                })
            };
            Ok((branch, kinds(connection)?, of, filter))
        })
        .await?;
    answer::page(&Page {
        layout: request.layout("Devices and events", Some(Area::Devices)),
        filter,
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

/// Types that are offered: those in use, and the known ones.
fn kinds(connection: &Connection) -> Result<Vec<String>> {
    let mut kinds = tree::types(connection)?;
    kinds.extend(TYPES.iter().map(|(kind, _)| (*kind).to_owned()));
    Ok(kinds.into_iter().collect())
}

/// The devices of a parent, or at the top level; those whose parent was deleted are at the top as well.
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
    Ok(Branch::new(level, page, tree::PAGE, |page| match parent {
        Some(id) => format!("/console/devices?parent={id}&page={page}"),
        None => format!("/console/devices?page={page}"),
    }))
}

/// The children of a device as HTML, where its branch is open.
pub fn opened(node: &Node, layout: &Layout) -> Result<String> {
    let Some(nodes) = &node.open else {
        return Ok(String::new());
    };
    Part { layout, nodes }.render().map_err(Error::defect)
}
