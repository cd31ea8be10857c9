//! What the settings of an app say to a gate (contract §7): `place` and `places` are selectors of places,
//! `offlinePolicy` says whom it admits while it is offline, `supervisorPin` opens what only a supervisor may.

use super::{
    configuration,
    parameters::{SUPERVISOR_PIN, strings},
};
use crate::{
    domain::devices::{self, Offer},
    types::{
        DeviceId, DeviceSelector,
        error::{Error, Kind, Result},
    },
};
use rusqlite::Connection;
use serde_json::{Map, Value};

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

    fn named(name: Option<&str>) -> Self {
        let known = [Self::Admit, Self::JoinedOnly, Self::Hold];
        let found = known.into_iter().find(|policy| Some(policy.name()) == name);
        found.unwrap_or(Self::Admit)
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
    pub supervisor_pin: Option<String>,
    /// All settings of the app.
    pub all: Map<String, Value>,
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
        let text = |name: &str| all.get(name).and_then(Value::as_str);
        let place = match text("place") {
            Some(selector) => find(connection, selector)?,
            None => None,
        };
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
            policy: OfflinePolicy::named(text("offlinePolicy")),
            supervisor_pin: text(SUPERVISOR_PIN)
                .filter(|pin| !pin.is_empty())
                .map(ToOwned::to_owned),
            all,
        })
    }

    /// Whether the app may do what a name in `availableFeatures` stands for.
    pub fn has_feature(&self, name: &str) -> bool {
        let features = self.all.get("availableFeatures");
        features.is_some_and(|features| strings(features).any(|feature| feature == name))
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

fn is_forced(settings: &Map<String, Value>, name: &str) -> bool {
    let forced = settings.get("forced").and_then(Value::as_array);
    forced.is_some_and(|forced| forced.iter().any(|one| one == name))
}
