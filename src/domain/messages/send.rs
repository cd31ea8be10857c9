//! Messages to a delegate, by a template: put into the outbox, or, for `send-comm`, sent within the
//! call (spec: send-comm; contract §8).

use super::{
    Channel,
    compose::{self, Recipient, Ticket},
    deliver::Messages,
    gateways,
    stored::{self, Begin, NewMessage, SendOutcome},
    templates::{self, Template},
};
use crate::{
    core::{Context, settings::Settings},
    db::Tx,
    domain::delegates,
    identity::App,
    types::{
        DelegateId, DelegateSelector, Timestamp,
        error::{Error, Kind, Result},
    },
};
use rusqlite::Connection;
use schemars::JsonSchema;
use serde_json::{Value, json};

#[derive(Debug, Clone)]
pub struct Message<'a> {
    pub template: &'a Template,
    pub recipient: &'a Recipient,
    /// The cause that templates see: its name there, and its values.
    pub about: Option<(&'static str, &'a Value)>,
    pub origin: &'a str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// The caller makes the attempt, and waits for it.
    Now,
    Soon,
}

/// A message that was worked out, to be put into the outbox: one for each address.
#[derive(Debug, Clone)]
pub struct Prepared {
    messages: Vec<NewMessage>,
    hindrance: Option<String>,
}

impl Prepared {
    /// The reason why it cannot be sent.
    pub fn hindrance(&self) -> Option<&str> {
        self.hindrance.as_deref()
    }
}

/// Works a message out: what it says, and where it goes. Templates take their time, so this is done
/// beside the writer.
pub fn prepare(
    connection: &Connection,
    settings: &Settings,
    message: &Message<'_>,
    now: Timestamp,
) -> Result<Prepared> {
    let channel = message.template.entry.channel()?;
    let mut new = NewMessage {
        delegate: Some(message.recipient.id),
        channel,
        template: Some(message.template.entry.slug.clone()),
        address: String::new(),
        subject: None,
        body: String::new(),
        html: None,
        secret: false,
        origin: message.origin.to_owned(),
    };
    match fill(connection, settings, message, now, &mut new) {
        Ok(addresses) => {
            let to = |address| NewMessage {
                address,
                ..new.clone()
            };
            Ok(Prepared {
                messages: addresses.into_iter().map(to).collect(),
                hindrance: None,
            })
        }
        Err(cause) if cause.kind == Kind::Invalid => Ok(Prepared {
            messages: vec![new],
            hindrance: Some(cause.to_string()),
        }),
        Err(cause) => Err(cause),
    }
}

/// Fills a message in; where it goes.
fn fill(
    connection: &Connection,
    settings: &Settings,
    message: &Message<'_>,
    now: Timestamp,
    new: &mut NewMessage,
) -> Result<Vec<String>> {
    let channel = new.channel;
    let record = &message.recipient.record;
    let entry = &message.template.entry;
    let ticket = Ticket::of(connection, settings, message.recipient.id)?;
    let composed = compose::compose(entry, (record, &ticket), message.about, settings, now)?;
    new.subject = composed.subject;
    new.body = composed.body;
    new.html = composed.html;
    if !gateways::allowed(&settings.communications, channel) {
        return Err(Error::invalid(format!(
            "{}s to delegates are switched off in the settings",
            channel.noun()
        )));
    }
    let addresses = message.recipient.addresses(channel, settings)?;
    if let Some(first) = addresses.first() {
        new.address.clone_from(first);
    }
    if gateways::find(connection, channel)?.is_none() {
        return Err(Error::invalid(format!(
            "there is no gateway for {}s yet",
            channel.noun()
        )));
    }
    Ok(addresses)
}

/// Puts a message into the outbox: for each address its id and whether it can be sent. One that cannot
/// stands there as failed, with the reason.
///
/// # Errors
/// [`Kind::DelegateNotFound`] when its delegate was deleted meanwhile; when it cannot be written.
pub fn put(tx: &Tx<'_>, prepared: &Prepared, how: How) -> Result<Vec<(i64, bool)>> {
    let begin = match (&prepared.hindrance, how) {
        (Some(why), _) => Begin::Failed(why.clone()),
        (None, How::Now) => Begin::Sending,
        (None, How::Soon) => Begin::Waiting,
    };
    let can_be_sent = prepared.hindrance.is_none();
    prepared
        .messages
        .iter()
        .map(|new| {
            if let Some(delegate) = new.delegate {
                delegates::find(tx, &DelegateSelector::Id(delegate))?;
            }
            Ok((stored::insert(tx, new, &begin)?, can_be_sent))
        })
        .collect()
}

/// A text, an e-mail, or both.
#[derive(serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({"sms_code": "order-cleared", "delegate_id": 7}))]
pub struct SendCommInput {
    /// The slug of a text's template.
    pub sms_code: Option<String>,
    /// The id of an e-mail's template.
    #[schemars(range(min = 1))]
    pub email_id: Option<i64>,
    /// The delegate whom it is for.
    #[schemars(range(min = 1))]
    pub delegate_id: i64,
}

/// The messages that were sent. Final: nothing is tried again later.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, JsonSchema)]
#[schemars(example = json!({"sms_sent": true, "email_sent": false}))]
pub struct SentComm {
    /// The gateway accepted the text.
    pub sms_sent: bool,
    /// The mail server accepted the e-mail.
    pub email_sent: bool,
}

/// Sends messages within calls.
#[derive(Clone)]
pub struct DirectSender(Messages);

impl DirectSender {
    /// Returns the sender of an application.
    pub fn new(app: App) -> Self {
        Self(Messages::new(app))
    }

    /// Sends a delegate a text, an e-mail, or both, and waits for the outcome, some 10 s at the most.
    ///
    /// # Errors
    /// [`Kind::DelegateNotFound`]; [`Kind::Invalid`] for an unknown
    /// template, or none at all.
    pub async fn send(&self, ctx: Context, asked: SendCommInput) -> Result<SentComm> {
        if asked.sms_code.is_none() && asked.email_id.is_none() {
            return Err(Error::invalid(
                "sms_code or email_id: at least one must say what is to be sent",
            ));
        }
        let (store, settings) = (&self.0.app().store, ctx.settings);
        let now = Timestamp::now();
        let prepared = store
            .read(move |connection| work_out(connection, &settings, &asked, now))
            .await?;
        let begun = store.write(move |tx| begin(tx, &prepared)).await?;
        // A task each, which goes on should the caller go away: what was begun is ended.
        let attempts: Vec<_> = begun
            .into_iter()
            .map(|(channel, id)| {
                let messages = self.0.clone();
                let attempt = tokio::spawn(async move { attempt(&messages, id).await });
                (channel, attempt)
            })
            .collect();
        let mut sent = SentComm::default();
        for (channel, attempt) in attempts {
            let taken = attempt.await.map_err(Error::defect)??;
            match channel {
                Channel::Email => sent.email_sent = taken,
                Channel::Sms | Channel::Push => sent.sms_sent = taken,
            }
        }
        Ok(sent)
    }
}

async fn attempt(messages: &Messages, id: i64) -> Result<bool> {
    let store = &messages.app().store;
    let due = store.look_up(|connection| stored::begun(connection, id))?;
    Ok(messages.send_now(&due).await == SendOutcome::Sent)
}

/// The messages that are asked for, worked out: all of them, or nothing is sent.
fn work_out(
    connection: &Connection,
    settings: &Settings,
    asked: &SendCommInput,
    now: Timestamp,
) -> Result<Vec<(Channel, Prepared)>> {
    let recipient = Recipient::find(connection, settings, DelegateId(asked.delegate_id))?;
    let mut wanted = Vec::new();
    if let Some(code) = &asked.sms_code {
        let found = templates::of_slug(connection, Channel::Sms, code)?;
        wanted.push(found.ok_or_else(|| {
            Error::invalid(format!(
                "there is no template \"{}\" for texts",
                crate::types::text::shortened(code)
            ))
            .at("sms_code")
        })?);
    }
    if let Some(id) = asked.email_id {
        let found = templates::of_id(connection, id)?
            .filter(|template| template.entry.channel == Channel::Email.name());
        wanted.push(found.ok_or_else(|| {
            Error::field("email_id", format!("there is no template {id} for e-mails"))
        })?);
    }
    wanted
        .iter()
        .map(|template| {
            let message = Message {
                template,
                recipient: &recipient,
                about: None,
                origin: "api",
            };
            let prepared = prepare(connection, settings, &message, now)?;
            Ok((template.entry.channel()?, prepared))
        })
        .collect()
}

/// Writes down what is about to be sent.
fn begin(tx: &Tx<'_>, prepared: &[(Channel, Prepared)]) -> Result<Vec<(Channel, i64)>> {
    let mut begun = Vec::new();
    for (channel, prepared) in prepared {
        for (id, can_be_sent) in put(tx, prepared, How::Now)? {
            if can_be_sent {
                begun.push((*channel, id));
            }
        }
    }
    Ok(begun)
}
