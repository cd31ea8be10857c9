//! What every page shows around its own part: who is signed in, where one can go, what was just
//! done; and how times and numbers are written.

pub use crate::types::text::{bytes, number};

use super::assets;
use crate::admin::prelude::*;
use crate::{
    core::settings::logo,
    identity::ConsoleRole::{self, Administrator, Operator, Viewer},
};

/// A part of the console, as the navigation names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Area {
    /// What happens now.
    Dashboard,
    /// One place and one field, for whoever checks people in.
    Desk,
    /// The people.
    Delegates,
    /// Rooms, sessions, readers, apps, products, events.
    Devices,
    /// What happened.
    Interactions,
    /// What was bought.
    Sales,
    /// Lists that were defined once.
    Reports,
    /// What is sent to people.
    Messages,
    /// What apps show of the crew's own.
    Content,
    /// Apps that ask to be let in.
    Discovery,
    /// The gates and kiosks.
    Gates,
    /// UHF readers.
    Readers,
    /// What apps are to do.
    Configuration,
    /// Clients and users.
    Access,
    /// The instance.
    Settings,
    /// Deliveries that wait or failed.
    Deliveries,
    /// Who is told by HTTP what happens.
    Webhooks,
    /// Who changed what.
    Audit,
    /// One's own sign-in; not in the navigation.
    Account,
}

/// An area in the navigation: its name, its path below the console (also its symbol in `icons.svg`), and
/// the role that sees it.
type Place = (Area, &'static str, &'static str, ConsoleRole);

const PLACES: [Place; 18] = [
    (Area::Dashboard, "Dashboard", "dashboard", Viewer),
    (Area::Desk, "Desk", "desk", Operator),
    (Area::Delegates, "Attendees", "delegates", Viewer),
    (Area::Devices, "Devices and events", "devices", Viewer),
    (Area::Interactions, "Activity", "interactions", Viewer),
    (Area::Sales, "Sales", "sales", Viewer),
    (Area::Reports, "Reports", "reports", Viewer),
    (Area::Messages, "Messages", "messages", Viewer),
    (Area::Content, "Content", "content", Viewer),
    (Area::Gates, "Gates", "gates", Operator),
    (Area::Readers, "Readers", "readers", Operator),
    (Area::Discovery, "Discovery", "discovery", Operator),
    (
        Area::Configuration,
        "App configuration",
        "configuration",
        Operator,
    ),
    (Area::Webhooks, "Webhooks", "webhooks", Operator),
    (Area::Deliveries, "Deliveries", "deliveries", Operator),
    (Area::Access, "Users and clients", "access", Administrator),
    (Area::Settings, "Settings", "settings", Administrator),
    (Area::Audit, "Audit", "audit", Viewer),
];

/// What the layout shows. Its methods take references, as templates give them.
pub struct Layout {
    /// The page's title.
    pub title: String,
    /// The instance's name.
    pub name: String,
    /// The area that the page belongs to.
    pub area: Option<Area>,
    /// Who is signed in.
    pub current_user: Option<CurrentUser>,
    /// What was just done.
    pub flashes: Vec<answer::Flash>,
    /// The instance's picture, where it has one.
    pub logo: Option<String>,
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
            title: title.to_owned(),
            name: settings.name().to_owned(),
            area,
            current_user: request.current_user.clone(),
            flashes,
            logo: request
                .look_up(logo::since)
                .ok()
                .flatten()
                .map(|since| format!("/logo?v={}", since.0)),
            zone: settings.zone.clone(),
            now: Timestamp::now(),
        }
    }

    /// Where the user can go.
    pub fn places(&self) -> impl Iterator<Item = &'static Place> {
        PLACES.iter().filter(|(.., role)| self.has(*role))
    }

    /// Whether the page is of this area.
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
            Some(Area::Delegates) => "/handbook/prepare#import",
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
        }
    }

    /// Whether the page is of one's own sign-in.
    #[must_use]
    pub fn is_account(&self) -> bool {
        self.is(&Area::Account)
    }

    /// Whether the user is an operator or an administrator.
    #[must_use]
    pub fn operates(&self) -> bool {
        self.has(Operator)
    }

    /// Whether the user is an administrator.
    #[must_use]
    pub fn administers(&self) -> bool {
        self.has(Administrator)
    }

    fn has(&self, role: ConsoleRole) -> bool {
        self.current_user
            .as_ref()
            .is_some_and(|current_user| current_user.role >= role)
    }

    /// What every form carries.
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
        self.zone.plain(*at)
    }

    /// `09:02:00` today, otherwise with its date.
    #[must_use]
    pub fn clock(&self, at: &Timestamp) -> String {
        let (then, now) = (self.zone.plain(*at), self.zone.plain(self.now));
        match (then.split_once(' '), now.split_once(' ')) {
            (Some((day, time)), Some((today, _))) if day == today => time.to_owned(),
            _ => then,
        }
    }

    /// `just now`, `4 min ago`, `3 h ago`, `2 days ago`.
    #[must_use]
    pub fn ago(&self, at: &Timestamp) -> String {
        let seconds = (self.now.0 - at.0) / 1000;
        match seconds {
            ..60 => "just now".to_owned(),
            60..3600 => format!("{} min ago", seconds / 60),
            3600..86_400 => format!("{} h ago", seconds / 3600),
            _ => match seconds / 86_400 {
                1 => "yesterday".to_owned(),
                days => format!("{days} days ago"),
            },
        }
    }

    /// `12,345`.
    #[must_use]
    pub fn number(&self, count: &i64) -> String {
        number(*count)
    }
}
