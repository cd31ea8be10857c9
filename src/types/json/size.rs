//! Sizes of JSON values and JSON Schemas. Their product bounds the steps of a validation, so a schema has no
//! references, and each keyword counts for the steps that it takes.

use serde_json::{Map, Value};

/// The largest schema of a section, in [`schema_size`].
pub const SCHEMA_SIZE_MAX: u64 = 5_000;

/// So many bytes of a text count as one.
const TEXT_UNIT_BYTES: usize = 16;

/// What a keyword counts for whose check takes longer than a comparison.
const DEAR: [(&str, u64); 5] = [
    ("format", 40),
    ("contentEncoding", 40),
    ("contentMediaType", 40),
    // Values with the same hash, as those of `[[], 1]` and `[[1]]`, are all compared with each other.
    ("uniqueItems", 100),
    // It calculates with fractions of any length.
    ("multipleOf", 200),
];

/// What the format `regex` counts for: the names of the groups in a value are all compared with each other.
const FORMAT_REGEX_SIZE: u64 = 1_000;

/// What a pattern counts for, and each of its positions.
const PATTERN_SIZE: u64 = 20;
const POSITION_SIZE: u64 = 20;

/// The keywords that note what they evaluated.
const UNEVALUATED: [&str; 2] = ["unevaluatedProperties", "unevaluatedItems"];

/// The size of a value: each value and key in it counts as one, and a text as one more for every 16 bytes.
pub fn size(value: &Value) -> u64 {
    match value {
        Value::Array(items) => 1 + items.iter().map(size).sum::<u64>(),
        Value::Object(of) => {
            let entries = of.iter().map(|(key, part)| text_size(key) + size(part));
            1 + entries.sum::<u64>()
        }
        Value::String(text) => text_size(text),
        _ => 1,
    }
}

fn text_size(text: &str) -> u64 {
    1 + (text.len() / TEXT_UNIT_BYTES) as u64
}

/// The size of a schema without references: as [`size`], but dear keywords and patterns count for more, and
/// `unevaluatedProperties` and `unevaluatedItems` for what is validated once more for them.
pub fn schema_size(schema: &Value) -> u64 {
    Steps::of(schema).check
}

/// The steps that a schema takes for a value of the size one.
#[derive(Clone, Copy)]
struct Steps {
    /// To validate it.
    check: u64,
    /// To note what the schema evaluates of it: a subschema for the same value is validated for that, and notes what
    /// it evaluates itself.
    mark: u64,
}

impl Steps {
    fn of(schema: &Value) -> Self {
        match schema {
            Value::Array(items) => items.iter().map(Self::of).fold(Self::same(1), Self::add),
            Value::Object(of) => Self::of_schema(of),
            plain => Self::same(size(plain)),
        }
    }

    fn of_schema(of: &Map<String, Value>) -> Self {
        let entries = of
            .iter()
            .map(|(keyword, part)| keyword_steps(keyword, part));
        let mut all = entries.fold(Self::same(1), Self::add);
        if UNEVALUATED.iter().any(|name| of.contains_key(*name)) {
            all.check = all.check.saturating_add(all.mark);
        }
        all
    }

    fn same(steps: u64) -> Self {
        Self {
            check: steps,
            mark: steps,
        }
    }

    fn add(self, other: Self) -> Self {
        Self {
            check: self.check.saturating_add(other.check),
            mark: self.mark.saturating_add(other.mark),
        }
    }
}

fn keyword_steps(keyword: &str, part: &Value) -> Steps {
    let (named, below) = match part {
        Value::Object(named) if keyword == "dependentSchemas" => {
            let names = named.keys().map(|name| text_size(name)).sum::<u64>();
            let schemas = named.values().map(Steps::of);
            (names, schemas.fold(Steps::same(1), Steps::add))
        }
        Value::Object(named) if keyword == "patternProperties" => {
            let patterns = named.keys().map(|pattern| pattern_size(pattern));
            (patterns.fold(0, u64::saturating_add), Steps::of(part))
        }
        _ => (0, Steps::of(part)),
    };
    let own = match part {
        Value::String(pattern) if keyword == "pattern" => pattern_size(pattern),
        Value::String(format) if keyword == "format" && format == "regex" => FORMAT_REGEX_SIZE,
        _ => {
            let dear = DEAR.iter().find(|(name, _)| *name == keyword);
            dear.map_or_else(|| text_size(keyword), |(_, size)| *size)
        }
    };
    let check = own.saturating_add(named).saturating_add(below.check);
    let is_marked = matches!(
        keyword,
        "allOf" | "anyOf" | "oneOf" | "if" | "then" | "else" | "dependentSchemas"
    );
    let marked = if is_marked { below.mark } else { 0 };
    Steps {
        check,
        mark: check.saturating_add(marked),
    }
}

/// Matching a pattern takes a step for each of its positions in the worst case.
fn pattern_size(pattern: &str) -> u64 {
    PATTERN_SIZE.saturating_add(POSITION_SIZE.saturating_mul(positions(pattern)))
}

/// The positions of a pattern: the characters and classes in it, those that are repeated by a number as often as that. It
/// need not be a pattern that can be used; what is not understood counts as characters.
fn positions(pattern: &str) -> u64 {
    // Of what is around each open group; of the innermost group until now; of what a repetition would repeat.
    let (mut around, mut sum, mut last) = (Vec::new(), 0_u64, 0_u64);
    let mut rest = pattern;
    while let Some(next) = rest.chars().next() {
        rest = &rest[next.len_utf8()..];
        let repetition = (next == '{').then(|| repetition(rest)).flatten();
        if let Some((times, after)) = repetition {
            sum = sum.saturating_add(last.saturating_mul(times - 1));
            last = last.saturating_mul(times);
            rest = after;
            continue;
        }
        match next {
            '(' => {
                around.push(std::mem::take(&mut sum));
                last = 0;
            }
            ')' => {
                last = sum;
                sum = sum.saturating_add(around.pop().unwrap_or_default());
            }
            _ => {
                rest = after_atom(next, rest);
                last = 1;
                sum = sum.saturating_add(1);
            }
        }
    }
    around.into_iter().fold(sum, u64::saturating_add)
}

/// The text after an atom: after an escaped character, after the end of a class.
fn after_atom(first: char, rest: &str) -> &str {
    let mut rest = rest.chars();
    if first == '\\' {
        rest.next();
    }
    let mut is_class = first == '[';
    while is_class {
        match rest.next() {
            Some('\\') => {
                rest.next();
            }
            Some(']') | None => is_class = false,
            Some(_) => {}
        }
    }
    rest.as_str()
}

/// The number of times that a repetition repeats, and the text after it; before it is that after its brace, such as
/// `2,9}`.
fn repetition(text: &str) -> Option<(u64, &str)> {
    let (times, after) = text.split_once('}')?;
    let (least, most) = times.split_once(',').unwrap_or((times, times));
    let numbers = [least, most].map(|number| number.trim().parse::<u64>().ok());
    let most = numbers.into_iter().flatten().max()?;
    Some((most.max(1), after))
}

#[cfg(test)]
mod tests {
    use super::*;
    use jsonschema::{Keyword, ValidationError};
    use serde_json::json;
    use std::sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    };

    #[test]
    fn sizes_count_values_keys_and_long_texts() {
        assert_eq!(size(&json!(1)), 1);
        assert_eq!(size(&json!({"a": [1, "x".repeat(32)]})), 1 + 1 + 1 + 1 + 3);
        let plain = json!({"allOf": [true], "properties": {"a": {"type": "string"}}});
        assert_eq!(schema_size(&plain), size(&plain));
        assert_eq!(schema_size(&json!({"format": "date"})), 1 + 40 + 1);
        let named = json!({"patternProperties": {"^a": true, "b{9}": true}});
        assert_eq!(
            schema_size(&named),
            1 + 2 + (20 + 40) + (20 + 180) + size(&json!({"a": 1, "b": 1}))
        );
    }

    #[test]
    fn positions_of_a_pattern_count_repetitions() {
        for (pattern, count) in [
            ("", 0),
            ("^a.$", 4),
            ("[a-z]+", 2),
            (r"[^\]\]]\d", 2),
            ("a{3}", 3),
            ("ab{2,9}c", 11),
            ("b{4,}", 4),
            ("b{,4}", 4),
            ("b{0}", 1),
            ("(ab|c){10}d", 41),
            ("((a{2}){3}){4}", 24),
            ("a{2}{3}", 6),
            (r"\{2\}a{x}", 3 + 4),
            ("(a", 1),
            ("[a", 1),
        ] {
            assert_eq!(positions(pattern), count, "{pattern}");
        }
        assert_eq!(positions(&"(a{1000}".repeat(8)), 8_000);
        let much = format!("{}a{}", "(".repeat(30), "{1000})".repeat(30));
        assert_eq!(positions(&much), u64::MAX);
    }

    /// Counts the values that it is asked for.
    struct Counter(Arc<AtomicU64>);

    impl Keyword<'_> for Counter {
        fn validate(&self, instance: &Value) -> Result<(), ValidationError<'static>> {
            self.is_valid(instance);
            Ok(())
        }

        fn is_valid(&self, _: &Value) -> bool {
            self.0.fetch_add(1, Ordering::Relaxed);
            true
        }
    }

    /// A schema of so many others within each other; `wrap` gives the one around another.
    fn nested(depth: usize, wrap: impl Fn(Value) -> Value) -> Value {
        (0..depth).fold(json!({"counted": 1}), |inner, _| wrap(inner))
    }

    #[test]
    fn validation_takes_no_more_steps_than_the_product_of_the_sizes() {
        let counted = json!({"counted": 1});
        let all = |inner: Value| json!({"counted": 1, "allOf": [inner]});
        let closed = |inner: Value| json!({"counted": 1, "unevaluatedProperties": counted, "anyOf": [inner, counted]});
        let of_items = |inner: Value| json!({"counted": 1, "unevaluatedItems": inner, "contains": counted, "oneOf": [false, inner]});
        let depending = |inner: Value| json!({"unevaluatedProperties": false, "dependentSchemas": {"a": inner}});
        let chosen =
            |inner: Value| json!({"unevaluatedProperties": counted, "if": inner, "then": inner});
        let mut deep = nested(50, |inner| json!({"counted": 1, "anyOf": [inner]}));
        deep["unevaluatedProperties"] = json!(false);
        let wide = vec![json!({"counted": 1, "properties": {"a": counted}}); 40];
        for schema in [
            json!({"items": counted, "additionalProperties": counted, "uniqueItems": true}),
            json!({"anyOf": [{"not": counted}, {"not": counted}, counted], "propertyNames": counted}),
            json!({"contains": counted, "minContains": 2, "prefixItems": [counted, counted]}),
            json!({"patternProperties": {"a": counted, "^": counted, "a|b": counted}}),
            json!({"unevaluatedProperties": counted, "anyOf": wide}),
            json!({"unevaluatedProperties": counted, "allOf": wide}),
            nested(50, all),
            deep,
            nested(8, closed),
            nested(8, of_items),
            nested(8, depending),
            nested(6, chosen),
            nested(
                12,
                |inner| json!({"properties": {"a": inner}, "unevaluatedProperties": false}),
            ),
        ] {
            let count = Arc::new(AtomicU64::new(0));
            let counter = Arc::clone(&count);
            let validator = jsonschema::options()
                .with_keyword("counted", move |_, _, _| {
                    Ok(Box::new(Counter(Arc::clone(&counter))))
                })
                .build(&schema)
                .unwrap();
            let pairs = (0..50).map(|number| (format!("a{number}"), json!({"a": {"a": {}}})));
            let many = Value::Object(pairs.collect());
            let deep = (0..12).fold(json!({}), |inner, _| json!({"a": inner}));
            for value in [
                json!({}),
                json!([]),
                json!({"a": 1}),
                json!([1, [2], {}]),
                many,
                deep,
            ] {
                count.store(0, Ordering::Relaxed);
                let _ = validator.is_valid(&value);
                let steps = count.load(Ordering::Relaxed);
                let bound = schema_size(&schema) * size(&value);
                assert!(
                    steps <= bound,
                    "{steps} > {bound}: {value:.80} {schema:.300}"
                );
            }
        }
    }

    #[test]
    fn what_is_validated_twice_counts_twice() {
        let open = nested(20, |inner| json!({"allOf": [inner]}));
        let mut closed = open.clone();
        closed["unevaluatedProperties"] = json!(false);
        // Each level once more for each level above it.
        assert!(schema_size(&closed) > 10 * schema_size(&open));
        let much = nested(
            30,
            |inner| json!({"unevaluatedItems": false, "anyOf": [inner]}),
        );
        assert!(schema_size(&much) > 1 << 30);
    }
}
