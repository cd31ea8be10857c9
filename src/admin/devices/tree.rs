//! The places as a table: below each other, those that the address opens, or what a search finds; their counts are
//! renewed where they stand.

use super::{TYPES, new::NewPlace, row::Row};
use crate::admin::prelude::*;
use crate::{
    admin::Console,
    db::counters,
    domain::{
        delegates,
        devices::{
            self, EVENT, Offer,
            doors::Doors,
            record::Record,
            tree::{self, Level, Wanted},
        },
        gate::fleet,
        interactions::{presence::ANYWHERE, unregistered::unregistered},
    },
    types::DeviceId,
};
use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

/// Branches at the top with no more than this are shown open.
const OPEN_MAX: i64 = 40;
/// Branches that are open by themselves.
const OPEN_BRANCHES: usize = 5;
/// Lines of a page, with all that is open.
const LINES_MAX: usize = 500;

/// The branches that are open.
enum Open {
    /// Events and what else is at the top, and those on the way to a place.
    Usual(BTreeSet<i64>),
    All,
    These(BTreeSet<i64>),
}

impl Open {
    fn of(connection: &Connection, query: &Fields) -> Result<Self> {
        let ids = |text: &str| text.split(',').filter_map(|id| id.parse().ok()).collect();
        Ok(
            match (query.sent("open"), query.number("in").ok().flatten()) {
                (Some("all"), _) => Self::All,
                (Some(open), _) => Self::These(ids(open)),
                (None, Some(place)) => Self::Usual(tree::with_above(connection, place)?),
                (None, None) => Self::Usual(BTreeSet::new()),
            },
        )
    }
}

/// The equipment at a place or its doors: gates and readers, and how many of them have no contact.
#[derive(Default)]
pub(super) struct Equipment {
    gates: usize,
    readers: usize,
    silent: usize,
}

impl Equipment {
    /// `2 gates, 1 offline`.
    pub fn told(&self) -> String {
        let counted = |count: usize, one: &str| match count {
            0 => None,
            1 => Some(format!("1 {one}")),
            count => Some(format!("{count} {one}s")),
        };
        let silent = (self.silent > 0).then(|| format!("{} offline", self.silent));
        let parts = [
            counted(self.gates, "gate"),
            counted(self.readers, "reader"),
            silent,
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    pub fn is_silent(&self) -> bool {
        self.silent > 0
    }

    pub fn of(connection: &Connection, console: &Console) -> Result<HashMap<i64, Self>> {
        let mut at: HashMap<i64, Self> = HashMap::new();
        // What is at a door is at its place, too.
        let doors = Doors::read(connection)?;
        let counted_at = |place: i64| [place, doors.place_of(DeviceId(place)).0];
        for (place, gates) in fleet::at_places(connection, console.app(), Timestamp::now())? {
            for place in BTreeSet::from(counted_at(place.0)) {
                let here = at.entry(place).or_default();
                here.gates += gates.len();
                here.silent += gates.iter().filter(|gate| gate.is_silent()).count();
            }
        }
        for reader in console.readers.shown() {
            let antennas = reader.config.setup.antennas.iter();
            let watched = antennas.filter_map(|one| reader.config.watched(one.antenna));
            let places: BTreeSet<i64> = watched
                .flat_map(|watched| counted_at(watched.place))
                .collect();
            for place in places {
                let here = at.entry(place).or_default();
                here.readers += 1;
                here.silent += usize::from(reader.state.is_down());
            }
        }
        Ok(at)
    }
}

/// Collects the lines of a page.
struct Lines<'a> {
    connection: &'a Connection,
    console: &'a Console,
    open: Open,
    equipment: HashMap<i64, Equipment>,
    rows: Vec<Row>,
    opened: BTreeSet<i64>,
}

impl<'a> Lines<'a> {
    /// The lines of a level and of what is open below it.
    fn read(
        connection: &'a Connection,
        console: &'a Console,
        open: Open,
        level: Level,
    ) -> Result<Self> {
        let mut lines = Self {
            connection,
            console,
            open,
            equipment: Equipment::of(connection, console)?,
            rows: Vec::new(),
            opened: BTreeSet::new(),
        };
        lines.add(level, 0, None)?;
        Ok(lines)
    }

    fn add(&mut self, level: Level, depth: usize, parent: Option<i64>) -> Result<()> {
        let total = usize::try_from(level.total).unwrap_or_default();
        let left = total.saturating_sub(level.nodes.len());
        for node in level.nodes {
            if self.rows.len() >= LINES_MAX {
                return Ok(());
            }
            let (id, is_open) = (node.id, node.children > 0 && self.opens(&node, depth));
            let equipment = self.equipment.remove(&id).unwrap_or_default();
            let mut row = Row::of(node, depth, equipment);
            row.is_open = is_open;
            self.rows.push(row);
            if is_open {
                self.opened.insert(id);
                let app = self.console.app();
                let below = tree::level(self.connection, Some(id), 1, false, app)?;
                self.add(below, depth + 1, Some(id))?;
            }
        }
        if let (true, Some(parent), Some(last)) = (left > 0, parent, self.rows.last_mut()) {
            last.more = Some((parent, total));
        }
        Ok(())
    }

    fn opens(&self, node: &tree::Node, depth: usize) -> bool {
        match &self.open {
            Open::All => true,
            Open::These(ids) => ids.contains(&node.id),
            Open::Usual(ids) => {
                let is_small = node.children <= OPEN_MAX && self.opened.len() < OPEN_BRANCHES;
                ids.contains(&node.id) || (is_small && (depth == 0 || node.kind == EVENT))
            }
        }
    }
}

fn wanted(query: &Fields) -> Wanted {
    let page = query.number("page").ok().flatten().unwrap_or(1);
    Wanted {
        text: query.text("q").to_owned(),
        kind: query.text("type").to_owned(),
        show: query.text("show").to_owned(),
        page: page.clamp(1, 1_000_000),
    }
}

/// Views of the list: what they show, and what they are called.
const VIEWS: [(&str, &str); 4] = [
    ("", "All"),
    ("filling", "Filling up"),
    ("now", "On now"),
    ("deleted", "Deleted"),
];

#[derive(Template)]
#[template(path = "devices/list.html")]
struct Page {
    layout: Layout,
    list: List,
    wanted: Wanted,
    /// The place whose places are shown.
    of: Option<Record>,
    rows: Vec<Row>,
    /// The branches that are open.
    opened: BTreeSet<i64>,
    total: i64,
    /// Links to the pages beside it.
    before: Option<String>,
    after: Option<String>,
    /// Places that refuse everybody, as nobody is registered.
    closed: Vec<Offer>,
    /// All places, and those that are full or nearly so.
    places: (i64, i64),
    people: i64,
    /// The line for a new place, where it stands open.
    new_place: Option<NewPlace>,
    /// The address of this page, which renews it.
    address: String,
}

impl Page {
    /// The address with a branch opened or closed.
    fn toggled(&self, row: &Row) -> String {
        let mut open = self.opened.clone();
        if !open.remove(&row.node.id) {
            open.insert(row.node.id);
        }
        let open: Vec<_> = open.iter().map(ToString::to_string).collect();
        let of = self.of.as_ref();
        let of = of.map_or_else(String::new, |of| format!("parent={}&", of.id));
        format!("/console/devices?{of}open={}", open.join(","))
    }

    fn is_asked(&self) -> bool {
        self.new_place.as_ref().is_some_and(|place| place.is_asked)
    }

    fn is_tree(&self) -> bool {
        !self.list.is_filtered()
    }
}

pub async fn show(request: RequestContext) -> Result<Response> {
    answer::page(&page(&request, None).await?)
}

/// The page with a place that could not be created, as it was typed.
pub(super) async fn again(request: RequestContext, cause: Error) -> Result<Response> {
    answer::form_again(&page(&request, Some(super::fault(cause))).await?)
}

async fn page(request: &RequestContext, failure: Option<String>) -> Result<Page> {
    let query = request.query.clone();
    let parent = query.number("parent")?;
    let wanted = wanted(&query);
    let list = list(request, &wanted)?;
    let layout = request.layout("Places", Some(Area::Devices));
    let address = request.target();
    let sent = match failure {
        Some(_) => request.form.clone(),
        None => query.clone(),
    };
    let is_asked = failure.is_some() || query.ticked("new");
    let may_stay_open = parent.is_none() && !list.is_filtered() && !layout.shell().is_event_day();
    let console = Arc::clone(&request.console);
    // The list renews itself without it.
    let is_whole = !request.is_part();
    let read = move |connection: &Connection| {
        let closed = if is_whole && delegates::is_any(connection)? {
            unregistered(connection, &console.settings())?
        } else {
            Vec::new()
        };
        let is_open = may_stay_open && devices::is_any_event(connection)?;
        let new_place = if layout.operates() && (is_asked || is_open) {
            let mut place = NewPlace::read(connection, &sent, is_asked)?;
            place.failure = failure;
            Some(place)
        } else {
            None
        };
        let of = parent.map(|id| Record::find(connection, id)).transpose()?;
        let app = console.app();
        let (level, size, open) = if list.is_filtered() {
            let found = tree::search(connection, &wanted, app)?;
            (found, tree::FOUND, Open::These(BTreeSet::new()))
        } else {
            let level = tree::level(connection, parent, wanted.page, false, app)?;
            (level, tree::PAGE, Open::of(connection, &query)?)
        };
        let total = level.total;
        let lines = Lines::read(connection, &console, open, level)?;
        let (before, after) = links(&list, parent, wanted.page, total > wanted.page * size);
        Ok(Page {
            before,
            after,
            closed,
            places: tree::count(connection)?,
            people: counters::people(connection, ANYWHERE)?,
            layout,
            list,
            wanted,
            of,
            rows: lines.rows,
            opened: lines.opened,
            total,
            new_place,
            address,
        })
    };
    request.read(read).await
}

/// The search, and the choice of a type.
fn list(request: &RequestContext, wanted: &Wanted) -> Result<List> {
    let kinds = request.look_up(kinds)?.into_iter();
    let kinds = kinds.map(|kind| (kind.clone(), kind));
    let all = (String::new(), "All types".to_owned());
    let inputs = vec![
        Input::line("search", "q", "Find by name or code"),
        Input::select("type", "Type", std::iter::once(all).chain(kinds)),
        Input::hidden("show", &wanted.show),
    ];
    Ok(List::new(request, inputs, "page"))
}

/// The links to the pages before and after a page.
fn links(
    list: &List,
    parent: Option<i64>,
    page: i64,
    has_more: bool,
) -> (Option<String>, Option<String>) {
    let link = |page: i64| match parent {
        Some(id) if !list.is_filtered() => format!("/console/devices?parent={id}&page={page}"),
        _ => list.after(&page.to_string()),
    };
    (
        (page > 1).then(|| link(page - 1)),
        has_more.then(|| link(page + 1)),
    )
}

/// Types that are offered: those in use, and the known ones.
fn kinds(connection: &Connection) -> Result<Vec<String>> {
    let mut kinds = tree::types(connection)?;
    kinds.extend(TYPES.iter().map(|(kind, _)| (*kind).to_owned()));
    Ok(kinds.into_iter().collect())
}

/// The places and devices directly below a place, as lines.
pub(super) fn below(
    connection: &Connection,
    console: &Console,
    place: DeviceId,
) -> Result<(Vec<Row>, i64)> {
    let level = tree::level(connection, Some(place.0), 1, true, console.app())?;
    let mut equipment = Equipment::of(connection, console)?;
    let rows = level.nodes.into_iter().map(|node| {
        let here = equipment.remove(&node.id).unwrap_or_default();
        Row::of(node, 0, here)
    });
    Ok((rows.collect(), level.total))
}
