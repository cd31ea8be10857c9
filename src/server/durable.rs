//! What answers of the API tell about the second machine (contract §14): epoch, mark of a write, how far the replica is.
//! And the end of this machine's turn, once somebody shows a higher epoch with its proof.

use crate::{
    core::standby::{self, Met, Replication},
    identity::App,
    types::error::Result,
};
use poem::{
    Body, Request, Response,
    http::{HeaderName, HeaderValue, Method, header},
};
use rusqlite::Connection;
use std::{
    fmt::Write,
    time::{Duration, Instant},
};

/// The header in which both sides tell the epoch that they know, as `EPOCH.PROOF`.
pub const EPOCH: HeaderName = HeaderName::from_static("gatepost-epoch");
/// Says that the epoch which the client sent has no valid proof: it forgets it.
const UNPROVEN: HeaderName = HeaderName::from_static("gatepost-epoch-unproven");
/// The rest between two looks whether there is something to wait for.
const LOOK: Duration = Duration::from_millis(20);
/// The rest between two calls of Litestream, as long as it takes by itself between two looks at the log.
const REST: Duration = Duration::from_millis(100);
/// The rest after a call that failed.
const AGAIN: Duration = Duration::from_secs(1);

/// The longest rest while there is nothing to wait for: Litestream may be gone meanwhile.
const IDLE: Duration = Duration::from_secs(5);

/// Facts of a request that the answer needs.
pub struct Asked {
    is_write: bool,
    met: Met,
}

impl Asked {
    /// Reads a request; `None` where the file has no epoch.
    pub async fn read(app: &App, request: &Request) -> Option<Self> {
        app.replication.get()?;
        let met = match request.header(EPOCH) {
            Some(sent) => meet(app, sent).await,
            None => Met::Known,
        };
        let reads = [Method::GET, Method::HEAD, Method::OPTIONS];
        Some(Self {
            is_write: !reads.contains(request.method()) && !only_reads(request.uri().path()),
            met,
        })
    }

    /// Adds the epoch, and to the answer of a write that succeeded its mark.
    pub async fn answer(&self, app: &App, mut response: Response) -> poem::Result<Response> {
        let Some(replication) = app.replication.get() else {
            return Ok(response);
        };
        if let Ok(value) = HeaderValue::from_str(&replication.header) {
            response.headers_mut().insert(EPOCH, value);
        }
        if self.met == Met::Unproven {
            let unproven = HeaderValue::from_static("true");
            response.headers_mut().insert(UNPROVEN, unproven);
        }
        let is_json = response.content_type() == Some("application/json");
        if !self.is_write || !is_json || !response.status().is_success() {
            return Ok(response);
        }
        let body = response.take_body().into_string().await?;
        response.headers_mut().remove(header::CONTENT_LENGTH);
        response.set_body(Body::from_string(with_mark(app, replication, body)));
        Ok(response)
    }
}

/// Returns whether a POST of this path only reads; a list is streamed, and not to be gathered here.
pub fn only_reads(path: &str) -> bool {
    path.ends_with("/list") || path.ends_with("/find") || path.contains("/interaction/test/")
}

/// The envelope with `meta.durable`. The mark is what the file has reached by now, which is that of the write or later.
fn with_mark(app: &App, replication: &Replication, mut body: String) -> String {
    let mark = app.store.stats().mark();
    let durable = serde_json::to_string(&replication.durable(mark, Some(mark)));
    // Tokens have no envelope.
    if let Ok(durable) = durable
        && body.starts_with("{\"data\":")
        && body.ends_with("}}")
    {
        body.truncate(body.len() - 2);
        let comma = if body.ends_with('{') { "" } else { "," };
        let _ = write!(body, "{comma}\"durable\":{durable}}}}}");
    }
    body
}

/// Ends this machine's turn where somebody shows a higher epoch of the file.
pub async fn meet(app: &App, sent: &str) -> Met {
    let Some(replication) = app.replication.get() else {
        return Met::Known;
    };
    let compare = |connection: &Connection| replication.compare(connection, sent);
    let met = app.store.look_up(compare).unwrap_or_else(|cause| {
        tracing::warn!("the epoch of a request: {cause}");
        Met::Known
    });
    if let Met::Higher(by) = met
        && app.store.stats().stopped().is_none()
    {
        if let Err(cause) = app.store.write(move |tx| standby::supersede(tx, by)).await {
            tracing::error!("the higher epoch could not be kept: {cause}");
        }
        if let Err(cause) = stop(app, Some(by)) {
            tracing::error!("{cause}");
        }
    }
    met
}

/// Stores nothing more where the file knows of a higher epoch, or has just met one.
pub fn stop(app: &App, met: Option<i64>) -> Result<()> {
    let found = app.store.look_up(standby::Standby::find)?;
    let replaced = found.and_then(|mut found| {
        found.superseded_by = found.superseded_by.max(met);
        found.replaced()
    });
    if let Some(why) = replaced {
        tracing::error!("{why}");
        app.store.stats().stop(why);
    }
    Ok(())
}

/// Polls work of a machine that is in charge; never again once another one took over.
pub async fn in_charge(app: &App, work: impl Future<Output = ()>) {
    let replaced = async {
        while app.store.stats().stopped().is_none() {
            tokio::time::sleep(REST).await;
        }
    };
    tokio::select! {
        () = work => return,
        () = replaced, if app.replication.get().is_some() => {}
    }
    std::future::pending::<()>().await;
}

/// Asks Litestream again and again how far it is: one call for all writes since the last. Never ends.
pub async fn follow(app: &App) {
    let replication = app.replication.get();
    let Some((replication, litestream)) =
        replication.and_then(|it| Some((it, it.litestream.as_ref()?)))
    else {
        return std::future::pending().await;
    };
    let (mut is_known, mut asked_at) = (false, Instant::now());
    loop {
        let mark = app.store.stats().mark();
        replication.watch(mark);
        if is_known && mark <= replication.covered(mark) && asked_at.elapsed() < IDLE {
            tokio::time::sleep(LOOK).await;
            continue;
        }
        asked_at = Instant::now();
        let asked = litestream.clone();
        let heard = tokio::task::spawn_blocking(move || {
            if !is_known {
                asked.check_version()?;
            }
            asked.sync()
        });
        let heard = heard.await.unwrap_or_else(|cause| Err(cause.to_string()));
        // Another version may answer after one that was away.
        is_known = heard.is_ok();
        let heard = heard.and_then(|()| replication.check_folder());
        replication.heard(heard.map(|()| mark));
        replication.watch(app.store.stats().mark());
        tokio::time::sleep(if is_known { REST } else { AGAIN }).await;
    }
}
