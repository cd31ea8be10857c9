//! A JSON Schema. Compiled ones are kept by their text, for all of the process: whoever writes a
//! thousand records compiles once, and a schema that changes has another text.

use super::expansion::Expansion;
use crate::types::error::{Error, Result};
use jsonschema::{PatternOptions, ValidationError, Validator, paths::LocationSegment};
use serde_json::Value;
use std::{
    collections::HashMap,
    fmt::Write,
    sync::{Arc, Mutex, PoisonError},
};

/// Compiled schemas that are kept; more than there can be in one file.
const KEPT_MAX: usize = 256;
/// Faults that a message names.
const FAULTS_MAX: usize = 3;
/// The longest description of a fault with the value at fault in it, in characters.
const FAULT_MAX_CHARS: usize = 160;
/// The largest compiled pattern, in bytes.
const PATTERN_MAX_BYTES: usize = 1 << 20;

static KEPT: Mutex<Option<HashMap<String, Schema>>> = Mutex::new(None);

/// A compiled schema.
#[derive(Clone)]
pub struct Schema(Arc<Compiled>);

struct Compiled {
    validator: Validator,
    expansion: Expansion,
}

impl Schema {
    /// The schema of a text.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`], saying what is wrong with it.
    pub fn of(text: &str) -> Result<Self> {
        let kept = |kept: &mut HashMap<String, Self>| kept.get(text).cloned();
        if let Some(known) = with_kept(kept) {
            return Ok(known);
        }
        let schema: Value = serde_json::from_str(text).map_err(Error::invalid_cause)?;
        let expansion = Expansion::of(&schema)?;
        let validator = jsonschema::options()
            // Otherwise a date would be any text.
            .should_validate_formats(true)
            // Time to match grows with the text and no faster, whatever the pattern.
            .with_pattern_options(
                PatternOptions::regex()
                    .size_limit(PATTERN_MAX_BYTES)
                    .dfa_size_limit(PATTERN_MAX_BYTES),
            )
            .offline()
            .build(&schema)
            .map_err(|fault| {
                Error::invalid(format!(
                    "this is no JSON Schema that can be used: {}",
                    described("schema", &fault)
                ))
            })?;
        let compiled = Self(Arc::new(Compiled {
            validator,
            expansion,
        }));
        with_kept(|kept| {
            if kept.len() >= KEPT_MAX {
                kept.clear();
            }
            kept.insert(text.to_owned(), compiled.clone());
        });
        Ok(compiled)
    }

    /// Checks a value; `path` is what messages call it, such as `data.Medical`.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`], with the path of what does not fit.
    pub fn check(&self, path: &str, value: &Value) -> Result<()> {
        if !self.0.expansion.allows(value) {
            return Err(Error::invalid(format!(
                "{path}: is too large to be checked against its schema"
            )));
        }
        if self.0.validator.is_valid(value) {
            return Ok(());
        }
        // The validator collects all errors before it gives the first of them.
        if !self.0.expansion.can_list_errors(value) {
            return Err(Error::invalid(format!(
                "{path}: does not fit its schema; value and schema are too large to say where"
            )));
        }
        let faults = self.0.validator.iter_errors(value).take(FAULTS_MAX);
        let faults: Vec<_> = faults.map(|fault| described(path, &fault)).collect();
        Err(Error::invalid(faults.join("; ")))
    }
}

fn with_kept<T>(work: impl FnOnce(&mut HashMap<String, Schema>) -> T) -> T {
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    work(kept.get_or_insert_with(HashMap::new))
}

/// A fault with its path, such as `data.Medical.allergies[0]: …`.
fn described(path: &str, fault: &ValidationError<'_>) -> String {
    let mut text = path.to_owned();
    for segment in fault.instance_path().segments() {
        match segment {
            LocationSegment::Property(name) => {
                text.push('.');
                text.push_str(&name);
            }
            LocationSegment::Index(at) => {
                let _ = write!(text, "[{at}]");
            }
        }
    }
    let whole = fault.to_string();
    // A value may be a megabyte long.
    let told = if whole.chars().count() > FAULT_MAX_CHARS {
        fault.masked_with("this value").to_string()
    } else {
        whole
    };
    format!("{text}: {told}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_does_not_fit_is_told_by_its_path() {
        let schema = json!({
            "type": "object",
            "properties": {
                "meal": {"enum": ["vegan", "none"]},
                "born": {"type": "string", "format": "date"},
                "allergies": {"type": "array", "items": {"type": "string", "pattern": "^[a-z]+$"}},
            },
            "required": ["meal"],
        });
        let schema = Schema::of(&schema.to_string()).unwrap();
        let told = |value: Value| schema.check("data.Medical", &value).unwrap_err().message;
        assert!(
            schema
                .check(
                    "data.Medical",
                    &json!({"meal": "vegan", "born": "2001-02-28"})
                )
                .is_ok()
        );
        assert!(told(json!({})).starts_with("data.Medical: \"meal\" is a required property"));
        assert!(
            told(json!({"meal": "fish"})).starts_with("data.Medical.meal: \"fish\" is not one of")
        );
        assert!(
            told(json!({"meal": "none", "born": "2001-02-30"})).starts_with("data.Medical.born")
        );
        assert!(
            told(json!({"meal": "none", "allergies": ["nuts", "Q"]}))
                .starts_with("data.Medical.allergies[1]: ")
        );
        let long = told(json!({"meal": "x".repeat(10_000)}));
        assert!(long.len() < 300, "{long}");
    }

    #[test]
    fn too_many_errors_are_not_collected() {
        let alternative = |kind: &str| json!({"required": ["kind", "a", "b"], "properties": {"kind": {"const": kind}}});
        let kinds = ["vegan", "kosher", "halal", "none"].map(alternative);
        let schema = json!({"items": {"oneOf": kinds}});
        let schema = Schema::of(&schema.to_string()).unwrap();
        let told = |items: usize| {
            let value = json!(vec![json!({}); items]);
            schema.check("data.Diet", &value).unwrap_err().message
        };
        assert!(told(10).starts_with("data.Diet[0]: {} is not valid under any of the schemas"));
        assert_eq!(
            told(100_000),
            "data.Diet: does not fit its schema; value and schema are too large to say where"
        );
        let fine = json!({"kind": "none", "a": 1, "b": 2});
        let fine = json!(vec![fine; 100_000]);
        assert!(schema.check("data.Diet", &fine).is_ok());
    }

    #[test]
    fn what_is_no_schema_is_refused() {
        for schema in [
            json!({"type": "strin"}),
            json!({"properties": []}),
            json!({"$ref": "https://example.com/schema.json"}),
            json!({"type": "string", "pattern": "("}),
            json!({"type": "string", "pattern": "(?=look)ahead"}),
        ] {
            assert!(Schema::of(&schema.to_string()).is_err(), "{schema}");
        }
    }

    #[test]
    fn a_schema_that_refers_to_the_same_again_and_again_is_compiled_once() {
        let mut all = serde_json::Map::new();
        for number in 0..40 {
            let next = json!({"$ref": format!("#/$defs/d{}", number + 1)});
            let properties = json!({"properties": {"x": next, "y": next}});
            all.insert(format!("d{number}"), properties);
        }
        all.insert("d40".to_owned(), json!({"type": "integer"}));
        let schema = json!({"$ref": "#/$defs/d0", "$defs": all});
        let schema = Schema::of(&schema.to_string()).unwrap();
        assert!(schema.check("data.A", &json!({"x": {"y": {}}})).is_ok());
    }
}
