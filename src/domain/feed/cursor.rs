//! Cursors: opaque for clients. A cursor belongs to one file, to one view (types, properties, time zone)
//! and to the time between two restores, those made by hand included: it has the stamp of what was shown.

use super::RecordType;
use crate::{
    core::changes::{Position, Stamp},
    types::{
        Timestamp,
        error::{Error, Result},
    },
};
use data_encoding::BASE64URL_NOPAD;

/// The position of a client in the feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    /// The file.
    pub file: [u8; 8],
    /// Changes with each restore of the file.
    pub generation: i64,
    /// The fingerprint of what the client is shown.
    pub view: [u8; 4],
    pub place: Place,
    /// The newest rows when the page was read, which shows records as they were then, wherever it ends.
    /// Cursors of earlier versions have none.
    pub stamp: Stamp,
}

/// A place in the snapshot or behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Within the snapshot: after a record. Changes go on from where the snapshot began.
    Snapshot {
        begun: Position,
        record_type: usize,
        after: i64,
    },
    /// Behind the snapshot.
    Changes(Position),
}

/// Without a stamp.
const BYTES: usize = 8 + 8 + 4 + 1 + 8 + 8 + 8;
const STAMPED_BYTES: usize = BYTES + 8 + 8 + 8 + 8;

impl Cursor {
    /// The cursor at another place.
    #[must_use]
    pub fn at(self, place: Place) -> Self {
        Self { place, ..self }
    }

    /// As clients get it.
    #[must_use]
    pub fn encoded(&self) -> String {
        let (tag, position, after) = match self.place {
            Place::Changes(position) => (u8::MAX, position, 0),
            Place::Snapshot {
                begun,
                record_type,
                after,
            } => (u8::try_from(record_type).unwrap_or(0), begun, after),
        };
        let mut bytes = Vec::with_capacity(STAMPED_BYTES);
        bytes.extend(self.file);
        bytes.extend(self.generation.to_be_bytes());
        bytes.extend(self.view);
        bytes.push(tag);
        for number in [position.interaction, position.change, after] {
            bytes.extend(number.to_be_bytes());
        }
        for row in [self.stamp.interaction, self.stamp.change] {
            let (id, at) = row.unwrap_or((0, Timestamp(0)));
            bytes.extend(id.to_be_bytes());
            bytes.extend(at.0.to_be_bytes());
        }
        BASE64URL_NOPAD.encode(&bytes)
    }

    /// Reads what a client sends.
    pub fn parse(text: &str) -> Result<Self> {
        let decoded = BASE64URL_NOPAD.decode(text.as_bytes()).ok();
        decoded
            .and_then(|bytes| Self::from_bytes(&bytes))
            .ok_or_else(|| {
                Error::field(
                    "since",
                    "not a cursor of this feed; leave it out to begin anew",
                )
            })
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        if ![BYTES, STAMPED_BYTES].contains(&bytes.len()) {
            return None;
        }
        let number = |at: usize| -> Option<i64> {
            let number = i64::from_be_bytes(bytes.get(at..at + 8)?.try_into().ok()?);
            Some(number)
        };
        let position = Position {
            interaction: number(21).filter(|id| *id >= 0)?,
            change: number(29).filter(|id| *id >= 0)?,
        };
        let place = match usize::from(bytes[20]) {
            tag if tag == usize::from(u8::MAX) => Place::Changes(position),
            record_type if record_type < RecordType::ALL.len() => Place::Snapshot {
                begun: position,
                record_type,
                after: number(37)?,
            },
            _ => return None,
        };
        // Ids begin with 1.
        let row = |at| Some((number(at).filter(|id| *id > 0)?, Timestamp(number(at + 8)?)));
        Some(Self {
            file: bytes[..8].try_into().ok()?,
            generation: number(8)?,
            view: bytes[16..20].try_into().ok()?,
            place,
            stamp: Stamp {
                interaction: row(BYTES),
                change: row(BYTES + 16),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_comes_back_as_it_was_and_nothing_else_is_one() {
        let begun = Position {
            interaction: 7,
            change: i64::MAX,
        };
        let cursor = Cursor {
            file: *b"12345678",
            generation: -3,
            view: *b"view",
            place: Place::Changes(begun),
            stamp: Stamp {
                interaction: Some((7, Timestamp(1_795_248_120_000))),
                change: Some((i64::MAX, Timestamp(-1))),
            },
        };
        let unstamped = Cursor {
            stamp: Stamp::default(),
            ..cursor
        };
        let snapshot = cursor.at(Place::Snapshot {
            begun,
            record_type: 4,
            after: 99,
        });
        for cursor in [cursor, snapshot, unstamped] {
            assert_eq!(Cursor::parse(&cursor.encoded()).unwrap(), cursor);
        }
        // As earlier versions gave it.
        let older = "MTIzNDU2Nzj__________XZpZXf_AAAAAAAAAAd__________wAAAAAAAAAA";
        assert_eq!(Cursor::parse(older).unwrap(), unstamped);
        let negative = Position {
            interaction: -1,
            change: 0,
        };
        let forged = [
            String::new(),
            "x".repeat(60),
            cursor.encoded()[1..].to_owned(),
            cursor.at(Place::Changes(negative)).encoded(),
        ];
        for text in forged {
            assert!(Cursor::parse(&text).is_err(), "{text}");
        }
    }
}
