//! Badges: layouts by type of attendee, drawn by the crate `badges` with what a record says.

pub mod api;

pub use badges::{
    BROTHER_DPI, Badge, Fields, Layout, Page, Sheet, brother_ql, presets, pwg_raster, zpl,
};

use crate::{
    core::{
        Context,
        records::Selection,
        rules::folded,
        settings::{Settings, logo},
    },
    db::Tx,
    domain::delegates::RESOURCE,
    types::{
        DelegateId,
        error::{Error, Result},
    },
};
use badges::{Fonts, Images, Pdf};
use rusqlite::{Connection, OptionalExtension};
use serde_json::{Value, json};
use std::sync::LazyLock;

/// The most layouts.
const LAYOUTS_MAX: usize = 50;
/// The most badges of one PDF.
pub const PDF_MAX: usize = 10_000;
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
            (&layout.name, json!(layout).to_string()),
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
            layouts.extend(presets::all().into_iter().next());
        }
        let mut images = Images::default();
        if let Some(logo) = logo::find(connection)? {
            images.add(LOGO, &logo.content);
        }
        Ok(Self {
            layouts,
            images,
            event: settings.name.clone().unwrap_or_default(),
        })
    }

    /// Draws the badge of a record, as JSON of what may be seen of it, by the first layout that names its type, otherwise
    /// the first that names none.
    ///
    /// # Errors
    /// [`Kind::Invalid`] where no layout is for its type.
    pub fn draw(&self, record: &Value) -> Result<Badge> {
        let kind = kind_of(record);
        let names = |layout: &&Layout| is_of(kind, &layout.types);
        let general = || self.layouts.iter().find(|layout| layout.types.is_empty());
        let layout = self.layouts.iter().find(names).or_else(general);
        layout
            .map(|layout| self.draw_by(layout, record))
            .ok_or_else(|| {
                let whom = if kind.is_empty() {
                    "attendees without a type"
                } else {
                    kind
                };
                Error::invalid(format!("no layout of badges is for {whom}"))
            })
    }

    /// Draws the badge of a record by a layout that need not be stored.
    pub fn draw_by(&self, layout: &Layout, record: &Value) -> Badge {
        let kind = kind_of(record);
        layout.draw(
            &FONTS,
            &self.images,
            &fields(record, &self.event),
            &|types| is_of(kind, types),
        )
    }
}

fn kind_of(record: &Value) -> &str {
    record["delegateType"].as_str().unwrap_or_default()
}

/// Returns whether a type is among others, compared as everywhere else: folded.
fn is_of(kind: &str, types: &[String]) -> bool {
    let kind = folded(kind);
    types.iter().any(|named| folded(named) == kind)
}

/// Records of attendees as badges have them.
pub struct Records<'a> {
    connection: &'a Connection,
    settings: &'a Settings,
    selection: Selection,
}

impl<'a> Records<'a> {
    /// With all properties, or those that `visible` lets a client see.
    pub fn of(
        connection: &'a Connection,
        settings: &'a Settings,
        visible: Option<&[String]>,
    ) -> Result<Self> {
        let selection = Selection::parse(&RESOURCE, None, visible)?;
        Ok(Self {
            connection,
            settings,
            selection,
        })
    }

    /// The record of an attendee.
    ///
    /// # Errors
    /// [`Kind::DelegateNotFound`].
    pub fn get(&self, id: DelegateId) -> Result<Value> {
        let json = self
            .selection
            .one(self.connection, "id", &id, &self.settings.zone)?;
        let json = json.ok_or_else(|| RESOURCE.missing(&id))?;
        serde_json::from_str(&json).map_err(Error::defect)
    }

    /// Those of all attendees, or those of a type, by last name, or by type first: as many as one PDF takes.
    ///
    /// # Errors
    /// [`Kind::Invalid`] where there are more, or none.
    pub fn all(&self, kind: Option<&str>, by_type: bool) -> Result<Vec<Value>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT id FROM delegates WHERE deleted_at IS NULL AND (?1 IS NULL OR delegate_type = ?1)
             ORDER BY iif(?3, delegate_type, NULL), last_name, first_name, id LIMIT ?2",
        )?;
        let ids = statement.query_map((kind, PDF_MAX + 1, by_type), |row| {
            row.get(0).map(DelegateId)
        })?;
        let ids = ids.collect::<rusqlite::Result<Vec<_>>>()?;
        if ids.len() > PDF_MAX {
            return Err(Error::invalid(format!(
                "one PDF has at most {PDF_MAX} badges: choose a type"
            )));
        }
        if ids.is_empty() {
            return Err(Error::invalid("there is no such attendee"));
        }
        ids.into_iter().map(|id| self.get(id)).collect()
    }

    /// Those to try a layout with, each with what to call it: of invented people with a usual and a long name, and those
    /// in the list with the longest name and the longest company.
    pub fn samples(&self) -> Result<Vec<(&'static str, Value)>> {
        let mut samples = vec![invented()];
        let long = (
            "Bartholomew Maximilian",
            "von und zu Hohenlohe-Schillingsfürst",
        );
        samples.push(("A name of 60 letters", person(long, "Institute")));
        for (told, column) in [
            (
                "The longest name",
                "coalesce(first_name, '') || coalesce(last_name, '')",
            ),
            ("The longest company", "coalesce(company, '')"),
        ] {
            let sql = format!(
                "SELECT id FROM delegates WHERE deleted_at IS NULL ORDER BY length({column}) DESC, id LIMIT 1"
            );
            let id = self
                .connection
                .query_row(&sql, [], |row| row.get(0).map(DelegateId));
            if let Some(id) = id.optional()? {
                samples.push((told, self.get(id)?));
            }
        }
        Ok(samples)
    }
}

/// Somebody with a usual name who is in no list, with what to call the record.
pub fn invented() -> (&'static str, Value) {
    let ada = person(("Ada", "Lovelace"), "Analytical Engines");
    ("Ada Lovelace", ada)
}

fn person((first, last): (&str, &str), company: &str) -> Value {
    json!({"firstName": first, "lastName": last, "company": company, "jobTitle": "Chair", "delegateType": "Speaker",
        "email": "ada@example.org", "phone": "+44 20 7946 0000", "barcode": "TLH26-FJ7ADVN4"})
}

/// The fields of a badge: the properties of a record that are texts or numbers, those of its sections as
/// `Section.property`, and some that layouts are simpler with.
pub fn fields(record: &Value, event: &str) -> Fields {
    let mut fields = Fields::new();
    let mut add = |name: String, value: &Value| match value {
        Value::String(text) => drop(fields.insert(name, text.clone())),
        Value::Number(number) => drop(fields.insert(name, number.to_string())),
        _ => {}
    };
    for (name, value) in record.as_object().into_iter().flatten() {
        if name != "_type" {
            add(name.clone(), value);
        }
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
        ("type", kind_of(record)),
        ("eventName", event),
    ] {
        fields.insert(name.to_owned(), value.to_owned());
    }
    fields
}

/// Makes a PDF of badges as they are drawn, each on a page of its own, or several on each sheet.
///
/// # Errors
/// [`Kind::Invalid`] for badges that are larger than the sheet.
pub fn pdf(
    badges: impl IntoIterator<Item = Result<Badge>>,
    sheet: Option<Sheet>,
) -> Result<Vec<u8>> {
    let mut pdf = Pdf::new(sheet);
    for badge in badges {
        pdf.add(badge?).map_err(Error::invalid)?;
    }
    pdf.finish().map_err(Error::defect)
}
