//! Documents in which no property is repeated.

use crate::types::text;
use serde::{
    Deserialize,
    de::{Deserializer, Error as _, MapAccess, SeqAccess, Unexpected, Visitor},
};
use serde_json::{Map, Value};
use std::fmt;

/// Reads an object and refuses a repeated property, however deep: one of the two would be
/// lost.
pub fn no_property_twice<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Map<String, Value>, D::Error> {
    match Whole::deserialize(deserializer)?.0 {
        Value::Object(object) => Ok(object),
        other => Err(D::Error::invalid_type(kind_of(&other), &"an object")),
    }
}

/// As [`no_property_twice`], for a property that may be anything, or nothing.
pub fn anything_whole<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Value>, D::Error> {
    Ok(Some(Whole::deserialize(deserializer)?.0).filter(|value| !value.is_null()))
}

/// Reads any JSON, and refuses a repeated property, as [`no_property_twice`] does.
pub fn read_whole(text: &str) -> serde_json::Result<Value> {
    serde_json::from_str(text).map(|Whole(value)| value)
}

fn kind_of(value: &Value) -> Unexpected<'_> {
    match value {
        Value::Null => Unexpected::Unit,
        Value::Bool(flag) => Unexpected::Bool(*flag),
        Value::Number(_) => Unexpected::Other("a number"),
        Value::String(text) => Unexpected::Str(text),
        Value::Array(_) => Unexpected::Seq,
        Value::Object(_) => Unexpected::Map,
    }
}

/// A document in which no property is repeated.
struct Whole(Value);

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ReadWhole).map(Self)
    }
}

struct ReadWhole;

impl<'de> Visitor<'de> for ReadWhole {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
        Ok(flag.into())
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(Whole(value)) = list.next_element()? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut properties = Map::new();
        while let Some(name) = map.next_key::<String>()? {
            if properties.contains_key(&name) {
                let name = text::shortened(&name);
                return Err(A::Error::custom(format!("\"{name}\" stands twice")));
            }
            let Whole(value) = map.next_value()?;
            properties.insert(name, value);
        }
        Ok(Value::Object(properties))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_property_that_stands_twice_is_told_however_deep() {
        let read = |text: &str| no_property_twice(&mut serde_json::Deserializer::from_str(text));
        for text in [
            r#"{"a":1,"a":1}"#,
            r#"{"a":{"b":1,"b":2}}"#,
            r#"{"a":[{},{"b":1,"\u0062":2}]}"#,
        ] {
            assert!(
                read(text).unwrap_err().to_string().contains("stands twice"),
                "{text}"
            );
        }
        let document = json!({"a": [1, -1, 1.5, u64::MAX, "x", true, null], "b": {"a": {}}});
        assert_eq!(
            Value::Object(read(&document.to_string()).unwrap()),
            document
        );
        assert!(read("[]").is_err());
    }
}
