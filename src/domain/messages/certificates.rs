//! Certificates of attendance by e-mail: to each attendee who gets one. The origin of such a message has the code of the
//! certificate, which is drawn when the message is sent, so that nothing is stored beside it.

use super::{
    Channel,
    compose::Recipient,
    send::{self, How, Message, Prepared},
    templates::{CERTIFICATE, Template},
};
use crate::{
    core::settings::Settings,
    domain::certificates::{Attendance, Issue, Wanted},
    identity::App,
    types::{Timestamp, error::Result},
};
use rusqlite::Connection;

/// The beginning of the origin of such a message.
const ORIGIN: &str = "certificate:";
/// Messages that are stored in one transaction.
const WRITTEN_AT_ONCE: usize = 50;

/// Who gets a certificate by e-mail.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Mailed {
    /// E-mails that were put into the outbox.
    pub sent: usize,
    /// Attendees without an e-mail address.
    pub unreachable: usize,
    /// Attendees who have one for this place already, sent or on its way.
    pub before: usize,
}

/// Returns the code of the certificate that a message brings.
pub(super) fn code_of(origin: &str) -> Option<&str> {
    origin.strip_prefix(ORIGIN)
}

/// Sends a certificate by e-mail to each who was there for long enough and has none yet for this place.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`] for a template that cannot be rendered.
pub async fn send(
    app: &App,
    wanted: Wanted,
    template: Template,
    attendance: Attendance,
) -> Result<Mailed> {
    let settings = app.settings();
    let (mut mailed, messages) = app
        .store
        .read(move |connection| work_out(connection, &settings, wanted, &template, &attendance))
        .await?;
    for slice in messages.chunks(WRITTEN_AT_ONCE) {
        let slice = slice.to_vec();
        mailed.sent += app
            .store
            .write_bulk(move |tx| {
                let mut sent = 0;
                for prepared in &slice {
                    // Whoever was deleted meanwhile gets none.
                    if let Ok(put) = send::put(tx, prepared, How::Soon) {
                        sent += put.len();
                    }
                }
                Ok(sent)
            })
            .await?;
    }
    Ok(mailed)
}

fn work_out(
    connection: &Connection,
    settings: &Settings,
    wanted: Wanted,
    template: &Template,
    attendance: &Attendance,
) -> Result<(Mailed, Vec<Prepared>)> {
    let issue = Issue::new(connection, settings, wanted.place, attendance.span)?;
    let (mut mailed, mut messages) = (Mailed::default(), Vec::new());
    let now = Timestamp::now();
    let mut has_one = connection.prepare(
        "SELECT 1 FROM messages WHERE delegate_id = ?1 AND origin GLOB ?2 AND state NOT IN ('failed', 'cancelled')",
    )?;
    for attended in attendance.enough(wanted.percent) {
        let recipient = Recipient::find(connection, settings, attended.attendee)?;
        let place = issue.place();
        let of_place = format!("{ORIGIN}c{}-{place}-*", attended.attendee);
        if has_one.exists((attended.attendee, of_place))? {
            mailed.before += 1;
        } else if recipient.has_address(Channel::Email) {
            let code = issue.code(attended, attendance.counted_s);
            let certificate = issue.as_template(code)?;
            let message = Message {
                template,
                recipient: &recipient,
                about: Some((CERTIFICATE, &certificate)),
                origin: &format!("{ORIGIN}{}", code.says()),
            };
            messages.push(send::prepare(connection, settings, &message, now)?);
        } else {
            mailed.unreachable += 1;
        }
    }
    Ok((mailed, messages))
}
