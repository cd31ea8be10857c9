//! Paging of lists (spec: Pagination; contract §5): the query string or the body of `POST …/list`, window,
//! links, and the list as an answer.

use super::{
    Failure,
    schema::{Described, array, from_json, inline, object},
    stream::{self, Length, Window},
};
use crate::{
    core::{Services, records::list::Listing, search::Search},
    types::error::{Error, Result},
};
use poem::{FromRequest, IntoResponse, Request, RequestBody, Response};
use poem_openapi::{
    ApiResponse,
    registry::{MetaMediaType, MetaResponse, MetaResponses, MetaSchema, Registry},
};
use serde::{Deserialize, Deserializer};
use serde_json::{json, value::RawValue};
use std::marker::PhantomData;

/// The most items a page may have (contract §5).
const LIMIT_MAX: u64 = 50_000;
/// The page size without `limit` (spec: Limits).
const LIMIT_DEFAULT: u64 = 5_000;

/// Where the request came in: what absolute links are made of.
#[derive(Clone)]
pub struct Address {
    base: String,
    path: String,
    query: Vec<(String, String)>,
}

impl<'a> FromRequest<'a> for Address {
    async fn from_request(request: &'a Request, _: &mut RequestBody) -> poem::Result<Self> {
        let public = request.data::<Services>().and_then(Services::public_url);
        let base = public.unwrap_or_else(|| {
            let host = request.header("host").unwrap_or("localhost");
            format!("{}://{host}", request.scheme())
        });
        let path = request.original_uri().path();
        let path = path
            .strip_prefix("/api/v5/")
            .or_else(|| path.strip_prefix("/api/5/"))
            .unwrap_or(path);
        let query = request.uri().query().unwrap_or_default();
        let query: Vec<(String, String)> = form_urlencoded::parse(query.as_bytes())
            .into_owned()
            .collect();
        Ok(Self {
            base,
            path: path.to_owned(),
            query,
        })
    }
}

impl Address {
    /// The scheme, host and port that the request was sent to; `--public-url` where there is one.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// The address of the same list at another offset, in the form the spec's links have.
    fn link(&self, window: Window, offset: u64) -> String {
        let kept = self
            .query
            .iter()
            .filter(|(name, _)| name != "limit" && name != "offset");
        let query = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(kept)
            .append_pair("limit", &window.limit.to_string())
            .append_pair("offset", &offset.to_string())
            .finish();
        format!("{}/api/5/{}?{query}", self.base, self.path)
    }
}

/// No list is this long; a page behind it stays within SQLite's numbers.
const OFFSET_MAX: u64 = 1 << 62;

/// The window that `limit`, `offset` and `total` ask for.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`], naming the parameter.
pub fn window(limit: Option<i64>, offset: Option<i64>, total: Option<bool>) -> Result<Window> {
    let limit = match limit {
        None => LIMIT_DEFAULT,
        Some(limit) => u64::try_from(limit)
            .ok()
            .filter(|limit| (1..=LIMIT_MAX).contains(limit))
            .ok_or_else(|| Error::invalid(format!("limit: must be 1 to {LIMIT_MAX}")))?,
    };
    let offset = u64::try_from(offset.unwrap_or(0))
        .map_err(|_| Error::invalid("offset: must be 0 or more"))?
        .min(OFFSET_MAX);
    Ok(Window {
        offset,
        limit,
        total: total.unwrap_or(true),
    })
}

fn meta(address: Option<&Address>, window: Window, length: Length) -> String {
    let Window { offset, limit, .. } = window;
    let mut pagination = serde_json::Map::new();
    let (more, end) = match length {
        Length::Counted(total) => {
            pagination.insert("totalItems".into(), total.into());
            pagination.insert("totalPages".into(), total.div_ceil(limit).into());
            (offset + limit < total, total)
        }
        Length::Uncounted { more } => (more, u64::MAX),
    };
    pagination.insert("offset".into(), offset.into());
    pagination.insert("limit".into(), limit.into());
    let Some(address) = address else {
        return json!({"pagination": pagination}).to_string();
    };
    if more {
        let next = address.link(window, offset + limit);
        pagination.insert("next".into(), next.into());
    }
    if offset > 0 {
        let previous = address.link(window, offset.min(end).saturating_sub(limit));
        pagination.insert("previous".into(), previous.into());
    }
    json!({"pagination": pagination}).to_string()
}

/// A page of a list of `T`.
pub struct List<T> {
    body: poem::Body,
    shape: PhantomData<fn() -> T>,
}

impl<T> List<T> {
    /// Reads the page that the window shows of all, or of what a search finds; with links to the
    /// pages around it where the list has an `address` to link to.
    pub async fn of(
        app: &Services,
        listing: impl Listing,
        search: Option<Search>,
        window: Window,
        address: Option<&Address>,
    ) -> Result<Self, Failure> {
        let address = address.cloned();
        let body = stream::body(app, listing, search, window, move |length| {
            meta(address.as_ref(), window, length)
        })
        .await?;
        Ok(Self {
            body,
            shape: PhantomData,
        })
    }
}

impl<T: Send> IntoResponse for List<T> {
    fn into_response(self) -> Response {
        Response::builder()
            .content_type("application/json")
            .body(self.body)
    }
}

impl<T: Described> ApiResponse for List<T> {
    fn meta() -> MetaResponses {
        MetaResponses {
            responses: vec![MetaResponse {
                description: "A page of the list, ordered by id",
                status: Some(200),
                status_range: None,
                content: vec![MetaMediaType {
                    content_type: "application/json",
                    schema: inline(MetaSchema {
                        example: T::schema().example.map(
                            |item| json!({"data": [item], "meta": PageMeta::schema().example}),
                        ),
                        ..object(
                            "",
                            &["data", "meta"],
                            vec![
                                ("data", inline(array(T::reference(), ""))),
                                ("meta", PageMeta::reference()),
                            ],
                        )
                    }),
                }],
                headers: vec![],
            }],
        }
    }

    fn register(registry: &mut Registry) {
        T::register(registry);
        PageMeta::register(registry);
    }
}

/// `meta` of a list.
struct PageMeta;

impl Described for PageMeta {
    const NAME: &'static str = "PageMeta";

    fn schema() -> MetaSchema {
        let count =
            |about: &str| json!({"type": "integer", "format": "int64", "description": about});
        let next = "http://192.168.1.7:8080/api/5/delegate/list?limit=1&offset=1";
        from_json(&json!({
            "type": "object",
            "required": ["pagination"],
            "properties": {"pagination": {
                "type": "object",
                "required": ["offset", "limit"],
                "properties": {
                    "totalItems": count("Items in the whole list; absent with `total=false`."),
                    "totalPages": count("Absent with `total=false`."),
                    "offset": count("Items passed over."),
                    "limit": count("Items on a page."),
                    "next": {"type": "string", "description": "Address of the next page; absent on the last."},
                    "previous": {"type": "string", "description": "Address of the page before; absent on the first."},
                },
            }},
            "example": {"pagination": {"totalItems": 2, "totalPages": 2, "offset": 0, "limit": 1, "next": next}},
        }))
    }
}

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
    /// Whether the items of the whole list are counted; they are without it.
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

fn field_names<'de, D: Deserializer<'de>>(body: D) -> Result<Option<String>, D::Error> {
    let fields = Option::<Fields>::deserialize(body)?;
    Ok(fields.map(|fields| match fields {
        Fields::Text(names) => names,
        Fields::Names(names) => names.join(","),
    }))
}

impl ListQuery {
    /// What the query string asks for.
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
                "total": {
                    "type": "boolean", "nullable": true,
                    "description": "`false` counts nothing, and leaves `totalItems` and `totalPages` out.",
                },
            },
            "example": {"search": {"in": ["id", [7, 8, 9]]}, "fields": ["id"], "limit": 100, "offset": 0},
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_carry_every_other_parameter() {
        let address = Address {
            base: "http://host".into(),
            path: "delegate/list".into(),
            query: vec![
                ("fields".into(), "id,barcode".into()),
                ("offset".into(), "10".into()),
                ("x".into(), "a b&c".into()),
            ],
        };
        let window = |offset, limit| Window {
            offset,
            limit,
            total: true,
        };
        let counted = Length::Counted;
        insta::assert_snapshot!(meta(Some(&address), window(10, 20), counted(45)), @r#"{"pagination":{"totalItems":45,"totalPages":3,"offset":10,"limit":20,"next":"http://host/api/5/delegate/list?fields=id%2Cbarcode&x=a+b%26c&limit=20&offset=30","previous":"http://host/api/5/delegate/list?fields=id%2Cbarcode&x=a+b%26c&limit=20&offset=0"}}"#);
        assert!(!meta(Some(&address), window(10, 20), counted(30)).contains("next"));
        assert!(!meta(Some(&address), window(0, 1), counted(1)).contains("previous"));
        let more = |more| meta(Some(&address), window(10, 20), Length::Uncounted { more });
        assert!(!more(true).contains("total"));
        assert!(more(true).contains("limit=20&offset=30"));
        assert!(!more(false).contains("next"));
    }

    #[test]
    fn windows_are_bounded() {
        assert_eq!(
            window(None, None, None).unwrap(),
            Window {
                offset: 0,
                limit: 5000,
                total: true
            }
        );
        for (limit, offset) in [
            (Some(0), None),
            (Some(50_001), None),
            (Some(-1), None),
            (None, Some(-1)),
        ] {
            assert!(window(limit, offset, None).is_err());
        }
    }
}
