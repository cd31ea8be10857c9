//! A walk-in: somebody who comes without a ticket is created, registered for the place where its rules
//! need it, and checked in, all or nothing.

use super::{codes, place};
use crate::{
    core::{Context, records::write, settings::WalkInPrice},
    db::Tx,
    domain::{
        apps::GateSettings,
        delegates::{RESOURCE, blocked},
        interactions::{
            draft::{Draft, NONCE_MAX_CHARS, check_nonce, read_recorded_at},
            nonces,
            record::{self, ResolvedParticipants, record},
            refusals,
            rows::Interaction,
            types::{CHECK_IN, JOIN},
            undo,
            walk_in::Registration,
        },
        sales::till::{self, Refund},
    },
    types::{
        DelegateCode, DelegateId, DelegateSelector, DeviceId, DeviceSelector, InteractionId,
        Timestamp, Zone,
        error::{Error, Kind, Result},
        json,
        text::{CODE_MAX_CHARS, TEXT_MAX_CHARS, shortened},
        time::SentTime,
    },
};
use rusqlite::Connection;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::mem;

/// The value of `availableFeatures` by which a gate registers people.
const FEATURE: &str = "delegate-create";

/// Somebody who comes without a ticket, with a first or a last name.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(example = json!({
    "place": 5, "nonce": "0f5cbb1e", "firstName": "Ada", "lastName": "Lovelace", "email": "ada@example.org",
    "delegateType": "Visitor",
}))]
pub struct WalkInInput {
    /// The id of the place.
    #[schemars(range(min = 1))]
    place: i64,
    /// Unique per client: a resend with it creates nothing twice.
    #[schemars(length(min = 1, max = NONCE_MAX_CHARS))]
    nonce: String,
    #[schemars(length(max = TEXT_MAX_CHARS))]
    first_name: Option<String>,
    #[schemars(length(max = TEXT_MAX_CHARS))]
    last_name: Option<String>,
    #[schemars(length(max = TEXT_MAX_CHARS))]
    email: Option<String>,
    /// One of the settings' `walkInTypes`, where there are any; their `delegateType` without it.
    #[schemars(length(max = TEXT_MAX_CHARS))]
    delegate_type: Option<String>,
    /// The barcode; made by the server without it.
    #[schemars(length(min = 1, max = CODE_MAX_CHARS))]
    code: Option<String>,
    /// The time of their arrival; the server's time without it.
    #[schemars(with = "Option<SentTime>")]
    recorded_at: Option<Value>,
    /// The gate let them in while it was offline: stored whatever the rules say.
    admitted: Option<bool>,
}

/// Somebody to create, register for the place and check in.
#[derive(Debug, Clone)]
pub struct Newcomer {
    pub place: DeviceId,
    /// Properties of the delegate, but for the barcode.
    pub properties: Map<String, Value>,
    /// The ticket code; one is made without it.
    pub code: Option<String>,
    pub recorded_at: Option<Timestamp>,
    /// The client's nonce, with the fingerprint of what was sent with it.
    pub nonce: Option<(String, [u8; 16])>,
    /// The gate let them in while it was offline.
    pub admitted: bool,
    /// The price that they pay, and how.
    pub payment: Option<(WalkInPrice, String)>,
}

/// A walk-in at a gate, checked as far as that goes without the store.
pub struct WalkIn {
    person: Newcomer,
    /// The client's nonce, with the fingerprint of what was sent with it.
    nonce: (String, [u8; 16]),
    /// Tells whether the gate's settings allow it.
    allowed: Result<()>,
    /// A type that they do not allow, of somebody who is inside already.
    refused_type: Option<String>,
}

/// The outcome of a walk-in.
pub enum Outcome {
    Created(DelegateId, Option<InteractionId>),
    /// The nonce had created it before: whom, and the check-in, as far as they are there still.
    Replayed(Option<DelegateId>, Option<InteractionId>),
    /// The rules refused the check-in. Nothing is stored but the refusal.
    Refused(Error),
}

impl WalkIn {
    /// Checks the body of a gate. What its settings do not allow is an error of [`WalkIn::register`] alone:
    /// a resend is answered as before, whatever was set since.
    ///
    /// # Errors
    /// [`Kind::Invalid`], naming what is at fault; [`Kind::InteractionContent`].
    pub fn new(
        connection: &Connection,
        mut input: WalkInInput,
        gate: &GateSettings,
        zone: &Zone,
    ) -> Result<Self> {
        check_nonce(&input.nonce)?;
        let body = serde_json::to_value(&input).map_err(Error::defect)?;
        let recorded_at = read_recorded_at(input.recorded_at.as_ref(), zone)?;
        let place = DeviceId(input.place);
        let admitted = input.admitted.unwrap_or(false);
        let check = |delegate_type: Option<&str>| check(connection, gate, place, delegate_type);
        // Nobody who was let in is lost, and no gate gives a type that is not its own to give.
        let mut refused_type = None;
        if admitted && check(input.delegate_type.as_deref()).is_err() {
            refused_type = input.delegate_type.take();
        }
        let allowed = check(input.delegate_type.as_deref());
        let default_type = || {
            gate.all
                .get("delegateType")?
                .as_str()
                .map(ToOwned::to_owned)
        };
        let mut properties = Map::new();
        for (name, value) in [
            ("firstName", input.first_name),
            ("lastName", input.last_name),
            ("email", input.email),
            ("delegateType", input.delegate_type.or_else(default_type)),
        ] {
            let value = value.map(|value| value.trim().to_owned());
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                properties.insert(name.to_owned(), value.into());
            }
        }
        check_name(&properties)?;
        let nonce = (input.nonce, json::fingerprint(&body));
        Ok(Self {
            person: Newcomer {
                place,
                properties,
                code: input.code,
                recorded_at,
                nonce: Some(nonce.clone()),
                admitted,
                payment: None,
            },
            nonce,
            allowed,
            refused_type,
        })
    }

    /// The place where the walk-in is.
    pub fn place(&self) -> DeviceId {
        self.person.place
    }

    /// A warning for the caller, beside the outcome.
    pub fn warning(&self) -> Option<String> {
        let sent = shortened(self.refused_type.as_deref()?);
        Some(match self.person.properties.get("delegateType") {
            Some(own) => format!("delegateType: {sent} is not for walk-ins here, {own} is stored"),
            None => format!("delegateType: {sent} is not for walk-ins here, none is stored"),
        })
    }

    /// Creates, registers and checks in.
    ///
    /// # Errors
    /// [`Kind::Forbidden`] where the gate's settings do not allow it, [`Kind::CodeTaken`],
    /// [`Kind::KeyReused`], and as [`write::create`].
    pub fn register(mut self, tx: &Tx<'_>, ctx: &Context) -> Result<Outcome> {
        if let Some(earlier) = self.recall(tx, ctx)? {
            return Ok(earlier);
        }
        mem::replace(&mut self.allowed, Ok(()))?;
        self.person.register(tx, ctx)
    }

    /// Finds what the nonce created before.
    fn recall(&self, tx: &Tx<'_>, ctx: &Context) -> Result<Option<Outcome>> {
        let Some(client) = ctx.client else {
            return Ok(None);
        };
        let (nonce, fingerprint) = &self.nonce;
        let Some(check_in) = nonces::recall(tx, client, nonce, &[*fingerprint])? else {
            return Ok(None);
        };
        let delegate = nonces::first_delegate(tx, client, nonce)?;
        let check_in = check_in.and_then(|check_in| check_in.id);
        Ok(Some(Outcome::Replayed(delegate, check_in)))
    }
}

impl Newcomer {
    /// Creates, registers and checks in, all or nothing; a refusal by the rules is kept.
    pub fn register(&self, tx: &Tx<'_>, ctx: &Context) -> Result<Outcome> {
        match tx.nested(|tx| self.create(tx, ctx)) {
            Err(refusal) if matches!(refusal.kind, Kind::Refused(_)) => {
                let mut draft = self.draft(CHECK_IN.name, None);
                let code = |code| DelegateSelector::Code(DelegateCode::Barcode, code);
                draft.delegates[0] = self.code.clone().map(code);
                let participants = ResolvedParticipants {
                    devices: [Some(self.place), None, None],
                    ..ResolvedParticipants::default()
                };
                refusals::keep(tx, ctx, &draft, &participants, &refusal)?;
                Ok(Outcome::Refused(refusal))
            }
            created => created,
        }
    }

    fn create(&self, tx: &Tx<'_>, ctx: &Context) -> Result<Outcome> {
        // Nobody who was let in is lost.
        let ctx = &Context {
            is_strict: ctx.is_strict && !self.admitted,
            ..ctx.clone()
        };
        if let Some(code) = &self.code {
            blocked::check_free(tx, "code", code)?;
        }
        let delegate = match &self.payment {
            None => {
                let code = self.code.clone().map_or_else(|| codes::make(1), Ok)?;
                let mut body = self.properties.clone();
                body.insert(DelegateCode::Barcode.name().to_owned(), code.into());
                DelegateId(write::create(tx, ctx, &RESOURCE, body)?)
            }
            Some((price, method)) => {
                let code = self.code.as_deref();
                let delegate = till::sell(tx, ctx, self.place, price, method, code)?;
                write::patch(tx, ctx, &RESOURCE, delegate.0, self.properties.clone())?;
                delegate
            }
        };
        if place::needs_join(tx, self.place, &ctx.settings.access)? {
            record(tx, ctx, &self.draft(JOIN.name, Some(delegate)))?;
        }
        let mut draft = self.draft(CHECK_IN.name, Some(delegate));
        draft.nonce.clone_from(&self.nonce);
        match record(tx, ctx, &draft)?.outcome {
            record::Outcome::Created(check_in) => Ok(Outcome::Created(delegate, check_in.id)),
            record::Outcome::Refused(refusal) => Err(refusal),
            record::Outcome::Replayed(_) | record::Outcome::Waiting(_) => {
                Err(Error::defect("a nonce was used up meanwhile"))
            }
        }
    }

    fn draft(&self, kind: &str, delegate: Option<DelegateId>) -> Draft {
        Draft {
            kind: kind.to_owned(),
            delegates: [delegate.map(DelegateSelector::Id), None, None],
            devices: [Some(DeviceSelector::Id(self.place)), None, None],
            recorded_at: self.recorded_at,
            admitted: self.admitted,
            ..Draft::default()
        }
    }
}

/// A walk-in or check-in that was taken back.
#[derive(Debug)]
pub struct TakenBack {
    /// As it was.
    pub interaction: Interaction,
    /// Set for a walk-in, whose attendee was deleted with it.
    pub is_walk_in: bool,
    /// The outcome of the registration that the desk recorded together with it.
    pub registration: Option<Registration>,
    /// The refund for them.
    pub refund: Option<Refund>,
}

/// Takes back an interaction on a page of the console; of a walk-in that paid, the money is given back.
///
/// # Errors
/// As [`undo::undo`].
pub fn take_back(
    tx: &Tx<'_>,
    ctx: &Context,
    caller: undo::Caller,
    page: undo::Page,
    id: i64,
) -> Result<TakenBack> {
    let undone = undo::undo(tx, ctx, caller, page, id)?;
    let newcomer = undone.newcomer;
    let refund = newcomer.map(|delegate| till::refund(tx, ctx, delegate));
    Ok(TakenBack {
        interaction: undone.interaction,
        is_walk_in: newcomer.is_some(),
        registration: undone.registration,
        refund: refund.transpose()?.flatten(),
    })
}

/// Checks that somebody has a name.
///
/// # Errors
/// [`Kind::Invalid`].
pub fn check_name(properties: &Map<String, Value>) -> Result<()> {
    let has_name = ["firstName", "lastName"]
        .iter()
        .any(|name| properties.contains_key(*name));
    if has_name {
        return Ok(());
    }
    Err(Error::field("lastName", "a first or a last name is needed"))
}

/// Checks that a gate may register somebody of a type at a place.
fn check(
    connection: &Connection,
    gate: &GateSettings,
    place: DeviceId,
    delegate_type: Option<&str>,
) -> Result<()> {
    gate.check_place(connection, place)?;
    let Some(types) = &gate.walk_in else {
        let message = format!(
            "this gate registers nobody; its setting availableFeatures would have to name {FEATURE}"
        );
        return Err(Error::new(Kind::Forbidden, message));
    };
    let is_known = |sent: &str| types.iter().any(|known| known == sent.trim());
    match delegate_type {
        Some(sent) if !types.is_empty() && !is_known(sent) => Err(Error::field(
            "delegateType",
            format!("must be one of {}", types.join(", ")),
        )),
        _ => Ok(()),
    }
}
