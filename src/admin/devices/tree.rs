//! The tree of devices, loaded branch by branch, and the search.

use super::TYPES;
use crate::admin::prelude::*;
use crate::{
    domain::devices::{
        EVENT,
        record::Record,
        tree::{self, Level, Node, Wanted},
    },
    identity::App,
};

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

fn wanted(query: &Fields) -> Wanted {
    let page = query.number("page").ok().flatten().unwrap_or(1);
    Wanted {
        text: query.text("q").to_owned(),
        kind: query.text("type").to_owned(),
        deleted: query.text("show") == "deleted",
        page: page.clamp(1, 1_000_000),
    }
}

#[derive(Template)]
#[template(path = "devices/list.html")]
struct Page {
    layout: Layout,
    list: List,
    wanted: Wanted,
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
    let wanted = wanted(&request.query);
    let parent = request.query.number("parent")?;
    let app = request.console.app().clone();
    let kinds = request.look_up(kinds)?.into_iter();
    let kinds = kinds.map(|kind| (kind.clone(), kind));
    let inputs = vec![
        Input::line("search", "q", "Find by name or code"),
        Input::select(
            "type",
            "Type",
            [(String::new(), "All types".to_owned())]
                .into_iter()
                .chain(kinds),
        ),
        Input::select("show", "Show", [("", "Current"), ("deleted", "Deleted")]),
    ];
    let list = List::new(&request, inputs, "page");
    let read = move |connection: &Connection, layout| {
        let of = parent.map(|id| Record::find(connection, id)).transpose()?;
        let branch = if list.is_filtered() {
            let level = tree::search(connection, &wanted, &app)?;
            let link = |page: i64| list.after(&page.to_string());
            Branch::new(level, wanted.page, tree::FOUND, link)
        } else {
            branch_of(connection, parent, wanted.page, &app)?
        };
        Ok(Page {
            layout,
            list,
            wanted,
            of,
            branch,
        })
    };
    request.page("Places", Area::Devices, read).await
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
