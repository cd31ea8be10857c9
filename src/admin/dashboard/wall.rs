//! The wall display: how many of how many have come and how full places are, for a screen in the foyer. It
//! names nobody and leads nowhere. Who is signed in may see it, and a screen that was opened by the link.

use super::{Chart, EVERY};
use crate::{
    admin::{Access, Console, assets, prelude::*, route::WALL_OF_VENUES},
    db::counters,
    domain::{
        devices::upcoming::{Upcoming, upcoming},
        interactions::{
            arrivals::Arrived,
            inside::{self, Occupied},
            presence::ANYWHERE,
        },
    },
    identity::wall_link::{self, WallLink},
    types::secret,
};
use poem::http::header;
use std::sync::{Arc, LazyLock};

const PAGE: &str = "/console/wall";
const LINK: &str = "/console/wall/link";
/// The beginning of the name of a screen's cookie.
const COOKIE: &str = "gatepost_wall";
/// A browser keeps the cookie so long; the link may end before.
const COOKIE_S: u64 = 400 * 24 * 3_600;
/// Places and sessions that are shown.
const PLACES: usize = 6;
const SESSIONS: usize = 3;
/// The time ahead for which sessions are shown.
const AHEAD_MS: i64 = 12 * 3_600_000;

/// Changes with what the display consists of: screens then load it anew.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let files = ["console.css", "wall.js"].map(assets::address);
    let all = format!("{} {}", env!("CARGO_PKG_VERSION"), files.join(" "));
    answer::mark(&all)
});

pub(super) fn routes() -> Vec<Route> {
    Routes::access(Access::Wall)
        .get(PAGE, show)
        .get("/console/wall/stream", stream)
        .then(Access::Anyone)
        .get("/console/wall/enter", enter)
        .then(ADMINISTRATOR)
        .get(LINK, show_link)
        .post(LINK, make)
        .action("/console/wall/link/revoke", revoke)
        .all()
}

/// The screen's own proof, where the request has that of the link that works now.
pub fn screen(request: &RequestContext) -> Result<Option<secret::Digest>> {
    let Some(cookie) = cookie_name(&request.console)? else {
        return Ok(None);
    };
    let sent = request.cookie(&cookie);
    let Some(sent) = sent.filter(|sent| secret::well_formed(sent)) else {
        return Ok(None);
    };
    let is_open = request.look_up(|connection| wall_link::opens(connection, sent))?;
    Ok(is_open.then(|| secret::digest(sent.as_bytes())))
}

/// The name of a screen's cookie; `None` where nobody ever signed in.
fn cookie_name(console: &Console) -> Result<Option<String>> {
    let of_session = console.session_cookie()?;
    let instance = of_session.and_then(|name| name.rsplit('_').next());
    Ok(instance.map(|instance| format!("{COOKIE}_{instance}")))
}

/// Lets a screen in that was opened with the link: its cookie is good for the display alone.
async fn enter(request: RequestContext) -> Result<Response> {
    let key = request.query.sent("key").unwrap_or_default().to_owned();
    let is_open = secret::well_formed(&key)
        && request.look_up(|connection| wall_link::opens(connection, &key))?;
    let name = cookie_name(&request.console)?.filter(|_| is_open);
    let name = name.ok_or_else(|| {
        Error::new(
            Kind::Forbidden,
            "this link does not work any more; ask an administrator for a new one",
        )
    })?;
    // Lax: whoever opens it from an e-mail gets in, too. It changes nothing and reads one page.
    let secure = if request.console.reach.tls {
        "; Secure"
    } else {
        ""
    };
    let cookie =
        format!("{name}={key}; Path={PAGE}; HttpOnly; SameSite=Lax; Max-Age={COOKIE_S}{secure}");
    let page = if request.console.reach.hub {
        WALL_OF_VENUES
    } else {
        PAGE
    };
    let mut response = answer::go(page);
    response
        .headers_mut()
        .insert(header::SET_COOKIE, cookie.parse().map_err(Error::defect)?);
    Ok(response)
}

struct Wall {
    arrived: Arrived,
    people: i64,
    inside: Vec<Occupied>,
    chart: Chart,
    next: Vec<Upcoming>,
    now: Timestamp,
}

impl Wall {
    fn read(console: &Console, connection: &Connection) -> Result<Self> {
        let now = Timestamp::now();
        let arrived = console.live.arrived(connection, now)?;
        Ok(Self {
            people: counters::people(connection, ANYWHERE)?,
            inside: inside::fullest(connection, now, PLACES)?,
            chart: Chart::new(&arrived.by_minute, &console.settings().zone, now),
            next: upcoming(connection, now, Timestamp(now.0 + AHEAD_MS), SESSIONS)?,
            arrived,
            now,
        })
    }

    /// In how many minutes something begins.
    fn minutes_to(&self, at: &Timestamp) -> i64 {
        (at.0 - self.now.0 + 59_999) / 60_000
    }
}

#[derive(Template)]
#[template(path = "dashboard/wall.html")]
struct Page {
    layout: Layout,
    wall: Wall,
}

#[derive(Template)]
#[template(path = "dashboard/wall_now.html")]
struct Part {
    layout: Layout,
    wall: Wall,
}

async fn read(request: &RequestContext) -> Result<Wall> {
    let console = Arc::clone(&request.console);
    request
        .read(move |connection| Wall::read(&console, connection))
        .await
}

async fn show(request: RequestContext) -> Result<Response> {
    answer::page(&Page {
        wall: read(&request).await?,
        layout: request.layout("Wall display", None),
    })
}

async fn stream(request: RequestContext) -> Result<Response> {
    answer::parts(request, Default::default(), EVERY, parts)
}

/// Made once a beat for all screens.
async fn parts(request: Arc<RequestContext>, beat: u64) -> Result<Arc<[answer::Rendered; 1]>> {
    request.console.wall.get(beat, render(&request)).await
}

async fn render(request: &RequestContext) -> Result<Arc<[answer::Rendered; 1]>> {
    let made = answer::part(&Part {
        wall: read(request).await?,
        layout: request.layout("", None),
    })?;
    Ok(answer::rendered(["wall"], &[made]))
}

#[derive(Template)]
#[template(path = "dashboard/wall_link.html")]
struct LinkPage {
    layout: Layout,
    /// The link that works, and who made it.
    link: Option<(WallLink, String)>,
    /// The address, while it may be shown.
    address: Option<String>,
}

async fn show_link(request: RequestContext) -> Result<Response> {
    let link = request.look_up(|connection| {
        let link = wall_link::current(connection)?;
        let named = |link: WallLink| {
            let by = crate::core::audit::actor_name(connection, &link.actor)?;
            Ok::<_, Error>((link, by))
        };
        link.map(named).transpose()
    })?;
    let secret = request.console.wall_made.look(request.current_user()?);
    let secret = secret.filter(|secret| {
        let is_open = request.look_up(|connection| wall_link::opens(connection, secret));
        is_open.unwrap_or_default()
    });
    answer::page(&LinkPage {
        address: secret.map(|secret| format!("{}{PAGE}/enter?key={secret}", base(&request))),
        layout: request.layout("Wall display", Some(Area::Dashboard)),
        link,
    })
}

/// The server as other devices reach it, as far as it knows, otherwise as this page was asked for.
fn base(request: &RequestContext) -> String {
    let places = request.console.discovery.places().unwrap_or_default();
    if let Some(place) = places.into_iter().next() {
        return place.base;
    }
    let scheme = if request.console.reach.tls {
        "https"
    } else {
        "http"
    };
    let host = request.header(header::HOST.as_str()).unwrap_or_default();
    format!("{scheme}://{host}")
}

async fn make(request: RequestContext) -> Result<Response> {
    let secret = request.write(wall_link::make).await?;
    request
        .console
        .wall_made
        .keep(request.current_user()?, secret);
    request.done("Link created. Earlier links do not work any more.", LINK)
}

fn revoke(tx: &Tx<'_>, ctx: &Context, _: &Action) -> Result<Done> {
    wall_link::revoke(tx, ctx)?;
    Ok(Done::new(
        "Link revoked. Screens that it opened end within a second.",
        LINK,
    ))
}
