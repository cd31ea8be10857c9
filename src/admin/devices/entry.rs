//! Rights to enter: types of attendees across, places down, a tick and times in each cell. A row is one rule: a place
//! that changes one cell has the whole row of its own from then on.

use crate::admin::prelude::*;
use crate::{
    admin::form::mark,
    core::rules::{AccessRules, Hours, RuleSet, TypeList, TypeTimes, folded},
    domain::{
        delegates,
        devices::{
            entry::{self, EntryRow},
            record::Record,
        },
    },
    types::{DeviceId, error},
};
use serde_json::{Value, json};

const PAGE: &str = "/console/devices/entry";
/// Places of a page.
const ROWS: usize = 100;
/// Types of attendees across.
const COLUMNS: usize = 24;

#[derive(Template)]
#[template(path = "devices/entry.html")]
struct Page {
    layout: Layout,
    /// The place whose places are shown.
    of: Option<Record>,
    columns: Vec<Column>,
    rows: Vec<Row>,
    /// Places in all, and the page.
    total: usize,
    page: usize,
    /// The change that could not be saved, and why.
    fault: Option<String>,
}

struct Column {
    name: String,
    folded: String,
}

struct Row {
    place: EntryRow,
    /// The number of levels below the first place.
    depth: usize,
    /// The version that a change is begun on.
    version: String,
    cells: Vec<Cell>,
    /// True if everybody may enter, also without a type; `None` where the rules cannot be read.
    is_for_all: Option<bool>,
    /// Only those who are registered may enter.
    is_for_registered: bool,
}

/// A type at a place.
struct Cell {
    may_enter: bool,
    times: String,
    /// The fault of the times, where they are shown as they were typed.
    wrong: Option<String>,
}

impl Page {
    /// Shows a row as it was typed, with what is wrong at each field; nothing where no times are wrong.
    fn retype(&mut self, place: DeviceId, sent: &Fields) {
        let ticked: Vec<&str> = sent.all("type").collect();
        let row = self.rows.iter_mut().find(|row| row.place.id == place);
        let Some(row) = row.filter(|row| row.version == sent.text("version")) else {
            return;
        };
        let cell = |column: &Column| {
            let times = sent.text(&format!("at:{}", column.name));
            let may_enter = ticked.contains(&column.name.as_str());
            Cell {
                may_enter,
                times: times.to_owned(),
                wrong: wrong(times).filter(|_| may_enter),
            }
        };
        let cells: Vec<Cell> = self.columns.iter().map(cell).collect();
        if cells.iter().any(|cell| cell.wrong.is_some()) {
            row.cells = cells;
            self.fault = None;
        }
    }

    fn pages(&self) -> usize {
        self.total.div_ceil(ROWS).max(1)
    }

    fn path(&self, page: usize) -> String {
        match &self.of {
            Some(of) => format!("{PAGE}?parent={}&page={page}", of.id),
            None => format!("{PAGE}?page={page}"),
        }
    }
}

/// Types that there are, and others that rules name.
fn columns(connection: &Connection, rows: &[EntryRow]) -> Result<Vec<Column>> {
    let mut columns: Vec<Column> = Vec::new();
    let mut add = |name: &str| {
        let folded = folded(name);
        if columns.len() < COLUMNS && columns.iter().all(|known| known.folded != folded) {
            let name = name.to_owned();
            columns.push(Column { name, folded });
        }
    };
    delegates::types(connection)?
        .iter()
        .for_each(|name| add(name));
    for rules in rows.iter().filter_map(EntryRow::rules) {
        rules
            .types
            .iter()
            .flat_map(TypeList::names)
            .for_each(&mut add);
        let times = rules.type_times.iter().flat_map(TypeTimes::entries);
        times
            .flat_map(|entry| entry.types.names())
            .for_each(&mut add);
    }
    Ok(columns)
}

impl Row {
    fn of(place: &EntryRow, top: usize, columns: &[Column]) -> Self {
        let rules = place.rules();
        let cell = |column: &Column| {
            let rules = rules.as_ref();
            let times = rules.and_then(|rules| rules.type_times.as_ref());
            let times = times.map_or_else(Vec::new, |times| times.of(&column.folded).collect());
            Cell {
                may_enter: rules.is_some_and(|rules| is_listed(rules, &column.folded)),
                times: shown(&times),
                wrong: None,
            }
        };
        Self {
            version: mark(&place.seen()),
            cells: columns.iter().map(cell).collect(),
            is_for_all: rules.as_ref().map(|rules| rules.types.is_none()),
            is_for_registered: rules.is_some_and(|rules| rules.rule_set == Some(RuleSet::Simple)),
            depth: place.depth - top,
            place: place.clone(),
        }
    }

    fn at(&self) -> i64 {
        self.place.id.0
    }
}

fn is_listed(rules: &AccessRules, folded: &str) -> bool {
    rules
        .types
        .as_ref()
        .is_none_or(|types| types.contains(folded))
}

/// `08:00–10:00, 22:00–02:00`.
fn shown(times: &[Hours]) -> String {
    let times = times
        .iter()
        .map(|hours| hours.to_string().replace(" to ", "–"));
    times.collect::<Vec<_>>().join(", ")
}

/// `8:00` as `08:00`, with a day before it or without.
fn padded(moment: &str) -> String {
    let (day, clock) = moment.rsplit_once(' ').unwrap_or(("", moment));
    if clock.len() == 4 && clock.as_bytes()[1] == b':' {
        return format!("{day} 0{clock}").trim_start().to_owned();
    }
    moment.to_owned()
}

/// The first and the last moment of each of the times that were typed. What is no time is told by whoever checks it.
fn typed(times: &str) -> Vec<(String, String)> {
    let split = |time: &str| {
        let dash = time.matches('-').count() == 1;
        let parts = time.split_once('–').or_else(|| time.split_once(" to "));
        let parts = parts.or_else(|| time.split_once('-').filter(|_| dash));
        let (from, until) = parts.unwrap_or((time, ""));
        (padded(from.trim()), padded(until.trim()))
    };
    let times = times.split(',').map(str::trim);
    times.filter(|time| !time.is_empty()).map(split).collect()
}

/// Returns what is wrong with times that were typed.
fn wrong(times: &str) -> Option<String> {
    let entries: Value = typed(times)
        .into_iter()
        .map(|(from, until)| json!({"types": [], "from": from, "until": until}))
        .collect();
    let fault = AccessRules::parse("data.Access", &json!({"typeTimes": entries})).err()?;
    Some(super::fault(fault))
}

/// `types` and `typeTimes` of a row as it was typed.
fn rules_of(sent: &Fields, columns: &[Column], before: &AccessRules) -> (Option<Value>, Value) {
    let ticked: Vec<&str> = sent.all("type").collect();
    let ticked = |column: &&Column| ticked.contains(&column.name.as_str());
    let own: Vec<&Column> = columns.iter().filter(ticked).collect();
    let is_for_all = before.types.is_none() && own.len() == columns.len();
    let mut entries: Vec<((String, String), Vec<&str>)> = Vec::new();
    for column in &own {
        for time in typed(sent.text(&format!("at:{}", column.name))) {
            match entries.iter_mut().find(|(known, _)| *known == time) {
                Some((_, types)) => types.push(&column.name),
                None => entries.push((time, vec![&column.name])),
            }
        }
    }
    let names: Vec<&str> = own.iter().map(|column| column.name.as_str()).collect();
    let entry = |((from, until), types): ((String, String), Vec<&str>)| json!({"types": types, "from": from, "until": until});
    (
        (!is_for_all).then(|| json!(names)),
        entries.into_iter().map(entry).collect(),
    )
}

async fn page(request: &RequestContext, sent: &Fields, fault: Option<String>) -> Result<Page> {
    let root = sent.number("parent")?;
    let page = sent.number("page").ok().flatten().unwrap_or(1);
    let page = usize::try_from(page).unwrap_or(1).clamp(1, 10_000);
    let layout = request.layout("Who may enter", Some(Area::Devices));
    let default = request.console.settings().access.clone();
    let read = move |connection: &Connection| {
        let all = entry::rows(connection, &default)?;
        let columns = columns(connection, &all)?;
        let below = match root {
            Some(root) => entry::with_below(&all, DeviceId(root))?,
            None => &all,
        };
        let depth = below.first().map_or(0, |first| first.depth);
        let total = below.len();
        let shown = below.iter().skip((page - 1) * ROWS).take(ROWS);
        let rows = shown.map(|place| Row::of(place, depth, &columns));
        Ok(Page {
            of: root.map(|id| Record::find(connection, id)).transpose()?,
            rows: rows.collect(),
            columns,
            layout,
            total,
            page,
            fault,
        })
    };
    request.read(read).await
}

pub(super) async fn show(request: RequestContext) -> Result<Response> {
    answer::page(&page(&request, &request.query, None).await?)
}

/// Saves a row, unless somebody else changed it meanwhile.
pub(super) async fn save(request: RequestContext) -> Result<Response> {
    let (id, sent) = (DeviceId(request.id("id")?), request.form.clone());
    let default = request.console.settings().access.clone();
    let columns = request
        .read(move |connection| columns(connection, &entry::rows(connection, &default)?))
        .await?;
    let work = request.write(move |tx, ctx| {
        let row = entry::row(tx, id, &ctx.settings.access)?;
        if mark(&row.seen()) != sent.text("version") {
            return Err(Error::new(
                error::Kind::CodeTaken,
                format!(
                    "somebody else changed {} meanwhile; this is who may enter now",
                    row.name
                ),
            ));
        }
        let Some(before) = row.rules() else {
            return Err(Error::invalid(format!(
                "the rules of {} cannot be read; correct them on its page first",
                row.name
            )));
        };
        let (types, times) = match sent.text("do") {
            "inherit" => (None, None),
            "all" => (None, Some(json!([]))),
            "none" => (Some(json!([])), None),
            _ => {
                let (types, times) = rules_of(&sent, &columns, &before);
                // Something has to say that the row is its own.
                let has_times = times.as_array().is_some_and(|times| !times.is_empty());
                let times = Some(times).filter(|_| has_times || types.is_none());
                (types, times)
            }
        };
        entry::set(tx, ctx, id, types, times)
    });
    let fault = match work.await {
        Ok(()) => None,
        Err(cause) if is_theirs(&cause) && cause.kind != error::Kind::DeviceNotFound => {
            Some(super::fault(cause))
        }
        Err(cause) => return Err(cause),
    };
    if fault.is_none() && !request.is_part() {
        let (parent, page) = (request.form.text("parent"), request.form.text("page"));
        return Ok(answer::go(&format!(
            "{PAGE}?parent={parent}&page={page}#row-{id}"
        )));
    }
    let is_fault = fault.is_some();
    let mut page = page(&request, &request.form, fault).await?;
    if is_fault && request.form.text("do").is_empty() {
        page.retype(id, &request.form);
    }
    answer::form_page(is_fault, &page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_typed_as_they_are_shown() {
        for (text, expected) in [
            ("", vec![]),
            ("22:00–02:00", vec![("22:00", "02:00")]),
            ("22:00-02:00", vec![("22:00", "02:00")]),
            ("8:00-12:00", vec![("08:00", "12:00")]),
            (
                "2026-11-21 8:00 to 9:30",
                vec![("2026-11-21 08:00", "09:30")],
            ),
            (
                "08:00 to 10:00, 22:00 – 02:00,",
                vec![("08:00", "10:00"), ("22:00", "02:00")],
            ),
            (
                "2026-11-21 18:00–2026-11-22 01:00",
                vec![("2026-11-21 18:00", "2026-11-22 01:00")],
            ),
            ("at night", vec![("at night", "")]),
        ] {
            let given = typed(text);
            let given: Vec<_> = given
                .iter()
                .map(|(from, until)| (from.as_str(), until.as_str()))
                .collect();
            assert_eq!(given, expected, "{text}");
        }
    }

    #[test]
    fn a_row_becomes_the_rules_that_it_shows() {
        let columns = ["Crew", "VIP", "Visitor"].map(|name| Column {
            name: name.to_owned(),
            folded: folded(name),
        });
        let given = |sent: &[(&str, &str)], before: Value| {
            let sent = sent
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            let before = AccessRules::parse("rules", &before).unwrap();
            rules_of(&Fields(sent.collect()), &columns, &before)
        };
        let all = [("type", "Crew"), ("type", "VIP"), ("type", "Visitor")];
        assert_eq!(given(&all, json!({})), (None, json!([])));
        // A list stays one: nobody without a type was let in.
        let listed = given(&all, json!({"types": ["Crew"]})).0;
        assert_eq!(listed, Some(json!(["Crew", "VIP", "Visitor"])));
        assert_eq!(given(&[], json!({})), (Some(json!([])), json!([])));
        let times = [
            ("type", "Crew"),
            ("type", "VIP"),
            ("at:Crew", "22:00–02:00"),
            ("at:VIP", "22:00 to 02:00"),
            ("at:Visitor", "09:00–10:00"),
        ];
        assert_eq!(
            given(&times, json!({})),
            (
                Some(json!(["Crew", "VIP"])),
                json!([{"types": ["Crew", "VIP"], "from": "22:00", "until": "02:00"}])
            )
        );
    }
}
