//! What a report can be put together from: sources, their columns and numbers, and the SQL of each. Nobody but this
//! file writes SQL of a built report.

use crate::core::texts::{say, tx};

/// The type of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    Text,
    Number,
    /// Yes or no.
    Flag,
    /// A time, as the views have it.
    Time,
    /// A type of activity, shown by its label.
    Activity,
    /// A type of place, such as `room`.
    PlaceType,
}

impl ColumnKind {
    /// Tells whether its values are words of the server, and nothing that people wrote.
    pub fn is_of_words(self) -> bool {
        matches!(self, Self::Flag | Self::Activity | Self::PlaceType)
    }
}

/// A column of a source.
#[derive(Debug)]
pub struct Column {
    /// The name in definitions and files.
    pub key: &'static str,
    /// The name on screen.
    pub label: &'static str,
    pub kind: ColumnKind,
    /// The tables that it needs beside the source's own.
    pub(super) needs: &'static [&'static str],
    pub(super) sql: &'static str,
}

/// A number of each group.
#[derive(Debug)]
pub struct Measure {
    pub key: &'static str,
    pub label: &'static str,
    pub(super) needs: &'static [&'static str],
    pub(super) sql: &'static str,
}

/// A thing that reports are about.
#[derive(Debug)]
pub struct Source {
    pub key: &'static str,
    pub label: &'static str,
    /// A sentence about its rows.
    pub about: &'static str,
    /// The name of a list of its rows.
    pub list: &'static str,
    pub(super) from: &'static str,
    /// Further tables by name, in the order in which they are joined.
    pub(super) joins: &'static [(&'static str, &'static str)],
    /// The rows that count.
    pub(super) only: &'static str,
    pub columns: &'static [Column],
    pub measures: &'static [Measure],
    /// The columns of a new list.
    pub common: &'static [&'static str],
    /// The table that decides on how long it takes.
    pub(super) size: &'static str,
}

const fn column(
    key: &'static str,
    label: &'static str,
    kind: ColumnKind,
    sql: &'static str,
    needs: &'static [&'static str],
) -> Column {
    Column {
        key,
        label,
        kind,
        needs,
        sql,
    }
}

const fn measure(key: &'static str, label: &'static str, sql: &'static str) -> Measure {
    Measure {
        key,
        label,
        needs: &[],
        sql,
    }
}

use ColumnKind::{Activity, Flag, Number, PlaceType, Text, Time};

const NAME: &str = "trim(coalesce(d.first_name, '') || ' ' || coalesce(d.last_name, ''))";
const PERSON: &[&str] = &["person"];
const PLACE: &[&str] = &["place"];
const VISITS: &[&str] = &["visits"];
/// Everywhere, an override is a check-in, too.
const ARRIVED: &str = "EXISTS (SELECT 1 FROM interactions AS a WHERE a.first_delegate_id = d.id
        AND a.interaction_type IN ('check-in', 'check-in-override'))";

/// Every source.
pub static SOURCES: [Source; 4] = [
    Source {
        key: "attendees",
        label: "Attendees",
        about: "One row for each person: who came, who did not, by type or company.",
        list: "List of attendees",
        from: "delegates AS d",
        joins: &[(
            "visits",
            "LEFT JOIN (SELECT first_delegate_id AS id, count(*) AS visits, min(recorded_at) AS first_at, max(recorded_at) AS last_at
                FROM interactions WHERE interaction_type IN ('check-in', 'check-in-override') AND first_delegate_id IS NOT NULL
                GROUP BY first_delegate_id) AS v ON v.id = d.id",
        )],
        only: "",
        columns: &[
            column("name", "Name", Text, NAME, &[]),
            column("first_name", "First name", Text, "d.first_name", &[]),
            column("last_name", "Last name", Text, "d.last_name", &[]),
            column("company", "Company", Text, "d.company", &[]),
            column("job_title", "Job title", Text, "d.job_title", &[]),
            column("type", "Type", Text, "d.delegate_type", &[]),
            column("email", "E-mail", Text, "d.email", &[]),
            column("phone", "Phone", Text, "d.phone", &[]),
            column("barcode", "Barcode", Text, "d.barcode", &[]),
            column("external_id", "External id", Text, "d.external_id", &[]),
            column("arrived", "Arrived", Flag, ARRIVED, &[]),
            column("check_ins", "Check-ins", Number, "coalesce(v.visits, 0)", VISITS),
            column("first_check_in", "First check-in", Time, "v.first_at", VISITS),
            column("last_check_in", "Last check-in", Time, "v.last_at", VISITS),
            column("added", "Added", Time, "d.created_at", &[]),
        ],
        measures: &[
            measure("people", "Attendees", "count(*)"),
            Measure {
                key: "arrived",
                label: "Arrived",
                needs: &[],
                sql: "sum(EXISTS (SELECT 1 FROM interactions AS a WHERE a.first_delegate_id = d.id
        AND a.interaction_type IN ('check-in', 'check-in-override')))",
            },
            Measure {
                key: "check_ins",
                label: "Check-ins",
                needs: VISITS,
                sql: "sum(coalesce(v.visits, 0))",
            },
        ],
        common: &["name", "company", "type", "arrived"],
        size: "delegates",
    },
    Source {
        key: "activity",
        label: "Activity",
        about: "One row for each thing that happened: check-ins, check-outs, registrations, leads.",
        list: "List of activity",
        from: "interactions AS i",
        joins: &[
            ("person", "LEFT JOIN delegates AS d ON d.id = i.first_delegate_id"),
            ("place", "LEFT JOIN devices AS p ON p.id = i.place_id"),
        ],
        only: "",
        columns: &[
            column("time", "Time", Time, "i.recorded_at", &[]),
            column("what", "What", Activity, "i.interaction_type", &[]),
            column(
                "check_in",
                "Is a check-in",
                Flag,
                "(i.interaction_type IN ('check-in', 'check-in-override'))",
                &[],
            ),
            column("name", "Name", Text, NAME, PERSON),
            column("company", "Company", Text, "d.company", PERSON),
            column("type", "Type", Text, "d.delegate_type", PERSON),
            column("job_title", "Job title", Text, "d.job_title", PERSON),
            column("email", "E-mail", Text, "d.email", PERSON),
            column("barcode", "Barcode", Text, "d.barcode", PERSON),
            column("place", "Place", Text, "p.name", PLACE),
            column("place_type", "Type of place", PlaceType, "p.device_type", PLACE),
            column("admitted", "Let in while offline", Flag, "i.admitted", &[]),
        ],
        measures: &[
            measure("number", "Number", "count(*)"),
            measure("people", "People", "count(DISTINCT i.first_delegate_id)"),
            measure("first", "First", "local_time(min(i.recorded_at))"),
            measure("last", "Last", "local_time(max(i.recorded_at))"),
        ],
        common: &["time", "what", "name", "company", "place"],
        size: "interactions",
    },
    Source {
        key: "places",
        label: "Places",
        about: "One row for each room, session, hall or stand, with how many came.",
        list: "List of places",
        from: "devices AS p",
        joins: &[
            ("parent", "LEFT JOIN devices AS u ON u.id = p.parent_id"),
            (
                "visits",
                "LEFT JOIN (SELECT device_id AS id, sum(check_ins) AS visits, sum(check_ins > 0) AS people, sum(inside) AS inside,
                    sum(joined) AS registered FROM presence GROUP BY device_id) AS v ON v.id = p.id",
            ),
        ],
        // Neither apps nor readers nor what is sold (src/domain/devices/names.rs).
        only: "coalesce(p.device_type, '') NOT IN ('rfidreader', 'product', 'regoapp', 'mobileapp', 'door')",
        columns: &[
            column("place", "Place", Text, "p.name", &[]),
            column("type", "Type of place", PlaceType, "p.device_type", &[]),
            column("part_of", "Part of", Text, "u.name", &["parent"]),
            column("category", "Category", Text, "p.category", &[]),
            column("starts", "Starts", Time, "p.start_at", &[]),
            column("ends", "Ends", Time, "p.end_at", &[]),
            column(
                "capacity",
                "Capacity",
                Number,
                "iif(json_valid(p.data), p.data ->> '$.Access.capacity', NULL)",
                &[],
            ),
            column("people", "People", Number, "coalesce(v.people, 0)", VISITS),
            column("check_ins", "Check-ins", Number, "coalesce(v.visits, 0)", VISITS),
            column("inside", "Inside now", Number, "coalesce(v.inside, 0)", VISITS),
            column("registered", "Registered", Number, "coalesce(v.registered, 0)", VISITS),
        ],
        measures: &[
            measure("places", "Places", "count(*)"),
            Measure {
                key: "check_ins",
                label: "Check-ins",
                needs: VISITS,
                sql: "sum(coalesce(v.visits, 0))",
            },
            Measure {
                key: "inside",
                label: "Inside now",
                needs: VISITS,
                sql: "sum(coalesce(v.inside, 0))",
            },
            Measure {
                key: "registered",
                label: "Registered",
                needs: VISITS,
                sql: "sum(coalesce(v.registered, 0))",
            },
        ],
        common: &["place", "type", "part_of", "people", "check_ins"],
        size: "devices",
    },
    Source {
        key: "sales",
        label: "Sales",
        about: "One row for each line of a receipt: what was sold, when, for how much.",
        list: "List of sales",
        from: "transaction_items AS s JOIN transactions AS t ON t.id = s.transaction_id",
        joins: &[
            ("product", "LEFT JOIN devices AS p ON p.id = s.product_id"),
            (
                "paid",
                "LEFT JOIN (SELECT transaction_id AS id, replace(group_concat(DISTINCT method), ',', ' + ') AS method
                    FROM (SELECT transaction_id, method FROM transaction_payments ORDER BY transaction_id, method)
                    GROUP BY transaction_id) AS m ON m.id = t.id",
            ),
        ],
        only: "",
        columns: &[
            column(
                "product",
                "Product",
                Text,
                "coalesce(p.name, s.description, s.code)",
                &["product"],
            ),
            column("time", "Time", Time, "coalesce(t.bought_at, t.created_at)", &[]),
            column("method", "Paid by", Text, "m.method", &["paid"]),
            column("receipt", "Receipt", Text, "t.code", &[]),
            column("till", "Sold by", Text, "t.recorded_by", &[]),
            column("quantity", "Quantity", Number, "s.quantity", &[]),
            column("amount", "Amount", Number, "round(s.total_amount / 100.0, 2)", &[]),
            column(
                "discount",
                "Discount",
                Number,
                "round(coalesce(s.discount_amount, 0) / 100.0, 2)",
                &[],
            ),
        ],
        measures: &[
            measure("quantity", "Quantity", "sum(s.quantity)"),
            measure("amount", "Amount", "round(sum(s.total_amount) / 100.0, 2)"),
            measure(
                "discount",
                "Discount",
                "round(sum(coalesce(s.discount_amount, 0)) / 100.0, 2)",
            ),
            measure("purchases", "Purchases", "count(DISTINCT s.transaction_id)"),
        ],
        common: &["time", "product", "quantity", "amount", "method"],
        size: "transactions",
    },
];

/// A span of time by which rows are grouped: its name in definitions, and the words for it.
pub const SPANS: [(&str, &str); 3] = [
    ("quarter", "quarter hour"),
    ("hour", "hour"),
    ("day", "day"),
];

impl Source {
    /// The source of this name.
    pub fn find(key: &str) -> Option<&'static Self> {
        SOURCES.iter().find(|source| source.key == key)
    }

    /// A column by its name.
    pub fn column(&self, key: &str) -> Option<&'static Column> {
        self.columns.iter().find(|column| column.key == key)
    }

    /// A number by its name.
    pub fn measure(&self, key: &str) -> Option<&'static Measure> {
        self.measures.iter().find(|measure| measure.key == key)
    }

    /// What rows can be grouped by: names and words, in the language of the page.
    pub fn groups(&self) -> Vec<(String, String)> {
        let mut groups = Vec::new();
        for column in self.columns {
            match column.kind {
                Number => {}
                Text | Flag | Activity | PlaceType => {
                    groups.push((column.key.to_owned(), say(column.label)));
                }
                Time => groups.extend(SPANS.map(|(span, words)| {
                    let key = format!("{}.{span}", column.key);
                    let by = tx("reports-column-by-span").with("column", say(column.label));
                    (key, by.with("span", say(words)).to_string())
                })),
            }
        }
        groups
    }
}
