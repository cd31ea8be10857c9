//! Certificates of attendance: who gets one, and all of them as one PDF.

use super::layout;
use crate::admin::prelude::*;
use crate::{
    domain::{
        certificates::{self, Attendance, Attended, Wanted, attendance},
        devices,
        messages::{
            self, Channel, gateways,
            templates::{self, Entry, Template},
        },
    },
    ops::background::Background,
    types::DeviceId,
};

pub(super) const PAGE: &str = "/console/reports/certificates";
/// The part of what counts for which somebody gets a certificate, unless another is typed.
const PERCENT: i64 = 80;
/// People that the page shows; the PDF has all of them.
const ROWS_MAX: usize = 500;

#[derive(askama::Template)]
#[template(path = "reports/certificates.html")]
struct Page {
    layout: Layout,
    inputs: [Input; 2],
    wanted: Wanted,
    failure: Option<String>,
    attendance: Option<Attendance>,
    /// The number who get a certificate, of the number who were there at all.
    enough: i64,
    there: i64,
    /// Certificates have codes that a page confirms.
    is_online: bool,
    /// E-mails that bring a certificate.
    templates: Vec<Template>,
    /// There is a mail server.
    has_gateway: bool,
}

impl Page {
    fn place(&self) -> i64 {
        self.wanted.place.map_or(0, |place| place.0)
    }

    /// People who get a certificate, as far as they are shown.
    fn shown(&self) -> Vec<&Attended> {
        let people = self.attendance.iter();
        let people = people.flat_map(|attendance| attendance.enough(self.wanted.percent));
        people.take(ROWS_MAX).collect()
    }

    fn percent(&self, attended: &Attended) -> i64 {
        let attendance = self.attendance.as_ref();
        attendance.map_or(0, |attendance| attended.percent_of(attendance.counted_s))
    }

    fn is_more(&self) -> bool {
        usize::try_from(self.enough).is_ok_and(|all| all > ROWS_MAX)
    }
}

/// A time as people say it: `45 minutes`, `1 hour`, `5.5 hours`, rounded down.
fn time(seconds: &i64) -> String {
    let minutes = seconds / 60;
    let (hours, tenths) = (minutes / 60, minutes / 6 % 10);
    match (minutes, tenths) {
        (..60, _) => tx("reports-minutes").with("count", minutes).to_string(),
        (_, 0) => tx("reports-hours").with("count", hours).to_string(),
        _ => {
            let time = tx("reports-parts-of-hours").with("hours", hours);
            time.with("tenths", tenths).to_string()
        }
    }
}

/// The parameters of a query, or of a form.
fn wanted(fields: &Fields) -> Result<Wanted> {
    let place = fields.number("place")?.filter(|place| *place != 0);
    let percent = fields.number("percent")?.unwrap_or(PERCENT);
    if !(1..=100).contains(&percent) {
        return Err(Error::field("percent", "must be from 1 to 100"));
    }
    Ok(Wanted {
        place: place.map(DeviceId),
        percent,
    })
}

pub(super) async fn show(request: RequestContext) -> Result<Response> {
    let asked = wanted(&request.query);
    let (wanted, made) = match asked {
        Ok(wanted) => (wanted, attendance(request.console.app(), wanted).await),
        Err(cause) => (
            Wanted {
                place: None,
                percent: PERCENT,
            },
            Err(cause),
        ),
    };
    let (attendance, failure) = match made {
        Ok(attendance) => (Some(attendance), None),
        Err(cause) if cause.kind == Kind::Defect => return Err(cause),
        Err(cause) => (None, Some(answer::sentence(&cause))),
    };
    let (mut templates, gateway) = request.look_up(|connection| {
        let gateway = gateways::find(connection, Channel::Email)?;
        Ok((templates::all(connection)?, gateway))
    })?;
    templates.retain(|template| is_sendable(&template.entry));
    let places = request.look_up(devices::places)?.into_iter();
    let places = places.map(|place| {
        let is_chosen = wanted.place == Some(DeviceId(place.id));
        Choice::named(place.id.to_string(), place.name, is_chosen)
    });
    let whole = Choice::new("", "Everything", wanted.place.is_none());
    let count = |count: &dyn Fn(&Attendance) -> usize| {
        let count = attendance.as_ref().map_or(0, count);
        i64::try_from(count).unwrap_or(i64::MAX)
    };
    let page = Page {
        layout: layout(&request, "Certificates"),
        inputs: [
            Input::select(
                "place",
                "Event or place",
                std::iter::once(whole).chain(places),
            ),
            Input::number("percent", "Attended for at least, in percent", 1, 100)
                .value(wanted.percent.to_string())
                .required(),
        ],
        enough: count(&|it| it.enough(wanted.percent).count()),
        there: count(&|it| it.people.len()),
        wanted,
        attendance,
        failure,
        is_online: request.console.settings().outside_url().is_some(),
        templates,
        has_gateway: gateway.is_some(),
    };
    answer::form_page(
        page.failure.is_some() && !request.query.text("percent").is_empty(),
        &page,
    )
}

pub(super) async fn file(request: RequestContext) -> Result<Response> {
    let wanted = wanted(&request.query)?;
    let attendance = attendance(request.console.app(), wanted).await?;
    let settings = request.console.settings();
    let path = request.console.store.path().to_owned();
    let read = move |connection: &Connection| {
        certificates::prepare(connection, &settings, wanted, &attendance)
    };
    let prepared = request.read(read).await?;
    let draw = move || Background::of(&path).run(|| prepared.pdf());
    let drawn = tokio::task::spawn_blocking(draw)
        .await
        .map_err(Error::defect)??;
    Ok(answer::pdf(drawn, "certificates.pdf"))
}

/// Tells whether a template is an e-mail that speaks of a certificate.
fn is_sendable(entry: &Entry) -> bool {
    entry.channel == Channel::Email.name() && entry.is_of_certificates()
}

/// Sends each attendee's certificate by e-mail.
pub(super) async fn mail(request: RequestContext) -> Result<Response> {
    let wanted = wanted(&request.form)?;
    let id = request.form.number("template")?.unwrap_or_default();
    let template = request.look_up(|connection| templates::of_id(connection, id))?;
    let template = template
        .filter(|template| is_sendable(&template.entry))
        .ok_or_else(|| Error::field("template", "choose one that speaks of a certificate"))?;
    let app = request.console.app();
    let attendance = attendance(app, wanted).await?;
    let mailed = messages::certificates::send(app, wanted, template, attendance).await?;
    let told = [
        ("E-mails on their way, see Messages, Outbox:", mailed.sent),
        ("Attendees who got one before:", mailed.before),
        ("Without an e-mail address:", mailed.unreachable),
    ];
    let told = told
        .iter()
        .enumerate()
        .filter(|(at, (_, count))| *at == 0 || *count > 0);
    let told: Vec<_> = told
        .map(|(_, (words, count))| format!("{} {count}.", say(words)))
        .collect();
    let told = told.join(" ");
    let place = wanted.place.map_or(0, |place| place.0);
    let page = format!("{PAGE}?place={place}&percent={}", wanted.percent);
    request.done(told, &page)
}
