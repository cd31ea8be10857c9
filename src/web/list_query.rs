//! The request for a list: in the query string, or in the body of `POST …/list`.

use super::schema::{Described, from_json};
use poem_openapi::registry::MetaSchema;
use serde::{Deserialize, Deserializer};
use serde_json::{json, value::RawValue};

/// Search, fields and window of a list: in the query string, or in the body of `POST …/list`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ListQuery {
    /// A search expression as JSON text.
    #[serde(deserialize_with = "search_text")]
    pub search: Option<String>,
    /// Properties to show, separated by commas.
    #[serde(deserialize_with = "field_names")]
    pub fields: Option<String>,
    /// Items on a page.
    pub limit: Option<i64>,
    /// Items passed over.
    pub offset: Option<i64>,
    /// The item after which the page begins, as `meta.pagination` has it.
    pub after: Option<String>,
    /// The item before which the page ends, of links alone.
    #[serde(skip)]
    pub before: Option<String>,
    /// Set to count the items of the whole list; they are not counted without it.
    pub total: Option<bool>,
}

/// A search in a body is JSON, or JSON in a string as in the query string.
fn search_text<'de, D: Deserializer<'de>>(body: D) -> Result<Option<String>, D::Error> {
    let search = Option::<Box<RawValue>>::deserialize(body)?;
    Ok(search.map(|search| {
        serde_json::from_str(search.get()).unwrap_or_else(|_| search.get().to_owned())
    }))
}

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "must be names of properties: a list, or a string with commas"
)]
enum Fields {
    Text(String),
    Names(Vec<String>),
}

/// Names of properties: a list, or a string with commas.
pub fn field_names<'de, D: Deserializer<'de>>(body: D) -> Result<Option<String>, D::Error> {
    let fields = Option::<Fields>::deserialize(body)?;
    Ok(fields.map(|fields| match fields {
        Fields::Text(names) => names,
        Fields::Names(names) => names.join(","),
    }))
}

impl ListQuery {
    /// The query with the ends of a page that a link names.
    #[must_use]
    pub fn between(self, after: Option<String>, before: Option<String>) -> Self {
        Self {
            after,
            before,
            ..self
        }
    }

    /// Takes the parameters of the query string.
    pub fn of(
        limit: Option<i64>,
        offset: Option<i64>,
        total: Option<bool>,
        fields: Option<String>,
        search: Option<String>,
    ) -> Self {
        Self {
            search,
            fields,
            limit,
            offset,
            total,
            ..Self::default()
        }
    }
}

impl Described for ListQuery {
    const NAME: &'static str = "ListInput";

    fn schema() -> MetaSchema {
        from_json(&json!({
            "type": "object",
            "description": "What a list is asked for.",
            "properties": {
                "search": {
                    "description": "What to find; all without it.",
                    "anyOf": [
                        {
                            "type": "object", "nullable": true, "additionalProperties": {},
                            "description": "An expression, see *Search*.",
                        },
                        {"type": "string", "description": "The same as JSON text."},
                    ],
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
                "limit": {
                    "type": "integer", "format": "int64", "nullable": true, "minimum": 1, "maximum": 50_000,
                    "description": "Items on a page; 5,000 without it.",
                },
                "offset": {
                    "type": "integer", "format": "int64", "nullable": true, "minimum": 0,
                    "description": "Items to skip; 0 without it.",
                },
                "after": {
                    "type": "string", "nullable": true,
                    "description": "`meta.pagination.after` of the page before, instead of `offset`: nothing is left out however much was deleted meanwhile.",
                },
                "total": {
                    "type": "boolean", "nullable": true,
                    "description": "`false` counts nothing, and leaves `totalItems` and `totalPages` out.",
                },
            },
            "example": {"search": {"in": ["id", [7, 8, 9]]}, "fields": ["id"], "limit": 100, "offset": 0},
        }))
    }
}
