//! Letting somebody in by hand, by the same rules as a gate; and the note that gates show.

use super::{
    super::{RequestContext, Route, answer, route},
    record::{self, JustRefused},
};
use crate::{
    domain::{
        delegates::note::{self, Note},
        devices::{self, Offer},
        interactions::{
            draft::Draft,
            presence::PresenceChange,
            record::{Outcome, record},
            types,
        },
    },
    types::{
        DelegateId, DelegateSelector, DeviceId, DeviceSelector,
        error::{Error, Kind, Result},
    },
};
use poem::Response;
use rusqlite::Connection;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::post("/console/delegates/:id/passage", route::OPERATOR, pass),
        Route::post("/console/delegates/:id/note", route::OPERATOR, set_note),
    ]
}

/// Devices where people check in: all that are no apps.
pub(super) fn places(connection: &Connection) -> Result<Vec<Offer>> {
    let mut offers = devices::offers(connection)?;
    offers.retain(Offer::is_place);
    Ok(offers)
}

async fn pass(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let chosen = request.form.text("kind");
    let Some((kind, effect)) = types::find(chosen).zip(types::passage_effect(chosen)) else {
        return Err(Error::invalid("kind: must be one that goes in or out"));
    };
    let Ok(Some(device)) = request.form.number("device") else {
        return record::nowhere(&request, id, "Choose the place first.").await;
    };
    let draft = Draft {
        kind: kind.name.to_owned(),
        delegates: [Some(DelegateSelector::Id(DelegateId(id))), None, None],
        devices: [Some(DeviceSelector::Id(DeviceId(device))), None, None],
        ..Draft::default()
    };
    let recorded = request
        .write(move |tx, ctx| {
            let outcome = record(tx, ctx, &draft)?.outcome;
            let name = super::name_of(tx, id)?.unwrap_or_default();
            Ok((outcome, name, devices::called(tx, DeviceId(device))?))
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
        let refused = JustRefused {
            message: answer::sentence(&refusal.message),
            device,
            entering: effect == PresenceChange::Enter,
        };
        return record::refused(&request, id, refused).await;
    }
    let done = match (effect, kind.judged) {
        (PresenceChange::Exit, _) => format!("{name} is checked out at {place}."),
        (_, Some(_)) => format!("{name} is checked in at {place}."),
        (_, None) => format!("{name} is let in at {place}, whatever the rules say."),
    };
    request.done(done, &format!("/console/delegates/{id}?device={device}"))
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
    let was = request.form.text("was").to_owned();
    request.write(move |tx, ctx| {
            let now = note::of(tx, DelegateId(id))?.map_or_else(String::new, |note| note.text);
            if now.trim() != was {
                return Err(Error::new(
                    Kind::CodeTaken,
                    format!("somebody changed this note meanwhile; it says now: \"{now}\". Nothing of yours is saved"),
                ));
            }
            note::set(tx, ctx, DelegateId(id), note.as_ref())
        })
        .await?;
    request.done(
        if noted {
            "Gates show this note from now on."
        } else {
            "Gates show no note any more."
        },
        &format!("/console/delegates/{id}"),
    )
}
