//! An interaction as a client sends it: parsed, completed and checked as far as that goes without
//! the store (contract §6).

use super::{forms, shared::SharedValues, spelling, types};
use crate::types::{
    DelegateId, DelegateSelector, DeviceId, DeviceSelector, Timestamp, Zone,
    error::{Error, Kind, Result},
    json::{Members, in_plain_words},
    text::{self, INTERACTION_TYPE_MAX_BYTES},
    time::SentTime,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::{collections::BTreeMap, fmt, sync::Arc};

/// The longest nonce, in characters (contract §6).
pub const NONCE_MAX_CHARS: usize = 128;

/// An interaction to record: at least a delegate or a device, a second only after a first.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(example = json!({
    "firstDelegate": "barcode:TICKET-0007", "firstDevice": "code:gate-b", "recordedAt": 1_795_251_720,
    "nonce": "b1946ac9-1",
}))]
pub struct InteractionInput {
    /// In place of `firstDelegate`.
    delegate: Option<Participant>,
    /// A delegate's id or selector.
    first_delegate: Option<Participant>,
    second_delegate: Option<Participant>,
    third_delegate: Option<Participant>,
    /// In place of `firstDevice`.
    device: Option<Participant>,
    /// A device's id or selector.
    first_device: Option<Participant>,
    second_device: Option<Participant>,
    third_device: Option<Participant>,
    /// The time at which it happened; the server's time without it.
    #[schemars(with = "Option<SentTime>")]
    recorded_at: Option<Value>,
    /// With `form` and `answers` it is a form and reshaped.
    #[serde(deserialize_with = "crate::types::json::anything_whole")]
    #[schemars(with = "Option<Map<String, Value>>")]
    data: Option<Value>,
    /// Unique per client: a resend with it creates nothing twice.
    #[schemars(length(min = 1, max = NONCE_MAX_CHARS))]
    nonce: Option<String>,
    /// The gate let the person in already: stored whatever the rules say, and though nobody has the code.
    admitted: Option<bool>,
    /// In a batch; elsewhere the path says it.
    #[schemars(regex(pattern = TYPE_PATTERN))]
    pub interaction_type: Option<String>,
    /// Read-only; ignored when sent.
    #[serde(rename = "id")]
    #[schemars(with = "Value")]
    _id: serde::de::IgnoredAny,
    /// Read-only; ignored when sent.
    #[serde(rename = "_type")]
    #[schemars(with = "Value")]
    _type: serde::de::IgnoredAny,
    /// Read-only; ignored when sent.
    #[serde(rename = "createdAt")]
    #[schemars(with = "Value")]
    _created_at: serde::de::IgnoredAny,
    /// Read-only; ignored when sent.
    #[serde(rename = "updatedAt")]
    #[schemars(with = "Value")]
    _updated_at: serde::de::IgnoredAny,
}

/// The form of an interaction type.
const TYPE_PATTERN: &str = "^[a-z0-9][a-z0-9-]{0,63}$";

/// A participant as sent: an id, or a selector such as `barcode:ABC`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(inline)]
#[serde(
    untagged,
    expecting = "must be an id or a selector such as \"barcode:ABC\""
)]
pub enum Participant {
    /// an id
    Id(#[schemars(range(min = 1))] i64),
    /// a selector such as `barcode:ABC`
    Selector(#[schemars(regex(pattern = "^[A-Za-z]+:"))] String),
}

impl Participant {
    /// The delegate that is meant.
    ///
    /// # Errors
    /// As [`DelegateSelector::parse`].
    pub fn delegate(&self) -> Result<DelegateSelector> {
        match self {
            Self::Id(id) => Ok(DelegateSelector::Id(DelegateId(*id))),
            Self::Selector(selector) => DelegateSelector::parse(selector),
        }
    }
}

/// One, two or three participants, in order.
pub type Participants<T> = [Option<T>; 3];

/// A checked draft.
#[derive(Debug, Clone, Default)]
pub struct Draft {
    /// The interaction type.
    pub kind: String,
    /// First, second and third delegate.
    pub delegates: Participants<DelegateSelector>,
    /// First, second and third device.
    pub devices: Participants<DeviceSelector>,
    /// The time at which it happened, where the client says so.
    pub recorded_at: Option<Timestamp>,
    /// `data`, reshaped, as text; shared values stand in it as they were sent.
    pub data: Option<String>,
    /// The places of shared values in `data`.
    pub shared: super::shared::Places,
    /// The shared values of its batch.
    pub values: Arc<SharedValues>,
    /// The client's nonce, with the fingerprint of what was sent with it.
    pub nonce: Option<(String, [u8; 16])>,
    /// The fingerprint that earlier versions stored, where it is another: `admitted` was part of it.
    pub former_fingerprint: Option<[u8; 16]>,
    /// Set where the gate decided while offline.
    pub admitted: bool,
}

impl Draft {
    /// Checks a body. `kind` is the type that the path names.
    ///
    /// # Errors
    /// [`Kind::InteractionType`], [`Kind::Participants`], [`Kind::InteractionContent`],
    /// [`Kind::UnknownIdType`] or [`Kind::Invalid`], naming what is at fault.
    pub fn new(
        kind: &str,
        input: InteractionInput,
        values: &Arc<SharedValues>,
        zone: &Zone,
    ) -> Result<Self> {
        check_type(kind)?;
        if !types::is_postable(kind) {
            return Err(Error::new(
                Kind::InteractionType,
                "connected is made by the server when two delegates connect to each other",
            ));
        }
        Self::checked(kind, input, values, zone)
    }

    fn checked(
        kind: &str,
        mut input: InteractionInput,
        values: &Arc<SharedValues>,
        zone: &Zone,
    ) -> Result<Self> {
        let sent = input.interaction_type.take();
        if sent.is_some_and(|sent| sent != kind) {
            return Err(Error::new(
                Kind::InteractionType,
                format!("differs from \"{kind}\" in the path"),
            )
            .at("interactionType"));
        }
        let (delegates, devices) = (input.take_delegates()?, input.take_devices()?);
        if delegates[0].is_none() && devices[0].is_none() {
            return Err(participants("neither a delegate nor a device takes part"));
        }
        let recorded_at = read_recorded_at(input.recorded_at.as_ref(), zone)?;
        let mut draft = Self {
            kind: kind.to_owned(),
            delegates,
            devices,
            recorded_at,
            data: None,
            shared: Vec::new(),
            values: Arc::clone(values),
            nonce: None,
            former_fingerprint: None,
            admitted: input.admitted.unwrap_or(false),
        };
        let data = input.data.filter(|sent| !sent.is_null());
        if let Some(nonce) = input.nonce {
            check_nonce(&nonce)?;
            draft.nonce = Some((nonce, draft.fingerprint(data.as_ref(), false)));
            let former = draft
                .admitted
                .then(|| draft.fingerprint(data.as_ref(), true));
            draft.former_fingerprint = former;
        }
        draft.take_data(data)?;
        Ok(draft)
    }

    /// Checks the body of an imported interaction: its type is in it, `connected` is one that
    /// it may have, and it counts as admitted.
    pub fn of_past(mut body: Map<String, Value>, zone: &Zone) -> Result<Self> {
        let Some(Value::String(kind)) = body.remove("interactionType") else {
            return Err(Error::new(Kind::InteractionType, "is missing").at("interactionType"));
        };
        let input: InteractionInput = serde_path_to_error::deserialize(Value::Object(body))
            .map_err(|cause| {
                let fault = in_plain_words(&cause.inner().to_string());
                Error::field(cause.path(), fault)
            })?;
        if input.nonce.is_some() {
            return Err(Error::field("nonce", "cannot be imported"));
        }
        check_type(&kind)?;
        let mut draft = Self::checked(&kind, input, &Arc::default(), zone)?;
        draft.admitted = true;
        Ok(draft)
    }

    fn take_data(&mut self, data: Option<Value>) -> Result<()> {
        let mut data = match data {
            None => return Ok(()),
            Some(Value::Object(data)) => data,
            Some(_) => {
                return Err(Error::new(Kind::InteractionContent, "must be an object").at("data"));
            }
        };
        self.values.check(&data)?;
        self.values.unfold_form(&mut data)?;
        forms::reshape(&mut data, &self.values)?;
        self.shared = self.values.places(&data)?;
        if !data.is_empty() {
            self.data = Some(Value::Object(data).to_string());
        }
        Ok(())
    }

    /// `data` with the shared values of its batch in their places.
    pub fn data_in_full(&self) -> Result<Option<String>> {
        let data = self.data.as_deref();
        data.map(|data| self.values.in_full(data, &self.shared))
            .transpose()
    }

    /// The form in which two requests under one nonce are compared. A resend may say `admitted` where the first did not.
    fn fingerprint(&self, data: Option<&Value>, admitted: bool) -> [u8; 16] {
        let shown = |participant: Option<String>| participant.map_or(Value::Null, Value::String);
        let body = json!([
            self.kind,
            self.delegates
                .each_ref()
                .map(|one| shown(one.as_ref().map(ToString::to_string))),
            self.devices
                .each_ref()
                .map(|one| shown(one.as_ref().map(ToString::to_string))),
            self.recorded_at.map(|at| at.0),
            data,
            admitted,
        ]);
        self.values.fingerprint(&body)
    }

    /// The time at which it happened, as stored.
    pub fn recorded_at(&self, now: Timestamp) -> Timestamp {
        self.recorded_at.unwrap_or(now)
    }
}

/// Checks that a type is well formed.
///
/// # Errors
/// [`Kind::InteractionType`].
pub fn check_type(kind: &str) -> Result<()> {
    if !text::is_interaction_type(kind) {
        return Err(Error::new(
            Kind::InteractionType,
            spelling::told(
                kind,
                &format!(
                    "is malformed: it has 1 to {INTERACTION_TYPE_MAX_BYTES} of a-z 0-9 -, the first not -"
                ),
            ),
        ));
    }
    Ok(())
}

/// Reads when something happened, where the client says so.
///
/// # Errors
/// [`Kind::InteractionContent`].
pub fn read_recorded_at(sent: Option<&Value>, zone: &Zone) -> Result<Option<Timestamp>> {
    sent.filter(|sent| !sent.is_null())
        .map(|sent| zone.read("recordedAt", sent))
        .transpose()
        .map_err(|cause| Error {
            kind: Kind::InteractionContent,
            ..cause
        })
}

/// # Errors
/// [`Kind::Invalid`].
pub fn check_nonce(nonce: &str) -> Result<()> {
    let length = nonce.chars().count();
    if length == 0 || length > NONCE_MAX_CHARS || nonce.contains('\0') {
        return Err(Error::field(
            "nonce",
            format!("must have 1 to {NONCE_MAX_CHARS} characters, none of them NUL"),
        ));
    }
    Ok(())
}

fn participants(message: impl Into<String>) -> Error {
    Error::new(Kind::Participants, message)
}

/// A participant that may be sent under a short name or its full one, with the name that it was sent
/// under.
fn one_of(
    short: (&'static str, Option<Participant>),
    full: (&'static str, Option<Participant>),
) -> Result<(&'static str, Option<Participant>)> {
    match (&short.1, &full.1) {
        (Some(_), Some(_)) => {
            Err(participants("stands beside its full form; send one of them").at(short.0))
        }
        (Some(_), None) => Ok(short),
        (None, _) => Ok(full),
    }
}

fn in_order<T: fmt::Debug>(
    names: [&str; 3],
    sent: Participants<Participant>,
    by_id: impl Fn(i64) -> T,
    by_selector: impl Fn(&str) -> Result<T>,
) -> Result<Participants<T>> {
    for later in 1..3 {
        if sent[later].is_some() && sent[later - 1].is_none() {
            let lacking = format!("there is no {} before it", names[later - 1]);
            return Err(participants(lacking).at(names[later]));
        }
    }
    let mut read = [None, None, None];
    for (place, participant) in sent.into_iter().enumerate() {
        read[place] = match participant {
            None => None,
            Some(Participant::Id(id)) => Some(by_id(id)),
            Some(Participant::Selector(selector)) => {
                Some(by_selector(&selector).map_err(|cause| cause.at(names[place]))?)
            }
        };
    }
    Ok(read)
}

impl InteractionInput {
    fn take_delegates(&mut self) -> Result<Participants<DelegateSelector>> {
        let (name, first) = one_of(
            ("delegate", self.delegate.take()),
            ("firstDelegate", self.first_delegate.take()),
        )?;
        in_order(
            [name, "secondDelegate", "thirdDelegate"],
            [
                first,
                self.second_delegate.take(),
                self.third_delegate.take(),
            ],
            |id| DelegateSelector::Id(DelegateId(id)),
            DelegateSelector::parse,
        )
    }

    fn take_devices(&mut self) -> Result<Participants<DeviceSelector>> {
        let (name, first) = one_of(
            ("device", self.device.take()),
            ("firstDevice", self.first_device.take()),
        )?;
        in_order(
            [name, "secondDevice", "thirdDevice"],
            [first, self.second_device.take(), self.third_device.take()],
            |id| DeviceSelector::Id(DeviceId(id)),
            DeviceSelector::parse,
        )
    }
}

/// Interactions to record in order.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(example = json!({
    "interactions": {
        "a": {"interactionType": "check-in", "firstDelegate": "barcode:TICKET-0007", "firstDevice": "code:gate-b", "nonce": "1"},
        "b": {"interactionType": "lead", "firstDelegate": "barcode:TICKET-0008", "firstDevice": "code:stand-4", "data": {"photo": {"$shared": "p"}}},
    },
    "sharedValues": {"p": "iVBORw0KGgo="},
}))]
pub struct BatchInput {
    /// Interactions by a key of the client's choice, recorded in this order. One that does not fit fails alone.
    #[schemars(with = "BTreeMap<String, InteractionInput>", extend("maxProperties" = 10_000))]
    pub interactions: Members,
    /// Values by name; `{"$shared": "name"}` anywhere in an item's `data` stands for one.
    #[serde(default)]
    #[schemars(with = "Map<String, Value>")]
    pub shared_values: Members,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(kind: &str, body: &Value) -> Result<Draft> {
        let input = crate::types::json::parse(body.to_string().as_bytes())?;
        Draft::new(kind, input, &Arc::default(), &Zone::default())
    }

    #[test]
    fn what_is_wrong_is_told_by_the_name_that_was_sent() {
        for name in ["delegate", "firstDelegate", "device", "firstDevice"] {
            let told = draft("check-in", &json!({name: "12"}))
                .unwrap_err()
                .to_string();
            assert!(told.starts_with(&format!("{name}: ")), "{told}");
        }
    }

    #[test]
    fn what_is_wrong_is_told_by_kind() {
        for (kind, body, expected) in [
            ("check-in", json!({}), Kind::Participants),
            (
                "check-in",
                json!({"delegate": 1, "firstDelegate": 1}),
                Kind::Participants,
            ),
            ("check-in", json!({"secondDelegate": 1}), Kind::Participants),
            (
                "check-in",
                json!({"delegate": 1, "thirdDelegate": 1}),
                Kind::Participants,
            ),
            (
                "check-in",
                json!({"delegate": 1, "secondDevice": 1}),
                Kind::Participants,
            ),
            ("check-in", json!({"delegate": true}), Kind::Invalid),
            ("check-in", json!({"delegate": 1.5}), Kind::Invalid),
            ("check-in", json!({"delegate": "ABC"}), Kind::UnknownIdType),
            ("check-in", json!({"delegate": "12"}), Kind::UnknownIdType),
            (
                "check-in",
                json!({"delegate": 1, "recordedAt": "soon"}),
                Kind::InteractionContent,
            ),
            (
                "check-in",
                json!({"delegate": 1, "data": []}),
                Kind::InteractionContent,
            ),
            (
                "check-in",
                json!({"delegate": 1, "nonce": ""}),
                Kind::Invalid,
            ),
            (
                "check-in",
                json!({"delegate": 1, "nonce": "x".repeat(129)}),
                Kind::Invalid,
            ),
            ("check-in", json!({"delegate": 1, "typo": 1}), Kind::Invalid),
            (
                "check-in",
                json!({"delegate": 1, "interactionType": "lead"}),
                Kind::InteractionType,
            ),
            ("connected", json!({"delegate": 1}), Kind::InteractionType),
            ("Check-in", json!({"delegate": 1}), Kind::InteractionType),
            ("-x", json!({"delegate": 1}), Kind::InteractionType),
            ("", json!({"delegate": 1}), Kind::InteractionType),
        ] {
            assert_eq!(
                draft(kind, &body).unwrap_err().kind,
                expected,
                "{kind} {body}"
            );
        }
    }

    #[test]
    fn an_imported_form_expands_no_further_than_a_sent_one() {
        let field = format!("k0{}", ".999".repeat(31));
        let body = json!({
            "interactionType": "lead", "delegate": 1,
            "data": {"form": "f", "answers": [{"field": field, "answer": 1}]},
        });
        let Value::Object(body) = body else {
            unreachable!("it is an object");
        };
        let refused = Draft::of_past(body, &Zone::default()).unwrap_err();
        assert_eq!(refused.kind, Kind::InteractionContent);
    }

    #[test]
    fn a_nonce_compares_what_was_meant() {
        let of = |body: Value| draft("check-in", &body).unwrap().nonce.unwrap().1;
        let one =
            of(json!({"nonce": "n", "delegate": 1, "device": "code:a", "data": {"a": 1, "b": 2}}));
        let same = of(
            json!({"data": {"b": 2, "a": 1}, "firstDevice": "code:a", "firstDelegate": 1, "nonce": "n"}),
        );
        let other =
            of(json!({"nonce": "n", "delegate": 1, "device": "code:b", "data": {"a": 1, "b": 2}}));
        let admitted = of(
            json!({"nonce": "n", "delegate": 1, "device": "code:a", "data": {"a": 1, "b": 2}, "admitted": true}),
        );
        assert_eq!([same, admitted], [one, one]);
        assert_ne!(one, other);
    }

    #[test]
    fn a_key_that_stands_twice_is_refused() {
        let parsed =
            crate::types::json::parse::<BatchInput>(br#"{"interactions": {"a": 1, "a": 2}}"#);
        assert!(
            parsed
                .unwrap_err()
                .to_string()
                .contains("\"a\" stands twice")
        );
    }
}
