//! The use case: an interaction is recorded, replayed or refused, in one transaction with its
//! presence, its nonce, its refusal and its conflict, so that two gates that scan one ticket at
//! once never both succeed.

use super::{
    draft::{CONNECTED, Draft, Three},
    follow,
    judge::{self, Question},
    nonces,
    places::Places,
    presence,
    presence::Effect,
    refusals,
    rows::Interaction,
};
use crate::{
    auth::Context,
    delegates::{
        self, blocked,
        note::{self, Note},
    },
    error::{Error, Kind, Result},
    rules::{Moment, Standing},
    store::Tx,
    types::{DelegateId, DeviceId, InteractionId, Timestamp},
};
use rusqlite::Connection;
use std::rc::Rc;

/// What a draft came to, and what the gate is to show with it.
#[derive(Debug)]
pub struct Recorded {
    /// What became of it.
    pub outcome: Outcome,
    /// The note of its first delegate, when somebody passes or wants to.
    pub note: Option<Note>,
}

/// What became of a draft.
#[derive(Debug)]
pub enum Outcome {
    /// It is stored.
    Created(Interaction),
    /// Its nonce had stored it before; `None` when it was deleted since.
    Replayed(Option<Interaction>),
    /// It is not stored; the refusal is kept.
    Refused(Error),
}

/// The records that take part, as far as they were found.
#[derive(Debug, Default)]
pub struct Participants {
    /// First, second and third delegate.
    pub delegates: Three<DelegateId>,
    /// First, second and third device.
    pub devices: Three<DeviceId>,
}

/// Records an interaction.
///
/// # Errors
/// [`Kind::DeviceNotFound`], [`Kind::KeyReused`], and whatever keeps the store from writing. What
/// the rules or an unknown code refuse is no error here: the refusal is to be committed.
pub fn record(tx: &Tx<'_>, ctx: &Context, draft: &Draft) -> Result<Recorded> {
    let mut participants = Participants::default();
    let outcome = settle(tx, ctx, draft, &mut participants)?;
    let first = match &outcome {
        Outcome::Replayed(earlier) => earlier.as_ref().and_then(|earlier| earlier.delegates[0]),
        Outcome::Created(_) | Outcome::Refused(_) => participants.delegates[0],
    };
    Ok(Recorded {
        note: note(tx, &tx.memory::<Places>(), draft, first)?,
        outcome,
    })
}

/// The note that a gate shows: of whoever passes there, or wants to.
fn note(
    connection: &Connection,
    places: &Places,
    draft: &Draft,
    first: Option<DelegateId>,
) -> Result<Option<Note>> {
    match first {
        Some(delegate)
            if Effect::of_passage(&draft.kind).is_some() && places.has_notes(connection)? =>
        {
            note::of(connection, delegate)
        }
        _ => Ok(None),
    }
}

fn settle(
    tx: &Tx<'_>,
    ctx: &Context,
    draft: &Draft,
    participants: &mut Participants,
) -> Result<Outcome> {
    if let (Some((nonce, fingerprint)), Some(client)) = (&draft.nonce, ctx.client)
        && let Some(mut earlier) = nonces::recall(tx, client, nonce, fingerprint)?
    {
        if let Some(earlier) = &mut earlier {
            as_answered(tx, draft, earlier)?;
        }
        return Ok(Outcome::Replayed(earlier));
    }
    let places: Rc<Places> = tx.memory();
    let assessed = find_participants(tx, &places, draft, participants)
        .and_then(|()| assess(tx, ctx, &places, draft, participants, tx.now()));
    let assessment = match assessed {
        Ok(assessment) => assessment,
        Err(refusal) if refusals::is_kept(refusal.kind) => {
            refusals::keep(tx, ctx, draft, participants, &refusal)?;
            return Ok(Outcome::Refused(refusal));
        }
        Err(other) => return Err(other),
    };
    let interaction = insert(tx, ctx, draft, participants)?;
    places.recorded(&draft.kind);
    if let Some(motion) = &assessment.motion {
        motion.count(tx, draft, &interaction)?;
    }
    if matches!(&*draft.kind, "check-in" | "check-in-override") {
        tx.count_check_in();
    }
    let id = interaction.id.map_or(0, |id| id.0);
    if let Some(refusal) = &assessment.conflict {
        refusals::keep_conflict(tx, id, refusal)?;
    }
    if let (Some((nonce, fingerprint)), Some(client)) = (&draft.nonce, ctx.client) {
        nonces::use_up(tx, client, nonce, fingerprint, id)?;
    }
    follow::from(tx, ctx, &interaction)?;
    Ok(Outcome::Created(interaction))
}

/// Shows an interaction again as it was answered first: references to shared values stand in it where
/// they stand in what is sent again.
fn as_answered(connection: &Connection, draft: &Draft, earlier: &mut Interaction) -> Result<()> {
    if draft.shared.is_empty() {
        return earlier.complete(connection);
    }
    if earlier.shared.take().is_some() {
        earlier.data.clone_from(&draft.data);
    }
    Ok(())
}

/// What became of a draft of the past.
#[derive(Debug, Clone, Copy)]
pub struct Past {
    /// The interaction; none where it is there already, as a `connected` can be.
    pub id: Option<i64>,
    /// The `connected` that it brought about.
    pub connected: Option<i64>,
}

/// Records what happened elsewhere, such as a line of an imported list: it happened, so the rules
/// are not asked, and it is stored as admitted. A type of `connected` is taken here, once for two.
///
/// # Errors
/// [`Kind::DelegateNotFound`], [`Kind::DeviceNotFound`], and whatever keeps the store from writing.
pub fn record_past(tx: &Tx<'_>, ctx: &Context, draft: &Draft) -> Result<Past> {
    let participants = find_past(tx, draft)?;
    let [first, second, _] = participants.delegates;
    if let (CONNECTED, Some(one), Some(other)) = (&*draft.kind, first, second)
        && follow::are_connected(tx, one, other)?
    {
        return Ok(Past {
            id: None,
            connected: None,
        });
    }
    let motion = Motion::of(tx, draft, &participants)?;
    let interaction = insert(tx, ctx, draft, &participants)?;
    if let Some(motion) = &motion {
        motion.count(tx, draft, &interaction)?;
    }
    Ok(Past {
        id: interaction.id.map(|id| id.0),
        connected: follow::from(tx, ctx, &interaction)?,
    })
}

/// Finds who and what takes part in a draft of the past.
///
/// # Errors
/// [`Kind::DelegateNotFound`], [`Kind::DeviceNotFound`].
pub fn find_past(connection: &Connection, draft: &Draft) -> Result<Participants> {
    let mut participants = Participants::default();
    find_participants(connection, &Places::default(), draft, &mut participants)?;
    Ok(participants)
}

/// What recording the draft would give, without writing anything.
///
/// # Errors
/// As [`record`].
pub fn test(
    connection: &Connection,
    ctx: &Context,
    draft: &Draft,
    now: Timestamp,
) -> Result<Recorded> {
    let mut participants = Participants::default();
    let places = Places::default();
    let assessed = find_participants(connection, &places, draft, &mut participants)
        .and_then(|()| assess(connection, ctx, &places, draft, &participants, now));
    let note = note(connection, &places, draft, participants.delegates[0])?;
    let outcome = match assessed {
        Ok(_) => Outcome::Created(tried(draft, participants, now)),
        Err(refusal) if refusals::is_kept(refusal.kind) => Outcome::Refused(refusal),
        Err(other) => return Err(other),
    };
    Ok(Recorded { outcome, note })
}

fn tried(draft: &Draft, participants: Participants, now: Timestamp) -> Interaction {
    Interaction {
        id: None,
        kind: draft.kind.clone(),
        delegates: participants.delegates,
        devices: participants.devices,
        data: draft.data.clone(),
        shared: None,
        recorded_at: draft.recorded_at(now),
        created_at: now,
    }
}

/// Finds who and what takes part; the devices first, so that a refusal for an unknown code tells
/// where it was scanned.
fn find_participants(
    connection: &Connection,
    places: &Places,
    draft: &Draft,
    found: &mut Participants,
) -> Result<()> {
    for (place, selector) in draft.devices.iter().enumerate() {
        if let Some(selector) = selector {
            found.devices[place] = Some(places.find(connection, selector)?);
        }
    }
    for (place, selector) in draft.delegates.iter().enumerate() {
        if let Some(selector) = selector {
            found.delegates[place] = match delegates::find(connection, selector) {
                Ok(id) => Some(id),
                Err(missing) => {
                    // Whose lost badge it is, so that the refusal stands in that record.
                    if let Some(lost) = blocked::meant(connection, selector)? {
                        found.delegates[place] = Some(lost.delegate);
                    }
                    return Err(missing);
                }
            };
        }
    }
    Ok(())
}

/// Somebody who goes in or out.
struct Motion {
    delegate: DelegateId,
    device: DeviceId,
    effect: Effect,
    /// When they last did.
    standing: Standing,
}

impl Motion {
    /// Who goes in or out by a draft, if anybody does.
    fn of(
        connection: &Connection,
        draft: &Draft,
        participants: &Participants,
    ) -> Result<Option<Self>> {
        let (Some(effect), Some(delegate), Some(device)) = (
            Effect::of_passage(&draft.kind),
            participants.delegates[0],
            participants.devices[0],
        ) else {
            return Ok(None);
        };
        Ok(Some(Self {
            delegate,
            device,
            effect,
            standing: presence::standing(connection, delegate, device)?,
        }))
    }

    /// Counts them in or out, once it is recorded.
    fn count(&self, tx: &Tx<'_>, draft: &Draft, interaction: &Interaction) -> Result<()> {
        let moment = Moment {
            at: draft.recorded_at(tx.now()).min(tx.now()),
            id: interaction.id.map_or(0, |id| id.0),
        };
        let after = self.effect.after(self.standing, moment);
        presence::count(
            tx,
            self.device,
            self.standing.is_inside(),
            after.is_inside(),
        )
    }
}

/// What recording needs to know about presence and rules.
struct Assessment {
    /// Who goes in or out.
    motion: Option<Motion>,
    /// Why the rules would have refused what a gate admitted.
    conflict: Option<Error>,
}

fn assess(
    connection: &Connection,
    ctx: &Context,
    places: &Places,
    draft: &Draft,
    participants: &Participants,
    now: Timestamp,
) -> Result<Assessment> {
    let motion = Motion::of(connection, draft, participants)?;
    let verdict = match (&motion, judge::passage(&draft.kind)) {
        (Some(motion), Some(passage)) => judge::judge(
            connection,
            places,
            &Question {
                passage,
                delegate: motion.delegate,
                device: motion.device,
                standing: motion.standing,
                at: draft.recorded_at(now).min(now),
                now,
                settings: &ctx.settings,
            },
        ),
        _ => Ok(()),
    };
    let conflict = match verdict {
        Err(refusal) if draft.admitted && matches!(refusal.kind, Kind::Refused(_)) => Some(refusal),
        verdict => {
            verdict?;
            None
        }
    };
    Ok(Assessment { motion, conflict })
}

fn insert(
    tx: &Tx<'_>,
    ctx: &Context,
    draft: &Draft,
    participants: &Participants,
) -> Result<Interaction> {
    let shared = draft.values.store(tx, &draft.shared)?;
    let recorded_at = draft.recorded_at(tx.now());
    let [first_delegate, second_delegate, third_delegate] = participants.delegates;
    let [first_device, second_device, third_device] = participants.devices;
    let id = tx.new_interaction_id()?;
    tx.prepare_cached(
        "INSERT INTO interactions (id, interaction_type, first_delegate_id, second_delegate_id,
                third_delegate_id, first_device_id, second_device_id, third_device_id, data, shared,
                recorded_at, created_at, client_id, user_id, admitted)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
    )?
    .execute(rusqlite::params![
        id,
        draft.kind,
        first_delegate,
        second_delegate,
        third_delegate,
        first_device,
        second_device,
        third_device,
        draft.data,
        shared,
        recorded_at,
        tx.now(),
        ctx.client,
        ctx.user,
        draft.admitted,
    ])?;
    Ok(Interaction {
        id: Some(InteractionId(id)),
        kind: draft.kind.clone(),
        delegates: participants.delegates,
        devices: participants.devices,
        data: draft.data.clone(),
        shared: None,
        recorded_at,
        created_at: tx.now(),
    })
}
