//! Templates as an attendee would get them, before anything is sent.

use super::{
    Channel, address,
    compose::{self, Composed, Recipient, Ticket},
    pictures,
    send::{self, How, Message},
    stored::{self, Begin, NewMessage},
    templates::{self, CERTIFICATE, Entry},
};
use crate::{
    core::settings::Settings,
    db::{Store, Tx},
    domain::{certificates, delegates, tickets},
    types::{
        DelegateSelector, Timestamp,
        error::{Error, Result},
    },
};
use rusqlite::Connection;
use serde_json::{Value, json};

/// A template rendered for an attendee.
#[derive(Debug)]
pub struct Preview {
    /// The attendee's name.
    pub who: String,
    pub composed: Composed,
    /// The HTML as a browser shows it by itself.
    pub page: Option<String>,
    /// Addresses of its pictures, which hold them.
    pub pictures: Vec<String>,
    /// The reason why the message could not reach the attendee.
    pub hindrance: Option<String>,
    /// Letters of a text, and the parts that it is sent in.
    pub parts: Option<(usize, usize)>,
}

/// The delegate that a form names: by id, or by a code such as `barcode:…`.
fn recipient(connection: &Connection, settings: &Settings, said: &str) -> Result<Recipient> {
    let selector = if said.contains(':') {
        said.to_owned()
    } else {
        format!("id:{said}")
    };
    let id = delegates::find(connection, &DelegateSelector::parse(&selector)?)?;
    Recipient::find(connection, settings, id)
}

fn called(record: &Value) -> String {
    let text = |name: &str| record[name].as_str().unwrap_or_default();
    let full = format!("{} {}", text("firstName"), text("lastName"));
    match full.trim() {
        "" => format!("attendee {}", record["id"]),
        full => full.to_owned(),
    }
}

/// Somebody invented, for whoever names nobody.
fn somebody() -> Value {
    json!({
        "id": 7, "_type": "delegate", "firstName": "Ada", "lastName": "Lovelace", "company": "Analytical Engines",
        "email": "ada@example.org", "phone": "+49 40 123456", "barcode": "TLH26-0001", "delegateType": "visitor",
    })
}

/// The ticket of somebody invented: its page is no attendee's.
fn ticket_of_somebody(connection: &Connection, settings: &Settings) -> Result<Ticket> {
    let pages = tickets::Pages::find(connection, settings)?;
    let code = somebody()["barcode"].as_str().map(ToOwned::to_owned);
    Ok(Ticket {
        url: pages.map(|pages| pages.url(tickets::TRIAL)),
        code,
    })
}

/// The values that a template of an automation sees beside the delegate, or that of a certificate.
fn happening(settings: &Settings, entry: &Entry) -> (&'static str, Value) {
    if entry.is_of_certificates() {
        return (CERTIFICATE, certificates::sample());
    }
    let interaction = json!({
        "id": 1, "interactionType": "check-in", "firstDevice": 1,
        "recordedAt": settings.zone.iso(Timestamp::now()), "data": {},
    });
    ("interaction", interaction)
}

/// Renders a template for an attendee, named by id or by a code such as `barcode:…`; without one, for an invented
/// attendee.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`], naming what is wrong with the template.
pub fn preview(
    connection: &Connection,
    settings: &Settings,
    entry: &Entry,
    attendee: &str,
) -> Result<Preview> {
    let mut entry = entry.clone();
    if entry.slug.is_empty() {
        // It has no name yet.
        entry.slug = "new".into();
    }
    entry.check()?;
    let channel = entry.channel()?;
    let (record, ticket, hindrance) = if attendee.is_empty() {
        (somebody(), ticket_of_somebody(connection, settings)?, None)
    } else {
        let recipient = recipient(connection, settings, attendee)?;
        let reached = recipient.addresses(channel, settings);
        (
            recipient.record,
            Ticket::of(connection, settings, recipient.id)?,
            reached.err().map(|cause| cause.to_string()),
        )
    };
    let (name, about) = happening(settings, &entry);
    let (to, about) = ((&record, &ticket), Some((name, &about)));
    let composed = compose::compose(&entry, to, about, settings, Timestamp::now())?;
    let html = composed.html.as_deref();
    let pictures = pictures::of(html.unwrap_or_default()).into_iter();
    Ok(Preview {
        page: html.map(pictures::shown).transpose()?,
        pictures: pictures.map(|it| it.data_url()).collect::<Result<_>>()?,
        who: called(&record),
        hindrance,
        parts: (channel == Channel::Sms).then(|| parts(&composed.body)),
        composed,
    })
}

/// The letters of a text, and how many parts a phone gets it in.
fn parts(text: &str) -> (usize, usize) {
    // Letters outside of the old alphabet of phones make all of them take twice the room.
    let plain = text
        .chars()
        .all(|letter| letter.is_ascii() || "äöüÄÖÜßàèéùìòÇØøÅåñÑ£¥§¿¡€".contains(letter));
    let (single, several) = if plain { (160, 153) } else { (70, 67) };
    let letters = text.chars().count();
    let parts = if letters <= single {
        1
    } else {
        letters.div_ceil(several)
    };
    (letters, parts)
}

/// An address that a test can be sent to.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`] for anything else.
pub fn test_address(settings: &Settings, channel: Channel, text: &str) -> Result<String> {
    match channel {
        Channel::Email => Ok(address::email(text)?.to_string()),
        Channel::Sms => address::phone(text, settings.communications.country_code.as_deref()),
        Channel::Push => address::push_tokens(&json!({"Data": {"pushTokens": [text]}}))
            .pop()
            .ok_or_else(|| Error::invalid("there is no push token for the test")),
    }
}

/// Puts a test into the outbox; its id.
pub fn send_test(
    tx: &Tx<'_>,
    channel: Channel,
    address: String,
    composed: Composed,
) -> Result<i64> {
    let new = NewMessage {
        delegate: None,
        channel,
        template: None,
        address,
        subject: composed.subject,
        body: composed.body,
        html: composed.html,
        secret: false,
        origin: "test".into(),
    };
    stored::insert(tx, &new, &Begin::Waiting)
}

/// Sends a stored template to an attendee, named as in [`preview`]; the message, the first of several.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`] without such a template or attendee.
pub async fn send_to(store: &Store, settings: &Settings, id: i64, attendee: &str) -> Result<i64> {
    if attendee.is_empty() {
        return Err(Error::field(
            "delegate",
            "name the attendee: an id, or a code such as barcode:TLH26-0001",
        ));
    }
    let prepared = store.look_up(|connection| {
        let template = templates::of_id(connection, id)?
            .ok_or_else(|| Error::invalid("the template was removed"))?;
        let recipient = recipient(connection, settings, attendee)?;
        let message = Message {
            template: &template,
            recipient: &recipient,
            about: None,
            origin: "console",
        };
        send::prepare(connection, settings, &message, Timestamp::now())
    })?;
    let put = store
        .write(move |tx| send::put(tx, &prepared, How::Soon))
        .await?;
    let first = put.first().ok_or_else(|| Error::defect("no message"))?;
    Ok(first.0)
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn a_text_is_counted_as_phones_count_it() {
        for (text, counted) in [
            ("a".repeat(160), (160, 1)),
            ("a".repeat(161), (161, 2)),
            ("ü".repeat(160), (160, 1)),
            ("ł".repeat(70), (70, 1)),
            ("ł".repeat(71), (71, 2)),
            ("a".repeat(307), (307, 3)),
        ] {
            assert_eq!(parts(&text), counted);
        }
    }
}
