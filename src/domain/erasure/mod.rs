//! Erasing a person (contract §8): out of everything, record, users, interactions, purchases, audit,
//! stored answers, refusals, messages and the search index, merged records included. What a backup
//! holds, it still holds; the caller gets their names.
//!
//! First the record is deleted softly, so that nothing is added to it; then what it left is found,
//! beside the writer, and what others quote of it is taken out; then all of it goes in one transaction. Interrupted between, it is a deleted
//! record, which can be erased again. Last the write-ahead log is emptied. What pages of the file keep
//! of rows that moved, and the search index of older words, goes with `gatepost compact`.
//!
//! - `anonymous`: everybody's names and texts, so many days after the event
//! - `traces`: what a person left, and how it is removed; `quotes`: texts of others that quote them;
//!   `purchases`: what tills wrote of them
//! - `person`, `contacts`: know a person in a text
//! - `noted`: who was erased, for older states of the file, and which copies may still have them

pub mod anonymous;
mod contacts;
pub mod noted;
mod person;
mod purchases;
mod quotes;
mod traces;

pub use noted::{copies, copies_with};

use crate::{
    core::{Context, records::write},
    db::Tx,
    domain::delegates::RESOURCE,
    identity::{App, users},
    types::{
        UserId,
        error::{Error, Kind, Result},
    },
};
use rusqlite::OptionalExtension;
use serde_json::{Map, Value, json};
use traces::{Traces, take_out};

/// Texts for review that are named.
const REVIEW_MAX: usize = 100;

/// The result of an erasure.
#[derive(Debug, Clone, Default)]
pub struct Erased {
    /// Copies of the file that still have the person.
    pub copies: Vec<String>,
    /// Texts of others in which a telephone number may be theirs, written in another way: for review.
    pub review: Vec<String>,
}

/// Erases a delegate, deleted or not. `leaver` is the user who asks to be erased, and goes too whatever else it
/// may do; other users of the crew are only untied.
///
/// # Errors
/// [`Kind::DelegateNotFound`]; [`Kind::Forbidden`] for the last administrator who can sign in; what
/// keeps the store from writing.
pub async fn erase(app: &App, ctx: Context, id: i64, leaver: Option<UserId>) -> Result<Erased> {
    let store = &app.store;
    let of_begin = ctx.clone();
    store
        .write(move |tx| begin(tx, &of_begin, id, leaver))
        .await?;
    let database = store.path().to_owned();
    let (traces, copies) = store
        .read(move |connection| {
            let traces = Traces::find(connection, id)?;
            Ok((traces, copies_with(connection, &database, id)?))
        })
        .await?;
    let read = quotes::take_out(store, traces.purchases.contacts()).await?;
    let erased = store
        .write(move |tx| finish(tx, &ctx, id, leaver, &traces, read, copies))
        .await?;
    app.wipe_log();
    Ok(erased)
}

/// Erases a delegate within one transaction, for a file that nobody waits for.
pub fn at_once(tx: &Tx<'_>, id: i64) -> Result<()> {
    let traces = Traces::find(tx, id)?;
    quotes::take_out_at_once(tx, traces.purchases.contacts())?;
    take_out(tx, &traces, None).map(drop)
}

fn begin(tx: &Tx<'_>, ctx: &Context, id: i64, leaver: Option<UserId>) -> Result<()> {
    if let Some(user) = leaver {
        check_leaver(tx, user)?;
    }
    let alive: Option<bool> = tx
        .prepare_cached("SELECT deleted_at IS NULL FROM delegates WHERE id = ?1")?
        .query_row([id], |row| row.get(0))
        .optional()?;
    match alive {
        None => Err(RESOURCE.missing(&id)),
        Some(true) => write::delete(tx, ctx, &RESOURCE, id),
        Some(false) => Ok(()),
    }
}

fn check_leaver(tx: &Tx<'_>, user: UserId) -> Result<()> {
    if users::is_last_administrator(tx, user)? {
        return Err(Error::new(
            Kind::Forbidden,
            "this user is the last administrator who can sign in; make another user administrator first",
        ));
    }
    Ok(())
}

fn finish(
    tx: &Tx<'_>,
    ctx: &Context,
    id: i64,
    leaver: Option<UserId>,
    traces: &Traces,
    mut read: quotes::Read,
    copies: Vec<String>,
) -> Result<Erased> {
    let contacts = traces.purchases.contacts();
    quotes::take_out_late(tx, contacts, &mut read)?;
    let mut review = take_out(tx, traces, leaver)?;
    review.extend(quotes::left(tx, contacts, &read)?);
    if review.len() > REVIEW_MAX {
        review.truncate(REVIEW_MAX);
        review.push("more".to_owned());
    }
    let mut after = Map::new();
    for (name, list) in [
        ("stillInCopies", &copies),
        ("similarPhoneNumbersIn", &review),
    ] {
        if !list.is_empty() {
            after.insert(name.to_owned(), json!(list));
        }
    }
    let after = (!after.is_empty()).then_some(Value::Object(after));
    RESOURCE.audit(tx, ctx, "erase", id, None, after)?;
    Ok(Erased { copies, review })
}
