//! A page of the feed.

use super::{ChangeEffect, Cursor, FeedView, Place, RecordType};
use crate::{
    core::changes::{self, Position, action},
    types::error::{Error, Kind, Result},
};
use rusqlite::Connection;
use std::{collections::HashMap, fmt::Write};

/// A page ends once its records are this long.
const PAGE_MAX_BYTES: usize = 4 * 1024 * 1024;
/// Changes of other types that are passed over for one page.
const PASSED_OVER_MAX: usize = 20_000;

/// The action of a copy on a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Stores this JSON in place of what it has.
    Upsert(String),
    Delete,
    /// Drops everything: the next page begins a snapshot.
    Reset,
}

/// One change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    pub cursor: Cursor,
    /// The record; none for a reset.
    pub record: Option<(RecordType, i64)>,
    pub action: Action,
    /// The kind of the record's newest change.
    pub kind: &'static str,
}

impl Item {
    /// As the API shows it.
    pub fn write(&self, out: &mut String) {
        let action = match self.action {
            Action::Upsert(_) => "upsert",
            Action::Delete => "delete",
            Action::Reset => "reset",
        };
        let _ = write!(
            out,
            "{{\"cursor\":\"{}\",\"action\":\"{action}\",\"kind\":\"{}\"",
            self.cursor.encoded(),
            self.kind
        );
        if let Some((record_type, id)) = self.record {
            let _ = write!(out, ",\"type\":\"{}\",\"id\":{id}", record_type.name());
        }
        if let Action::Upsert(json) = &self.action {
            out.push_str(",\"data\":");
            out.push_str(json);
        }
        out.push('}');
    }
}

/// Some changes, in order.
#[derive(Debug)]
pub struct Page {
    pub items: Vec<Item>,
    /// The cursor at which the next page begins.
    pub cursor: Cursor,
    /// Set where there is a next page already.
    pub more: bool,
}

impl Page {
    /// Its changes as a JSON array.
    pub fn data(&self) -> String {
        let mut data = String::from("[");
        for (at, item) in self.items.iter().enumerate() {
            if at > 0 {
                data.push(',');
            }
            item.write(&mut data);
        }
        data.push(']');
        data
    }
}

/// Reads on from a cursor; without one from the beginning of a snapshot. `here` is a cursor of this file as
/// it is now, and of this view: where it is, does not count.
pub fn page(
    connection: &Connection,
    view: &dyn FeedView,
    here: Cursor,
    since: Option<Cursor>,
    limit: usize,
) -> Result<Page> {
    let newest = changes::newest(connection)?;
    let begin = here.at(Place::Snapshot {
        begun: newest,
        record_type: 0,
        after: 0,
    });
    let Some(since) = since else {
        return snapshot(connection, view, begin, limit);
    };
    if since.file != here.file {
        return Err(gone("this cursor is of another file"));
    }
    let (Place::Changes(position)
    | Place::Snapshot {
        begun: position, ..
    }) = since.place;
    let is_undone = position.change > newest.change
        || position.interaction > newest.interaction
        || since.stamp.is_undone(connection, newest)?;
    if since.generation != here.generation || since.view != here.view || is_undone {
        let kind = if since.view == here.view {
            "restored"
        } else {
            "view-changed"
        };
        return Ok(reset_page(here, newest, kind));
    }
    if position.change < changes::pruned_to(connection)? {
        return Err(gone("this cursor is older than the feed keeps deletions"));
    }
    match since.place {
        Place::Snapshot { .. } => snapshot(connection, view, here.at(since.place), limit),
        Place::Changes(position) => follow(connection, view, here, position, limit),
    }
}

/// Sends a copy back to the beginning of a snapshot.
fn reset_page(here: Cursor, newest: Position, kind: &'static str) -> Page {
    let cursor = here.at(Place::Snapshot {
        begun: newest,
        record_type: 0,
        after: 0,
    });
    Page {
        items: vec![Item {
            cursor,
            record: None,
            action: Action::Reset,
            kind,
        }],
        cursor,
        more: true,
    }
}

fn gone(why: &str) -> Error {
    Error::new(
        Kind::CursorGone,
        format!("{why}; leave it out to begin with a snapshot"),
    )
    .at("since")
}

fn snapshot(
    connection: &Connection,
    view: &dyn FeedView,
    from: Cursor,
    limit: usize,
) -> Result<Page> {
    let Place::Snapshot {
        begun,
        record_type: mut at,
        mut after,
    } = from.place
    else {
        return Err(Error::defect("not in a snapshot"));
    };
    let mut items = Vec::new();
    let mut bytes = 0;
    while let Some(record_type) = view.types().get(at).copied() {
        let room = limit - items.len();
        let ids = view.ids(connection, record_type, after, room)?;
        for id in &ids {
            after = *id;
            if let Some(json) = view.record(connection, record_type, *id)? {
                bytes += json.len();
                items.push(Item {
                    cursor: from.at(Place::Snapshot {
                        begun,
                        record_type: at,
                        after,
                    }),
                    record: Some((record_type, *id)),
                    action: Action::Upsert(json),
                    kind: "snapshot",
                });
            }
            if bytes > PAGE_MAX_BYTES {
                break;
            }
        }
        if bytes > PAGE_MAX_BYTES || items.len() >= limit {
            let place = Place::Snapshot {
                begun,
                record_type: at,
                after,
            };
            return Ok(Page {
                items,
                cursor: from.at(place),
                more: true,
            });
        }
        if ids.len() < room {
            (at, after) = (at + 1, 0);
        }
    }
    Ok(Page {
        items,
        cursor: from.at(Place::Changes(begun)),
        more: true,
    })
}

/// The last change of each record on the page.
#[derive(Default)]
struct Folded {
    changes: Vec<(RecordType, i64, &'static str, Position)>,
    last: HashMap<(RecordType, i64), usize>,
}

impl Folded {
    fn add(&mut self, record: (RecordType, i64), kind: &'static str, to: Position) {
        self.last.insert(record, self.changes.len());
        self.changes.push((record.0, record.1, kind, to));
    }
}

fn follow(
    connection: &Connection,
    view: &dyn FeedView,
    here: Cursor,
    from: Position,
    limit: usize,
) -> Result<Page> {
    let mut folded = Folded::default();
    let (mut to, mut more, mut looked_at, mut reset) = (from, true, 0, false);
    while more && folded.last.len() < limit && looked_at < PASSED_OVER_MAX {
        let read = changes::read(connection, to, limit - folded.last.len())?;
        more = read.more;
        looked_at += read.changes.len();
        for change in read.changes {
            to = change.to;
            match view.effect_of(connection, &change.what)? {
                ChangeEffect::Record(record_type, id, kind) => {
                    folded.add((record_type, id), kind, to);
                }
                ChangeEffect::All => reset = true,
                ChangeEffect::Nothing => {}
            }
        }
    }
    if reset {
        let begun = changes::newest(connection)?;
        return Ok(reset_page(here, begun, "updated"));
    }
    let mut items = Vec::with_capacity(folded.last.len());
    let mut bytes = 0;
    for (at, (record_type, id, kind, behind)) in folded.changes.iter().enumerate() {
        if folded.last[&(*record_type, *id)] != at {
            continue;
        }
        let json = view.record(connection, *record_type, *id)?;
        bytes += json.as_ref().map_or(0, String::len);
        let is_gone = ["deleted", "erased", "undone", "merged"].contains(kind);
        let (action, kind) = match json {
            // Its deletion comes later, and says why.
            None => (Action::Delete, if is_gone { kind } else { "deleted" }),
            Some(json) if is_gone && *kind != "merged" => (Action::Upsert(json), "updated"),
            Some(json) => (Action::Upsert(json), *kind),
        };
        items.push(Item {
            cursor: here.at(Place::Changes(*behind)),
            record: Some((*record_type, *id)),
            action,
            kind,
        });
        if bytes > PAGE_MAX_BYTES && at + 1 < folded.changes.len() {
            (to, more) = (*behind, true);
            break;
        }
    }
    Ok(Page {
        items,
        cursor: here.at(Place::Changes(to)),
        more,
    })
}

/// Returns what happened to a record, by what the audit or the changes call it.
pub fn kind(done: &str) -> &'static str {
    match done {
        "create" => "created",
        "delete" => "deleted",
        "restore" => "restored",
        "merge" => "merged",
        "erase" | action::FORGET => "erased",
        action::UNDO => "undone",
        _ => "updated",
    }
}
