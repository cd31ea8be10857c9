//! The bodies of requests and answers where delegates are found by what somebody types.

use super::{People, api::Delegate};
use crate::{
    types::error::{Error, Result},
    web::{
        field_names,
        schema::{Described, array, example, from_json},
    },
};
use poem_openapi::registry::{MetaSchema, Registry};
use serde_json::json;

/// Characters of what somebody types to find somebody.
const QUERY_MAX_CHARS: usize = 500;
/// Delegates that are found without `limit`, and at the most.
const FOUND_DEFAULT: i64 = 20;
const FOUND_MAX: usize = 100;

/// Delegates, the likeliest first.
pub struct FoundDelegates;

impl Described for FoundDelegates {
    const NAME: &'static str = "FoundDelegates";

    fn schema() -> MetaSchema {
        let found = array(Delegate::reference(), "The likeliest first.");
        example(
            found,
            json!([{"id": 7, "_type": "delegate", "firstName": "Jürgen", "lastName": "Müller"}]),
        )
    }

    fn register_parts(registry: &mut Registry) {
        Delegate::register(registry);
    }
}

/// The words to find people by.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FindInput {
    query: String,
    #[serde(default)]
    limit: Option<i64>,
    #[serde(default, deserialize_with = "field_names")]
    pub fields: Option<String>,
}

impl Described for FindInput {
    const NAME: &'static str = "FindInput";

    fn schema() -> MetaSchema {
        from_json(&json!({
            "type": "object",
            "required": ["query"],
            "description": "Whom to find.",
            "properties": {
                "query": {
                    "type": "string", "minLength": 1, "maxLength": QUERY_MAX_CHARS,
                    "description": "Words of a name in any order, of a company, an e-mail address or a job title, a code, or a phone number: two letters or more, or one of Chinese, Japanese or Korean.",
                },
                "limit": {
                    "type": "integer", "format": "int64", "nullable": true, "minimum": 1, "maximum": FOUND_MAX,
                    "description": "Delegates at the most; 20 without it.",
                },
                "fields": {
                    "description": "Properties to show; all without it.",
                    "anyOf": [
                        {
                            "type": "array", "nullable": true, "items": {"type": "string"},
                            "description": "Names of properties.",
                        },
                        {"type": "string", "description": "Names of properties, separated by commas."},
                    ],
                },
            },
            "example": {"query": "muller jurg", "limit": 5, "fields": "id,barcode,firstName,lastName"},
        }))
    }
}

impl FindInput {
    /// Returns the people that it means, of the properties that the client sees, and how many at the most.
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
