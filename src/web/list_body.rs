//! What a list is asked for: in the query string, or in the body of `POST …/list`, for searches that
//! are too long for an address.

use super::schema::{
    Described, array, bounded_integer, example, free_object, inline, integer, nullable, object,
    one_of, plain, text,
};
use poem_openapi::registry::MetaSchema;
use serde::Deserialize;
use serde_json::{json, value::RawValue};

/// What a list is asked for.
#[derive(Debug, Default)]
pub struct ListQuery {
    /// A search expression as JSON text.
    pub search: Option<String>,
    /// Properties to show, separated by commas.
    pub fields: Option<String>,
    /// Items on a page.
    pub limit: Option<i64>,
    /// Items passed over.
    pub offset: Option<i64>,
    /// Whether the items of the whole list are counted; they are without it.
    pub total: Option<bool>,
}

/// The body of `POST …/list`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListInput {
    #[serde(default)]
    search: Option<Box<RawValue>>,
    #[serde(default)]
    fields: Option<Fields>,
    #[serde(default)]
    limit: Option<i64>,
    #[serde(default)]
    offset: Option<i64>,
    #[serde(default)]
    total: Option<bool>,
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

impl From<ListInput> for ListQuery {
    fn from(input: ListInput) -> Self {
        let search = input.search.map(|search| {
            // As the query string has it: JSON in a string.
            serde_json::from_str(search.get()).unwrap_or_else(|_| search.get().to_owned())
        });
        let fields = input.fields.map(|fields| match fields {
            Fields::Text(names) => names,
            Fields::Names(names) => names.join(","),
        });
        Self {
            search,
            fields,
            limit: input.limit,
            offset: input.offset,
            total: input.total,
        }
    }
}

impl Described for ListInput {
    const NAME: &'static str = "ListInput";

    fn schema() -> MetaSchema {
        let fields = one_of(
            vec![
                array(inline(text("")), "Names of properties."),
                text("Names of properties, separated by commas."),
            ],
            "Properties to show; all without it.",
        );
        let search = one_of(
            vec![
                free_object("An expression, see *Search*."),
                text("The same as JSON text."),
            ],
            "What to find; all without it.",
        );
        let offset = MetaSchema {
            minimum: Some(0.0),
            ..integer("Items to skip; 0 without it.")
        };
        let limit = bounded_integer(1.0, 50_000.0, "Items on a page; 5,000 without it.");
        let total = plain(
            "boolean",
            "`false` counts nothing, and leaves `totalItems` and `totalPages` out.",
        );
        example(
            object(
                "What a list is asked for.",
                &[],
                vec![
                    ("search", inline(nullable(search))),
                    ("fields", inline(nullable(fields))),
                    ("limit", inline(nullable(limit))),
                    ("offset", inline(nullable(offset))),
                    ("total", inline(nullable(total))),
                ],
            ),
            json!({"search": {"in": ["id", [7, 8, 9]]}, "fields": ["id"], "limit": 100, "offset": 0}),
        )
    }
}
