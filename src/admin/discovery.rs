//! Discovery: apps scan the QR code and request access, and are added or dismissed. Opening or
//! refreshing the page accepts requests for ten minutes; its stream does not, so that a page that is left
//! open over night closes.

use super::{Area, Layout, RequestContext, Route, answer, live::Beats, route};
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

const PATH: &str = "/console/discovery";
/// Added requests that are shown.
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
    layout: Layout,
    window: String,
    place: String,
    board: String,
    stream: String,
}

/// How long requests are accepted.
#[derive(Template)]
#[template(path = "discovery/window.html")]
struct WindowPart {
    csrf: String,
    until: Option<Timestamp>,
    /// The same as a time of day, for browsers without scripts.
    clock: String,
    at: String,
}

/// The address in the QR code.
#[derive(Template)]
#[template(path = "discovery/place.html")]
struct PlacePart {
    places: Vec<Place>,
    chosen: Option<Place>,
    trouble: Option<&'static str>,
    tls: bool,
}

/// Waiting requests, and apps that were added.
#[derive(Template)]
#[template(path = "discovery/board.html")]
struct BoardPart {
    layout: Layout,
    waiting: Vec<Waiting>,
    given: Vec<GivenOut>,
    at: String,
}

/// The board with the result of a form that htmx sent.
#[derive(Template)]
#[template(path = "discovery/done.html")]
struct Done {
    board: BoardPart,
    message: String,
    good: bool,
}

impl WindowPart {
    fn read(request: &RequestContext) -> Self {
        let layout = request.layout("", None);
        let window = &request.console.discovery.window;
        let until = window.until(Instant::now(), Timestamp::now());
        Self {
            csrf: layout.csrf().to_owned(),
            clock: until.map(|until| layout.clock(&until)).unwrap_or_default(),
            until,
            at: chosen(request).to_owned(),
        }
    }
}

impl PlacePart {
    fn read(request: &RequestContext) -> Self {
        let (places, trouble) = match request.console.discovery.places() {
            Ok(places) => (places, None),
            Err(trouble) => (Vec::new(), Some(explained(trouble))),
        };
        Self {
            chosen: place(request, &places).cloned(),
            tls: request.console.reach.tls,
            places,
            trouble,
        }
    }

    fn is_chosen(&self, place: &Place) -> bool {
        self.chosen.as_ref() == Some(place)
    }
}

impl BoardPart {
    async fn read(request: &RequestContext) -> Result<Self> {
        let now = Timestamp::now();
        let (waiting, given) = request
            .read(move |connection| {
                Ok((
                    list::waiting(connection, now)?,
                    list::given_out(connection, now, GIVEN_MAX)?,
                ))
            })
            .await?;
        Ok(Self {
            layout: request.layout("", None),
            waiting,
            given,
            at: chosen(request).to_owned(),
        })
    }
}

/// The host of the address that was chosen on this page.
fn chosen(request: &RequestContext) -> &str {
    request
        .form
        .filled("at")
        .or_else(|| request.query.filled("at"))
        .unwrap_or_default()
}

/// The address that was chosen, or the first where it is gone: the machine may be on another network.
fn place<'a>(request: &RequestContext, places: &'a [Place]) -> Option<&'a Place> {
    let at = chosen(request);
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

/// The page with the address that was chosen there.
fn back(request: &RequestContext) -> String {
    match chosen(request) {
        "" => PATH.to_owned(),
        at => {
            let query = form_urlencoded::Serializer::new(String::new())
                .append_pair("at", at)
                .finish();
            format!("{PATH}?{query}")
        }
    }
}

async fn show(request: RequestContext) -> Result<Response> {
    // After closing, the page shows that; any other load accepts requests.
    if !request.query.ticked("closed") {
        request.console.discovery.window.extend(Instant::now());
    }
    let parts = parts(&request).await?;
    let marks: Vec<_> = parts.iter().map(|part| mark(part)).collect();
    let query = form_urlencoded::Serializer::new(String::new())
        .append_pair("at", chosen(&request))
        .append_pair("shown", &marks.join("."))
        .finish();
    let [window, place, board] = parts;
    answer::page(&Page {
        layout: request.layout("Discovery", Some(Area::Discovery)),
        window,
        place,
        board,
        stream: format!("{PATH}/stream?{query}"),
    })
}

/// The parts of the page that the stream renews.
async fn parts(request: &RequestContext) -> Result<[String; 3]> {
    let [window, place, board] = [
        WindowPart::read(request).render(),
        PlacePart::read(request).render(),
        BoardPart::read(request).await?.render(),
    ];
    Ok([
        window.map_err(Error::defect)?,
        place.map_err(Error::defect)?,
        board.map_err(Error::defect)?,
    ])
}

/// A digest of a part, so that only changed parts are sent.
fn mark(part: &str) -> String {
    secret::hex(&secret::digest(part.as_bytes())[..8])
}

async fn close(request: RequestContext) -> Result<Response> {
    request.console.discovery.window.close();
    let page = back(&request);
    let mark = if page.contains('?') { '&' } else { '?' };
    Ok(answer::go(&format!("{page}{mark}closed=1")))
}

/// The QR code of the request URI, for the address that the page names.
async fn qr(request: RequestContext) -> Result<Response> {
    let gone = || Error::new(Kind::NoSuchPath, "there is no such address any more");
    let places = request.console.discovery.places().map_err(|_| gone())?;
    let place = place(&request, &places).ok_or_else(gone)?;
    answer::qr(&place.request_uri())
}

async fn add(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let delegate_write = request.form.ticked("delegateWrite");
    let added = request
        .write(move |tx, ctx| clear::add(tx, ctx, id, delegate_write))
        .await;
    match added {
        Ok(Some(_)) => {
            done(
                &request,
                true,
                "Added. The app gets its credentials when it asks next.",
            )
            .await
        }
        Ok(None) => decided_before(&request).await,
        Err(error) if error.kind == Kind::CodeTaken && request.is_part() => {
            done(&request, false, &answer::sentence(&error.message)).await
        }
        Err(error) => Err(error),
    }
}

async fn dismiss(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let dismissed = request
        .write(move |tx, ctx| clear::dismiss(tx, ctx, id))
        .await?;
    if dismissed {
        done(&request, true, "Dismissed.").await
    } else {
        decided_before(&request).await
    }
}

async fn again(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let shown_until = request
        .write(move |tx, ctx| clear::give_again(tx, ctx, id))
        .await?;
    match shown_until {
        Some(_) => {
            done(
                &request,
                true,
                "The app gets new credentials when it asks within ten minutes.",
            )
            .await
        }
        None => {
            done(
                &request,
                false,
                "The app's access was revoked; it has to request access again.",
            )
            .await
        }
    }
}

async fn decided_before(request: &RequestContext) -> Result<Response> {
    done(
        request,
        false,
        "This request is gone: somebody else decided, or it was a day old.",
    )
    .await
}

async fn done(request: &RequestContext, good: bool, message: &str) -> Result<Response> {
    if request.is_part() {
        return answer::page(&Done {
            board: BoardPart::read(request).await?,
            message: message.to_owned(),
            good,
        });
    }
    request.done(message, &back(request))
}

/// The names of the parts' events.
const EVENTS: [&str; 3] = ["window", "place", "board"];

/// The parts that a page shows, and the events to send next.
struct Updates {
    request: RequestContext,
    beats: Beats,
    marks: Vec<String>,
    next: VecDeque<(&'static str, String)>,
}

impl Updates {
    /// Queues the parts that changed.
    async fn refresh(&mut self) -> Result<()> {
        let parts = parts(&self.request).await?;
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

/// The parts of the page whenever they change.
async fn stream(request: RequestContext) -> Result<Response> {
    let shown = request.query.text("shown");
    let updates = Updates {
        marks: shown.split('.').map(ToOwned::to_owned).collect(),
        beats: request.beats()?,
        request,
        next: VecDeque::new(),
    };
    Ok(answer::events(stream::unfold(
        updates,
        |mut updates| async move {
            loop {
                if let Some(event) = updates.next.pop_front() {
                    return Some((event, updates));
                }
                updates.beats.next().await?;
                if let Err(cause) = updates.refresh().await {
                    tracing::warn!("discovery: {cause}");
                }
            }
        },
    )))
}
