//! The frame of every page: who is signed in, where one can go, what needs somebody, what was just done; and how times
//! and numbers are written.

pub use crate::core::texts::{bytes, number};

use super::{
    Console, assets,
    shell::{self, Shell},
};
use crate::admin::prelude::*;
use crate::{
    core::settings::logo,
    identity::ConsoleRole::{self, Administrator, Operator, Viewer},
};
use std::sync::{Arc, OnceLock};

/// A part of the console, as the navigation names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Area {
    /// The present state.
    Dashboard,
    /// One place and one field, for whoever checks people in.
    Desk,
    /// The people.
    Delegates,
    /// Rooms, sessions, readers, apps, products, events.
    Devices,
    /// The past: check-ins and other interactions.
    Interactions,
    /// The steps before the doors open.
    Prepare,
    /// Lists that are read in.
    Import,
    /// Purchases.
    Sales,
    /// Lists that were defined once.
    Reports,
    /// Messages to people.
    Messages,
    /// The crew's own content for apps.
    Content,
    /// Apps that ask to be let in.
    Discovery,
    /// The gates and kiosks.
    Gates,
    /// UHF readers.
    Readers,
    /// The settings of apps.
    Configuration,
    /// Clients and users.
    Access,
    /// The instance.
    Settings,
    /// Deliveries that wait or failed.
    Deliveries,
    /// Receivers of events by HTTP.
    Webhooks,
    /// The venues of a head office.
    Venues,
    /// The log of changes and their authors.
    Audit,
    /// One's own sign-in; not in the navigation.
    Account,
}

/// A group of the navigation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Pages that the crew needs while people come; always open.
    Door,
    /// Preparations.
    Prepare,
    /// Pages that keep the server going.
    System,
}

impl Group {
    /// The groups, in the order of the navigation.
    pub const ALL: [Self; 3] = [Self::Door, Self::Prepare, Self::System];

    /// The heading.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Door => "Door",
            Self::Prepare => "Prepare",
            Self::System => "System",
        }
    }
}

/// An area in the navigation.
#[derive(Debug)]
pub struct Entry {
    pub area: Area,
    pub group: Group,
    pub name: &'static str,
    /// The path below the console; empty for its first page.
    path: &'static str,
    /// The symbol in `icons.svg`.
    pub icon: &'static str,
    /// The role that sees it.
    role: ConsoleRole,
    /// The key that leads there after `G`; empty where none does.
    pub key: &'static str,
}

impl Entry {
    /// The address.
    #[must_use]
    pub fn href(&self) -> String {
        format!("/console{}", self.path)
    }
}

const fn entry(
    area: Area,
    group: Group,
    name: &'static str,
    [path, icon, key]: [&'static str; 3],
    role: ConsoleRole,
) -> Entry {
    Entry {
        area,
        group,
        name,
        path,
        icon,
        role,
        key,
    }
}

/// Every area, in the order of the navigation.
#[rustfmt::skip]
static ENTRIES: [Entry; 21] = [
    entry(Area::Dashboard, Group::Door, "Dashboard", ["", "dashboard", "D"], Viewer),
    entry(Area::Venues, Group::Door, "Venues", ["/venues", "online", ""], Viewer),
    entry(Area::Desk, Group::Door, "Desk", ["/desk", "desk", "C"], Operator),
    entry(Area::Delegates, Group::Door, "Attendees", ["/delegates", "delegates", "A"], Viewer),
    entry(Area::Devices, Group::Door, "Places", ["/devices", "places", "P"], Viewer),
    entry(Area::Interactions, Group::Door, "Activity", ["/interactions", "interactions", "V"], Viewer),
    entry(Area::Gates, Group::Door, "Gates", ["/gates", "gates", "G"], Operator),
    entry(Area::Prepare, Group::Prepare, "Checklist", ["/prepare", "tick", ""], Viewer),
    entry(Area::Import, Group::Prepare, "Import", ["/import", "import", ""], Operator),
    entry(Area::Discovery, Group::Prepare, "Discovery", ["/discovery", "discovery", ""], Operator),
    entry(Area::Messages, Group::Prepare, "Messages", ["/messages", "messages", ""], Viewer),
    entry(Area::Content, Group::Prepare, "Content", ["/content", "content", ""], Viewer),
    entry(Area::Readers, Group::Prepare, "Readers", ["/readers", "readers", ""], Operator),
    entry(Area::Reports, Group::Prepare, "Reports", ["/reports", "reports", ""], Viewer),
    entry(Area::Sales, Group::Prepare, "Sales", ["/sales", "sales", ""], Viewer),
    entry(Area::Access, Group::System, "Users and clients", ["/access", "access", ""], Administrator),
    entry(Area::Configuration, Group::System, "App configuration", ["/configuration", "configuration", ""], Operator),
    entry(Area::Webhooks, Group::System, "Webhooks", ["/webhooks", "webhooks", ""], Operator),
    entry(Area::Deliveries, Group::System, "Deliveries", ["/deliveries", "deliveries", ""], Operator),
    entry(Area::Settings, Group::System, "Settings", ["/settings", "settings", ""], Administrator),
    entry(Area::Audit, Group::System, "Audit", ["/audit", "audit", ""], Viewer),
];

/// The areas in the bar of phones, and what it calls them.
const BAR: [(Area, &str); 3] = [
    (Area::Dashboard, "Now"),
    (Area::Desk, "Desk"),
    (Area::Delegates, "Attendees"),
];

/// The content of the layout. Its methods take references, as templates give them.
pub struct Layout {
    /// The page's title.
    pub title: String,
    /// The instance's name.
    pub name: String,
    /// The area that the page belongs to.
    pub area: Option<Area>,
    /// The user who is signed in.
    pub current_user: Option<CurrentUser>,
    /// Messages on what was just done.
    pub flashes: Vec<answer::Flash>,
    /// The groups of the navigation that the user left open; none where they were never touched.
    opened: Option<String>,
    console: Arc<Console>,
    shell: OnceLock<Shell>,
    zone: Zone,
    now: Timestamp,
}

impl Layout {
    pub(super) fn new(request: &RequestContext, title: &str, area: Option<Area>) -> Self {
        let settings = request.console.settings();
        // An unnamed shell is for an error that mostly does not happen: it must not use messages up.
        let flashes = match &request.current_user {
            Some(current_user) if !title.is_empty() && !request.is_part() => {
                answer::flashes(&request.console, current_user.session)
            }
            _ => Vec::new(),
        };
        Self {
            title: say(title),
            name: settings.name().to_owned(),
            area,
            current_user: request.current_user.clone(),
            flashes,
            opened: request.cookie(shell::OPENED).map(ToOwned::to_owned),
            console: Arc::clone(&request.console),
            shell: OnceLock::new(),
            zone: settings.zone.clone(),
            now: Timestamp::now(),
        }
    }

    /// Returns the pages that the user can go to.
    pub fn entries(&self) -> impl Iterator<Item = &'static Entry> {
        let is_here = |entry: &&Entry| entry.area != Area::Venues || self.console.reach.hub;
        ENTRIES
            .iter()
            .filter(|entry| self.has(entry.role))
            .filter(is_here)
    }

    /// The groups of the navigation in which the user can go somewhere.
    pub fn groups(&self) -> impl Iterator<Item = (Group, Vec<&'static Entry>)> {
        let of = |group| self.entries().filter(move |entry| entry.group == group);
        let groups = Group::ALL.map(|group| (group, of(group).collect::<Vec<_>>()));
        groups
            .into_iter()
            .filter(|(_, entries)| !entries.is_empty())
    }

    /// The bar of phones: areas with their name there.
    pub fn bar(&self) -> impl Iterator<Item = (&'static Entry, &'static str)> {
        BAR.iter().filter_map(|(area, name)| {
            let entry = self.entries().find(|entry| entry.area == *area);
            entry.map(|entry| (entry, *name))
        })
    }

    /// Tells whether a group of the navigation is open: as the user left it, otherwise while there is time to
    /// prepare. The one of this page always is.
    #[must_use]
    pub fn is_open(&self, group: &Group) -> bool {
        let own = self.entries().find(|entry| self.is(&entry.area));
        if own.is_some_and(|entry| entry.group == *group) {
            return true;
        }
        match &self.opened {
            Some(opened) => opened.split('.').any(|name| name == group.name()),
            None => !self.shell().is_event_day(),
        }
    }

    /// Tells whether the page has this title, as the source has it.
    #[must_use]
    pub fn is_titled(&self, title: &str) -> bool {
        self.title == say(title)
    }

    /// Returns what the server knows now, read once a page.
    pub fn shell(&self) -> &Shell {
        self.shell
            .get_or_init(|| Shell::read(&self.console, &self.zone, self.now))
    }

    /// The instance's picture, where it has one.
    #[must_use]
    pub fn logo(&self) -> Option<String> {
        let since = self.console.store.look_up(logo::since).ok().flatten()?;
        Some(format!("/logo?v={}", since.0))
    }

    /// Returns when the page was made.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// `09:02`, in the instance's zone.
    #[must_use]
    pub fn clock_now(&self) -> String {
        texts::minute(&self.zone, self.now, self.now)
    }

    /// Returns whether the page is of this area.
    #[must_use]
    pub fn is(&self, area: &Area) -> bool {
        self.area.as_ref() == Some(area)
    }

    /// The page of the handbook that explains this one.
    #[must_use]
    pub fn handbook(&self) -> &'static str {
        match self.area {
            None | Some(Area::Account) => "/handbook",
            Some(Area::Dashboard | Area::Desk | Area::Interactions) => "/handbook/on-the-day",
            Some(Area::Prepare) => "/handbook/prepare",
            Some(Area::Delegates | Area::Import) => "/handbook/prepare#import",
            Some(Area::Devices) => "/handbook/prepare#entry-rules",
            Some(Area::Sales) => "/handbook/prepare#sales",
            Some(Area::Reports) => "/handbook/prepare#reports",
            Some(Area::Messages) => "/handbook/prepare#messages",
            Some(Area::Content) => "/handbook/prepare#content-regions",
            Some(Area::Discovery | Area::Access) => "/handbook/integrate#connect-gate-apps",
            Some(Area::Readers) => "/handbook/readers",
            Some(Area::Gates) => "/handbook/gates#watch-your-gates",
            Some(Area::Configuration) => "/handbook/prepare#app-configuration",
            Some(Area::Settings | Area::Audit) => "/handbook/operate",
            Some(Area::Deliveries) => "/handbook/operate#deliveries",
            Some(Area::Webhooks) => "/handbook/integrate#webhooks",
            Some(Area::Venues) => "/handbook/head-office",
        }
    }

    /// Tells whether the page is of the settings.
    #[must_use]
    pub fn is_settings(&self) -> bool {
        self.is(&Area::Settings)
    }

    /// Tells whether the page is of the places.
    #[must_use]
    pub fn is_places(&self) -> bool {
        self.is(&Area::Devices)
    }

    /// Tells whether the page is of the attendees.
    #[must_use]
    pub fn is_attendees(&self) -> bool {
        self.is(&Area::Delegates)
    }

    /// Returns whether the page is of one's own sign-in.
    #[must_use]
    pub fn is_account(&self) -> bool {
        self.is(&Area::Account)
    }

    /// Returns whether the user is an operator or an administrator.
    #[must_use]
    pub fn operates(&self) -> bool {
        self.has(Operator)
    }

    /// Returns whether the user is an administrator.
    #[must_use]
    pub fn administers(&self) -> bool {
        self.has(Administrator)
    }

    pub(super) fn has(&self, role: ConsoleRole) -> bool {
        self.current_user
            .as_ref()
            .is_some_and(|current_user| current_user.role >= role)
    }

    /// Returns the token that every form carries.
    #[must_use]
    pub fn csrf(&self) -> &str {
        self.current_user
            .as_ref()
            .map_or("", |current_user| &current_user.csrf)
    }

    /// The address of a file in `assets/static`; changes with its content.
    #[must_use]
    pub fn file(&self, name: &str) -> String {
        assets::address(name)
    }

    /// `2026-11-21 09:02:00`, in the instance's zone.
    #[must_use]
    pub fn time(&self, at: &Timestamp) -> String {
        texts::date_time(&self.zone, *at)
    }

    /// `09:02` today, otherwise with its date.
    #[must_use]
    pub fn minute(&self, at: &Timestamp) -> String {
        texts::minute(&self.zone, *at, self.now)
    }

    /// `09:02:00` today, otherwise with its date.
    #[must_use]
    pub fn clock(&self, at: &Timestamp) -> String {
        let [then, now] = [*at, self.now].map(|at| texts::date_time(&self.zone, at));
        match (then.split_once(' '), now.split_once(' ')) {
            (Some((day, time)), Some((today, _))) if day == today => time.to_owned(),
            _ => then,
        }
    }

    /// `just now`, `4 min ago`, `3 h ago`, `2 days ago`.
    #[must_use]
    pub fn ago(&self, at: &Timestamp) -> String {
        texts::ago(*at, self.now)
    }

    /// `12,345`.
    #[must_use]
    pub fn number(&self, count: &i64) -> String {
        texts::number(*count)
    }
}

/// The colour of a state, as its symbol has it.
#[must_use]
pub fn tone(symbol: &str) -> &'static str {
    match symbol {
        "inside" | "tick" | "check" | "online" => "good",
        "warn" | "battery" | "clock" => "warn",
        "block" | "stop" | "offline" => "bad",
        _ => "",
    }
}

/// The percentage of `most`, 100 at the most.
#[must_use]
pub fn share(value: &i64, most: &i64) -> i64 {
    (value.saturating_mul(100) / (*most).max(1)).clamp(0, 100)
}

/// The colour of an amount: from 90 percent of `most` on it is nearly full, from 100 on full.
#[must_use]
pub fn load(value: &i64, most: &i64) -> &'static str {
    match share(value, most) {
        ..90 => "",
        90..100 => "warn",
        _ => "bad",
    }
}
