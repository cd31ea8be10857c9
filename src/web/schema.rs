//! Helpers to describe shapes in the OpenAPI document, and its groups of operations.

use poem_openapi::{
    Tags,
    registry::{MetaMediaType, MetaResponse, MetaSchema, MetaSchemaRef, Registry},
};
use serde_json::Value;

/// A shape that the OpenAPI document describes under a name.
pub trait Described {
    /// The name of the schema.
    const NAME: &'static str;

    fn schema() -> MetaSchema;

    /// The `meta` of the example.
    const META: &'static str = "{}";

    /// The schema of the `meta` beside it.
    fn meta() -> MetaSchemaRef {
        inline(free_object("`{}`, or what there is to add."))
    }

    /// Registers the schemas that [`Described::schema`] refers to.
    fn register_parts(_: &mut Registry) {}

    /// A reference to the registered schema.
    fn reference() -> MetaSchemaRef {
        MetaSchemaRef::Reference(Self::NAME.to_owned())
    }

    /// Registers the schema and what it refers to.
    fn register(registry: &mut Registry) {
        if registry.schemas.contains_key(Self::NAME) {
            return;
        }
        registry
            .schemas
            .insert(Self::NAME.to_owned(), Self::schema());
        Self::register_parts(registry);
    }
}

/// A schema that is written in JSON, as the document shows it; `{"$ref": "Embedded"}` is a registered one.
pub fn from_json(schema: &Value) -> MetaSchema {
    let text = |name: &str| schema[name].as_str().map(leaked);
    let count = |name: &str| {
        schema[name]
            .as_u64()
            .and_then(|count| count.try_into().ok())
    };
    let part = |name: &str| schema.get(name).map(|part| Box::new(part_of(part)));
    let list = |name: &str| schema[name].as_array().into_iter().flatten();
    let properties = schema["properties"].as_object().into_iter().flatten();
    MetaSchema {
        ty: text("type").unwrap_or_default(),
        format: text("format"),
        description: text("description"),
        required: list("required")
            .filter_map(Value::as_str)
            .map(leaked)
            .collect(),
        properties: properties
            .map(|(name, part)| (leaked(name), part_of(part)))
            .collect(),
        items: part("items"),
        additional_properties: part("additionalProperties"),
        enum_items: list("enum").cloned().collect(),
        nullable: schema["nullable"] == true,
        any_of: list("anyOf").map(part_of).collect(),
        example: schema.get("example").cloned(),
        minimum: schema["minimum"].as_f64(),
        maximum: schema["maximum"].as_f64(),
        min_length: count("minLength"),
        max_length: count("maxLength"),
        max_properties: count("maxProperties"),
        pattern: schema["pattern"].as_str().map(ToOwned::to_owned),
        ..MetaSchema::ANY
    }
}

fn part_of(schema: &Value) -> MetaSchemaRef {
    match schema["$ref"].as_str() {
        Some(name) => MetaSchemaRef::Reference(name.to_owned()),
        None => inline(from_json(schema)),
    }
}

/// The document is assembled once, at the start.
fn leaked(text: &str) -> &'static str {
    text.to_owned().leak()
}

/// A plain type with a description.
pub fn plain(ty: &'static str, about: &'static str) -> MetaSchema {
    MetaSchema {
        description: (!about.is_empty()).then_some(about),
        ..MetaSchema::new(ty)
    }
}

/// A plain type in a format.
pub fn formatted(ty: &'static str, format: &'static str, about: &'static str) -> MetaSchema {
    MetaSchema {
        format: Some(format),
        ..plain(ty, about)
    }
}

/// A string.
pub fn text(about: &'static str) -> MetaSchema {
    plain("string", about)
}

/// A 64-bit whole number.
pub fn integer(about: &'static str) -> MetaSchema {
    formatted("integer", "int64", about)
}

/// The id of a record.
pub fn id(about: &'static str) -> MetaSchema {
    MetaSchema {
        minimum: Some(1.0),
        ..integer(about)
    }
}

/// A whole number within bounds.
pub fn bounded_integer(least: f64, most: f64, about: &'static str) -> MetaSchema {
    MetaSchema {
        minimum: Some(least),
        maximum: Some(most),
        ..integer(about)
    }
}

/// A string of `least` to `most` characters.
pub fn bounded_text(least: usize, most: usize, about: &'static str) -> MetaSchema {
    MetaSchema {
        min_length: (least > 0).then_some(least),
        max_length: Some(most),
        ..text(about)
    }
}

/// A string of a pattern.
pub fn matching_text(pattern: &str, about: &'static str) -> MetaSchema {
    MetaSchema {
        pattern: Some(pattern.to_owned()),
        ..text(about)
    }
}

/// A time as it is sent: Unix seconds or text.
pub fn sent_time(about: &'static str) -> MetaSchema {
    one_of(
        vec![
            text("ISO 8601 or `yyyy-mm-dd hh:mm:ss`"),
            // The years 1 to 9999.
            bounded_integer(-62_135_596_800.0, 253_402_300_799.0, "Unix seconds"),
        ],
        about,
    )
}

/// The id of a record or a selector.
pub fn selector(example: &'static str) -> Vec<MetaSchema> {
    vec![id("an id"), matching_text("^[A-Za-z]+:", example)]
}

/// An object with any keys.
pub fn free_object(about: &'static str) -> MetaSchema {
    MetaSchema {
        additional_properties: Some(inline(MetaSchema::ANY).into()),
        ..plain("object", about)
    }
}

pub fn array(items: MetaSchemaRef, about: &'static str) -> MetaSchema {
    MetaSchema {
        items: Some(items.into()),
        ..plain("array", about)
    }
}

/// Any one of several shapes.
pub fn one_of(shapes: Vec<MetaSchema>, about: &'static str) -> MetaSchema {
    MetaSchema {
        any_of: shapes.into_iter().map(inline).collect(),
        description: Some(about),
        ..MetaSchema::ANY
    }
}

/// An object with these properties, of which `required` are always there.
pub fn object(
    about: &'static str,
    required: &[&'static str],
    properties: Vec<(&'static str, MetaSchemaRef)>,
) -> MetaSchema {
    MetaSchema {
        required: required.to_vec(),
        properties,
        ..plain("object", about)
    }
}

/// Builds the schema of an object property by property, from `plain("object", …)` on.
pub trait Properties {
    #[must_use]
    fn required(self, name: &'static str, schema: MetaSchema) -> Self;

    #[must_use]
    fn optional(self, name: &'static str, schema: MetaSchema) -> Self;

    /// A string that is always there.
    #[must_use]
    fn required_text(self, name: &'static str, about: &'static str) -> Self;

    #[must_use]
    fn optional_text(self, name: &'static str, about: &'static str) -> Self;

    #[must_use]
    fn with_example(self, value: Value) -> Self;
}

impl Properties for MetaSchema {
    fn required(mut self, name: &'static str, schema: MetaSchema) -> Self {
        self.required.push(name);
        self.optional(name, schema)
    }

    fn optional(mut self, name: &'static str, schema: MetaSchema) -> Self {
        self.properties.push((name, inline(schema)));
        self
    }

    fn required_text(self, name: &'static str, about: &'static str) -> Self {
        self.required(name, text(about))
    }

    fn optional_text(self, name: &'static str, about: &'static str) -> Self {
        self.optional(name, text(about))
    }

    fn with_example(self, value: Value) -> Self {
        example(self, value)
    }
}

/// One of several strings.
#[must_use]
pub fn choice(values: &[&str], about: &'static str) -> MetaSchema {
    MetaSchema {
        enum_items: values.iter().map(|value| Value::from(*value)).collect(),
        ..text(about)
    }
}

/// An array of strings.
#[must_use]
pub fn texts(about: &'static str) -> MetaSchema {
    array(inline(text("")), about)
}

/// A response with one kind of content.
#[must_use]
pub fn response(
    status: u16,
    description: &'static str,
    content_type: &'static str,
    schema: MetaSchemaRef,
) -> MetaResponse {
    MetaResponse {
        description,
        status: Some(status),
        status_range: None,
        content: vec![MetaMediaType {
            content_type,
            schema,
        }],
        headers: vec![],
    }
}

/// The schema, in place.
pub fn inline(schema: MetaSchema) -> MetaSchemaRef {
    MetaSchemaRef::Inline(schema.into())
}

/// The schema with an example.
pub fn example(mut schema: MetaSchema, value: Value) -> MetaSchema {
    schema.example = Some(value);
    schema
}

/// The schema, where `null` is allowed too; of several shapes one of them, as `nullable` counts
/// beside a `type` alone.
pub fn nullable(mut schema: MetaSchema) -> MetaSchema {
    match schema.any_of.first_mut() {
        Some(MetaSchemaRef::Inline(shape)) => shape.nullable = true,
        _ => schema.nullable = true,
    }
    schema
}

/// A group of operations.
#[derive(Tags)]
pub enum Tag {
    /// Attendees.
    Delegates,
    /// Rooms, sessions, readers, apps, products.
    Devices,
    /// Top-level devices that others are joined to.
    Events,
    /// Actions of delegates at devices.
    Interactions,
    /// Apps that ask to be let in.
    Discovery,
    /// Lists that an administrator defined.
    Reports,
    /// Purchases.
    Transactions,
    /// Changes of records, in order.
    Changes,
    /// Gate apps.
    Gates,
    /// UHF readers.
    Readers,
    /// Regions that are rendered for a delegate or a device.
    Content,
    /// Tokens.
    Authentication,
    /// The service itself.
    Service,
}
