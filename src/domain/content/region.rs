//! A region as it is kept, as somebody wants it to be, and as it is answered.

use super::Of;
use crate::types::{
    Timestamp, Zone,
    error::{Error, Result},
    text::check_text,
};
use rusqlite::{Connection, OptionalExtension, Row};
use serde_json::{Value, json};
use std::ops::Deref;

const TAGS_MAX: usize = 50;
const REFERENCES_MAX: usize = 100;
const REFERENCE_MAX_CHARS: usize = 500;
const TAG_MAX_CHARS: usize = 100;

/// A region as somebody wants it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Draft {
    pub path: String,
    pub content: String,
    pub tags: Vec<String>,
    /// The references of the region, such as addresses or the codes of records; apps are given them as they are.
    pub references: Vec<String>,
    /// The time from which it is given out; `None`: since ever.
    pub published_from: Option<Timestamp>,
    /// The end of that time, itself excluded; `None`: for ever.
    pub published_to: Option<Timestamp>,
}

/// A region in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    pub now: Draft,
    /// The number of that version, counted from 1.
    pub version: i64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// A save of a region.
#[derive(Debug, Clone)]
pub struct Version {
    pub then: Draft,
    pub version: i64,
    pub actor: String,
    pub at: Timestamp,
}

/// The publication of a region at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Publication {
    Published,
    Later,
    Over,
}

/// A draft that was checked. Compiling takes its time, so it is done before a write and not in one.
#[derive(Debug, Clone)]
pub struct Checked(Draft);

impl Checked {
    /// A draft whose template is one that the file holds: it was checked when it was saved.
    pub(crate) fn as_stored(draft: Draft) -> Self {
        Self(draft)
    }
}

impl Deref for Checked {
    type Target = Draft;

    fn deref(&self) -> &Draft {
        &self.0
    }
}

impl Draft {
    /// Checks it, and compiles the template.
    pub fn check(self) -> Result<Checked> {
        let of = Of::path(&self.path)?;
        check_words("tags", &self.tags, TAGS_MAX, TAG_MAX_CHARS)?;
        check_words(
            "references",
            &self.references,
            REFERENCES_MAX,
            REFERENCE_MAX_CHARS,
        )?;
        if let (Some(from), Some(to)) = (self.published_from, self.published_to)
            && to < from
        {
            return Err(Error::field(
                "publishedTo",
                "must not be before publishedFrom",
            ));
        }
        of.check(&self.content)
            .map_err(|fault| Error::field("content", fault))?;
        Ok(Checked(self))
    }

    /// Returns its publication at a time.
    pub fn standing(&self, at: Timestamp) -> Publication {
        if self.published_to.is_some_and(|to| to <= at) {
            Publication::Over
        } else if self.published_from.is_some_and(|from| from > at) {
            Publication::Later
        } else {
            Publication::Published
        }
    }

    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            path: row.get("path")?,
            content: row.get("content")?,
            tags: words(&row.get::<_, String>("tags")?),
            references: words(&row.get::<_, String>("refs")?),
            published_from: row.get("published_from")?,
            published_to: row.get("published_to")?,
        })
    }
}

fn check_words(name: &str, words: &[String], most: usize, longest: usize) -> Result<()> {
    if words.len() > most {
        return Err(Error::field(name, format!("at most {most}")));
    }
    for (at, word) in words.iter().enumerate() {
        let name = format!("{name}[{at}]");
        check_text(&name, word)?;
        if word.trim().is_empty() || word.chars().count() > longest {
            return Err(Error::field(
                name,
                format!("must have 1 to {longest} characters"),
            ));
        }
    }
    Ok(())
}

/// Reads words; what somebody broke in the file breaks no answer.
fn words(text: &str) -> Vec<String> {
    serde_json::from_str(text).unwrap_or_default()
}

impl Region {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            now: Draft::read(row)?,
            version: row.get("version")?,
            created_at: row.get("created_at")?,
            updated_at: row.get("updated_at")?,
        })
    }

    /// The region at a path.
    pub fn find(connection: &Connection, path: &str) -> Result<Option<Self>> {
        Ok(connection
            .prepare_cached("SELECT * FROM regions WHERE path = ?1")?
            .query_row([path], Self::read)
            .optional()?)
    }

    /// Every region, by path.
    pub fn all(connection: &Connection) -> Result<Vec<Self>> {
        let mut statement = connection.prepare_cached("SELECT * FROM regions ORDER BY path")?;
        let rows = statement.query_map([], Self::read)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// The region as it is answered, with what its template made (spec: Content region).
    pub fn answer(&self, content: &str, zone: &Zone) -> Value {
        let time = |at: Option<Timestamp>| at.map(|at| zone.plain(at));
        json!({
            "path": self.now.path,
            "content": content,
            "tags": self.now.tags,
            "references": self.now.references,
            "publishedFrom": time(self.now.published_from),
            "publishedTo": time(self.now.published_to),
            "createdAt": zone.plain(self.created_at),
            "updatedAt": zone.plain(self.updated_at),
        })
    }
}

impl Version {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            then: Draft::read(row)?,
            version: row.get("version")?,
            actor: row.get("actor")?,
            at: row.get("at")?,
        })
    }

    /// A version of the region at a path.
    pub fn find(connection: &Connection, path: &str, version: i64) -> Result<Option<Self>> {
        Ok(connection
            .prepare_cached("SELECT * FROM region_versions WHERE path = ?1 AND version = ?2")?
            .query_row(rusqlite::params![path, version], Self::read)
            .optional()?)
    }

    /// The versions of the region at a path, the newest first.
    pub fn all(connection: &Connection, path: &str) -> Result<Vec<Self>> {
        let mut statement = connection.prepare_cached(
            "SELECT * FROM region_versions WHERE path = ?1 ORDER BY version DESC",
        )?;
        let rows = statement.query_map([path], Self::read)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }
}
