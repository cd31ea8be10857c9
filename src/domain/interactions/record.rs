//! The use case: an interaction is recorded, replayed or refused, in one transaction with its
//! presence, its nonce, its refusal and its conflict, so that two gates that scan one ticket at
//! once never both succeed.

use super::{
    draft::{Draft, Participants},
    everybody_out,
    judge::{DeviceCache, Question, judge},
    late_codes, nonces,
    presence::{self, History, PresenceChange, Repeat},
    refusals,
    rows::Interaction,
    spelling,
    types::{self, CONNECTED},
};
use crate::{
    core::{
        Context,
        rules::{Passage, Position},
    },
    db::{Tx, counters},
    domain::{
        delegates::{
            self, blocked,
            note::{self, Note},
        },
        devices,
    },
    types::{
        DelegateId, DeviceId, InteractionId, Timestamp,
        error::{Error, Kind, Result},
    },
};
use rusqlite::Connection;
use std::rc::Rc;

/// The outcome of a draft, with what the gate shows beside it.
#[derive(Debug)]
pub struct Recorded {
    /// Stored, replayed or refused.
    pub outcome: Outcome,
    /// The note of its first delegate, when somebody passes or wants to.
    pub note: Option<Note>,
    /// The check-ins before, where a check-in passed.
    pub repeat: Option<Repeat>,
}

/// The outcome of a draft.
#[derive(Debug)]
pub enum Outcome {
    /// The interaction is stored.
    Created(Interaction),
    /// A gate admitted it, and its code is unknown: it waits for somebody who has the code, without an id.
    Waiting(Interaction),
    /// Its nonce had stored it before; `None` when it was deleted since.
    Replayed(Option<Interaction>),
    /// The interaction is not stored; the refusal is kept.
    Refused(Error),
}

/// The records that take part, as far as they were found.
#[derive(Debug, Default)]
pub struct ResolvedParticipants {
    /// First, second and third delegate.
    pub delegates: Participants<DelegateId>,
    /// First, second and third device.
    pub devices: Participants<DeviceId>,
}

/// Records an interaction.
///
/// # Errors
/// [`Kind::DeviceNotFound`], [`Kind::KeyReused`], and whatever keeps the store from writing. What
/// the rules or an unknown code refuse is no error here: the refusal is to be committed.
pub fn record(tx: &Tx<'_>, ctx: &Context, draft: &Draft) -> Result<Recorded> {
    let mut participants = ResolvedParticipants::default();
    let (outcome, repeat) = settle(tx, ctx, draft, &mut participants)?;
    let first = match &outcome {
        Outcome::Replayed(earlier) => earlier.as_ref().and_then(|earlier| earlier.delegates[0]),
        Outcome::Created(_) | Outcome::Waiting(_) | Outcome::Refused(_) => {
            participants.delegates[0]
        }
    };
    Ok(Recorded {
        note: note(tx, &tx.cache::<DeviceCache>(), draft, first)?,
        outcome,
        repeat,
    })
}

/// The note that a gate shows: of whoever passes there, or wants to.
fn note(
    connection: &Connection,
    device_cache: &DeviceCache,
    draft: &Draft,
    first: Option<DelegateId>,
) -> Result<Option<Note>> {
    match first {
        Some(delegate)
            if types::passage_effect(&draft.kind).is_some()
                && device_cache.has_notes(connection)? =>
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
    participants: &mut ResolvedParticipants,
) -> Result<(Outcome, Option<Repeat>)> {
    if let Some(replayed) = replay(tx, ctx, draft)? {
        return Ok((replayed, None));
    }
    match attempt(tx, ctx, draft, participants)? {
        Ok((interaction, repeat)) => Ok((Outcome::Created(interaction), repeat)),
        Err(refusal) => Ok((refuse(tx, ctx, draft, participants, refusal)?, None)),
    }
}

/// The interaction that was stored, with the check-ins before it; or why it was not.
type Attempt = Result<(Interaction, Option<Repeat>)>;

/// Records a draft, unless the rules refuse it.
fn attempt(
    tx: &Tx<'_>,
    ctx: &Context,
    draft: &Draft,
    participants: &mut ResolvedParticipants,
) -> Result<Attempt> {
    spelling::check(tx, &ctx.settings, &draft.kind)?;
    let device_cache: Rc<DeviceCache> = tx.cache();
    device_cache.begin_day(tx, &ctx.settings, tx.now())?;
    let people = |device| tx.people(device);
    let assessed = find_and_assess(
        tx,
        ctx,
        &device_cache,
        draft,
        participants,
        tx.now(),
        &people,
    );
    let assessment = match assessed {
        Ok(assessment) => assessment,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let repeat = assessment.repeat;
    let interaction = store(tx, ctx, &device_cache, draft, participants, assessment)?;
    types::follow_up(tx, ctx, &interaction)?;
    Ok(Ok((interaction, repeat)))
}

/// Records a draft where nobody stands at a gate, such as one of many at once: a refusal is told, and not kept.
///
/// # Errors
/// As [`record`].
pub fn record_or_tell(tx: &Tx<'_>, ctx: &Context, draft: &Draft) -> Result<Outcome> {
    match attempt(tx, ctx, draft, &mut ResolvedParticipants::default())? {
        Ok((interaction, _)) => Ok(Outcome::Created(interaction)),
        Err(refusal) if refusals::is_kept(refusal.kind) => Ok(Outcome::Refused(refusal)),
        Err(other) => Err(other),
    }
}

/// The outcome of a draft whose nonce was used before.
fn replay(tx: &Tx<'_>, ctx: &Context, draft: &Draft) -> Result<Option<Outcome>> {
    let (Some((nonce, fingerprint)), Some(client)) = (&draft.nonce, ctx.client) else {
        return Ok(None);
    };
    let former = draft.former_fingerprint.unwrap_or(*fingerprint);
    let Some(mut earlier) = nonces::recall(tx, client, nonce, &[*fingerprint, former])? else {
        return Ok(None);
    };
    if let Some(earlier) = &mut earlier {
        as_answered(tx, draft, earlier)?;
    }
    let waiting = earlier.take_if(|earlier| earlier.id.is_none());
    Ok(Some(
        waiting.map_or(Outcome::Replayed(earlier), Outcome::Waiting),
    ))
}

/// Keeps what is not stored: an admitted scan of a code that nobody has yet waits, other refusals are listed.
///
/// # Errors
/// `refusal`, where it is of neither kind.
fn refuse(
    tx: &Tx<'_>,
    ctx: &Context,
    draft: &Draft,
    participants: &ResolvedParticipants,
    refusal: Error,
) -> Result<Outcome> {
    if refusal.kind == Kind::DelegateNotFound && late_codes::is_admitted(draft) {
        let draft = late_codes::by_likely_code(ctx, draft);
        if late_codes::waits(tx, &draft, participants)? {
            let waiting = late_codes::keep(tx, ctx, &draft, participants, &refusal)?;
            return Ok(Outcome::Waiting(waiting));
        }
    }
    if !refusals::is_kept(refusal.kind) {
        return Err(refusal);
    }
    refusals::keep(tx, ctx, draft, participants, &refusal)?;
    Ok(Outcome::Refused(refusal))
}

/// Stores an interaction with its presence, its conflict and its nonce.
fn store(
    tx: &Tx<'_>,
    ctx: &Context,
    device_cache: &DeviceCache,
    draft: &Draft,
    participants: &ResolvedParticipants,
    assessment: Assessment,
) -> Result<Interaction> {
    let motion = assessment.motion;
    let inserted = insert(tx, ctx, device_cache, draft, participants, motion.as_ref())?;
    device_cache.recorded(inserted.effect);
    let passed = motion.as_ref();
    let passed = passed.map(|motion| (motion.delegate, motion.device));
    if let Some(motion) = motion {
        motion.count(tx, device_cache, &inserted)?;
    }
    if inserted.effect == Some(PresenceChange::Enter) {
        tx.count_check_in();
    }
    let Inserted {
        id,
        order_at,
        effect,
        interaction,
    } = inserted;
    if let Some(refusal) = &assessment.conflict {
        refusals::keep_conflict(tx, id, refusal)?;
    }
    if let (Some((nonce, fingerprint)), Some(client)) = (&draft.nonce, ctx.client) {
        nonces::use_up(tx, client, nonce, fingerprint, id)?;
    }
    if let (Some(PresenceChange::Enter), Some((delegate, device))) = (effect, passed) {
        let entered = Position { at: order_at, id };
        let zone = &ctx.settings.zone;
        everybody_out::settle_late(tx, zone, device_cache, delegate, device, entered)?;
    }
    Ok(interaction)
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

/// The outcome of an imported draft.
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
    let participants = find_past(tx, ctx, draft)?;
    let [first, second, _] = participants.delegates;
    if let (Some(one), Some(other)) = (first, second)
        && draft.kind == CONNECTED.name
        && types::are_connected(tx, one, other)?
    {
        return Ok(Past {
            id: None,
            connected: None,
        });
    }
    let device_cache = tx.cache::<DeviceCache>();
    device_cache.begin_day(tx, &ctx.settings, tx.now())?;
    let motion = Motion::of(tx, &device_cache, draft, &participants)?;
    let inserted = insert(
        tx,
        ctx,
        &device_cache,
        draft,
        &participants,
        motion.as_ref(),
    )?;
    if let Some(motion) = motion {
        motion.count(tx, &device_cache, &inserted)?;
    }
    Ok(Past {
        id: Some(inserted.id),
        connected: types::follow_up(tx, ctx, &inserted.interaction)?,
    })
}

/// Finds who and what takes part in a draft of the past.
///
/// # Errors
/// [`Kind::InteractionType`], [`Kind::DelegateNotFound`], [`Kind::DeviceNotFound`].
pub fn find_past(
    connection: &Connection,
    ctx: &Context,
    draft: &Draft,
) -> Result<ResolvedParticipants> {
    spelling::check(connection, &ctx.settings, &draft.kind)?;
    let mut participants = ResolvedParticipants::default();
    find_participants(
        connection,
        &DeviceCache::default(),
        draft,
        &mut participants,
    )?;
    Ok(participants)
}

/// Returns what recording the draft would give, without writing anything.
pub fn test(
    connection: &Connection,
    ctx: &Context,
    draft: &Draft,
    now: Timestamp,
) -> Result<Recorded> {
    let people = |device| counters::people(connection, device);
    test_among(
        connection,
        ctx,
        &DeviceCache::default(),
        draft,
        now,
        &people,
    )
}

/// As [`test()`], one of many: `people` counts the attendees inside a device.
pub fn test_among(
    connection: &Connection,
    ctx: &Context,
    device_cache: &DeviceCache,
    draft: &Draft,
    now: Timestamp,
    people: &dyn Fn(DeviceId) -> Result<i64>,
) -> Result<Recorded> {
    spelling::check(connection, &ctx.settings, &draft.kind)?;
    let mut participants = ResolvedParticipants::default();
    let assessed = find_and_assess(
        connection,
        ctx,
        device_cache,
        draft,
        &mut participants,
        now,
        people,
    );
    let note = note(connection, device_cache, draft, participants.delegates[0])?;
    let (outcome, repeat) = match assessed {
        Ok(assessment) => (
            Outcome::Created(tried(draft, participants, now)),
            assessment.repeat,
        ),
        Err(missing)
            if missing.kind == Kind::DelegateNotFound
                && late_codes::waits(connection, draft, &participants)? =>
        {
            (Outcome::Waiting(tried(draft, participants, now)), None)
        }
        Err(refusal) if refusals::is_kept(refusal.kind) => (Outcome::Refused(refusal), None),
        Err(other) => return Err(other),
    };
    Ok(Recorded {
        outcome,
        note,
        repeat,
    })
}

fn tried(draft: &Draft, participants: ResolvedParticipants, now: Timestamp) -> Interaction {
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
    device_cache: &DeviceCache,
    draft: &Draft,
    found: &mut ResolvedParticipants,
) -> Result<()> {
    find_devices(connection, device_cache, draft, found)?;
    find_delegates(connection, draft, found)
}

fn find_devices(
    connection: &Connection,
    device_cache: &DeviceCache,
    draft: &Draft,
    found: &mut ResolvedParticipants,
) -> Result<()> {
    for (place, selector) in draft.devices.iter().enumerate() {
        if let Some(selector) = selector {
            found.devices[place] = Some(device_cache.find(connection, selector)?);
        }
    }
    Ok(())
}

fn find_delegates(
    connection: &Connection,
    draft: &Draft,
    found: &mut ResolvedParticipants,
) -> Result<()> {
    for (place, selector) in draft.delegates.iter().enumerate() {
        if let Some(selector) = selector {
            found.delegates[place] = match delegates::find(connection, selector) {
                Ok(id) => Some(id),
                Err(missing) => {
                    // The holder of the lost badge, so that their record lists the refusal.
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

/// Finds who and what takes part, and asks the rules.
fn find_and_assess(
    connection: &Connection,
    ctx: &Context,
    device_cache: &DeviceCache,
    draft: &Draft,
    participants: &mut ResolvedParticipants,
    now: Timestamp,
    people: &dyn Fn(DeviceId) -> Result<i64>,
) -> Result<Assessment> {
    let former_place = match find_devices(connection, device_cache, draft, participants) {
        Ok(()) => None,
        Err(missing) if missing.kind == Kind::DeviceNotFound => Some(find_former_place(
            connection,
            ctx,
            draft,
            participants,
            missing,
        )?),
        Err(other) => return Err(other),
    };
    let former = match find_delegates(connection, draft, participants) {
        Ok(()) => None,
        Err(missing) if missing.kind == Kind::DelegateNotFound => {
            Some(find_former(connection, ctx, draft, participants, missing)?)
        }
        Err(other) => return Err(other),
    };
    let mut assessment = assess(
        connection,
        ctx,
        device_cache,
        draft,
        participants,
        now,
        people,
    )?;
    assessment.conflict = former_place.or(former).or(assessment.conflict);
    Ok(assessment)
}

/// Finds whose ticket a gate admitted that was deleted or blocked since: why the server would have refused it.
///
/// # Errors
/// `missing`, where there is nobody.
fn find_former(
    connection: &Connection,
    ctx: &Context,
    draft: &Draft,
    participants: &mut ResolvedParticipants,
    missing: Error,
) -> Result<Error> {
    let (Some(selector), true) = (&draft.delegates[0], late_codes::is_admitted(draft)) else {
        return Err(missing);
    };
    // Of a blocked code.
    if participants.delegates[0].is_some() {
        return Ok(missing);
    }
    let Some((delegate, at)) = delegates::find_deleted(connection, selector)? else {
        return Err(missing);
    };
    participants.delegates[0] = Some(delegate);
    let name = delegates::name_of(connection, delegate.0)?.unwrap_or_default();
    Ok(deleted(ctx, &missing, &format!("the ticket of {name}"), at))
}

/// Finds the place where a gate admitted somebody and that was deleted since: why the server would have refused it.
///
/// # Errors
/// `missing`, where there was none.
fn find_former_place(
    connection: &Connection,
    ctx: &Context,
    draft: &Draft,
    participants: &mut ResolvedParticipants,
    missing: Error,
) -> Result<Error> {
    let (Some(selector), true) = (&draft.devices[0], late_codes::is_admitted(draft)) else {
        return Err(missing);
    };
    let Some((place, at)) = selector.find_deleted(connection)? else {
        return Err(missing);
    };
    participants.devices[0] = Some(place);
    let name = devices::brief(connection, place.0)?.map_or_else(String::new, |known| known.name);
    Ok(deleted(ctx, &missing, &format!("the place {name}"), at))
}

fn deleted(ctx: &Context, missing: &Error, what: &str, at: Timestamp) -> Error {
    let at = ctx.settings.zone.spoken(at, Timestamp::now());
    Error::new(missing.kind, format!("{what} was deleted at {at}"))
}

/// Somebody who goes in or out.
struct Motion {
    delegate: DelegateId,
    /// The place: at a door, the place of the door.
    place: DeviceId,
    /// The device itself.
    device: DeviceId,
    change: PresenceChange,
    /// The history of the delegate before.
    history: History,
    inside: Vec<DeviceId>,
}

impl Motion {
    /// Returns who goes in or out by a draft, if anybody does.
    fn of(
        connection: &Connection,
        device_cache: &DeviceCache,
        draft: &Draft,
        participants: &ResolvedParticipants,
    ) -> Result<Option<Self>> {
        let (Some(delegate), Some(device)) = (participants.delegates[0], participants.devices[0])
        else {
            return Ok(None);
        };
        let effect = device_cache.effect(connection, &draft.kind, Some(device), false)?;
        let Some(change) = effect.filter(|effect| effect.is_passage()) else {
            return Ok(None);
        };
        let history = History::of(connection, device_cache, delegate)?;
        Ok(Some(Self {
            delegate,
            place: device_cache.place_of(connection, device)?,
            device,
            change,
            inside: history.inside(connection, device_cache)?,
            history,
        }))
    }

    /// Counts them in or out, once it is recorded.
    fn count(mut self, tx: &Tx<'_>, device_cache: &DeviceCache, stored: &Inserted) -> Result<()> {
        let moment = Position {
            at: stored.order_at,
            id: stored.id,
        };
        let happened = stored.interaction.recorded_at.min(tx.now());
        self.history
            .record_happened(self.place, self.change, moment, happened);
        let after = self.history.inside(tx, device_cache)?;
        presence::count(tx, &self.inside, &after)
    }
}

/// The facts about presence and rules that recording needs.
struct Assessment {
    /// The passage in or out.
    motion: Option<Motion>,
    /// The reason why the rules would have refused what a gate admitted.
    conflict: Option<Error>,
    /// The check-ins before this one.
    repeat: Option<Repeat>,
}

fn assess(
    connection: &Connection,
    ctx: &Context,
    device_cache: &DeviceCache,
    draft: &Draft,
    participants: &ResolvedParticipants,
    now: Timestamp,
    people: &dyn Fn(DeviceId) -> Result<i64>,
) -> Result<Assessment> {
    let motion = Motion::of(connection, device_cache, draft, participants)?;
    let verdict = match (&motion, types::judged(&draft.kind)) {
        (Some(motion), Some(passage)) => judge(
            connection,
            device_cache,
            &Question {
                passage,
                delegate: motion.delegate,
                device: motion.device,
                history: &motion.history,
                inside: &motion.inside,
                people,
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
    let repeat = match &motion {
        Some(motion) if types::judged(&draft.kind) == Some(Passage::In) => {
            let doors = device_cache.doors(connection)?;
            let Motion {
                history,
                delegate,
                place,
                ..
            } = motion;
            presence::repeat(connection, &doors, history, *delegate, *place)?
        }
        _ => None,
    };
    Ok(Assessment {
        motion,
        conflict,
        repeat,
    })
}

/// An interaction that was just stored.
struct Inserted {
    id: i64,
    /// Its position in the order of events.
    order_at: Timestamp,
    effect: Option<PresenceChange>,
    interaction: Interaction,
}

fn insert(
    tx: &Tx<'_>,
    ctx: &Context,
    device_cache: &DeviceCache,
    draft: &Draft,
    participants: &ResolvedParticipants,
    motion: Option<&Motion>,
) -> Result<Inserted> {
    let shared = draft.values.store(tx, &draft.shared)?;
    let recorded_at = draft.recorded_at(tx.now());
    let [first_delegate, second_delegate, third_delegate] = participants.delegates;
    let [first_device, second_device, third_device] = participants.devices;
    let id = tx.new_interaction_id()?;
    let order_at = position(tx, ctx, device_cache, draft, motion)?;
    let effect = device_cache.effect(tx, &draft.kind, first_device, second_delegate.is_some())?;
    tx.prepare_cached(
        "INSERT INTO interactions (id, interaction_type, first_delegate_id, second_delegate_id,
                third_delegate_id, first_device_id, second_device_id, third_device_id, data, shared,
                recorded_at, created_at, client_id, user_id, admitted, order_at, effect)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)",
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
        Some(order_at).filter(|at| *at != recorded_at.min(tx.now())),
        effect,
    ])?;
    Ok(Inserted {
        id,
        order_at,
        effect,
        interaction: Interaction {
            id: Some(InteractionId(id)),
            kind: draft.kind.clone(),
            delegates: participants.delegates,
            devices: participants.devices,
            data: draft.data.clone(),
            shared: None,
            recorded_at,
            created_at: tx.now(),
        },
    })
}

/// A scan that was sent so long after it happened takes its place in the past.
const LATE_MS: i64 = 120_000;

/// The position of an interaction in the order of events (contract §6): at its arrival, whatever clocks
/// were corrected in between, unless it tells of the past. A check-in that the rules judged as the
/// delegate's latest passage is stored as that: at a gate whose clock is slow, one ticket would enter
/// again and again before a check-out. One of a day before, where stays end with the day, changes nothing today.
fn position(
    tx: &Tx<'_>,
    ctx: &Context,
    device_cache: &DeviceCache,
    draft: &Draft,
    motion: Option<&Motion>,
) -> Result<Timestamp> {
    let arrival = tx.arrival()?;
    let recorded_at = draft.recorded_at(tx.now());
    let position = if draft.admitted {
        recorded_at
    } else if recorded_at.0 < tx.now().0.saturating_sub(LATE_MS) {
        let entering = motion.filter(|motion| motion.change == PresenceChange::Enter);
        let latest = entering.and_then(|motion| motion.history.latest_passage());
        match (entering, latest) {
            (Some(motion), Some(latest))
                if recorded_at >= ctx.settings.day(latest).begins
                    || !device_cache.is_daily(tx, motion.place)? =>
            {
                latest.max(recorded_at)
            }
            _ => recorded_at,
        }
    } else {
        arrival
    };
    Ok(position.min(arrival))
}
