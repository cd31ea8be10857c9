//! `/reader/...`: tag reads that readers and integrators post.

use super::{
    Accepted, Readers,
    ingest::{Form, READS_MAX},
};
use crate::{
    core::reader::DEVICE_TYPE,
    domain::devices,
    identity::{App, Granted, roles::SendReads},
    types::{
        DeviceId, DeviceSelector, Timestamp,
        error::{Error, Kind, Result},
    },
    web::{Answer, Outcome, Query, body::Anything},
};
use poem_openapi::OpenApi;
use schemars::JsonSchema;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Bodies that are parsed at once.
static PARSED_AT_ONCE: Semaphore = Semaphore::const_new(2);

/// The largest body, in bytes.
const BODY_MAX_BYTES: usize = 4 << 20;

/// The endpoints.
pub struct ReadersApi {
    pub app: App,
    pub readers: Arc<Readers>,
}

#[OpenApi(tag = "crate::web::Tag::Readers")]
impl ReadersApi {
    /// Send tag reads
    ///
    /// Reads of UHF tags, from which the server derives who is where (`seen`, `entered`, `exited`). The
    /// body is JSON, a JSON object a line (`application/x-ndjson`), or CSV (`text/csv`, with a header of
    /// `epc,antenna,rssi,at`); up to 10,000 reads or events and 4 MiB. Send often: reads of one tag that arrive
    /// within two seconds may come in any order, later ones count as of their arrival. Reads themselves
    /// are not stored. Takes HTTP Basic with a client's id and secret as well as a token. A client that is bound to a
    /// reader sends for that one only. Needs `ROLE_OAUTH2_READER_WRITE`, or `ROLE_OAUTH2_INTERACTION_WRITE` for now.
    #[oai(path = "/reader/reads", method = "post", operation_id = "sendReads")]
    async fn reads(
        &self,
        caller: Granted<SendReads>,
        /// The reader, as an id or a selector, where the body does not name it and the client is not bound to it.
        reader: Query<Option<String>>,
        body: Anything<ReadsInput, BODY_MAX_BYTES>,
    ) -> Outcome<Answer<Accepted, 202>> {
        let form = Form::of(body.content_type());
        Ok(self.accept(&caller, reader.0, form, body).await?)
    }

    /// Send events of an Impinj reader
    ///
    /// The JSON of Impinj's `IoT` device interface (R700): one event, an array, or one a line. Of
    /// `tagInventoryEvent` the server reads `epcHex` or `epc`, `antennaPort`, `peakRssiCdbm` and
    /// `timestamp`; other events are passed over. Otherwise as `POST /reader/reads`. Needs
    /// `ROLE_OAUTH2_READER_WRITE`, or `ROLE_OAUTH2_INTERACTION_WRITE` for now.
    #[oai(
        path = "/reader/impinj",
        method = "post",
        operation_id = "sendImpinjEvents"
    )]
    async fn impinj(
        &self,
        caller: Granted<SendReads>,
        /// The reader, as an id or a selector, where the client is not bound to it.
        reader: Query<Option<String>>,
        body: Anything<ImpinjEvents, BODY_MAX_BYTES>,
    ) -> Outcome<Answer<Accepted, 202>> {
        Ok(self.accept(&caller, reader.0, Form::Impinj, body).await?)
    }

    /// Send events of a Zebra reader
    ///
    /// The JSON of Zebra's `IoT` Connector: one event, an array, or one a line. Of `data` the server reads
    /// `idHex`, `antenna`, `peakRssi` and `timestamp`, otherwise that of the event; events without `idHex` are passed
    /// over. Otherwise as `POST /reader/reads`. Needs `ROLE_OAUTH2_READER_WRITE`, or `ROLE_OAUTH2_INTERACTION_WRITE` for now.
    #[oai(
        path = "/reader/zebra",
        method = "post",
        operation_id = "sendZebraEvents"
    )]
    async fn zebra(
        &self,
        caller: Granted<SendReads>,
        /// The reader, as an id or a selector, where the client is not bound to it.
        reader: Query<Option<String>>,
        body: Anything<ZebraEvents, BODY_MAX_BYTES>,
    ) -> Outcome<Answer<Accepted, 202>> {
        Ok(self.accept(&caller, reader.0, Form::Zebra, body).await?)
    }
}

impl ReadersApi {
    async fn accept<T>(
        &self,
        caller: &Granted<SendReads>,
        named: Option<String>,
        form: Form,
        body: Anything<T, BODY_MAX_BYTES>,
    ) -> Result<Answer<Accepted, 202>> {
        let (body, zone) = (body.into_plain()?, self.app.settings().zone.clone());
        let parse = move || form.parse(&body, Timestamp::now(), &zone);
        let turn = PARSED_AT_ONCE.acquire().await.map_err(Error::defect)?;
        let posted = tokio::task::spawn_blocking(parse)
            .await
            .map_err(Error::defect)??;
        drop(turn);
        self.readers.catch_up()?;
        let reader = match (posted.reader.as_deref(), named.as_deref()) {
            (Some(one), Some(other)) => {
                let one = self.reader(Some(one), None)?;
                if self.reader(Some(other), None)? != one {
                    return Err(Error::field(
                        "reader",
                        "the body names another one than the query",
                    ));
                }
                one
            }
            (one, other) => self.reader(one.or(other), caller.device)?,
        };
        self.check_bound(caller.device, reader)?;
        let accepted = self.readers.accept(reader, &posted.reads)?;
        Ok(Answer::json(&accepted))
    }

    /// Checks that a client which is bound to a reader sends for that one.
    fn check_bound(&self, bound: Option<DeviceId>, reader: DeviceId) -> Result<()> {
        let Some(bound) = bound.filter(|bound| *bound != reader) else {
            return Ok(());
        };
        let sql = "SELECT 1 FROM devices WHERE id = ?1 AND device_type = ?2";
        let is_reader = self.app.store.look_up(|connection| {
            Ok(connection
                .prepare_cached(sql)?
                .exists((bound, DEVICE_TYPE))?)
        })?;
        if !is_reader {
            return Ok(());
        }
        let message = format!("this client is bound to device {bound} and sends for it only");
        Err(Error::new(Kind::Forbidden, message).at("reader"))
    }

    /// The reader that is named, or the one that the client is bound to.
    fn reader(&self, named: Option<&str>, bound: Option<DeviceId>) -> Result<DeviceId> {
        let reader = match named {
            Some(named) if named.contains(':') => {
                let selector = DeviceSelector::parse(named)?;
                self.app
                    .store
                    .look_up(|connection| devices::find(connection, &selector))?
            }
            Some(named) => named.parse().map(DeviceId).map_err(|_| {
                Error::field(
                    "reader",
                    "must be an id or a selector such as code:portal-1",
                )
            })?,
            None => bound.ok_or_else(|| {
                Error::field("reader", "is missing; name it, or bind the client to it")
            })?,
        };
        if !self.readers.knows(reader) {
            let message =
                format!("device {reader} is not an available device of the type rfidreader");
            return Err(Error::new(Kind::DeviceNotFound, message));
        }
        Ok(reader)
    }
}

/// Tag reads of one reader.
#[derive(JsonSchema)]
#[schemars(example = json!({
    "reader": "code:portal-1",
    "reads": [{"epc": "303400000000000000000001", "antenna": 1, "rssi": -52.5, "at": 1_795_251_720.125}]
}))]
pub struct ReadsInput {
    /// The reader.
    pub reader: Option<NamedReader>,
    #[schemars(length(max = READS_MAX))]
    pub reads: Vec<SentRead>,
}

#[derive(JsonSchema)]
#[schemars(inline, untagged)]
pub enum NamedReader {
    /// An id.
    Id(i64),
    /// An id, or a selector such as `code:portal-1`.
    Text(String),
}

#[derive(JsonSchema)]
#[schemars(inline)]
pub struct SentRead {
    /// The tag's EPC, hexadecimal.
    pub epc: String,
    /// Its number at the reader; 1 without it.
    #[schemars(range(min = 0, max = u16::MAX))]
    pub antenna: Option<i64>,
    /// The level, in dBm; -60 without it.
    #[schemars(range(min = -200, max = 50))]
    pub rssi: Option<f64>,
    /// The time of the read; the time of arrival without it.
    pub at: Option<ReadTime>,
}

#[derive(JsonSchema)]
#[schemars(inline, untagged)]
pub enum ReadTime {
    /// Unix seconds, with fractions
    UnixS(f64),
    /// ISO 8601
    Text(String),
}

/// An event of Impinj's `IoT` device interface, or an array of them.
// Of no type: generators of clients stumble over what is an object or an array.
#[derive(JsonSchema)]
#[schemars(inline, example = json!({
    "timestamp": "2026-11-25T09:02:00.125Z", "eventType": "tagInventory",
    "tagInventoryEvent": {"epcHex": "303400000000000000000001", "antennaPort": 1, "peakRssiCdbm": -5250}
}))]
pub struct ImpinjEvents(pub Value);

/// An event of Zebra's `IoT` Connector, or an array of them.
#[derive(JsonSchema)]
#[schemars(inline, example = json!({
    "type": "CUSTOM", "timestamp": "2026-11-25T10:02:00.125+0100",
    "data": {"idHex": "303400000000000000000001", "antenna": 1, "peakRssi": -52, "format": "epc"}
}))]
pub struct ZebraEvents(pub Value);
