//! Finding interactions and refusals within a stretch of ids.

use crate::{
    core::search::{Conditions, Search},
    domain::{
        delegates::{People, people},
        interactions::list::SEARCHED,
    },
    types::{Timestamp, Zone, error::Result, text::fold},
};
use rusqlite::{Connection, params_from_iter, types::Value};
use std::{fmt::Write, ops::RangeInclusive};

/// Delegates that a text may mean for their interactions to be found one by one.
const DELEGATES_MAX: usize = 200;
/// Words of a text that are looked for.
const WORDS_MAX: usize = 6;

/// What is wanted beside words and a search.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// The interaction type; empty for any.
    pub kind: String,
    pub device: Option<i64>,
    /// Only what was refused.
    pub refused: bool,
    /// The code of a refusal.
    pub code: Option<i64>,
    /// Refusals from this time on.
    pub since: Option<Timestamp>,
    /// Refusals before this time.
    pub until: Option<Timestamp>,
}

/// What a delegate is known by.
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

    /// Whether interactions are asked for at all.
    pub fn wants_interactions(&self) -> bool {
        !self.wanted.refused
    }

    /// Whether refusals are asked for: a search knows interactions only.
    pub fn wants_refusals(&self) -> bool {
        self.search.is_none()
    }

    /// Interactions of a stretch of ids, the newest first.
    pub fn interactions(
        &self,
        connection: &Connection,
        ids: RangeInclusive<i64>,
        most: usize,
    ) -> Result<Vec<i64>> {
        let mut condition = Conditions::default();
        // Its parameters are numbered from 1.
        if let Some(search) = &self.search {
            let compiled = search.condition();
            condition.parameters = compiled.parameters;
            condition.and(&format!("({})", compiled.sql));
        }
        let low = condition.bind(*ids.start());
        let high = condition.bind(*ids.end());
        if !self.wanted.kind.is_empty() {
            let kind = condition.bind(self.wanted.kind.clone());
            condition.and(&format!("interaction_type = {kind}"));
        }
        // By the indexes of the three places, each within the stretch.
        let places = |who: &str, test: &str| {
            ["first", "second", "third"]
                .map(|place| {
                    format!(
                        "SELECT id FROM interactions WHERE {place}_{who}_id {test} AND id BETWEEN {low} AND {high}"
                    )
                })
                .join(" UNION ALL ")
        };
        if let Some(device) = self.wanted.device {
            let device = condition.bind(device);
            let found = places("device", &format!("= {device}"));
            condition.and(&format!("id IN ({found})"));
        }
        match &self.delegates {
            Some(delegates) => {
                let delegates = condition.bind(serde_json::json!(delegates).to_string());
                let test = format!("IN (SELECT value FROM json_each({delegates}))");
                let found = places("delegate", &test);
                condition.and(&format!("id IN ({found})"));
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
        let most = condition.bind(i64::try_from(most).unwrap_or(i64::MAX));
        let sql = format!(
            "SELECT id FROM interactions WHERE id BETWEEN {low} AND {high}{} ORDER BY id DESC LIMIT {most}",
            condition.sql
        );
        found(connection, &sql, condition.parameters)
    }

    /// Refusals of a stretch of ids, the newest first.
    pub fn refusals(
        &self,
        connection: &Connection,
        ids: RangeInclusive<i64>,
        most: usize,
    ) -> Result<Vec<i64>> {
        let mut condition = Conditions::default();
        let low = condition.bind(*ids.start());
        let high = condition.bind(*ids.end());
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
        let most = condition.bind(i64::try_from(most).unwrap_or(i64::MAX));
        let sql = format!(
            "SELECT id FROM refusals WHERE id BETWEEN {low} AND {high}{} ORDER BY id DESC LIMIT {most}",
            condition.sql
        );
        found(connection, &sql, condition.parameters)
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

    /// That the words are about a delegate `p`.
    fn about(&self, condition: &mut Conditions) -> String {
        let mut about = String::new();
        for word in &self.words {
            let word = condition.bind(word.clone());
            let _ = write!(about, " AND text_contains({}, {word})", known_by("p"));
        }
        about
    }
}

fn found(connection: &Connection, sql: &str, parameters: Vec<Value>) -> Result<Vec<i64>> {
    let mut statement = connection.prepare_cached(sql)?;
    let ids = statement.query_map(params_from_iter(parameters), |row| row.get(0))?;
    Ok(ids.collect::<rusqlite::Result<_>>()?)
}

/// The newest id of a table; 0 without any.
pub fn newest(connection: &Connection, table: &'static str) -> Result<i64> {
    Ok(connection
        .prepare_cached(&format!("SELECT coalesce(max(id), 0) FROM {table}"))?
        .query_row([], |row| row.get(0))?)
}
