//! Badges: their layouts and fonts, and all badges as one PDF.

mod editor;
mod fonts;
mod preview;

use crate::admin::prelude::*;
use crate::{
    domain::{
        badges::{
            self, Badge, Layout as BadgeLayout, Letters, Press, Records, Sheet,
            fonts::{FontFile, MAX_BYTES as FONT_MAX_BYTES},
            presets,
        },
        delegates,
    },
    ops::background::Background,
};
use base64::{Engine, prelude::BASE64_STANDARD};
use editor::Badges;
use serde::Serialize;

const HERE: &str = "/console/settings/badges";

pub(super) fn routes() -> Routes {
    let edit = "/console/settings/badges/edit";
    Routes::access(ADMINISTRATOR)
        .get(HERE, list)
        .get(edit, engine::show::<Badges>)
        .post(edit, engine::submit::<Badges>)
        .get("/console/settings/badges/pdf", all_as_pdf)
        .action("/console/settings/badges/remove", remove)
        .post("/console/settings/badges/preview", preview::draw)
        .post("/console/settings/badges/fonts", fonts::add)
        .action("/console/settings/badges/fonts/remove", fonts::remove)
}

/// A badge as a picture of each page.
#[derive(Serialize)]
struct Picture {
    /// The name of the person, or of the sample.
    name: String,
    /// `data:image/svg+xml;base64,…`, a page each.
    pages: Vec<String>,
    warnings: Vec<String>,
}

impl Picture {
    fn of(name: impl Into<String>, badge: &Badge) -> Self {
        let pages = badge.pages.iter().map(|page| {
            let svg = BASE64_STANDARD.encode(page.svg());
            format!("data:image/svg+xml;base64,{svg}")
        });
        Self {
            name: name.into(),
            pages: pages.collect(),
            warnings: badge.warnings.iter().map(ToString::to_string).collect(),
        }
    }
}

#[derive(Template)]
#[template(path = "settings/badges.html")]
struct BadgeList {
    layout: Layout,
    layouts: Vec<(BadgeLayout, Picture)>,
    presets: Vec<BadgeLayout>,
    types: Vec<String>,
    has_attendees: bool,
    fonts: Vec<FontFile>,
    /// The letters of attendees that no font has, each with how many have it.
    missing: Vec<(char, usize)>,
    /// The attendees who were looked at for them.
    people: usize,
}

async fn list(request: RequestContext) -> Result<Response> {
    let settings = request.console.settings();
    let read = move |connection: &Connection, layout| {
        let press = Press::load(connection, &settings)?;
        let (name, sample) = badges::invented();
        let layouts = badges::all(connection)?.into_iter().map(|layout| {
            let picture = Picture::of(name, &press.draw_by(&layout, &sample));
            (layout, picture)
        });
        let letters = Letters::survey(connection)?;
        Ok(BadgeList {
            layout,
            layouts: layouts.collect(),
            presets: presets::all(),
            types: delegates::types(connection)?,
            has_attendees: delegates::is_any(connection)?,
            fonts: badges::fonts::all(connection)?,
            missing: letters.missing(&*badges::fonts::current(connection)?),
            people: letters.people,
        })
    };
    request.page("Badges", Area::Settings, read).await
}

fn remove(tx: &Tx<'_>, ctx: &Context, action: &Action) -> Result<Done> {
    let name = action.form.text("name");
    let mut all = badges::all(tx)?;
    all.retain(|known| known.name != name);
    badges::save(tx, ctx, &all, true)?;
    Ok(Done::new(format!("{name} removed."), HERE))
}

/// The badges of everybody, or of a type, a page each or as many on an A4 as fit.
async fn all_as_pdf(request: RequestContext) -> Result<Response> {
    let kind = request.query.filled("type").map(ToOwned::to_owned);
    let sheet = (request.query.filled("sheet") == Some("a4")).then_some(Sheet::A4);
    let by_type = request.query.filled("sort") == Some("type");
    drawn(&request, kind, None, (sheet, by_type)).await
}

/// The badges of all attendees, those of a type or those of ids, as a PDF.
pub(in crate::admin) async fn drawn(
    request: &RequestContext,
    kind: Option<String>,
    ids: Option<Vec<i64>>,
    (sheet, by_type): (Option<Sheet>, bool),
) -> Result<Response> {
    let settings = request.console.settings();
    let read = move |connection: &Connection| {
        let press = Press::load(connection, &settings)?;
        let records = Records::of(connection, &settings, None)?;
        let records = records.all(kind.as_deref(), ids.as_deref(), by_type)?;
        Ok((press, records))
    };
    let (press, records) = request.read(read).await?;
    let path = request.console.store.path().to_owned();
    let draw = move || {
        let badges = records.iter().map(|record| press.draw(record));
        Background::of(&path).run(|| badges::pdf(badges, sheet))
    };
    let drawn = tokio::task::spawn_blocking(draw)
        .await
        .map_err(Error::defect)??;
    Ok(answer::pdf(drawn, "badges.pdf"))
}
