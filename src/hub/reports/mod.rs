//! Figures over all venues: the reports, written once over the views that both stores have, and what is counted of
//! each venue.

pub mod figures;
pub mod people;

use super::store::{Row, Sql};
use crate::types::{Timestamp, Zone, error::Result};
use figures::IN;
use rusqlite::types::Value;
use serde_json::json;

/// How a column is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cell {
    Text,
    Number,
    /// Cents.
    Amount,
    /// Unix milliseconds.
    Hour,
}

/// A report over all venues.
pub struct Report {
    pub id: &'static str,
    pub name: &'static str,
    pub about: &'static str,
    pub columns: &'static [(&'static str, Cell)],
    /// `IN` stands for the types by which somebody comes in.
    sql: &'static str,
}

use Cell::{Amount, Hour, Number, Text};

pub static REPORTS: [Report; 6] = [
    Report {
        id: "attendance",
        name: "Attendance by session",
        about: "Check-ins and people at each place.",
        columns: &[("Venue", Text), ("Place", Text), ("Type", Text), ("Check-ins", Number), ("People", Number)],
        sql: "SELECT i.venue_name, p.name, p.device_type, count(*), count(DISTINCT i.who) FROM hub_interactions i
              LEFT JOIN hub_places p ON p.venue = i.venue AND p.id = i.place WHERE i.interaction_type IN IN
              GROUP BY i.venue, i.venue_name, i.place, p.name, p.device_type ORDER BY 1, 5 DESC, 2",
    },
    Report {
        id: "arrivals",
        name: "Arrivals by hour",
        about: "When people came for the first time.",
        columns: &[("Venue", Text), ("Hour", Hour), ("People", Number)],
        sql: "SELECT venue_name, hour, count(*) FROM (
                  SELECT venue, venue_name, who, min(at) / 3600000 * 3600000 AS hour FROM hub_interactions
                  WHERE interaction_type IN IN AND who IS NOT NULL GROUP BY venue, venue_name, who) AS first
              GROUP BY venue, venue_name, hour ORDER BY 1, 2",
    },
    Report {
        id: "no-shows",
        name: "No-shows",
        about: "Attendees who are expected and did not come, by type.",
        columns: &[("Venue", Text), ("Type", Text), ("Expected", Number), ("Arrived", Number), ("No-shows", Number)],
        sql: "SELECT a.venue_name, a.delegate_type, count(*), count(c.who), count(*) - count(c.who) FROM hub_attendees a
              LEFT JOIN (SELECT DISTINCT venue, who FROM hub_interactions WHERE interaction_type IN IN) AS c
                  ON c.venue = a.venue AND c.who = a.id
              GROUP BY a.venue, a.venue_name, a.delegate_type ORDER BY 1, 2",
    },
    Report {
        id: "sales",
        name: "Sales",
        about: "Purchases and their totals.",
        columns: &[("Venue", Text), ("Purchases", Number), ("Total", Amount)],
        sql: "SELECT venue_name, count(*), CAST(sum(amount) AS BIGINT) FROM hub_sales GROUP BY venue, venue_name ORDER BY 1",
    },
    Report {
        id: "leads",
        name: "Leads",
        about: "Contacts that attendees gave at each place.",
        columns: &[("Venue", Text), ("Place", Text), ("Leads", Number), ("People", Number)],
        sql: "SELECT i.venue_name, p.name, count(*), count(DISTINCT i.who) FROM hub_interactions i
              LEFT JOIN hub_places p ON p.venue = i.venue AND p.id = i.place WHERE i.interaction_type = 'lead'
              GROUP BY i.venue, i.venue_name, i.place, p.name ORDER BY 1, 3 DESC, 2",
    },
    Report {
        id: "conflicts",
        name: "Conflicts",
        about: "Tickets that were admitted at more than one venue.",
        columns: &[("Ticket", Text), ("Name", Text), ("Venue", Text), ("First check-in", Hour)],
        sql: "SELECT a.code, a.name, a.venue_name, min(i.at) FROM hub_attendees a
              JOIN hub_interactions i ON i.venue = a.venue AND i.who = a.id AND i.interaction_type IN IN
              WHERE a.code IN (SELECT o.code FROM hub_attendees o WHERE EXISTS (SELECT 1 FROM hub_interactions e
                  WHERE e.venue = o.venue AND e.who = o.id AND e.interaction_type IN IN) GROUP BY o.code HAVING count(DISTINCT o.venue) > 1)
              GROUP BY a.code, a.name, a.venue, a.venue_name ORDER BY 1, 4",
    },
];

impl Report {
    pub fn find(id: &str) -> Option<&'static Self> {
        REPORTS.iter().find(|report| report.id == id)
    }

    pub fn rows(&self, sql: &mut dyn Sql) -> Result<Vec<Row>> {
        sql.report(&self.sql.replace(" IN IN", &format!(" IN {IN}")), &[])
    }

    /// A row as a page and a CSV file show it.
    pub fn cells(&self, row: &Row, zone: &Zone) -> Vec<String> {
        let columns = self.columns.iter().enumerate();
        let shown = columns.map(|(at, (_, cell))| match (cell, row.0.get(at)) {
            (Amount, Some(Value::Integer(cents))) => {
                format!("{}.{:02}", cents / 100, cents.abs() % 100)
            }
            (Hour, Some(Value::Integer(at))) => {
                zone.plain(Timestamp(*at)).chars().take(16).collect()
            }
            (_, Some(Value::Integer(number))) => number.to_string(),
            (_, Some(Value::Text(text))) => text.clone(),
            _ => String::new(),
        });
        shown.collect()
    }

    /// A row as JSON, by the names of the columns.
    pub fn object(&self, row: &Row, zone: &Zone) -> serde_json::Value {
        let columns = self.columns.iter().enumerate();
        let named = columns.map(|(at, (name, cell))| {
            let value = match (cell, row.0.get(at)) {
                (Hour, Some(Value::Integer(at))) => json!(zone.iso(Timestamp(*at))),
                (_, Some(Value::Integer(number))) => json!(number),
                (_, Some(Value::Text(text))) => json!(text),
                _ => serde_json::Value::Null,
            };
            ((*name).to_owned(), value)
        });
        serde_json::Value::Object(named.collect())
    }
}
