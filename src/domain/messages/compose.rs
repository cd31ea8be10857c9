//! The text of a message to a delegate: its template, over the record as it is now.

use super::{
    Channel, address, pictures,
    templates::{Entry, TICKET_QR, TICKET_URL},
};
use crate::{
    core::{
        records::Selection,
        settings::Settings,
        template::{self, Format},
    },
    domain::{delegates::RESOURCE, tickets},
    types::{
        DelegateId, Timestamp,
        error::{Error, Result},
    },
};
use rusqlite::Connection;
use serde_json::{Value, json};

/// The longest text to a phone, in characters: ten parts of a long one.
const SMS_MAX_CHARS: usize = 1_530;
/// The longest subject or title, in characters.
const SUBJECT_MAX_CHARS: usize = 250;
/// The longest push message, in bytes: FCM takes 4,096 with all that is around it.
const PUSH_MAX_BYTES: usize = 3_000;

/// The text of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Composed {
    pub subject: Option<String>,
    pub body: String,
    pub html: Option<String>,
}

#[derive(Debug, Clone)]
pub struct Recipient {
    pub id: DelegateId,
    pub record: Value,
}

impl Recipient {
    /// The living delegate of an id.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::DelegateNotFound`].
    pub fn find(connection: &Connection, settings: &Settings, id: DelegateId) -> Result<Self> {
        let json = Selection::own(&RESOURCE)
            .one(connection, "id", &id, &settings.zone)?
            .ok_or_else(|| RESOURCE.missing(&id))?;
        Ok(Self {
            id,
            record: serde_json::from_str(&json).map_err(Error::defect)?,
        })
    }

    /// The addresses of a message of this channel: one, or every app of theirs.
    pub fn addresses(&self, channel: Channel, settings: &Settings) -> Result<Vec<String>> {
        let text = |name: &str| self.record[name].as_str().unwrap_or_default();
        match channel {
            Channel::Email => Ok(vec![address::email(text("email"))?.to_string()]),
            Channel::Sms => {
                let country = settings.communications.country_code.as_deref();
                Ok(vec![address::phone(text("phone"), country)?])
            }
            Channel::Push => {
                let tokens = address::push_tokens(&self.record["data"]);
                if tokens.is_empty() {
                    return Err(Error::invalid(
                        "no app of theirs is registered for push messages",
                    ));
                }
                Ok(tokens)
            }
        }
    }

    /// Returns whether there is anything at all that a message of this channel could go to.
    pub fn has_address(&self, channel: Channel) -> bool {
        match channel {
            Channel::Email => self.record["email"].is_string(),
            Channel::Sms => self.record["phone"].is_string(),
            Channel::Push => !address::push_tokens(&self.record["data"]).is_empty(),
        }
    }
}

/// The ticket of a recipient, as templates see it.
#[derive(Debug, Clone, Default)]
pub struct Ticket {
    pub url: Option<String>,
    /// The text of the QR code; `None` if the code was blocked.
    pub code: Option<String>,
}

impl Ticket {
    pub fn of(connection: &Connection, settings: &Settings, id: DelegateId) -> Result<Self> {
        Ok(Self {
            url: tickets::url(connection, settings, id)?,
            code: tickets::find(connection, settings, id)?
                .and_then(|ticket| ticket.signed.or(ticket.code)),
        })
    }
}

/// Renders a template for a recipient; `about` is what it is about, by the name that templates know it by.
pub fn compose(
    entry: &Entry,
    (recipient, ticket): (&Value, &Ticket),
    about: Option<(&'static str, &Value)>,
    settings: &Settings,
    now: Timestamp,
) -> Result<Composed> {
    let channel = entry.channel()?;
    let of_settings = json!({"name": settings.name()});
    let now = json!(settings.zone.iso(now));
    let mut composed = Composed {
        subject: None,
        body: String::new(),
        html: None,
    };
    for (name, source, format) in entry.parts() {
        let fault = |fault| Error::field(name, fault);
        let mut values = vec![
            ("delegate", template::value(recipient)),
            ("settings", template::value(&of_settings)),
            ("now", template::value(&now)),
        ];
        values.extend(about.map(|(name, about)| (name, template::value(about))));
        if let Some(url) = &ticket.url {
            values.push((TICKET_URL, url.as_str().into()));
        }
        if let Some(code) = ticket.code.as_ref().filter(|_| format == Format::Html) {
            values.push((TICKET_QR, pictures::address(code).into()));
        }
        let text = template::render(source, format, values).map_err(fault)?;
        match name {
            "subject" => composed.subject = Some(one_line(&text)),
            "html" => composed.html = Some(text),
            _ => text.trim().clone_into(&mut composed.body),
        }
    }
    check(channel, &composed)?;
    Ok(composed)
}

/// A subject has one line, whatever the record's texts have.
fn one_line(text: &str) -> String {
    let words: String = text
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect();
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn check(channel: Channel, composed: &Composed) -> Result<()> {
    if composed.body.is_empty() {
        return Err(Error::field("content", "empty for this recipient"));
    }
    if let Some(subject) = &composed.subject
        && subject.chars().count() > SUBJECT_MAX_CHARS
    {
        return Err(Error::field(
            "subject",
            format!("is longer than {SUBJECT_MAX_CHARS} characters for them"),
        ));
    }
    if channel == Channel::Email && composed.subject.as_deref() == Some("") {
        return Err(Error::field("subject", "is empty for them"));
    }
    if channel == Channel::Sms && composed.body.chars().count() > SMS_MAX_CHARS {
        return Err(Error::field(
            "content",
            format!("is longer than {SMS_MAX_CHARS} characters for them"),
        ));
    }
    if channel == Channel::Push && composed.body.len() > PUSH_MAX_BYTES {
        return Err(Error::field(
            "content",
            format!("is longer than {PUSH_MAX_BYTES} bytes for them"),
        ));
    }
    Ok(())
}
