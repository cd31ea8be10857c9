//! Bodies and answers of finding delegates by what somebody types.

use super::{People, api::Delegate};
use crate::{
    types::error::{Error, Result},
    web::{Fields, field_names},
};
use schemars::JsonSchema;
use serde_json::json;

/// Characters of what somebody types to find somebody.
const QUERY_MAX_CHARS: usize = 500;
/// Delegates that are found without `limit`, and at the most.
const FOUND_DEFAULT: i64 = 20;
const FOUND_MAX: usize = 100;

/// Delegates, the likeliest first.
#[derive(JsonSchema)]
#[schemars(example = json!([
    {"id": 7, "_type": "delegate", "firstName": "Jürgen", "lastName": "Müller"},
]))]
pub struct FoundDelegates(pub Vec<Delegate>);

/// Delegates to find.
#[derive(serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({"query": "muller jurg", "limit": 5, "fields": "id,barcode,firstName,lastName"}))]
pub struct FindInput {
    /// Words of a name in any order, of a company, an e-mail address or a job title, a code, or a phone number: two
    /// letters or more, or one of Chinese, Japanese or Korean.
    #[schemars(length(min = 1, max = QUERY_MAX_CHARS))]
    query: String,
    /// Delegates at the most; 20 without it.
    #[serde(default)]
    #[schemars(range(min = 1, max = FOUND_MAX))]
    limit: Option<i64>,
    /// Properties to show; all without it.
    #[serde(default, deserialize_with = "field_names")]
    #[schemars(with = "Option<Fields>")]
    pub fields: Option<String>,
}

impl FindInput {
    /// Returns the people whom it means, by the properties that the client sees, and how many at the most.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`].
    pub fn people(&self, visible: Option<&[String]>) -> Result<(People, usize)> {
        if self.query.chars().count() > QUERY_MAX_CHARS {
            let message = format!("query: must have at most {QUERY_MAX_CHARS} characters");
            return Err(Error::invalid(message));
        }
        let people = People::new(&self.query).seen_by(visible);
        if !people.is_long_enough() {
            return Err(Error::field("query", "must have 2 letters or more"));
        }
        let limit = usize::try_from(self.limit.unwrap_or(FOUND_DEFAULT)).unwrap_or_default();
        if !(1..=FOUND_MAX).contains(&limit) {
            return Err(Error::field("limit", format!("must be 1 to {FOUND_MAX}")));
        }
        Ok((people, limit))
    }
}
