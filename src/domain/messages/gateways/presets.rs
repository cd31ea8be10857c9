//! Providers of texts whose settings are known: chosen in the console, and filled in from there.

use super::{Channel, Definition, Fcm, Security, Smtp, http::Http};
use std::{collections::BTreeMap, sync::LazyLock};

#[derive(Debug, serde::Deserialize)]
pub struct Preset {
    pub name: &'static str,
    pub label: &'static str,
    /// The provider's word for the user; empty where it needs none.
    pub user: &'static str,
    pub secret: &'static str,
    http: Http,
}

pub static PRESETS: LazyLock<Vec<Preset>> =
    LazyLock::new(|| serde_json::from_str(include_str!("presets.json")).unwrap_or_default());

impl Preset {
    pub fn named(name: &str) -> Option<&'static Self> {
        PRESETS.iter().find(|preset| preset.name == name)
    }

    /// The settings that it stands for.
    pub fn http(&self) -> Http {
        self.http.clone()
    }
}

/// The definition that a form begins with.
#[must_use]
pub fn blank(channel: Channel) -> Definition {
    match channel {
        Channel::Email => Definition::Smtp(Smtp {
            host: String::new(),
            port: 587,
            security: Security::Starttls,
            user: None,
            from: String::new(),
            reply_to: None,
            certificate: None,
        }),
        Channel::Sms => Definition::Http(PRESETS[0].http()),
        Channel::Push => Definition::Fcm(Fcm::default()),
    }
}

/// The definition of a preset, or of a kind of service.
#[must_use]
pub fn filled_in(channel: Channel, fill: &str) -> Option<Definition> {
    let own = |body: &str| {
        let authorization = "Bearer {{ secret }}".to_owned();
        Definition::Http(Http {
            preset: None,
            method: "POST".into(),
            url: "https://".into(),
            headers: BTreeMap::from([("Authorization".to_owned(), authorization)]),
            content_type: "application/json".into(),
            body: body.into(),
            user: None,
            from: None,
            success: None,
        })
    };
    match (channel, fill) {
        (Channel::Sms, "own") => Some(own(r#"{"to": "{{ to }}", "text": "{{ text }}"}"#)),
        (Channel::Sms, name) => Preset::named(name).map(|preset| Definition::Http(preset.http())),
        (Channel::Push, "http") => Some(own(
            r#"{"token": "{{ to }}", "title": "{{ title }}", "body": "{{ text }}"}"#,
        )),
        (Channel::Push, "fcm") => Some(Definition::Fcm(Fcm::default())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::outgoing::Reach;

    #[test]
    fn every_preset_can_be_used_as_it_is() {
        assert_eq!(PRESETS.len(), 4);
        for preset in &*PRESETS {
            preset.http().check(Reach::Network).unwrap();
            assert_eq!(
                Preset::named(preset.name).map(|found| found.label),
                Some(preset.label)
            );
        }
    }
}
