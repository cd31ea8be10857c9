//! The configuration of all apps as one document: what holds for every app, for devices of a type,
//! and for one device (contract §7, §10 `appConfig`).

use super::{
    parameters,
    pin::{self, SUPERVISOR_PIN},
};
use crate::types::{
    Zone,
    error::{Error, Result},
    text,
};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Settings by name.
pub type Settings = Map<String, Value>;

/// The settings of all apps, with those of types and devices.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Document {
    pub default: Settings,
    /// For devices of a type; a setting named here takes the place of the one in `default`.
    pub by_type: BTreeMap<String, Settings>,
    /// For the device of a code; a setting named here takes the place of all others.
    pub by_device: BTreeMap<String, Settings>,
}

impl Document {
    /// The document in force in a file where nobody published anything: a gate app works with it.
    pub fn built_in() -> Self {
        let default = json!({
            "availableFeatures": ["check-in", "check-out", "delegate-search", "ping", "ping-info"],
            "deviceHierarchy": [["event"], ["location", "room"], ["session", "door"]],
            "allowRejected": false,
            "delegateType": null,
            "enableAt": null,
            "disableAt": null,
            "forced": [],
        });
        Self {
            default: object(&default),
            ..Self::default()
        }
    }

    /// Reads and checks a document; `path` is where it stands, for messages.
    pub fn parse(path: &str, document: &Value, zone: &Zone) -> Result<Self> {
        let whole = must_be_object(path, document)?;
        let mut read = Self::default();
        for (name, value) in whole {
            let place = format!("{path}.{name}");
            match name.as_str() {
                "default" => {
                    read.default =
                        parameters::checked(&place, must_be_object(&place, value)?, zone)?;
                }
                "byType" => read.by_type = overrides(&place, value, zone)?,
                "byDevice" => read.by_device = overrides(&place, value, zone)?,
                _ => {
                    return Err(Error::field(
                        text::shortened(&place),
                        "there are default, byType and byDevice",
                    ));
                }
            }
        }
        Ok(read)
    }

    /// A document as it was stored. One that cannot be read counts as empty: apps at the door go on.
    pub fn stored(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_default()
    }

    /// The document as JSON, the form it is stored in.
    pub fn to_json(&self) -> Value {
        json!(self)
    }

    /// As [`Document::to_json`] for whoever may look: PINs are masked.
    pub fn masked(&self) -> Value {
        let mut shown = self.clone();
        for settings in shown.layers_mut() {
            if let Some(kept) = settings.get_mut(SUPERVISOR_PIN) {
                *kept = pin::masked(kept);
            }
        }
        shown.to_json()
    }

    /// The document as it is kept: PINs hashed, those that `before` has already as there.
    pub fn with_hashed_pins(mut self, before: &Self) -> Result<Self> {
        for (settings, before) in self.paired_layers(before) {
            if let Some(kept) = settings.get_mut(SUPERVISOR_PIN) {
                *kept = pin::hashed(kept, before.and_then(|before| before.get(SUPERVISOR_PIN)))?;
            }
        }
        Ok(self)
    }

    /// The document with the hashes of another one that was made of the same settings.
    #[must_use]
    pub fn with_pins_of(mut self, hashed: &Self) -> Self {
        for (settings, hashed) in self.paired_layers(hashed) {
            if let Some(pin) = hashed.and_then(|hashed| hashed.get(SUPERVISOR_PIN)) {
                settings.insert(SUPERVISOR_PIN.to_owned(), pin.clone());
            }
        }
        self
    }

    /// The settings of an earlier version, each with the PIN that it has in another one: what was taken out since,
    /// such as that of a lost gate, does not come back.
    #[must_use]
    pub fn with_pins_in_force(mut self, in_force: &Self) -> Self {
        for (settings, in_force) in self.paired_layers(in_force) {
            settings.remove(SUPERVISOR_PIN);
            if let Some(pin) = in_force.and_then(|in_force| in_force.get(SUPERVISOR_PIN)) {
                settings.insert(SUPERVISOR_PIN.to_owned(), pin.clone());
            }
        }
        self
    }

    fn layers_mut(&mut self) -> impl Iterator<Item = &mut Settings> {
        let others = self.by_type.values_mut().chain(self.by_device.values_mut());
        std::iter::once(&mut self.default).chain(others)
    }

    /// Settings, each with those of another document for the same.
    fn paired_layers<'a>(
        &'a mut self,
        other: &'a Self,
    ) -> impl Iterator<Item = (&'a mut Settings, Option<&'a Settings>)> {
        let types = self.by_type.iter_mut();
        let types = types.map(|(key, settings)| (settings, other.by_type.get(key)));
        let devices = self.by_device.iter_mut();
        let devices = devices.map(|(key, settings)| (settings, other.by_device.get(key)));
        std::iter::once((&mut self.default, Some(&other.default)))
            .chain(types)
            .chain(devices)
    }

    /// The settings of the device with this type and code, names in their first spelling. What the
    /// document does not name is as in [`Document::built_in`].
    pub fn effective(&self, device_type: Option<&str>, code: &str) -> Settings {
        let mut settings = Self::built_in().default;
        let of_type = device_type.and_then(|device_type| self.by_type.get(device_type));
        let of_device = self.by_device.get(code);
        let layers = [Some(&self.default), of_type, of_device];
        for layer in layers.into_iter().flatten() {
            settings.extend(layer.clone());
        }
        settings
    }

    /// The document with another one laid over it: settings, types and devices that the other names
    /// are as there; the rest stays, or goes where `prune`. A PIN that the other does not name stays, as no
    /// document that leaves the file has one.
    #[must_use]
    pub fn with(mut self, mut other: Self, prune: bool) -> Self {
        for (settings, before) in other.paired_layers(&self) {
            let kept = before.and_then(|before| before.get(SUPERVISOR_PIN));
            if let Some(kept) = kept.filter(|_| !settings.contains_key(SUPERVISOR_PIN)) {
                settings.insert(SUPERVISOR_PIN.to_owned(), kept.clone());
            }
        }
        if prune {
            return other;
        }
        self.default.extend(other.default);
        self.by_type.extend(other.by_type);
        self.by_device.extend(other.by_device);
        self
    }
}

fn overrides(path: &str, value: &Value, zone: &Zone) -> Result<BTreeMap<String, Settings>> {
    let mut read = BTreeMap::new();
    for (key, settings) in must_be_object(path, value)? {
        let place = format!("{path}.{}", text::shortened(key));
        text::check_code(&place, key)?;
        let settings = must_be_object(&place, settings)?;
        read.insert(key.clone(), parameters::checked(&place, settings, zone)?);
    }
    Ok(read)
}

fn must_be_object<'a>(path: &str, value: &'a Value) -> Result<&'a Settings> {
    value
        .as_object()
        .ok_or_else(|| Error::field(path, "must be an object"))
}

fn object(value: &Value) -> Settings {
    value.as_object().cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(document: &Value) -> Result<Document> {
        Document::parse("appConfig", document, &Zone::default())
    }

    #[test]
    fn the_nearer_setting_holds() {
        let document = parse(&json!({
            "default": {"uiMode": "light", "allowRejected": true},
            "byType": {"regoapp": {"uiMode": "dark", "forced": ["uiMode"]}},
            "byDevice": {"42": {"uiMode": "contrast"}},
        }))
        .unwrap();
        let mode = |device_type, code| document.effective(device_type, code)["uiMode"].clone();
        assert_eq!(mode(None, "7"), "light");
        assert_eq!(mode(Some("mobileapp"), "7"), "light");
        assert_eq!(mode(Some("regoapp"), "7"), "dark");
        assert_eq!(mode(Some("regoapp"), "42"), "contrast");
        let settings = document.effective(Some("regoapp"), "42");
        assert_eq!(settings["forced"], json!(["uiMode"]));
        assert_eq!(settings["allowRejected"], true);
        assert_eq!(settings["deviceHierarchy"][2], json!(["session", "door"]));
    }

    #[test]
    fn a_document_comes_back_as_it_was_stored() {
        let document = parse(&json!({"byDevice": {"a:b": {"enabledAt": 0}}})).unwrap();
        assert_eq!(Document::stored(&document.to_json().to_string()), document);
        assert_eq!(Document::stored("[]"), Document::default());
        for (given, named) in [
            (json!([]), "appConfig: must be an object"),
            (json!({"types": {}}), "appConfig.types"),
            (
                json!({"byType": {"regoapp": 1}}),
                "appConfig.byType.regoapp",
            ),
            (json!({"byType": {"": {}}}), "appConfig.byType."),
            (
                json!({"byDevice": {"42": {"forced": 1}}}),
                "appConfig.byDevice.42.forced",
            ),
        ] {
            let message = parse(&given).unwrap_err().to_string();
            assert!(message.contains(named), "{message}");
        }
    }

    #[test]
    fn what_is_not_named_stays_unless_pruned() {
        let one = parse(&json!({"default": {"a": 1, "b": 1}, "byType": {"x": {"a": 1}}})).unwrap();
        let other = parse(&json!({"default": {"b": 2}, "byType": {"y": {}}})).unwrap();
        let both = one.clone().with(other.clone(), false);
        assert_eq!(
            both.to_json(),
            json!({"default": {"a": 1, "b": 2}, "byType": {"x": {"a": 1}, "y": {}}, "byDevice": {}})
        );
        assert_eq!(one.with(other.clone(), true), other);
    }

    #[test]
    fn a_pin_is_hashed_masked_and_stays_where_another_document_does_not_name_it() {
        let none = Document::default();
        let given = json!({"default": {"supervisorPin": "471100"}, "byDevice": {"42": {"supervisorPin": "08150815", "a": 1}}});
        let kept = parse(&given).unwrap().with_hashed_pins(&none).unwrap();
        for (settings, pin) in [
            (&kept.default, "471100"),
            (&kept.by_device["42"], "08150815"),
        ] {
            assert!(
                settings[SUPERVISOR_PIN].is_object() && pin::is_of(&settings[SUPERVISOR_PIN], pin)
            );
        }
        assert_eq!(parse(&given).unwrap().with_pins_of(&kept), kept);
        // The same document again changes nothing, and what was exported takes nothing away.
        let again = parse(&given).unwrap().with_hashed_pins(&kept).unwrap();
        assert_eq!(again, kept);
        let exported = kept.masked();
        assert!(!exported.to_string().contains("hash"));
        for prune in [false, true] {
            let exported = parse(&exported).unwrap();
            assert_eq!(kept.clone().with(exported, prune), kept);
        }
        let removed = parse(&json!({"default": {"supervisorPin": null}})).unwrap();
        assert_eq!(
            kept.with(removed, false).default["supervisorPin"],
            Value::Null
        );
    }
}
