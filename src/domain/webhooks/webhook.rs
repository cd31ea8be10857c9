//! A webhook: where deliveries go, and what it subscribes to.

use crate::{
    core::{
        outgoing::{self, Reach},
        records::Expansion,
    },
    domain::{feed::expandable, interactions::list::shown},
    types::{
        Timestamp,
        error::{Error, Faults, Result},
        text::{check_code, check_text, shortened},
    },
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The longest name, in characters.
const NAME_MAX_CHARS: usize = 100;
/// The most entries of a list.
const ENTRIES_MAX: usize = 500;
/// Any type.
pub const ANY: &str = "*";

/// A change of a record that webhooks can subscribe to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// Record type, dot, action.
    pub name: &'static str,
    /// The occasions on which it is sent.
    pub about: &'static str,
}

/// Every change that webhooks can subscribe to.
#[rustfmt::skip]
pub const CHANGES: &[Change] = &[
    Change { name: "delegate.created", about: "somebody was added" },
    Change { name: "delegate.updated", about: "somebody's record was changed" },
    Change { name: "delegate.deleted", about: "a record was deleted, and can still be restored" },
    Change { name: "delegate.restored", about: "a deleted record is back" },
    Change { name: "delegate.merged", about: "a record went into another one of the same person" },
    Change { name: "delegate.erased", about: "somebody was deleted for good: forget them, too" },
    Change { name: "device.created", about: "a room, session, gate or product was added" },
    Change { name: "device.updated", about: "its record was changed" },
    Change { name: "device.deleted", about: "its record was deleted" },
    Change { name: "device.restored", about: "its deleted record is back" },
    Change { name: "event.created", about: "an event was added" },
    Change { name: "event.updated", about: "its record was changed" },
    Change { name: "event.deleted", about: "its record was deleted" },
    Change { name: "event.restored", about: "its deleted record is back" },
    Change { name: "interaction.deleted", about: "an interaction was taken back" },
    Change { name: "import.undone", about: "a whole import was taken back; what it had made is gone" },
    Change { name: "rehearsal.returned", about: "the rehearsal ended; everything is as it was before it" },
];

/// The settings of a webhook, as the file, the configuration document and the API have them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewWebhook {
    /// Unique.
    pub name: String,
    /// The address of the receiver.
    pub url: String,
    /// Types of interactions, or `*` for all.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub interactions: BTreeSet<String>,
    /// Changes of records such as `delegate.updated`; `delegate.*` or `*` for all.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub changes: BTreeSet<String>,
    /// Codes of devices that interactions must be at, or below; absent: anywhere. Codes and not ids, so that it can be set
    /// up before the devices are imported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<String>>")]
    pub devices: Option<BTreeSet<String>>,
    /// Embedded records that are sent whole: `firstDelegate`, `firstDevice` and other participants, `parent`, `owner`,
    /// `previous`.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    #[schemars(with = "Option<Vec<String>>")]
    pub expand: BTreeSet<String>,
}

/// A stored webhook without its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Webhook {
    pub id: i64,
    /// Part of the ids of its deliveries.
    pub uid: String,
    pub is: NewWebhook,
    /// The time until which the previous secret signs as well.
    pub previous_until: Option<Timestamp>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl NewWebhook {
    /// Validates the settings; `reach` says which addresses are allowed.
    pub fn check(&self, reach: Reach) -> Result<()> {
        let mut faults = Faults::default();
        faults.take(self.check_name());
        faults.take(outgoing::check_url("url", &self.url, reach));
        faults.take(self.check_events());
        faults.take(self.check_devices());
        faults.done()
    }

    fn check_name(&self) -> Result<()> {
        check_text("name", &self.name)?;
        if self.name.trim().is_empty() || self.name.chars().count() > NAME_MAX_CHARS {
            return Err(Error::field(
                "name",
                format!("must have 1 to {NAME_MAX_CHARS} characters"),
            ));
        }
        Ok(())
    }

    fn check_events(&self) -> Result<()> {
        for (field, entries) in [
            ("interactions", &self.interactions),
            ("changes", &self.changes),
        ]
        .into_iter()
        .chain(self.devices.iter().map(|codes| ("devices", codes)))
        {
            if entries.len() > ENTRIES_MAX {
                return Err(Error::field(
                    field,
                    format!("must be at most {ENTRIES_MAX}"),
                ));
            }
        }
        if let Some(wrong) = self.interactions.iter().find(|kind| !is_type(kind)) {
            return Err(Error::invalid(format!(
                "\"{}\" is no type of interaction such as check-in, or * for all",
                shortened(wrong)
            ))
            .at("interactions"));
        }
        if let Some(wrong) = self.changes.iter().find(|name| !is_change(name)) {
            return Err(Error::invalid(format!(
                "\"{}\" is none; there are {}, delegate.* for all of a delegate, or * for all",
                shortened(wrong),
                CHANGES
                    .iter()
                    .map(|change| change.name)
                    .collect::<Vec<_>>()
                    .join(", ")
            ))
            .at("changes"));
        }
        self.expansion()?;
        if self.interactions.is_empty() && self.changes.is_empty() {
            return Err(Error::field(
                "interactions",
                "choose at least one type of interaction or one change; nothing would be sent",
            ));
        }
        Ok(())
    }

    fn check_devices(&self) -> Result<()> {
        match &self.devices {
            Some(codes) if codes.is_empty() => Err(Error::field(
                "devices",
                "choose at least one device, or let it be anywhere",
            )),
            Some(codes) => codes
                .iter()
                .try_for_each(|code| check_code("devices", code)),
            None => Ok(()),
        }
    }

    /// The records within others that it sends whole.
    pub fn expansion(&self) -> Result<Expansion> {
        let names: Vec<&str> = self.expand.iter().map(String::as_str).collect();
        Expansion::parse(Some(&names.join(",")), &expandable(), || shown(None))
    }

    /// Returns whether it subscribes to interactions of this type, at some device.
    #[must_use]
    pub fn wants_interaction(&self, kind: &str) -> bool {
        self.interactions.contains(ANY) || self.interactions.contains(kind)
    }

    /// Returns whether it subscribes to a change.
    #[must_use]
    pub fn wants_change(&self, name: &str) -> bool {
        let of_type = || name.split_once('.').map(|(of, _)| format!("{of}.{ANY}"));
        self.changes.contains(ANY)
            || self.changes.contains(name)
            || of_type().is_some_and(|all| self.changes.contains(&all))
    }
}

fn is_type(text: &str) -> bool {
    let mut letters = text.bytes();
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    text == ANY
        || (text.len() <= 64
            && letters.next().is_some_and(plain)
            && letters.all(|byte| plain(byte) || byte == b'-'))
}

fn is_change(text: &str) -> bool {
    let of_type = |all: &str| {
        CHANGES
            .iter()
            .any(|change| change.name.split('.').next() == Some(all))
    };
    text == ANY
        || CHANGES.iter().any(|change| change.name == text)
        || text.strip_suffix(".*").is_some_and(of_type)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(entries: &[&str]) -> BTreeSet<String> {
        entries.iter().map(ToString::to_string).collect()
    }

    fn webhook(interactions: &[&str], changes: &[&str]) -> NewWebhook {
        NewWebhook {
            name: "CRM".into(),
            url: "https://crm.example.org/in".into(),
            interactions: set(interactions),
            changes: set(changes),
            devices: None,
            expand: BTreeSet::new(),
        }
    }

    #[test]
    fn what_is_asked_for_is_told_and_nothing_else() {
        let some = webhook(&["check-in"], &["delegate.*", "device.created"]);
        assert!(some.wants_interaction("check-in") && !some.wants_interaction("check-out"));
        for (name, told) in [
            ("delegate.updated", true),
            ("delegate.erased", true),
            ("device.created", true),
            ("device.updated", false),
            ("event.created", false),
        ] {
            assert_eq!(some.wants_change(name), told, "{name}");
        }
        let all = webhook(&["*"], &["*"]);
        assert!(all.wants_interaction("my-own") && all.wants_change("rehearsal.returned"));
    }

    #[test]
    fn what_cannot_be_is_refused_by_name() {
        let fine = webhook(&["check-in", "*"], &["delegate.*", "interaction.deleted"]);
        fine.check(Reach::Network).unwrap();
        let of = |change: fn(&mut NewWebhook)| {
            let mut wrong = fine.clone();
            change(&mut wrong);
            wrong.check(Reach::Network).unwrap_err().to_string()
        };
        assert!(of(|it| it.name = " ".into()).starts_with("name"));
        assert!(of(|it| it.name = "x".repeat(101)).starts_with("name"));
        assert!(of(|it| it.url = "crm".into()).starts_with("url"));
        assert!(of(|it| it.url = "http://127.0.0.1/".into()).starts_with("url"));
        assert!(of(|it| it.interactions = set(&["Check In"])).starts_with("interactions"));
        assert!(of(|it| it.changes = set(&["delegate.eaten"])).starts_with("changes"));
        assert!(of(|it| it.changes = set(&["user.*"])).starts_with("changes"));
        assert!(of(|it| it.expand = set(&["children"])).starts_with("expand"));
        assert!(of(|it| it.devices = Some(BTreeSet::new())).starts_with("devices"));
        assert!(of(|it| it.devices = Some(set(&[""]))).starts_with("devices"));
        let nothing = |it: &mut NewWebhook| {
            it.interactions.clear();
            it.changes.clear();
        };
        assert!(of(nothing).contains("nothing would be sent"));
    }
}
