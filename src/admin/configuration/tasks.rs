//! The settings of apps by task: a card for each, with its values; and which settings the form of one task has.

use super::path;
use crate::core::texts::say;
use crate::domain::apps::{
    Document, Settings,
    parameters::{self, label},
    pin::SUPERVISOR_PIN,
    scope::Scope,
    values::{Words, strings},
};
use serde_json::Value;

/// A task for which somebody sets apps up.
pub(super) struct Task {
    /// Its name in addresses.
    pub key: &'static str,
    pub label: &'static str,
    pub about: &'static str,
    /// The settings that belong to it; none: those that only apps know.
    names: &'static [&'static str],
}

const fn task(
    key: &'static str,
    label: &'static str,
    about: &'static str,
    names: &'static [&'static str],
) -> Task {
    Task {
        key,
        label,
        about,
        names,
    }
}

/// Each setting belongs to one task.
pub(super) const TASKS: [Task; 9] = [
    task(
        "place",
        "Place",
        "Where gates check in, and where else they may go.",
        &["place", "places", "deviceHierarchy"],
    ),
    task(
        "refused",
        "Refused attendees",
        "What a supervisor may do at a gate, and the PIN for it.",
        &["allowRejected", SUPERVISOR_PIN],
    ),
    task(
        "walk-ins",
        "Walk-ins",
        "People without a ticket, registered at a gate.",
        &["delegateType", "walkInTypes"],
    ),
    task(
        "kiosk",
        "Kiosk",
        "Attendees check themselves in. One gate becomes a kiosk in Gates.",
        &["kiosk", "kioskLanguages", "kioskWalkIn", "kioskIdleSeconds"],
    ),
    task(
        "offline",
        "Offline",
        "Whom gates admit while the server does not answer.",
        &["offlinePolicy"],
    ),
    task(
        "features",
        "Features",
        "What apps offer.",
        &["availableFeatures"],
    ),
    task(
        "times",
        "Working hours",
        "From when until when apps work.",
        &["enableAt", "disableAt"],
    ),
    task(
        "locks",
        "Locks",
        "Settings that nobody changes in the app.",
        &["forced"],
    ),
    task(
        "further",
        "Further settings",
        "Settings that only your apps know.",
        &[],
    ),
];

impl Task {
    pub fn find(key: &str) -> Option<&'static Self> {
        TASKS.iter().find(|task| task.key == key)
    }

    /// Returns whether a setting belongs to it.
    pub fn has(&self, name: &str) -> bool {
        if self.names.is_empty() {
            parameters::parameter(name).is_none()
        } else {
            self.names.contains(&name)
        }
    }
}

/// A task with the values of its settings.
pub(super) struct Card {
    pub task: &'static Task,
    /// The form of its settings.
    pub path: String,
    pub rows: Vec<SettingRow>,
}

pub(super) struct SettingRow {
    pub label: String,
    pub value: String,
    pub is_locked: bool,
    /// Of a type or a device: set there and not for all.
    pub is_own: bool,
}

/// The form of a task's settings.
fn path_of(scope: &Scope, task: &Task) -> String {
    let path = path(scope);
    let mark = if path.contains('?') { '&' } else { '?' };
    format!("{path}{mark}task={}", task.key)
}

/// The cards of a scope; `own` counts before `base`.
pub(super) fn cards(
    scope: &Scope,
    own: &Settings,
    base: &Settings,
    words: &Words<'_>,
) -> Vec<Card> {
    let mut settings = base.clone();
    settings.extend(own.clone());
    let locked = settings.get("forced").cloned().unwrap_or_default();
    let row = |name: &str| SettingRow {
        label: say(label(name)),
        value: words.say(name, settings.get(name).unwrap_or(&Value::Null)),
        is_locked: strings(&locked).any(|locked| locked == name),
        is_own: *scope != Scope::All && own.contains_key(name),
    };
    let card = |task: &'static Task| {
        let further = settings.keys().map(String::as_str);
        let further = further.filter(|name| task.names.is_empty() && task.has(name));
        Card {
            task,
            path: path_of(scope, task),
            rows: task.names.iter().copied().chain(further).map(row).collect(),
        }
    };
    TASKS.iter().map(card).collect()
}

/// The cards of the settings of all apps.
pub(super) fn of_all(document: &Document, words: &Words<'_>) -> Vec<Card> {
    let settings = document.effective(None, "");
    cards(&Scope::All, &Settings::new(), &settings, words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::apps::parameters::PARAMETERS;

    #[test]
    fn every_setting_belongs_to_one_task() {
        for known in PARAMETERS {
            let tasks = TASKS.iter().filter(|task| task.has(known.name)).count();
            assert_eq!(tasks, 1, "{}", known.name);
        }
        let further: Vec<_> = TASKS.iter().filter(|task| task.has("uiMode")).collect();
        assert_eq!((further.len(), further[0].key), (1, "further"));
    }
}
