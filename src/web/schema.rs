//! Shapes in the OpenAPI document, which come from their types, and its groups of operations.
//!
//! `schemars` reads a type as serde does: names, what may be left out, the shapes of its fields, their bounds, and
//! doc comments as descriptions. Three things are ours:
//!
//! - An `Option` may be left out; `null` is for what is sent as JSON ([`Described::register_input`]) alone. A property
//!   that always stands and may be `null` is `#[schemars(required, extend("nullable" = true))]`.
//! - A shape without a name of its own in the document is `#[schemars(inline)]`.
//! - The example of a shape is also that of every answer with it.

use poem_openapi::{
    Tags,
    registry::{MetaMediaType, MetaResponse, MetaSchema, MetaSchemaRef, Registry},
};
use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value};

/// A shape that the OpenAPI document describes.
pub trait Described: JsonSchema {
    /// A reference to the registered schema; one that has no name, in place.
    fn reference() -> MetaSchemaRef {
        if Self::inline_schema() {
            part(&schema_of::<Self>(), false)
        } else {
            MetaSchemaRef::Reference(Self::schema_name().into_owned())
        }
    }

    /// The example of the shape.
    fn example() -> Option<Value> {
        schema_of::<Self>()["examples"].get(0).cloned()
    }

    /// Registers the schema and what it refers to.
    fn register(registry: &mut Registry) {
        register::<Self>(registry, false);
    }

    /// Registers the schema of a body that is parsed, in which `null` stands for a property that is left out.
    fn register_input(registry: &mut Registry) {
        register::<Self>(registry, true);
    }
}

impl<T: JsonSchema + ?Sized> Described for T {}

fn schema_of<T: JsonSchema + ?Sized>() -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    T::json_schema(&mut generator).to_value()
}

fn register<T: JsonSchema + ?Sized>(registry: &mut Registry, nulls: bool) {
    if registry.schemas.contains_key(&*T::schema_name()) {
        return;
    }
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    generator.subschema_for::<T>();
    for (name, schema) in generator.take_definitions(false) {
        let schema = || of_json(&schema, nulls);
        registry.schemas.entry(name).or_insert_with(schema);
    }
}

/// A JSON Schema as OpenAPI 3.0 has it, with or without `null` where a property may be left out.
fn of_json(schema: &Value, nulls: bool) -> MetaSchema {
    let list = |name: &str| schema[name].as_array().into_iter().flatten();
    let count = |name: &str| {
        let count = schema[name].as_u64();
        count.and_then(|count| count.try_into().ok())
    };
    let boxed = |name: &str| {
        let part_of = schema.get(name).filter(|part| **part != false);
        part_of.map(|schema| Box::new(part(schema, nulls)))
    };
    let properties = schema["properties"].as_object().into_iter().flatten();
    let ty = schema["type"].as_str().or(schema["type"][0].as_str());
    let is_nullable = schema["nullable"] == true || (nulls && schema["type"][1] == "null");
    let choices = list("enum").chain(list("oneOf").map(|choice| &choice["const"]));
    let about = schema["description"].as_str().map(|about| {
        let paragraphs = about.split("\n\n").map(|lines| lines.replace('\n', " "));
        leaked(&paragraphs.collect::<Vec<_>>().join("\n\n"))
    });
    let ty = ty.or(list("oneOf").next().map(|_| "string")).map(leaked);
    MetaSchema {
        ty: ty.unwrap_or_default(),
        format: format(ty, schema["format"].as_str()),
        description: about,
        required: list("required")
            .filter_map(Value::as_str)
            .map(leaked)
            .collect(),
        properties: properties
            .map(|(name, schema)| (leaked(name), part(schema, nulls)))
            .collect(),
        items: boxed("items"),
        additional_properties: boxed("additionalProperties"),
        enum_items: choices
            .filter(|choice| is_nullable || !choice.is_null())
            .cloned()
            .collect(),
        nullable: is_nullable,
        any_of: list("anyOf").map(|shape| part(shape, nulls)).collect(),
        example: schema["examples"].get(0).cloned(),
        minimum: schema["minimum"].as_f64(),
        maximum: schema["maximum"].as_f64(),
        min_length: count("minLength"),
        max_length: count("maxLength"),
        min_items: count("minItems"),
        max_items: count("maxItems"),
        max_properties: count("maxProperties"),
        pattern: schema["pattern"].as_str().map(ToOwned::to_owned),
        ..MetaSchema::ANY
    }
}

fn part(schema: &Value, nulls: bool) -> MetaSchemaRef {
    if let Some(path) = schema["$ref"].as_str() {
        let name = path.rsplit('/').next().unwrap_or_default();
        return MetaSchemaRef::Reference(name.to_owned());
    }
    // An `Option` of what has a name, or several shapes.
    if let Some([shape, null]) = schema["anyOf"].as_array().map(Vec::as_slice)
        && null["type"] == "null"
    {
        let mut optional = part(shape, nulls);
        if let MetaSchemaRef::Inline(optional) = &mut optional {
            let about = of_json(schema, nulls).description;
            optional.description = about.or(optional.description);
            if nulls && !optional.enum_items.is_empty() {
                optional.enum_items.push(Value::Null);
            }
            // `nullable` counts beside a `type` alone.
            match optional.any_of.first_mut() {
                Some(MetaSchemaRef::Inline(first)) => first.nullable = nulls,
                _ => optional.nullable = nulls,
            }
        }
        return optional;
    }
    inline(of_json(schema, nulls))
}

/// The formats that the document has: 64 bits for all whole numbers, no more said of others.
fn format(ty: Option<&str>, format: Option<&str>) -> Option<&'static str> {
    match ty {
        Some("integer") => format.map(|_| "int64"),
        Some("number") => None,
        _ => format.map(leaked),
    }
}

/// The document is assembled once, at the start.
fn leaked(text: &str) -> &'static str {
    text.to_owned().leak()
}

/// `{}`, or what there is to add.
#[derive(JsonSchema)]
#[schemars(inline)]
pub struct NoMeta(pub Map<String, Value>);

/// A plain type with a description.
pub fn plain(ty: &'static str, about: &'static str) -> MetaSchema {
    MetaSchema {
        description: (!about.is_empty()).then_some(about),
        ..MetaSchema::new(ty)
    }
}

/// A string.
pub fn text(about: &'static str) -> MetaSchema {
    plain("string", about)
}

/// An array of a shape.
pub fn array(items: MetaSchemaRef) -> MetaSchema {
    MetaSchema {
        items: Some(items.into()),
        ..plain("array", "")
    }
}

/// An object with properties that always stand.
pub fn object(properties: Vec<(&'static str, MetaSchemaRef)>) -> MetaSchema {
    MetaSchema {
        required: properties.iter().map(|(name, _)| *name).collect(),
        properties,
        ..plain("object", "")
    }
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
    /// Calls that tell other systems what happens.
    Webhooks,
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
