//! The palette: attendees, places, pages and actions by a few letters. As a part it is what the dialog of every
//! page shows, as a page the same for browsers without scripts.

use super::{desk, layout::Entry};
use crate::admin::prelude::*;
use crate::{
    core::search::Part,
    domain::{
        delegates::{
            find::{Wanted, find},
            overview::Line,
        },
        devices::{self, Offer},
        interactions::judge::DeviceCache,
    },
    identity::ConsoleRole::{self, Administrator, Operator, Viewer},
    types::text::fold,
};

/// Hits of a group.
const HITS: usize = 6;
/// Letters of a code that is shown beside its place: longer ones were not made by people.
const CODE_SHOWN: usize = 20;

/// An action that somebody may look for: its name, other words for it, its address, its symbol, and the role that
/// may.
type Offered = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    ConsoleRole,
);

const ACTIONS: [Offered; 18] = [
    (
        "New message",
        "mail write send list e-mail text",
        "/console/messages/new",
        "mail",
        Operator,
    ),
    (
        "Close the day",
        "end evening numbers everybody out download",
        "/console/day",
        "tick",
        Viewer,
    ),
    (
        "New attendee",
        "add person create",
        "/console/delegates/new",
        "userplus",
        Operator,
    ),
    (
        "New place",
        "add room session create",
        "/console/devices?new=1",
        "plus",
        Operator,
    ),
    (
        "Import a list",
        "csv excel upload",
        "/console/import",
        "import",
        Operator,
    ),
    (
        "Add a gate",
        "connect pair app device qr kiosk",
        "/console/discovery",
        "gates",
        Operator,
    ),
    (
        "Walk-in",
        "walk in walkin register at the door",
        "/console/desk?walkin=1",
        "userplus",
        Operator,
    ),
    (
        "Who may enter",
        "types rules access times",
        "/console/devices/entry",
        "rules",
        Viewer,
    ),
    (
        "Wall display",
        "screen foyer monitor",
        "/console/wall",
        "tv",
        Viewer,
    ),
    (
        "Start evacuation",
        "alarm fire emergency everybody inside",
        "/console#evacuate",
        "warn",
        Operator,
    ),
    (
        "Refusals",
        "refused activity",
        "/console/interactions/refusals",
        "block",
        Viewer,
    ),
    (
        "Conflicts",
        "offline activity",
        "/console/interactions/conflicts",
        "merge",
        Viewer,
    ),
    (
        "Printing",
        "badges printed queue printer jobs",
        "/console/printing",
        "print",
        Operator,
    ),
    (
        "Printers",
        "badge printer label zebra brother",
        "/console/settings/printers",
        "print",
        Administrator,
    ),
    (
        "Badges",
        "layout design pdf print",
        "/console/settings/badges",
        "badges",
        Administrator,
    ),
    (
        "Back up",
        "backups copy file",
        "/console/settings/backups",
        "backups",
        Administrator,
    ),
    (
        "Rehearsal",
        "trial test",
        "/console/settings/rehearsal",
        "undo",
        Administrator,
    ),
    (
        "Your account",
        "password sign-in authenticator",
        "/console/account",
        "person",
        Viewer,
    ),
];

pub(super) fn routes() -> Vec<Route> {
    Routes::access(VIEWER).get("/console/find", show).all()
}

/// Something to open.
struct Hit {
    icon: &'static str,
    name: String,
    about: String,
    href: String,
    /// The key that leads there after `G`.
    key: &'static str,
}

/// The groups that have hits, with their names.
type Hits = Vec<(&'static str, Vec<Hit>)>;

#[derive(Template)]
#[template(path = "find/page.html")]
struct Page {
    layout: Layout,
    q: String,
    hits: Hits,
}

#[derive(Template)]
#[template(path = "find/hits.html")]
struct Results {
    q: String,
    hits: Hits,
}

async fn show(request: RequestContext) -> Result<Response> {
    let layout = request.layout("Find", None);
    let q = request.query.text("q").to_owned();
    let pages = known(&layout, &fold(&q));
    let (words, zone) = (q.clone(), request.console.settings().zone.clone());
    let mut hits = request
        .read(move |connection| records(connection, &words, &zone))
        .await?;
    hits.extend(pages);
    hits.retain(|(_, group)| !group.is_empty());
    // Who types and presses Enter at once gets the first hit.
    let first = hits.first().and_then(|(_, group)| group.first());
    if let Some(first) = first.filter(|_| request.query.ticked("go") && !q.is_empty()) {
        return Ok(answer::go(&first.href));
    }
    if request.is_part() {
        return answer::page(&Results { q, hits });
    }
    answer::page(&Page { layout, q, hits })
}

/// Attendees and places. Places come first where the words begin the name of one and of no attendee.
fn records(connection: &Connection, q: &str, zone: &Zone) -> Result<Hits> {
    if q.is_empty() {
        return Ok(Hits::new());
    }
    let folded = fold(q);
    let (holder, others) = people(connection, q, zone)?;
    let has_holder = holder.is_some();
    let people: Vec<Hit> = holder.into_iter().chain(others).take(HITS).collect();
    let places: Vec<Hit> = devices::matching(connection, &folded, HITS)?
        .into_iter()
        .map(place_hit)
        .collect();
    let is_place = places
        .first()
        .is_some_and(|place| fold(&place.name).starts_with(&folded));
    let is_person = people
        .first()
        .is_some_and(|person| begins_a_word(&fold(&person.name), &folded));
    let mut hits = vec![("Attendees", people), ("Places", places)];
    if is_place && !has_holder && !is_person {
        hits.swap(0, 1);
    }
    Ok(hits)
}

/// The attendee who has the code, and others who match.
fn people(connection: &Connection, q: &str, zone: &Zone) -> Result<(Option<Hit>, Vec<Hit>)> {
    let wanted = Wanted {
        q: q.to_owned(),
        ..Wanted::default()
    };
    let found = find(connection, &wanted, zone, Part::After(0))?;
    let holder = found.holder.map(|holder| Hit {
        icon: "ticket",
        name: holder.name,
        about: q.to_owned(),
        href: format!("/console/delegates/{}", holder.id),
        key: "",
    });
    let folded = fold(q);
    let device_cache = DeviceCache::default();
    let mut people = Vec::new();
    for line in found.lines.into_iter().take(HITS) {
        let (_, _, state) = desk::state(connection, &device_cache, line.id, zone)?;
        let about = [about(&line, &folded), line.kind, Some(state)];
        people.push(Hit {
            icon: "person",
            name: line.name,
            about: about.into_iter().flatten().collect::<Vec<_>>().join(", "),
            href: format!("/console/delegates/{}", line.id),
            key: "",
        });
    }
    if let Some(holder) = &holder {
        people.retain(|hit| hit.href != holder.href);
    }
    Ok((holder, people))
}

fn place_hit(place: Offer) -> Hit {
    Hit {
        icon: icon_of(&place.kind),
        about: match (&*place.kind, place.code.len()) {
            ("", _) => place.code,
            (kind, ..=CODE_SHOWN) => format!("{}, {}", say(kind), place.code),
            (kind, _) => say(kind),
        },
        name: place.name,
        href: format!("/console/devices/{}", place.id),
        key: "",
    }
}

/// Finds a text at the beginning of any word of a name, both folded.
fn begins_a_word(name: &str, text: &str) -> bool {
    name.match_indices(text).any(|(at, _)| {
        let before = name[..at].chars().next_back();
        before.is_none_or(|before| !before.is_alphanumeric())
    })
}

/// The company or the e-mail address of somebody, and in which other property the words were found.
fn about(line: &Line, folded: &str) -> Option<String> {
    let shown = line.company.as_ref().or(line.email.as_ref());
    let seen = [Some(&line.name), shown, line.kind.as_ref()];
    let seen: Vec<String> = seen.into_iter().flatten().map(|text| fold(text)).collect();
    let is_seen = |word: &&str| seen.iter().any(|text| text.contains(word));
    let unseen: Vec<&str> = folded
        .split_whitespace()
        .filter(|word| !is_seen(word))
        .collect();
    let others = [
        &line.email,
        &line.job_title,
        &line.phone,
        &line.barcode,
        &line.external_id,
    ];
    let found = others.into_iter().flatten().find(|text| {
        let text = fold(text);
        unseen.iter().any(|word| text.contains(word))
    });
    let parts = [shown, found].into_iter().flatten().cloned();
    Some(parts.collect::<Vec<_>>().join(", ")).filter(|text| !text.is_empty())
}

/// The symbol of a type of places and devices.
pub fn icon_of(kind: &str) -> &'static str {
    match kind {
        "event" => "programme",
        "room" => "room",
        "session" => "session",
        "sponsor" => "stand",
        "product" | "bookable" => "ticket",
        "rfidreader" => "readers",
        "regoapp" | "mobileapp" => "gates",
        "location" | "group" => "area",
        _ => "places",
    }
}

/// Other words for a page.
fn words(area: Area) -> &'static str {
    match area {
        Area::Desk => "check-in check in checkin",
        Area::Devices => "rooms sessions doors",
        Area::Gates => "kiosks tablets phones scanners",
        _ => "",
    }
}

/// Pages and actions that the user may use and whose name holds a folded text; all pages where it is empty.
fn known(layout: &Layout, folded: &str) -> Hits {
    // In English, too: handbooks and colleagues speak it.
    let is_called = |name: &str| fold(name).contains(folded) || fold(&say(name)).contains(folded);
    let page = |entry: &'static Entry| Hit {
        icon: entry.icon,
        name: say(entry.name),
        about: say(entry.group.name()),
        href: entry.href(),
        key: entry.key,
    };
    let pages = layout
        .entries()
        .filter(|entry| is_called(entry.name) || words(entry.area).contains(folded));
    let actions = ACTIONS.iter().filter(|(name, words, .., role)| {
        layout.has(*role) && (is_called(name) || words.contains(folded))
    });
    let actions = actions.map(|(name, _, href, icon, _)| Hit {
        icon,
        name: say(name),
        about: String::new(),
        href: (*href).to_owned(),
        key: "",
    });
    vec![
        ("Pages", pages.map(page).collect()),
        ("Actions", actions.collect()),
    ]
}
