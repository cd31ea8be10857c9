//! `/t/…`: pages for attendees, without sign-in (contract §15): the ticket of one of them, its calendar file, what the code
//! of a certificate confirms, and the page by which somebody tries whether the public address is reachable from outside.

use super::otp;
use crate::{
    admin::{answer, assets},
    core::{
        settings::{Settings, logo},
        texts,
    },
    domain::{
        certificates::{self, Confirmed},
        tickets::{self, Event, Pages, TRIAL, Ticket},
    },
    identity::App,
    types::{
        Timestamp,
        error::{Error, Result},
    },
    web::Failure,
};
use askama::Template;
use poem::{
    Request, Response,
    http::{HeaderName, HeaderValue, StatusCode, header},
};
use rusqlite::Connection;

/// Nothing but the page's style and its pictures.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'none'; base-uri 'none'; \
     frame-ancestors 'none'";

#[derive(Template)]
#[template(path = "ticket.html")]
struct Page {
    /// The instance's name.
    name: String,
    /// Addresses are relative: a proxy may serve the server below a path.
    style: String,
    icon: String,
    logo: Option<String>,
    shown: Shown,
}

enum Shown {
    Ticket(TicketPage),
    Certificate(Confirmed),
    Trial,
    Gone,
    UnknownCertificate,
}

struct TicketPage {
    ticket: Ticket,
    /// The address of the code's picture.
    picture: Option<String>,
    events: Vec<EventLine>,
    /// The path of the calendar file.
    calendar: Option<String>,
}

struct EventLine {
    name: String,
    when: String,
    place: Option<String>,
}

impl EventLine {
    fn new(event: &Event, settings: &Settings) -> Self {
        let zone = &settings.zone;
        let until = |from: String, to: String| {
            let text = texts::tx("ticket-from-to").with("from", from);
            text.with("to", to).to_string()
        };
        let moment =
            |at: Timestamp| format!("{}, {}", texts::day_in_words(zone, at), zone.clock(at));
        let when = match (event.starts_at, event.ends_at) {
            (Some(from), Some(to)) if zone.day(from).0 == zone.day(to).0 => {
                until(moment(from), zone.clock(to))
            }
            (Some(from), Some(to)) => until(moment(from), moment(to)),
            (Some(from), None) => moment(from),
            (None, _) => String::new(),
        };
        Self {
            name: event.name.clone(),
            when,
            place: event.place.clone(),
        }
    }
}

/// Answers `/t/:name`.
pub fn show(app: &App, request: &Request) -> poem::Result<Response> {
    let name = request.raw_path_param("name").unwrap_or_default();
    match name {
        "style.css" => return Ok(otp::style()),
        "icon.svg" => return Ok(otp::icon()),
        _ => {}
    }
    let settings = app.settings();
    let answered = app
        .store
        .look_up(|connection| answer(connection, &settings, name));
    let mut response = answer::secured(answered.map_err(Failure)?);
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(POLICY),
    );
    headers.insert(
        HeaderName::from_static("x-robots-tag"),
        HeaderValue::from_static("noindex"),
    );
    Ok(response)
}

fn answer(connection: &Connection, settings: &Settings, name: &str) -> Result<Response> {
    if let Some(token) = name.strip_suffix(".ics") {
        let calendar = calendar(connection, settings, token)?;
        return match calendar {
            Some(calendar) => Ok(answer::download(
                "event.ics",
                "text/calendar; charset=utf-8",
                calendar,
            )),
            None => page(connection, settings, Shown::Gone),
        };
    }
    let shown = if name == TRIAL {
        Shown::Trial
    } else if name.starts_with('c') {
        let confirmed = certificates::confirm(connection, settings, name)?;
        confirmed.map_or(Shown::UnknownCertificate, Shown::Certificate)
    } else {
        ticket(connection, settings, name)?.map_or(Shown::Gone, Shown::Ticket)
    };
    page(connection, settings, shown)
}

fn ticket(connection: &Connection, settings: &Settings, token: &str) -> Result<Option<TicketPage>> {
    let Some(pages) = Pages::find(connection, settings)? else {
        return Ok(None);
    };
    let Some(attendee) = pages.attendee(token)? else {
        return Ok(None);
    };
    let Some(ticket) = tickets::find(connection, settings, attendee)? else {
        return Ok(None);
    };
    let events = tickets::events(connection, attendee)?;
    let has_date = events.iter().any(|event| event.starts_at.is_some());
    let picture = ticket.qr().map(tickets::data_url).transpose()?;
    Ok(Some(TicketPage {
        ticket,
        picture,
        calendar: has_date.then(|| format!("{token}.ics")),
        events: events
            .iter()
            .map(|event| EventLine::new(event, settings))
            .collect(),
    }))
}

fn calendar(connection: &Connection, settings: &Settings, token: &str) -> Result<Option<String>> {
    let attendee = match Pages::find(connection, settings)? {
        Some(pages) => pages.attendee(token)?,
        None => None,
    };
    let Some(attendee) = attendee else {
        return Ok(None);
    };
    if tickets::find(connection, settings, attendee)?.is_none() {
        return Ok(None);
    }
    let events = tickets::events(connection, attendee)?;
    Ok(tickets::calendar(&events, token, Timestamp::now()))
}

fn page(connection: &Connection, settings: &Settings, shown: Shown) -> Result<Response> {
    let status = match shown {
        Shown::Gone | Shown::UnknownCertificate => StatusCode::NOT_FOUND,
        Shown::Ticket(_) | Shown::Certificate(_) | Shown::Trial => StatusCode::OK,
    };
    let version = |name: &str| assets::content(name).1;
    let page = Page {
        name: settings.name().to_owned(),
        style: format!("style.css?v={}", version("console.css")),
        icon: format!("icon.svg?v={}", version("icon.svg")),
        logo: logo::since(connection)?.map(|since| format!("../logo?v={}", since.0)),
        shown,
    };
    Ok(Response::builder()
        .status(status)
        .content_type("text/html; charset=utf-8")
        .body(page.render().map_err(Error::defect)?))
}
