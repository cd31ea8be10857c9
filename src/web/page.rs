//! Paging of lists (spec: Pagination; contract §2, §5): window, links, and the list as an answer.

use super::{
    Failure, ListQuery,
    schema::{Described, array, inline, object},
    stream::{self, Page, Window},
};
use crate::{
    core::{
        Services,
        records::list::Listing,
        search::{Order, Part, Search, Subject},
    },
    types::error::{Error, Result},
};
use data_encoding::BASE64URL_NOPAD;
use poem::{FromRequest, IntoResponse, Request, RequestBody, Response};
use poem_openapi::{
    ApiResponse,
    registry::{MetaMediaType, MetaResponse, MetaResponses, MetaSchema, Registry},
};
use rusqlite::types::Value as Sql;
use schemars::JsonSchema;
use serde_json::{Value, json};
use std::marker::PhantomData;

/// The most items a page may have (contract §5).
const LIMIT_MAX: u64 = 50_000;
/// The page size without `limit` (spec: Limits).
const LIMIT_DEFAULT: u64 = 5_000;

/// The address at which the request came in: absolute links are made of it.
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

    /// The address of the page of the same list after or before an item, in the form the spec's links
    /// have.
    fn link(&self, limit: u64, direction: &str, anchor: &Anchor) -> String {
        let kept = self
            .query
            .iter()
            .filter(|(name, _)| !["limit", "offset", "after", "before"].contains(&name.as_str()));
        let query = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(kept)
            .append_pair("limit", &limit.to_string())
            .append_pair(direction, &anchor.encoded())
            .finish();
        format!("{}/api/5/{}?{query}", self.base, self.path)
    }
}

/// An item at the end of a page, and the offset that the page beyond it would have had. Opaque for
/// clients.
#[derive(Debug, PartialEq)]
struct Anchor {
    id: i64,
    offset: u64,
    /// Of a list in another order than by id: the value that it is sorted by.
    key: Option<Sql>,
}

impl Anchor {
    fn encoded(&self) -> String {
        let Self { id, offset, key } = self;
        let anchor = match key {
            None => json!([id, offset]),
            Some(Sql::Text(text)) => json!([id, offset, text]),
            Some(Sql::Integer(number)) => json!([id, offset, number]),
            Some(_) => json!([id, offset, null]),
        };
        BASE64URL_NOPAD.encode(anchor.to_string().as_bytes())
    }

    /// Reads an anchor of a list that is sorted, or by id.
    fn parse(name: &str, text: &str, is_sorted: bool) -> Result<Self> {
        let bytes = BASE64URL_NOPAD.decode(text.as_bytes()).unwrap_or_default();
        let anchor = serde_json::from_slice::<Vec<Value>>(&bytes).unwrap_or_default();
        let key = |key: &Value| match key {
            Value::Null => Some(Sql::Null),
            Value::String(text) => Some(Sql::Text(text.clone())),
            key => key.as_i64().map(Sql::Integer),
        };
        let read = || {
            let (id, offset) = (anchor.first()?.as_i64()?, anchor.get(1)?.as_u64()?);
            let key = anchor.get(2).map(key);
            let fits = anchor.len() <= 3 && key.is_some() == is_sorted && key != Some(None);
            fits.then_some(Self {
                id,
                offset,
                key: key.flatten(),
            })
        };
        read().ok_or_else(|| {
            Error::field(
                name,
                "must be as `meta.pagination` has it; leave it out to begin anew",
            )
        })
    }
}

/// No list is this long; a page behind it stays within SQLite's numbers.
const OFFSET_MAX: u64 = 1 << 62;

/// The window that a query asks for.
///
/// `visible` are the properties that the caller may see, all without it.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`], naming the parameter.
pub fn window(
    query: &ListQuery,
    subject: &'static Subject,
    visible: Option<&[String]>,
) -> Result<Window> {
    let order = match query.sort.as_deref().filter(|sort| !sort.is_empty()) {
        Some(sort) => Some(Order::parse(subject, sort, visible)?),
        None => None,
    };
    let limit = match query.limit {
        None => LIMIT_DEFAULT,
        Some(limit) => u64::try_from(limit)
            .ok()
            .filter(|limit| (1..=LIMIT_MAX).contains(limit))
            .ok_or_else(|| Error::field("limit", format!("must be 1 to {LIMIT_MAX}")))?,
    };
    let anchor = match (&query.after, &query.before) {
        (None, None) => None,
        (Some(after), None) => Some(("after", after)),
        (None, Some(before)) => Some(("before", before)),
        (Some(_), Some(_)) => return Err(Error::field("before", "not beside after")),
    };
    let (part, offset, key) = match (anchor, query.offset) {
        (Some((name, _)), Some(_)) => {
            return Err(Error::field("offset", format!("not beside {name}")));
        }
        (Some((name, text)), None) => {
            let Anchor { id, offset, key } = Anchor::parse(name, text, order.is_some())?;
            let part = match name {
                "after" => Part::After(id),
                _ => Part::Before(id),
            };
            (Some(part), offset, key)
        }
        (None, offset) => {
            let offset = u64::try_from(offset.unwrap_or(0))
                .map_err(|_| Error::field("offset", "must be 0 or more"))?;
            (None, offset, None)
        }
    };
    Ok(Window {
        order,
        part,
        key: key.unwrap_or(Sql::Null),
        offset: offset.min(OFFSET_MAX),
        limit,
        total: query.total.unwrap_or(true),
    })
}

/// The beginning of the next page, and the end of the previous one. Beside an empty page that is where it would be.
fn anchors(window: &Window, page: &Page) -> [Anchor; 2] {
    let &Window {
        part,
        offset,
        limit,
        ..
    } = window;
    let is_descending = window
        .order
        .as_ref()
        .is_some_and(|order| order.is_descending);
    let (step, end) = if is_descending {
        (-1, i64::MIN)
    } else {
        (1, i64::MAX)
    };
    let (last, first) = match part {
        Some(Part::After(id)) => (id, id.saturating_add(step)),
        Some(Part::Before(id)) => (id.saturating_sub(step), id),
        None => (0, end),
    };
    let [first_key, last_key] = match &page.keys {
        Some(keys) => keys.clone().map(Some),
        None => [(); 2].map(|()| window.order.is_some().then(|| window.key.clone())),
    };
    let end = page.total.unwrap_or(u64::MAX);
    [
        Anchor {
            id: page.ids.back().copied().unwrap_or(last),
            offset: offset + limit,
            key: last_key,
        },
        Anchor {
            id: page.ids.front().copied().unwrap_or(first),
            offset: offset.min(end).saturating_sub(limit),
            key: first_key,
        },
    ]
}

/// The `meta` of a page: with links where the list has an address, otherwise with `after`.
fn meta(address: Option<&Address>, window: &Window, page: &Page) -> String {
    let &Window { offset, limit, .. } = window;
    let [next, previous] = anchors(window, page);
    let link = |shown: bool, direction, anchor: &Anchor| {
        let address = address.filter(|_| shown)?;
        Some(address.link(limit, direction, anchor))
    };
    let pagination = Pagination {
        total_items: page.total,
        total_pages: page.total.map(|total| total.div_ceil(limit)),
        offset,
        limit,
        after: (address.is_none() && page.more).then(|| next.encoded()),
        next: link(page.more, "after", &next),
        previous: link(page.is_behind, "before", &previous),
    };
    json!(PageMeta { pagination }).to_string()
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
        let of_meta = window.clone();
        let body = stream::body(app, listing, search, window, move |page| {
            meta(address.as_ref(), &of_meta, page)
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
                description: "A page of the list",
                status: Some(200),
                status_range: None,
                content: vec![MetaMediaType {
                    content_type: "application/json",
                    schema: inline(MetaSchema {
                        example: T::example()
                            .map(|item| json!({"data": [item], "meta": PageMeta::example()})),
                        ..object(vec![
                            ("data", inline(array(T::reference()))),
                            ("meta", PageMeta::reference()),
                        ])
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
#[derive(serde::Serialize, JsonSchema)]
#[schemars(example = json!({"pagination": {
    "totalItems": 2, "totalPages": 2, "offset": 0, "limit": 1,
    "next": "http://192.168.1.7:8080/api/5/delegate/list?limit=1&after=WzQxLDFd",
}}))]
struct PageMeta {
    pagination: Pagination,
}

#[derive(serde::Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct Pagination {
    /// Items in the whole list; absent with `total=false`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<i64>")]
    total_items: Option<u64>,
    /// Absent with `total=false`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<i64>")]
    total_pages: Option<u64>,
    /// Items passed over; with `after` or `before` as many as if none had been deleted.
    #[schemars(with = "i64")]
    offset: u64,
    /// Items on a page.
    #[schemars(with = "i64")]
    limit: u64,
    /// Send it back as `after` for the next page; absent on the last. Of `POST …/list` alone, which has no links.
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<String>,
    /// Address of the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
    /// Address of the page before; absent on the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    previous: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::search::{FieldKind, SearchField};

    static SEARCHED: Subject = Subject {
        name: "x",
        table: "x",
        alive: "1",
        fields: &[SearchField {
            name: "id",
            column: "id",
            kind: FieldKind::Number,
            text_indexed: false,
        }],
        text_index: None,
        kind: None,
        stretches: None,
        document: "NULL",
        shared: None,
        counted: None,
        statements: false,
        messages: None,
        batches: None,
    };

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
            order: None,
            key: Sql::Null,
            part: None,
            offset,
            limit,
            total: true,
        };
        let page = |total, is_behind, more| Page {
            ids: [41, 43].into(),
            keys: None,
            total,
            is_behind,
            more,
        };
        let told = |page| meta(Some(&address), &window(10, 20), &page);
        insta::assert_snapshot!(told(page(Some(45), true, true)), @r#"{"pagination":{"totalItems":45,"totalPages":3,"offset":10,"limit":20,"next":"http://host/api/5/delegate/list?fields=id%2Cbarcode&x=a+b%26c&limit=20&after=WzQzLDMwXQ","previous":"http://host/api/5/delegate/list?fields=id%2Cbarcode&x=a+b%26c&limit=20&before=WzQxLDBd"}}"#);
        assert!(!told(page(Some(30), true, false)).contains("next"));
        assert!(!told(page(Some(45), false, true)).contains("previous"));
        assert!(!told(page(None, true, true)).contains("total"));
        let posted = |more| meta(None, &window(10, 20), &page(None, true, more));
        insta::assert_snapshot!(posted(true), @r#"{"pagination":{"offset":10,"limit":20,"after":"WzQzLDMwXQ"}}"#);
        assert!(!posted(false).contains("after"));
    }

    fn asked(limit: Option<i64>, offset: Option<i64>) -> ListQuery {
        ListQuery {
            limit,
            offset,
            ..ListQuery::default()
        }
    }

    #[test]
    fn windows_are_bounded() {
        let window = |query| super::window(&query, &SEARCHED, None);
        let all = window(asked(None, None)).unwrap();
        assert_eq!(
            (all.part, all.offset, all.limit, all.total),
            (None, 0, 5000, true)
        );
        for (limit, offset) in [
            (Some(0), None),
            (Some(50_001), None),
            (Some(-1), None),
            (None, Some(-1)),
        ] {
            assert!(window(asked(limit, offset)).is_err());
        }
    }

    #[test]
    fn beyond_an_empty_page_is_where_it_would_be() {
        let of = |part| {
            let window = Window {
                order: None,
                key: Sql::Null,
                part,
                offset: 100,
                limit: 50,
                total: true,
            };
            let empty = Page {
                total: Some(80),
                ..Page::default()
            };
            anchors(&window, &empty).map(|anchor| (anchor.id, anchor.offset))
        };
        assert_eq!(of(None), [(0, 150), (i64::MAX, 30)]);
        assert_eq!(of(Some(Part::After(7))), [(7, 150), (8, 30)]);
        assert_eq!(of(Some(Part::Before(7))), [(6, 150), (7, 30)]);
        assert_eq!(of(Some(Part::After(i64::MAX)))[1].0, i64::MAX);
    }
}
