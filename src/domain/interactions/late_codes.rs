//! Scans of codes that nobody has yet. One that a gate admitted waits for somebody who has the code: it counts for
//! who is inside, and becomes an interaction as soon as a record gets the code, whoever writes that. One that was
//! refused is recorded when the crew asks for it.

use super::{
    draft::Draft,
    everybody_out, nonces,
    presence::PresenceChange,
    record::{Outcome, ResolvedParticipants, record},
    refusals,
    rows::Interaction,
    types,
};
use crate::{
    core::{Context, audit, rules::Position},
    db::Tx,
    domain::delegates,
    types::{
        ClientId, DelegateId, DelegateSelector, DeviceId, DeviceSelector, Timestamp, UserId,
        error::{Error, Kind, Result},
        scanned::likely_code,
        signed_ticket,
    },
};
use rusqlite::{Connection, Params, Row, params};
use std::sync::LazyLock;

/// Refusals that are looked through, the newest first.
const REFUSALS_MAX: i64 = 20_000;
/// Scans that are recorded at a time, so that gates need not wait.
pub const SLICE: usize = 100;
/// Admitted scans of one code that wait at the most, as they are recorded with the record that gets the code. More are
/// refused.
const WAITING_MAX: i64 = 200;

/// A scan of a code that was unknown, and that an attendee has by now.
#[derive(Debug, Clone)]
pub struct LateCode {
    refusal: i64,
    kind: String,
    delegate: DelegateId,
    device: DeviceId,
    at: Timestamp,
    client: Option<ClientId>,
    user: Option<UserId>,
    data: Option<String>,
    /// A gate had let the person in.
    admitted: bool,
}

const COLUMNS: &str = "r.id, r.interaction_type, r.delegate, r.device_id, r.recorded_at, r.client_id, r.user_id, r.data,
    r.admitted FROM refusals r";
const PLACE: &str = "JOIN devices d ON d.id = r.device_id AND d.deleted_at IS NULL";

/// Scans of unknown codes that attendees have by now, the newest first.
pub fn find(connection: &Connection) -> Result<Vec<LateCode>> {
    let sql = format!(
        "SELECT {COLUMNS} {PLACE} WHERE r.id > (SELECT max(id) - ?2 FROM refusals)
         AND r.code = ?1 AND r.delegate_id IS NULL AND r.delegate IS NOT NULL ORDER BY r.id DESC"
    );
    let code = Kind::DelegateNotFound.code();
    read(connection, &sql, params![code, REFUSALS_MAX])
}

/// Records the admitted scans at a place that somebody has the codes of: it may have been deleted when they got them.
pub fn settle_at(tx: &Tx<'_>, ctx: &Context, place: DeviceId) -> Result<()> {
    let sql = format!(
        "SELECT {COLUMNS} INDEXED BY refusals_admitted {PLACE}
         WHERE r.admitted = 1 AND r.device_id = ?1 ORDER BY r.id"
    );
    let late = read(tx, &sql, [place])?;
    record_all(tx, ctx, &late)?;
    Ok(())
}

/// Records the admitted scans of a delegate's codes.
pub fn settle(tx: &Tx<'_>, ctx: &Context, delegate: DelegateId) -> Result<()> {
    static SQL: LazyLock<String> = LazyLock::new(|| {
        let codes: Vec<_> = delegates::RESOURCE
            .codes()
            .map(|(column, _)| column)
            .collect();
        format!(
            "SELECT {COLUMNS} INDEXED BY refusals_admitted {PLACE}
             WHERE r.admitted = 1 AND (substr(r.delegate, instr(r.delegate, ':') + 1) IN (
                 SELECT form.value FROM delegates p, json_each(json_array({})) code,
                     json_each(json_array(code.value, upper(code.value), lower(code.value))) form WHERE p.id = ?1)
                 OR r.delegate LIKE 'scan:%' AND length(r.delegate) = length('scan:') + {})
             ORDER BY r.id",
            codes.join(", "),
            signed_ticket::SYMBOLS
        )
    });
    let waiting = "SELECT 1 FROM refusals INDEXED BY refusals_admitted WHERE admitted = 1";
    if tx.prepare_cached(waiting)?.exists([])? {
        let mut late = read(tx, &SQL, [delegate])?;
        // A signed ticket does not show whose it is.
        late.retain(|scan| scan.delegate == delegate);
        record_all(tx, ctx, &late)?;
    }
    Ok(())
}

fn read(connection: &Connection, sql: &str, params: impl Params) -> Result<Vec<LateCode>> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    let mut late = Vec::new();
    while let Some(row) = rows.next()? {
        late.extend(LateCode::read(connection, row)?);
    }
    Ok(late)
}

impl LateCode {
    /// Returns whether this is the check-out of everybody: the check-in, once it is recorded, gets its own.
    fn is_of_server(&self) -> bool {
        (self.client, self.user) == (None, None)
            && self.data.as_deref() == Some(everybody_out::DATA)
    }

    /// A scan, where somebody has its code.
    fn read(connection: &Connection, row: &Row<'_>) -> Result<Option<Self>> {
        let (kind, code): (String, String) = (row.get(1)?, row.get(2)?);
        // An id is no code: who gets it later is somebody else.
        let selector = DelegateSelector::parse(&code).ok();
        let Some(selector) = selector.filter(|selector| selector.code().is_some()) else {
            return Ok(None);
        };
        let delegate = match delegates::find(connection, &selector) {
            Ok(delegate) => delegate,
            Err(cause) if cause.kind == Kind::DelegateNotFound => return Ok(None),
            Err(cause) => return Err(cause),
        };
        if types::find(&kind).is_none() {
            return Ok(None);
        }
        Ok(Some(Self {
            refusal: row.get(0)?,
            kind,
            delegate,
            device: row.get(3)?,
            at: row.get(4)?,
            client: row.get::<_, Option<i64>>(5)?.map(ClientId),
            user: row.get::<_, Option<i64>>(6)?.map(UserId),
            data: row.get(7)?,
            admitted: row.get(8)?,
        }))
    }
}

/// Records scans as admitted, those that were refused in the name of who asks for it, and takes their refusals away.
/// How many: one whose refusal is gone was recorded meanwhile.
pub fn record_all(tx: &Tx<'_>, ctx: &Context, late: &[LateCode]) -> Result<usize> {
    let mut recorded = 0;
    for scan in late {
        let Some(taken) = refusals::take_out(tx, scan.refusal)? else {
            continue;
        };
        if scan.is_of_server() {
            continue;
        }
        let draft = Draft {
            kind: scan.kind.clone(),
            delegates: [Some(DelegateSelector::Id(scan.delegate)), None, None],
            devices: [Some(DeviceSelector::Id(scan.device)), None, None],
            recorded_at: Some(scan.at),
            data: scan.data.clone(),
            admitted: true,
            ..Draft::default()
        };
        let of_gate = Context {
            client: scan.client,
            user: if scan.admitted { scan.user } else { ctx.user },
            ..ctx.clone()
        };
        let Outcome::Created(interaction) = record(tx, &of_gate, &draft)?.outcome else {
            return Err(Error::defect("a scan without nonce was not stored"));
        };
        if let (Some((client, nonce)), Some(id)) = (taken.nonce, interaction.id) {
            nonces::lead_to(tx, client, &nonce, id.0)?;
        }
        recorded += 1;
    }
    Ok(recorded)
}

/// Tells if this is one passage of one person that a gate admitted.
pub fn is_admitted(draft: &Draft) -> bool {
    draft.admitted
        && types::passage_effect(&draft.kind).is_some()
        && draft.delegates[1..].iter().all(Option::is_none)
        && draft.devices[1..].iter().all(Option::is_none)
}

/// Tells if a scan of an unknown code has to wait for somebody who has the code.
pub fn waits(connection: &Connection, draft: &Draft, found: &ResolvedParticipants) -> Result<bool> {
    let code = draft.delegates[0].as_ref().and_then(DelegateSelector::code);
    let Some(code) = code.filter(|_| is_admitted(draft) && found.devices[0].is_some()) else {
        return Ok(false);
    };
    let waiting: i64 = connection
        .prepare_cached(
            "SELECT count(*) FROM refusals INDEXED BY refusals_admitted
             WHERE admitted = 1 AND substr(delegate, instr(delegate, ':') + 1) = ?1",
        )?
        .query_row([code], |row| row.get(0))?;
    Ok(waiting < WAITING_MAX)
}

/// A draft by the code that its scanned text most likely has in it, so that one code is counted once however it was sent.
pub fn by_likely_code(ctx: &Context, draft: &Draft) -> Draft {
    let mut draft = draft.clone();
    if let Some(DelegateSelector::Scanned(code)) = &mut draft.delegates[0] {
        *code = likely_code(code, ctx.settings.scans.as_ref());
    }
    draft
}

/// Has a scan wait; the interaction that it will be, without an id.
pub fn keep(
    tx: &Tx<'_>,
    ctx: &Context,
    draft: &Draft,
    found: &ResolvedParticipants,
    missing: &Error,
) -> Result<Interaction> {
    let id = refusals::keep_waiting(tx, ctx, draft, found, missing)?;
    // The feed does not tell of it, but its mark is to grow: a gate keeps the scan until a replica has it.
    audit::reserve(tx)?;
    if let (Some((nonce, fingerprint)), Some(client)) = (&draft.nonce, ctx.client) {
        nonces::use_up(tx, client, nonce, fingerprint, -id)?;
    }
    if let (Some(code), Some(device), Some(PresenceChange::Enter)) = (
        &draft.delegates[0],
        found.devices[0],
        types::passage_effect(&draft.kind),
    ) {
        let at = draft.recorded_at(tx.now()).min(tx.now());
        everybody_out::settle_late_code(tx, ctx, code, device, Position { at, id })?;
    }
    refusals::waiting(tx, id)?.ok_or_else(|| Error::defect("a scan that waits is gone"))
}

/// The codes of which admitted scans wait, each once.
pub fn waiting(connection: &Connection) -> Result<Vec<DelegateSelector>> {
    let mut statement = connection.prepare_cached(
        "SELECT min(delegate) FROM refusals INDEXED BY refusals_admitted WHERE admitted = 1
         GROUP BY substr(delegate, instr(delegate, ':') + 1)",
    )?;
    let codes = statement.query_map([], |row| row.get::<_, String>(0))?;
    let codes = codes.collect::<rusqlite::Result<Vec<_>>>()?;
    codes
        .iter()
        .map(|code| DelegateSelector::parse(code))
        .collect()
}
