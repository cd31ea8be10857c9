//! What is exported, read in slices by id.

use super::{Export, sales};
use crate::{
    core::{
        records::{Field, Kind, Resource},
        search::{Search, Subject},
    },
    db::Store,
    domain::{
        delegates, devices, events,
        interactions::{
            self,
            rows::{COLUMNS, Interaction},
        },
    },
    types::{
        Timestamp, Zone,
        error::{Error, Result},
    },
};
use rusqlite::{Connection, Row, types::ValueRef};
use std::{fmt::Write, ops::ControlFlow, time::Duration};

/// Records that are read in one go.
const SLICE_ROWS: usize = 1_000;
/// How long a search may take: nobody at a gate waits for it.
const SEARCH_MAX: Duration = Duration::from_mins(10);

/// What is exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// Delegates.
    Delegates,
    /// Devices, events among them.
    Devices,
    /// Events, under their own names.
    Events,
    /// Interactions.
    Interactions,
    /// Purchases at tills.
    Transactions,
}

impl What {
    /// What several are called.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Delegates => "delegates",
            Self::Devices => "devices",
            Self::Events => "events",
            Self::Interactions => "interactions",
            Self::Transactions => "transactions",
        }
    }

    pub(super) fn resource(self) -> Option<&'static Resource> {
        match self {
            Self::Delegates => Some(&delegates::RESOURCE),
            Self::Devices => Some(&devices::LISTED),
            Self::Events => Some(&events::LISTED),
            Self::Interactions | Self::Transactions => None,
        }
    }
}

/// Which of them.
#[derive(Debug, Clone)]
pub enum Which {
    /// All that are not deleted.
    All,
    /// Those of these ids, such as a search found, as far as they are not deleted; ascending.
    Ids(Vec<i64>),
}

impl Which {
    /// Those that a search finds (contract §5); events are searched as the devices they are.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::InvalidSearch`], [`crate::types::error::Kind::Invalid`] for what no search
    /// knows, and [`crate::types::error::Kind::Unavailable`] when it takes longer than ten minutes.
    pub fn found(store: &Store, what: What, search: &str, zone: &Zone) -> Result<Self> {
        let subject: &'static Subject = match what {
            What::Delegates => &delegates::SEARCHED,
            What::Devices | What::Events => &devices::SEARCHED,
            What::Interactions => &interactions::list::SEARCHED,
            What::Transactions => {
                return Err(Error::invalid(
                    "--search: the search language knows no transactions; the console filters them",
                ));
            }
        };
        let search = Search::parse(subject, search, zone, None)?;
        let ids = store.look_up(|connection| search.ids(connection, SEARCH_MAX))?;
        Ok(Self::Ids(ids))
    }
}

/// One record or interaction.
pub(super) struct Record {
    pub id: i64,
    /// In the order of [`names`].
    pub values: Vec<Value>,
    /// `data`, as JSON text.
    pub data: Option<String>,
}

/// A value of a property.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Nothing,
    Text(String),
    /// A number, a flag or a list, as JSON.
    Json(String),
}

/// The names of what [`Record::values`] holds; `data` is not among them.
pub(super) fn names(what: What) -> Vec<&'static str> {
    match what.resource() {
        Some(resource) => properties(resource).map(|property| property.name).collect(),
        None if what == What::Transactions => sales::NAMES.to_vec(),
        None => vec![
            "id",
            "_type",
            "interactionType",
            "firstDelegate",
            "secondDelegate",
            "thirdDelegate",
            "firstDevice",
            "secondDevice",
            "thirdDevice",
            "recordedAt",
            "createdAt",
        ],
    }
}

/// Whether they have a `data`.
pub(super) fn has_data(what: What) -> bool {
    match what.resource() {
        Some(resource) => resource.property("data").is_some(),
        None => what == What::Interactions,
    }
}

fn properties(resource: &'static Resource) -> impl Iterator<Item = &'static Field> {
    let own = |property: &&Field| !matches!(property.kind, Kind::Attached | Kind::Document);
    resource.fields.iter().filter(own)
}

/// Gives every record to `take`, slice by slice; `told` hears how many after each.
pub(super) fn each(
    export: &Export<'_>,
    mut take: impl FnMut(Record) -> Result<()>,
    mut told: impl FnMut(u64) -> ControlFlow<()>,
) -> Result<u64> {
    let sql = sql(export.what, &export.which);
    let zone = &export.zone;
    let mut count = 0;
    slices(
        export,
        |connection, from| {
            let mut statement = connection.prepare_cached(&sql)?;
            let mut rows = statement.query(from)?;
            let mut slice = Vec::with_capacity(SLICE_ROWS);
            while let Some(row) = rows.next()? {
                slice.push(match export.what.resource() {
                    Some(resource) => record(resource, row, zone)?,
                    None if export.what == What::Transactions => sales::read(row, zone)?,
                    None => interaction(connection, row, zone)?,
                });
            }
            Ok(slice)
        },
        |slice: Vec<Record>| {
            let last = slice.last().map(|record| record.id);
            count += slice.len() as u64;
            slice.into_iter().try_for_each(&mut take)?;
            if told(count).is_break() {
                return Err(Error::invalid("stopped"));
            }
            Ok(last)
        },
    )?;
    Ok(count)
}

/// Gives the `data` of every record that has one to `take`.
pub(super) fn each_data(export: &Export<'_>, mut take: impl FnMut(&str)) -> Result<()> {
    let Some(resource) = export.what.resource().filter(|_| has_data(export.what)) else {
        return Ok(());
    };
    let sql = format!(
        "SELECT id, iif(json_valid(data), data, NULL) FROM {} WHERE {} {}",
        resource.table,
        resource.alive,
        end(&export.which)
    );
    slices(
        export,
        |connection, from| {
            let mut statement = connection.prepare_cached(&sql)?;
            let data = statement.query_map(from, |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(data.collect::<rusqlite::Result<Vec<(i64, Option<String>)>>>()?)
        },
        |slice| {
            slice
                .iter()
                .filter_map(|(_, data)| data.as_deref())
                .for_each(&mut take);
            Ok(slice.last().map(|(id, _)| *id))
        },
    )
}

/// Reads slice by slice, each in a read of its own, until there is nothing left; `take` gives the
/// last id of a slice.
fn slices<T>(
    export: &Export<'_>,
    read: impl Fn(&Connection, rusqlite::ParamsFromIter<[String; 1]>) -> Result<T>,
    mut take: impl FnMut(T) -> Result<Option<i64>>,
) -> Result<()> {
    let from = |text: String| rusqlite::params_from_iter([text]);
    match &export.which {
        Which::All => {
            let mut after = 0;
            loop {
                let slice = export
                    .store
                    .look_up(|connection| read(connection, from(after.to_string())))?;
                match take(slice)? {
                    Some(last) => after = last,
                    None => return Ok(()),
                }
            }
        }
        Which::Ids(ids) => {
            for ids in ids.chunks(SLICE_ROWS) {
                let list = serde_json::json!(ids).to_string();
                let slice = export
                    .store
                    .look_up(|connection| read(connection, from(list.clone())))?;
                take(slice)?;
            }
            Ok(())
        }
    }
}

/// The end of a statement that reads a slice: its one parameter is the id after which it begins,
/// or a list of ids.
fn end(which: &Which) -> String {
    match which {
        Which::All => format!("AND id > CAST(?1 AS INTEGER) ORDER BY id LIMIT {SLICE_ROWS}"),
        Which::Ids(_) => "AND id IN (SELECT value FROM json_each(?1)) ORDER BY id".into(),
    }
}

fn sql(what: What, which: &Which) -> String {
    let end = end(which);
    if what == What::Transactions {
        return sales::sql(&end);
    }
    let Some(resource) = what.resource() else {
        let delegates = [
            "first_delegate_id",
            "second_delegate_id",
            "third_delegate_id",
        ];
        let devices = ["first_device_id", "second_device_id", "third_device_id"];
        let selectors: Vec<_> = delegates
            .map(|column| selector("delegates", "interactions", column, true))
            .into_iter()
            .chain(devices.map(|column| selector("devices", "interactions", column, true)))
            .collect();
        return format!(
            "SELECT {COLUMNS}, {} FROM interactions WHERE TRUE {end}",
            selectors.join(", ")
        );
    };
    let mut sql = String::from("SELECT id");
    for property in properties(resource) {
        match property.kind {
            Kind::Id | Kind::Type => {}
            Kind::Reference => {
                let selector = selector(resource.table, resource.table, property.column, false);
                let _ = write!(sql, ", {selector}");
            }
            _ => {
                let _ = write!(sql, ", {}", property.column);
            }
        }
    }
    if resource.property("data").is_some() {
        sql.push_str(", iif(json_valid(data), data, NULL)");
    }
    let _ = write!(
        sql,
        " FROM {} WHERE {} {end}",
        resource.table, resource.alive
    );
    sql
}

/// How a list names another record: by the code that people know, of one that was deleted by the
/// one that nobody else has got since.
pub(super) fn selector(table: &str, of: &str, column: &str, deleted_too: bool) -> String {
    let code = if table == delegates::RESOURCE.table {
        "CASE WHEN r.deleted_at IS NULL AND r.barcode IS NOT NULL THEN 'barcode:' || r.barcode ELSE 'publicId:' || r.public_id END"
    } else {
        "CASE WHEN r.deleted_at IS NULL THEN 'code:' || r.code ELSE 'publicId:' || r.public_id END"
    };
    let alive = if deleted_too {
        ""
    } else {
        " AND r.deleted_at IS NULL"
    };
    format!("(SELECT {code} FROM {table} r WHERE r.id = {of}.{column}{alive})")
}

fn record(resource: &'static Resource, row: &Row<'_>, zone: &Zone) -> Result<Record> {
    let id: i64 = row.get(0)?;
    let mut column = 1;
    let mut values = Vec::with_capacity(resource.fields.len());
    for property in properties(resource) {
        values.push(match property.kind {
            Kind::Id => Value::Json(id.to_string()),
            Kind::Type => Value::Text(resource.name.to_owned()),
            kind => {
                column += 1;
                value(kind, row.get_ref(column - 1)?, zone).map_err(Error::defect)?
            }
        });
    }
    let data = if resource.property("data").is_some() {
        row.get(column)?
    } else {
        None
    };
    Ok(Record { id, values, data })
}

fn value(kind: Kind, value: ValueRef<'_>, zone: &Zone) -> rusqlite::types::FromSqlResult<Value> {
    Ok(match (kind, value) {
        (_, ValueRef::Null) => Value::Nothing,
        (Kind::Time, value) => Value::Text(exact(zone, Timestamp(value.as_i64()?))),
        (Kind::Stamp, value) => Value::Text(zone.iso(Timestamp(value.as_i64()?))),
        (Kind::PlainTime, value) => Value::Text(zone.plain(Timestamp(value.as_i64()?))),
        (Kind::Flag, value) => Value::Json((value.as_i64()? != 0).to_string()),
        (Kind::Sources, value) => Value::Json(value.as_str()?.to_owned()),
        (_, value) => Value::Text(value.as_str()?.to_owned()),
    })
}

fn interaction(connection: &Connection, row: &Row<'_>, zone: &Zone) -> Result<Record> {
    let mut read = Interaction::read(row)?;
    read.complete(connection)?;
    let id: i64 = row.get(0)?;
    let mut values = vec![
        Value::Json(id.to_string()),
        Value::Text("interaction".to_owned()),
        Value::Text(read.kind),
    ];
    for at in 12..18 {
        let selector: Option<String> = row.get(at)?;
        values.push(selector.map_or(Value::Nothing, Value::Text));
    }
    values.push(Value::Text(exact(zone, read.recorded_at)));
    values.push(Value::Text(zone.iso(read.created_at)));
    Ok(Record {
        id,
        values,
        data: read.data,
    })
}

/// A time to the millisecond, where it has any: what is imported again must be the same instant.
fn exact(zone: &Zone, at: Timestamp) -> String {
    let mut text = zone.iso(at);
    let ms = at.0.rem_euclid(1000);
    if ms > 0 && text.len() > 19 {
        text.insert_str(19, &format!(".{ms:03}"));
    }
    text
}
