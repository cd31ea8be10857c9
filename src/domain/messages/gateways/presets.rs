//! Providers of texts whose settings are known: chosen in the console, and filled in from there.

use super::{
    Channel, Definition, Fcm, Security, Smtp,
    http::{Http, Success},
};
use std::collections::BTreeMap;

/// A provider.
#[derive(Debug)]
pub struct Preset {
    /// Its name in `preset`.
    pub name: &'static str,
    /// What it is called.
    pub label: &'static str,
    /// What its user is; empty where it needs none.
    pub user: &'static str,
    /// What its secret is.
    pub secret: &'static str,
    method: &'static str,
    url: &'static str,
    headers: &'static [(&'static str, &'static str)],
    content_type: &'static str,
    body: &'static str,
    success: Option<(&'static str, &'static str)>,
}

/// Every preset.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "twilio",
        label: "Twilio",
        user: "Account SID",
        secret: "Auth token",
        method: "POST",
        url: "https://api.twilio.com/2010-04-01/Accounts/{{ user }}/Messages.json",
        headers: &[("Authorization", "Basic {{ basic }}")],
        content_type: "application/x-www-form-urlencoded",
        body: "To={{ to }}&From={{ from }}&Body={{ text }}",
        success: None,
    },
    Preset {
        name: "vonage",
        label: "Vonage",
        user: "API key",
        secret: "API secret",
        method: "POST",
        url: "https://rest.nexmo.com/sms/json",
        headers: &[],
        content_type: "application/json",
        body: r#"{"api_key": "{{ user }}", "api_secret": "{{ secret }}", "from": "{{ from }}", "to": "{{ digits }}", "text": "{{ text }}", "type": "unicode"}"#,
        // It answers 200 whatever happened.
        success: Some(("messages.0.status", "0")),
    },
    Preset {
        name: "messagebird",
        label: "MessageBird",
        user: "",
        secret: "Access key",
        method: "POST",
        url: "https://rest.messagebird.com/messages",
        headers: &[("Authorization", "AccessKey {{ secret }}")],
        content_type: "application/json",
        body: r#"{"originator": "{{ from }}", "recipients": ["{{ digits }}"], "body": "{{ text }}", "datacoding": "auto"}"#,
        success: None,
    },
    Preset {
        name: "seven",
        label: "seven.io",
        user: "",
        secret: "API key",
        method: "POST",
        url: "https://gateway.seven.io/api/sms",
        headers: &[
            ("X-Api-Key", "{{ secret }}"),
            ("Accept", "application/json"),
        ],
        content_type: "application/json",
        body: r#"{"to": "{{ to }}", "from": "{{ from }}", "text": "{{ text }}"}"#,
        success: Some(("success", "100")),
    },
];

impl Preset {
    /// The preset of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        PRESETS.iter().find(|preset| preset.name == name)
    }

    /// The settings that it stands for.
    #[must_use]
    pub fn http(&self) -> Http {
        let headers = self.headers.iter();
        Http {
            preset: Some(self.name.to_owned()),
            method: self.method.to_owned(),
            url: self.url.to_owned(),
            headers: headers
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect::<BTreeMap<_, _>>(),
            content_type: self.content_type.to_owned(),
            body: self.body.to_owned(),
            user: None,
            from: None,
            success: self.success.map(|(path, equals)| Success {
                path: path.to_owned(),
                equals: equals.to_owned(),
            }),
        }
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
        for preset in PRESETS {
            preset.http().check(Reach::Network).unwrap();
            assert_eq!(
                Preset::named(preset.name).map(|found| found.label),
                Some(preset.label)
            );
        }
    }
}
