//! The form of a report without SQL: what it is about, grouped or listed, of whom, drawn how.

use super::{edit::Address, edit::Reports, edit::Tried, may_edit, path};
use crate::{
    admin::{devices::TYPES as TYPES_OF_PLACES, prelude::*},
    domain::{
        delegates, devices,
        interactions::types::TYPES,
        reports::{
            self, Report, Values,
            built::{
                Built, ColumnKind, Comparison, FILTERS_MAX, Filter, GROUPS_MAX, LIMIT_MAX, SOURCES,
                Source,
            },
            chart::{Chart, Offers},
        },
    },
    types::text::fold,
};

pub(super) const PAGE: &str = "/console/reports/build";
/// Rows of the preview.
const SHOWN_MAX: usize = 20;
/// Rows of which the chart of the preview is drawn.
const DRAWN_MAX: usize = 500;
/// Empty rows for filters.
const SPARE_ROWS: usize = 2;
/// Names that are offered for the values of filters.
const OFFERED_MAX: usize = 300;
/// Rows that are gone through in about a second on a small laptop.
const ROWS_OF_SECOND: i64 = 800_000;
/// Seconds that nobody has to be told of.
const SECONDS_MAX: i64 = 2;

pub(super) struct Builder;

/// A report to begin with.
struct Example {
    key: &'static str,
    label: &'static str,
    built: fn() -> Built,
}

fn texts<const N: usize>(texts: [&str; N]) -> Vec<String> {
    texts.map(ToOwned::to_owned).into()
}

fn grouped<const N: usize>(source: &str, group: &str, numbers: [&str; N]) -> Built {
    Built {
        source: source.to_owned(),
        group: texts([group]),
        numbers: texts(numbers),
        ..Built::default()
    }
}

fn only(built: Built, column: &str, value: &str) -> Built {
    let filter = Filter {
        column: column.to_owned(),
        is: Comparison::Is,
        value: value.to_owned(),
    };
    Built {
        filters: vec![filter],
        ..built
    }
}

const fn example(key: &'static str, label: &'static str, built: fn() -> Built) -> Example {
    Example { key, label, built }
}

const EXAMPLES: [Example; 8] = [
    example("visits", "Visits by company", || {
        let built = grouped("activity", "company", ["number", "people"]);
        only(built, "check_in", "yes")
    }),
    example("arrivals", "Arrivals by hour", || {
        let built = grouped("activity", "time.hour", ["number", "people"]);
        only(built, "check_in", "yes")
    }),
    example("doors", "Check-ins by place", || {
        let built = grouped("activity", "place", ["number", "people"]);
        only(built, "check_in", "yes")
    }),
    example("no-shows", "No-shows by type", || {
        only(grouped("attendees", "type", ["people"]), "arrived", "no")
    }),
    example("types", "Attendees by type", || {
        grouped("attendees", "type", ["people", "arrived"])
    }),
    example("rooms", "People by place", || Built {
        source: "places".to_owned(),
        columns: texts(["place", "type", "people", "check_ins", "inside"]),
        sort: "-people".to_owned(),
        ..Built::default()
    }),
    example("products", "Sales by product", || {
        grouped("sales", "product", ["quantity", "amount", "purchases"])
    }),
    example("takings", "Sales by hour", || {
        grouped("sales", "time.hour", ["amount", "purchases"])
    }),
];

#[derive(Template)]
#[template(path = "reports/start.html")]
struct Start {
    layout: Layout,
}

/// The examples of a source.
fn examples(source: &Source) -> impl Iterator<Item = &'static Example> {
    let all = EXAMPLES.iter();
    all.filter(|example| (example.built)().source == source.key)
}

#[derive(Template)]
#[template(path = "reports/aside.html")]
struct Aside<'a> {
    layout: &'a Layout,
    source: &'static Source,
    /// How many rows it goes through, and about how many seconds that takes, where it is long.
    slow: Option<(i64, i64)>,
    /// The page and the name of the report, where it exists.
    report: Option<(String, &'a str)>,
}

/// Shows what a report can be about, or the form of a new one.
pub(super) async fn begin(request: RequestContext) -> Result<Response> {
    if request.query.text("of").is_empty() {
        return answer::page(&Start {
            layout: super::layout(&request, "New report"),
        });
    }
    engine::show::<Builder>(request).await
}

/// The draft that a link of the page before asks for.
fn begun(query: &Fields) -> Report {
    let like = EXAMPLES.iter().find(|one| one.key == query.text("like"));
    let source = Source::find(query.text("of")).unwrap_or(&SOURCES[0]);
    let built = like.map_or_else(
        || Built {
            source: source.key.to_owned(),
            columns: source.common.iter().map(ToString::to_string).collect(),
            ..Built::default()
        },
        |like| (like.built)(),
    );
    Report {
        dashboard: "event".to_owned(),
        id: String::new(),
        label: like.map_or_else(String::new, |like| say(like.label)),
        query: String::new(),
        parameters: Vec::new(),
        fixed: Vec::new(),
        api_clients: Vec::new(),
        built: Some(built),
    }
}

/// The choices of a report; those of an empty one where somebody wrote its SQL.
fn choices_of(report: &Report) -> Built {
    report.built.clone().unwrap_or_else(|| Built {
        source: SOURCES[0].key.to_owned(),
        ..Built::default()
    })
}

fn about(report: &Report, built: &Built) -> Group {
    Group::new(
        "Report",
        vec![
            Input::text("label", "Name")
                .value(&report.label)
                .max(200)
                .placeholder("Visits by company")
                .required()
                .wide(),
            Input::hidden("source", &built.source),
        ],
    )
}

fn grouping(source: &Source, built: &Built) -> Group {
    let groups = source.groups();
    let group = |at: usize, label: &'static str| {
        let chosen = built.group.get(at).map_or("", String::as_str);
        let none = std::iter::once((String::new(), "–".to_owned()));
        let offered = none.chain(groups.iter().cloned());
        let offered = offered.map(|(key, words)| Choice::named(&key, words, key == chosen));
        Input::select(format!("group{at}"), label, offered)
    };
    let numbers = source.measures.iter().map(|measure| {
        let is_chosen = built.numbers.iter().any(|known| known == measure.key);
        let is_first = built.group.is_empty() && measure.key == source.measures[0].key;
        Choice::new(measure.key, measure.label, is_chosen || is_first)
    });
    Group::new(
        "Group and count",
        vec![
            group(0, "Group by"),
            group(1, "and by"),
            Input::checks("number", "Numbers of each group", numbers),
        ],
    )
    .help("Leave “Group by” empty for a list.")
}

fn listing(source: &Source, built: &Built) -> Group {
    let columns = source.columns.iter().map(|column| {
        let is_chosen = built.columns.iter().any(|known| known == column.key);
        Choice::new(column.key, column.label, is_chosen)
    });
    Group::new(
        "List",
        vec![Input::checks("column", "Columns, where it is not grouped", columns).folded()],
    )
}

fn filtering(source: &Source, built: &Built, offered: &[String]) -> Group {
    let spare = std::iter::repeat_with(Filter::default).take(SPARE_ROWS);
    let rows = built.filters.iter().cloned().chain(spare);
    let inputs = rows.take(FILTERS_MAX).enumerate().flat_map(|(at, filter)| {
        let none = Choice::new("", "–", filter.column.is_empty());
        let columns = source
            .columns
            .iter()
            .map(|column| Choice::new(column.key, column.label, column.key == filter.column));
        let comparisons = Comparison::ALL.iter().map(|(is, name, words)| {
            let words = match is {
                Comparison::From => t("reports-from"),
                Comparison::To => t("reports-to"),
                _ => say(words),
            };
            Choice::new(*name, words, *is == filter.is)
        });
        [
            Input::select(
                format!("filter{at}"),
                "Only where",
                std::iter::once(none).chain(columns),
            ),
            Input::select(format!("is{at}"), "Comparison", comparisons),
            Input::text(format!("value{at}"), "Value")
                .value(shown_value(source, &filter))
                .max(200)
                .offered(offered),
        ]
    });
    Group::new("Filter", inputs.collect()).rows_of(3).help(
        "All conditions hold. Times are those of the event, such as 2026-11-21 or 2026-11-21 09:30; Arrived is yes \
         or no.",
    )
}

fn showing(source: &Source, built: &Built) -> Group {
    let mut keys: Vec<(String, String)> = Vec::new();
    let groups = source.groups().into_iter();
    let groups = groups.map(|(key, words)| (key.replace('.', "_"), words));
    let columns = source.columns.iter().map(|one| (one.key, one.label));
    let measures = source.measures.iter().map(|one| (one.key, one.label));
    let named = columns.chain(measures);
    let named = named.map(|(key, words)| (key.to_owned(), say(words)));
    for (key, words) in groups.chain(named) {
        if keys.iter().all(|(known, _)| *known != key) {
            keys.push((key, words));
        }
    }
    let (key, is_descending) = match built.sort.strip_prefix('-') {
        Some(key) => (key, true),
        None => (built.sort.as_str(), false),
    };
    let usual = Choice::new("", "as usual", key.is_empty());
    let keys = keys
        .into_iter()
        .map(|(known, words)| Choice::named(&known, words, known == key));
    let ways = [("up", "ascending"), ("down", "descending")];
    let charts = [
        ("", say("as suits it")),
        ("bar", say("bars")),
        ("line", say("line")),
        ("none", t("reports-no-chart")),
    ];
    Group::new(
        "Order and chart",
        vec![
            Input::select("sort", "Sort by", std::iter::once(usual).chain(keys))
                .help("As usual: the highest number first, times in their order."),
            Input::select(
                "way",
                "Direction",
                choices(ways, if is_descending { "down" } else { "up" }),
            ),
            Input::select("chart", "Chart", choices(charts, &built.chart)),
            Input::number("limit", "Rows at the most", 1, LIMIT_MAX)
                .value(
                    built
                        .limit
                        .map_or_else(String::new, |limit| limit.to_string()),
                )
                .help("Empty: all."),
        ],
    )
}

/// The value of a filter in the language of the page, where it is a word of the server.
fn shown_value(source: &Source, filter: &Filter) -> String {
    let column = source.column(&filter.column);
    if column.is_some_and(|column| column.kind.is_of_words()) {
        say(&filter.value)
    } else {
        filter.value.clone()
    }
}

/// The value of a filter as it is stored, of what was typed in the language of the page.
fn stored_value(source: Option<&Source>, column: &str, typed: &str) -> String {
    let column = source.and_then(|source| source.column(column));
    let known = match column.map(|column| column.kind) {
        Some(ColumnKind::Flag) => vec!["yes", "no"],
        Some(ColumnKind::Activity) => TYPES.iter().map(|one| one.label).collect(),
        Some(ColumnKind::PlaceType) => TYPES_OF_PLACES.iter().map(|(name, _)| *name).collect(),
        _ => Vec::new(),
    };
    let folded = fold(typed);
    let mut known = known.into_iter();
    let found = known.find(|known| {
        let said = say(known);
        said != *known && fold(&said) == folded
    });
    found.unwrap_or(typed).to_owned()
}

/// Names that filters are often about.
fn offered(connection: &Connection, source: &Source) -> Result<Vec<String>> {
    let mut offered = vec![say("yes"), say("no")];
    if source.key == "activity" {
        offered.extend(TYPES.iter().map(|one| say(one.label)));
    }
    if ["activity", "attendees"].contains(&source.key) {
        offered.extend(delegates::types(connection)?);
    }
    if ["activity", "places"].contains(&source.key) {
        let places = devices::places(connection)?.into_iter();
        offered.extend(places.map(|place| place.name));
    }
    offered.truncate(OFFERED_MAX);
    Ok(offered)
}

impl Editor for Builder {
    type Key = Address;
    type Draft = Report;
    type Created = Report;
    const LIST: &'static str = Reports::LIST;
    const NOUN: &'static str = Reports::NOUN;
    const AREA: Area = Reports::AREA;

    fn blank(request: &RequestContext) -> Report {
        begun(&request.query)
    }

    fn find(connection: &Connection, key: &Address) -> Result<Report> {
        let report = Reports::find(connection, key)?;
        if report.built.is_none() {
            let message = "this report is written in SQL";
            return Err(Error::new(Kind::NoSuchPath, message));
        }
        Ok(report)
    }

    fn name(draft: &Report) -> String {
        draft.label.clone()
    }

    fn groups(connection: &Connection, _: Option<&Address>, report: &Report) -> Groups {
        let built = choices_of(report);
        let source = built.source()?;
        Ok(vec![
            about(report, &built),
            grouping(source, &built),
            listing(source, &built),
            filtering(source, &built, &offered(connection, source)?),
            showing(source, &built),
        ])
    }

    fn typed(_: &[Group], form: &Fields) -> Result<Report> {
        let filled = |name: String| form.filled(&name).map(ToOwned::to_owned);
        let source = Source::find(form.text("source"));
        let filter = |at: usize| {
            let comparison = Comparison::named(form.text(&format!("is{at}")));
            let column = filled(format!("filter{at}"))?;
            Some(Filter {
                value: stored_value(source, &column, form.text(&format!("value{at}"))),
                is: comparison.unwrap_or_default(),
                column,
            })
        };
        let group: Vec<String> = (0..GROUPS_MAX)
            .filter_map(|at| filled(format!("group{at}")))
            .collect();
        let is_list = group.is_empty();
        let all = |name: &str, is_wanted: bool| -> Vec<String> {
            let sent = form.iter().filter(|(known, _)| *known == name && is_wanted);
            sent.map(|(_, value)| value.to_owned()).collect()
        };
        let built = Built {
            source: form.text("source").to_owned(),
            columns: all("column", is_list),
            filters: (0..FILTERS_MAX).filter_map(filter).collect(),
            numbers: all("number", !is_list),
            group,
            sort: match form.filled("sort") {
                Some(key) if form.text("way") == "down" => format!("-{key}"),
                key => key.unwrap_or_default().to_owned(),
            },
            chart: form.text("chart").to_owned(),
            limit: form.number("limit")?,
        };
        let report = Report {
            label: form.text("label").to_owned(),
            ..begun(form)
        };
        report.built(built).map_err(at_input)
    }

    async fn prepare(at: At<'_, Self>, draft: Report) -> Result<Report> {
        let layout = at.request.layout("", None);
        if at.key.is_some() && !may_edit(&layout, at.stored) {
            let message = "an API client fetches this report: an administrator may change it";
            return Err(Error::invalid(message));
        }
        if draft.label.is_empty() {
            return Err(Error::field("label", "must be filled in"));
        }
        let draft = Report {
            dashboard: at.stored.dashboard.clone(),
            id: match at.key {
                Some(_) => at.stored.id.clone(),
                None => slug(&draft.label),
            },
            api_clients: at.stored.api_clients.clone(),
            ..draft
        };
        draft.check(at.request.console.store.path())?;
        Ok(draft)
    }

    fn create(tx: &Tx<'_>, ctx: &Context, draft: &Report) -> Result<Report> {
        let report = Report {
            id: reports::free_id(tx, &draft.dashboard, &draft.id)?,
            ..draft.clone()
        };
        reports::create(tx, ctx, &report)?;
        Ok(report)
    }

    fn update(tx: &Tx<'_>, ctx: &Context, key: &Address, draft: &Report) -> Result<()> {
        Reports::update(tx, ctx, key, draft)
    }

    fn created(request: &RequestContext, _: Report, made: Report) -> Result<Response> {
        request.done("Report created.", &path(&made))
    }

    fn saved(request: &RequestContext, key: &Address, draft: &Report) -> Result<Response> {
        Reports::saved(request, key, draft)
    }

    fn page(key: &Address) -> String {
        Reports::page(key)
    }

    fn last_actor(connection: &Connection, key: &Address) -> Result<String> {
        Reports::last_actor(connection, key)
    }

    fn buttons(_: Option<&Address>, _: &Report) -> Vec<Button> {
        vec![Button::new("try", "Preview").lives().at_once()]
    }

    async fn press(at: At<'_, Self>, draft: Report, _: &str) -> Result<Outcome> {
        Outcome::shown(&try_out(at.request, draft).await?)
    }

    async fn aside(at: At<'_, Self>) -> Result<String> {
        let built = choices_of(at.stored);
        let rows = at.request.look_up(|connection| built.rows(connection))?;
        let seconds = rows / ROWS_OF_SECOND;
        answer::part(&Aside {
            layout: at.layout,
            source: built.source()?,
            slow: (seconds >= SECONDS_MAX).then_some((rows, seconds)),
            report: at
                .key
                .map(|key| (Self::page(key), at.stored.label.as_str())),
        })
    }
}

/// Runs a report that is not saved.
async fn try_out(request: &RequestContext, report: Report) -> Result<Tried> {
    let values = Values::read(&report.parameters, &report.fixed, &[])?;
    let made = reports::preview(request.console.app(), &report, values, DRAWN_MAX).await;
    let mut made = made.map_err(|cause| match cause.kind {
        Kind::Defect => cause,
        _ => Error {
            kind: Kind::Invalid,
            ..cause
        },
    })?;
    let offers = Offers::new(&made);
    let kind = choices_of(&report).chart;
    let chart = Chart::draw(&made, &offers, &kind, "");
    made.cut(SHOWN_MAX);
    made.read_well();
    Ok(Tried { made, chart })
}

/// Names the input of a choice that is at fault.
fn at_input(cause: Error) -> Error {
    let Some(first) = cause.field.first() else {
        return cause;
    };
    let row = first
        .strip_prefix("filters[")
        .and_then(|rest| rest.split(']').next());
    let field = match (first.as_str(), row) {
        ("columns", _) => "column".to_owned(),
        ("numbers", _) => "number".to_owned(),
        ("group", _) => "group0".to_owned(),
        (_, Some(row)) => match cause.field.get(1).map(String::as_str) {
            Some("column") => format!("filter{row}"),
            Some("is") => format!("is{row}"),
            _ => format!("value{row}"),
        },
        (other, None) => other.to_owned(),
    };
    Error {
        field: vec![field],
        ..cause
    }
}

/// A name as a part of an address.
fn slug(label: &str) -> String {
    let mut slug = String::new();
    for letter in crate::types::text::fold(label).chars() {
        if letter.is_ascii_alphanumeric() {
            slug.push(letter);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.truncate(50);
    match slug.trim_end_matches('-') {
        "" => "report".to_owned(),
        slug => slug.to_owned(),
    }
}
