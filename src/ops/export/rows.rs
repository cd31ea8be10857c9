//! The lists: the columns of each, and their rows, read in slices by id.

use super::Export;
use crate::{
    core::{
        records::{Field, Kind, Resource},
        search::{Search, Subject},
        settings::{self, Settings},
        ticket_keys::Signer,
    },
    db::Store,
    domain::{badges::SIGNED_TICKET, delegates, devices, events, interactions, tickets},
    types::{
        DelegateId, Timestamp, Zone,
        error::{Error, Result},
    },
};
use rusqlite::{
    Connection, Row,
    types::{FromSqlResult, ValueRef},
};
use std::time::Duration;

/// Records that are read in one go.
const SLICE_ROWS: usize = 1_000;
/// The time that a search may take: nobody at a gate waits for it.
const SEARCH_MAX: Duration = Duration::from_mins(10);

/// A kind of list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    Delegates,
    /// Devices, events among them.
    Devices,
    /// Events, under their own names.
    Events,
    Interactions,
    /// Purchases at tills.
    Transactions,
}

impl What {
    pub const ALL: [Self; 5] = [
        Self::Delegates,
        Self::Devices,
        Self::Events,
        Self::Interactions,
        Self::Transactions,
    ];

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
}

/// Which of them.
#[derive(Debug, Clone)]
pub enum Which {
    /// All that are not deleted.
    All,
    /// Records of these ids, such as a search found, as far as they are not deleted; ascending.
    Ids(Vec<i64>),
}

impl Which {
    /// Finds the records that a search means (contract §5); events are searched as the devices they are.
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
    /// In the order of [`List::names`].
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

/// A column of a list: its name, its SQL and its form.
struct Column {
    name: &'static str,
    sql: String,
    show: Show,
}

#[derive(Clone, Copy)]
enum Show {
    Text,
    /// The selector of the record of an id.
    Delegate,
    Device,
    Json,
    Flag,
    /// A time to the millisecond: what is imported again must be the same instant.
    Instant,
    /// A time to the second.
    Iso,
    /// A time without an offset.
    PlainTime,
}

/// The columns of a kind of list, and its table.
pub(super) struct List {
    columns: Vec<Column>,
    table: &'static str,
    alive: &'static str,
    /// The SQL of `data`, and of where shared values belong in it.
    pub data: Option<[&'static str; 2]>,
    /// `data` has sections.
    is_sectioned: bool,
    /// Signs tickets, for a column of them.
    signer: Option<(Signer, Settings)>,
}

impl List {
    pub(super) fn of(what: What) -> Self {
        match what {
            What::Delegates => Self::of_records(&delegates::RESOURCE),
            What::Devices => Self::of_records(&devices::LISTED),
            What::Events => Self::of_records(&events::LISTED),
            What::Interactions => Self {
                columns: columns("interactions", INTERACTION),
                table: "interactions",
                alive: "TRUE",
                data: Some(["data", "shared"]),
                is_sectioned: false,
                signer: None,
            },
            What::Transactions => Self {
                columns: columns("transactions", TRANSACTION),
                table: "transactions",
                alive: "TRUE",
                data: None,
                is_sectioned: false,
                signer: None,
            },
        }
    }

    fn of_records(resource: &'static Resource) -> Self {
        let columns = resource.fields.iter().filter_map(|field| {
            let (sql, show) = column(resource, field)?;
            let name = field.name;
            Some(Column { name, sql, show })
        });
        Self {
            columns: columns.collect(),
            table: resource.table,
            alive: resource.alive,
            data: Some(["iif(json_valid(data), data, NULL)", "NULL"]),
            is_sectioned: true,
            signer: None,
        }
    }

    /// Adds a column of signed tickets to a list of attendees, where tickets are signed.
    pub(super) fn with_tickets(mut self, connection: &Connection) -> Result<Self> {
        if self.table == delegates::RESOURCE.table {
            let settings = settings::load(connection)?;
            let signer = Signer::find(connection, &settings)?;
            self.signer = signer.map(|signer| (signer, settings));
        }
        Ok(self)
    }

    /// The names of the columns, but for `data`.
    pub(super) fn names(&self) -> Vec<&'static str> {
        let names = self.columns.iter().map(|column| column.name);
        names
            .chain(self.signer.as_ref().map(|_| SIGNED_TICKET))
            .collect()
    }

    /// Gives every record to `take`.
    pub(super) fn each(
        &self,
        export: &Export<'_>,
        take: impl FnMut(Record) -> Result<()> + Send,
    ) -> Result<()> {
        let columns = self.columns.iter().map(|column| column.sql.as_str());
        let columns: Vec<&str> = columns.chain(self.data.into_iter().flatten()).collect();
        self.rows(export, &columns.join(", "), take, |connection, row| {
            let mut values = Vec::with_capacity(self.columns.len());
            for (at, column) in (1..).zip(&self.columns) {
                let value = column.show.value(row.get_ref(at)?, &export.zone);
                values.push(value.map_err(Error::defect)?);
            }
            let data = self.data.map(|_| data(connection, row, values.len() + 1));
            if let Some((signer, settings)) = &self.signer {
                let attendee = DelegateId(row.get(0)?);
                let signed = tickets::sign(connection, settings, signer, attendee)?;
                values.push(signed.map_or(Value::Nothing, Value::Text));
            }
            let data = data.transpose()?.flatten();
            Ok(Record { values, data })
        })
    }

    /// Gives the `data` of every record to `look_at`, where it has sections.
    pub(super) fn each_data(
        &self,
        export: &Export<'_>,
        mut look_at: impl FnMut(&str) + Send,
    ) -> Result<()> {
        let Some([data, _]) = self.data.filter(|_| self.is_sectioned) else {
            return Ok(());
        };
        let take = |data: Option<String>| {
            if let Some(data) = data {
                look_at(&data);
            }
            Ok(())
        };
        self.rows(export, data, take, |_, row| Ok(row.get(1)?))
    }

    /// Reads slice by slice, each in a look-up of its own, and gives what `read` makes of each row to
    /// `take`.
    fn rows<T>(
        &self,
        export: &Export<'_>,
        columns: &str,
        mut take: impl FnMut(T) -> Result<()> + Send,
        read: impl Fn(&Connection, &Row<'_>) -> Result<T> + Sync,
    ) -> Result<()> {
        let (which, mut slices) = match &export.which {
            Which::All => (
                format!("id > CAST(?1 AS INTEGER) ORDER BY id LIMIT {SLICE_ROWS}"),
                None,
            ),
            Which::Ids(ids) => (
                "id IN (SELECT value FROM json_each(?1)) ORDER BY id".to_owned(),
                Some(ids.chunks(SLICE_ROWS)),
            ),
        };
        let Self { table, alive, .. } = self;
        let sql = format!("SELECT id, {columns} FROM {table} WHERE {alive} AND {which}");
        let mut last = 0;
        loop {
            let from = match &mut slices {
                None => last.to_string(),
                Some(slices) => match slices.next() {
                    Some(ids) => serde_json::json!(ids).to_string(),
                    None => return Ok(()),
                },
            };
            let newest = export.background.run(|| -> Result<Option<i64>> {
                let slice = export.store.look_up(|connection| {
                    let mut statement = connection.prepare_cached(&sql)?;
                    let mut rows = statement.query([&from])?;
                    let mut slice = Vec::with_capacity(SLICE_ROWS);
                    while let Some(row) = rows.next()? {
                        slice.push((row.get(0)?, read(connection, row)?));
                    }
                    Ok(slice)
                })?;
                let newest = slice.last().map(|(id, _)| *id);
                slice.into_iter().try_for_each(|(_, row)| take(row))?;
                Ok(newest)
            })?;
            match newest {
                Some(id) => last = id,
                None if slices.is_none() => return Ok(()),
                None => {}
            }
        }
    }
}

/// `data` with shared values in their places.
fn data(connection: &Connection, row: &Row<'_>, at: usize) -> Result<Option<String>> {
    let (data, shared): (Option<String>, Option<String>) = (row.get(at)?, row.get(at + 1)?);
    match (data, shared) {
        (Some(data), Some(shared)) => {
            interactions::shared::in_full(connection, &data, &shared).map(Some)
        }
        (data, _) => Ok(data),
    }
}

impl Show {
    fn value(self, value: ValueRef<'_>, zone: &Zone) -> FromSqlResult<Value> {
        let time = |show: fn(&Zone, Timestamp) -> String| -> FromSqlResult<Value> {
            Ok(Value::Text(show(zone, Timestamp(value.as_i64()?))))
        };
        match (self, value) {
            (_, ValueRef::Null) => Ok(Value::Nothing),
            (Self::Instant, _) => time(instant),
            (Self::Iso, _) => time(Zone::iso),
            (Self::PlainTime, _) => time(Zone::plain),
            (Self::Flag, value) => Ok(Value::Json((value.as_i64()? != 0).to_string())),
            (Self::Json, ValueRef::Integer(number)) => Ok(Value::Json(number.to_string())),
            (Self::Json, value) => Ok(Value::Json(value.as_str()?.to_owned())),
            (Self::Text | Self::Delegate | Self::Device, value) => {
                Ok(Value::Text(value.as_str()?.to_owned()))
            }
        }
    }
}

fn instant(zone: &Zone, at: Timestamp) -> String {
    let mut text = zone.iso(at);
    let ms = at.0.rem_euclid(1000);
    if ms > 0 && text.len() > 19 {
        text.insert_str(19, &format!(".{ms:03}"));
    }
    text
}

/// Returns how a field of a record is exported; none of what stands in other tables, nor of `data`.
fn column(resource: &Resource, field: &Field) -> Option<(String, Show)> {
    let show = match field.kind {
        Kind::Attached | Kind::Document => return None,
        Kind::Type => return Some((format!("'{}'", resource.name), Show::Text)),
        Kind::Reference => {
            let selector = selector(resource.table, resource.table, field.column, false);
            return Some((selector, Show::Text));
        }
        Kind::Id | Kind::Sources => Show::Json,
        Kind::Flag => Show::Flag,
        Kind::Time => Show::Instant,
        Kind::Stamp => Show::Iso,
        Kind::PlainTime => Show::PlainTime,
        Kind::Code | Kind::Text => Show::Text,
    };
    Some((field.column.to_owned(), show))
}

const INTERACTION: &[(&str, &str, Show)] = &[
    ("id", "id", Show::Json),
    ("_type", "'interaction'", Show::Text),
    ("interactionType", "interaction_type", Show::Text),
    ("firstDelegate", "first_delegate_id", Show::Delegate),
    ("secondDelegate", "second_delegate_id", Show::Delegate),
    ("thirdDelegate", "third_delegate_id", Show::Delegate),
    ("firstDevice", "first_device_id", Show::Device),
    ("secondDevice", "second_device_id", Show::Device),
    ("thirdDevice", "third_device_id", Show::Device),
    ("recordedAt", "recorded_at", Show::Instant),
    ("createdAt", "created_at", Show::Iso),
];

/// Purchases at tills, in the words of the API; amounts are in cents. They are not imported again:
/// tills send them.
const TRANSACTION: &[(&str, &str, Show)] = &[
    ("id", "id", Show::Json),
    ("_type", "'transaction'", Show::Text),
    ("code", "code", Show::Text),
    ("context", "context_id", Show::Device),
    ("totalAmount", "total_amount", Show::Json),
    ("notes", "notes", Show::Text),
    ("createdAt", "bought_at", Show::Iso),
    ("recordedBy", "recorded_by", Show::Text),
    ("receivedAt", "created_at", Show::Iso),
    ("cash", "(SELECT sum(net) FROM PAYMENTS AND method = 'cash')", Show::Json),
    ("card", "(SELECT sum(net) FROM PAYMENTS AND method = 'card')", Show::Json),
    (
        "otherPayments",
        "(SELECT sum(net) FROM PAYMENTS AND method IS NOT 'cash' AND method IS NOT 'card')",
        Show::Json,
    ),
    (
        "transactions",
        "(SELECT json_group_array(json_object('paymentMethod', method, 'amount', amount,
             'change', change, 'transactionId', reference) ORDER BY line) FROM PAYMENTS)",
        Show::Json,
    ),
    (
        "items",
        "(SELECT json_group_array(json_object('code', i.code, 'product', PRODUCT, 'quantity', quantity,
             'description', description, 'unitAmount', unit_amount, 'totalAmount', i.total_amount,
             'discountAmount', discount_amount) ORDER BY line)
         FROM transaction_items i WHERE i.transaction_id = transactions.id)",
        Show::Json,
    ),
    (
        "delegates",
        "(SELECT json_group_array(json_object('barcode', barcode, 'product', PRODUCT) ORDER BY delegate_id)
         FROM transaction_delegates i WHERE i.transaction_id = transactions.id)",
        Show::Json,
    ),
    (
        "inconsistencies",
        "(SELECT json_group_array(json_object('path', path, 'message', message,
             'settled', json(iif(settled_at IS NULL, 'false', 'true')), 'note', note) ORDER BY n.id)
         FROM INCONSISTENCIES)",
        Show::Json,
    ),
    (
        "openInconsistencies",
        "(SELECT count(*) FROM INCONSISTENCIES AND settled_at IS NULL)",
        Show::Json,
    ),
    (
        "revisions",
        "(SELECT count(*) - 1 FROM transaction_bodies b WHERE b.transaction_id = transactions.id)",
        Show::Json,
    ),
];

/// Columns with the SQL that they need, where capitals stand for what several have.
fn columns(table: &str, columns: &[(&'static str, &str, Show)]) -> Vec<Column> {
    let columns = columns.iter().map(|(name, sql, show)| {
        let sql = match show {
            Show::Delegate => selector("delegates", table, sql, true),
            Show::Device => selector("devices", table, sql, true),
            _ => sql
                .replace("PRODUCT", &selector("devices", "i", "product_id", true))
                .replace(
                    "FROM PAYMENTS",
                    "FROM transaction_payments p WHERE p.transaction_id = transactions.id",
                )
                .replace(
                    "FROM INCONSISTENCIES",
                    "FROM inconsistencies n JOIN transaction_bodies b ON b.id = n.body_id
                     WHERE b.transaction_id = transactions.id",
                ),
        };
        let show = *show;
        Column { name, sql, show }
    });
    columns.collect()
}

/// Returns the SQL that names another record: by the code that people know, of one that was deleted by the
/// one that nobody else has got since.
fn selector(table: &str, of: &str, column: &str, deleted_too: bool) -> String {
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
