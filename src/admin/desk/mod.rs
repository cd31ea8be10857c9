//! The desk: one place, one field. Somebody is scanned or typed, Enter records the passage, and the field is empty
//! again. Without scripts each passage loads the page anew.

mod find;
mod pass;
mod verdict;
mod walk_in;

use crate::admin::prelude::*;
use crate::{
    domain::{
        devices::{self, Offer},
        interactions::{
            desk::{self, DeskResult, DeskRow},
            inside,
            types::{CHECK_IN, CHECK_OUT, InteractionType},
            undo::OWN_MS,
        },
        printing::printers,
    },
    types::{DeviceId, DeviceSelector, error::Refusal},
};
use poem::http::{HeaderValue, header};
use verdict::{Finding, Verdict};
pub(in crate::admin) use {find::state, walk_in::WalkedIn};

const PAGE: &str = "/console/desk";
/// Remembers the place of a browser.
const COOKIE: &str = "desk";
const REMEMBERED_SECONDS: i64 = 14 * 24 * 3600;
/// Places that the menu names; the others are on a page of their own.
const PLACES_MAX: usize = 12;
/// Passages that the desk lists.
const RECENT: usize = 10;

pub(super) fn routes() -> Vec<Route> {
    Routes::access(OPERATOR)
        .get(PAGE, show)
        .get("/console/desk/places", places)
        .get("/console/desk/find", find::show)
        .post("/console/desk/check-in", pass::check_in)
        .post("/console/desk/register", pass::register)
        .post("/console/desk/admit", pass::admit_once)
        .post("/console/desk/wait", pass::wait_for_import)
        .post("/console/desk/undo", pass::undo)
        .post("/console/desk/print", pass::print)
        .get("/console/desk/duplicates", walk_in::duplicates)
        .post("/console/desk/walk-in", walk_in::register)
        .all()
}

/// The place and the direction of a desk.
#[derive(Debug, Clone)]
struct Desk {
    place: Option<DeviceId>,
    is_exit: bool,
}

impl Desk {
    /// The desk that a request names; its place is otherwise the one that the browser used last.
    fn of(request: &RequestContext) -> Self {
        let sent = |fields: &Fields, name: &str| fields.filled(name).map(ToOwned::to_owned);
        let named = |name| sent(&request.form, name).or_else(|| sent(&request.query, name));
        let remembered = || request.cookie(COOKIE).map(ToOwned::to_owned);
        let place = named("place").or_else(remembered);
        Self {
            place: place.and_then(|place| place.parse().ok()).map(DeviceId),
            is_exit: named("way").as_deref() == Some("out"),
        }
    }

    fn kind(&self) -> &'static InteractionType {
        if self.is_exit { &CHECK_OUT } else { &CHECK_IN }
    }

    /// The address of this desk.
    fn path(&self) -> String {
        let place = self.place.map_or(0, |place| place.0);
        let way = if self.is_exit { "&way=out" } else { "" };
        format!("{PAGE}?place={place}{way}")
    }
}

/// A place to choose for the desk.
struct PlaceChoice {
    id: i64,
    name: String,
    inside: i64,
    capacity: Option<i64>,
    is_chosen: bool,
}

#[derive(Template)]
#[template(path = "desk/page.html")]
struct Page {
    layout: Layout,
    desk: Desk,
    /// The name of the place.
    place: String,
    choices: Vec<PlaceChoice>,
    has_more: bool,
    side: Side,
    walk_in: Option<walk_in::Panel>,
    /// The text that was typed, where somebody has to be chosen.
    typed: String,
}

/// The verdict and the last passages, which every passage renders anew.
#[derive(Template)]
#[template(path = "desk/side.html")]
struct Side {
    layout: Layout,
    desk: Desk,
    verdict: Option<Verdict>,
    recent: Vec<DeskRow>,
    /// A printer prints badges for this place.
    prints: bool,
}

async fn show(request: RequestContext) -> Result<Response> {
    let mut desk = Desk::of(&request);
    if request.query.text("place").is_empty() && desk.place.is_none() {
        let only = request.look_up(|connection| {
            let places = devices::places(connection)?;
            Ok(match &*places {
                [only] => Some(DeviceId(only.id)),
                _ => None,
            })
        })?;
        desk.place = only;
    }
    let walked_in = walk_in::last(&request).await?;
    page(&request, desk, walked_in, None).await
}

/// The whole page, with what came of a passage or of a walk-in.
async fn page(
    request: &RequestContext,
    mut desk: Desk,
    verdict: Option<Verdict>,
    panel: Option<walk_in::Panel>,
) -> Result<Response> {
    let side = side(request, desk.clone(), verdict).await?;
    let wants_panel = panel.is_some() || request.query.ticked("walkin");
    let typed = request.query.text("q").to_owned();
    let chosen = desk.place;
    let settings = request.console.settings();
    let work = move |connection: &Connection| {
        let (choices, has_more) = choices(connection, chosen)?;
        let name = chosen.map(|place| living_name(connection, place));
        let panel = match panel {
            None if wants_panel => {
                Some(walk_in::Panel::new(connection, &settings.walk_in, &typed)?)
            }
            panel => panel,
        };
        Ok((choices, has_more, name.transpose()?.flatten(), panel))
    };
    let (choices, has_more, place, walk_in) = request.read(work).await?;
    if place.is_none() {
        desk.place = None;
    }
    let is_wrong = side.verdict.as_ref().is_some_and(Verdict::is_bad)
        || walk_in
            .as_ref()
            .is_some_and(|panel| panel.failure.is_some());
    let page = Page {
        layout: request.layout("Desk", Some(Area::Desk)),
        place: place.unwrap_or_default(),
        walk_in: walk_in.filter(|_| desk.place.is_some()),
        choices,
        has_more,
        side,
        typed: request.query.text("q").to_owned(),
        desk,
    };
    let mut response = answer::form_page(is_wrong, &page)?;
    // Whoever solves one person's refusal at another place goes back to their own.
    if request.query.text("q").is_empty() {
        remember(&mut response, &page.desk)?;
    }
    Ok(response)
}

/// The name of a place, unless it was deleted.
fn living_name(connection: &Connection, place: DeviceId) -> Result<Option<String>> {
    match devices::find(connection, &DeviceSelector::Id(place)) {
        Ok(place) => devices::name_of(connection, place),
        Err(gone) if gone.kind == Kind::DeviceNotFound => Ok(None),
        Err(other) => Err(other),
    }
}

async fn side(request: &RequestContext, desk: Desk, verdict: Option<Verdict>) -> Result<Side> {
    let user = request.current_user()?.user;
    let (since, place) = (since(), desk.place);
    let read = move |connection: &Connection| {
        let printer = printers::assigned(connection, None, place)?;
        let recent = desk::recent(connection, user, since, RECENT)?;
        Ok((recent, printer.is_some()))
    };
    let (recent, prints) = request.read(read).await?;
    Ok(Side {
        layout: request.layout("", Some(Area::Desk)),
        desk,
        verdict,
        recent,
        prints,
    })
}

/// Answers a passage: its part of the page to a script, otherwise the whole page.
async fn answer_with(request: &RequestContext, desk: Desk, verdict: Verdict) -> Result<Response> {
    if request.is_part() {
        return answer::page(&side(request, desk, Some(verdict)).await?);
    }
    page(request, desk, Some(verdict), None).await
}

/// The moment from which the desk lists passages, as it takes them back.
fn since() -> Timestamp {
    Timestamp(Timestamp::now().0 - OWN_MS)
}

/// Has the browser remember the place.
fn remember(response: &mut Response, desk: &Desk) -> Result<()> {
    if let Some(place) = desk.place {
        let cookie = format!(
            "{COOKIE}={place}; Path={PAGE}; HttpOnly; SameSite=Strict; Max-Age={REMEMBERED_SECONDS}"
        );
        let cookie = HeaderValue::from_str(&cookie).map_err(Error::defect)?;
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    Ok(())
}

/// The places that the menu offers: the chosen one, those where people came in last, then those with most inside.
fn choices(connection: &Connection, chosen: Option<DeviceId>) -> Result<(Vec<PlaceChoice>, bool)> {
    let places = devices::places(connection)?;
    let entered = inside::entered_last(connection)?;
    let last = |id: i64| {
        entered
            .iter()
            .position(|place| place.0 == id)
            .unwrap_or(usize::MAX)
    };
    let occupied = inside::busiest(connection, PLACES_MAX)?;
    let mut choices: Vec<_> = places
        .into_iter()
        .map(|place| {
            let found = occupied.iter().find(|found| found.id == place.id);
            PlaceChoice {
                is_chosen: chosen == Some(DeviceId(place.id)),
                inside: found.map_or(0, |found| found.inside),
                capacity: found.and_then(|found| found.capacity),
                id: place.id,
                name: place.name,
            }
        })
        .collect();
    choices.sort_by_key(|choice| (!choice.is_chosen, last(choice.id), -choice.inside));
    let has_more = choices.len() > PLACES_MAX;
    choices.truncate(PLACES_MAX);
    Ok((choices, has_more))
}

#[derive(Template)]
#[template(path = "desk/places.html")]
struct Places {
    layout: Layout,
    places: Vec<Offer>,
}

/// All places, where the menu has not room for them.
async fn places(request: RequestContext) -> Result<Response> {
    let read = |connection: &Connection, layout| {
        Ok(Places {
            layout,
            places: devices::places(connection)?,
        })
    };
    request.page("Place of the desk", Area::Desk, read).await
}
