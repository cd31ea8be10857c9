//! The schemas that somebody who knows no JSON can write: a list of fields, each with a name, a type
//! and whether it must be there.

use crate::types::error::{Error, Result};
use serde_json::{Map, Value, json};

/// A list of fields.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Simple {
    /// The fields, in their order.
    pub fields: Vec<Field>,
    /// Set where anything beside the fields is refused.
    pub closed: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its key.
    pub name: String,
    pub holds: Holds,
    /// Set where a value must be there.
    pub required: bool,
}

/// The kind of value that a field holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Holds {
    /// Any text.
    Text,
    Number,
    /// True or false.
    YesNo,
    /// One of these texts.
    Choice(Vec<String>),
    /// A day, `yyyy-mm-dd`.
    Date,
}

impl Holds {
    /// The name of the kind in a form.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Number => "number",
            Self::YesNo => "yes-no",
            Self::Choice(_) => "choice",
            Self::Date => "date",
        }
    }

    fn schema(&self) -> Value {
        match self {
            Self::Text => json!({"type": "string"}),
            Self::Number => json!({"type": "number"}),
            Self::YesNo => json!({"type": "boolean"}),
            Self::Choice(choices) => json!({"enum": choices}),
            Self::Date => json!({"type": "string", "format": "date"}),
        }
    }

    fn of(schema: &Value) -> Option<Self> {
        let choices = schema.get("enum").and_then(Value::as_array);
        if let Some(choices) = choices.filter(|choices| !choices.is_empty()) {
            let texts = choices
                .iter()
                .map(|choice| choice.as_str().map(str::to_owned));
            let holds = Self::Choice(texts.collect::<Option<_>>()?);
            return (holds.schema() == *schema).then_some(holds);
        }
        [Self::Text, Self::Number, Self::YesNo, Self::Date]
            .into_iter()
            .find(|holds| holds.schema() == *schema)
    }
}

impl Simple {
    /// The fields as a schema.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`] for a field that is there twice, or a choice of nothing.
    pub fn schema(&self) -> Result<Value> {
        let mut properties = Map::new();
        let mut required = Vec::new();
        for field in &self.fields {
            if let Holds::Choice(choices) = &field.holds
                && choices.is_empty()
            {
                return Err(Error::field(
                    &field.name,
                    "name the choices, separated by commas",
                ));
            }
            let twice = properties.insert(field.name.clone(), field.holds.schema());
            if twice.is_some() {
                return Err(Error::field(&field.name, "is there twice"));
            }
            if field.required {
                required.push(field.name.clone());
            }
        }
        let mut schema = json!({"type": "object", "properties": properties});
        if !required.is_empty() {
            schema["required"] = json!(required);
        }
        if self.closed {
            schema["additionalProperties"] = json!(false);
        }
        Ok(schema)
    }

    /// The fields of a schema, where they say all of it.
    pub fn of(schema: &Value) -> Option<Self> {
        let empty = Map::new();
        let properties = match schema.get("properties") {
            Some(properties) => properties.as_object()?,
            None => &empty,
        };
        let required: Vec<&str> = match schema.get("required") {
            Some(required) => required
                .as_array()?
                .iter()
                .filter_map(Value::as_str)
                .collect(),
            None => Vec::new(),
        };
        let field = |(name, of): (&String, &Value)| {
            Some(Field {
                name: name.clone(),
                holds: Holds::of(of)?,
                required: required.contains(&name.as_str()),
            })
        };
        let simple = Self {
            fields: properties.iter().map(field).collect::<Option<_>>()?,
            closed: schema.get("additionalProperties") == Some(&json!(false)),
        };
        // What the form would not write back is not for the form.
        let written = simple.schema().ok()?;
        let sorted = |schema: &Value| {
            let mut schema = schema.clone();
            if let Some(Value::Array(names)) = schema.get_mut("required") {
                names.sort_by_key(ToString::to_string);
            }
            schema
        };
        (sorted(&written) == sorted(schema)).then_some(simple)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_become_a_schema_and_come_back() {
        let field = |name: &str, holds, required| Field {
            name: name.into(),
            holds,
            required,
        };
        for closed in [false, true] {
            let simple = Simple {
                fields: vec![
                    field(
                        "meal",
                        Holds::Choice(vec!["vegan".into(), "none".into()]),
                        true,
                    ),
                    field("seat", Holds::Number, false),
                    field("note", Holds::Text, false),
                    field("vip", Holds::YesNo, true),
                    field("born", Holds::Date, false),
                ],
                closed,
            };
            let schema = simple.schema().unwrap();
            assert_eq!(Simple::of(&schema), Some(simple));
        }
        assert_eq!(Simple::of(&json!({"type": "object"})), None);
        let twice = Simple {
            fields: vec![field("a", Holds::Text, true), field("a", Holds::Date, true)],
            closed: false,
        };
        assert!(twice.schema().is_err());
    }

    #[test]
    fn what_the_form_cannot_say_is_not_for_the_form() {
        for schema in [
            json!({"type": "array"}),
            json!({"type": "object", "properties": {"a": {"type": "string", "minLength": 3}}}),
            json!({"type": "object", "properties": {"a": {"enum": ["x", 1]}}}),
            json!({"type": "object", "properties": {}, "required": ["a"]}),
            json!({"type": "object", "properties": {}, "minProperties": 1}),
        ] {
            assert_eq!(Simple::of(&schema), None, "{schema}");
        }
    }
}
