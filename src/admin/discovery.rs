//! Discovery: apps are pointed at the QR code, ask to be let in, and are added or dismissed. Opening
//! or refreshing the page lets them ask for ten minutes; its stream does not, so that a page that is
//! left open over night closes by itself.

use super::{Area, Route, Shell, Visit, answer, live::Beats, route};
use crate::{
    domain::discovery::{
        Place, Trouble, clear,
        list::{self, GivenOut, Waiting},
    },
    types::{
        Timestamp,
        error::{Error, Kind, Result},
        secret,
    },
};
use askama::Template;
use futures_util::stream;
use poem::Response;
use std::{collections::VecDeque, time::Instant};

/// The page.
const PATH: &str = "/console/discovery";
/// Requests shown of those that were added.
const GIVEN_MAX: usize = 50;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get(PATH, route::OPERATOR, show),
        Route::get("/console/discovery/stream", route::OPERATOR, stream),
        Route::get("/console/discovery/qr.svg", route::OPERATOR, qr),
        Route::post("/console/discovery/close", route::OPERATOR, close),
        Route::post("/console/discovery/:id/add", route::OPERATOR, add),
        Route::post("/console/discovery/:id/dismiss", route::OPERATOR, dismiss),
        Route::post("/console/discovery/:id/again", route::OPERATOR, again),
    ]
}

#[derive(Template)]
#[template(path = "discovery/page.html")]
struct Page {
    shell: Shell,
    window: String,
    place: String,
    board: String,
    stream: String,
}

/// How long apps may ask.
#[derive(Template)]
#[template(path = "discovery/window.html")]
struct WindowPart {
    csrf: String,
    until: Option<Timestamp>,
    /// The same as a time of day, for a browser without scripts.
    clock: String,
    at: String,
}

/// Where apps are sent.
#[derive(Template)]
#[template(path = "discovery/place.html")]
struct PlacePart {
    places: Vec<Place>,
    chosen: Option<Place>,
    trouble: Option<&'static str>,
    tls: bool,
}

/// Who asks and who was let in.
#[derive(Template)]
#[template(path = "discovery/board.html")]
struct BoardPart {
    shell: Shell,
    waiting: Vec<Waiting>,
    given: Vec<GivenOut>,
    at: String,
}

/// The board with a word on what was just done, in answer to a form that a script sent.
#[derive(Template)]
#[template(path = "discovery/done.html")]
struct Done {
    board: BoardPart,
    told: String,
    good: bool,
}

impl WindowPart {
    fn read(visit: &Visit) -> Self {
        let shell = visit.shell("", None);
        let window = &visit.console.discovery.window;
        let until = window.until(Instant::now(), Timestamp::now());
        Self {
            csrf: shell.csrf().to_owned(),
            clock: until.map(|until| shell.clock(&until)).unwrap_or_default(),
            until,
            at: chosen(visit).to_owned(),
        }
    }
}

impl PlacePart {
    fn read(visit: &Visit) -> Self {
        let (places, trouble) = match visit.console.discovery.places() {
            Ok(places) => (places, None),
            Err(trouble) => (Vec::new(), Some(explained(trouble))),
        };
        Self {
            chosen: place(visit, &places).cloned(),
            tls: visit.console.reach.tls,
            places,
            trouble,
        }
    }

    fn is_chosen(&self, place: &Place) -> bool {
        self.chosen.as_ref() == Some(place)
    }
}

impl BoardPart {
    async fn read(visit: &Visit) -> Result<Self> {
        let now = Timestamp::now();
        let (waiting, given) = visit
            .console
            .store
            .read(move |connection| {
                Ok((
                    list::waiting(connection, now)?,
                    list::given_out(connection, now, GIVEN_MAX)?,
                ))
            })
            .await?;
        Ok(Self {
            shell: visit.shell("", None),
            waiting,
            given,
            at: chosen(visit).to_owned(),
        })
    }
}

/// The address that was chosen on this page, by its host.
fn chosen(visit: &Visit) -> &str {
    visit
        .form
        .filled("at")
        .or_else(|| visit.query.filled("at"))
        .unwrap_or_default()
}

/// The place that was chosen, or the first where it is gone: the machine may be on another network.
fn place<'a>(visit: &Visit, places: &'a [Place]) -> Option<&'a Place> {
    let at = chosen(visit);
    places
        .iter()
        .find(|place| place.host == at)
        .or_else(|| places.first())
}

fn explained(trouble: Trouble) -> &'static str {
    match trouble {
        Trouble::ListensOnLoopback => {
            "The server listens on this machine only, where no phone can reach it. Start it with --listen 0.0.0.0:8080."
        }
        Trouble::PublicIsLoopback => {
            "The server's public address is this machine's own (such as localhost), which on a phone is the phone. Set the one by which others reach it."
        }
        Trouble::NoNetwork => {
            "This machine is on no network. Join the one that the devices are on; the code appears by itself."
        }
    }
}

/// Back to the page, with the address that was chosen there.
fn back(visit: &Visit) -> String {
    match chosen(visit) {
        "" => PATH.to_owned(),
        at => {
            let query = form_urlencoded::Serializer::new(String::new())
                .append_pair("at", at)
                .finish();
            format!("{PATH}?{query}")
        }
    }
}

async fn show(visit: Visit) -> Result<Response> {
    // Whoever just closed it sees it closed; any other load lets apps ask.
    if !visit.query.ticked("closed") {
        visit.console.discovery.window.extend(Instant::now());
    }
    let parts = parts(&visit).await?;
    let marks: Vec<_> = parts.iter().map(|part| mark(part)).collect();
    let query = form_urlencoded::Serializer::new(String::new())
        .append_pair("at", chosen(&visit))
        .append_pair("shown", &marks.join("."))
        .finish();
    let [window, place, board] = parts;
    answer::page(&Page {
        shell: visit.shell("Discovery", Some(Area::Discovery)),
        window,
        place,
        board,
        stream: format!("{PATH}/stream?{query}"),
    })
}

/// The parts of the page that change by themselves.
async fn parts(visit: &Visit) -> Result<[String; 3]> {
    let [window, place, board] = [
        WindowPart::read(visit).render(),
        PlacePart::read(visit).render(),
        BoardPart::read(visit).await?.render(),
    ];
    Ok([
        window.map_err(Error::defect)?,
        place.map_err(Error::defect)?,
        board.map_err(Error::defect)?,
    ])
}

/// Changes with a part, so that a page is not sent again what it shows.
fn mark(part: &str) -> String {
    secret::hex(&secret::digest(part.as_bytes())[..8])
}

async fn close(visit: Visit) -> Result<Response> {
    visit.console.discovery.window.close();
    let page = back(&visit);
    let mark = if page.contains('?') { '&' } else { '?' };
    Ok(answer::go(&format!("{page}{mark}closed=1")))
}

/// The QR code of the request URI, for the address that the page names.
async fn qr(visit: Visit) -> Result<Response> {
    let gone = || Error::new(Kind::NoSuchPath, "there is no such address any more");
    let places = visit.console.discovery.places().map_err(|_| gone())?;
    let place = place(&visit, &places).ok_or_else(gone)?;
    answer::qr(&place.request_uri())
}

async fn add(visit: Visit) -> Result<Response> {
    let (ctx, id) = (visit.context(), visit.id("id")?);
    let delegate_write = visit.form.ticked("delegateWrite");
    let added = visit
        .console
        .store
        .write(move |tx| clear::add(tx, &ctx, id, delegate_write))
        .await;
    match added {
        Ok(Some(_)) => {
            done(
                &visit,
                true,
                "Added. The app gets its credentials when it asks next.",
            )
            .await
        }
        Ok(None) => decided_before(&visit).await,
        Err(error) if error.kind == Kind::CodeTaken && visit.is_part() => {
            done(&visit, false, &answer::sentence(&error.message)).await
        }
        Err(error) => Err(error),
    }
}

async fn dismiss(visit: Visit) -> Result<Response> {
    let (ctx, id) = (visit.context(), visit.id("id")?);
    let dismissed = visit
        .console
        .store
        .write(move |tx| clear::dismiss(tx, &ctx, id))
        .await?;
    if dismissed {
        done(&visit, true, "Dismissed.").await
    } else {
        decided_before(&visit).await
    }
}

async fn again(visit: Visit) -> Result<Response> {
    let (ctx, id) = (visit.context(), visit.id("id")?);
    let shown_until = visit
        .console
        .store
        .write(move |tx| clear::give_again(tx, &ctx, id))
        .await?;
    match shown_until {
        Some(_) => {
            done(
                &visit,
                true,
                "The app gets new credentials when it asks within ten minutes.",
            )
            .await
        }
        None => {
            done(
                &visit,
                false,
                "The app's access was revoked; it has to ask anew.",
            )
            .await
        }
    }
}

async fn decided_before(visit: &Visit) -> Result<Response> {
    done(
        visit,
        false,
        "That request does not wait any more: somebody else decided, or it was a day old.",
    )
    .await
}

async fn done(visit: &Visit, good: bool, told: &str) -> Result<Response> {
    if visit.is_part() {
        return answer::page(&Done {
            board: BoardPart::read(visit).await?,
            told: told.to_owned(),
            good,
        });
    }
    visit.flash(told);
    Ok(answer::go(&back(visit)))
}

/// The names of the parts' events.
const EVENTS: [&str; 3] = ["window", "place", "board"];

/// What a page shows already, and what it is to be sent next.
struct Sent {
    visit: Visit,
    beats: Beats,
    marks: Vec<String>,
    next: VecDeque<(&'static str, String)>,
}

impl Sent {
    /// Looks which parts are new.
    async fn look(&mut self) -> Result<()> {
        let parts = parts(&self.visit).await?;
        self.marks.resize(parts.len(), String::new());
        for ((event, part), known) in EVENTS.into_iter().zip(parts).zip(&mut self.marks) {
            let mark = mark(&part);
            if *known != mark {
                *known = mark;
                self.next.push_back((event, part));
            }
        }
        Ok(())
    }
}

/// The parts of the page whenever they are new.
async fn stream(visit: Visit) -> Result<Response> {
    let shown = visit.query.text("shown");
    let sent = Sent {
        marks: shown.split('.').map(ToOwned::to_owned).collect(),
        beats: visit.beats()?,
        visit,
        next: VecDeque::new(),
    };
    Ok(answer::events(stream::unfold(
        sent,
        |mut sent| async move {
            loop {
                if let Some(event) = sent.next.pop_front() {
                    return Some((event, sent));
                }
                sent.beats.next().await?;
                if let Err(cause) = sent.look().await {
                    tracing::warn!("discovery: {cause}");
                }
            }
        },
    )))
}
