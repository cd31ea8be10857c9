//! `/changes` and `/changes/stream` (contract §12).

use super::{
    Page, View, held,
    reader::{Reader, whole},
};
use crate::{
    core::changes,
    identity::{App, BearerToken, Granted, held_requests::HeldPermit, roles::ReadChanges},
    types::error::Result,
    web::{
        Answer, ClientAddress, Outcome, Query,
        schema::{inline, text},
    },
};
use futures_util::stream;
use poem::{Body, FromRequest, IntoResponse, Request, RequestBody, Response};
use poem_openapi::{
    ApiResponse, OpenApi,
    registry::{MetaMediaType, MetaResponse, MetaResponses, MetaSchema, Registry},
};
use schemars::JsonSchema;
use serde_json::{Map, Value, json};
use std::{fmt::Write, time::Duration};
use tokio::{sync::watch, time::timeout};

/// Changes on a page without `limit`.
const LIMIT: usize = 1_000;
const LIMIT_MAX: usize = 10_000;
const WAIT_MAX_S: usize = 60;
/// Changes that a stream has in memory at a time: its client may be slow to take them.
const STREAMED: usize = 100;
/// The interval at which a stream that has nothing to say tells that it is alive, and looks whether its token is.
const ALIVE: Duration = Duration::from_secs(5);

/// The endpoints.
pub struct FeedApi {
    pub app: App,
}

#[OpenApi(tag = "crate::web::Tag::Changes")]
impl FeedApi {
    /// Follow changes
    ///
    /// Changes after a cursor, in the order of their commits. Without `since` the feed begins with a
    /// snapshot: every record, with `kind` `snapshot`. Then the changes since its beginning follow.
    /// Whoever applies all of them in order has what the lists have. Of several changes of one record
    /// between two requests only the last may be there.
    ///
    /// `action` is `upsert` (store `data` under type and id, in place of what is there), `delete`
    /// (remove it, if it is there) or `reset` (after the server went back to an earlier state, or a
    /// change of what the client sees: drop everything, and go on with `meta.cursor`). Records are shown
    /// without `children` and, delegates, without their interactions.
    ///
    /// Each type needs the role that reads it: `ROLE_OAUTH2_DELEGATE_READ` for `delegate` and
    /// `blocked-code`, `ROLE_OAUTH2_DEVICE_READ` for `device` (events included),
    /// `ROLE_OAUTH2_INTERACTION_READ`, and `ROLE_OAUTH2_TX_WRITE` for `transaction`. A client that sees
    /// a list of properties gets those alone. Users' tokens do not read the feed (403). Rights are those of
    /// the moment, also of an answer that was held.
    #[oai(path = "/changes", method = "get", operation_id = "listChanges")]
    async fn list(
        &self,
        caller: Granted<ReadChanges>,
        address: ClientAddress,
        token: BearerToken,
        /// The cursor of the last change that was applied, or `meta.cursor`; a snapshot without it.
        since: Query<Option<String>>,
        /// `delegate`, `device`, `interaction`, `blocked-code`, `transaction`, separated by commas; those
        /// that the client may read without it. A cursor belongs to its types.
        types: Query<Option<String>>,
        /// Changes on a page, 1 to 10,000; 1,000 without it.
        limit: Query<Option<i64>>,
        /// Holds the answer for up to so many seconds, 60 at most, until there is a change. Of a client that
        /// has eight held at this address already it is empty after three seconds, with the same cursor.
        wait: Query<Option<i64>>,
        /// Embedded records to show whole, as far as the client may see them, separated by commas: `firstDelegate`,
        /// `firstDevice` and other participants, `parent`, `owner`, `previous`. They are as they stand when they are
        /// sent; a later change of them is a change of their own. A cursor belongs to what it shows.
        expand: Query<Option<String>>,
    ) -> Outcome<Answer<Changes, 200, ChangesMeta>> {
        let since = since.0.as_deref();
        let limit = whole("limit", limit.0, 1, LIMIT_MAX)?.unwrap_or(LIMIT);
        let wait = whole("wait", wait.0, 0, WAIT_MAX_S)?.unwrap_or(0);
        let mut reader = Reader::new(
            &self.app,
            self.rights(token, types.0, expand.0),
            since,
            limit,
        )?;
        let wait = Duration::from_secs(wait as u64);
        let (found, _) = held::wait(&mut reader, &caller, address.0, wait).await?;
        let meta = ChangesMeta {
            cursor: found.cursor.encoded(),
            more: found.more,
        };
        Ok(Answer::with_meta(&found.data(), &json!(meta).to_string()))
    }

    /// Stream changes
    ///
    /// As `GET /changes`, as server-sent events: `id` is the cursor and `data` the change. Resumes
    /// behind `Last-Event-ID`, or `since`. Follows the client's rights, and ends with its token; connect
    /// again with a new one. A client has at most eight streams and held requests at an address (429). Needs
    /// the roles that `GET /changes` needs: `ROLE_OAUTH2_DELEGATE_READ`, `ROLE_OAUTH2_DEVICE_READ`,
    /// `ROLE_OAUTH2_INTERACTION_READ` or `ROLE_OAUTH2_TX_WRITE`.
    #[oai(
        path = "/changes/stream",
        method = "get",
        operation_id = "streamChanges"
    )]
    async fn stream(
        &self,
        caller: Granted<ReadChanges>,
        address: ClientAddress,
        token: BearerToken,
        last: LastEventId,
        /// The cursor of the last change that was applied; a snapshot without it.
        since: Query<Option<String>>,
        /// As for `GET /changes`.
        types: Query<Option<String>>,
        /// As for `GET /changes`.
        expand: Query<Option<String>>,
    ) -> Outcome<Events> {
        let since = last.0.or(since.0);
        let rights = self.rights(token, types.0, expand.0);
        let mut reader = Reader::new(&self.app, rights, since.as_deref(), STREAMED)?;
        let permit = held::stream(&reader, &caller, address.0)?;
        let newest = self.app.changes.subscribe();
        let first = reader.next().await?;
        let streamed = Streamed {
            reader,
            newest,
            next: Some(first),
            _permit: permit,
        };
        Ok(Events(Body::from_bytes_stream(stream::unfold(
            streamed,
            |mut streamed| async move {
                let text = streamed.next().await?;
                Some((Ok::<_, std::io::Error>(text), streamed))
            },
        ))))
    }
}

impl FeedApi {
    /// Returns a function that tells what the holder of a token may see of these types by then.
    fn rights(
        &self,
        token: BearerToken,
        types: Option<String>,
        expand: Option<String>,
    ) -> impl Fn() -> Result<View> + Send + Sync + use<> {
        let app = self.app.clone();
        move || {
            let caller = token.granted::<ReadChanges>(&app)?;
            let (types, expand) = (types.as_deref(), expand.as_deref());
            View::new(&caller, types, expand, app.settings().zone.clone())
        }
    }
}

/// A stream that goes on.
struct Streamed {
    reader: Reader,
    newest: watch::Receiver<Option<changes::Position>>,
    next: Option<Page>,
    _permit: HeldPermit,
}

impl Streamed {
    /// The next events as text; none when the stream is to end.
    async fn next(&mut self) -> Option<String> {
        loop {
            let page = match self.next.take() {
                Some(page) => page,
                None => match self.reader.next().await {
                    Ok(page) => page,
                    Err(cause) => {
                        tracing::info!("a stream of changes ended: {cause}");
                        return None;
                    }
                },
            };
            if !page.items.is_empty() {
                let mut text = String::new();
                for item in &page.items {
                    let _ = write!(text, "id: {}\ndata: ", item.cursor.encoded());
                    item.write(&mut text);
                    text.push_str("\n\n");
                }
                return Some(text);
            }
            if page.more {
                continue;
            }
            match timeout(ALIVE, self.newest.changed()).await {
                Ok(Ok(())) if self.newest.borrow_and_update().is_some() => {}
                Err(_) => return Some(":\n\n".to_owned()),
                _ => return None,
            }
        }
    }
}

/// `Last-Event-ID`, as browsers send it when they connect again.
struct LastEventId(Option<String>);

impl<'a> FromRequest<'a> for LastEventId {
    async fn from_request(request: &'a Request, _: &mut RequestBody) -> poem::Result<Self> {
        let id = request.header("last-event-id").map(ToOwned::to_owned);
        Ok(Self(id.filter(|id| !id.is_empty())))
    }
}

/// Changes, in order.
#[derive(JsonSchema)]
#[schemars(example = json!([
    {"cursor": "AAEC", "action": "upsert", "kind": "created", "type": "delegate", "id": 41,
     "data": {"id": 41, "_type": "delegate", "barcode": "AB12", "firstName": "Ada"}},
    {"cursor": "AAED", "action": "delete", "kind": "deleted", "type": "delegate", "id": 12},
]))]
pub struct Changes(pub Vec<Change>);

/// A change of a record.
#[derive(JsonSchema)]
#[schemars(inline)]
pub struct Change {
    /// Behind this change.
    pub cursor: String,
    /// The step of a copy.
    #[schemars(extend("enum" = ["upsert", "delete", "reset"]))]
    pub action: String,
    /// The last event of the record.
    #[schemars(extend("enum" = [
        "snapshot", "created", "updated", "deleted", "restored", "merged", "erased", "undone", "view-changed",
    ]))]
    pub kind: String,
    /// Absent of a reset.
    #[schemars(extend("enum" = ["delegate", "device", "interaction", "blocked-code", "transaction"]))]
    pub r#type: Option<String>,
    /// Absent of a reset.
    pub id: Option<i64>,
    /// The record as it is now, of an upsert.
    pub data: Option<Map<String, Value>>,
}

#[derive(serde::Serialize, JsonSchema)]
#[schemars(inline, example = json!({"cursor": "AAED", "more": false}))]
pub struct ChangesMeta {
    /// To go on from.
    cursor: String,
    /// `true`: there is more already, ask again at once; `false`: this is all for now.
    more: bool,
}

/// Changes as server-sent events.
pub struct Events(Body);

impl IntoResponse for Events {
    fn into_response(self) -> Response {
        Response::builder()
            .content_type("text/event-stream")
            .body(self.0)
    }
}

impl ApiResponse for Events {
    fn meta() -> MetaResponses {
        MetaResponses {
            responses: vec![MetaResponse {
                description: "A stream that goes on until its token ends",
                status: Some(200),
                status_range: None,
                content: vec![MetaMediaType {
                    content_type: "text/event-stream",
                    schema: inline(MetaSchema {
                        example: Some(json!(
                            "id: AAED\ndata: {\"cursor\":\"AAED\",\"action\":\"delete\",\"kind\":\"deleted\",\"type\":\"delegate\",\"id\":12}\n\n"
                        )),
                        ..text("Server-sent events.")
                    }),
                }],
                headers: vec![],
            }],
        }
    }

    fn register(_: &mut Registry) {}
}
