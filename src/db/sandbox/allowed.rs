//! What SQL from outside may touch: documented views and well-known functions, and nothing else.

use crate::types::error::Result;
use rusqlite::{
    Connection,
    hooks::{AuthAction, AuthContext, Authorization},
};
use std::collections::HashSet;

/// A view, what it shows, and the tables of the file that it reads.
pub(super) struct Documented {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) tables: &'static [&'static str],
}

const fn view(
    name: &'static str,
    about: &'static str,
    tables: &'static [&'static str],
) -> Documented {
    Documented {
        name,
        about,
        tables,
    }
}

/// Every view; `views.sql` defines them.
pub(super) const VIEWS: [Documented; 13] = [
    view("delegates", "The people.", &["delegates"]),
    view(
        "devices",
        "Rooms, sessions, readers, apps, products; events too.",
        &["devices"],
    ),
    view("events", "Devices that are events.", &["devices"]),
    view(
        "interactions",
        "What happened. admitted is 1 where a gate let somebody in before it asked.",
        &["interactions"],
    ),
    view(
        "presence",
        "Each delegate at each device: how often they checked in, whether they are inside and joined now.",
        &["interactions"],
    ),
    view("refusals", "Who was turned away, and why.", &["refusals"]),
    view(
        "conflicts",
        "Interactions that a gate let through and the rules would not have.",
        &["conflicts"],
    ),
    view(
        "device_states",
        "How each device that runs an app was when it was heard of last.",
        &["device_states"],
    ),
    view(
        "device_pings",
        "Pings as they came; of those older than a day, one an hour.",
        &["device_pings"],
    ),
    view(
        "transactions",
        "Purchases at a till. Amounts are in cents.",
        &["transactions"],
    ),
    view(
        "transaction_payments",
        "How they were paid; net is what stayed in the till, which the console adds up; amount may be what was handed over.",
        &["transaction_payments"],
    ),
    view(
        "transaction_items",
        "What was bought; product_id is a device.",
        &["transaction_items"],
    ),
    view(
        "transaction_delegates",
        "The tickets that were made.",
        &["transaction_delegates"],
    ),
];

/// The functions that there are. One that a later SQLite brings is not among them, and so are none
/// that merge or lay out JSON: these two can take minutes, or gigabytes, within one step of SQLite's
/// machine, where nothing can interrupt them.
const FUNCTIONS: &[&str] = &[
    // Texts and numbers.
    "abs",
    "char",
    "coalesce",
    "concat",
    "concat_ws",
    "format",
    "glob",
    "hex",
    "if",
    "ifnull",
    "iif",
    "instr",
    "length",
    "like",
    "likelihood",
    "likely",
    "lower",
    "ltrim",
    "max",
    "min",
    "nullif",
    "octet_length",
    "printf",
    "quote",
    "random",
    "randomblob",
    "replace",
    "round",
    "rtrim",
    "sign",
    "soundex",
    "substr",
    "substring",
    "trim",
    "typeof",
    "unhex",
    "unicode",
    "unlikely",
    "upper",
    "zeroblob",
    "ceil",
    "ceiling",
    "exp",
    "floor",
    "ln",
    "log",
    "log10",
    "log2",
    "mod",
    "pi",
    "pow",
    "power",
    "sqrt",
    "trunc",
    // Times.
    "date",
    "time",
    "datetime",
    "julianday",
    "unixepoch",
    "strftime",
    "timediff",
    "current_date",
    "current_time",
    "current_timestamp",
    "local_time",
    // Over many rows.
    "avg",
    "count",
    "group_concat",
    "string_agg",
    "sum",
    "total",
    "median",
    "percentile",
    "percentile_cont",
    "percentile_disc",
    "row_number",
    "rank",
    "dense_rank",
    "percent_rank",
    "cume_dist",
    "ntile",
    "lag",
    "lead",
    "first_value",
    "last_value",
    "nth_value",
    // JSON.
    "->",
    "->>",
    "json",
    "json_array",
    "json_array_length",
    "json_error_position",
    "json_extract",
    "json_group_array",
    "json_group_object",
    "json_insert",
    "json_object",
    "json_quote",
    "json_remove",
    "json_replace",
    "json_set",
    "json_type",
    "json_valid",
];

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

    /// Whether a name that is in no database may be that of a common table expression or a subquery,
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
            .iter()
            .any(|known| known.eq_ignore_ascii_case(function_name)),
        AuthAction::Read {
            table_name,
            column_name,
        } => match asked.database_name {
            // Where nothing but the row's id is read, SQLite names neither a column nor the view.
            Some(database) if database == behind.file => VIEWS.iter().any(|view| {
                view.tables.contains(&table_name)
                    && (asked.accessor == Some(view.name) || column_name.is_empty())
            }),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_that_is_read_stands_behind_a_view_of_its_name() {
        for view in VIEWS {
            for table in view.tables {
                assert!(VIEWS.iter().any(|view| view.name == *table), "{table}");
            }
            let definition = format!("CREATE TEMP VIEW {} AS", view.name);
            let defined = super::super::DEFINITIONS.contains(&definition);
            assert!(defined || super::super::RECORDS.contains(&view.name));
        }
    }
}
