//! Answers with one record, which delegates, devices and events share, and its shape in the
//! API's document, as it is answered and as it is sent.

use super::{
    Address, Answer, Created, IdempotencyKey, IfMatch, List, ListQuery, Outcome, Put,
    envelope::stored_creation, page::window, parameters::tag,
};
use crate::{
    core::{
        Context, Services,
        idempotency::{self, Key},
        records::{Expansion, Field, Kind, Resource, Selection, list::Records, write},
        search::{Search, Subject},
    },
    db::Tx,
    types::{
        error::{self, Error, Result},
        json,
        text::{CODE_MAX_CHARS, TEXT_MAX_CHARS},
        time::SentTime,
    },
};
use rusqlite::Connection;
use schemars::{JsonSchema, Schema, json_schema, schema_for};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Answers with what a selection and an expansion show of the record that is found.
pub fn found<T, const S: u16>(
    app: &Services,
    selection: &Selection,
    expansion: &Expansion,
    find: impl FnOnce(&Connection) -> Result<i64>,
) -> Result<Answer<T, S>> {
    let zone = app.settings().zone.clone();
    let (json, version) = app.store.look_up(|connection| {
        let id = find(connection)?;
        let found = selection.one_version(connection, "id", &id, &zone)?;
        let (mut json, version) = found.ok_or_else(|| selection.resource.missing(&id))?;
        expansion.expand(connection, &zone, &mut json, 0)?;
        Ok((json, version))
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
    let render = |json: String| stored_creation(&json);
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
    let selection = Selection::parse(resource, None, visible)?;
    found(app, &selection, &Expansion::default(), |_| Ok(id))
}

/// Creates the record with a code, or changes the one that has it, and answers with it, of which `visible` properties
/// are shown. `find` gives the record that has the code.
///
/// # Errors
/// As [`write::create`] and [`write::patch`]; [`error::Kind::Invalid`] for another value of the code in the body, and
/// [`error::Kind::VersionChanged`] for a version of a record that does not exist.
pub async fn put<T>(
    app: &Services,
    ctx: Context,
    resource: &'static Resource,
    code: Option<(&'static str, &str)>,
    if_match: IfMatch,
    mut input: Map<String, Value>,
    visible: Option<&[String]>,
) -> Result<Put<T>> {
    let (name, value) = code.ok_or_else(|| {
        Error::new(
            error::Kind::UnknownIdType,
            "PUT takes a unique code, as in barcode:A1; an id is given by the server",
        )
    })?;
    let value = value.to_owned();
    if *input.entry(name).or_insert_with(|| value.clone().into()) != value {
        return Err(Error::field(
            name,
            "must be the code of the address, or left out",
        ));
    }
    let selection = Selection::parse(resource, None, visible)?;
    let (id, status) = app
        .store
        .write(move |tx| {
            if let Some(id) = write::holder(tx, resource, name, &value)? {
                if_match.check(tx, resource, id)?;
                write::patch(tx, &ctx, resource, id, input)?;
                return Ok((id, 200));
            }
            if_match.check_none(resource.name)?;
            Ok((write::create(tx, &ctx, resource, input)?, 201))
        })
        .await?;
    let answer: Created<T> = found(app, &selection, &Expansion::default(), |_| Ok(id))?;
    Ok(Put(answer.with_status(status)))
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
        expansion: expansion(resource, query.expand.as_deref(), visible)?,
    };
    let search = Search::asked(searched, query.search.as_deref(), &records.zone, visible)?;
    let window = window(&query, searched, visible)?;
    List::of(app, records, search, window, address).await
}

/// Reads which of the records that a record refers to are shown whole, as far as `visible` lets a client see them.
///
/// # Errors
/// As [`Expansion::parse`].
pub fn expansion(
    resource: &'static Resource,
    sent: Option<&str>,
    visible: Option<&[String]>,
) -> Result<Expansion> {
    let known: Vec<_> = resource.references().map(|field| field.name).collect();
    Expansion::parse(sent, &known, || vec![Selection::seen(resource, visible)])
}

/// A record in another: its id and type; or the whole record, where `expand` names it.
#[derive(JsonSchema)]
pub struct Embedded {
    #[schemars(range(min = 1))]
    pub id: i64,
    #[schemars(rename = "_type")]
    pub kind: String,
}

/// The id of a record, a selector, or the record itself.
#[derive(JsonSchema)]
#[schemars(inline, untagged)]
#[expect(dead_code, reason = "a shape, of what `write` reads")]
enum Reference {
    /// an id
    Id(#[schemars(range(min = 1))] i64),
    /// a selector such as `code:hall`
    Selector(#[schemars(regex(pattern = "^[A-Za-z]+:"))] String),
    Record(Referenced),
}

#[derive(JsonSchema)]
#[schemars(inline)]
#[expect(dead_code, reason = "a shape, of what `write` reads")]
struct Referenced {
    #[schemars(range(min = 1))]
    id: i64,
}

/// Adds the fields of a record to the shape in which it is answered. Fields that the shape has itself stay as they
/// are, such as those that refer to other shapes.
pub fn answered(resource: &'static Resource) -> impl FnMut(&mut Schema) {
    move |schema| {
        let required = resource
            .fields
            .iter()
            .filter(|field| field.kind.always_stands());
        let required: Vec<_> = required.map(|field| field.name).collect();
        schema.insert("required".to_owned(), json!(required));
        add_fields(schema, resource, answered_field);
    }
}

/// Adds the fields of a record to the shape in which it is sent. Read-only ones may be sent and are ignored, so that
/// what was read can be sent back.
pub fn sent(resource: &'static Resource) -> impl FnMut(&mut Schema) {
    move |schema| {
        schema.remove("additionalProperties");
        add_fields(schema, resource, sent_field);
    }
}

/// The description of a field that clients may send in vain.
const READ_ONLY: &str = "Read-only; ignored when sent.";

fn add_fields(schema: &mut Schema, resource: &Resource, shape: fn(&Field) -> Schema) {
    let mut own = schema.remove("properties").unwrap_or_default();
    let properties = resource.fields.iter().map(|field| {
        let own = own.get_mut(field.name).map(Value::take);
        let own = own.and_then(|own| Schema::try_from(own).ok());
        let mut property = own.unwrap_or_else(|| shape(field));
        if !field.about.is_empty() && property.get("description") != Some(&READ_ONLY.into()) {
            property.insert("description".to_owned(), field.about.into());
        }
        (field.name.to_owned(), property.to_value())
    });
    let properties: Map<String, Value> = properties.collect();
    schema.insert("properties".to_owned(), properties.into());
}

fn answered_field(field: &Field) -> Schema {
    match field.kind {
        Kind::Id => json_schema!({"type": "integer", "format": "int64", "minimum": 1}),
        Kind::Flag => json_schema!({"type": "boolean"}),
        Kind::Time | Kind::Stamp => json_schema!({"type": "string", "format": "date-time"}),
        Kind::PlainTime => json_schema!({"type": "string", "examples": ["2026-11-21 09:00:00"]}),
        Kind::Document => json_schema!({"type": "object", "additionalProperties": true}),
        Kind::Sources => json_schema!({"type": "array", "items": {"type": "string"}}),
        Kind::Reference => json_schema!({"$ref": "#/$defs/Embedded"}),
        Kind::Attached => json_schema!({"type": "array", "items": {"$ref": "#/$defs/Embedded"}}),
        Kind::Type | Kind::Code | Kind::Text => json_schema!({"type": "string"}),
    }
}

fn sent_field(field: &Field) -> Schema {
    match field.kind {
        Kind::Flag => schema_for!(Option<bool>),
        Kind::Time | Kind::PlainTime => schema_for!(Option<SentTime>),
        Kind::Document => schema_for!(Option<Map<String, Value>>),
        Kind::Reference => schema_for!(Option<Reference>),
        Kind::Code => json_schema!({
            "type": ["string", "null"], "minLength": 1, "maxLength": CODE_MAX_CHARS,
        }),
        Kind::Text => json_schema!({"type": ["string", "null"], "maxLength": TEXT_MAX_CHARS}),
        Kind::Id | Kind::Type | Kind::Stamp | Kind::Sources | Kind::Attached => {
            json_schema!({"description": READ_ONLY})
        }
    }
}
