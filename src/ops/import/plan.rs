//! The plan for a row: the body of a record, new or matched by a key, or an interaction. The
//! check and the write ask the same questions here.

use super::{
    Columns, Source, Survey, What,
    bad::{Failure, Problem},
    batches::Options,
    body::{BY_NAME, Planned, ROOM},
    device_names::DeviceNames,
    people::{EMAIL, NAME_AND_EMAIL, by_person, person},
    source::{Content, Row},
};
use crate::{
    core::{
        Context,
        records::{Field, Resource, write},
    },
    domain::{badges::SIGNED_TICKET, delegates, devices, events, interactions::draft::Draft},
    types::{
        DelegateSelector, DeviceId, DeviceSelector,
        error::{Error, Kind as ErrorKind, Result},
        json::{check_limits, fault, no_property_twice},
    },
};
use rusqlite::Connection;
use serde_json::{Map, Value};

/// The way in which the rows of a file are imported.
#[derive(Clone)]
pub struct Plan {
    /// The kind of records that they are.
    pub what: What,
    /// Their columns.
    pub columns: Columns,
    /// The unique code by which a row means a record that is there already.
    pub key: Option<&'static str>,
    /// The device of the batch, and of interactions that name none.
    pub device: Option<DeviceId>,
    pub options: Options,
    /// The context of the one who imports.
    pub ctx: Context,
}

impl Plan {
    /// Matches the columns of a file, and checks what is asked for as a whole.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] for columns that mean nothing, and for a key or a join that does not go with
    /// what is imported.
    pub fn new(
        source: &Source,
        mut ctx: Context,
        what: What,
        options: Options,
        device: Option<DeviceId>,
        survey: &Survey,
    ) -> Result<Self> {
        let columns = Columns::of(what, source, &options.map)
            .and_then(|columns| columns.settled(survey, &options))
            .map_err(|cause| cause.at(source.name()))?;
        ctx.is_strict = false;
        if ctx.user.is_none() {
            ctx.actor = format!("import:{}", source.name());
        }
        let refused = |reason: &str| Err(Error::invalid(reason));
        if what != What::Delegates && options.join.is_some() {
            return refused("--join: only delegates can be joined");
        }
        if what != What::Delegates && options.make_codes {
            return refused("--make-codes: only delegates have ticket codes");
        }
        let key = options.key.as_deref();
        Ok(Self {
            key: key.map(|key| key_of(what, &columns, key)).transpose()?,
            what,
            columns,
            device,
            options,
            ctx,
        })
    }

    /// The content of a row, as a body such as the API takes.
    pub fn body(&self, row: Row) -> Result<Planned, Failure> {
        let Content::Object(text) = &row.content else {
            return self.columns.planned(row);
        };
        let mut object = parsed(text).map_err(|cause| Problem::of_row(cause.to_string()))?;
        if object.is_empty() {
            return Err(Problem::of_row("has no values").into());
        }
        let says = object.get("_type").and_then(Value::as_str);
        if let Some(reason) = says.and_then(|says| self.what.misnamed(says)) {
            return Err(Problem::of_column("_type", reason).into());
        }
        // It follows from the barcode.
        object.remove(SIGNED_TICKET);
        self.columns.set_in(&mut object)?;
        Ok(Planned {
            body: object,
            ..Planned::default()
        })
    }

    /// The kind of record that a body is of.
    #[must_use]
    pub fn resource(&self, body: &Map<String, Value>) -> &'static Resource {
        let says_event = body
            .get("_type")
            .is_some_and(|sent| sent == events::RESOURCE.name);
        match self.what {
            What::Delegates => &delegates::RESOURCE,
            _ if self.columns.events || says_event => &events::LISTED,
            _ => &devices::LISTED,
        }
    }

    /// The record that a body means by the key; none when it is to be made.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] without a value of the key.
    pub fn existing(
        &self,
        connection: &Connection,
        resource: &'static Resource,
        body: &Map<String, Value>,
    ) -> Result<Option<i64>> {
        let Some(key) = self.key else {
            return Ok(None);
        };
        if let Some(person) = person(key, body)? {
            return by_person(connection, &person);
        }
        let key = in_other_words(resource, key);
        let Some(Value::String(code)) = body.get(key) else {
            return Err(Error::field(
                key,
                "is empty; it is the key that the row is matched by",
            ));
        };
        let Some(id) = write::holder(connection, resource, key, code)? else {
            return Ok(None);
        };
        // A device may be no event.
        let is_one = format!(
            "SELECT 1 FROM {} WHERE id = ?1 AND {}",
            resource.table, resource.alive
        );
        if connection.prepare_cached(&is_one)?.exists([id])? {
            return Ok(Some(id));
        }
        Err(Error::field(
            key,
            format!("is that of device {id}, which is no {}", resource.name),
        ))
    }

    /// The references of a body that are selectors such as `code:hall-a`.
    pub fn selectors<'a>(
        resource: &'static Resource,
        body: &'a Map<String, Value>,
    ) -> impl Iterator<Item = (&'static Field, &'a str)> {
        let references = resource.references();
        references.filter_map(|property| Some((property, body.get(property.name)?.as_str()?)))
    }

    /// Puts ids in the place of references such as `code:hall-a`. Those to records that are not in
    /// the file's store are taken out and given back: the list itself may have them.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] for what is no selector.
    pub(super) fn resolve(
        connection: &Connection,
        device_names: &mut DeviceNames,
        resource: &'static Resource,
        body: &mut Map<String, Value>,
    ) -> Result<Vec<Unresolved>> {
        let selectors: Vec<_> = Self::selectors(resource, body)
            .map(|(property, selector)| (property.name, selector.to_owned()))
            .collect();
        let mut unresolved = Vec::new();
        for (property, selector) in selectors {
            let name = selector
                .strip_prefix(BY_NAME)
                .or_else(|| selector.strip_prefix(ROOM));
            let found = if resource.table == delegates::RESOURCE.table {
                DelegateSelector::parse(&selector)
                    .and_then(|selector| delegates::find(connection, &selector))
                    .map(|id| id.0)
            } else if let Some(name) = name {
                let found = device_names.find(connection, name)?;
                found.ok_or_else(|| devices::RESOURCE.missing(&name))
            } else {
                DeviceSelector::parse(&selector)
                    .and_then(|selector| devices::find(connection, &selector))
                    .map(|id| id.0)
            };
            match found {
                Ok(id) => drop(body.insert(property.to_owned(), id.into())),
                Err(cause) if is_missing(cause.kind) => {
                    body.remove(property);
                    unresolved.push(Unresolved { property, selector });
                }
                Err(cause) => return Err(cause.at(property)),
            }
        }
        Ok(unresolved)
    }

    /// The interaction that a body says happened.
    pub fn draft(&self, mut body: Map<String, Value>) -> Result<Draft> {
        let names_device = ["device", "firstDevice"]
            .iter()
            .any(|name| body.contains_key(*name));
        if let Some(device) = self.device.filter(|_| !names_device) {
            body.insert("firstDevice".into(), device.0.into());
        }
        Draft::of_past(body, &self.ctx.settings.zone)
    }

    /// The error of a participant that is not there, with its name.
    #[must_use]
    pub fn missing(connection: &Connection, draft: &Draft, cause: Error) -> Error {
        let is_missing = |at: usize| match cause.kind {
            ErrorKind::DeviceNotFound => draft.devices[at]
                .as_ref()
                .is_some_and(|one| devices::find(connection, one).is_err()),
            _ => draft.delegates[at]
                .as_ref()
                .is_some_and(|one| delegates::find(connection, one).is_err()),
        };
        let names = match cause.kind {
            ErrorKind::DeviceNotFound => ["firstDevice", "secondDevice", "thirdDevice"],
            ErrorKind::DelegateNotFound => ["firstDelegate", "secondDelegate", "thirdDelegate"],
            _ => return cause,
        };
        match (0..3).find(|at| is_missing(*at)) {
            Some(at) => cause.at(names[at]),
            None => cause,
        }
    }

    /// A failure that is about what a row says makes it a bad one.
    pub(super) fn of_row<T>(&self, outcome: Result<T>) -> Result<T, Failure> {
        outcome.map_err(|cause| {
            if is_of_row(cause.kind) {
                Failure::Row(self.problem(cause))
            } else {
                Failure::Store(cause)
            }
        })
    }

    /// The problem of a row that an error tells of; of a column where its field is that one's property.
    #[must_use]
    pub fn problem(&self, cause: Error) -> Problem {
        Problem {
            column: self.columns.header_of(&cause),
            reason: cause.to_string(),
        }
    }
}

/// The object of a text; one that would not come back as it is, is refused.
pub(super) fn parsed(text: &str) -> Result<Map<String, Value>> {
    check_limits(text.as_bytes())?;
    let mut reader = serde_json::Deserializer::from_str(text);
    let refused = |cause: serde_json::Error| Error::invalid(fault(&cause));
    let object = no_property_twice(&mut reader).map_err(refused)?;
    reader.end().map_err(refused)?;
    Ok(object)
}

/// The name of a unique code by which rows are to mean records.
fn key_of(what: What, columns: &Columns, key: &str) -> Result<&'static str> {
    let codes = match what {
        What::Delegates => &delegates::RESOURCE,
        What::Devices if columns.events => &events::LISTED,
        What::Devices => &devices::LISTED,
        What::Interactions => {
            return Err(Error::invalid("--key: interactions are never changed"));
        }
    };
    let mut names: Vec<_> = codes.codes().map(|(_, name)| name).collect();
    if what == What::Delegates {
        names.extend([EMAIL, NAME_AND_EMAIL]);
    }
    if what == What::Devices && !columns.is_table() {
        // Objects say themselves which of them are events.
        names.extend(events::RESOURCE.codes().map(|(_, name)| name));
    }
    let named = names.iter().find(|name| **name == key).ok_or_else(|| {
        Error::invalid(format!(
            "--key: \"{key}\" is no unique code of {}; there are {}",
            what.name(),
            names.join(" ")
        ))
    })?;
    let column = if *named == NAME_AND_EMAIL { EMAIL } else { key };
    if columns.is_table() && !columns.has_any(&[column]) {
        return Err(Error::invalid(format!(
            "--key: no column is {column}; name one with --map"
        )));
    }
    Ok(named)
}

/// The name of a code in a resource: an event's external id has a name of its own.
fn in_other_words(resource: &'static Resource, key: &'static str) -> &'static str {
    let named = |one: &'static Resource| one.codes().find(|(_, name)| *name == key);
    if named(resource).is_some() {
        return key;
    }
    let other = named(&devices::LISTED).or_else(|| named(&events::LISTED));
    let own = other.and_then(|(column, _)| resource.codes().find(|(own, _)| *own == column));
    own.map_or(key, |(_, name)| name)
}

/// A reference to a record that is not in the store.
#[derive(Debug)]
pub struct Unresolved {
    /// The property that refers to it.
    pub property: &'static str,
    /// The record, such as `code:hall-a`.
    pub selector: String,
}

impl Unresolved {
    /// The error that there is no such record at all.
    #[must_use]
    pub fn error(&self, what: What) -> Error {
        let resource = what.resource();
        let missing = resource.map_or_else(String::new, |resource| {
            resource.missing(&self.selector).to_string()
        });
        let property = self.property;
        Error::field(property, format!("{missing}, nor in this list"))
    }
}

/// Tells whether a failure is about what a row says, and not about the store.
#[must_use]
pub fn is_of_row(kind: ErrorKind) -> bool {
    !kind.is_of_store() && kind != ErrorKind::Defect
}

fn is_missing(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::DelegateNotFound | ErrorKind::DeviceNotFound
    )
}
