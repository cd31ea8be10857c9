//! What delegates, devices and events share in HTTP: answering with one record, and its shape in the
//! API's document, as it is answered and as it is sent.

use super::{
    Answer,
    schema::{
        Described, array, example, formatted, free_object, inline, integer, nullable, object,
        one_of, plain, text,
    },
};
use crate::{
    app::App,
    error::Result,
    records::{Kind, Property, Resource, Selection},
};
use poem_openapi::registry::{MetaSchema, MetaSchemaRef};
use rusqlite::Connection;
use serde_json::json;

/// What a selection shows of the record that is found, for an answer.
///
/// # Errors
/// Those of `find`; the resource's not-found error.
pub fn found<T, const S: u16>(
    app: &App,
    selection: &Selection,
    find: impl FnOnce(&Connection) -> Result<i64>,
) -> Result<Answer<T, S>> {
    let zone = app.settings().zone.clone();
    let json = app.store.look_up(|connection| {
        let id = find(connection)?;
        let json = selection.one(connection, "id", &id, &zone)?;
        json.ok_or_else(|| selection.resource.missing(&id))
    })?;
    Ok(Answer::of(&json))
}

/// A `{id, _type}` in place of a whole record.
pub struct Embedded;

impl Described for Embedded {
    const NAME: &'static str = "Embedded";

    fn schema() -> MetaSchema {
        object(
            "A record in another: its id and type.",
            &["id", "_type"],
            vec![("id", inline(integer(""))), ("_type", inline(text("")))],
        )
    }
}

/// The schema of a record as answered.
#[must_use]
pub fn answered(
    resource: &'static Resource,
    about: &'static str,
    parts: &[(&'static str, &'static str)],
) -> MetaSchema {
    let properties = resource
        .properties
        .iter()
        .map(|property| (property.name, answered_property(property, parts)))
        .collect();
    let required: Vec<_> = resource
        .properties
        .iter()
        .filter(|property| property.kind.always_stands())
        .map(|property| property.name)
        .collect();
    object(about, &required, properties)
}

fn answered_property(property: &Property, parts: &[(&'static str, &'static str)]) -> MetaSchemaRef {
    let about = property.about;
    inline(match property.kind {
        Kind::Id => integer(about),
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
#[must_use]
pub fn sent(resource: &'static Resource, about: &'static str) -> MetaSchema {
    let properties = resource.properties.iter().map(|property| {
        let about = property.about;
        let schema = match property.kind {
            Kind::Flag => plain("boolean", about),
            Kind::Time | Kind::PlainTime => one_of(
                vec![
                    text("ISO 8601 or `yyyy-mm-dd hh:mm:ss`"),
                    integer("Unix seconds"),
                ],
                about,
            ),
            Kind::Document => free_object(about),
            Kind::Reference => one_of(
                vec![
                    integer(""),
                    object("", &["id"], vec![("id", inline(integer("")))]),
                ],
                about,
            ),
            Kind::Code | Kind::Text => text(about),
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
