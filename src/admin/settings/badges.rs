//! Layouts of badges: from a preset, changed as JSON beside a preview, and all badges as one PDF.

use super::TABS;
use crate::admin::prelude::*;
use crate::{
    core::audit,
    domain::{
        badges::{self, Badge, Layout as BadgeLayout, Press, Records, Sheet, presets},
        delegates,
    },
    ops::background::Background,
};
use base64::{Engine, prelude::BASE64_STANDARD};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

const HERE: &str = "/console/settings/badges";

pub(super) fn routes() -> Routes {
    let edit = "/console/settings/badges/edit";
    Routes::access(ADMINISTRATOR)
        .get(HERE, list)
        .get(edit, engine::show::<Badges>)
        .post(edit, engine::submit::<Badges>)
        .get("/console/settings/badges/pdf", all_as_pdf)
        .action("/console/settings/badges/remove", remove)
}

/// A badge as a picture of a page.
struct Picture {
    name: &'static str,
    /// `data:image/svg+xml;base64,…`, a page each.
    pages: Vec<String>,
    warnings: Vec<String>,
}

impl Picture {
    fn of(name: &'static str, badge: &Badge) -> Self {
        let pages = badge.pages.iter().map(|page| {
            let svg = BASE64_STANDARD.encode(page.svg());
            format!("data:image/svg+xml;base64,{svg}")
        });
        Self {
            name,
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
        Ok(BadgeList {
            layout,
            layouts: layouts.collect(),
            presets: presets::all(),
            types: delegates::types(connection)?,
            has_attendees: delegates::is_any(connection)?,
        })
    };
    request.page("Badges", Area::Settings, read).await
}

/// A layout as the form has it.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Draft {
    name: String,
    /// Separated by commas.
    #[serde(default)]
    types: String,
    /// The rest, as JSON.
    layout: String,
}

impl Draft {
    fn of(layout: &BadgeLayout) -> Result<Self> {
        let mut json = serde_json::to_value(layout).map_err(Error::defect)?;
        if let Some(object) = json.as_object_mut() {
            object.retain(|key, _| !matches!(key.as_str(), "name" | "types"));
        }
        Ok(Self {
            name: layout.name.clone(),
            types: layout.types.join(", "),
            layout: serde_json::to_string_pretty(&json).map_err(Error::defect)?,
        })
    }

    /// The layout, checked.
    fn read(&self) -> Result<BadgeLayout> {
        let of_layout = |cause: &dyn std::fmt::Display| Error::field("layout", cause);
        let mut object: Map<String, Value> =
            serde_json::from_str(&self.layout).map_err(|cause| of_layout(&cause))?;
        let types = self.types.split(',').map(str::trim);
        let types: Vec<&str> = types.filter(|kind| !kind.is_empty()).collect();
        object.insert("name".into(), self.name.clone().into());
        object.insert("types".into(), types.into());
        let layout: BadgeLayout = serde_path_to_error::deserialize(Value::Object(object))
            .map_err(|cause| of_layout(&cause))?;
        badges::check(&layout).map_err(|cause| match &cause.field[..] {
            [field] if field == "name" => cause,
            _ => of_layout(&cause),
        })?;
        Ok(layout)
    }
}

struct Badges;

#[derive(Template)]
#[template(path = "settings/badge.html")]
struct Aside {
    fields: Vec<String>,
}

#[derive(Template)]
#[template(path = "settings/badge_preview.html")]
struct Preview {
    pictures: Vec<Picture>,
}

impl Editor for Badges {
    type Key = Named;
    type Draft = Draft;
    type Created = ();
    const LIST: &'static str = HERE;
    const NOUN: &'static str = "layout";
    const AREA: Area = Area::Settings;

    fn tabs(_: &Layout) -> Tabs {
        (TABS, "Badges")
    }

    fn blank(request: &RequestContext) -> Draft {
        let wanted = request.query.filled("preset");
        let mut presets = presets::all().into_iter();
        let preset = presets.find(|preset| wanted.is_none_or(|wanted| wanted == preset.name));
        let draft = preset.and_then(|preset| Draft::of(&preset).ok());
        draft.unwrap_or(Draft {
            name: String::new(),
            types: String::new(),
            layout: "{}".to_owned(),
        })
    }

    fn find(connection: &Connection, name: &Named) -> Result<Draft> {
        let mut all = badges::all(connection)?.into_iter();
        let found = all.find(|known| known.name == name.0);
        let gone = || {
            let message = format!("there is no layout {} any more", name.0);
            Error::new(Kind::NoSuchPath, message)
        };
        Draft::of(&found.ok_or_else(gone)?)
    }

    fn name(draft: &Draft) -> String {
        draft.name.clone()
    }

    fn groups(_: &Connection, _: Option<&Named>, draft: &Draft) -> Groups {
        let inputs = vec![
            Input::text("name", "Name").required().max(100),
            Input::text("types", "For types")
                .placeholder("Speaker, Press")
                .help("Types of attendees, separated by commas. Without one: for all that no other layout names."),
            Input::area("layout", "Layout", 24).required().wide().code().help(
                "JSON: millimetres from the upper left corner, letters in points. Preview shows it, and saves nothing.",
            ),
        ];
        engine::filled(vec![Group::new("Layout", inputs)], draft)
    }

    fn typed(groups: &[Group], sent: &Fields) -> Result<Draft> {
        engine::typed(groups, sent)
    }

    async fn prepare(_: At<'_, Self>, draft: Draft) -> Result<Draft> {
        draft.read().map(|_| draft)
    }

    fn create(tx: &Tx<'_>, ctx: &Context, draft: &Draft) -> Result<()> {
        replace(tx, ctx, None, draft)
    }

    fn update(tx: &Tx<'_>, ctx: &Context, name: &Named, draft: &Draft) -> Result<()> {
        replace(tx, ctx, Some(name), draft)
    }

    fn created(request: &RequestContext, draft: Draft, (): ()) -> Result<Response> {
        request.done(
            format!("{} saved. Badges are drawn by it.", draft.name),
            HERE,
        )
    }

    fn last_actor(connection: &Connection, _: &Named) -> Result<String> {
        audit::last_actor(connection, "badges", None, &[])
    }

    fn buttons(_: Option<&Named>, _: &Draft) -> Vec<Button> {
        vec![Button::new("preview", "Preview").shows()]
    }

    async fn press(at: At<'_, Self>, mut draft: Draft, _: &str) -> Result<Outcome> {
        if draft.name.is_empty() {
            draft.name = "this layout".into();
        }
        let layout = draft.read()?;
        let settings = at.request.console.settings();
        let draw = move |connection: &Connection| {
            let press = Press::load(connection, &settings)?;
            let samples = Records::of(connection, &settings, None)?
                .samples()?
                .into_iter();
            let drawn =
                samples.map(|(told, record)| Picture::of(told, &press.draw_by(&layout, &record)));
            Ok(drawn.collect())
        };
        let pictures = at.request.read(draw).await?;
        Outcome::shown(&Preview { pictures })
    }

    async fn aside(_: At<'_, Self>) -> Result<String> {
        let (_, sample) = badges::invented();
        let fields = badges::fields(&sample, "").into_keys().collect();
        answer::part(&Aside { fields })
    }
}

fn replace(tx: &Tx<'_>, ctx: &Context, before: Option<&Named>, draft: &Draft) -> Result<()> {
    let name = |layout: &BadgeLayout| layout.name.clone();
    let all = engine::replaced(badges::all(tx)?, name, before, draft.read()?)?;
    badges::save(tx, ctx, &all, true)
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
    let settings = request.console.settings();
    let read = move |connection: &Connection| {
        let press = Press::load(connection, &settings)?;
        let records = Records::of(connection, &settings, None)?.all(kind.as_deref(), by_type)?;
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
