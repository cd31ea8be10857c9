//! The settings of an app as a gate reads them (contract §7). A value that cannot be used, which files of earlier
//! versions may have, counts as not set.

use super::{
    Settings,
    configuration::PublishedCache,
    parameters::{IDLE_S, LANGUAGES},
    pin::{self, SUPERVISOR_PIN},
    values::strings,
};
use crate::{
    domain::devices::{self, Offer, PlaceCodes},
    types::{
        DeviceId, DeviceSelector,
        error::{Error, Kind, Result},
    },
};
use rusqlite::Connection;
use serde_json::Value;
use std::sync::Arc;

/// The people whom a gate admits while it is offline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OfflinePolicy {
    /// Everybody whom its list and the rules admit.
    Admit,
    /// People who are registered for the place.
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
    /// The languages to choose from; it starts in the first.
    pub languages: Vec<&'static str>,
    /// Set where people may register themselves.
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

/// Returns whether people may be registered at a gate.
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
    /// The place where it checks in, unless somebody chooses another one in the app.
    pub place: Option<DeviceId>,
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
    /// The settings of the app on a device; a client without a device has those for all apps.
    pub fn read(
        connection: &Connection,
        published: &PublishedCache,
        app: Option<DeviceId>,
    ) -> Result<Self> {
        let published = published.get(connection)?;
        let all = match app {
            Some(app) => published.of_device(connection, app)?,
            None => published.document.default.clone(),
        };
        Ok(Self {
            version: published.version,
            place: place_of(connection, &all)?,
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

    /// Selectors of the places that may be chosen beside `place`; `None` for all: `places` names them, and
    /// none may be where `place` is forced.
    fn named(&self) -> Option<impl Iterator<Item = &str>> {
        let named = self.all.get("places").filter(|named| named.is_array());
        let none = is_forced(&self.all, "place").then_some(&Value::Null);
        named.or(none).map(strings)
    }

    /// The places that may be chosen; `all` has those of the file.
    pub fn places(
        &self,
        connection: &Connection,
        all: impl FnOnce() -> Result<Arc<Vec<Offer>>>,
    ) -> Result<Arc<Vec<Offer>>> {
        let mut ids: Vec<DeviceId> = self.place.into_iter().collect();
        if let Some(named) = self.named() {
            for selector in named {
                ids.extend(find(connection, selector)?);
            }
        } else {
            let all = all()?;
            if self
                .place
                .is_none_or(|own| all.iter().any(|offer| offer.id == own.0))
            {
                return Ok(all);
            }
            ids.extend(all.iter().map(|offer| DeviceId(offer.id)));
        }
        let mut places = devices::offers_of(connection, &ids)?;
        places.retain(Offer::is_place);
        Ok(Arc::new(places))
    }

    /// Its own place, or else the first of those that may be chosen.
    pub fn some_place(&self, connection: &Connection) -> Result<Option<DeviceId>> {
        if let Some(own) = self.place
            && self.check_place(connection, own).is_ok()
        {
            return Ok(Some(own));
        }
        let places = self.places(connection, || devices::places(connection).map(Arc::new))?;
        Ok(places.first().map(|place| DeviceId(place.id)))
    }

    /// Checks that the gate may be used at a place. However many places there are, it looks at this one.
    ///
    /// # Errors
    /// [`Kind::Forbidden`].
    pub fn check_place(&self, connection: &Connection, place: DeviceId) -> Result<()> {
        let Some(known) = PlaceCodes::find(connection, place)? else {
            return Err(not_its_place(place));
        };
        if self.place == Some(place) {
            return Ok(());
        }
        let Some(mut named) = self.named() else {
            return Ok(());
        };
        let is_named = named.try_fold(false, |found, selector| {
            Ok::<_, Error>(found || known.is_meant(connection, selector)?)
        });
        is_named?.then_some(()).ok_or_else(|| not_its_place(place))
    }
}

/// The error about a place where a gate may not be used.
pub fn not_its_place(place: DeviceId) -> Error {
    Error::new(
        Kind::Forbidden,
        format!("place {place} is not one of this gate's places; its settings name them"),
    )
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        db::{
            connection::{prepare, steps_of},
            migrate,
        },
        domain::apps::Document,
    };
    use serde_json::json;

    /// A file with so many rooms and an app, and the settings of all apps.
    fn file(rooms: i64, settings: &Value) -> Connection {
        let file = Connection::open_in_memory().unwrap();
        prepare(&file).unwrap();
        migrate::create(&file).unwrap();
        file.execute(
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i <= ?1)
             INSERT INTO devices (id, code, public_id, external_id, name, device_type, sources, created_at, updated_at)
             SELECT i, 'c' || i, 'p' || i, 'x' || i, 'Room ' || i, iif(i > ?1, 'regoapp', 'room'), '[]', 0, 0 FROM n",
            [rooms],
        )
        .unwrap();
        publish(&file, 2, settings);
        file
    }

    fn publish(file: &Connection, version: i64, settings: &Value) {
        let document = Document {
            default: settings.as_object().unwrap().clone(),
            ..Document::default()
        };
        file.execute(
            "INSERT INTO app_config (version, document, actor, published_at) VALUES (?1, ?2, 'cli', 0)",
            (version, document.to_json().to_string()),
        )
        .unwrap();
    }

    fn settings_of(file: &Connection) -> GateSettings {
        GateSettings::read(file, &PublishedCache::default(), None).unwrap()
    }

    #[test]
    fn what_is_offered_is_what_is_allowed() {
        let all: Vec<i64> = (1..=40).collect();
        for (settings, allowed) in [
            (json!({}), all.clone()),
            (json!({"place": "code:c40"}), all),
            (json!({"place": "code:c40", "forced": ["place"]}), vec![40]),
            (json!({"forced": ["place"]}), vec![]),
            (json!({"places": []}), vec![]),
            (
                json!({"place": "id:7", "places": ["code:c40", "id:2", "externalId:x3", "scan:p4"]}),
                vec![2, 3, 4, 7, 40],
            ),
            (
                json!({"places": ["code:c2", "code:c2", "code:gone", "nonsense", "id:x", "id:41"]}),
                vec![2],
            ),
            (
                json!({"place": "code:c41", "places": ["scan:gone"]}),
                vec![],
            ),
        ] {
            let file = file(40, &settings);
            let gate = settings_of(&file);
            let passes = |id: &i64| match gate.check_place(&file, DeviceId(*id)) {
                Ok(()) => true,
                Err(cause) => {
                    assert_eq!(cause.kind, Kind::Forbidden);
                    false
                }
            };
            let passed: Vec<i64> = (0..=42).filter(passes).collect();
            assert_eq!(passed, allowed, "{settings}");
            let read = || devices::places(&file).map(Arc::new);
            let mut offered: Vec<i64> = gate
                .places(&file, read)
                .unwrap()
                .iter()
                .map(|place| place.id)
                .collect();
            offered.sort_unstable();
            assert_eq!(offered, allowed, "{settings}");
            file.execute("UPDATE devices SET deleted_at = 1", [])
                .unwrap();
            assert!(gate.check_place(&file, DeviceId(40)).is_err(), "{settings}");
        }
    }

    #[test]
    fn a_scan_costs_the_same_in_a_venue_of_any_size() {
        let named: Vec<String> = (1..=30).map(|id| format!("code:c{id}")).collect();
        for settings in [
            json!({"place": "code:c30"}),
            json!({}),
            json!({"places": named}),
        ] {
            let steps = [30, 3_000].map(|rooms| {
                let (file, cache) = (file(rooms, &settings), PublishedCache::default());
                let scan = || {
                    let gate = GateSettings::read(&file, &cache, None).unwrap();
                    gate.check_place(&file, DeviceId(30)).unwrap();
                };
                scan();
                steps_of(&file, scan)
            });
            assert_eq!(steps[0], steps[1], "{settings}");
            assert!(steps[0] < 100, "{settings}: {steps:?}");
        }
    }

    #[test]
    fn settings_are_read_once_for_each_version() {
        let (file, cache) = (file(1, &json!({})), PublishedCache::default());
        let first = cache.get(&file).unwrap();
        assert!(Arc::ptr_eq(&first, &cache.get(&file).unwrap()));
        publish(&file, 3, &json!({"places": []}));
        assert_eq!(cache.get(&file).unwrap().version, 3);
    }
}
