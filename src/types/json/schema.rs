//! JSON Schemas as documents: the subschemas in them, and references, which are refused or written out.

use super::{
    DEPTH_MAX, check_limits,
    size::{SCHEMA_SIZE_MAX, schema_size, size},
};
use serde_json::{Map, Value};

/// The keywords of references.
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// The subschemas that a keyword has as its value.
enum Subschemas {
    Nothing,
    /// One, or a list of them.
    Listed,
    Named,
}

impl Subschemas {
    fn of(keyword: &str) -> Self {
        match keyword {
            "allOf"
            | "anyOf"
            | "oneOf"
            | "not"
            | "if"
            | "then"
            | "else"
            | "items"
            | "prefixItems"
            | "additionalItems"
            | "contains"
            | "additionalProperties"
            | "unevaluatedItems"
            | "unevaluatedProperties"
            | "propertyNames"
            | "contentSchema" => Self::Listed,
            "properties" | "patternProperties" | "dependentSchemas" | "dependencies" | "$defs"
            | "definitions" => Self::Named,
            _ => Self::Nothing,
        }
    }
}

/// Finds a reference in a schema: its path, such as `properties.meal.$ref`.
pub fn find_reference(schema: &Value) -> Option<String> {
    let of = schema.as_object()?;
    if let Some(keyword) = REFERENCES.iter().find(|name| of.contains_key(**name)) {
        return Some((*keyword).to_owned());
    }
    of.iter().find_map(|(keyword, value)| {
        let below = match (Subschemas::of(keyword), value) {
            (Subschemas::Listed, Value::Array(items)) => {
                let mut items = items.iter().enumerate();
                return items.find_map(|(at, item)| {
                    find_reference(item).map(|below| format!("{keyword}[{at}].{below}"))
                });
            }
            (Subschemas::Listed, schema) => find_reference(schema),
            (Subschemas::Named, Value::Object(named)) => named.iter().find_map(|(name, schema)| {
                find_reference(schema).map(|below| format!("{name}.{below}"))
            }),
            _ => None,
        };
        below.map(|below| format!("{keyword}.{below}"))
    })
}

/// Writes out what a schema refers to within itself by JSON pointers. `None` where it refers to itself or elsewhere, or
/// becomes larger than [`SCHEMA_SIZE_MAX`].
pub fn inlined(schema: &Value) -> Option<Value> {
    let draft = schema.get("$schema");
    let is_old = draft.and_then(Value::as_str).is_some_and(|draft| {
        ["draft-04", "draft-06", "draft-07"]
            .iter()
            .any(|old| draft.contains(old))
    });
    let mut inliner = Inliner {
        root: schema,
        is_old,
        open: vec![schema],
        nested: 0,
        left: SCHEMA_SIZE_MAX,
    };
    let mut inlined = match inliner.schema(schema)? {
        Value::Object(inlined) => inlined,
        plain => Map::from_iter([("allOf".to_owned(), Value::Array(vec![plain]))]),
    };
    if let Some(draft) = draft {
        inlined.insert("$schema".to_owned(), draft.clone());
    }
    let inlined = Value::Object(inlined);
    check_limits(inlined.to_string().as_bytes()).ok()?;
    (schema_size(&inlined) <= SCHEMA_SIZE_MAX).then_some(inlined)
}

struct Inliner<'a> {
    root: &'a Value,
    /// The draft ignores what stands beside a reference.
    is_old: bool,
    /// The targets around the place that is being written.
    open: Vec<&'a Value>,
    nested: usize,
    /// What may still be written, in [`size`].
    left: u64,
}

impl<'a> Inliner<'a> {
    fn schema(&mut self, schema: &'a Value) -> Option<Value> {
        let Value::Object(of) = schema else {
            return self.copy(schema);
        };
        self.left = self.left.checked_sub(1)?;
        if self.nested > DEPTH_MAX {
            return None;
        }
        self.nested += 1;
        let target = match of.get("$ref") {
            Some(reference) => Some(self.target(reference.as_str()?)?),
            None => None,
        };
        let written = match target {
            Some(target) if self.is_old => target,
            target => self.keywords(schema, of, target)?,
        };
        self.nested -= 1;
        Some(written)
    }

    fn keywords(
        &mut self,
        schema: &'a Value,
        of: &'a Map<String, Value>,
        target: Option<Value>,
    ) -> Option<Value> {
        let mut written = Map::new();
        for (keyword, value) in of {
            match keyword.as_str() {
                "$ref" | "$defs" | "definitions" | "$anchor" | "$dynamicAnchor" => continue,
                "$dynamicRef" | "$recursiveRef" => return None,
                // Pointers within it begin there.
                "$id" | "id" if value.is_string() && !std::ptr::eq(schema, self.root) => {
                    return None;
                }
                _ => {}
            }
            let value = match (Subschemas::of(keyword), value) {
                (Subschemas::Listed, Value::Array(items)) => {
                    let items = items.iter().map(|item| self.schema(item));
                    Value::Array(items.collect::<Option<_>>()?)
                }
                (Subschemas::Listed, schema) => self.schema(schema)?,
                (Subschemas::Named, Value::Object(named)) => {
                    let named = named
                        .iter()
                        .map(|(name, schema)| Some((name.clone(), self.schema(schema)?)));
                    Value::Object(named.collect::<Option<_>>()?)
                }
                (_, plain) => self.copy(plain)?,
            };
            written.insert(keyword.clone(), value);
        }
        let Some(target) = target else {
            return Some(Value::Object(written));
        };
        if written.is_empty() {
            return Some(target);
        }
        match written
            .entry("allOf")
            .or_insert_with(|| Value::Array(Vec::new()))
        {
            Value::Array(all) => all.push(target),
            _ => return None,
        }
        Some(Value::Object(written))
    }

    /// The schema that a reference means, written out.
    fn target(&mut self, reference: &str) -> Option<Value> {
        let pointer = reference.strip_prefix('#')?;
        let pointer = percent_encoding::percent_decode_str(pointer);
        let target = self.root.pointer(&pointer.decode_utf8().ok()?)?;
        if self.open.iter().any(|open| std::ptr::eq(*open, target)) {
            return None;
        }
        self.open.push(target);
        let written = self.schema(target)?;
        self.open.pop();
        Some(written)
    }

    fn copy(&mut self, value: &Value) -> Option<Value> {
        self.left = self.left.checked_sub(size(value))?;
        Some(value.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn references_are_found_where_schemas_are_and_nowhere_else() {
        for (schema, path) in [
            (json!({"$ref": "#/$defs/a"}), "$ref"),
            (json!({"$dynamicRef": "#a"}), "$dynamicRef"),
            (
                json!({"properties": {"meal": {"$ref": "#"}}}),
                "properties.meal.$ref",
            ),
            (
                json!({"anyOf": [{}, {"items": {"$ref": "#"}}]}),
                "anyOf[1].items.$ref",
            ),
            (
                json!({"$defs": {"a": {"not": {"$ref": "#"}}}}),
                "$defs.a.not.$ref",
            ),
        ] {
            assert_eq!(find_reference(&schema).as_deref(), Some(path), "{schema}");
        }
        for schema in [
            json!({"properties": {"$ref": {"type": "string"}}}),
            json!({"enum": [{"$ref": "#"}], "default": {"$ref": "#"}}),
            json!({"$defs": {"a": {"type": "string"}}}),
            json!({"dependencies": {"a": ["$ref"]}}),
        ] {
            assert_eq!(find_reference(&schema), None, "{schema}");
        }
    }

    #[test]
    fn references_to_definitions_are_written_out() {
        let text = json!({"type": "string"});
        for (schema, written) in [
            (
                json!({"properties": {"a": {"$ref": "#/$defs/t"}, "b": {"items": {"$ref": "#/$defs/t"}}}, "$defs": {"t": text}}),
                json!({"properties": {"a": text, "b": {"items": text}}}),
            ),
            // A definition may refer to another.
            (
                json!({"not": {"$ref": "#/definitions/a"}, "definitions": {"a": {"anyOf": [{"$ref": "#/definitions/a~1b%25"}]}, "a/b%": text}}),
                json!({"not": {"anyOf": [text]}}),
            ),
            // What stands beside it holds as well, but in old drafts.
            (
                json!({"properties": {"a": {"$ref": "#/$defs/t", "maxLength": 3}}, "$defs": {"t": text}}),
                json!({"properties": {"a": {"maxLength": 3, "allOf": [text]}}}),
            ),
            (
                json!({"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/t", "maxLength": 3, "definitions": {"t": text}}),
                json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "string"}),
            ),
            (
                json!({"$ref": "#/$defs/no", "$defs": {"no": false}}),
                json!({"allOf": [false]}),
            ),
        ] {
            let inlined = inlined(&schema).unwrap();
            assert_eq!(inlined, written, "{schema}");
            assert_eq!(find_reference(&inlined), None);
        }
    }

    #[test]
    fn what_cannot_be_written_out_is_left() {
        let mut doubling = Map::new();
        for number in 0..40 {
            let next = json!({"$ref": format!("#/$defs/d{}", number + 1)});
            doubling.insert(format!("d{number}"), json!({"allOf": [next, next]}));
        }
        doubling.insert("d40".to_owned(), json!({}));
        let mut deep = Map::new();
        for number in 0..40 {
            let next = json!({"$ref": format!("#/$defs/d{}", number + 1)});
            deep.insert(format!("d{number}"), json!({"properties": {"a": next}}));
        }
        deep.insert("d40".to_owned(), json!({}));
        let long = json!({"enum": vec!["a text of some twenty bytes"; 1_300]});
        for schema in [
            json!({"properties": {"next": {"$ref": "#"}}}),
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"items": {"$ref": "#/$defs/a"}}}}),
            json!({"$ref": "https://example.com/a.json"}),
            json!({"$ref": "#a", "$defs": {"a": {"$anchor": "a"}}}),
            json!({"$ref": "#/$defs/none"}),
            json!({"$dynamicRef": "#/$defs/a", "$defs": {"a": {}}}),
            json!({"properties": {"a": {"$id": "urn:x", "$ref": "#/$defs/a"}}, "$defs": {"a": {}}}),
            json!({"$ref": "#/$defs/d0", "$defs": doubling}),
            json!({"$ref": "#/$defs/d0", "$defs": deep}),
            json!({"items": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}], "$defs": {"a": long}}),
        ] {
            assert!(inlined(&schema).is_none(), "{schema:.200}");
        }
    }
}
