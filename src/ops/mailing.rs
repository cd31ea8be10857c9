//! A message to each attendee of a list, put into the outbox in slices. What they say is worked out beside the writer.
//! Those that wait can be called back; those that were sent cannot.

use super::{
    bulk::{Action, Tally},
    import::{
        Batch, Stop, batches,
        slices::{self, Steps},
    },
};
use crate::{
    core::{Context, settings::Settings},
    db::{Store, Tx},
    domain::messages::{
        Channel,
        compose::Recipient,
        send::{self, How, Message, Prepared},
        stored,
        templates::{Entry, Template},
    },
    types::{
        DelegateId, Timestamp,
        error::{Error, Kind, Result},
    },
};
use serde_json::json;
use std::{collections::VecDeque, sync::Arc};

/// The beginning of the origin of such a message.
pub const ORIGIN: &str = "list:";
/// Messages that are worked out at a time, and called back at a time.
const AHEAD: usize = 64;

/// The origin of the messages of a batch.
#[must_use]
pub fn origin(batch: i64) -> String {
    format!("{ORIGIN}{batch}")
}

/// Messages on their way into the outbox.
pub struct Mailing {
    settings: Arc<Settings>,
    ctx: Context,
    batch: i64,
    template: Template,
    attendees: VecDeque<i64>,
    ready: VecDeque<(DelegateId, Prepared)>,
    stop: Stop,
    pub tally: Tally,
    finished: bool,
}

/// Puts a message to each of them into the outbox; `on_progress` is called after each slice.
///
/// # Errors
/// What keeps the store from writing; earlier messages stay.
pub fn run(
    store: &Store,
    ctx: Context,
    batch: &Batch,
    attendees: Vec<i64>,
    stop: Stop,
    on_progress: impl FnMut(&Mailing),
) -> Result<Mailing> {
    let Some(Action::Message(entry)) = &batch.options.action else {
        return Err(Error::invalid("this is no message"));
    };
    let work = Mailing {
        settings: Arc::clone(&ctx.settings),
        ctx,
        batch: batch.id,
        template: Template {
            id: 0,
            entry: named(entry, batch.id),
            updated_at: batch.created_at,
        },
        attendees: attendees.into(),
        ready: VecDeque::new(),
        stop,
        tally: Tally::default(),
        finished: false,
    };
    slices::write(store, work, on_progress)
}

/// A message that was written for this list alone is known to searches by the number of its batch.
fn named(entry: &Entry, batch: i64) -> Entry {
    let mut entry = entry.clone();
    if entry.slug.is_empty() {
        entry.slug = format!("list-{batch}");
    }
    entry
}

impl Mailing {
    fn work_out(&mut self, store: &Store, attendee: DelegateId) -> Result<()> {
        let (settings, template) = (&self.settings, &self.template);
        let channel = template.entry.channel()?;
        let origin = origin(self.batch);
        let prepared = store.look_up(|connection| {
            let recipient = Recipient::find(connection, settings, attendee)?;
            if !recipient.has_address(channel) {
                return Ok(None);
            }
            let message = Message {
                template,
                recipient: &recipient,
                about: None,
                origin: &origin,
            };
            send::prepare(connection, settings, &message, Timestamp::now()).map(Some)
        });
        self.tally.looked_at += 1;
        match prepared {
            Ok(Some(prepared)) => self.ready.push_back((attendee, prepared)),
            Ok(None) => self.tally.settle(without_address(channel)),
            Err(cause) if cause.kind == Kind::DelegateNotFound => {
                self.tally.settle("deleted meanwhile");
            }
            Err(cause) => return Err(cause),
        }
        Ok(())
    }
}

/// Says that an attendee has nothing that a message could go to.
#[must_use]
pub fn without_address(channel: Channel) -> &'static str {
    match channel {
        Channel::Email => "without an e-mail address",
        Channel::Sms => "without a phone number",
        Channel::Push => "without the app",
    }
}

impl Steps for Mailing {
    fn is_unprepared(&self) -> bool {
        self.ready.is_empty() && !self.attendees.is_empty() && !self.stop.is_stopped()
    }

    fn prepare(&mut self, store: &Store) -> Result<()> {
        while self.ready.len() < AHEAD
            && !self.stop.is_stopped()
            && let Some(attendee) = self.attendees.pop_front()
        {
            self.work_out(store, DelegateId(attendee))?;
        }
        Ok(())
    }

    fn open(&mut self, tx: &Tx<'_>) -> Result<()> {
        let done = u64::try_from(self.tally.done).unwrap_or_default();
        batches::take_up(tx, self.batch, done)
    }

    fn step(&mut self, tx: &Tx<'_>) -> Result<bool> {
        let next = self.ready.pop_front().filter(|_| !self.stop.is_stopped());
        let Some((attendee, prepared)) = next else {
            self.finished = true;
            return Ok(false);
        };
        match send::put(tx, &prepared, How::Soon) {
            Ok(put) if put.iter().any(|(_, can_be_sent)| *can_be_sent) => self.tally.done += 1,
            Ok(_) => {
                let why = prepared.hindrance().unwrap_or_default();
                let lacking = Error::invalid(why);
                self.tally.refuse_in(tx, self.batch, attendee, &lacking)?;
            }
            Err(cause) if cause.kind == Kind::DelegateNotFound => {
                self.tally.settle("deleted meanwhile");
            }
            Err(cause) => return Err(cause),
        }
        Ok(true)
    }

    fn close(&mut self, tx: &Tx<'_>) -> Result<()> {
        let done = u64::try_from(self.tally.done).unwrap_or_default();
        batches::advance(tx, self.batch, done, self.finished)?;
        if !self.finished {
            return Ok(());
        }
        let counts = json!({"queued": self.tally.done, "settled": self.tally.settled_in_all(),
            "refused": self.tally.refused_in_all()});
        batches::audit_change(tx, &self.ctx, self.batch, "complete", counts)
    }
}

/// Calls back the messages of a batch that wait: how many.
///
/// # Errors
/// What keeps the store from writing.
pub async fn call_back(store: &Store, ctx: Context, batch: &Batch) -> Result<usize> {
    let (id, after) = (batch.id, batch.options.after_message.unwrap_or_default());
    let mut called_back = 0;
    loop {
        let some = store
            .write_bulk(move |tx| stored::cancel_some(tx, &origin(id), after, AHEAD))
            .await?;
        called_back += some;
        if some < AHEAD {
            break;
        }
    }
    store
        .write(move |tx| {
            batches::audit_change(tx, &ctx, id, "stop", json!({"calledBack": called_back}))
        })
        .await?;
    Ok(called_back)
}
