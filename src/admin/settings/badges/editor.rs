//! The form of a layout: its name, the types that it is for, and the rest as JSON, which the designer fills in.

use super::{HERE, Picture};
use crate::admin::{assets, prelude::*, settings::TABS};
use crate::{
    core::audit,
    domain::{
        badges::{self, Layout as BadgeLayout, Press, Records, presets},
        delegates,
    },
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// A layout as the form has it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Draft {
    pub name: String,
    /// Separated by commas.
    #[serde(default)]
    pub types: String,
    /// The rest, as JSON.
    pub layout: String,
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
    pub fn read(&self) -> Result<BadgeLayout> {
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

pub(super) struct Badges;

/// The designer, which fills in the JSON.
#[derive(Template)]
#[template(path = "settings/badge.html")]
struct Designer {
    /// Fields, types and presets for the script, as JSON.
    offered: String,
    samples: [&'static str; 5],
    script: String,
}

#[derive(Template)]
#[template(path = "settings/badge_parts.html")]
struct Parts {
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
        let draft = preset.and_then(|preset| Draft::of(&in_words(preset)).ok());
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

    fn groups(connection: &Connection, _: Option<&Named>, draft: &Draft) -> Groups {
        let inputs = vec![
            Input::text("name", "Name").required().max(100),
            Input::text("types", "For types")
                .placeholder("Speaker, Press")
                .help("Types of attendees, separated by commas. Without one: for all that no other layout names."),
        ];
        let (_, sample) = badges::invented();
        let fields: Vec<String> = badges::fields(&sample, "").into_keys().collect();
        let presets: Vec<Value> = presets::all().iter().map(size).collect();
        let types = delegates::types(connection)?;
        let designer = Designer {
            offered: json!({"fields": fields, "types": types, "presets": presets}).to_string(),
            samples: badges::SAMPLES,
            script: assets::address("designer/designer.js"),
        };
        let json = Input::area("layout", "As JSON", 24).wide().code().folded_always().help(
            "Millimetres from the upper left corner, letters in points. Preview shows it, and saves nothing.",
        );
        let groups = vec![
            Group::new("Layout", inputs).tool(&designer)?,
            Group::new("", vec![json]).tool(&Parts { fields })?,
        ];
        engine::filled(groups, draft)
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
        vec![Button::new("preview", "Preview all samples").shows()]
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
}

/// A preset as the designer offers it: its size.
/// A preset with its words in the language of the request.
fn in_words(mut preset: BadgeLayout) -> BadgeLayout {
    preset.name = say(&preset.name);
    for element in preset.front.iter_mut().chain(&mut preset.back) {
        if let badges::Kind::Text { text, .. } = &mut element.kind {
            *text = say(&*text);
        }
    }
    preset
}

fn size(preset: &BadgeLayout) -> Value {
    json!({"name": say(&preset.name), "width": preset.width, "height": preset.height})
}

fn replace(tx: &Tx<'_>, ctx: &Context, before: Option<&Named>, draft: &Draft) -> Result<()> {
    let name = |layout: &BadgeLayout| layout.name.clone();
    let all = engine::replaced(badges::all(tx)?, name, before, draft.read()?)?;
    badges::save(tx, ctx, &all, true)
}
