//! Trying a template: what it says for a delegate, a test to an address of one's own, and the message
//! itself to that delegate.

use crate::{
    admin::RequestContext,
    core::settings::Settings,
    domain::{
        delegates,
        messages::{
            Channel, address,
            compose::{self, Composed, Recipient},
            outbox::{self, Begin, NewMessage},
            send::{self, How, Message},
            templates::{self, Entry},
        },
    },
    types::{
        DelegateSelector, Timestamp,
        error::{Error, Result},
    },
};
use askama::Template;
use rusqlite::Connection;
use serde_json::{Value, json};

/// A template rendered for an attendee.
#[derive(Template)]
#[template(path = "messages/tried.html")]
pub(super) struct Tried {
    /// For whom, by name.
    who: String,
    /// What it says.
    pub(super) composed: Composed,
    /// What would keep it from them.
    hindrance: Option<String>,
    /// Letters of a text, and the parts that it is sent in.
    parts: Option<(usize, usize)>,
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

fn name(record: &Value) -> String {
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

/// What an automation's template sees beside the delegate.
fn happening(settings: &Settings) -> Value {
    json!({
        "id": 1, "interactionType": "check-in", "firstDevice": 1,
        "recordedAt": settings.zone.iso(Timestamp::now()), "data": {},
    })
}

/// What the template, as it is typed, says for the delegate that the form names.
pub(super) async fn preview(request: &RequestContext, entry: &Entry) -> Result<Tried> {
    let mut entry = entry.clone();
    if entry.slug.is_empty() {
        // Whoever looks has not named it yet.
        entry.slug = "new".into();
    }
    entry.check()?;
    let channel = entry.channel()?;
    let (said, settings) = (
        request.form.text("delegate").to_owned(),
        request.console.settings(),
    );
    request
        .read(move |connection| {
            let (record, hindrance) = if said.is_empty() {
                (somebody(), None)
            } else {
                let recipient = recipient(connection, &settings, &said)?;
                let reached = recipient.addresses(channel, &settings);
                (recipient.record, reached.err().map(|cause| cause.message))
            };
            let about = happening(&settings);
            entry.check_parts()?;
            let composed =
                compose::compose(&entry, &record, Some(&about), &settings, Timestamp::now())?;
            Ok(Tried {
                who: name(&record),
                hindrance,
                parts: (channel == Channel::Sms).then(|| parts(&composed.body)),
                composed,
            })
        })
        .await
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

/// Puts a test into the outbox: as it is typed, for the delegate that the form names, to the address
/// beside. Its id.
pub(super) async fn test(request: &RequestContext, entry: &Entry) -> Result<i64> {
    let channel = entry.channel()?;
    let address = checked(request, channel, request.form.text("address"))?;
    let tried = preview(request, entry).await?;
    let composed = tried.composed;
    put(request, channel, address, composed).await
}

/// An address that a test can go to.
pub(super) fn checked(request: &RequestContext, channel: Channel, said: &str) -> Result<String> {
    let settings = request.console.settings();
    match channel {
        Channel::Email => Ok(address::email(said)?.to_string()),
        Channel::Sms => address::phone(said, settings.communications.country_code.as_deref()),
        Channel::Push => address::push_tokens(&json!({"Data": {"pushTokens": [said]}}))
            .pop()
            .ok_or_else(|| Error::invalid("there is no push token for the test")),
    }
}

/// Puts a test into the outbox; its id.
pub(super) async fn put(
    request: &RequestContext,
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
    request
        .write(move |tx, _| outbox::insert(tx, &new, &Begin::Waiting))
        .await
}

/// Sends a stored template to the delegate that the form names; the message, the first of several.
pub(super) async fn send(request: &RequestContext, template: Option<i64>) -> Result<i64> {
    let said = request.form.text("delegate").to_owned();
    let id = template.ok_or_else(|| Error::invalid("save the template before it is sent"))?;
    if said.is_empty() {
        return Err(Error::invalid(
            "name the attendee that it goes to: an id, or a code such as barcode:TLH26-0001",
        ));
    }
    let settings = request.console.settings();
    let work = move |connection: &Connection| {
        let template = templates::of_id(connection, id)?
            .ok_or_else(|| Error::invalid("the template is not there any more"))?;
        let recipient = recipient(connection, &settings, &said)?;
        let message = Message {
            template: &template,
            recipient: &recipient,
            interaction: None,
            origin: "console",
        };
        send::prepare(connection, &settings, &message, Timestamp::now())
    };
    let store = &request.console.store;
    let prepared = store.read(work).await?;
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
