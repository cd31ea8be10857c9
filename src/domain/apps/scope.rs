//! The scopes of app settings: all apps, a type or a device; and what differs between two documents.

use super::{
    Document, Settings,
    configuration::{self, Draft, Published},
    parameters::label,
    values::Words,
};
use crate::{
    core::texts::{say, tx},
    domain::devices,
    types::error::Result,
};
use rusqlite::Connection;
use std::collections::BTreeSet;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    All,
    /// The devices of a type.
    Type(String),
    /// The device with a code.
    Device(String),
}

impl Scope {
    #[must_use]
    pub fn kind(&self) -> &str {
        match self {
            Self::Type(kind) => kind,
            _ => "",
        }
    }

    #[must_use]
    pub fn code(&self) -> &str {
        match self {
            Self::Device(code) => code,
            _ => "",
        }
    }

    /// The settings that a document has for it.
    #[must_use]
    pub fn settings(&self, document: &Document) -> Settings {
        let own = match self {
            Self::All => Some(&document.default),
            Self::Type(kind) => document.by_type.get(kind),
            Self::Device(code) => document.by_device.get(code),
        };
        own.cloned().unwrap_or_default()
    }

    /// Replaces the settings that a document has for it.
    pub fn put(&self, document: &mut Document, settings: Settings) {
        let (overrides, key) = match self {
            Self::All => {
                document.default = settings;
                return;
            }
            Self::Type(kind) => (&mut document.by_type, kind),
            Self::Device(code) => (&mut document.by_device, code),
        };
        if settings.is_empty() {
            overrides.remove(key);
        } else {
            overrides.insert(key.clone(), settings);
        }
    }

    /// The settings that hold where it has none of its own.
    pub fn base(&self, connection: &Connection, document: &Document) -> Result<Settings> {
        let mut above = document.clone();
        above.by_device.clear();
        match self {
            Self::All => return Ok(Document::built_in().default),
            Self::Type(_) => above.by_type.clear(),
            Self::Device(_) => {}
        }
        let device = devices::with_code(connection, self.code())?;
        let kind = device.map(|device| device.kind);
        let kind = kind.filter(|kind| !kind.is_empty());
        Ok(above.effective(kind.as_deref(), self.code()))
    }

    /// The name of the scope in the console, in the language of the page.
    pub fn name(&self, connection: &Connection) -> Result<String> {
        Ok(match self {
            Self::All => say("All apps"),
            Self::Type(kind) => tx("configuration-devices-of-the-type")
                .with("kind", say(kind))
                .to_string(),
            Self::Device(code) => match devices::with_code(connection, code)? {
                Some(device) => device.name,
                None => tx("configuration-the-device-with-the-code")
                    .with("code", code)
                    .to_string(),
            },
        })
    }
}

/// The version in force, and the draft of the next one.
pub struct Current {
    pub published: Published,
    pub draft: Option<Draft>,
}

impl Current {
    pub fn read(connection: &Connection) -> Result<Self> {
        Ok(Self {
            published: configuration::published(connection)?,
            draft: configuration::draft(connection)?,
        })
    }

    /// The document that is edited.
    #[must_use]
    pub fn document(&self) -> &Document {
        match &self.draft {
            Some(draft) => &draft.document,
            None => &self.published.document,
        }
    }

    /// A mark of this state, to tell whether it is still the same.
    #[must_use]
    pub fn mark(&self) -> String {
        let draft = self.draft.as_ref().map_or(0, |draft| draft.updated_at.0);
        format!("{}-{draft}", self.published.version)
    }
}

/// A setting that differs, with its values in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    pub scope: Scope,
    pub label: String,
    pub before: String,
    pub after: String,
}

#[must_use]
pub fn differences(before: &Document, after: &Document, words: &Words<'_>) -> Vec<Changed> {
    let kinds = before.by_type.keys().chain(after.by_type.keys());
    let kinds = kinds.collect::<BTreeSet<_>>().into_iter();
    let codes = before.by_device.keys().chain(after.by_device.keys());
    let codes = codes.collect::<BTreeSet<_>>().into_iter();
    let scopes = std::iter::once(Scope::All)
        .chain(kinds.cloned().map(Scope::Type))
        .chain(codes.cloned().map(Scope::Device));
    scopes
        .flat_map(|scope| compare(&scope, before, after, words))
        .collect()
}

fn compare(scope: &Scope, before: &Document, after: &Document, words: &Words<'_>) -> Vec<Changed> {
    let unset = match scope {
        Scope::All => Document::built_in().default,
        _ => Settings::new(),
    };
    let (before, after) = (scope.settings(before), scope.settings(after));
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let mut changed = Vec::new();
    for name in names {
        let value = |settings: &Settings| settings.get(name).or_else(|| unset.get(name)).cloned();
        let (was, is) = (value(&before), value(&after));
        if was == is {
            continue;
        }
        let text = |value: Option<_>| match value {
            Some(value) => words.say(name, &value),
            None if *scope == Scope::All => say("not set"),
            None => say("as for all apps"),
        };
        let (before, mut after) = (text(was), text(is));
        if before == after {
            // A PIN is not shown.
            after = tx("configuration-value-anew")
                .with("value", after)
                .to_string();
        }
        changed.push(Changed {
            scope: scope.clone(),
            label: say(label(name)),
            before,
            after,
        });
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{domain::devices::Offer, types::Zone};
    use serde_json::{Value, json};

    #[test]
    fn differences_are_shown_in_words() {
        let zone = Zone::named("Europe/Berlin").unwrap();
        let parse = |document: Value| Document::parse("appConfig", &document, &zone).unwrap();
        let before = Document::built_in();
        let places = [Offer {
            id: 5,
            code: "hall".to_owned(),
            name: "Great Hall".to_owned(),
            kind: String::new(),
        }];
        let words = Words {
            zone: &zone,
            places: &places,
        };
        let after = parse(json!({
            "default": {"enableAt": "2026-11-21 09:00:00", "uiMode": "dark", "forced": ["allowRejected"]},
            "byType": {"regoapp": {"availableFeatures": []}},
            "byDevice": {"42": {
                "deviceHierarchy": [["event"], ["location", "room"]], "place": "code:hall",
                "places": ["code:hall", "id:7"], "offlinePolicy": "hold", "supervisorPin": "471100",
            }},
        }));
        let told: Vec<_> = differences(&before, &after, &words)
            .into_iter()
            .map(|it| format!("{}: {} → {}", it.label, it.before, it.after))
            .collect();
        assert_eq!(
            told,
            [
                "Works from: at any time → 2026-11-21 09:00:00",
                "Locked in the app: nothing → Admit refused attendees",
                "uiMode: not set → dark",
                "Features: as for all apps → nothing",
                "Ranks of places: as for all apps → event › location or room",
                "While offline: as for all apps → Nobody until the server answers",
                "Place: as for all apps → Great Hall",
                "Places to choose from: as for all apps → Great Hall, id:7",
                "Supervisor PIN: as for all apps → set",
            ]
        );
        assert!(differences(&after, &after, &words).is_empty());
        let mut other = after.clone();
        other.by_device.get_mut("42").unwrap()["supervisorPin"] = json!("471101");
        assert_eq!(differences(&after, &other, &words)[0].after, "set anew");
    }
}
