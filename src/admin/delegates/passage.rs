//! Check-in and check-out by hand, and the note that gates show.

use super::record::{self, JustRefused};
use crate::admin::prelude::*;
use crate::{
    domain::{
        delegates::note::{self, Note},
        devices,
        interactions::{
            draft::Draft,
            presence::PresenceChange,
            record::{Outcome, record},
            types,
        },
    },
    types::{DelegateId, DelegateSelector, DeviceId, DeviceSelector},
};

pub(super) async fn pass(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let chosen = request.form.text("kind");
    let Some((kind, effect)) = types::find(chosen).zip(types::passage_effect(chosen)) else {
        return Err(Error::field("kind", "must be one that goes in or out"));
    };
    let Ok(Some(device)) = request.form.number("device") else {
        return record::without_place(&request, "Choose the place first.").await;
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
            let why = "That place is gone; choose another.";
            return record::without_place(&request, why).await;
        }
        Err(other) => return Err(other),
    };
    if let Outcome::Refused(refusal) = outcome {
        let refused = JustRefused {
            message: answer::sentence(&refusal),
            device,
            entering: effect == PresenceChange::Enter,
        };
        return record::refused(&request, refused).await;
    }
    let done = match (effect, kind.judged) {
        (PresenceChange::Exit, _) => format!("{name} is checked out at {place}."),
        (_, Some(_)) => format!("{name} is checked in at {place}."),
        (_, None) => format!("{name} is admitted at {place} by override."),
    };
    request.done(done, &format!("/console/delegates/{id}?device={device}"))
}

pub(super) async fn set_note(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let form = request.form.clone();
    let work = request.write(move |tx, ctx| {
        let words = form.text("note");
        let note = if words.is_empty() || form.ticked("remove") {
            None
        } else {
            Some(Note::new(form.text("level"), words)?)
        };
        let now = note::of(tx, DelegateId(id))?.map_or_else(String::new, |note| note.text);
        if now.trim() != form.text("was") {
            return Err(Error::new(
                Kind::CodeTaken,
                format!("somebody changed this note meanwhile; it says now: \"{now}\". Nothing of yours is saved"),
            ));
        }
        note::set(tx, ctx, DelegateId(id), note.as_ref())?;
        Ok(note.is_some())
    });
    let done = if work.await? {
        "Gates show this note from now on."
    } else {
        "Note removed."
    };
    request.done(done, &super::path(id))
}
