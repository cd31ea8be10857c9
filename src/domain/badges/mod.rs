//! Badges: layouts by type of attendee, drawn by the crate `badges` with what a record says.

pub mod api;

pub use badges::{Badge, Fields, Layout, Sheet, Warning, brother_ql, presets, zpl};

use crate::{
    core::{
        Context,
        records::Selection,
        settings::{Settings, logo},
    },
    db::Tx,
    domain::delegates::RESOURCE,
    types::{
        DelegateId,
        error::{Error, Kind, Result},
    },
};
use badges::{Fonts, Images};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::sync::LazyLock;

/// The most layouts.
const LAYOUTS_MAX: usize = 50;
/// The picture of a layout that is the logo of the instance.
const LOGO: &str = "logo";

static FONTS: LazyLock<Fonts> = LazyLock::new(Fonts::default);

/// Every layout, by name.
pub fn all(connection: &Connection) -> Result<Vec<Layout>> {
    let mut statement =
        connection.prepare_cached("SELECT layout FROM badge_layouts ORDER BY name")?;
    let layouts = statement.query_map([], |row| row.get::<_, String>(0))?;
    layouts
        .map(|layout| serde_json::from_str(&layout?).map_err(Error::defect))
        .collect()
}

/// A layout as JSON, its lengths to a hundredth of a millimetre.
pub fn to_json(layout: &Layout) -> Result<Value> {
    let mut json = serde_json::to_value(layout).map_err(Error::defect)?;
    round(&mut json);
    Ok(json)
}

fn round(value: &mut Value) {
    match value {
        Value::Array(parts) => parts.iter_mut().for_each(round),
        Value::Object(parts) => parts.values_mut().for_each(round),
        Value::Number(number) => {
            if let Some(length) = number.as_f64() {
                *value = json!((length * 100.0).round() / 100.0);
            }
        }
        _ => {}
    }
}

/// Checks a layout.
///
/// # Errors
/// [`Kind::Invalid`], naming the part that is wrong.
pub fn check(layout: &Layout) -> Result<()> {
    let checked = layout.check();
    checked.map_err(|fault| Error::field(fault.field, fault.message))
}

/// Stores checked layouts, each in the place of the one with its name; with `prune` the others go.
pub fn save(tx: &Tx<'_>, ctx: &Context, layouts: &[Layout], prune: bool) -> Result<()> {
    let before = json!(all(tx)?);
    if prune {
        tx.execute("DELETE FROM badge_layouts", [])?;
    }
    for layout in layouts {
        tx.execute(
            "INSERT INTO badge_layouts (name, layout) VALUES (?1, ?2)
             ON CONFLICT (name) DO UPDATE SET layout = excluded.layout",
            (&layout.name, to_json(layout)?.to_string()),
        )?;
    }
    let after = all(tx)?;
    if after.len() > LAYOUTS_MAX {
        return Err(Error::invalid(format!(
            "there can be {LAYOUTS_MAX} layouts of badges; remove one that nobody needs"
        )));
    }
    ctx.audit_update(tx, "badges", before, json!(after))
}

/// All that draws badges, as it is at one moment.
pub struct Press {
    layouts: Vec<Layout>,
    images: Images,
    event: String,
}

impl Press {
    /// Without a layout of its own the instance has the first preset.
    pub fn load(connection: &Connection, settings: &Settings) -> Result<Self> {
        let mut layouts = all(connection)?;
        if layouts.is_empty() {
            layouts = presets::all();
            layouts.truncate(1);
        }
        let logo = logo::find(connection)?.map(|logo| (LOGO.to_owned(), logo.content));
        Ok(Self {
            layouts,
            images: logo.into_iter().collect(),
            event: settings.name.clone().unwrap_or_default(),
        })
    }

    /// The layout of a type of attendees: the first that names it, otherwise the first that names none.
    fn layout(&self, kind: &str) -> Result<&Layout> {
        let names = |layout: &&Layout| {
            let mut types = layout.types.iter();
            types.any(|named| named.eq_ignore_ascii_case(kind))
        };
        let mut layouts = self.layouts.iter();
        let general = || layouts.find(|layout| layout.types.is_empty());
        self.layouts
            .iter()
            .find(names)
            .or_else(general)
            .ok_or_else(|| {
                let kind = if kind.is_empty() {
                    "attendees without a type"
                } else {
                    kind
                };
                Error::invalid(format!("no layout of badges is for {kind}"))
            })
    }

    /// Draws the badge of a record, as JSON of what may be seen of it.
    ///
    /// # Errors
    /// [`Kind::Invalid`] where no layout is for its type.
    pub fn draw(&self, record: &Value) -> Result<Badge> {
        let fields = fields(record, &self.event);
        let kind = fields.get("type").map_or("", String::as_str);
        Ok(self.draw_by(self.layout(kind)?, &fields))
    }

    /// Draws a badge by a layout that need not be stored.
    pub fn draw_by(&self, layout: &Layout, fields: &Fields) -> Badge {
        layout.draw(&FONTS, &self.images, fields)
    }
}

/// The record of an attendee as badges have it, all of it or what `visible` lets a client see.
///
/// # Errors
/// [`Kind::DelegateNotFound`].
pub fn record(
    connection: &Connection,
    settings: &Settings,
    id: DelegateId,
    visible: Option<&[String]>,
) -> Result<Value> {
    let selection = Selection::parse(&RESOURCE, None, visible)?;
    let json = selection.one(connection, "id", &id, &settings.zone)?;
    let json = json.ok_or_else(|| RESOURCE.missing(&id))?;
    serde_json::from_str(&json).map_err(Error::defect)
}

/// The most badges of one PDF.
pub const PDF_MAX: usize = 10_000;

/// The records of all attendees, or those of a type, by last name: as many as one PDF takes.
///
/// # Errors
/// [`Kind::Invalid`] where there are more, or none.
pub fn records(
    connection: &Connection,
    settings: &Settings,
    kind: Option<&str>,
) -> Result<Vec<Value>> {
    let mut statement = connection.prepare_cached(
        "SELECT id FROM delegates WHERE deleted_at IS NULL AND (?1 IS NULL OR delegate_type = ?1)
         ORDER BY last_name, first_name, id LIMIT ?2",
    )?;
    let ids = statement.query_map((kind, PDF_MAX + 1), |row| row.get(0).map(DelegateId))?;
    let ids = ids.collect::<rusqlite::Result<Vec<_>>>()?;
    if ids.is_empty() || ids.len() > PDF_MAX {
        return Err(Error::invalid(match kind {
            _ if ids.len() > PDF_MAX => {
                format!("one PDF has at most {PDF_MAX} badges: choose a type")
            }
            Some(kind) => format!("there is no attendee of the type {kind}"),
            None => "there are no attendees yet".to_owned(),
        }));
    }
    let records = ids
        .into_iter()
        .map(|id| record(connection, settings, id, None));
    records.collect()
}

/// So many of the samples are of invented people.
pub const INVENTED: usize = 2;

/// Fields to try a layout with: of invented people with a usual and a long name, and of those in the list with the longest
/// name and the longest company.
pub fn samples(connection: &Connection, settings: &Settings) -> Result<Vec<(String, Fields)>> {
    let invented = |first: &str, last: &str, company: &str| {
        json!({"firstName": first, "lastName": last, "company": company, "barcode": "TLH26-FJ7ADVN4",
            "delegateType": "Speaker", "email": "ada@example.org", "jobTitle": "Chair"})
    };
    let mut samples = vec![
        (
            "Ada Lovelace".to_owned(),
            invented("Ada", "Lovelace", "Analytical Engines"),
        ),
        (
            "A name of 60 letters".to_owned(),
            invented(
                "Bartholomew Maximilian",
                "von und zu Hohenlohe-Schillingsfürst",
                "Institute",
            ),
        ),
    ];
    for (told, column) in [
        (
            "The longest name",
            "coalesce(first_name, '') || coalesce(last_name, '')",
        ),
        ("The longest company", "coalesce(company, '')"),
    ] {
        let sql = format!(
            "SELECT id, max(length({column})) AS letters FROM delegates WHERE deleted_at IS NULL"
        );
        let id = connection.query_row(&sql, [], |row| row.get::<_, Option<i64>>(0))?;
        if let Some(id) = id {
            samples.push((
                told.to_owned(),
                record(connection, settings, DelegateId(id), None)?,
            ));
        }
    }
    let event = settings.name.as_deref().unwrap_or_default();
    let samples = samples.into_iter();
    Ok(samples
        .map(|(told, record)| (told, fields(&record, event)))
        .collect())
}

/// The fields of a badge: the properties of a record that are texts or numbers, those of its sections as
/// `Section.property`, and some that layouts are simpler with.
pub fn fields(record: &Value, event: &str) -> Fields {
    let mut fields = Fields::new();
    let mut add = |name: String, value: &Value| match value {
        Value::String(text) => {
            fields.insert(name, text.clone());
        }
        Value::Number(number) => {
            fields.insert(name, number.to_string());
        }
        _ => {}
    };
    for (name, value) in record.as_object().into_iter().flatten() {
        add(name.clone(), value);
    }
    for (section, properties) in record["data"].as_object().into_iter().flatten() {
        for (name, value) in properties.as_object().into_iter().flatten() {
            add(format!("{section}.{name}"), value);
        }
    }
    let text = |name: &str| record[name].as_str().unwrap_or_default();
    let name = format!("{} {}", text("firstName"), text("lastName"));
    let ticket = match text("barcode") {
        "" => text("publicId"),
        barcode => barcode,
    };
    for (name, value) in [
        ("name", name.trim()),
        ("ticket", ticket),
        ("type", text("delegateType")),
        ("eventName", event),
    ] {
        fields.insert(name.to_owned(), value.to_owned());
    }
    fields
}

/// Makes a PDF of badges, each on a page of its own, or several on each sheet.
///
/// # Errors
/// [`Kind::Invalid`] for badges that are larger than the sheet.
pub fn pdf(badges: &[Badge], sheet: Option<Sheet>) -> Result<Vec<u8>> {
    badges::pdf(badges, sheet).map_err(|cause| Error::new(Kind::Invalid, cause))
}
