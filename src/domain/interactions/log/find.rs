//! Finding interactions, refusals, what was taken back, and imports within a stretch of ids.

use super::heads::{Head, Key};
use crate::{
    core::search::{Conditions, Search},
    domain::{
        delegates::{People, people},
        interactions::{everybody_out, list::SEARCHED, types::TYPES},
    },
    types::{Timestamp, Zone, error::Result, text::fold},
};
use rusqlite::{Connection, Row, params_from_iter, types::Value};
use std::{fmt::Write, ops::RangeInclusive, sync::LazyLock};

/// Delegates that a text may mean for their interactions to be found one by one.
const DELEGATES_MAX: usize = 200;
/// Words of a text that are looked for.
const WORDS_MAX: usize = 6;

/// The conditions beside words and a search.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// The interaction type; empty for any.
    pub kind: String,
    pub device: Option<i64>,
    /// Only what was refused.
    pub refused: bool,
    /// Only what was taken back.
    pub undone: bool,
    /// One kind of what machines repeat, as it is called; empty for all.
    pub many: String,
    /// Each of those that machines repeat by itself.
    pub single: bool,
    /// The code of a refusal.
    pub code: Option<i64>,
    /// Refusals from this time on.
    pub since: Option<Timestamp>,
    /// Refusals before this time.
    pub until: Option<Timestamp>,
}

/// Rows of kinds that machines repeat that one look takes in.
pub const REPEATED_MAX: usize = 20_000;

/// The name of many of a row of interactions, in SQL; NULL where each is told by itself.
static REPEATED: LazyLock<String> = LazyLock::new(|| {
    let repeated = TYPES
        .iter()
        .filter_map(|one| Some((one.name, one.repeated?)));
    let cases: Vec<String> = repeated
        .map(|(name, many)| format!("WHEN '{name}' THEN '{many}'"))
        .collect();
    format!(
        "coalesce(CASE interaction_type {} END, iif(client_id IS NULL AND user_id IS NULL AND data IS '{}', '{}', NULL))",
        cases.join(" "),
        everybody_out::DATA,
        EVERYBODY_OUT
    )
});
/// Check-outs of everybody out.
pub const EVERYBODY_OUT: &str = "check-outs by everybody out";

/// The condition that a row of interactions is of no import: those are told as one.
const NOT_IMPORTED: &str = "NOT (client_id IS NULL AND (
    EXISTS (SELECT 1 FROM batch_rows r JOIN batches b ON b.id = r.batch_id
        WHERE r.record_id = interactions.id AND b.kind = 'interactions')
    OR EXISTS (SELECT 1 FROM batch_rows r JOIN batches b ON b.id = r.batch_id
        WHERE r.record_id = first_delegate_id AND r.interaction_id = interactions.id AND b.kind = 'delegates')))";

/// The condition that an interaction came in soon after it happened.
pub const ON_TIME: &str = "created_at - moment <= 60000";

/// The names by which people know a delegate, in SQL.
fn known_by(alias: &str) -> String {
    let column = |name| format!("coalesce({alias}.{name}, '')");
    [
        "first_name",
        "last_name",
        "company",
        "email",
        "barcode",
        "external_id",
    ]
    .map(column)
    .join(" || ' ' || ")
}

/// The delegates that words are about, if those are few.
fn few_delegates(connection: &Connection, words: &str) -> Result<Option<Vec<i64>>> {
    if words.trim().is_empty() {
        return Ok(None);
    }
    let people = People::new(words);
    if !people.is_long_enough() {
        return Ok(None);
    }
    let mut ids = people::find(connection, &people, DELEGATES_MAX)?;
    let deleted = people::find(connection, &people.deleted(true), DELEGATES_MAX)?;
    let is_all = !ids.more && !deleted.more;
    ids.ids.extend(deleted.ids);
    Ok(is_all.then_some(ids.ids))
}

/// A filter that is ready.
pub struct Finder {
    wanted: Wanted,
    words: Vec<String>,
    /// The delegates that the words are about, where those are few.
    delegates: Option<Vec<i64>>,
    search: Option<Search>,
}

impl Finder {
    /// Makes ready what is wanted, with words about a delegate and a search as the API takes it.
    pub fn new(
        connection: &Connection,
        wanted: Wanted,
        delegate: &str,
        search: &str,
        zone: &Zone,
    ) -> Result<Self> {
        let search = Search::asked(&SEARCHED, Some(search), zone, None)?;
        let words = delegate.split_whitespace().take(WORDS_MAX);
        let words: Vec<String> = words.map(fold).collect();
        Ok(Self {
            wanted,
            delegates: few_delegates(connection, delegate)?,
            words,
            search,
        })
    }

    /// Tells if interactions are asked for at all.
    pub fn wants_interactions(&self) -> bool {
        !self.wanted.refused && !self.wanted.undone
    }

    /// Tells if refusals are asked for: a search knows interactions only.
    pub fn wants_refusals(&self) -> bool {
        self.search.is_none() && !self.wanted.undone && self.wanted.many.is_empty()
    }

    /// Tells if what was taken back is asked for.
    pub fn wants_undone(&self) -> bool {
        self.search.is_none() && !self.wanted.refused && self.wanted.many.is_empty()
    }

    /// Tells if imports are asked for, each as one: where nothing narrows the list.
    pub fn wants_imports(&self) -> bool {
        self.wants_interactions() && self.is_wide() && !self.wanted.single
    }

    fn is_wide(&self) -> bool {
        let wanted = &self.wanted;
        self.search.is_none()
            && self.words.is_empty()
            && wanted.kind.is_empty()
            && wanted.device.is_none()
    }

    /// The conditions on a row of interactions, but for its ids; with `ids`, indexes are asked within them.
    fn conditions(&self, ids: Option<&RangeInclusive<i64>>) -> (Conditions, String) {
        let mut condition = Conditions::default();
        // Its parameters are numbered from 1.
        if let Some(search) = &self.search {
            let compiled = search.condition();
            condition.parameters = compiled.parameters;
            condition.and(&format!("({})", compiled.sql));
        }
        let within = ids.map_or_else(String::new, |ids| {
            let low = condition.bind(*ids.start());
            let high = condition.bind(*ids.end());
            format!("id BETWEEN {low} AND {high}")
        });
        let also = if within.is_empty() {
            String::new()
        } else {
            format!(" AND {within}")
        };
        if !self.wanted.kind.is_empty() {
            let kind = condition.bind(self.wanted.kind.clone());
            condition.and(&format!("interaction_type = {kind}"));
        }
        // By the indexes of the three places, each within the stretch; a few rows are looked at one by one.
        let places = |who: &str, test: &str| {
            let each = ["first", "second", "third"].map(|place| format!("{place}_{who}_id {test}"));
            if also.is_empty() {
                return format!("({})", each.join(" OR "));
            }
            let found = each.map(|test| format!("SELECT id FROM interactions WHERE {test}{also}"));
            format!("id IN ({})", found.join(" UNION ALL "))
        };
        if let Some(device) = self.wanted.device {
            let device = condition.bind(device);
            condition.and(&places("device", &format!("= {device}")));
        }
        match &self.delegates {
            Some(delegates) => {
                let delegates = condition.bind(serde_json::json!(delegates).to_string());
                let test = format!("IN (SELECT value FROM json_each({delegates}))");
                condition.and(&places("delegate", &test));
            }
            None if !self.words.is_empty() => {
                let about = self.about(&mut condition);
                condition.and(&format!(
                    "EXISTS (SELECT 1 FROM delegates p
                     WHERE p.id IN (first_delegate_id, second_delegate_id, third_delegate_id){about})"
                ));
            }
            None => {}
        }
        if !self.wanted.many.is_empty() {
            let many = condition.bind(self.wanted.many.clone());
            condition.and(&format!("{} = {many}", *REPEATED));
        }
        if self.wants_imports() {
            condition.and(NOT_IMPORTED);
        }
        (condition, within)
    }

    /// The name of many of a row, in SQL.
    fn repeated(&self) -> &str {
        if self.wanted.single || !self.wanted.kind.is_empty() {
            "NULL"
        } else {
            &REPEATED
        }
    }

    /// Interactions of a stretch of ids, the newest first; `most` of them beside those that machines repeat. `test`
    /// is a further condition.
    pub fn interactions(
        &self,
        connection: &Connection,
        ids: &RangeInclusive<i64>,
        test: &str,
        most: usize,
    ) -> Result<Vec<Head>> {
        let (condition, within) = self.conditions(Some(ids));
        let sql = format!(
            "SELECT id, created_at, {}, first_device_id FROM interactions WHERE {within} AND {test}{} ORDER BY id DESC",
            self.repeated(),
            condition.sql
        );
        heads(connection, &sql, condition.parameters, most)
    }

    /// Lists the interactions of a stretch of ids that machines repeated since a moment.
    pub fn repeated_since(
        &self,
        connection: &Connection,
        ids: &RangeInclusive<i64>,
        since: i64,
    ) -> Result<Vec<Head>> {
        let test = format!("created_at >= {since} AND {} IS NOT NULL", *REPEATED);
        self.interactions(connection, ids, &test, usize::MAX)
    }

    /// Lists those of some interactions that are asked for, with their positions in time. The limit keeps other indexes
    /// out of the look-up of these few.
    pub fn late_interactions(&self, connection: &Connection, ids: &[i64]) -> Result<Vec<Head>> {
        let (mut condition, _) = self.conditions(None);
        let ids = condition.bind(serde_json::json!(ids).to_string());
        let sql = format!(
            "SELECT id, moment, {}, first_device_id FROM (SELECT * FROM interactions WHERE id IN (SELECT value FROM json_each({ids})) LIMIT -1) AS interactions
             WHERE TRUE{} ORDER BY moment DESC, id DESC",
            self.repeated(),
            condition.sql
        );
        heads(connection, &sql, condition.parameters, usize::MAX)
    }

    /// Interactions that were taken back, by the numbers of their changes, the newest first.
    pub fn undone(
        &self,
        connection: &Connection,
        ids: &RangeInclusive<i64>,
        most: usize,
    ) -> Result<Vec<Head>> {
        let mut condition = Conditions::default();
        let low = condition.bind(*ids.start());
        let high = condition.bind(*ids.end());
        if !self.wanted.kind.is_empty() {
            let kind = condition.bind(self.wanted.kind.clone());
            condition.and(&format!("before ->> '$.interactionType' = {kind}"));
        }
        if let Some(device) = self.wanted.device {
            let device = condition.bind(device);
            condition.and(&format!("before ->> '$.firstDevice.id' = {device}"));
        }
        let who = "before ->> '$.firstDelegate.id'";
        if let Some(delegates) = &self.delegates {
            let delegates = condition.bind(serde_json::json!(delegates).to_string());
            condition.and(&format!(
                "{who} IN (SELECT value FROM json_each({delegates}))"
            ));
        } else if !self.words.is_empty() {
            let about = self.about(&mut condition);
            condition.and(&format!(
                "EXISTS (SELECT 1 FROM delegates p WHERE p.id = {who}{about})"
            ));
        }
        let most = condition.bind(i64::try_from(most).unwrap_or(i64::MAX));
        let sql = format!(
            "SELECT id, at FROM audit INDEXED BY audit_undone_order
             WHERE action = 'delete' AND record_type = 'interaction' AND before IS NOT NULL
                 AND id BETWEEN {low} AND {high}{} ORDER BY id DESC LIMIT {most}",
            condition.sql
        );
        plain(connection, &sql, condition.parameters, Key::Undone)
    }

    /// Refusals of a stretch of ids, the newest first. `test` is a further condition.
    pub fn refusals(
        &self,
        connection: &Connection,
        ids: &RangeInclusive<i64>,
        test: &str,
        most: usize,
    ) -> Result<Vec<Head>> {
        let mut condition = self.refusal_conditions();
        let low = condition.bind(*ids.start());
        let high = condition.bind(*ids.end());
        let most = condition.bind(i64::try_from(most).unwrap_or(i64::MAX));
        let sql = format!(
            "SELECT id, at FROM refusals WHERE id BETWEEN {low} AND {high} AND {test}{} ORDER BY id DESC LIMIT {most}",
            condition.sql
        );
        plain(connection, &sql, condition.parameters, Key::Refusal)
    }

    /// Lists those of some refusals that are asked for, with their positions in time.
    pub fn late_refusals(&self, connection: &Connection, ids: &[i64]) -> Result<Vec<Head>> {
        let mut condition = self.refusal_conditions();
        let ids = condition.bind(serde_json::json!(ids).to_string());
        let sql = format!(
            "SELECT id, recorded_at FROM (SELECT * FROM refusals WHERE id IN (SELECT value FROM json_each({ids})) LIMIT -1) AS refusals
             WHERE TRUE{} ORDER BY recorded_at DESC, id DESC",
            condition.sql
        );
        plain(connection, &sql, condition.parameters, Key::Refusal)
    }

    fn refusal_conditions(&self) -> Conditions {
        let mut condition = Conditions::default();
        if !self.wanted.kind.is_empty() {
            let kind = condition.bind(self.wanted.kind.clone());
            condition.and(&format!("interaction_type = {kind}"));
        }
        for (column, value) in [
            ("device_id", self.wanted.device),
            ("code", self.wanted.code),
        ] {
            if let Some(value) = value {
                let value = condition.bind(value);
                condition.and(&format!("{column} = {value}"));
            }
        }
        for (test, at) in [(">=", self.wanted.since), ("<", self.wanted.until)] {
            if let Some(at) = at {
                let at = condition.bind(at.0);
                condition.and(&format!("at {test} {at}"));
            }
        }
        if !self.words.is_empty() {
            let is_theirs = if let Some(delegates) = &self.delegates {
                let delegates = condition.bind(serde_json::json!(delegates).to_string());
                format!("delegate_id IN (SELECT value FROM json_each({delegates}))")
            } else {
                let about = self.about(&mut condition);
                format!("EXISTS (SELECT 1 FROM delegates p WHERE p.id = delegate_id{about})")
            };
            // An unknown code is in the refusal alone.
            let mut scanned = String::from("1");
            for word in &self.words {
                let word = condition.bind(word.clone());
                let _ = write!(scanned, " AND text_contains(delegate, {word})");
            }
            condition.and(&format!("({scanned} OR {is_theirs})"));
        }
        condition
    }

    /// The newest refusal that may be asked for, and the oldest: a time bounds them, though clocks
    /// jump and ids do not.
    pub fn span_of_refusals(&self, connection: &Connection) -> Result<(i64, i64)> {
        let Wanted { since, until, .. } = self.wanted;
        if since.is_none() && until.is_none() {
            return Ok((newest(connection, "refusals")?, 1));
        }
        Ok(connection
            .prepare_cached(
                "SELECT coalesce(max(id), 0), coalesce(min(id), 1) FROM refusals WHERE at >= ?1 AND at < ?2",
            )?
            .query_row(
                [
                    since.map_or(i64::MIN, |at| at.0),
                    until.map_or(i64::MAX, |at| at.0),
                ],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )?)
    }

    /// The condition that the words are about a delegate `p`.
    fn about(&self, condition: &mut Conditions) -> String {
        let mut about = String::new();
        for word in &self.words {
            let word = condition.bind(word.clone());
            let _ = write!(about, " AND text_contains({}, {word})", known_by("p"));
        }
        about
    }
}

/// Reads rows of an id, a time, what many are called, and a device.
fn heads(
    connection: &Connection,
    sql: &str,
    parameters: Vec<Value>,
    most: usize,
) -> Result<Vec<Head>> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params_from_iter(parameters))?;
    let (mut heads, mut singles) = (Vec::new(), 0);
    while let Some(row) = rows.next()? {
        let repeated: Option<String> = row.get(2)?;
        let head = Head {
            key: Key::Interaction(row.get(0)?),
            at: row.get(1)?,
            repeated: repeated.and_then(|many| known(&many)),
            device: row.get(3)?,
        };
        singles += usize::from(head.repeated.is_none());
        heads.push(head);
        if singles >= most || heads.len() >= REPEATED_MAX {
            break;
        }
    }
    Ok(heads)
}

/// The same text as the table of types has it.
fn known(many: &str) -> Option<&'static str> {
    let of_types = TYPES.iter().filter_map(|one| one.repeated);
    of_types.chain([EVERYBODY_OUT]).find(|known| *known == many)
}

/// Reads rows of an id and a time.
fn plain(
    connection: &Connection,
    sql: &str,
    parameters: Vec<Value>,
    key: fn(i64) -> Key,
) -> Result<Vec<Head>> {
    let mut statement = connection.prepare_cached(sql)?;
    let read = |row: &Row<'_>| Ok(Head::single(key(row.get(0)?), row.get(1)?));
    let found = statement.query_map(params_from_iter(parameters), read)?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

/// The newest id of a table.
pub fn newest(connection: &Connection, table: &'static str) -> Result<i64> {
    Ok(connection
        .prepare_cached(&format!("SELECT coalesce(max(id), 0) FROM {table}"))?
        .query_row([], |row| row.get(0))?)
}
