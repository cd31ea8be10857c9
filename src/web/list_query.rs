//! The query of a list: in the query string, or in the body of `POST …/list`.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json, value::RawValue};

/// Search, fields and window of a list.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(
    rename = "ListInput",
    example = json!({"search": {"in": ["id", [7, 8, 9]]}, "fields": ["id"], "limit": 100, "offset": 0}),
)]
pub struct ListQuery {
    /// The records to find; all without it.
    #[serde(deserialize_with = "search_text")]
    #[schemars(with = "Option<Expression>")]
    pub search: Option<String>,
    /// Properties to show; all without it.
    #[serde(deserialize_with = "field_names")]
    #[schemars(with = "Option<Fields>")]
    pub fields: Option<String>,
    /// Items on a page; 5,000 without it.
    #[schemars(range(min = 1, max = 50_000))]
    pub limit: Option<i64>,
    /// Items to skip; 0 without it.
    #[schemars(range(min = 0))]
    pub offset: Option<i64>,
    /// `meta.pagination.after` of the page before, instead of `offset`: nothing is left out however much was deleted
    /// meanwhile.
    pub after: Option<String>,
    /// The item before which the page ends, of links alone.
    #[serde(skip)]
    pub before: Option<String>,
    /// `false` counts nothing, and leaves `totalItems` and `totalPages` out.
    pub total: Option<bool>,
    /// The property by which the list is sorted, with `-` before it for the reverse order; by id without it.
    pub sort: Option<String>,
    /// Embedded records to show whole; `{id, _type}` without it.
    #[serde(deserialize_with = "field_names")]
    #[schemars(with = "Option<Fields>")]
    pub expand: Option<String>,
}

#[derive(JsonSchema)]
#[schemars(inline, untagged)]
#[expect(dead_code, reason = "a shape, of what `search_text` reads")]
enum Expression {
    /// An expression, see *Search*.
    Json(Map<String, Value>),
    /// The same as JSON text.
    Text(String),
}

/// A search in a body is JSON, or JSON in a string as in the query string.
fn search_text<'de, D: Deserializer<'de>>(body: D) -> Result<Option<String>, D::Error> {
    let search = Option::<Box<RawValue>>::deserialize(body)?;
    Ok(search.map(|search| {
        serde_json::from_str(search.get()).unwrap_or_else(|_| search.get().to_owned())
    }))
}

/// Names of properties.
#[derive(Deserialize, JsonSchema)]
#[schemars(inline)]
#[serde(
    untagged,
    expecting = "must be names of properties: a list, or a string with commas"
)]
pub enum Fields {
    /// Names of properties.
    Names(Vec<String>),
    /// Names of properties, separated by commas.
    Text(String),
}

/// Reads names of properties: a list, or a string with commas.
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

    /// The query with the order of the list, and the embedded records that it shows whole.
    #[must_use]
    pub fn shown(self, sort: Option<String>, expand: Option<String>) -> Self {
        Self {
            sort,
            expand,
            ..self
        }
    }

    /// Returns the query that the query string asks for.
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
