//! Tags that no attendee has: counted, kept, and recorded as seen once somebody gets them as `uhfId`.

use super::{Epc, Read, recording::Sighting};
use crate::{
    core::Context,
    db::Tx,
    domain::interactions::{draft::Draft, record::record, types::SEEN},
    types::{DelegateId, DelegateSelector, DeviceId, DeviceSelector, Timestamp, error::Result},
};
use rusqlite::{Connection, params};
use std::collections::HashMap;

/// Unknown tags that are kept; those that were not seen for longest go first.
const KEPT_MAX: i64 = 50_000;
/// Unknown tags between two writes.
const COUNTED_MAX: usize = 20_000;
/// Digits by which tags are grouped: the header and filter of most EPCs.
pub const PREFIX_DIGITS: usize = 6;
/// One read is no sighting.
const READS_LEAST: u32 = 2;
/// Records that a slice writes.
const SLICE: usize = 100;

/// An unknown tag since the last write.
#[derive(Debug, Clone)]
pub struct UnknownTag {
    first_at: i64,
    last_at: i64,
    reads: i64,
    reader: i64,
    antenna: u16,
    place: Option<i64>,
    rssi_dbm: f32,
}

/// The unknown tags since the last write.
#[derive(Debug, Default)]
pub struct UnknownTags(HashMap<Epc, UnknownTag>);

impl UnknownTags {
    /// Counts a read.
    pub fn count(&mut self, reader: i64, place: Option<i64>, read: &Read) {
        if self.0.len() >= COUNTED_MAX && !self.0.contains_key(&read.epc) {
            return;
        }
        let tag = self.0.entry(read.epc).or_insert(UnknownTag {
            first_at: read.at_ms,
            last_at: read.at_ms,
            reads: 0,
            reader,
            antenna: read.antenna,
            place,
            rssi_dbm: read.rssi_dbm,
        });
        tag.reads += 1;
        if read.at_ms >= tag.last_at {
            *tag = UnknownTag {
                last_at: read.at_ms,
                reader,
                antenna: read.antenna,
                place,
                rssi_dbm: read.rssi_dbm,
                ..*tag
            };
        }
    }

    /// Takes a part of them, to be written.
    pub fn take(&mut self) -> Vec<(String, UnknownTag)> {
        let part: Vec<Epc> = self.0.keys().take(SLICE).copied().collect();
        let tags = part.into_iter();
        tags.filter_map(|epc| Some((epc.to_string(), self.0.remove(&epc)?)))
            .collect()
    }
}

/// Adds unknown tags to those that are kept.
pub fn keep(tx: &Tx<'_>, tags: &[(String, UnknownTag)]) -> Result<()> {
    let mut insert = tx.prepare_cached(
        "INSERT INTO unknown_tags (epc, first_at, last_at, reads, reader_id, antenna, place_id, rssi)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
         ON CONFLICT (epc) DO UPDATE SET last_at = ?3, reads = reads + ?4, reader_id = ?5, antenna = ?6,
             place_id = ?7, rssi = ?8",
    )?;
    for (epc, tag) in tags {
        insert.execute(params![
            epc,
            tag.first_at,
            tag.last_at,
            tag.reads,
            tag.reader,
            tag.antenna,
            tag.place,
            f64::from(tag.rssi_dbm)
        ])?;
    }
    tx.prepare_cached(
        "DELETE FROM unknown_tags WHERE epc IN (
             SELECT epc FROM unknown_tags ORDER BY last_at
             LIMIT max(0, (SELECT count(*) FROM unknown_tags) - ?1))",
    )?
    .execute([KEPT_MAX])?;
    Ok(())
}

/// Returns whether somebody got a tag that was unknown.
pub fn is_any_matched(connection: &Connection) -> Result<bool> {
    Ok(connection
        .prepare_cached(
            "SELECT 1 FROM unknown_tags t JOIN delegates d ON d.uhf_id = t.epc COLLATE NOCASE
             WHERE d.uhf_id IS NOT NULL AND d.deleted_at IS NULL",
        )?
        .exists([])?)
}

/// Records a slice of the tags that attendees got meanwhile as seen, where and when they were last read.
/// Whether there may be more.
pub fn match_tags(tx: &Tx<'_>, ctx: &Context) -> Result<bool> {
    let matched: Vec<Matched> = tx
        .prepare_cached(
            "SELECT t.epc, d.id, t.last_at, t.reads, t.antenna, t.rssi,
                 (SELECT id FROM devices WHERE id = t.reader_id AND deleted_at IS NULL),
                 (SELECT id FROM devices WHERE id = t.place_id AND deleted_at IS NULL)
             FROM unknown_tags t JOIN delegates d ON d.uhf_id = t.epc COLLATE NOCASE
             WHERE d.uhf_id IS NOT NULL AND d.deleted_at IS NULL LIMIT ?1",
        )?
        .query_map([SLICE], |row| {
            Ok(Matched {
                epc: row.get(0)?,
                delegate: row.get(1)?,
                last_at: row.get(2)?,
                sighting: Sighting {
                    reads: row.get(3)?,
                    antenna: row.get(4)?,
                    rssi_dbm: row.get(5)?,
                },
                reader: row.get(6)?,
                place: row.get(7)?,
            })
        })?
        .collect::<rusqlite::Result<_>>()?;
    for tag in &matched {
        tx.prepare_cached("DELETE FROM unknown_tags WHERE epc = ?1")?
            .execute([&tag.epc])?;
        // As of a tag that is known, nothing follows of reads at no place.
        let Some(place) = tag.place.filter(|_| tag.sighting.reads >= READS_LEAST) else {
            continue;
        };
        let draft = Draft {
            kind: SEEN.name.to_owned(),
            delegates: [Some(DelegateSelector::Id(tag.delegate)), None, None],
            devices: [
                Some(DeviceSelector::Id(place)),
                tag.reader.map(DeviceSelector::Id),
                None,
            ],
            recorded_at: Some(tag.last_at),
            data: Some(tag.sighting.data()),
            admitted: true,
            ..Draft::default()
        };
        record(tx, ctx, &draft)?;
    }
    Ok(matched.len() == SLICE)
}

/// An unknown tag that an attendee got meanwhile.
struct Matched {
    epc: String,
    delegate: DelegateId,
    last_at: Timestamp,
    sighting: Sighting,
    /// As far as they are there.
    reader: Option<DeviceId>,
    place: Option<DeviceId>,
}

/// Unknown tags whose EPCs begin alike.
#[derive(Debug, PartialEq)]
pub struct Prefix {
    pub prefix: String,
    pub tags: i64,
    pub reads: i64,
    /// One of them.
    pub example: String,
    pub last_at: Timestamp,
}

/// Unknown tags by the beginning of their EPC, the most frequent first.
pub fn prefixes(connection: &Connection) -> Result<Vec<Prefix>> {
    let mut statement = connection.prepare_cached(
        "SELECT substr(epc, 1, ?1) AS prefix, count(*), sum(reads), min(epc), max(last_at)
         FROM unknown_tags GROUP BY prefix ORDER BY count(*) DESC, prefix LIMIT 20",
    )?;
    let rows = statement.query_map([PREFIX_DIGITS], |row| {
        Ok(Prefix {
            prefix: row.get(0)?,
            tags: row.get(1)?,
            reads: row.get(2)?,
            example: row.get(3)?,
            last_at: row.get(4)?,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Forgets the unknown tags whose EPCs begin so; how many.
pub fn forget(tx: &Tx<'_>, prefix: &str) -> Result<usize> {
    Ok(tx
        .prepare_cached("DELETE FROM unknown_tags WHERE substr(epc, 1, ?2) = ?1")?
        .execute(params![prefix, PREFIX_DIGITS])?)
}
