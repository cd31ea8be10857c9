//! The number of subschemas that a schema expands into. A validator follows every reference anew wherever it stands, so
//! that two references in each of forty definitions are a million million subschemas. They are counted here, each
//! subschema once for each depth of a value.

use crate::types::{
    error::{Error, Result},
    json::DEPTH_MAX,
    text::shortened,
};
use serde_json::Value;
use std::{collections::HashMap, ops::AddAssign};

/// The most subschemas that a schema may expand into, over all depths of a record.
const EXPANDED_MAX: u64 = 10_000;

/// The most steps that a validation may take: some seconds on a slow machine.
const STEPS_MAX: u64 = 50_000_000;

/// The most memory that the errors of one value may take.
const ERRORS_MAX_BYTES: u64 = 32 << 20;

/// The bytes of one error, its path left out.
const ERROR_BYTES: u64 = 1_000;

/// So many bytes of a text take a step.
const TEXT_STEP_BYTES: usize = 16;

/// Subschemas within each other, references followed.
const NESTED_MAX: usize = 1_000;

/// The expansion of a schema.
#[derive(Debug)]
pub struct Expansion {
    /// The steps that a byte or node of a value takes at the most.
    steps: u64,
}

impl Expansion {
    /// Counts what a schema expands into.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`] for more than [`EXPANDED_MAX`] subschemas, with their number;
    /// for a reference to itself without a way into the value; and for one out of the schema.
    pub fn of(schema: &Value) -> Result<Self> {
        let mut counter = Counter {
            root: schema,
            names: HashMap::new(),
            counts: HashMap::new(),
            nested: 0,
        };
        counter.collect_names(schema);
        let Count { subschemas, steps } = counter.count(schema, DEPTH_MAX)?;
        if subschemas > EXPANDED_MAX {
            return Err(Error::invalid(format!(
                "the schema expands into {subschemas} subschemas, at most {EXPANDED_MAX} are checked; \
                 use fewer references"
            )));
        }
        Ok(Self { steps })
    }

    /// Returns whether a value can be validated in bounded time.
    pub fn allows(&self, value: &Value) -> bool {
        self.steps(value) <= STEPS_MAX
    }

    /// Returns whether all errors of a value can be listed in bounded memory: each step may give one, and each error
    /// holds a path of its own.
    pub fn can_list_errors(&self, value: &Value) -> bool {
        let error = ERROR_BYTES.saturating_add(longest_path(value));
        self.steps(value).saturating_mul(error) <= ERRORS_MAX_BYTES
    }

    fn steps(&self, value: &Value) -> u64 {
        self.steps.saturating_mul(size(value))
    }
}

/// The length of the longest path into a value, in bytes.
fn longest_path(value: &Value) -> u64 {
    const INDEX_BYTES: u64 = 8;
    match value {
        Value::Array(items) => INDEX_BYTES + items.iter().map(longest_path).max().unwrap_or(0),
        Value::Object(of) => {
            let paths = of.iter();
            let lengths = paths.map(|(key, part)| 1 + key.len() as u64 + longest_path(part));
            lengths.max().unwrap_or(0)
        }
        _ => 0,
    }
}

/// The steps that a value takes where each of its parts takes one.
fn size(value: &Value) -> u64 {
    let text = |text: &str| 1 + (text.len() / TEXT_STEP_BYTES) as u64;
    match value {
        Value::Array(items) => 1 + items.iter().map(size).sum::<u64>(),
        Value::Object(of) => {
            1 + of
                .iter()
                .map(|(key, part)| text(key) + size(part))
                .sum::<u64>()
        }
        Value::String(of) => text(of),
        _ => 1,
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Count {
    subschemas: u64,
    steps: u64,
}

impl AddAssign for Count {
    fn add_assign(&mut self, more: Self) {
        self.subschemas = self.subschemas.saturating_add(more.subschemas);
        self.steps = self.steps.saturating_add(more.steps);
    }
}

struct Counter<'a> {
    root: &'a Value,
    /// Subschemas by `$anchor`, `$dynamicAnchor` and `$id`.
    names: HashMap<&'a str, &'a Value>,
    /// By the subschema's address and the depth that is left; `None` while it is being counted.
    counts: HashMap<(*const Value, usize), Option<Count>>,
    nested: usize,
}

impl<'a> Counter<'a> {
    fn collect_names(&mut self, value: &'a Value) {
        match value {
            Value::Object(object) => {
                for name in ["$anchor", "$dynamicAnchor", "$id", "id"] {
                    if let Some(Value::String(name)) = object.get(name) {
                        self.names.entry(name.trim_matches('#')).or_insert(value);
                    }
                }
                object.values().for_each(|part| self.collect_names(part));
            }
            Value::Array(items) => items.iter().for_each(|item| self.collect_names(item)),
            _ => {}
        }
    }

    /// A subschema with all that it leads to, for a value with so many levels below.
    fn count(&mut self, schema: &'a Value, depth: usize) -> Result<Count> {
        let key = (std::ptr::from_ref(schema), depth);
        match self.counts.get(&key) {
            Some(Some(known)) => return Ok(*known),
            Some(None) => {
                return Err(Error::invalid(
                    "the schema refers to itself without going into the value",
                ));
            }
            None => {}
        }
        if self.nested >= NESTED_MAX {
            return Err(Error::invalid("the schema is nested too deep"));
        }
        self.nested += 1;
        self.counts.insert(key, None);
        let count = self.count_keywords(schema, depth)?;
        self.counts.insert(key, Some(count));
        self.nested -= 1;
        Ok(count)
    }

    fn count_keywords(&mut self, schema: &'a Value, depth: usize) -> Result<Count> {
        let mut count = Count {
            subschemas: 1,
            steps: 1,
        };
        let mut of_itself = Count::default();
        for (keyword, value) in schema.as_object().into_iter().flatten() {
            match keyword.as_str() {
                "allOf" | "anyOf" | "oneOf" | "not" | "if" | "then" | "else" => {
                    for schema in listed(value) {
                        of_itself += self.count(schema, depth)?;
                    }
                }
                "$ref" | "$dynamicRef" | "$recursiveRef" => {
                    if let Value::String(reference) = value {
                        of_itself += self.count(self.target(reference)?, depth)?;
                    }
                }
                "dependentSchemas" | "dependencies" => {
                    for schema in named(value) {
                        of_itself += self.count(schema, depth)?;
                    }
                }
                // Each value in an object is at most one of them.
                "properties" => {
                    let mut largest = Count::default();
                    for schema in named(value) {
                        let one = self.count_below(schema, depth)?;
                        largest.subschemas = largest.subschemas.max(one.subschemas);
                        largest.steps = largest.steps.max(one.steps);
                    }
                    count += largest;
                }
                "patternProperties" => {
                    for schema in named(value) {
                        count += self.count_below(schema, depth)?;
                    }
                }
                "items"
                | "prefixItems"
                | "additionalItems"
                | "contains"
                | "additionalProperties"
                | "unevaluatedItems"
                | "unevaluatedProperties"
                | "propertyNames" => {
                    for schema in listed(value) {
                        count += self.count_below(schema, depth)?;
                    }
                }
                "$defs" | "definitions" => {}
                _ => count.steps = count.steps.saturating_add(size(value)),
            }
        }
        count += of_itself;
        // What is not evaluated yet is found by validating once more.
        if ["unevaluatedProperties", "unevaluatedItems"]
            .iter()
            .any(|name| schema.get(name).is_some())
        {
            count += of_itself;
        }
        Ok(count)
    }

    /// As [`Self::count`], of what holds for parts of the value.
    fn count_below(&mut self, schema: &'a Value, depth: usize) -> Result<Count> {
        match depth.checked_sub(1) {
            Some(below) => self.count(schema, below),
            None => Ok(Count::default()),
        }
    }

    /// The schema that a reference refers to.
    fn target(&self, reference: &str) -> Result<&'a Value> {
        let (of, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let document = match of {
            "" => Some(self.root),
            id => self.names.get(id).copied(),
        };
        let target = document.and_then(|document| match fragment {
            "" => Some(document),
            pointer if pointer.starts_with('/') => {
                let pointer = percent_encoding::percent_decode_str(pointer).decode_utf8_lossy();
                document.pointer(&pointer)
            }
            anchor => self.names.get(anchor).copied(),
        });
        target.ok_or_else(|| {
            Error::invalid(format!(
                "the schema refers to \"{}\", which is not in it",
                shortened(reference)
            ))
        })
    }
}

/// A subschema, or a list of them.
fn listed(value: &Value) -> &[Value] {
    match value {
        Value::Array(list) => list,
        schema => std::slice::from_ref(schema),
    }
}

/// Subschemas by name; a list there is one of names.
fn named(value: &Value) -> impl Iterator<Item = &Value> {
    let named = value
        .as_object()
        .into_iter()
        .flat_map(|named| named.values());
    named.filter(|one| !one.is_array())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Map, json};

    /// Definitions of which each refers twice to the next.
    fn doubling(definitions: usize, keyword: &str) -> Value {
        let mut all = Map::new();
        for number in 0..definitions {
            let next = json!({"$ref": format!("#/$defs/d{}", number + 1)});
            all.insert(format!("d{number}"), json!({keyword: [next, next]}));
        }
        all.insert(format!("d{definitions}"), json!({"type": "object"}));
        json!({"$ref": "#/$defs/d0", "$defs": all})
    }

    #[test]
    fn references_count_wherever_they_stand() {
        for keyword in ["allOf", "anyOf", "oneOf"] {
            assert!(Expansion::of(&doubling(10, keyword)).is_ok());
            let refused = Expansion::of(&doubling(40, keyword)).unwrap_err();
            // Each reference is a subschema as well.
            assert!(
                refused.to_string().contains("expands into 4398046511102 "),
                "{}",
                refused
            );
        }
    }

    #[test]
    fn a_schema_may_describe_a_tree_but_not_twice_at_each_step() {
        let tree = json!({
            "properties": {
                "left": {"$ref": "#"}, "right": {"$ref": "#"},
                "more": {"type": "array", "items": {"$ref": "#"}},
            },
        });
        assert!(Expansion::of(&tree).is_ok());
        let again = json!({"properties": {"next": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}}});
        assert!(Expansion::of(&again).is_err());
        for looping in [
            json!({"$ref": "#"}),
            json!({"allOf": [{"anyOf": [{"$ref": "#"}]}]}),
        ] {
            let refused = Expansion::of(&looping).unwrap_err();
            assert!(refused.to_string().contains("itself"), "{refused}");
        }
    }

    #[test]
    fn references_are_followed_within_the_schema_alone() {
        for known in [
            "#/$defs/a",
            "#a",
            "#/$defs/a~1b",
            "#/$defs/a%25",
            "urn:x#/$defs/a",
        ] {
            let schema = json!({
                "$id": "urn:x", "$ref": known,
                "$defs": {"a": {"$anchor": "a"}, "a/b": {}, "a%": {}},
            });
            assert!(Expansion::of(&schema).is_ok(), "{known}");
        }
        for unknown in [
            "#/$defs/b",
            "#b",
            "https://example.com/a.json",
            "other.json",
        ] {
            assert!(
                Expansion::of(&json!({"$ref": unknown})).is_err(),
                "{unknown}"
            );
        }
    }

    #[test]
    fn what_a_value_costs_has_a_bound() {
        let numbers: Vec<_> = (0..10_000).collect();
        let choice = Expansion::of(&json!({"items": {"enum": numbers}})).unwrap();
        assert!(choice.allows(&json!(vec![1; 1_000])));
        assert!(!choice.allows(&json!(vec![1; 400_000])));
        let plain = Expansion::of(&json!({"items": {"type": "integer"}})).unwrap();
        assert!(plain.allows(&json!(vec![1; 400_000])));
    }

    #[test]
    fn errors_are_listed_only_where_their_number_and_paths_are_small() {
        let of_numbers = Expansion::of(&json!({"items": {"type": "integer"}})).unwrap();
        assert!(of_numbers.can_list_errors(&json!(vec!["a"; 1_000])));
        assert!(!of_numbers.can_list_errors(&json!(vec!["a"; 100_000])));
        let each = json!({"$ref": "#/$defs/d0"});
        let of_values =
            json!({"additionalProperties": each, "$defs": doubling(10, "allOf")["$defs"]});
        let of_values = Expansion::of(&of_values).unwrap();
        assert!(of_values.can_list_errors(&json!({"key": 1})));
        assert!(!of_values.can_list_errors(&json!({"k".repeat(100_000): 1})));
    }
}
