//! Things that need attention, the most urgent first: each with its reason, and one thing to do about it. Gates and
//! apps are in `gates`.

mod gates;

use crate::admin::prelude::*;
use crate::{
    admin::{
        Console,
        deliveries::problems,
        layout::{bytes, number},
    },
    core::{
        head_office::venue::{LineState, Way},
        settings::notices,
    },
    db::integrity::Condition,
    domain::{
        devices,
        erasure::anonymous,
        gate::fleet,
        interactions::{
            inside::Occupied,
            log::{conflicts_since, lines::newest_conflicts},
            refusals,
        },
        printing::{jobs, printers},
        sales::inconsistencies,
    },
    identity::{App, ConsoleRole},
    ops::backup::ledger::{self, Purpose},
    types::DeviceId,
};

/// Refusals at a full place are told as far back as this.
const LATELY_MS: i64 = 5 * 60_000;
const DISK_LOW_BYTES: u64 = 1 << 30;

/// The time that is left to act.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    Now,
    Soon,
    Later,
}

/// Something that needs somebody.
pub struct Item {
    /// Stays the same while it is listed.
    pub key: String,
    pub urgency: Urgency,
    pub icon: &'static str,
    pub subject: String,
    /// The trouble with it; follows the subject.
    pub text: String,
    /// Further advice.
    pub help: String,
    pub action: Option<Press>,
}

/// The one thing to do.
pub struct Press {
    pub label: &'static str,
    pub path: String,
    /// Until when what was shown is settled: a form in place of a link.
    pub until: Option<i64>,
    role: ConsoleRole,
}

impl Item {
    /// The class of its row.
    #[must_use]
    pub fn class(&self) -> &'static str {
        match self.urgency {
            Urgency::Now => "urgent",
            Urgency::Soon => "urgent soon",
            Urgency::Later => "urgent later",
        }
    }

    /// The tone of its symbol.
    #[must_use]
    pub fn tone(&self) -> &'static str {
        match self.urgency {
            Urgency::Now => "bad",
            Urgency::Soon => "warn",
            Urgency::Later => "",
        }
    }

    /// Makes an item about something that the server has a word for.
    fn new(
        key: impl Into<String>,
        urgency: Urgency,
        icon: &'static str,
        subject: impl AsRef<str>,
    ) -> Self {
        Self::named(key, urgency, icon, say(subject))
    }

    /// Makes an item about something that people named.
    fn named(
        key: impl Into<String>,
        urgency: Urgency,
        icon: &'static str,
        subject: impl Into<String>,
    ) -> Self {
        Self {
            key: key.into(),
            urgency,
            icon,
            subject: subject.into(),
            text: String::new(),
            help: String::new(),
            action: None,
        }
    }

    fn text(mut self, text: impl Into<String>) -> Self {
        self.text = text.into();
        self
    }

    fn help(mut self, help: impl Into<String>) -> Self {
        self.help = help.into();
        self
    }

    fn go(mut self, role: ConsoleRole, label: &'static str, path: impl Into<String>) -> Self {
        self.action = Some(Press {
            label,
            path: path.into(),
            until: None,
            role,
        });
        self
    }

    fn settle(mut self, label: &'static str, path: &str, until: i64) -> Self {
        self = self.go(ConsoleRole::Administrator, label, path);
        if let Some(press) = &mut self.action {
            press.until = Some(until);
        }
        self
    }
}

/// Lists what needs somebody; actions that the user may not take are left out.
pub fn list(
    console: &Console,
    layout: &Layout,
    connection: &Connection,
    inside: &[Occupied],
    now: Timestamp,
) -> Result<Vec<Item>> {
    let app = console.app();
    let mut items = file(app);
    items.extend(notices(layout, connection)?);
    items.extend(disk(app));
    items.extend(replica(app));
    items.extend(head_office(&app.head_office.state(), now));
    let mut watched = fleet::watched(connection, app, now)?;
    watched.retain(|gate| gate.is_gate);
    items.extend(gates::of_gates(&watched, layout, now));
    items.extend(gates::of_apps(connection, &watched, now)?);
    for (name, reason) in console.readers.down() {
        let reader = Item::named(format!("reader-{name}"), Urgency::Now, "offline", name);
        items.push(reader.text("is down").help(reason).go(
            ConsoleRole::Operator,
            "Show readers",
            "/console/readers",
        ));
    }
    items.extend(full(connection, inside, now)?);
    items.extend(scans(app, connection, now)?);
    for problem in problems(connection, layout)? {
        let failing = Item::named(
            format!("to-{}", problem.destination),
            Urgency::Soon,
            "deliveries",
            problem.label,
        );
        let failing = if problem.destination.starts_with(printers::DESTINATION) {
            failing.text("does not print").help(problem.text).go(
                ConsoleRole::Operator,
                "Show printing",
                "/console/printing",
            )
        } else {
            failing.text("cannot be delivered").help(problem.text).go(
                ConsoleRole::Operator,
                "Show deliveries",
                "/console/deliveries",
            )
        };
        items.push(failing);
    }
    items.extend(unknown_badges(connection)?);
    items.extend(backups(app, layout, connection, now)?);
    items.extend(retention(app, layout, connection, now)?);
    items.extend(records(connection)?);
    items.sort_by_key(|item| item.urgency);
    for item in &mut items {
        item.action = item.action.take().filter(|press| layout.has(press.role));
    }
    Ok(items)
}

/// Badges of which nobody knows whether they were printed.
fn unknown_badges(connection: &Connection) -> Result<Option<Item>> {
    let count = jobs::unknown(connection)?;
    let subject = match count {
        1 => "1 badge".to_owned(),
        count => format!("{count} badges"),
    };
    Ok((count > 0).then(|| {
        Item::new("badges", Urgency::Soon, "print", subject)
            .text("may or may not have been printed")
            .help("The connection broke off. Look at the printer, and say what became of them.")
            .go(ConsoleRole::Operator, "Show printing", "/console/printing")
    }))
}

/// Attendees who become anonymous within a week.
fn retention(
    app: &App,
    layout: &Layout,
    connection: &Connection,
    now: Timestamp,
) -> Result<Option<Item>> {
    let due = anonymous::due(connection, &app.settings(), now)?;
    let Some(due) = due.filter(|due| due.is_near(now)) else {
        return Ok(None);
    };
    let people = anonymous::count(connection, due.until)?;
    Ok((people > 0).then(|| {
        let at = layout.minute(&due.at);
        Item::new("anonymous", Urgency::Later, "delegates", format!("{} attendees", number(people)))
            .text(format!("become anonymous at {at}"))
            .help("Their names, codes, messages and free texts go, as the setting says; counts and reports stay.")
            .go(ConsoleRole::Administrator, "Show retention", "/console/settings/retention")
    }))
}

/// Faults of the file.
fn file(app: &App) -> Vec<Item> {
    let item = |key: &str, subject: &str, help: String| {
        Item::new(key, Urgency::Now, "stop", subject).help(help)
    };
    let lost = app.store.lost().map(|path| {
        let help = format!(
            "{} was removed, renamed, replaced, overwritten or cut short. Check-ins are refused. Stop the server, put the file back or restore a backup, and start it again.",
            path.display()
        );
        item("lost", "Nothing is stored any more", help)
    });
    let damaged = match app.store.integrity().condition() {
        Condition::Damaged(_, lines) => Some(lines.join("; ")),
        Condition::Sound(_) | Condition::Unchecked => app
            .store
            .stats()
            .has_damage()
            .then(|| "it could not be read or written".to_owned()),
    };
    let damaged = damaged.map(|why| {
        let help = format!(
            "{}. Run gatepost check, which says what to do, and keep the last sound backup.",
            answer::capital(&why)
        );
        item("damaged", "The database file is damaged", help)
    });
    let unmarked = (!app.store.usage().is_marked()).then(|| {
        let help = "Until it ends, a copy of the file would not tell that it lacks its log: copy it with gatepost backup only.";
        item("unmarked", "Another program reads an older state of the database file", help.to_owned())
    });
    lost.into_iter().chain(damaged).chain(unmarked).collect()
}

/// Incidents with the file that nobody acknowledged, and places that an upgrade closed to those who are not registered.
fn notices(layout: &Layout, connection: &Connection) -> Result<Vec<Item>> {
    let notices = notices::list(connection)?.into_iter().map(|notice| {
        let at = layout.time(&Timestamp(notice.at));
        Item::new(format!("notice-{}", notice.at), Urgency::Now, "stop", at)
            .help(notice.what)
            .settle("Acknowledge", "/console/dashboard/acknowledge", notice.at)
    });
    let mut items: Vec<Item> = notices.collect();
    let closed = devices::closed_by_upgrade(connection)?;
    if !closed.is_empty() {
        let names: Vec<_> = closed.iter().map(|(_, name)| name.as_str()).collect();
        let help = format!(
            "{}. A place above them does. To admit everybody as before, set the rule set of the place to Everybody with a known code.",
            names.join(", ")
        );
        let item = Item::new("closed", Urgency::Soon, "places", places(closed.len()));
        items.push(
            item.text("admit registered attendees only, since the upgrade")
                .help(help)
                .settle("Dismiss", "/console/dashboard/closed", 0),
        );
    }
    Ok(items)
}

fn places(count: usize) -> String {
    if count == 1 {
        "1 place".to_owned()
    } else {
        format!("{count} places")
    }
}

fn disk(app: &App) -> Option<Item> {
    let free = super::disk_free(app)?;
    (free < DISK_LOW_BYTES).then(|| {
        Item::new("disk", Urgency::Now, "warn", "The disk")
            .text(format!("is nearly full: {} free", bytes(free)))
            .help("Below 128 MiB the server is not ready. Remove what is not needed.")
    })
}

/// A second machine that does not follow, or that took over.
fn replica(app: &App) -> Option<Item> {
    if let Some(why) = app.store.stats().stopped() {
        let item = Item::new(
            "replaced",
            Urgency::Now,
            "stop",
            "Another machine took over",
        );
        return Some(item.help(answer::capital(why)));
    }
    let why = app.replication.get()?.warning()?;
    let item = Item::new("replica", Urgency::Now, "warn", "The second machine");
    Some(item.text("does not follow").help(format!(
        "{}. Until it does, gates keep their scans, and a takeover would lose what others recorded since.",
        answer::capital(&why)
    )))
}

/// A head office that is out of reach, or refuses this server, for more than a minute.
fn head_office(line: &LineState, now: Timestamp) -> Option<Item> {
    let minutes = (now.0 - line.cut_since?.0) / 60_000;
    let item = Item::new("head-office", Urgency::Later, "offline", "The head office");
    let text = format!("has been out of reach for {} min", number(minutes));
    let why = line.trouble[Way::Up as usize].as_deref();
    let why = why.map_or_else(String::new, |why| format!("{}. ", answer::capital(why)));
    let help = format!("{why}Check-ins go on, and what happens is pushed when the line is back.");
    let item = item.text(text).help(help);
    (minutes > 0).then(|| {
        item.go(
            ConsoleRole::Administrator,
            "Show head office",
            "/console/settings/head-office",
        )
    })
}

/// Places that take nobody more.
fn full(connection: &Connection, inside: &[Occupied], now: Timestamp) -> Result<Vec<Item>> {
    let mut items = Vec::new();
    for place in inside
        .iter()
        .filter(|place| !place.is_over && place.is_nearly_full())
    {
        let capacity = place.capacity.unwrap_or_default();
        let edit = format!("/console/devices/{}/edit", place.id);
        let of = format!("{} of {}", number(place.inside), number(capacity));
        let item = if place.is_full() {
            let since = Timestamp(now.0 - LATELY_MS);
            let refused = refusals::count_since(connection, DeviceId(place.id), since)?;
            let item = Item::named(
                format!("full-{}", place.id),
                Urgency::Now,
                "stop",
                &place.name,
            );
            let item = item.text(format!("is full: {of}"));
            if refused > 0 {
                item.help(format!("{} refused in the last 5 minutes", number(refused)))
            } else {
                item
            }
        } else {
            let left = number(place.left().unwrap_or_default());
            let item = Item::named(
                format!("full-{}", place.id),
                Urgency::Soon,
                "places",
                &place.name,
            );
            item.text(format!("is nearly full: {left} left, {of}"))
        };
        items.push(item.go(ConsoleRole::Operator, "Change capacity", edit));
    }
    Ok(items)
}

/// Scans that somebody has to decide about.
fn scans(app: &App, connection: &Connection, now: Timestamp) -> Result<Vec<Item>> {
    let mut items = Vec::new();
    let waiting = refusals::count_waiting(connection)?;
    if waiting > 0 {
        let scans = if waiting == 1 {
            "1 scan".to_owned()
        } else {
            format!("{} scans", number(waiting))
        };
        items.push(
            Item::new("waiting", Urgency::Soon, "import", scans)
                .text("of unknown codes, let in")
                .help("They are recorded as soon as a list brings attendees with these codes.")
                .go(ConsoleRole::Operator, "Import a list", "/console/import"),
        );
    }
    let conflicts = conflicts_since(connection, app.settings().zone.midnight(now))?;
    if conflicts > 0 {
        let newest = newest_conflicts(connection, 1)?;
        let help = newest.first().map_or_else(String::new, |line| {
            let why = line
                .message
                .as_deref()
                .map(answer::capital)
                .unwrap_or_default();
            format!("{} at {}: {why}", line.delegate, line.device)
        });
        let subject = if conflicts == 1 {
            "1 conflict".to_owned()
        } else {
            format!("{} conflicts", number(conflicts))
        };
        items.push(
            Item::new("conflicts", Urgency::Later, "merge", subject)
                .text("today: a gate admitted whom the rules refuse")
                .help(help)
                .go(
                    ConsoleRole::Viewer,
                    "Review",
                    "/console/interactions/conflicts",
                ),
        );
    }
    Ok(items)
}

/// Backups that failed, or are missing.
fn backups(
    app: &App,
    layout: &Layout,
    connection: &Connection,
    now: Timestamp,
) -> Result<Option<Item>> {
    const PAGE: &str = "/console/settings/backups";
    let Some(plan) = &app.settings().backups else {
        return Ok(None);
    };
    let item = |text: String| {
        let item = Item::new("backup", Urgency::Soon, "backups", "The scheduled backup");
        item.text(text)
            .go(ConsoleRole::Administrator, "Show backups", PAGE)
    };
    let last = ledger::last(connection, Purpose::Scheduled)?;
    if let Some(why) = last.as_ref().and_then(|last| last.failure.clone()) {
        return Ok(Some(item("failed".to_owned()).help(why)));
    }
    // Late by as much as the time between two.
    let late_ms = 2 * i64::from(plan.every_minutes) * 60_000;
    let made = last.filter(|last| now.0 - last.started_at.0 > late_ms);
    Ok(made.map(|last| {
        item(format!(
            "is late: the last one is of {}",
            layout.clock(&last.started_at)
        ))
    }))
}

/// Records that do not add up.
fn records(connection: &Connection) -> Result<Option<Item>> {
    let open = inconsistencies::waiting(connection)?;
    Ok((open > 0).then(|| {
        let (subject, text) = if open == 1 {
            ("1 purchase".to_owned(), "does not add up")
        } else {
            (format!("{} purchases", number(open)), "do not add up")
        };
        Item::new("sales", Urgency::Later, "sales", subject)
            .text(text)
            .go(
                ConsoleRole::Viewer,
                "Review",
                "/console/sales/inconsistencies",
            )
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urgency_is_the_order() {
        let mut order = [Urgency::Later, Urgency::Now, Urgency::Soon];
        order.sort();
        assert_eq!(order, [Urgency::Now, Urgency::Soon, Urgency::Later]);
    }

    #[test]
    fn a_head_office_out_of_reach_is_listed_after_a_minute() {
        let (now, mut line) = (Timestamp(10_000_000), LineState::default());
        // Not joined, or connected.
        assert!(head_office(&line, now).is_none());
        line.cut_since = Some(Timestamp(now.0 - 59_000));
        assert!(head_office(&line, now).is_none());
        line.cut_since = Some(Timestamp(now.0 - 125_000));
        line.trouble[Way::Up as usize] = Some("nobody answers".to_owned());
        let item = head_office(&line, now).unwrap();
        assert_eq!(item.text, "has been out of reach for 2 min");
        assert!(item.help.starts_with("Nobody answers. Check-ins go on"));
    }
}
