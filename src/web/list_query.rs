//! The query of a list: in the query string, or in the body of `POST …/list`.

use super::{Query, schema::Described};
use poem::{Request, RequestBody};
use poem_openapi::{
    ApiExtractor, ApiExtractorType, ExtractParamOptions,
    registry::{MetaParamIn, MetaSchemaRef},
};
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

/// The parameters of a list in the query string; `expand` is one of its own, as not every list has it.
#[derive(JsonSchema)]
#[schemars(inline)]
#[expect(dead_code, reason = "a shape, of what a `ListQuery` is read from")]
struct ListParameters {
    /// Items on a page, 1 to 50,000; 5,000 without it.
    limit: Option<i64>,
    /// Items passed over; 0 without it.
    offset: Option<i64>,
    /// The items after one, as `next` has it; not beside `offset`.
    after: Option<String>,
    /// The items before one, as `previous` has it; not beside `offset`.
    before: Option<String>,
    /// `false` leaves `totalItems` and `totalPages` out and counts nothing: much faster where many
    /// records match.
    total: Option<bool>,
    /// Properties to show, separated by commas; all without it.
    fields: Option<String>,
    /// A search expression in JSON; all without it.
    search: Option<String>,
    /// The property by which the list is sorted, one that can be searched, with `-` before it for the reverse order;
    /// by id without it. What has no value comes last.
    sort: Option<String>,
}

impl<'a> ApiExtractor<'a> for ListQuery {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::Parameter];

    type ParamType = ();
    type ParamRawType = ();

    fn param_in() -> Option<MetaParamIn> {
        Some(MetaParamIn::Query)
    }

    fn param_schema_ref() -> Option<MetaSchemaRef> {
        Some(ListParameters::reference())
    }

    async fn from_request(
        request: &'a Request,
        _: &mut RequestBody,
        _: ExtractParamOptions<Self::ParamType>,
    ) -> poem::Result<Self> {
        Ok(Self {
            limit: Query::read(request, "limit")?.0,
            offset: Query::read(request, "offset")?.0,
            after: Query::read(request, "after")?.0,
            before: Query::read(request, "before")?.0,
            total: Query::read(request, "total")?.0,
            fields: Query::read(request, "fields")?.0,
            search: Query::read(request, "search")?.0,
            sort: Query::read(request, "sort")?.0,
            expand: None,
        })
    }
}
