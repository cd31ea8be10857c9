//! What the settings of an app say to a gate (contract §7). A value that cannot be used, which files of
//! earlier versions may have, counts as not set.

use super::{
    Settings, configuration,
    parameters::{IDLE_S, LANGUAGES},
    pin::{self, SUPERVISOR_PIN},
    values::strings,
};
use crate::{
    domain::devices::{self, Offer},
    types::{
        DeviceId, DeviceSelector,
        error::{Error, Kind, Result},
    },
};
use rusqlite::Connection;
use serde_json::Value;

/// Whom a gate admits while it is offline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OfflinePolicy {
    /// Everybody whom its list and the rules admit.
    Admit,
    /// Those who are registered for the place.
    JoinedOnly,
    Hold,
}

impl OfflinePolicy {
    pub fn name(self) -> &'static str {
        match self {
            Self::Admit => "admit",
            Self::JoinedOnly => "joined-only",
            Self::Hold => "hold",
        }
    }

    pub fn of(settings: &Settings) -> Self {
        let name = settings.get("offlinePolicy").and_then(Value::as_str);
        let known = [Self::Admit, Self::JoinedOnly, Self::Hold];
        let found = known.into_iter().find(|policy| Some(policy.name()) == name);
        found.unwrap_or(Self::Admit)
    }
}

/// An app where attendees check themselves in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kiosk {
    /// It starts in the first.
    pub languages: Vec<&'static str>,
    /// Whether people may register themselves.
    pub walk_in: bool,
    /// Seconds without a touch after which it starts over.
    pub idle_seconds: i64,
}

/// Seconds after which a kiosk starts over, unless set.
const IDLE_SECONDS: i64 = 45;

impl Kiosk {
    /// `None` for a gate.
    pub fn of(settings: &Settings) -> Option<Self> {
        let is_set = |name: &str| settings.get(name) == Some(&Value::Bool(true));
        if !is_set("kiosk") {
            return None;
        }
        let chosen = settings.get("kioskLanguages").unwrap_or(&Value::Null);
        let all = LANGUAGES.iter().map(|(language, _)| *language);
        let known = |name| all.clone().find(|language| *language == name);
        let mut languages: Vec<_> = strings(chosen).filter_map(known).collect();
        if languages.is_empty() {
            languages = all.collect();
        }
        let idle_s = settings.get("kioskIdleSeconds").and_then(Value::as_i64);
        let idle_s =
            idle_s.filter(|idle_s| (i64::from(IDLE_S.0)..=i64::from(IDLE_S.1)).contains(idle_s));
        Some(Self {
            languages,
            walk_in: is_set("kioskWalkIn") && registers(settings),
            idle_seconds: idle_s.unwrap_or(IDLE_SECONDS),
        })
    }
}

/// Whether people may be registered at a gate.
fn registers(settings: &Settings) -> bool {
    let features = settings.get("availableFeatures").unwrap_or(&Value::Null);
    strings(features).any(|feature| feature == "delegate-create")
}

/// The place that settings name, if it is there.
pub fn place_of(connection: &Connection, settings: &Settings) -> Result<Option<DeviceId>> {
    match settings.get("place").and_then(Value::as_str) {
        Some(selector) => find(connection, selector),
        None => Ok(None),
    }
}

/// The settings of a gate.
pub struct GateSettings {
    pub version: i64,
    /// Where it checks in, unless somebody chooses another place in the app.
    pub place: Option<DeviceId>,
    /// The places that may be chosen.
    pub places: Vec<Offer>,
    pub policy: OfflinePolicy,
    /// The supervisors' PIN, hashed.
    pub supervisor_pin: Option<Value>,
    /// The types of people who may be registered here; `None` where nobody may.
    pub walk_in: Option<Vec<String>>,
    /// Set for a kiosk.
    pub kiosk: Option<Kiosk>,
    /// All settings of the app.
    pub all: Settings,
}

impl GateSettings {
    /// The settings of the app on a device; a client without a device has those for all apps. `places` names
    /// the places that may be chosen. Without it, all may be, or the `place` alone if that is forced.
    pub fn read(connection: &Connection, app: Option<DeviceId>) -> Result<Self> {
        let (version, all) = if let Some(app) = app {
            configuration::effective(connection, app)?
        } else {
            let published = configuration::published(connection)?;
            (published.version, published.document.default)
        };
        let place = place_of(connection, &all)?;
        let named = all.get("places").and_then(Value::as_array);
        let wanted: Option<Vec<DeviceId>> = match named {
            Some(selectors) => {
                let mut wanted: Vec<DeviceId> = place.into_iter().collect();
                for selector in selectors.iter().filter_map(Value::as_str) {
                    wanted.extend(find(connection, selector)?);
                }
                Some(wanted)
            }
            None if is_forced(&all, "place") => Some(place.into_iter().collect()),
            None => None,
        };
        let mut places = devices::offers(connection)?;
        places.retain(|offer| {
            offer.is_place()
                && wanted
                    .as_ref()
                    .is_none_or(|wanted| wanted.contains(&DeviceId(offer.id)))
        });
        Ok(Self {
            version,
            place,
            places,
            policy: OfflinePolicy::of(&all),
            supervisor_pin: pin_of(&all)?,
            walk_in: registers(&all).then(|| {
                let types = all.get("walkInTypes").unwrap_or(&Value::Null);
                strings(types).map(ToOwned::to_owned).collect()
            }),
            kiosk: Kiosk::of(&all),
            all,
        })
    }

    /// Checks that the gate may be used at a place.
    ///
    /// # Errors
    /// [`Kind::Forbidden`].
    pub fn check_place(&self, place: DeviceId) -> Result<()> {
        if self.places.iter().any(|offer| offer.id == place.0) {
            return Ok(());
        }
        Err(Error::new(
            Kind::Forbidden,
            format!("place {place} is not one of this gate's places; its settings name them"),
        ))
    }
}

fn pin_of(settings: &Settings) -> Result<Option<Value>> {
    match settings.get(SUPERVISOR_PIN) {
        None | Some(Value::Null) => Ok(None),
        // Whatever text an earlier version stored is the PIN.
        Some(Value::String(pin)) if pin.is_empty() => Ok(None),
        Some(kept) => Ok(Some(pin::sent(kept)?).filter(|kept| kept["hash"].is_string())),
    }
}

/// The place that a selector means; none where there is none any more.
fn find(connection: &Connection, selector: &str) -> Result<Option<DeviceId>> {
    let found =
        DeviceSelector::parse(selector).and_then(|selector| devices::find(connection, &selector));
    match found {
        Ok(id) => Ok(Some(id)),
        Err(cause)
            if matches!(
                cause.kind,
                Kind::DeviceNotFound | Kind::UnknownIdType | Kind::Invalid
            ) =>
        {
            Ok(None)
        }
        Err(cause) => Err(cause),
    }
}

fn is_forced(settings: &Settings, name: &str) -> bool {
    let forced = settings.get("forced").and_then(Value::as_array);
    forced.is_some_and(|forced| forced.iter().any(|one| one == name))
}
