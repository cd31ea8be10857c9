//! Two records of one person become one. The kept one keeps what it has, gets what it lacks, and
//! all that the other did; the other is deleted and its badges do not work any more, as two valid
//! ones would let two people in.

use super::{
    RESOURCE, blocked,
    note::{self, NOTE_MAX_CHARS, Note},
};
use crate::{
    core::{
        Context,
        audit::{self, Change},
        changes::{self, action},
        records::{self, Selection, write},
    },
    db::Tx,
    domain::interactions::remove::reassign,
    types::{
        DelegateCode, DelegateId, Zone,
        error::{Error, Kind, Result},
        json::merge_patch,
    },
};
use rusqlite::Connection;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// The result of a merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Merged {
    /// Interactions that are the kept one's now.
    pub interactions: usize,
    /// Codes that are blocked now.
    pub blocked: usize,
}

/// Properties of which one record's value wins.
pub fn chosen() -> Vec<&'static str> {
    let properties = RESOURCE.fields.iter();
    properties
        .filter(|property| {
            matches!(
                property.kind,
                records::Kind::Code | records::Kind::Text | records::Kind::Document
            ) && !["publicId", "rawFlags"].contains(&property.name)
        })
        .map(|property| property.name)
        .collect()
}

/// Merges `other` into `kept`. Of the properties in `take` the other's value wins where it has one;
/// otherwise it fills gaps. Flags are those of both.
///
/// # Errors
/// [`Kind::DelegateNotFound`]; [`Kind::Invalid`] for one record with itself, and where the result
/// would not fit, such as a parent below itself.
pub fn merge(
    tx: &Tx<'_>,
    ctx: &Context,
    kept: DelegateId,
    other: DelegateId,
    take: &BTreeSet<String>,
) -> Result<Merged> {
    if kept == other {
        return Err(Error::invalid(
            "choose another record; this is the same one",
        ));
    }
    let zone = &ctx.settings.zone;
    let (one, two) = (record(tx, kept, zone)?, record(tx, other, zone)?);
    follow(tx, ctx, kept, other)?;
    tie(tx, ctx, (kept, &one), (other, &two))?;
    write::delete(tx, ctx, &RESOURCE, other.0)?;
    let (body, lost) = combined(&one, &two, take);
    for (code, value) in &lost {
        blocked::put(tx, ctx, kept, code.name(), value, blocked::MERGED)?;
    }
    write::patch(tx, ctx, &RESOURCE, kept.0, body)?;
    let interactions = reassign(tx, other, kept)?;
    let ids = "SELECT id FROM blocked_codes WHERE delegate_id = ?1";
    changes::note_all(tx, action::REFRESH, blocked::CODE, ids, other.0)?;
    tx.prepare_cached("UPDATE blocked_codes SET delegate_id = ?2 WHERE delegate_id = ?1")?
        .execute([other, kept])?;
    tx.prepare_cached("UPDATE print_jobs SET delegate_id = ?2 WHERE delegate_id = ?1")?
        .execute([other, kept])?;
    tx.prepare_cached("UPDATE messages SET delegate_id = ?2 WHERE delegate_id = ?1")?
        .execute([other, kept])?;
    move_note(tx, ctx, kept, other)?;
    move_users(tx, ctx, kept, other)?;
    for (record, after) in [
        (kept, json!({"merged": other})),
        (other, json!({"into": kept})),
    ] {
        RESOURCE.audit(tx, ctx, "merge", record.0, None, Some(after))?;
    }
    Ok(Merged {
        interactions,
        blocked: lost.len(),
    })
}

/// A living delegate's own properties.
///
/// # Errors
/// [`Kind::DelegateNotFound`].
pub fn record(connection: &Connection, id: DelegateId, zone: &Zone) -> Result<Map<String, Value>> {
    let json = Selection::own(&RESOURCE)
        .one(connection, "id", &id, zone)?
        .ok_or_else(|| RESOURCE.missing(&id))?;
    serde_json::from_str(&json).map_err(Error::defect)
}

/// The changes of the kept record, and the codes that are nobody's any more.
pub fn combined(
    kept: &Map<String, Value>,
    other: &Map<String, Value>,
    take: &BTreeSet<String>,
) -> (Map<String, Value>, Vec<(DelegateCode, String)>) {
    let mut body = Map::new();
    for name in chosen() {
        let Some(theirs) = other.get(name) else {
            continue;
        };
        let wins = take.contains(name);
        if name == "data" {
            body.insert(name.to_owned(), both(kept.get(name), theirs, wins));
        } else if wins || !kept.contains_key(name) {
            body.insert(name.to_owned(), theirs.clone());
        }
    }
    let flags = |record: &Map<String, Value>| record.get("rawFlags")?.as_str().map(str::to_owned);
    if let Some(theirs) = flags(other) {
        let flags = flags(kept).unwrap_or_default() + &theirs;
        body.insert("rawFlags".to_owned(), flags.into());
    }
    let mut lost = Vec::new();
    for code in DelegateCode::ALL {
        let name = code.name();
        let ends = body.get(name).or_else(|| kept.get(name)).cloned();
        for record in [kept, other] {
            if let Some(Value::String(value)) = record.get(name)
                && ends.as_ref().and_then(Value::as_str) != Some(value)
            {
                lost.push((*code, value.clone()));
            }
        }
    }
    (body, lost)
}

/// Sections of both; where both have a value, one of them wins.
fn both(kept: Option<&Value>, theirs: &Value, theirs_win: bool) -> Value {
    let ours = kept.cloned().unwrap_or_else(|| json!({}));
    let (mut under, over) = if theirs_win {
        (ours, theirs.clone())
    } else {
        (theirs.clone(), ours)
    };
    merge_patch(&mut under, over);
    under
}

/// Moves everything that belonged to the other to the kept one.
fn follow(tx: &Tx<'_>, ctx: &Context, kept: DelegateId, other: DelegateId) -> Result<()> {
    for (column, name) in [("parent_id", "parent"), ("owner_id", "owner")] {
        let followers: Vec<i64> = tx
            .prepare_cached(&format!(
                "SELECT id FROM delegates WHERE {column} = ?1 AND deleted_at IS NULL"
            ))?
            .query_map([other], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        for follower in followers {
            let target = if follower == kept.0 {
                Value::Null
            } else {
                kept.0.into()
            };
            let body = Map::from_iter([(name.to_owned(), target)]);
            write::patch(tx, ctx, &RESOURCE, follower, body)?;
        }
    }
    Ok(())
}

/// The kept one names the other as what it replaces; what it replaced so far, the other does. A
/// parent or owner that it lacks it gets, where that fits.
fn tie(
    tx: &Tx<'_>,
    ctx: &Context,
    (kept, one): (DelegateId, &Map<String, Value>),
    (other, two): (DelegateId, &Map<String, Value>),
) -> Result<()> {
    tx.prepare_cached(
        "UPDATE delegates SET previous_id = (SELECT previous_id FROM delegates WHERE id = ?1)
         WHERE id = ?2 AND previous_id IS NULL",
    )?
    .execute([kept, other])?;
    let body = Map::from_iter([("previous".to_owned(), Value::from(other.0))]);
    write::patch(tx, ctx, &RESOURCE, kept.0, body)?;
    for name in ["parent", "owner"] {
        let Some(target) = two.get(name).filter(|_| !one.contains_key(name)) else {
            continue;
        };
        if target["id"] == json!(kept) {
            continue;
        }
        let body = Map::from_iter([(name.to_owned(), target.clone())]);
        let filled = tx.nested(|tx| write::patch(tx, ctx, &RESOURCE, kept.0, body));
        match filled {
            Err(cause) if cause.kind != Kind::Invalid => return Err(cause),
            _ => {}
        }
    }
    Ok(())
}

/// A note of either stays; of both, with the graver level.
fn move_note(tx: &Tx<'_>, ctx: &Context, kept: DelegateId, other: DelegateId) -> Result<()> {
    let Some(theirs) = note::of(tx, other)? else {
        return Ok(());
    };
    let note = match note::of(tx, kept)? {
        Some(ours) if ours.text.contains(&theirs.text) => Note {
            level: ours.level.max(theirs.level),
            text: ours.text,
        },
        Some(ours) => Note {
            level: ours.level.max(theirs.level),
            text: format!("{}; {}", ours.text, theirs.text)
                .chars()
                .take(NOTE_MAX_CHARS)
                .collect(),
        },
        None => theirs,
    };
    note::set(tx, ctx, kept, Some(&note))?;
    tx.prepare_cached("DELETE FROM gate_notes WHERE delegate_id = ?1")?
        .execute([other])?;
    Ok(())
}

fn move_users(tx: &Tx<'_>, ctx: &Context, kept: DelegateId, other: DelegateId) -> Result<()> {
    let users: Vec<i64> = tx
        .prepare_cached("SELECT id FROM users WHERE delegate_id = ?1")?
        .query_map([other], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for user in users {
        tx.prepare_cached("UPDATE users SET delegate_id = ?2, updated_at = ?3 WHERE id = ?1")?
            .execute(rusqlite::params![user, kept, tx.now()])?;
        tx.outdate_caches();
        audit::append(
            tx,
            ctx,
            &Change {
                action: "update",
                record_type: "user",
                record_id: Some(user),
                before: Some(json!({"delegate": other})),
                after: Some(json!({"delegate": kept})),
            },
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kept_one_wins_but_for_what_is_taken_and_loses_no_gap() {
        let kept = json!({"firstName": "Ada", "publicId": "p1", "barcode": "A", "rawFlags": "ep",
            "data": {"Data": {"meal": "vegan"}}});
        let other = json!({"firstName": "Ada L.", "lastName": "Lovelace", "publicId": "p2", "barcode": "B", "rfid": "R",
            "rawFlags": "s", "data": {"Data": {"meal": "any", "size": "M"}}});
        let (kept, other) = (kept.as_object().unwrap(), other.as_object().unwrap());
        let (body, lost) = combined(kept, other, &BTreeSet::new());
        assert_eq!(
            Value::Object(body),
            json!({"lastName": "Lovelace", "rfid": "R", "rawFlags": "eps",
                "data": {"Data": {"meal": "vegan", "size": "M"}}})
        );
        let codes = |lost: &[(DelegateCode, String)]| -> Vec<String> {
            lost.iter().map(|(_, value)| value.clone()).collect()
        };
        assert_eq!(codes(&lost), ["B", "p2"]);
        let take = ["firstName", "barcode", "data"]
            .map(ToOwned::to_owned)
            .into();
        let (body, lost) = combined(kept, other, &take);
        assert_eq!(body["firstName"], "Ada L.");
        assert_eq!(body["data"]["Data"], json!({"meal": "any", "size": "M"}));
        assert_eq!(codes(&lost), ["A", "p2"]);
    }
}
