//! Printers as they are set up: where they are, what they speak, for whom they print, and when by themselves.

use super::{check_ins, tcp};
use crate::{
    core::{
        Context,
        outbox::destination as destinations,
        outgoing::{Reach, check_reader, check_url},
    },
    db::Tx,
    types::{
        ClientId, DeviceId,
        error::{Error, Kind, Result},
    },
};
use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeSet;

/// The most printers.
const PRINTERS_MAX: usize = 50;
/// Dots an inch that label printers have.
pub const DOTS: [u32; 4] = [152, 203, 300, 600];
/// Widths of the paper of a Brother QL, in millimetres.
pub const PAPERS: [u8; 5] = [29, 38, 50, 54, 62];

/// The language of a printer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// ZPL II, by TCP.
    #[default]
    Zpl,
    /// The raster of a Brother QL, by TCP.
    Brother,
    /// IPP Everywhere, `AirPrint`, CUPS.
    Ipp,
}

/// The check-ins at which a printer prints by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ByItself {
    #[default]
    Never,
    /// The first of each attendee, wherever.
    First,
    Each,
}

/// A printer as an administrator sets it up, and as the configuration document has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewPrinter {
    pub name: String,
    #[serde(default)]
    pub language: Language,
    /// A host and port, or the address of IPP.
    pub address: String,
    /// Dots an inch.
    #[serde(default = "usual_dpi")]
    pub dpi: u32,
    /// The width of a Brother's paper, in millimetres.
    #[serde(default = "usual_paper")]
    pub paper: u8,
    /// Clients that print here, by their ids.
    #[serde(default)]
    pub gates: BTreeSet<String>,
    /// Codes of places, with all below them. A printer without places and gates is for all others.
    #[serde(default)]
    pub places: BTreeSet<String>,
    #[serde(default)]
    pub by_itself: ByItself,
    /// Types of attendees that it prints by itself for; none: all.
    #[serde(default)]
    pub types: BTreeSet<String>,
    /// The name of the printer that prints while this one does not work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<String>,
}

fn usual_dpi() -> u32 {
    203
}

fn usual_paper() -> u8 {
    62
}

impl Default for NewPrinter {
    fn default() -> Self {
        Self {
            name: String::new(),
            language: Language::default(),
            address: String::new(),
            dpi: usual_dpi(),
            paper: usual_paper(),
            gates: BTreeSet::new(),
            places: BTreeSet::new(),
            by_itself: ByItself::default(),
            types: BTreeSet::new(),
            fallback: None,
        }
    }
}

impl NewPrinter {
    /// Checks it by itself.
    ///
    /// # Errors
    /// [`Kind::Invalid`], naming the field.
    pub fn check(&self, reach: Reach) -> Result<()> {
        if self.name.trim().is_empty() || self.name.chars().count() > 100 {
            return Err(Error::field("name", "must have 1 to 100 characters"));
        }
        if !DOTS.contains(&self.dpi) {
            return Err(Error::field("dpi", "must be 152, 203, 300 or 600"));
        }
        if !PAPERS.contains(&self.paper) {
            return Err(Error::field("paper", "must be 29, 38, 50, 54 or 62"));
        }
        if self.fallback.as_ref() == Some(&self.name) {
            return Err(Error::field("fallback", "must be another printer"));
        }
        match self.language {
            Language::Zpl | Language::Brother => check_reader("address", &self.address, reach),
            Language::Ipp => {
                let url = super::ipp::url(&self.address).ok_or_else(|| {
                    Error::field("address", "must be like ipp://192.0.2.9/ipp/print")
                })?;
                check_url("address", &url, reach)
            }
        }
    }
}

/// A printer that is set up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Printer {
    pub id: i64,
    pub is: NewPrinter,
}

impl Printer {
    /// The id of one that is not stored.
    pub const NEW: i64 = 0;

    /// One that is not stored yet.
    pub fn new(is: &NewPrinter) -> Self {
        Self {
            id: Self::NEW,
            is: is.clone(),
        }
    }

    /// Its destination in the outbox.
    pub fn destination(&self) -> String {
        destination(self.id)
    }
}

/// The beginning of the names of printers' destinations in the outbox.
pub const DESTINATION: &str = "printer:";

/// The destination of a printer in the outbox.
pub fn destination(id: i64) -> String {
    format!("{DESTINATION}{id}")
}

/// The printer of a destination.
pub fn id_of(destination: &str) -> Option<i64> {
    destination.strip_prefix("printer:")?.parse().ok()
}

/// Every printer, by name.
pub fn all(connection: &Connection) -> Result<Vec<Printer>> {
    let mut statement =
        connection.prepare_cached("SELECT id, definition FROM printers ORDER BY name")?;
    let found = statement.query_map([], |row| Ok((row.get(0)?, row.get::<_, String>(1)?)))?;
    let printer = |found: rusqlite::Result<(i64, String)>| {
        let (id, definition) = found?;
        let is = serde_json::from_str(&definition).map_err(Error::defect)?;
        Ok(Printer { id, is })
    };
    found.map(printer).collect()
}

/// A printer by its id; none where it was removed.
pub fn get(connection: &Connection, id: i64) -> Result<Option<Printer>> {
    let all = all(connection)?;
    Ok(all.into_iter().find(|printer| printer.id == id))
}

/// A printer by its name.
///
/// # Errors
/// [`Kind::Invalid`] where there is none.
pub fn named(connection: &Connection, name: &str) -> Result<Printer> {
    let found = all(connection)?.into_iter();
    let mut found = found.filter(|printer| printer.is.name == name);
    found
        .next()
        .ok_or_else(|| Error::field("printer", format!("there is no printer {name}")))
}

/// Stores checked printers, each in the place of the one with its name; with `prune` the others go.
pub fn save(tx: &Tx<'_>, ctx: &Context, printers: &[NewPrinter], prune: bool) -> Result<()> {
    let mut all = all(tx)?;
    if prune {
        all.retain(|known| printers.iter().any(|new| new.name == known.is.name));
    }
    for new in printers {
        match all.iter_mut().find(|known| known.is.name == new.name) {
            Some(known) => known.is.clone_from(new),
            None => all.push(Printer::new(new)),
        }
    }
    replace(tx, ctx, &all)
}

/// Creates a printer, or changes the one that has the name `before`.
pub fn put(tx: &Tx<'_>, ctx: &Context, before: Option<&str>, new: &NewPrinter) -> Result<()> {
    let mut all = all(tx)?;
    let named = |all: &[Printer], name: &str| all.iter().position(|known| known.is.name == name);
    if before != Some(&*new.name) && named(&all, &new.name).is_some() {
        return Err(Error::field("name", "there is one of this name already"));
    }
    match before {
        None => all.push(Printer::new(new)),
        Some(before) => {
            let at = named(&all, before).ok_or_else(missing)?;
            all[at].is.clone_from(new);
            for other in &mut all {
                if other.is.fallback.as_deref() == Some(before) {
                    other.is.fallback = Some(new.name.clone());
                }
            }
        }
    }
    replace(tx, ctx, &all)
}

/// Removes a printer with its jobs.
pub fn remove(tx: &Tx<'_>, ctx: &Context, name: &str) -> Result<()> {
    let mut all = all(tx)?;
    all.retain(|known| known.is.name != name);
    for other in &mut all {
        other.is.fallback.take_if(|fallback| fallback == name);
    }
    replace(tx, ctx, &all)
}

/// The error where no printer is for somebody.
pub fn none_here() -> Error {
    Error::invalid(
        "no printer is for this place; an administrator sets one up under Settings, Printers",
    )
}

fn missing() -> Error {
    Error::new(Kind::NoSuchPath, "there is no such printer any more")
}

/// Makes these all printers that there are.
fn replace(tx: &Tx<'_>, ctx: &Context, printers: &[Printer]) -> Result<()> {
    let before = all(tx)?;
    if printers.len() > PRINTERS_MAX {
        return Err(Error::invalid(format!(
            "there can be {PRINTERS_MAX} printers; remove one that nobody needs"
        )));
    }
    let is_there = |name: &String| printers.iter().any(|other| other.is.name == *name);
    let mut fallbacks = printers.iter().filter_map(|one| one.is.fallback.as_ref());
    if let Some(gone) = fallbacks.find(|name| !is_there(name)) {
        let message = format!("there is no printer {gone}");
        return Err(Error::field("fallback", message));
    }
    for gone in &before {
        if printers.iter().all(|printer| printer.id != gone.id) {
            tx.execute("DELETE FROM printers WHERE id = ?1", [gone.id])?;
            destinations::remove(tx, &gone.destination())?;
        }
    }
    for printer in printers {
        let (name, definition) = (&printer.is.name, json!(printer.is).to_string());
        if printer.id == Printer::NEW {
            tx.execute(
                "INSERT INTO printers (name, definition) VALUES (?1, ?2)",
                (name, definition),
            )?;
        } else {
            tx.execute(
                "UPDATE printers SET name = ?2, definition = ?3 WHERE id = ?1",
                (printer.id, name, definition),
            )?;
        }
    }
    let after = all(tx)?;
    for printer in &after {
        destinations::ensure(tx, &printer.destination())?;
        // Its address may have been wrong.
        destinations::retry(tx, &printer.destination())?;
    }
    let prints = |one: &Printer| one.is.by_itself != ByItself::Never;
    check_ins::follow(tx, after.iter().any(prints))?;
    tx.outdate_caches();
    let told = |all: &[Printer]| json!(all.iter().map(|printer| &printer.is).collect::<Vec<_>>());
    ctx.audit_update(tx, "printers", told(&before), told(&after))
}

/// The printer for what a client asks for at a place: the client's, otherwise that of the nearest place, otherwise one
/// that is neither for clients nor places.
pub fn assigned(
    connection: &Connection,
    client: Option<ClientId>,
    place: Option<DeviceId>,
) -> Result<Option<Printer>> {
    let mut all = all(connection)?;
    if all.is_empty() {
        return Ok(None);
    }
    let client: Option<String> = match client {
        Some(client) => connection
            .prepare_cached("SELECT client_id FROM clients WHERE id = ?1")?
            .query_row([client], |row| row.get(0))
            .optional()?,
        None => None,
    };
    let of_client = |printer: &Printer| {
        client
            .as_ref()
            .is_some_and(|id| printer.is.gates.contains(id))
    };
    if let Some(at) = all.iter().position(of_client) {
        return Ok(Some(all.swap_remove(at)));
    }
    for code in codes_up(connection, place)? {
        if let Some(at) = all.iter().position(|one| one.is.places.contains(&code)) {
            return Ok(Some(all.swap_remove(at)));
        }
    }
    let for_all = |one: &Printer| one.is.gates.is_empty() && one.is.places.is_empty();
    Ok(all.into_iter().find(for_all))
}

/// The codes of a place and of those above it, from below.
fn codes_up(connection: &Connection, place: Option<DeviceId>) -> Result<Vec<String>> {
    let Some(place) = place else {
        return Ok(Vec::new());
    };
    let mut statement = connection.prepare_cached(
        "WITH RECURSIVE up (id, code, parent, depth) AS (
             SELECT id, code, parent_id, 0 FROM devices WHERE id = ?1
             UNION ALL SELECT d.id, d.code, d.parent_id, depth + 1 FROM devices d JOIN up ON d.id = up.parent
             WHERE depth < 32)
         SELECT code FROM up WHERE code IS NOT NULL ORDER BY depth",
    )?;
    let codes = statement.query_map([place], |row| row.get(0))?;
    Ok(codes.collect::<rusqlite::Result<_>>()?)
}

/// Words for a badge that is too large for a printer; none where it fits.
pub(super) fn too_wide(printer: &NewPrinter, width: f64) -> Option<String> {
    let paper = f64::from(printer.paper);
    (printer.language == Language::Brother && width > paper + tcp::SPARE_MM)
        .then(|| format!("the badge is {width} mm wide, and the paper of this printer {paper} mm"))
}

/// Returns why nothing is printed at a printer now, as far as its last badge told.
pub fn trouble(connection: &Connection, printer: &Printer) -> Result<Option<String>> {
    let why = connection
        .prepare_cached(
            "SELECT why FROM outbox_destinations WHERE name = ?1 AND failing_since IS NOT NULL",
        )?
        .query_row([printer.destination()], |row| {
            row.get::<_, Option<String>>(0)
        })
        .optional()?;
    Ok(why.flatten())
}
