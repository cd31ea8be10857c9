//! Discovery: apps scan the QR code and request access, and are added or dismissed. Opening or
//! refreshing the page accepts requests for ten minutes; its stream does not, so that a page that is left
//! open over night closes.

use crate::admin::prelude::*;
use crate::domain::discovery::{
    Place, Trouble, clear,
    list::{self, GivenOut, Waiting},
};
use std::{sync::Arc, time::Instant};

const PATH: &str = "/console/discovery";
/// Added requests that are shown.
const GIVEN_MAX: usize = 50;

pub(super) fn routes() -> Vec<Route> {
    Routes::access(OPERATOR)
        .get(PATH, show)
        .get("/console/discovery/stream", stream)
        .get("/console/discovery/qr.svg", qr)
        .post("/console/discovery/close", close)
        .post("/console/discovery/:id/add", add)
        .post("/console/discovery/:id/dismiss", dismiss)
        .post("/console/discovery/:id/again", again)
        .all()
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

/// The time for which requests are accepted.
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
    /// The server's certificate is its own.
    own_ca: bool,
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
            chosen: choose(request, &places).cloned(),
            own_ca: request.console.reach.own_ca,
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
pub(super) fn choose<'a>(request: &RequestContext, places: &'a [Place]) -> Option<&'a Place> {
    let at = chosen(request);
    places
        .iter()
        .find(|place| place.host == at)
        .or_else(|| places.first())
}

pub(super) fn explained(trouble: Trouble) -> &'static str {
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
    let marks: Vec<_> = parts.iter().map(|part| answer::mark(part)).collect();
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
    Ok([
        answer::part(&WindowPart::read(request))?,
        answer::part(&PlacePart::read(request))?,
        answer::part(&BoardPart::read(request).await?)?,
    ])
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
    let place = choose(&request, &places).ok_or_else(gone)?;
    answer::qr(&place.request_uri())
}

async fn add(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let delegate_write = request.form.ticked("delegateWrite");
    let work = request.write(move |tx, ctx| clear::add(tx, ctx, id, delegate_write));
    match work.await {
        Ok(added) => {
            let message = "Added. The app gets its credentials when it asks next.";
            decided(&request, added.is_some(), message).await
        }
        Err(error) if error.kind == Kind::CodeTaken && request.is_part() => {
            done(&request, false, &answer::sentence(&error)).await
        }
        Err(error) => Err(error),
    }
}

async fn dismiss(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let work = request.write(move |tx, ctx| clear::dismiss(tx, ctx, id));
    let dismissed = work.await?;
    decided(&request, dismissed, "Dismissed.").await
}

async fn decided(request: &RequestContext, is_done: bool, message: &str) -> Result<Response> {
    let gone = "This request is gone: somebody else decided, or it was a day old.";
    done(request, is_done, if is_done { message } else { gone }).await
}

async fn again(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let work = request.write(move |tx, ctx| clear::give_again(tx, ctx, id));
    let is_given = work.await?.is_some();
    let message = if is_given {
        "The app gets new credentials when it asks within ten minutes."
    } else {
        "The app's access was revoked; it has to request access again."
    };
    done(&request, is_given, message).await
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

/// The parts of the page whenever they change.
async fn stream(request: RequestContext) -> Result<Response> {
    let mut marks = request
        .query
        .text("shown")
        .split('.')
        .map(ToOwned::to_owned);
    let shown = [(); 3].map(|()| marks.next().unwrap_or_default());
    let render = |request: Arc<RequestContext>, _| async move { parts(&request).await };
    answer::parts(request, ["window", "place", "board"], shown, 1, render)
}
