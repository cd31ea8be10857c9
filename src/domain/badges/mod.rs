//! Badges and certificates: layouts by type of attendee, drawn by the crate `badges` with what a record says.

pub mod api;
pub mod fonts;
mod letters;
mod zones;

pub use letters::Letters;

pub use badges::{
    BROTHER_DPI, Badge, Fields, Fold, Kind, Layout, Page, Purpose, SIGNED_TICKET, Sheet,
    brother_ql, presets, pwg_raster, zpl,
};

use crate::{
    core::{
        Context,
        records::Selection,
        rules::folded,
        settings::{Settings, logo},
        ticket_keys::Signer,
    },
    db::Tx,
    domain::{delegates::RESOURCE, tickets},
    types::{
        DelegateId,
        error::{Error, Result},
    },
};
use badges::{Fonts, Images, Pdf};
use rusqlite::{Connection, OptionalExtension};
use serde_json::{Value, json};
use std::sync::Arc;
use zones::Zones;

/// The most layouts.
const LAYOUTS_MAX: usize = 50;
/// The most badges of one PDF.
pub const PDF_MAX: usize = 10_000;
/// The picture of a layout that is the logo of the instance.
const LOGO: &str = "logo";

/// The records that layouts are tried with, by name: of invented people with a usual and a long name, and those in the
/// list with the longest name, the longest company, and the letter that fewest have.
pub const SAMPLES: [&str; 5] = [
    "Ada Lovelace",
    "A name of 60 letters",
    "The longest name",
    "The longest company",
    "The rarest letter",
];

/// The fields of a certificate, as previews show them.
pub const CERTIFICATE_SAMPLE: [(&str, &str); 5] = [
    ("event", "First aid at the analytical engine"),
    ("dates", "24 September 2026"),
    ("attended", "5.5 hours"),
    ("percent", "91 %"),
    (
        "certificateUrl",
        "https://gate.example.org/t/c7-12-330-91-0123456789abcdef0123456789abcdef",
    ),
];

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
/// [`crate::types::error::Kind::Invalid`], naming the part that is wrong.
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
    fonts: Arc<Fonts>,
    event: String,
}

impl Press {
    /// Without a layout of its own the instance has the first preset.
    pub fn load(connection: &Connection, settings: &Settings) -> Result<Self> {
        Self::of(Purpose::Badge, connection, settings)
    }

    /// As [`Press::load`], for certificates.
    pub fn of_certificates(connection: &Connection, settings: &Settings) -> Result<Self> {
        Self::of(Purpose::Certificate, connection, settings)
    }

    fn of(purpose: Purpose, connection: &Connection, settings: &Settings) -> Result<Self> {
        let is_of = |layout: &Layout| layout.purpose == purpose;
        let mut layouts = all(connection)?;
        layouts.retain(is_of);
        if layouts.is_empty() {
            layouts.extend(presets::all().into_iter().find(is_of));
        }
        let mut images = Images::default();
        if let Some(logo) = logo::find(connection)? {
            images.add(LOGO, &logo.content);
        }
        Ok(Self {
            layouts,
            images,
            fonts: fonts::current(connection)?,
            event: settings.name.clone().unwrap_or_default(),
        })
    }

    /// Draws the badge of a record, as JSON of what may be seen of it, by the first layout that names its type, otherwise
    /// the first that names none.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`] where no layout is for its type.
    pub fn draw(&self, record: &Value) -> Result<Badge> {
        self.draw_with(record, Fields::new())
    }

    /// As [`Press::draw`], with further fields.
    ///
    /// # Errors
    /// As [`Press::draw`].
    pub fn draw_with(&self, record: &Value, more: Fields) -> Result<Badge> {
        let kind = kind_of(record);
        let names = |layout: &&Layout| is_of(kind, &layout.types);
        let general = || self.layouts.iter().find(|layout| layout.types.is_empty());
        let layout = self.layouts.iter().find(names).or_else(general);
        layout
            .map(|layout| self.draw_fields(layout, record, more))
            .ok_or_else(|| {
                let whom = if kind.is_empty() {
                    "attendees without a type"
                } else {
                    kind
                };
                let certificates = self
                    .layouts
                    .iter()
                    .all(|layout| layout.purpose == Purpose::Certificate);
                let what = if certificates {
                    "certificates"
                } else {
                    "badges"
                };
                Error::invalid(format!("no layout of {what} is for {whom}"))
            })
    }

    /// Draws the badge of a record by a layout that need not be stored; a certificate as if for a session.
    pub fn draw_by(&self, layout: &Layout, record: &Value) -> Badge {
        let more = match layout.purpose {
            Purpose::Badge => &[][..],
            Purpose::Certificate => &CERTIFICATE_SAMPLE,
        };
        let more = more
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        self.draw_fields(layout, record, more.collect())
    }

    fn draw_fields(&self, layout: &Layout, record: &Value, more: Fields) -> Badge {
        let kind = kind_of(record);
        let mut fields = fields(record, &self.event);
        fields.extend(more);
        layout.draw(&self.fonts, &self.images, &fields, &|types| {
            is_of(kind, types)
        })
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

/// Returns so many of all attendees, of those of a type, or of those of ids, by last name, or by type first.
pub fn sorted(
    connection: &Connection,
    (kind, ids): (Option<&str>, Option<&[i64]>),
    by_type: bool,
    most: usize,
) -> Result<Vec<DelegateId>> {
    let mut statement = connection.prepare_cached(
        "SELECT id FROM delegates WHERE deleted_at IS NULL AND (?1 IS NULL OR delegate_type = ?1)
             AND (?4 IS NULL OR id IN (SELECT value FROM json_each(?4)))
         ORDER BY iif(?3, delegate_type, NULL), last_name, first_name, id LIMIT ?2",
    )?;
    let ids = ids.map(|ids| json!(ids).to_string());
    let people =
        statement.query_map((kind, most, by_type, ids), |row| row.get(0).map(DelegateId))?;
    Ok(people.collect::<rusqlite::Result<_>>()?)
}

/// Records of attendees as badges have them.
pub struct Records<'a> {
    connection: &'a Connection,
    settings: &'a Settings,
    selection: Selection,
    /// Letters of places; not for a client who sees a part of the record.
    zones: Option<Zones>,
    /// Signs the tickets in QR codes; not for a client who sees no barcodes.
    signer: Option<Signer>,
}

impl<'a> Records<'a> {
    /// With all properties, or those that `visible` lets a client see.
    pub fn of(
        connection: &'a Connection,
        settings: &'a Settings,
        visible: Option<&[String]>,
    ) -> Result<Self> {
        let selection = Selection::parse(&RESOURCE, None, visible)?;
        let mut signer = Signer::find(connection, settings)?;
        if !selection.shows("barcode") {
            signer = None;
        }
        Ok(Self {
            connection,
            settings,
            selection,
            zones: match visible {
                None => Zones::find(connection, settings)?,
                Some(_) => None,
            },
            signer,
        })
    }

    /// The record of an attendee.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::DelegateNotFound`].
    pub fn get(&self, id: DelegateId) -> Result<Value> {
        let json = self
            .selection
            .one(self.connection, "id", &id, &self.settings.zone)?;
        let json = json.ok_or_else(|| RESOURCE.missing(&id))?;
        let mut record: Value = serde_json::from_str(&json).map_err(Error::defect)?;
        if let Some(zones) = &self.zones {
            let letters = zones.of(self.connection, id, kind_of(&record))?;
            record[zones::FIELD] = letters.into();
        }
        if let Some(signer) = &self.signer
            && let Some(signed) = tickets::sign(self.connection, self.settings, signer, id)?
        {
            record[SIGNED_TICKET] = signed.into();
        }
        Ok(record)
    }

    /// Those of all attendees, those of a type, or those of ids, by last name, or by type first: as many as one PDF takes.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`] where there are more, or none.
    pub fn all(
        &self,
        kind: Option<&str>,
        ids: Option<&[i64]>,
        by_type: bool,
    ) -> Result<Vec<Value>> {
        let ids = sorted(self.connection, (kind, ids), by_type, PDF_MAX + 1)?;
        if ids.len() > PDF_MAX {
            return Err(Error::invalid(format!(
                "one PDF has at most {PDF_MAX} badges: choose a type, or filter the list of attendees"
            )));
        }
        if ids.is_empty() {
            return Err(Error::invalid("there is no such attendee"));
        }
        ids.into_iter().map(|id| self.get(id)).collect()
    }

    /// One of [`SAMPLES`], unless the list has nobody like that.
    pub fn sample(&self, name: &str) -> Result<Option<Value>> {
        let id = match name {
            "Ada Lovelace" => return Ok(Some(invented().1)),
            "A name of 60 letters" => {
                let long = (
                    "Bartholomew Maximilian",
                    "von und zu Hohenlohe-Schillingsfürst",
                );
                return Ok(Some(person(long, "Institute")));
            }
            "The longest name" => {
                self.longest("coalesce(first_name, '') || coalesce(last_name, '')")?
            }
            "The longest company" => self.longest("coalesce(company, '')")?,
            "The rarest letter" => Letters::survey(self.connection)?.rarest(),
            _ => None,
        };
        id.map(|id| self.get(id)).transpose()
    }

    /// All of [`SAMPLES`] that there are, each with its name.
    pub fn samples(&self) -> Result<Vec<(&'static str, Value)>> {
        let named = |name| Ok(self.sample(name)?.map(|record| (name, record)));
        let samples = SAMPLES.into_iter().map(named);
        samples.filter_map(Result::transpose).collect()
    }

    fn longest(&self, text: &str) -> Result<Option<DelegateId>> {
        let sql = format!(
            "SELECT id FROM delegates WHERE deleted_at IS NULL ORDER BY length({text}) DESC, id LIMIT 1"
        );
        let id = self.connection.query_row(&sql, [], |row| row.get(0));
        Ok(id.optional()?.map(DelegateId))
    }
}

/// Somebody with a usual name who is in no list, with what to call the record.
pub fn invented() -> (&'static str, Value) {
    let ada = person(("Ada", "Lovelace"), "Analytical Engines");
    (SAMPLES[0], ada)
}

fn person((first, last): (&str, &str), company: &str) -> Value {
    json!({"firstName": first, "lastName": last, "company": company, "jobTitle": "Chair", "delegateType": "Speaker",
        "email": "ada@example.org", "phone": "+44 20 7946 0000", "barcode": "TLH26-FJ7ADVN4",
        zones::FIELD: "A C"})
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
/// [`crate::types::error::Kind::Invalid`] for badges that are larger than the sheet.
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
