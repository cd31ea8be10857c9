//! The outbox as the console shows it: lists by state and channel, and one message whole.

use super::{
    templates::Entry,
    types::{Channel, State},
};
use crate::types::{Timestamp, error::Result, text};
use rusqlite::{Connection, OptionalExtension, Row, ToSql, params};
use std::collections::HashMap;

/// Messages looked at for one page, at the most: one that is looked for among millions is found by
/// going on from there.
const LOOKED_AT_MAX: i64 = 20_000;

/// The messages to look for.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    pub state: Option<State>,
    pub channel: Option<Channel>,
    pub template: Option<String>,
    pub delegate: Option<i64>,
    /// To an address, or a person, whose address or name has this in it.
    pub to: Option<String>,
    /// Those of a list, by their origin, and the newest message before them.
    pub of_list: Option<(String, i64)>,
}

impl Filter {
    /// Returns whether it leaves nothing out.
    pub fn is_any(&self) -> bool {
        self.state.is_none()
            && self.channel.is_none()
            && self.template.is_none()
            && self.delegate.is_none()
            && self.to.is_none()
            && self.of_list.is_none()
    }
}

/// A message as a line.
#[derive(Debug, Clone)]
pub struct Line {
    pub id: i64,
    pub delegate: Option<i64>,
    pub who: String,
    pub channel: Channel,
    pub state: State,
    pub template: Option<String>,
    pub address: String,
    pub subject: Option<String>,
    pub created_at: Timestamp,
    /// The reason why it was not sent.
    pub failure: Option<String>,
}

/// A message, whole.
#[derive(Debug, Clone)]
pub struct Whole {
    pub line: Line,
    /// The text; `None` where that is a secret, or gone.
    pub body: Option<String>,
    pub html: Option<String>,
    pub secret: bool,
    pub origin: String,
    pub attempts: i64,
    pub tried_at: Option<Timestamp>,
    pub next_at: Option<Timestamp>,
    pub expires_at: Option<Timestamp>,
    pub sent_at: Option<Timestamp>,
    pub opened_at: Option<Timestamp>,
}

const LINE: &str = "m.id, m.delegate_id,
    coalesce(nullif(trim(coalesce(d.first_name, '') || ' ' || coalesce(d.last_name, '')), ''), d.company, ''),
    m.channel, m.state, m.template, m.address, m.subject, m.created_at, m.failure";

fn line(row: &Row<'_>) -> rusqlite::Result<Line> {
    Ok(Line {
        id: row.get(0)?,
        delegate: row.get(1)?,
        who: row.get(2)?,
        channel: row.get(3)?,
        state: row.get(4)?,
        template: row.get(5)?,
        address: row.get(6)?,
        subject: row.get(7)?,
        created_at: row.get(8)?,
        failure: row.get(9)?,
    })
}

/// Messages up to an id, the newest first, at most `most`; and the id to go on from, where there may
/// be more.
pub fn page(
    connection: &Connection,
    filter: &Filter,
    from: Option<i64>,
    most: usize,
) -> Result<(Vec<Line>, Option<i64>)> {
    let newest = newest(connection)?;
    let from = from.map_or(newest, |from| from.min(newest));
    let of_list = filter.of_list.as_ref();
    let origin = of_list.map(|(origin, _)| origin);
    let after = of_list.map_or(0, |(_, after)| *after);
    let low = (from - LOOKED_AT_MAX).max(after).max(0);
    let to = filter.to.as_deref().map(text::fold);
    let limit = i64::try_from(most).unwrap_or(i64::MAX);
    let values: [&dyn ToSql; 9] = [
        &from,
        &low,
        &filter.state,
        &filter.channel,
        &filter.template,
        &filter.delegate,
        &to,
        &limit,
        &origin,
    ];
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {LINE} FROM messages m LEFT JOIN delegates d ON d.id = m.delegate_id
         WHERE m.id <= ?1 AND m.id > ?2 AND (?3 IS NULL OR m.state = ?3)
         AND (?4 IS NULL OR m.channel = ?4) AND (?5 IS NULL OR m.template = ?5)
         AND (?6 IS NULL OR m.delegate_id = ?6) AND (?9 IS NULL OR m.origin = ?9)
         AND (?7 IS NULL OR text_contains(m.address, ?7)
             OR text_contains(coalesce(d.first_name, '') || ' ' || coalesce(d.last_name, ''), ?7))
         ORDER BY m.id DESC LIMIT ?8"
    ))?;
    let rows = statement.query_map(values.as_slice(), line)?;
    let lines = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    let reached = match lines.last() {
        Some(last) if lines.len() == most => last.id - 1,
        _ => low,
    };
    Ok((lines, (reached > after.max(0)).then_some(reached)))
}

/// The newest message.
pub fn newest(connection: &Connection) -> Result<i64> {
    Ok(connection
        .prepare_cached("SELECT coalesce(max(id), 0) FROM messages")?
        .query_row([], |row| row.get(0))?)
}

/// Counts the messages of a list in each state.
pub fn counts_of_list(
    connection: &Connection,
    origin: &str,
    after: i64,
) -> Result<HashMap<State, i64>> {
    let sql = "SELECT state, count(*) FROM messages WHERE id > ?2 AND origin = ?1 GROUP BY state";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map(params![origin, after], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The newest messages that failed, or whose outcome is unknown.
pub fn undelivered(connection: &Connection, limit: usize) -> Result<Vec<Line>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {LINE} FROM messages m LEFT JOIN delegates d ON d.id = m.delegate_id
         WHERE m.state IN ('failed', 'unknown') AND m.id > (SELECT coalesce(max(id), 0) - ?1 FROM messages)
         ORDER BY m.id DESC LIMIT ?2"
    ))?;
    let lines = statement.query_map(params![LOOKED_AT_MAX, limit], line)?;
    Ok(lines.collect::<rusqlite::Result<_>>()?)
}

/// Counts those of some attendees who have anything that a message of a channel could go to.
pub fn reachable(connection: &Connection, channel: Channel, attendees: &[i64]) -> Result<i64> {
    count(connection, channel, "TRUE", attendees)
}

/// Counts the attendees who can be reached and meet a condition.
fn count(
    connection: &Connection,
    channel: Channel,
    condition: &str,
    attendees: &[i64],
) -> Result<i64> {
    let has_address = match channel {
        Channel::Email => "email IS NOT NULL",
        Channel::Sms => "phone IS NOT NULL",
        Channel::Push => "json_array_length(data, '$.Data.pushTokens') > 0",
    };
    let sql = format!(
        "SELECT count(*) FROM delegates
         WHERE id IN (SELECT value FROM json_each(?1)) AND deleted_at IS NULL AND {has_address} AND {condition}"
    );
    let ids = serde_json::json!(attendees).to_string();
    Ok(connection
        .prepare_cached(&sql)?
        .query_row([ids], |row| row.get(0))?)
}

/// The properties of attendees that a button inserts into a message: each with its column and its name.
pub const INSERTED: [(&str, &str, &str); 5] = [
    ("firstName", "first_name", "First name"),
    ("lastName", "last_name", "Last name"),
    ("company", "company", "Company"),
    ("delegateType", "delegate_type", "Type"),
    ("barcode", "barcode", "Ticket code"),
];

/// The columns and names of those of [`INSERTED`] that a message has without a filter, inside of an `if` or not.
pub fn inserted(entry: &Entry) -> Vec<(&'static str, &'static str)> {
    let is_inserted = |property: &str| {
        let tag = format!("{{{{delegate.{property}}}}}");
        let plain = |source: &str| source.replace(char::is_whitespace, "");
        entry
            .parts()
            .any(|(_, source, _)| plain(source).contains(&tag))
    };
    let properties = INSERTED
        .iter()
        .filter(|(property, ..)| is_inserted(property));
    properties
        .map(|(_, column, name)| (*column, *name))
        .collect()
}

/// Counts the attendees who can be reached and lack what is inserted, by its name, where there are any.
pub fn lacking(
    connection: &Connection,
    channel: Channel,
    inserted: &[(&'static str, &'static str)],
    attendees: &[i64],
) -> Result<Vec<(&'static str, i64)>> {
    let mut lacking = Vec::new();
    for (column, name) in inserted {
        let without = format!("coalesce({column}, '') = ''");
        let people = count(connection, channel, &without, attendees)?;
        lacking.push((*name, people));
    }
    lacking.retain(|(_, people)| *people > 0);
    Ok(lacking)
}

/// Counts the messages in each state, of the newest.
pub fn counts(connection: &Connection) -> Result<HashMap<State, i64>> {
    let mut statement = connection.prepare_cached(
        "SELECT state, count(*) FROM messages
         WHERE id > (SELECT coalesce(max(id), 0) - ?1 FROM messages) GROUP BY state",
    )?;
    let rows = statement.query_map([LOOKED_AT_MAX], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// A message.
pub fn one(connection: &Connection, id: i64) -> Result<Option<Whole>> {
    Ok(connection
        .prepare_cached(&format!(
            "SELECT {LINE}, iif(m.secret, NULL, m.body), iif(m.secret, NULL, m.html), m.secret,
                 m.origin, m.attempts, m.tried_at, o.next_at, o.expires_at, m.sent_at, m.opened_at
             FROM messages m LEFT JOIN delegates d ON d.id = m.delegate_id
             LEFT JOIN outbox o ON o.source = 'message' AND o.source_id = m.id WHERE m.id = ?1"
        ))?
        .query_row([id], |row| {
            Ok(Whole {
                line: line(row)?,
                body: row.get(10)?,
                html: row.get(11)?,
                secret: row.get(12)?,
                origin: row.get(13)?,
                attempts: row.get(14)?,
                tried_at: row.get(15)?,
                next_at: row.get(16)?,
                expires_at: row.get(17)?,
                sent_at: row.get(18)?,
                opened_at: row.get(19)?,
            })
        })
        .optional()?)
}
