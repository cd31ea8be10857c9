//! Messages to a delegate, by a template: put into the outbox, or, for `send-comm`, sent within the
//! call (spec: send-comm; contract §8).

use super::{
    Channel,
    compose::{self, Recipient},
    deliver::Delivery,
    gateways,
    outbox::{self, Begin, NewMessage, Outcome},
    templates::{self, Template},
};
use crate::{
    app::App,
    auth::Context,
    error::{Error, Result},
    store::Tx,
    types::DelegateId,
};
use serde_json::Value;
use std::sync::Arc;

/// What is to be sent, and to whom.
#[derive(Debug, Clone)]
pub struct Message<'a> {
    /// The template.
    pub template: &'a Template,
    /// Whom it is for.
    pub recipient: &'a Recipient,
    /// What it is about.
    pub interaction: Option<&'a Value>,
    /// What had it sent.
    pub origin: &'a str,
}

/// How it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// Whoever asks makes the attempt, and waits for it.
    Now,
    /// With the next round of the outbox.
    Soon,
}

/// Puts a message into the outbox: one for each address, each with its id and whether it can be sent.
/// One that cannot stands there as failed, with the reason.
///
/// # Errors
/// When it cannot be written.
pub fn put(
    tx: &Tx<'_>,
    ctx: &Context,
    message: &Message<'_>,
    how: How,
) -> Result<Vec<(i64, bool)>> {
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
    let addresses = match prepare(tx, ctx, message, channel, &mut new) {
        Ok(addresses) => addresses,
        Err(cause) if cause.kind == crate::error::Kind::Invalid => {
            let id = outbox::insert(tx, &new, &Begin::Failed(cause.message))?;
            return Ok(vec![(id, false)]);
        }
        Err(cause) => return Err(cause),
    };
    let begin = match how {
        How::Now => Begin::Sending,
        How::Soon => Begin::Waiting,
    };
    addresses
        .into_iter()
        .map(|address| {
            new.address = address;
            Ok((outbox::insert(tx, &new, &begin)?, true))
        })
        .collect()
}

/// Fills a message in; where it goes.
fn prepare(
    tx: &Tx<'_>,
    ctx: &Context,
    message: &Message<'_>,
    channel: Channel,
    new: &mut NewMessage,
) -> Result<Vec<String>> {
    let settings = &ctx.settings;
    let composed = compose::for_delegate(
        message.template,
        message.recipient,
        message.interaction,
        settings,
        tx.now(),
    )?;
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
    if !gateways::open(tx, &settings.communications)?
        .any
        .contains(&channel)
    {
        return Err(Error::invalid(format!(
            "there is no gateway for {}s yet",
            channel.noun()
        )));
    }
    Ok(addresses)
}

/// A request to `send-comm`.
#[derive(Debug, Clone)]
pub struct SendComm {
    /// The slug of a text's template.
    pub sms_code: Option<String>,
    /// The id of an e-mail's template.
    pub email_id: Option<i64>,
    /// Whom they are for.
    pub delegate: DelegateId,
}

/// What became of it; final: nothing of it is tried again later.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SentComm {
    /// The gateway took the text.
    pub sms: bool,
    /// The mail server took the e-mail.
    pub email: bool,
}

/// Sends messages within calls.
#[derive(Clone)]
pub struct Counter(Arc<Delivery>);

impl Counter {
    /// The counter of an application.
    #[must_use]
    pub fn new(app: App) -> Self {
        Self(Arc::new(Delivery::new(app)))
    }

    /// Sends a delegate a text, an e-mail, or both, and waits for the outcome, some 10 s at the most.
    ///
    /// # Errors
    /// [`crate::error::Kind::DelegateNotFound`]; [`crate::error::Kind::Invalid`] for an unknown
    /// template, or none at all.
    pub async fn send(&self, ctx: Context, asked: SendComm) -> Result<SentComm> {
        if asked.sms_code.is_none() && asked.email_id.is_none() {
            return Err(Error::invalid(
                "sms_code or email_id: at least one must say what is to be sent",
            ));
        }
        let begun = self
            .0
            .app()
            .store
            .write(move |tx| begin(tx, &ctx, &asked))
            .await?;
        // A task each, which goes on should the caller go away: what was begun is ended.
        let attempts: Vec<_> = begun
            .into_iter()
            .map(|(channel, id)| {
                let delivery = Arc::clone(&self.0);
                (
                    channel,
                    tokio::spawn(async move { one(&delivery, id).await }),
                )
            })
            .collect();
        let mut sent = SentComm::default();
        for (channel, attempt) in attempts {
            let taken = attempt.await.map_err(Error::defect)??;
            match channel {
                Channel::Email => sent.email = taken,
                Channel::Sms | Channel::Push => sent.sms = taken,
            }
        }
        Ok(sent)
    }
}

async fn one(delivery: &Delivery, id: i64) -> Result<bool> {
    let due = delivery
        .app()
        .store
        .look_up(|connection| outbox::begun(connection, id))?;
    Ok(delivery.attempt(&due, true).await == Outcome::Sent)
}

/// Writes down what is about to be sent.
fn begin(tx: &Tx<'_>, ctx: &Context, asked: &SendComm) -> Result<Vec<(Channel, i64)>> {
    let recipient = Recipient::find(tx, &ctx.settings, asked.delegate)?;
    let mut wanted = Vec::new();
    if let Some(code) = &asked.sms_code {
        let found = templates::of_slug(tx, Channel::Sms, code)?;
        wanted.push(found.ok_or_else(|| {
            Error::invalid(format!(
                "sms_code: there is no template \"{}\" for texts",
                crate::types::text::shortened(code)
            ))
        })?);
    }
    if let Some(id) = asked.email_id {
        let found = templates::of_id(tx, id)?
            .filter(|template| template.entry.channel == Channel::Email.name());
        wanted.push(found.ok_or_else(|| {
            Error::invalid(format!("email_id: there is no template {id} for e-mails"))
        })?);
    }
    let mut begun = Vec::new();
    for template in &wanted {
        let message = Message {
            template,
            recipient: &recipient,
            interaction: None,
            origin: "api",
        };
        let channel = template.entry.channel()?;
        for (id, can_be_sent) in put(tx, ctx, &message, How::Now)? {
            if can_be_sent {
                begun.push((channel, id));
            }
        }
    }
    Ok(begun)
}
