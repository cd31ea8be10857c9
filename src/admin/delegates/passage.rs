//! Letting somebody in by hand, by the same rules as a gate; and the note that gates show.

use super::{
    super::{RequestContext, Route, answer, route},
    record::{self, Refused},
};
use crate::{
    domain::{
        delegates::note::{self, Note},
        interactions::{
            draft::Draft,
            record::{Outcome, record},
        },
    },
    types::{
        DelegateId, DelegateSelector, DeviceId, DeviceSelector,
        error::{Error, Kind, Result},
    },
};
use poem::Response;
use rusqlite::{Connection, OptionalExtension};

/// Places to choose from; more are not for a list to choose from.
const PLACES_MAX: i64 = 1_000;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::post("/console/delegates/:id/passage", route::OPERATOR, pass),
        Route::post("/console/delegates/:id/note", route::OPERATOR, set_note),
    ]
}

/// Where somebody can be checked in.
pub(super) struct Place {
    /// The device.
    pub id: i64,
    /// Its name.
    pub name: String,
}

/// Devices where people check in: all that are no apps.
pub(super) fn places(connection: &Connection) -> Result<Vec<Place>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, coalesce(name, short_name, code) FROM devices
         WHERE deleted_at IS NULL AND coalesce(device_type, '') NOT IN ('regoapp', 'mobileapp')
         ORDER BY 2, 1 LIMIT ?1",
    )?;
    let places = statement.query_map([PLACES_MAX], |row| {
        Ok(Place {
            id: row.get(0)?,
            name: row.get(1)?,
        })
    })?;
    Ok(places.collect::<rusqlite::Result<_>>()?)
}

/// What a device is called, deleted or not.
pub(super) fn device_name(connection: &Connection, id: i64) -> Result<String> {
    let name: Option<String> = connection
        .prepare_cached("SELECT coalesce(name, short_name, code) FROM devices WHERE id = ?1")?
        .query_row([id], |row| row.get(0))
        .optional()?;
    Ok(name.unwrap_or_else(|| format!("device {id}")))
}

async fn pass(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let kind = match request.form.text("kind") {
        kind @ ("check-in" | "check-out" | "check-in-override") => kind.to_owned(),
        _ => {
            return Err(Error::invalid(
                "kind: must be check-in, check-out or check-in-override",
            ));
        }
    };
    let Ok(Some(device)) = request.form.number("device") else {
        return record::nowhere(&request, id, "Choose the place first.").await;
    };
    let draft = Draft {
        kind: kind.clone(),
        delegates: [Some(DelegateSelector::Id(DelegateId(id))), None, None],
        devices: [Some(DeviceSelector::Id(DeviceId(device))), None, None],
        ..Draft::default()
    };
    let ctx = request.context();
    let recorded = request
        .console
        .store
        .write(move |tx| {
            let outcome = record(tx, &ctx, &draft)?.outcome;
            let name = super::name_of(tx, id)?.unwrap_or_default();
            Ok((outcome, name, device_name(tx, device)?))
        })
        .await;
    let (outcome, name, place) = match recorded {
        Ok(recorded) => recorded,
        Err(gone) if gone.kind == Kind::DeviceNotFound => {
            return record::nowhere(&request, id, "That place is gone; choose another.").await;
        }
        Err(other) => return Err(other),
    };
    if let Outcome::Refused(refusal) = outcome {
        let refused = Refused {
            message: answer::sentence(&refusal.message),
            device,
            entering: kind == "check-in",
        };
        return record::refused(&request, id, refused).await;
    }
    request.flash(match kind.as_str() {
        "check-in" => format!("{name} is checked in at {place}."),
        "check-out" => format!("{name} is checked out at {place}."),
        _ => format!("{name} is let in at {place}, whatever the rules say."),
    });
    Ok(answer::go(&format!(
        "/console/delegates/{id}?device={device}"
    )))
}

async fn set_note(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let words = request.form.text("note");
    let note = if words.is_empty() || request.form.ticked("remove") {
        None
    } else {
        Some(Note::new(request.form.text("level"), words)?)
    };
    let noted = note.is_some();
    let (ctx, was) = (request.context(), request.form.text("was").to_owned());
    request
        .console
        .store
        .write(move |tx| {
            let now = note::of(tx, DelegateId(id))?.map_or_else(String::new, |note| note.text);
            if now.trim() != was {
                return Err(Error::new(
                    Kind::CodeTaken,
                    format!("somebody changed this note meanwhile; it says now: \"{now}\". Nothing of yours is saved"),
                ));
            }
            note::set(tx, &ctx, DelegateId(id), note.as_ref())
        })
        .await?;
    request.flash(if noted {
        "Gates show this note from now on."
    } else {
        "Gates show no note any more."
    });
    Ok(answer::go(&format!("/console/delegates/{id}")))
}
