//! The administration console under `/console` (contract §1): pages that work as plain HTML, made
//! lively by htmx and server-sent events.
//!
//! # Layout
//!
//! - `route` says which paths there are and who may go there, and lets nobody else in
//! - `request` is what a page is given, `upload` the file of a form; `layout` what every page shows
//!   around its own part; `answer` what it may give back
//! - `host`, `session`, `sign_in`, `setup`: who is there; `live`: what happens, as it happens
//! - `shell`: what stands around every page; `find`: the way to everything by a few letters
//! - `engine`: forms of what an administrator sets up, and the form and the pages of lists
//! - `form`, `filter`: what forms, and the forms above lists, have in common; `export`: lists as files
//! - `prelude`: what nearly every page uses
//! - the areas, a folder or file each: routes first, then what is behind them
//!
//! A page reads and writes through the features' own functions; templates are in
//! `assets/templates`, one folder an area.

#![expect(
    clippy::ref_option,
    clippy::trivially_copy_pass_by_ref,
    reason = "templates pass references"
)]

mod access;
mod account;
pub mod answer;
pub mod assets;
mod audit;
mod configuration;
mod content;
mod dashboard;
mod day;
mod delegates;
mod deliveries;
mod desk;
mod devices;
mod discovery;
pub(crate) mod engine;
mod entry_types;
mod evacuation;
mod export;
mod filter;
mod find;
pub(crate) mod form;
mod gates;
mod host;
mod import;
mod interactions;
mod kept;
pub(crate) mod layout;
pub mod live;
mod messages;
pub(crate) mod prelude;
mod prepare;
mod printing;
mod readers;
mod reports;
mod request;
pub mod route;
mod sales;
pub mod session;
mod settings;
mod setup;
mod shell;
mod sign_in;
pub mod upload;
mod webhooks;

pub use layout::{Area, Layout};
pub use request::{CurrentUser, Fields, RequestContext};
pub use route::{Access, Route};
pub use setup::Setup;

use crate::{
    core::keyed::Key,
    domain::{discovery::Discovery, readers::Readers},
    identity::{App, second_factor::Shared, sign_in::Waiting},
    ops::import::uploads::UploadStore,
    types::error::Result,
};
use live::Live;
use std::{
    ops::Deref,
    sync::{Arc, Mutex, OnceLock},
};

/// The ways in which the console may be reached, and whose it is.
#[expect(
    clippy::struct_excessive_bools,
    reason = "options that have nothing to do with each other"
)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Reach {
    /// The server speaks TLS itself.
    pub tls: bool,
    /// Its certificate is its own, from a CA that devices must trust first.
    pub own_ca: bool,
    /// `--console-lan`: from other machines without TLS, too.
    pub lan: bool,
    /// It has the pages of the head office over many venues.
    pub hub: bool,
}

/// The state that every page is given beside its request.
pub struct Console {
    app: App,
    /// The ways in which it may be reached.
    pub reach: Reach,
    /// The first administrator's way in.
    pub setup: Setup,
    /// The stream of what happens.
    pub live: Live,
    /// Apps that ask to be let in.
    pub discovery: Arc<Discovery>,
    /// UHF readers at work.
    pub readers: Arc<Readers>,
    /// Lists that are imported.
    pub imports: Arc<UploadStore>,
    /// The dashboard's parts, for each role.
    dashboard: dashboard::Made,
    /// The wall display.
    wall: live::Shared<[answer::Rendered; 1]>,
    /// Secrets of links to the wall display that were just made.
    wall_made: kept::Kept<String>,
    /// The name of the session's cookie.
    cookie: OnceLock<String>,
    flashes: Mutex<answer::Flashes>,
    /// The walk-in that each session registered last.
    walked_in: kept::Kept<desk::WalkedIn>,
    waiting: Waiting,
    /// Secrets of clients and users that were just made.
    made: kept::Kept<access::Made>,
    /// Authenticator apps that are being set up.
    pairing: kept::Kept<Shared>,
    /// Recovery codes that were just made.
    codes: kept::Kept<Vec<String>>,
}

impl Console {
    /// The console of an application.
    #[must_use]
    pub fn new(app: App, reach: Reach) -> Arc<Self> {
        Arc::new(Self {
            live: Live::new(app.clone()),
            discovery: Discovery::new(app.clone()),
            readers: Readers::new(app.clone()),
            dashboard: Default::default(),
            wall: live::Shared::default(),
            wall_made: kept::Kept::default(),
            setup: Setup::default(),
            imports: Arc::new(UploadStore::new(app.store.path())),
            app,
            reach,
            cookie: OnceLock::new(),
            flashes: Mutex::default(),
            waiting: Waiting::default(),
            walked_in: kept::Kept::default(),
            made: kept::Kept::default(),
            pairing: kept::Kept::default(),
            codes: kept::Kept::default(),
        })
    }

    /// The name of the session's cookie; `None` where nobody ever signed in.
    fn session_cookie(&self) -> Result<Option<&str>> {
        if let Some(name) = self.cookie.get() {
            return Ok(Some(name));
        }
        let key = self.app.store.look_up(Key::find)?;
        key.map(|key| self.name_session_cookie(&key)).transpose()
    }

    /// As [`Console::session_cookie`], for the file's key.
    fn name_session_cookie(&self, key: &Key) -> Result<&str> {
        let name = session::cookie_name(key, self.app.store.path())?;
        Ok(self.cookie.get_or_init(|| name))
    }

    /// The application.
    #[must_use]
    pub fn app(&self) -> &App {
        &self.app
    }
}

impl Deref for Console {
    type Target = App;

    fn deref(&self) -> &App {
        &self.app
    }
}

/// Every route of the console.
#[must_use]
pub fn routes() -> Vec<Route> {
    let parts: [fn() -> Vec<Route>; 29] = [
        assets::routes,
        setup::routes,
        sign_in::routes,
        dashboard::routes,
        day::routes,
        prepare::routes,
        shell::routes,
        find::routes,
        access::routes,
        account::routes,
        audit::routes,
        delegates::routes,
        deliveries::routes,
        desk::routes,
        evacuation::routes,
        devices::routes,
        configuration::routes,
        content::routes,
        discovery::routes,
        gates::routes,
        readers::routes,
        import::routes,
        interactions::routes,
        sales::routes,
        reports::routes,
        messages::routes,
        printing::routes,
        settings::routes,
        webhooks::routes,
    ];
    parts.iter().flat_map(|routes| routes()).collect()
}
