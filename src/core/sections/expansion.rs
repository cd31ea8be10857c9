//! How much a schema expands into. A validator follows every reference anew wherever it stands, so
//! that two references in each of forty definitions are a million million subschemas. They are
//! counted here without being followed one by one: for each depth below a section, how many
//! subschemas one value there may be held against.

use crate::types::{
    error::{Error, Result},
    json::DEPTH_MAX,
    text::shortened,
};
use serde_json::{Map, Value};
use std::collections::HashMap;

/// The most subschemas that a schema may expand into, over all depths of a record.
const EXPANDED_MAX: u64 = 10_000;
/// The most steps that a validation may take: some seconds on a slow machine.
const STEPS_MAX: u64 = 50_000_000;
/// The most memory that the errors of one value may take.
const ERRORS_MAX_BYTES: u64 = 32 << 20;
/// What one error takes, its path left out.
const ERROR_BYTES: u64 = 1_000;
/// So many bytes of a text take a step.
const TEXT_STEP_BYTES: usize = 16;

/// Keywords whose subschema, or list of them, holds for the value itself.
const OF_ITSELF: [&str; 7] = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else"];
/// Keywords whose subschema, or list of them, holds for what is in the value.
const OF_CONTENT: [&str; 8] = [
    "items",
    "prefixItems",
    "additionalItems",
    "contains",
    "additionalProperties",
    "unevaluatedItems",
    "unevaluatedProperties",
    "propertyNames",
];
/// Keywords that refer to another place of the schema.
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];
/// Keywords that hold subschemas by a name of their own.
const NAMED: [&str; 4] = [
    "properties",
    "patternProperties",
    "dependentSchemas",
    "dependencies",
];

/// What a schema expands into.
#[derive(Debug)]
pub struct Expansion {
    /// By depth: the steps that a byte or node of a value takes there.
    steps: Vec<u64>,
}

impl Expansion {
    /// Counts what a schema expands into.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`] for more than [`EXPANDED_MAX`] subschemas, with their number;
    /// for a reference to itself without a way into the value; and for one out of the schema.
    pub fn of(schema: &Value) -> Result<Self> {
        let graph = Graph::of(schema)?;
        let order = graph.order()?;
        let counted = graph.per_depth(&order, |_| 1);
        let expanded = counted
            .iter()
            .fold(0_u64, |sum, of| sum.saturating_add(*of));
        if expanded > EXPANDED_MAX {
            return Err(Error::invalid(format!(
                "the schema expands into {expanded} subschemas, at most {EXPANDED_MAX} are checked; \
                 use fewer references"
            )));
        }
        Ok(Self {
            steps: graph.per_depth(&order, |node| node.weight),
        })
    }

    /// Whether a value can be held against the schema in bounded time.
    #[must_use]
    pub fn allows(&self, value: &Value) -> bool {
        self.steps(value) <= STEPS_MAX
    }

    /// Whether all errors of a value can be listed in bounded memory: each step may give one, and
    /// each error holds a path of its own.
    #[must_use]
    pub fn can_list_errors(&self, value: &Value) -> bool {
        let error = ERROR_BYTES.saturating_add(longest_path(value));
        self.steps(value).saturating_mul(error) <= ERRORS_MAX_BYTES
    }

    /// The most steps that it takes to hold a value against the schema.
    fn steps(&self, value: &Value) -> u64 {
        let mut sizes = vec![0; self.steps.len()];
        measure(value, 0, &mut sizes);
        let steps = self.steps.iter().zip(sizes);
        steps.fold(0_u64, |sum, (steps, size)| {
            sum.saturating_add(steps.saturating_mul(size))
        })
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

/// Adds the size of a value, by depth.
fn measure(value: &Value, depth: usize, sizes: &mut [u64]) {
    let Some(size) = sizes.get_mut(depth) else {
        return;
    };
    let text = |text: &str| 1 + (text.len() / TEXT_STEP_BYTES) as u64;
    *size += match value {
        Value::String(of) => text(of),
        Value::Object(of) => 1 + of.keys().map(|key| text(key)).sum::<u64>(),
        _ => 1,
    };
    match value {
        Value::Array(items) => items
            .iter()
            .for_each(|item| measure(item, depth + 1, sizes)),
        Value::Object(of) => of.values().for_each(|part| measure(part, depth + 1, sizes)),
        _ => {}
    }
}

/// A subschema, by the places of others in [`Graph::nodes`].
#[derive(Default)]
struct Node {
    /// Steps that it takes itself.
    weight: u64,
    /// Those that hold for the same value.
    of_itself: Vec<usize>,
    /// Those of properties: each value in an object is at most one of them.
    of_properties: Vec<usize>,
    /// Those that hold for whatever is in the value.
    of_content: Vec<usize>,
}

#[derive(Default)]
struct Graph {
    nodes: Vec<Node>,
}

/// Subschemas while their graph is built.
struct Builder<'a> {
    root: &'a Value,
    /// The places of subschemas, by their addresses in the document.
    places: HashMap<*const Value, usize>,
    found: Vec<&'a Value>,
    /// Subschemas by `$anchor`, `$dynamicAnchor` and `$id`.
    names: HashMap<&'a str, &'a Value>,
}

impl Graph {
    fn of(root: &Value) -> Result<Self> {
        let mut builder = Builder {
            root,
            places: HashMap::new(),
            found: Vec::new(),
            names: HashMap::new(),
        };
        builder.collect_names(root);
        builder.place(root);
        let mut graph = Self::default();
        while let Some(schema) = builder.found.get(graph.nodes.len()).copied() {
            let node = match schema {
                Value::Object(schema) => builder.node(schema)?,
                _ => Node {
                    weight: 1,
                    ..Node::default()
                },
            };
            graph.nodes.push(node);
        }
        Ok(graph)
    }

    /// The nodes such that each comes after those that hold for the same value.
    fn order(&self) -> Result<Vec<usize>> {
        let mut order = Vec::with_capacity(self.nodes.len());
        // Not seen yet, on the way, done.
        let mut states = vec![0_u8; self.nodes.len()];
        for start in 0..self.nodes.len() {
            let mut way = vec![(start, 0)];
            while let Some((node, next)) = way.pop() {
                if next == 0 {
                    if states[node] == 2 {
                        continue;
                    }
                    states[node] = 1;
                }
                let Some(target) = self.nodes[node].of_itself.get(next) else {
                    states[node] = 2;
                    order.push(node);
                    continue;
                };
                way.push((node, next + 1));
                match states[*target] {
                    0 => way.push((*target, 0)),
                    1 => {
                        return Err(Error::invalid(
                            "the schema refers to itself without going into the value",
                        ));
                    }
                    _ => {}
                }
            }
        }
        Ok(order)
    }

    /// By depth below the first node: the weights of all that one value there is held against.
    fn per_depth(&self, order: &[usize], weight: impl Fn(&Node) -> u64) -> Vec<u64> {
        let mut above = vec![0_u64; self.nodes.len()];
        let mut per_depth = Vec::with_capacity(DEPTH_MAX);
        for depth in 0..DEPTH_MAX {
            let mut here = vec![0_u64; self.nodes.len()];
            for at in order {
                let node = &self.nodes[*at];
                let mut sum = if depth == 0 { weight(node) } else { 0 };
                for target in &node.of_itself {
                    sum = sum.saturating_add(here[*target]);
                }
                if depth > 0 {
                    let property = node.of_properties.iter().map(|target| above[*target]);
                    sum = sum.saturating_add(property.max().unwrap_or(0));
                    for target in &node.of_content {
                        sum = sum.saturating_add(above[*target]);
                    }
                }
                here[*at] = sum;
            }
            per_depth.push(here.first().copied().unwrap_or(0));
            above = here;
        }
        per_depth
    }
}

impl<'a> Builder<'a> {
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

    fn place(&mut self, schema: &'a Value) -> usize {
        let next = self.found.len();
        let place = *self
            .places
            .entry(std::ptr::from_ref(schema))
            .or_insert(next);
        if place == next {
            self.found.push(schema);
        }
        place
    }

    /// The places of a subschema, or of a list of them.
    fn places(&mut self, value: &'a Value) -> Vec<usize> {
        match value {
            Value::Array(list) => list.iter().map(|schema| self.place(schema)).collect(),
            schema => vec![self.place(schema)],
        }
    }

    fn node(&mut self, schema: &'a Map<String, Value>) -> Result<Node> {
        let mut node = Node {
            weight: 1,
            ..Node::default()
        };
        for (keyword, value) in schema {
            let keyword = keyword.as_str();
            if OF_ITSELF.contains(&keyword) {
                node.of_itself.extend(self.places(value));
            } else if OF_CONTENT.contains(&keyword) {
                node.of_content.extend(self.places(value));
            } else if REFERENCES.contains(&keyword) {
                if let Value::String(reference) = value {
                    let target = self.target(reference)?;
                    node.of_itself.push(self.place(target));
                }
            } else if NAMED.contains(&keyword) {
                if let Value::Object(named) = value {
                    for schema in named.values().filter(|one| !one.is_array()) {
                        let place = self.place(schema);
                        match keyword {
                            "properties" => node.of_properties.push(place),
                            "patternProperties" => node.of_content.push(place),
                            _ => node.of_itself.push(place),
                        }
                    }
                }
            } else if keyword != "$defs" && keyword != "definitions" {
                node.weight = node.weight.saturating_add(nodes(value));
            }
        }
        // What is not evaluated yet is found by validating once more.
        if schema.contains_key("unevaluatedProperties") || schema.contains_key("unevaluatedItems") {
            node.of_itself.extend_from_within(..);
        }
        Ok(node)
    }

    /// What a reference refers to.
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

fn nodes(value: &Value) -> u64 {
    match value {
        Value::Array(items) => 1 + items.iter().map(nodes).sum::<u64>(),
        Value::Object(of) => 1 + of.values().map(nodes).sum::<u64>(),
        Value::String(text) => 1 + (text.len() / TEXT_STEP_BYTES) as u64,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
                refused.message.contains("expands into 4398046511102 "),
                "{}",
                refused.message
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
            assert!(refused.message.contains("itself"), "{}", refused.message);
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
