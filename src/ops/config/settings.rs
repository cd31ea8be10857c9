//! `settings`: an object, one key a setting; among them the instance's picture, as text.

use super::{Part, Plan, planned, read};
use crate::{
    core::settings::{self, Settings, logo},
    db::Store,
    types::{
        Patch,
        error::{Error, Result},
    },
};
use rusqlite::Connection;
use serde_json::{Map, Value};

/// The picture's key.
const LOGO: &str = "logo";

pub(super) const PART: Part = Part {
    key: "settings",
    help: "Settings: name, timeZone (IANA), dayStartsAt (hh:mm), publicUrl, publicUrlReachable (from outside: true or\nfalse), access (default rules of entry), corsOrigins (list),\nbackups ({\"everyMinutes\", \"keep\", \"folder\"}), outgoing ({\"allowLocal\"}: calls to this machine, too),\ncommunications ({\"enabled\", \"email\", \"sms\", \"push\", \"countryCode\"}),\nretention ({\"anonymiseAfterDays\"}: attendees become anonymous so many days after the event),\ninteractionTypes ({\"knownOnly\"}: types that mean nothing to the server are refused),\noneTimePasswords (off, users, delegates or anyone: who may have one),\nwalkIn ({\"currency\", \"types\": [{\"type\", \"product\", \"cents\"}]}: what walk-ins pay at the desk),\nscans ({\"code\": \"https://tickets.example/c/(*)\"}: the part of a scanned text that is the code),\nlogo (data:image/png;base64,…).",
    export,
    plan,
};

fn export(connection: &Connection) -> Result<Value> {
    let mut stored = settings::stored(connection)?;
    if let Some(logo) = logo::find(connection)? {
        stored.insert(LOGO.to_owned(), logo.to_data_uri().into());
    }
    Ok(Value::Object(stored))
}

fn plan(_: &Store, said: Option<Value>, prune: bool) -> Result<Plan> {
    let mut named: Map<String, Value> = read(PART.key, said)?;
    let count = named.len();
    let picture = picture_of(named.shift_remove(LOGO), prune)?;
    settings::check(&named)?;
    if prune {
        for name in Settings::NAMES {
            named.entry(*name).or_insert(Value::Null);
        }
    }
    planned(count.max(named.len()), move |tx, ctx| {
        settings::save(tx, ctx, &named)?;
        match &picture {
            Patch::Absent => Ok(()),
            Patch::Null => logo::remove(tx, ctx),
            Patch::Value(content) => logo::save(tx, ctx, content),
        }
    })
}

/// Returns the change to the picture.
fn picture_of(said: Option<Value>, prune: bool) -> Result<Patch<Vec<u8>>> {
    match said {
        None if !prune => Ok(Patch::Absent),
        None | Some(Value::Null) => Ok(Patch::Null),
        Some(Value::String(text)) => logo::of_data_uri(&text)
            .map(Patch::Value)
            .map_err(|cause| cause.at(LOGO)),
        Some(_) => Err(Error::field(LOGO, "must be a string")),
    }
}
