//! Limits of SQL from outside: it may touch documented views and well-known functions, nothing else. Functions of
//! SQLite that compare everything with everything are replaced by linear ones: one call is one step of SQLite's
//! machine, which nothing can interrupt, and two texts of a megabyte would keep a processor for a minute.

use super::VALUE_MAX_BYTES;
use crate::{
    db::tables,
    types::{Timestamp, Zone, error::Result},
};
use rusqlite::{
    Connection,
    functions::{Context, FunctionFlags},
    hooks::{AuthAction, AuthContext, Authorization},
    types::{Value, ValueRef},
};
use std::{borrow::Cow, collections::HashSet};

/// A view; the catalogue of tables has what it reads.
pub(super) struct Documented {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
}

const fn view(name: &'static str, about: &'static str) -> Documented {
    Documented { name, about }
}

/// Every view; `views.sql` defines them.
pub(super) const VIEWS: [Documented; 21] = [
    view("delegates", "The people."),
    view(
        "devices",
        "Rooms, sessions, readers, apps, products; events too.",
    ),
    view("events", "Devices that are events."),
    view(
        "doors",
        "Devices that are doors of a place, which place_id names.",
    ),
    view(
        "interactions",
        "What happened. admitted is 1 where a gate let somebody in before it asked; place_id is the first device, or the place of that door.",
    ),
    view(
        "presence",
        "Each delegate at each place, its doors included: how often they checked in, whether they are inside and joined now.",
    ),
    view(
        "stays",
        "Who was at which place, by whatever door, from when to when, as a reader or a gate noticed it. ends_at is empty while they are there.",
    ),
    view("refusals", "Who was turned away, and why."),
    view(
        "conflicts",
        "Interactions that a gate let through and the rules would not have.",
    ),
    view(
        "device_states",
        "How each device that runs an app was when it was heard of last.",
    ),
    view(
        "device_pings",
        "Pings as they came; of those older than a day, one an hour.",
    ),
    view("transactions", "Purchases at a till. Amounts are in cents."),
    view(
        "transaction_payments",
        "How they were paid; net is what stayed in the till, which the console adds up; amount may be what was handed over.",
    ),
    view(
        "transaction_items",
        "What was bought; product_id is a device.",
    ),
    view("transaction_delegates", "The tickets that were made."),
    view(
        "hub_venue_list",
        "At a head office: the venues, with their figures.",
    ),
    view(
        "hub_attendees",
        "At a head office: attendees of all venues; data is the record as its venue shows it.",
    ),
    view("hub_places", "At a head office: places of all venues."),
    view(
        "hub_interactions",
        "At a head office: what happened at all venues; who is the first delegate, place the first device or the place of that door, at in Unix milliseconds.",
    ),
    view(
        "hub_sales",
        "At a head office: purchases at all venues, in cents.",
    ),
    view(
        "hub_lost",
        "At a head office: records that venues lost, as they were.",
    ),
];

/// The functions that there are. One that a later SQLite brings is not among them, and so are none
/// that merge or lay out JSON: these two can take minutes, or gigabytes, within one step of SQLite's
/// machine, where nothing can interrupt them.
const FUNCTIONS: &str = "\
    abs char coalesce concat concat_ws format glob hex if ifnull iif instr length like \
    likelihood likely lower ltrim max min nullif octet_length printf quote random randomblob \
    replace round rtrim sign soundex substr substring trim typeof unhex unicode unlikely \
    upper zeroblob ceil ceiling exp floor ln log log10 log2 mod pi pow power sqrt trunc \
    date time datetime julianday unixepoch strftime timediff current_date current_time \
    current_timestamp local_time utc_time text_folded stay_places stay_end day_ended \
    avg count group_concat string_agg sum total median percentile percentile_cont \
    percentile_disc row_number rank dense_rank percent_rank cume_dist ntile lag lead \
    first_value last_value nth_value \
    -> ->> json json_array json_array_length json_error_position json_extract \
    json_group_array json_group_object json_insert json_object json_quote json_remove \
    json_replace json_set json_type json_valid";

/// Functions that stand where tables do.
const TABLE_FUNCTIONS: [&str; 2] = ["json_each", "json_tree"];

/// The file as SQL from outside must not see it.
pub(super) struct Behind {
    /// The name that it is attached under, which nobody knows.
    file: String,
    /// Its tables that no view is called like, in lowercase.
    hidden: HashSet<String>,
}

impl Behind {
    /// Looks at an attached file.
    pub(super) fn of(connection: &Connection, file: &str) -> Result<Self> {
        let mut statement =
            connection.prepare(&format!("SELECT lower(name) FROM {file}.sqlite_schema"))?;
        let names = statement.query_map([], |row| row.get(0))?;
        let mut hidden: HashSet<String> = names.collect::<rusqlite::Result<_>>()?;
        hidden.retain(|name| VIEWS.iter().all(|view| view.name != name));
        Ok(Self {
            file: file.to_owned(),
            hidden,
        })
    }

    /// Returns whether a name that is in no database may be that of a common table expression or a subquery,
    /// rather than of a table of which nothing but the number of rows is read: SQLite does not tell.
    fn may_be_their_own(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        let system = ["sqlite_", "pragma_", "fts", "dbstat"];
        !self.hidden.contains(&name) && !system.iter().any(|begin| name.starts_with(begin))
    }
}

/// Allows reading the views, and what the views themselves read of the file.
pub(super) fn judge(asked: &AuthContext<'_>, behind: &Behind) -> Authorization {
    let fine = match asked.action {
        AuthAction::Select | AuthAction::Recursive => true,
        AuthAction::Function { function_name } => FUNCTIONS
            .split(' ')
            .any(|known| known.eq_ignore_ascii_case(function_name)),
        AuthAction::Read {
            table_name,
            column_name,
        } => match asked.database_name {
            // Where nothing but the row's id is read, SQLite names neither a column nor the view.
            Some(database) if database == behind.file => {
                let views = tables::find(table_name).map_or(&[][..], |table| table.views);
                let asks = |view: &&str| asked.accessor == Some(*view) || column_name.is_empty();
                views.iter().any(asks)
            }
            Some("temp") => VIEWS.iter().any(|view| view.name == table_name),
            // Nothing else is in there.
            Some("main") => TABLE_FUNCTIONS.contains(&table_name),
            // A common table expression or a subquery is in no database.
            None => !column_name.is_empty() || behind.may_be_their_own(table_name),
            Some(_) => false,
        },
        _ => false,
    };
    if fine {
        Authorization::Allow
    } else {
        Authorization::Deny
    }
}

pub(super) const FLAGS: FunctionFlags =
    FunctionFlags::SQLITE_UTF8.union(FunctionFlags::SQLITE_DETERMINISTIC);

/// Offers them to a connection.
pub(super) fn offer(connection: &Connection, zone: Zone) -> Result<()> {
    let local = zone.clone();
    connection.create_scalar_function("local_time", 1, FLAGS, move |call| {
        Ok(moment(call.get_raw(0)).map(|at| local.plain(at)))
    })?;
    // A text of that zone, as the views have times: once for each statement, in place of each row's own time.
    connection.create_scalar_function("utc_time", 1, FLAGS, move |call| {
        let text = call.get_raw(0).as_str().unwrap_or_default();
        Ok(zone.read_text(text).map(|at| Zone::default().plain(at)))
    })?;
    super::stays::offer(connection)?;
    crate::db::connection::offer_text_folded(connection)?;
    connection.create_scalar_function("instr", 2, FLAGS, |call| Ok(instr(call)))?;
    connection.create_scalar_function("replace", 3, FLAGS, replace)?;
    for (name, left, right) in [
        ("trim", true, true),
        ("ltrim", true, false),
        ("rtrim", false, true),
    ] {
        connection
            .create_scalar_function(name, 2, FLAGS, move |call| Ok(trim(call, left, right)))?;
    }
    Ok(())
}

/// A point in time as the views show it, in UTC, or in Unix seconds.
fn moment(value: ValueRef<'_>) -> Option<Timestamp> {
    match value {
        ValueRef::Integer(seconds) => Timestamp::from_unix_s(seconds),
        ValueRef::Text(text) => Zone::default().read_text(std::str::from_utf8(text).ok()?),
        _ => None,
    }
}

/// A value as the text that SQLite would take it for; none of NULL.
fn text(value: ValueRef<'_>) -> Option<Cow<'_, str>> {
    match value {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(number.to_string().into()),
        ValueRef::Real(number) => Some(format!("{number:?}").into()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(String::from_utf8_lossy(bytes)),
    }
}

/// The position at which a text begins in another, counted in characters from 1; 0: nowhere. Of two blobs in bytes.
fn instr(call: &Context<'_>) -> Option<i64> {
    let (within, part) = match (call.get_raw(0), call.get_raw(1)) {
        (ValueRef::Blob(within), ValueRef::Blob(part)) => {
            let letters = |bytes: &[u8]| bytes.iter().map(|byte| *byte as char).collect::<String>();
            (Some(letters(within).into()), Some(letters(part).into()))
        }
        (within, part) => (text(within), text(part)),
    };
    let (within, part) = (within?, part?);
    let found = within.find(&*part);
    Some(found.map_or(0, |at| {
        i64::try_from(within[..at].chars().count() + 1).unwrap_or(i64::MAX)
    }))
}

fn replace(call: &Context<'_>) -> rusqlite::Result<Value> {
    let part = |at| text(call.get_raw(at));
    let (Some(within), Some(old), Some(new)) = (part(0), part(1), part(2)) else {
        return Ok(Value::Null);
    };
    if old.is_empty() {
        return Ok(Value::Text(within.into_owned()));
    }
    let times = within.matches(&*old).count();
    let length = within.len() - times * old.len() + times.saturating_mul(new.len());
    if length > usize::try_from(VALUE_MAX_BYTES).unwrap_or(usize::MAX) {
        return Err(rusqlite::Error::UserFunctionError(
            "string or blob too big".into(),
        ));
    }
    Ok(Value::Text(within.replace(&*old, &new)))
}

fn trim(call: &Context<'_>, left: bool, right: bool) -> Option<String> {
    let (trimmed, letters) = (text(call.get_raw(0))?, text(call.get_raw(1))?);
    // Each letter is looked up, however many there are: mostly in a small table.
    let mut plain = [false; 128];
    let mut others = HashSet::new();
    for letter in letters.chars() {
        match plain.get_mut(letter as usize) {
            Some(known) => *known = true,
            None => drop(others.insert(letter)),
        }
    }
    let goes = |letter: char| match plain.get(letter as usize) {
        Some(known) => *known,
        None => others.contains(&letter),
    };
    let mut trimmed = &*trimmed;
    if left {
        trimmed = trimmed.trim_start_matches(goes);
    }
    if right {
        trimmed = trimmed.trim_end_matches(goes);
    }
    Some(trimmed.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_that_is_read_stands_behind_a_view_of_its_name() {
        for view in VIEWS {
            let definition = format!("CREATE TEMP VIEW {} AS", view.name);
            let defined = super::super::DEFINITIONS.contains(&definition)
                || super::super::HUB_VIEWS.contains(&format!("CREATE VIEW {} AS", view.name));
            assert!(defined || super::super::RECORDS.contains(&view.name));
        }
        for table in tables::TABLES
            .iter()
            .filter(|table| !table.views.is_empty())
        {
            // Tables of a hub are read by several views, and have none of their own.
            let is_of_hub = table.name.starts_with("hub_");
            assert!(is_of_hub || table.views[0] == table.name);
            for name in table.views {
                assert!(VIEWS.iter().any(|view| view.name == *name), "{name}");
            }
        }
    }
}

#[cfg(test)]
mod functions_tests {
    use super::*;

    /// SQLite's own functions and ours, side by side.
    fn both() -> (Connection, Connection) {
        let (theirs, ours) = (Connection::open_in_memory(), Connection::open_in_memory());
        let (theirs, ours) = (theirs.unwrap(), ours.unwrap());
        offer(&ours, Zone::named("Europe/Berlin").unwrap()).unwrap();
        (theirs, ours)
    }

    #[test]
    fn they_do_what_sqlites_own_do() {
        let (theirs, ours) = both();
        for sql in [
            "instr('grüße', 'ß')",
            "instr('abc', 'x')",
            "instr('abc', '')",
            "instr('', 'x')",
            "instr(NULL, 'x')",
            "instr('x', NULL)",
            "instr(12345, 34)",
            "instr(x'0102ff03', x'ff')",
            "instr('a1b', 1)",
            "replace('aaa', 'a', 'bb')",
            "replace('abc', '', 'x')",
            "replace('grüße', 'ü', 'ue')",
            "replace(NULL, 'a', 'b')",
            "replace('a', NULL, 'b')",
            "replace('a', 'a', NULL)",
            "replace(121, 1, 3)",
            "trim('xxaxx', 'x')",
            "ltrim('xyaxy', 'yx')",
            "rtrim('xyaxy', 'yx')",
            "trim('üaü', 'ü')",
            "trim('a', '')",
            "trim(NULL, 'a')",
            "trim('xxx', 'x')",
            "trim(' a ')",
        ] {
            let value = |connection: &Connection| -> Value {
                connection
                    .query_row(&format!("SELECT {sql}"), [], |row| row.get(0))
                    .unwrap()
            };
            assert_eq!(value(&ours), value(&theirs), "{sql}");
        }
    }

    #[test]
    fn large_texts_are_done_with_at_once() {
        let (_, ours) = both();
        let begun = std::time::Instant::now();
        for sql in [
            "instr(hex(zeroblob(900000)), hex(zeroblob(450000)) || '1')",
            "length(replace(hex(zeroblob(900000)), hex(zeroblob(450000)) || '1', ''))",
            "length(trim(hex(zeroblob(900000)), hex(randomblob(450000)) || '0'))",
        ] {
            ours.query_row(&format!("SELECT {sql}"), [], |row| row.get::<_, i64>(0))
                .unwrap();
        }
        assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
        let too_big = "SELECT replace(hex(zeroblob(500000)), '0', hex(zeroblob(500000)))";
        assert!(ours.query_row(too_big, [], |_| Ok(())).is_err());
    }

    #[test]
    fn times_are_shown_in_the_instances_zone() {
        let (_, ours) = both();
        for (sql, local) in [
            (
                "local_time('2026-07-01 22:30:00')",
                Some("2026-07-02 00:30:00"),
            ),
            (
                "local_time('2026-11-21 08:02:00')",
                Some("2026-11-21 09:02:00"),
            ),
            ("local_time(0)", Some("1970-01-01 01:00:00")),
            ("local_time(NULL)", None),
            ("local_time('soon')", None),
            ("local_time(9e99)", None),
            ("local_time(9223372036854775807)", None),
        ] {
            let shown: Option<String> = ours
                .query_row(&format!("SELECT {sql}"), [], |row| row.get(0))
                .unwrap();
            assert_eq!(shown.as_deref(), local, "{sql}");
        }
    }
}
