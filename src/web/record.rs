//! Code that delegates, devices and events share in HTTP: answering with one record, and its shape in the
//! API's document, as it is answered and as it is sent.

use super::{
    Address, Answer, Created, IdempotencyKey, IfMatch, List, ListQuery, Outcome,
    envelope::envelope,
    page::window,
    parameters::tag,
    schema::{
        Described, array, bounded_text, example, formatted, free_object, id, inline, nullable,
        object, one_of, plain, selector, sent_time, text,
    },
};
use crate::{
    core::{
        Context, Services,
        idempotency::{self, Key, Stored},
        records::{Field, Kind, Resource, Selection, list::Records, write},
        search::{Search, Subject},
    },
    db::Tx,
    types::{
        error::Result,
        json,
        text::{CODE_MAX_CHARS, TEXT_MAX_CHARS},
    },
};
use poem_openapi::registry::{MetaSchema, MetaSchemaRef};
use rusqlite::Connection;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Answers with the selected fields of the record that `find` finds.
pub fn found<T, const S: u16>(
    app: &Services,
    selection: &Selection,
    find: impl FnOnce(&Connection) -> Result<i64>,
) -> Result<Answer<T, S>> {
    let zone = app.settings().zone.clone();
    let (json, version) = app.store.look_up(|connection| {
        let id = find(connection)?;
        let found = selection.one_version(connection, "id", &id, &zone)?;
        found.ok_or_else(|| selection.resource.missing(&id))
    })?;
    Ok(Answer::of(&json).with_etag(Some(tag(version))))
}

/// Creates a record and answers with it, of which `visible` properties are shown; the same answer
/// again for the same `Idempotency-Key`.
///
/// # Errors
/// As [`write::create`]; [`crate::types::error::Kind::KeyReused`].
pub async fn created<T>(
    app: &Services,
    ctx: Context,
    resource: &'static Resource,
    input: Map<String, Value>,
    key: IdempotencyKey,
    visible: Option<Arc<[String]>>,
) -> Result<Created<T>> {
    let operation = format!("POST /{}/new", resource.name);
    let key = Key::of(&ctx, key.read()?, operation, || {
        Ok(json::fingerprint(&Value::Object(input.clone())))
    })?;
    let render = |json: String| Stored {
        status: 201,
        body: envelope(&json, "{}"),
        done: 1,
    };
    let (once, etag) = app
        .store
        .write(move |tx| {
            let mut version = None;
            let create = || {
                let id = write::create(tx, &ctx, resource, input)?;
                let selection = Selection::parse(resource, None, visible.as_deref())?;
                let made = selection.one_version(tx, "id", &id, &ctx.settings.zone)?;
                let (json, made_at) = made.ok_or_else(|| resource.missing(&id))?;
                version = Some(tag(made_at));
                Ok(json)
            };
            let once = idempotency::once(tx, key.as_ref(), create, render)?;
            Ok((once, version))
        })
        .await?;
    Ok(Answer::whole(once.rendered(render).body).with_etag(etag))
}

/// Changes the record that is found, and answers with it, of which `visible` properties are shown.
pub async fn patched<T>(
    app: &Services,
    ctx: Context,
    resource: &'static Resource,
    find: impl FnOnce(&Tx<'_>) -> Result<i64> + Send + 'static,
    if_match: IfMatch,
    input: Map<String, Value>,
    visible: Option<&[String]>,
) -> Result<Answer<T>> {
    let id = app
        .store
        .write(move |tx| {
            let id = find(tx)?;
            if_match.check(tx, resource, id)?;
            write::patch(tx, &ctx, resource, id, input)?;
            Ok(id)
        })
        .await?;
    found(app, &Selection::parse(resource, None, visible)?, |_| Ok(id))
}

/// A page of the records that a query finds, of which `visible` properties are shown; with links where
/// it has an address.
pub async fn page<T>(
    app: &Services,
    resource: &'static Resource,
    searched: &'static Subject,
    visible: Option<&[String]>,
    query: ListQuery,
    address: Option<&Address>,
) -> Outcome<List<T>> {
    let records = Records {
        selection: Selection::parse(resource, query.fields.as_deref(), visible)?,
        zone: app.settings().zone.clone(),
    };
    let search = Search::asked(searched, query.search.as_deref(), &records.zone, visible)?;
    let window = window(&query)?;
    List::of(app, records, search, window, address).await
}

/// A `{id, _type}` in place of a whole record.
pub struct Embedded;

impl Described for Embedded {
    const NAME: &'static str = "Embedded";

    fn schema() -> MetaSchema {
        object(
            "A record in another: its id and type.",
            &["id", "_type"],
            vec![("id", inline(id(""))), ("_type", inline(text("")))],
        )
    }
}

/// The schema of a record as answered.
pub fn answered(
    resource: &'static Resource,
    about: &'static str,
    parts: &[(&'static str, &'static str)],
) -> MetaSchema {
    let properties = resource
        .fields
        .iter()
        .map(|property| (property.name, answered_property(property, parts)))
        .collect();
    let required: Vec<_> = resource
        .fields
        .iter()
        .filter(|property| property.kind.always_stands())
        .map(|property| property.name)
        .collect();
    object(about, &required, properties)
}

fn answered_property(property: &Field, parts: &[(&'static str, &'static str)]) -> MetaSchemaRef {
    let about = property.about;
    inline(match property.kind {
        Kind::Id => id(about),
        Kind::Flag => plain("boolean", about),
        Kind::Time | Kind::Stamp => formatted("string", "date-time", about),
        Kind::PlainTime => example(text(about), json!("2026-11-21 09:00:00")),
        Kind::Document => free_object(about),
        Kind::Sources => array(inline(text("")), about),
        Kind::Reference => return MetaSchemaRef::Reference(Embedded::NAME.to_owned()),
        Kind::Attached => {
            let of = parts
                .iter()
                .find(|(name, _)| *name == property.name)
                .map_or(Embedded::NAME, |(_, schema)| schema);
            array(MetaSchemaRef::Reference(of.to_owned()), about)
        }
        Kind::Type | Kind::Code | Kind::Text => text(about),
    })
}

/// The schema of a record as sent: its writable properties. Read-only ones may be sent and are
/// ignored, so that what was read can be sent back.
pub fn sent(resource: &'static Resource, about: &'static str) -> MetaSchema {
    let properties = resource.fields.iter().map(|property| {
        let about = property.about;
        let schema = match property.kind {
            Kind::Flag => plain("boolean", about),
            Kind::Time | Kind::PlainTime => sent_time(about),
            Kind::Document => free_object(about),
            Kind::Reference => one_of(
                [
                    selector("a selector such as `code:hall`"),
                    vec![object("", &["id"], vec![("id", inline(id("")))])],
                ]
                .concat(),
                about,
            ),
            Kind::Code => bounded_text(1, CODE_MAX_CHARS, about),
            Kind::Text => bounded_text(0, TEXT_MAX_CHARS, about),
            Kind::Id | Kind::Type | Kind::Stamp | Kind::Sources | Kind::Attached => {
                return (
                    property.name,
                    inline(MetaSchema {
                        description: Some("Read-only; ignored when sent."),
                        ..MetaSchema::ANY
                    }),
                );
            }
        };
        (property.name, inline(nullable(schema)))
    });
    object(about, &[], properties.collect())
}
