//! A JSON Schema, compiled, and what it says of values. Compiled schemas are cached by their text.

use super::Kind;
use crate::types::{
    error::{Error, Result},
    json::{
        schema::find_reference,
        size::{schema_size, size},
    },
};
use jsonschema::{PatternOptions, ValidationError, Validator, paths::LocationSegment};
use rusqlite::Connection;
use serde_json::Value;
use std::{
    collections::HashMap,
    fmt::Write,
    sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// Compiled schemas in the cache; more than there can be in one file.
const SCHEMAS_MAX: usize = 256;
/// The largest product of the sizes of schema and value, and the largest sum of them in one write: everybody who writes
/// waits for the validation.
pub const COST_MAX: u64 = 250_000;
/// The largest product, and the largest value, of which every fault is listed: a fault costs more than a step, and holds a
/// path of its own.
const LISTED_COST_MAX: u64 = 40_000;
const LISTED_SIZE_MAX: u64 = 1_000;
/// Faults that a message names.
const FAULTS_MAX: usize = 3;
/// The longest description of a fault with the value at fault in it, in characters.
const FAULT_MAX_CHARS: usize = 160;
/// The largest compiled pattern, and the most that matching remembers of its states, in bytes: beyond it, a text is matched
/// position by position, which takes less time than to make states that are used once.
const PATTERN_MAX_BYTES: usize = 1 << 20;
const PATTERN_STATES_MAX_BYTES: usize = 1 << 17;

static SCHEMAS: LazyLock<Mutex<HashMap<String, Schema>>> = LazyLock::new(Mutex::default);

fn cache() -> MutexGuard<'static, HashMap<String, Schema>> {
    SCHEMAS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A compiled schema.
#[derive(Clone)]
pub struct Schema(Arc<Compiled>);

struct Compiled {
    validator: Validator,
    size: u64,
}

impl Schema {
    /// The schema of a text.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`], saying what is wrong with it.
    pub fn of(text: &str) -> Result<Self> {
        let cached = cache().get(text).cloned();
        if let Some(cached) = cached {
            return Ok(cached);
        }
        let schema: Value = serde_json::from_str(text).map_err(Error::invalid_cause)?;
        if let Some(path) = find_reference(&schema) {
            return Err(Error::field(
                format!("schema.{path}"),
                "references are not supported; write out here what it refers to",
            ));
        }
        let validator = jsonschema::options()
            // Otherwise a date would be any text.
            .should_validate_formats(true)
            // Time to match grows with the text and no faster, whatever the pattern.
            .with_pattern_options(
                PatternOptions::regex()
                    .size_limit(PATTERN_MAX_BYTES)
                    .dfa_size_limit(PATTERN_STATES_MAX_BYTES),
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
            size: schema_size(&schema),
        }));
        let mut cached = cache();
        if cached.len() >= SCHEMAS_MAX {
            cached.clear();
        }
        cached.insert(text.to_owned(), compiled.clone());
        Ok(compiled)
    }

    /// Checks a value; `path` is what messages call it, such as `data.Medical`.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`], with the path of what does not fit.
    pub fn check(&self, path: &str, value: &Value) -> Result<()> {
        self.check_within(path, value, &mut COST_MAX.clone())
    }

    /// As [`Schema::check`]; takes what it costs from what is `left` of [`COST_MAX`].
    fn check_within(&self, path: &str, value: &Value, left: &mut u64) -> Result<()> {
        let size = size(value);
        let cost = self.0.size.saturating_mul(size);
        *left = left.checked_sub(cost).ok_or_else(|| {
            let told = if cost > COST_MAX {
                "is too large to be checked against its schema"
            } else {
                "is too large to be checked together with the sections before it; write it alone"
            };
            Error::field(path, told)
        })?;
        if self.0.validator.is_valid(value) {
            return Ok(());
        }
        // The validator collects all errors before it gives the first of them.
        if cost > LISTED_COST_MAX || size > LISTED_SIZE_MAX {
            return Err(Error::field(
                path,
                "does not fit its schema; value and schema are too large to say where",
            ));
        }
        let faults = self.0.validator.iter_errors(value).take(FAULTS_MAX);
        let told = faults
            .map(|fault| described(path, &fault))
            .reduce(|mut first, fault| {
                first.message = format!("{}; {fault}", first.message);
                first
            });
        Err(told.unwrap_or_else(|| Error::field(path, "does not fit its schema")))
    }
}

/// A fault with its path, such as `data.Medical.allergies[0]`.
fn described(path: &str, fault: &ValidationError<'_>) -> Error {
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
    Error::field(text, told)
}

/// Validates a value at a path against a stored schema; takes what it costs from what is `left` of [`COST_MAX`].
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`], with the path of what does not fit, or saying why it cannot be
/// validated.
pub fn validate(schema: &str, path: &str, value: &Value, left: &mut u64) -> Result<()> {
    let compiled = Schema::of(schema).map_err(|cause| {
        Error::invalid(format!(
            "its schema cannot be used, so nothing is stored here until an administrator changes it: {cause}"
        ))
        .at(path)
    })?;
    compiled.check_within(path, value, left)
}

/// Records that are named.
const NAMED_MAX: usize = 5;
/// The longest time of a survey: whoever reads for longer keeps the log from being emptied.
const TIME_MAX: Duration = Duration::from_secs(10);

/// The fit of a section's stored values to a schema.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// Living records that have the section.
    pub having: i64,
    /// Records whose section does not fit.
    pub misfits: i64,
    /// The first of those: id and what does not fit.
    pub first: Vec<(i64, String)>,
    /// There are more records, which were not looked at in time.
    pub cut_off: bool,
}

/// Holds every living record that has a section against a schema.
pub fn survey(
    connection: &Connection,
    kind: Kind,
    name: &str,
    schema: Option<&Schema>,
) -> Result<Survey> {
    // Records without the quoted name are not parsed.
    let mut statement = connection.prepare(&format!(
        "SELECT id, data FROM {} WHERE deleted_at IS NULL AND data IS NOT NULL AND instr(data, ?1)
         ORDER BY id",
        kind.table()
    ))?;
    let mut rows = statement.query([Value::from(name).to_string()])?;
    let mut survey = Survey::default();
    let begun = Instant::now();
    while let Some(row) = rows.next()? {
        let data: Value = serde_json::from_str(row.get_ref(1)?.as_str().unwrap_or_default())
            .unwrap_or(Value::Null);
        let Some(value) = data.get(name) else {
            continue;
        };
        if begun.elapsed() > TIME_MAX {
            survey.cut_off = true;
            break;
        }
        survey.having += 1;
        let Some(Err(fault)) = schema.map(|schema| schema.check(&format!("data.{name}"), value))
        else {
            continue;
        };
        survey.misfits += 1;
        if survey.first.len() < NAMED_MAX {
            survey.first.push((row.get(0)?, fault.to_string()));
        }
    }
    Ok(survey)
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
        let told = |value: Value| {
            schema
                .check("data.Medical", &value)
                .unwrap_err()
                .to_string()
        };
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
            schema.check("data.Diet", &value).unwrap_err().to_string()
        };
        assert!(told(10).starts_with("data.Diet[0]: {} is not valid under any of the schemas"));
        for items in [1_000, 2_000] {
            assert_eq!(
                told(items),
                "data.Diet: does not fit its schema; value and schema are too large to say where"
            );
        }
        let fine = json!({"kind": "none", "a": 1, "b": 2});
        let check = |items| schema.check("data.Diet", &json!(vec![fine.clone(); items]));
        check(300).unwrap();
        let refused = check(10_000).unwrap_err().to_string();
        assert_eq!(
            refused,
            "data.Diet: is too large to be checked against its schema"
        );
    }

    #[test]
    fn what_is_no_schema_is_refused() {
        for schema in [
            json!({"type": "strin"}),
            json!({"properties": []}),
            json!({"$schema": "https://example.com/schema.json"}),
            json!({"type": "string", "pattern": "("}),
            json!({"type": "string", "pattern": "(?=look)ahead"}),
        ] {
            assert!(Schema::of(&schema.to_string()).is_err(), "{schema}");
        }
    }

    #[test]
    fn a_reference_is_refused_with_its_place() {
        let schema =
            json!({"properties": {"meal": {"$ref": "#/$defs/meal"}}, "$defs": {"meal": {}}});
        let refused = Schema::of(&schema.to_string()).err().unwrap();
        assert_eq!(
            refused.to_string(),
            "schema.properties.meal.$ref: references are not supported; write out here what it refers to"
        );
    }
}
