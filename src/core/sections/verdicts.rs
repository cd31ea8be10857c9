//! What came of validating: kept by schema and value, so that the transaction that writes the value
//! need not validate it. A record or schema that changed meanwhile has no verdict yet.

use super::Schema;
use crate::types::{
    error::{Error, Result},
    json,
};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

/// Verdicts that are kept; more than a slice of an import needs.
const KEPT_MAX: usize = 50_000;

static KEPT: Mutex<Option<HashMap<Key, Option<Error>>>> = Mutex::new(None);

/// What a verdict is about.
pub type Key = [u8; 32];

/// The key of a value at a path, and the schema's text.
#[must_use]
pub fn key(schema: &str, path: &str, value: &Value) -> Key {
    let mut hash = Sha256::new();
    hash.update(json::fingerprint(value));
    hash.update(Sha256::digest(path));
    hash.update(schema);
    hash.finalize().into()
}

/// The verdict about a key, where there is one. A refusal is forgotten with it, as its message may
/// quote the value.
#[must_use]
pub fn find(key: &Key) -> Option<Result<()>> {
    with_kept(|kept| match kept.get(key)? {
        None => Some(Ok(())),
        Some(_) => kept.remove(key).flatten().map(Err),
    })
}

/// Validates a value, and keeps what came of it.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`], with the path of what does not fit, or saying why it cannot be
/// validated.
pub fn find_out(key: Key, schema: &str, path: &str, value: &Value) -> Result<()> {
    let verdict = validate(schema, path, value);
    let kept_verdict = verdict.as_ref().err();
    let kept_verdict = kept_verdict.map(|cause| Error::new(cause.kind, cause.message.clone()));
    with_kept(|kept| {
        if kept.len() >= KEPT_MAX {
            kept.clear();
        }
        kept.insert(key, kept_verdict);
    });
    verdict
}

fn validate(schema: &str, path: &str, value: &Value) -> Result<()> {
    let compiled = Schema::of(schema).map_err(|cause| {
        Error::invalid(format!(
            "{path}: its schema cannot be used, so nothing is stored here until an administrator changes it: {cause}"
        ))
    })?;
    compiled.check(path, value)
}

fn with_kept<T>(work: impl FnOnce(&mut HashMap<Key, Option<Error>>) -> T) -> T {
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    work(kept.get_or_insert_with(HashMap::new))
}
