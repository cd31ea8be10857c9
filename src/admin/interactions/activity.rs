//! Activity: what happened, the newest first, all the way back: a sentence a row. What machines repeat is folded, and
//! an import is one row.

use super::{export, filter::Filter};
use crate::admin::prelude::*;
use crate::{
    admin::filter::query,
    db::Store,
    domain::{
        devices,
        interactions::{
            log::{
                Counts, Entry, Found, Many, PAGE, find, find::Finder, heads::Position, lines::Line,
            },
            types::TYPES,
            undo::Caller,
        },
    },
    types::text,
};

const PATH: &str = "/console/interactions";
const UNDONE: &str = "/console/interactions/undone";
/// Entries that the export reads at a time.
const SLICE: usize = 500;

#[derive(Template)]
#[template(path = "interactions/activity.html")]
struct Page {
    layout: Layout,
    list: List,
    counts: Counts,
    entries: Vec<Entry>,
    /// Nothing was found as far as was looked.
    looked_in_vain: bool,
    /// The address of the stream; none where the page stands still.
    stream: Option<String>,
    export: String,
}

/// Reads the counts of the views, of today.
pub(in crate::admin) fn counts(connection: &Connection, ctx: &Context) -> Result<Counts> {
    Counts::since(connection, ctx.settings.day(Timestamp::now()).begins)
}

/// Notes which entries the user may take back.
pub(super) fn offer_undo(entries: &mut [Entry], caller: Caller) {
    let now = Timestamp::now();
    for line in entries.iter_mut().filter_map(Entry::line_mut) {
        line.offer_undo(caller, now);
    }
}

/// The symbol of a line and its colour.
pub fn symbol(line: &Line) -> (&'static str, &'static str) {
    use crate::domain::interactions::{presence::PresenceChange, types};
    if line.undone.is_some() {
        return ("undo", "");
    }
    if line.is_refused() {
        return if line.waits {
            ("warn", "warn")
        } else {
            ("block", "bad")
        };
    }
    if line.message.is_some() {
        return ("warn", "warn");
    }
    let known = types::find(&line.kind);
    match known.and_then(|known| known.presence_effect.or(known.effect_where_counted)) {
        Some(PresenceChange::Enter) => ("check", "good"),
        Some(PresenceChange::Exit) => ("out", ""),
        Some(_) => ("ticket", ""),
        None if known.is_some_and(|known| !known.postable) => ("swap", ""),
        None => ("interactions", ""),
    }
}

/// The code of a refusal as somebody scanned it.
pub fn scanned(line: &Line) -> &str {
    match line.delegate_id {
        Some(_) => &line.delegate,
        None => line
            .scanned
            .split_once(':')
            .map_or(&line.scanned, |(_, code)| code),
    }
}

/// The address of a list of what machines repeated, one by one.
pub fn one_by_one(many: &Many) -> String {
    let query = query(&[("many", many.words), ("before", &many.position())]);
    format!("{PATH}?{query}")
}

/// Returns the word for the rows of an import.
pub fn rows_of(kind: &str) -> &'static str {
    match kind {
        "delegates" => "attendees",
        "devices" => "places",
        _ => "interactions",
    }
}

pub(super) async fn show(request: RequestContext) -> Result<Response> {
    page(request, false).await
}

/// Shows what was taken back.
pub(super) async fn undone(request: RequestContext) -> Result<Response> {
    page(request, true).await
}

async fn page(request: RequestContext, undone: bool) -> Result<Response> {
    let ctx = request.context();
    let zone = ctx.settings.zone.clone();
    let (mut filter, mut failure) = Filter::read(&request.query, &zone);
    filter.undone = undone;
    let before = request.query.filled("before").and_then(Position::parse);
    let (caller, asked) = (request.caller()?, filter.clone());
    let (found, at, counts) = request
        .read(move |connection| {
            let at = Position::newest(connection)?;
            let found = asked
                .prepare(connection, &zone)
                .and_then(|finder| find(connection, &finder, before.unwrap_or(at), PAGE, &zone));
            let found = match found {
                Err(cause) if is_about_search(&cause) => Err(cause),
                found => Ok(found?),
            };
            Ok((found, at, counts(connection, &ctx)?))
        })
        .await?;
    let mut found = found.unwrap_or_else(|cause| {
        failure = Some(text::sentence(&format!(
            "this search cannot be run: {cause}"
        )));
        Found::default()
    });
    offer_undo(&mut found.entries, caller);
    let mut list = List::new(&request, inputs(&request, &filter)?, "before");
    list.failure = failure;
    list.next = found.next.map(Position::shown);
    let live = before.is_none() && !undone && list.failure.is_none();
    let title = if undone { "Undone" } else { "Activity" };
    let page = Page {
        layout: request.layout(title, Some(Area::Interactions)),
        counts,
        looked_in_vain: found.entries.is_empty() && found.next.is_some(),
        entries: found.entries,
        stream: live.then(|| format!("{PATH}/stream?{}", list.with("after", &at.shown()))),
        export: format!(
            "{}/export?{}",
            if undone { UNDONE } else { PATH },
            list.with("", "")
        ),
        list,
    };
    answer::form_page(page.list.failure.is_some(), &page)
}

/// The filters above the list.
fn inputs(request: &RequestContext, filter: &Filter) -> Result<Vec<Input>> {
    let devices = request.look_up(devices::offers)?.into_iter();
    let devices = devices.map(|device| Choice::named(device.id.to_string(), device.name, false));
    let all = || std::iter::once(Choice::from(("", "all")));
    let kinds = TYPES.iter().map(|one| Choice::from((one.name, one.label)));
    // A type of a client's own.
    let own = Some(&filter.kind)
        .filter(|kind| !kind.is_empty() && TYPES.iter().all(|one| one.name != **kind));
    let own = own.map(|kind| Choice::named(kind, kind, false));
    let mut inputs = vec![
        Input::text("delegate", "Attendee or code"),
        Input::select("type", "What", all().chain(kinds).chain(own)),
        Input::select("device", "Place or device", all().chain(devices)),
    ];
    if !filter.undone {
        let help = r#"Such as {"and": [{"==": ["interactionType", "lead"]}, {">=": ["recordedAt", "2026-11-21 08:00:00"]}]}"#;
        inputs.push(
            Input::area("search", "Search, as JSON", 4)
                .code()
                .help(help),
        );
    }
    for (name, is_set) in [
        ("many", !filter.many.is_empty()),
        ("refused", filter.refused),
    ] {
        if is_set {
            inputs.push(Input::hidden(name, ""));
        }
    }
    Ok(inputs)
}

/// Tells if a failure is one of what was typed, to be told beside it.
fn is_about_search(cause: &Error) -> bool {
    matches!(
        cause.kind,
        Kind::InvalidSearch | Kind::NotJson | Kind::Invalid
    )
}

pub(super) async fn export(request: RequestContext) -> Result<Response> {
    send(&request, false)
}

pub(super) async fn export_undone(request: RequestContext) -> Result<Response> {
    send(&request, true)
}

/// Finds the next lines of all activity, each by itself.
fn look(
    connection: &Connection,
    finder: &Finder,
    from: Option<Position>,
    zone: &Zone,
) -> Result<(Vec<Line>, Option<Position>)> {
    let from = from.map_or_else(|| Position::newest(connection), Ok)?;
    let found = find(connection, finder, from, SLICE, zone)?;
    let lines = found.entries.into_iter().filter_map(Entry::into_line);
    Ok((lines.collect(), found.next))
}

/// Writes all activity as CSV.
pub(in crate::admin) fn write_activity(
    store: &Store,
    zone: &Zone,
    out: &mut dyn std::io::Write,
) -> Result<()> {
    export::write_lines(store, zone, out, look)
}

/// Everything that the filter finds, as CSV: each by itself.
fn send(request: &RequestContext, undone: bool) -> Result<Response> {
    let narrow = |filter: &mut Filter| {
        filter.undone = undone;
        filter.single = true;
    };
    export::send(request, "activity", narrow, look)
}
