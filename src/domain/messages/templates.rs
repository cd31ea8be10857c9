//! Templates: what messages say, as Jinja over the delegate. An app names an e-mail's template by its
//! id and a text's by its slug (spec: send-comm).

use super::Channel;
use crate::{
    core::{
        Context, audit, records,
        template::{self, Format},
        texts,
    },
    db::Tx,
    domain::{certificates, delegates, interactions::rows},
    types::{
        Timestamp,
        error::{Error, Kind, Result},
        text,
    },
};
use rusqlite::{Connection, OptionalExtension, Params, Row, params};
use serde_json::{Value, json};

/// The longest slug, in characters.
const SLUG_MAX_CHARS: usize = 64;
/// Templates that there can be.
const TEMPLATES_MAX: i64 = 1_000;

/// The names that a template may use.
pub const NAMES: &[&str] = &[
    "delegate",
    "interaction",
    "settings",
    "now",
    TICKET_URL,
    TICKET_QR,
    CERTIFICATE,
];
/// The address of the attendee's ticket, where there are pages for attendees.
pub(super) const TICKET_URL: &str = "ticketUrl";
/// In the HTML of an e-mail: the address of the ticket's QR code, a picture in the mail.
pub(super) const TICKET_QR: &str = "ticketQr";
/// The attendee's certificate, in an e-mail that brings it.
pub(super) const CERTIFICATE: &str = "certificate";
/// The names under which it sees other records.
const REFERENCES: [&str; 9] = [
    "delegate.parent",
    "delegate.previous",
    "delegate.owner",
    "interaction.firstDelegate",
    "interaction.secondDelegate",
    "interaction.thirdDelegate",
    "interaction.firstDevice",
    "interaction.secondDevice",
    "interaction.thirdDevice",
];

/// A template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    pub id: i64,
    pub entry: Entry,
    pub updated_at: Timestamp,
}

/// A template as the configuration document has it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The name of the template for texts, and of its messages in searches.
    pub slug: String,
    /// The number of the template for e-mails of apps; kept where it is free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<i64>,
    /// `email`, `sms` or `push`.
    #[serde(rename = "type")]
    pub channel: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    pub content: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub html: Option<String>,
}

impl Entry {
    /// One with nothing in it yet.
    pub fn blank(channel: Channel) -> Self {
        Self {
            slug: String::new(),
            id: None,
            channel: channel.name().to_owned(),
            subject: None,
            content: String::new(),
            html: None,
        }
    }

    /// An e-mail with a ticket, to begin with, in the language of the page.
    pub fn your_ticket() -> Self {
        Self {
            html: Some(texts::file("your_ticket.html").trim().to_owned()),
            ..Self::sample("your-ticket", &texts::file("your_ticket.txt"))
        }
    }

    /// An e-mail that brings a certificate, to begin with.
    pub fn your_certificate() -> Self {
        Self::sample("your-certificate", &texts::file("your_certificate.txt"))
    }

    /// The first line is the subject.
    fn sample(slug: &str, text: &str) -> Self {
        let (subject, content) = text.split_once('\n').unwrap_or((text, ""));
        Self {
            slug: slug.to_owned(),
            id: None,
            channel: Channel::Email.name().to_owned(),
            subject: Some(subject.to_owned()),
            content: content.trim().to_owned(),
            html: None,
        }
    }

    /// Tells whether it speaks of a certificate.
    pub fn is_of_certificates(&self) -> bool {
        self.parts()
            .any(|(_, source, _)| source.contains(CERTIFICATE))
    }

    /// The channel of its messages.
    pub fn channel(&self) -> Result<Channel> {
        Channel::named(&self.channel)
    }

    /// Checks it, all that it says included.
    pub fn check(&self) -> Result<()> {
        let channel = self.channel()?;
        check_slug(&self.slug)?;
        if self.id.is_some_and(|id| id < 1) {
            return Err(Error::field("id", "must be a positive whole number"));
        }
        match (channel, &self.subject) {
            (Channel::Email, None) => {
                return Err(Error::field("subject", "an e-mail needs one"));
            }
            (Channel::Sms, Some(_)) => {
                return Err(Error::field("subject", "a text has none"));
            }
            _ => {}
        }
        if self.html.is_some() && channel != Channel::Email {
            return Err(Error::field("html", "only e-mails have it"));
        }
        if self.content.trim().is_empty() {
            return Err(Error::field("content", "must say something"));
        }
        self.check_parts()
    }

    /// Checks what is rendered.
    pub fn check_parts(&self) -> Result<()> {
        for (name, source, _) in self.parts() {
            if source.contains('\0') {
                return Err(Error::field(name, "must not contain a NUL character"));
            }
            check_source(source).map_err(|fault| Error::field(name, fault))?;
        }
        Ok(())
    }

    /// Lists what is rendered: the field's name, its source, and how values are escaped in it.
    pub(super) fn parts(&self) -> impl Iterator<Item = (&'static str, &str, Format)> {
        let subject = self.subject.as_deref();
        let html = self.html.as_deref();
        [
            subject.map(|source| ("subject", source, Format::Text)),
            Some(("content", self.content.as_str(), Format::Text)),
            html.map(|source| ("html", source, Format::Html)),
        ]
        .into_iter()
        .flatten()
    }
}

/// Checks what a template reads: of a delegate what is its own, not what comes with it in answers.
fn check_source(source: &str) -> Result<(), template::Fault> {
    let own = delegates::FIELDS.iter();
    let own = own.filter(|property| property.kind != records::Kind::Attached);
    let own: Vec<&str> = own.map(|property| property.name).collect();
    let mut known: Vec<template::Known<'_>> = vec![
        ("delegate", &own),
        ("interaction", rows::PROPERTY_NAMES),
        ("settings", &["name"]),
        ("now", &[]),
        (TICKET_URL, &[]),
        (TICKET_QR, &[]),
        (CERTIFICATE, &certificates::FIELDS),
    ];
    for path in REFERENCES {
        known.push((path, records::REFERENCE));
    }
    template::check(source, NAMES, &known)
}

fn check_slug(slug: &str) -> Result<()> {
    let begins = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let mut bytes = slug.bytes();
    let right = bytes.next().is_some_and(begins)
        && bytes.all(|byte| begins(byte) || b"-_.".contains(&byte))
        && slug.len() <= SLUG_MAX_CHARS;
    if right {
        return Ok(());
    }
    let slug = text::shortened(slug);
    Err(Error::field(
        "slug",
        format!("\"{slug}\" must have 1 to {SLUG_MAX_CHARS} of a-z, 0-9, dash, dot and underscore"),
    ))
}

fn read(row: &Row<'_>) -> rusqlite::Result<Template> {
    let id = row.get(0)?;
    Ok(Template {
        id,
        entry: Entry {
            id: Some(id),
            channel: row.get(1)?,
            slug: row.get(2)?,
            subject: row.get(3)?,
            content: row.get(4)?,
            html: row.get(5)?,
        },
        updated_at: row.get(6)?,
    })
}

fn select(connection: &Connection, rest: &str, parameters: impl Params) -> Result<Vec<Template>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT id, channel, slug, subject, content, html, updated_at FROM message_templates {rest}"
    ))?;
    let rows = statement.query_map(parameters, read)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Every template, by channel and slug.
pub fn all(connection: &Connection) -> Result<Vec<Template>> {
    select(connection, "ORDER BY channel, slug", [])
}

pub fn of_id(connection: &Connection, id: i64) -> Result<Option<Template>> {
    Ok(select(connection, "WHERE id = ?1", [id])?.pop())
}

pub fn of_slug(connection: &Connection, channel: Channel, slug: &str) -> Result<Option<Template>> {
    let rest = "WHERE channel = ?1 AND slug = ?2";
    Ok(select(connection, rest, params![channel, slug])?.pop())
}

/// Stores a new template (`id` is `None`), or one in the place of another; its id. Automations that
/// send it follow its slug.
///
/// # Errors
/// [`Kind::Invalid`], naming the field; [`Kind::NoSuchPath`] when the other is gone.
pub fn save(tx: &Tx<'_>, ctx: &Context, id: Option<i64>, entry: &Entry) -> Result<i64> {
    entry.check()?;
    let channel = entry.channel()?;
    if of_slug(tx, channel, &entry.slug)?.is_some_and(|other| Some(other.id) != id) {
        return Err(Error::invalid(format!(
            "there is a template {} for {}s already",
            entry.slug,
            channel.noun()
        ))
        .at("slug"));
    }
    let before = match id {
        Some(id) => Some(of_id(tx, id)?.ok_or_else(|| gone(id))?),
        None => None,
    };
    let id = match &before {
        Some(before) => {
            if before.entry.channel != entry.channel {
                return Err(Error::field("type", "cannot be changed"));
            }
            tx.execute(
                "UPDATE message_templates SET slug = ?2, subject = ?3, content = ?4, html = ?5, updated_at = ?6
                 WHERE id = ?1",
                params![before.id, entry.slug, entry.subject, entry.content, entry.html, tx.now()],
            )?;
            tx.execute(
                "UPDATE automations SET template = ?3 WHERE channel = ?1 AND template = ?2",
                params![channel, before.entry.slug, entry.slug],
            )?;
            before.id
        }
        None => insert(tx, channel, entry)?,
    };
    record(tx, ctx, id, before.map(|before| before.entry), Some(entry))?;
    Ok(id)
}

fn insert(tx: &Tx<'_>, channel: Channel, entry: &Entry) -> Result<i64> {
    let count: i64 = tx.query_row("SELECT count(*) FROM message_templates", [], |row| {
        row.get(0)
    })?;
    if count >= TEMPLATES_MAX {
        return Err(Error::invalid(format!(
            "there are {TEMPLATES_MAX} templates; remove some first"
        )));
    }
    let wanted = entry.id.filter(|_| channel == Channel::Email);
    let free = match wanted {
        Some(id) => of_id(tx, id)?.is_none().then_some(id),
        None => None,
    };
    tx.execute(
        "INSERT INTO message_templates (id, channel, slug, subject, content, html, created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7)",
        params![free, channel, entry.slug, entry.subject, entry.content, entry.html, tx.now()],
    )?;
    Ok(tx.last_insert_rowid())
}

/// Removes a template. Messages that were made from it stay.
///
/// # Errors
/// [`Kind::Invalid`] while an automation sends it; [`Kind::NoSuchPath`] without such a template.
pub fn remove(tx: &Tx<'_>, ctx: &Context, id: i64) -> Result<()> {
    let template = of_id(tx, id)?.ok_or_else(|| gone(id))?;
    if let Some(user) = user_of(tx, &template)? {
        return Err(Error::invalid(format!(
            "the automation \"{user}\" sends it; give that another template first"
        )));
    }
    delete(tx, ctx, template)
}

/// The automation that sends a template, where one does.
fn user_of(tx: &Tx<'_>, template: &Template) -> Result<Option<String>> {
    Ok(tx
        .query_row(
            "SELECT name FROM automations WHERE channel = ?1 AND template = ?2",
            params![template.entry.channel, template.entry.slug],
            |row| row.get(0),
        )
        .optional()?)
}

fn delete(tx: &Tx<'_>, ctx: &Context, template: Template) -> Result<()> {
    let id = template.id;
    tx.execute("DELETE FROM message_templates WHERE id = ?1", [id])?;
    record(tx, ctx, id, Some(template.entry), None)
}

fn gone(id: i64) -> Error {
    Error::new(
        Kind::NoSuchPath,
        format!("there is no template {id} any more"),
    )
}

fn record(
    tx: &Tx<'_>,
    ctx: &Context,
    id: i64,
    before: Option<Entry>,
    after: Option<&Entry>,
) -> Result<()> {
    let shown = |entry: &Entry| {
        let entry = Entry {
            id: None,
            ..entry.clone()
        };
        serde_json::to_value(entry).ok()
    };
    let (before, after) = (before.as_ref().and_then(shown), after.and_then(shown));
    audit::append_between(tx, ctx, "template", Some(id), before, after)
}

/// Every template as the configuration document has it.
pub fn document(connection: &Connection) -> Result<Value> {
    let entries = all(connection)?.into_iter().map(|template| Entry {
        // Only e-mails are named by it.
        id: template
            .entry
            .id
            .filter(|_| template.entry.channel == Channel::Email.name()),
        ..template.entry
    });
    Ok(json!(entries.collect::<Vec<_>>()))
}

/// Stores checked entries, each in the place of the one with its type and slug; with `prune` the
/// others go, also those that automations send: [`super::automations::apply`] looks at that when it is
/// known which automations stay.
pub fn apply(tx: &Tx<'_>, ctx: &Context, entries: &[Entry], prune: bool) -> Result<()> {
    if prune {
        for template in all(tx)? {
            let named = |entry: &&Entry| {
                (&entry.channel, &entry.slug) == (&template.entry.channel, &template.entry.slug)
            };
            if !entries.iter().any(|entry| named(&entry)) {
                delete(tx, ctx, template)?;
            }
        }
    }
    for entry in entries {
        let in_entry = |cause: Error| cause.at(format!("templates ({})", entry.slug));
        let known = of_slug(tx, entry.channel()?, &entry.slug)?;
        if let (Some(id), Some(known)) = (entry.id, &known)
            && known.id != id
            && entry.channel == Channel::Email.name()
        {
            tracing::warn!(
                "the template {} keeps its id {} here; {id} is in the document",
                entry.slug,
                known.id
            );
        }
        save(tx, ctx, known.map(|known| known.id), entry).map_err(in_entry)?;
    }
    Ok(())
}
