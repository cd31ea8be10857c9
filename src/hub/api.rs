//! `/hub/…`: what venues ask (contract §14). Answers are plain JSON; errors have the envelope of the API.

use super::{
    Hub, down,
    ingest::{self, Sender, Taken},
    lost,
    runs::{self, Run},
    venues,
};
use crate::{
    core::head_office::{PairRequest, Push, RUN},
    identity::throttle::{self, Account},
    types::{
        Timestamp,
        error::{Error, Kind, Result},
        json,
    },
    web::{
        ClientAddress, Failure,
        body::{coding, parse_aside, read_as_sent},
    },
};
use flate2::read::GzDecoder;
use poem::{
    Endpoint, Request, RequestBody, Response,
    http::{StatusCode, header},
};
use serde::Serialize;
use std::{
    io::Read,
    sync::{Arc, atomic::Ordering::Relaxed},
    time::{Duration, Instant},
};

/// The largest push as it is sent, and unpacked.
const PUSH_MAX_BYTES: usize = 4 << 20;
const UNPACKED_MAX_BYTES: usize = 16 << 20;
const PAIR_MAX_BYTES: usize = 4_096;
const WAIT_MAX_S: u64 = 30;

/// What a venue may ask.
#[derive(Debug, Clone, Copy)]
pub enum Ask {
    Pair,
    Push,
    Pull,
}

/// An address of the hub.
pub struct Asked(pub Arc<Hub>, pub Ask);

impl Endpoint for Asked {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        let (request, mut body) = request.split();
        Ok(match self.1 {
            Ask::Pair => pair(&self.0, &request, &mut body).await?,
            Ask::Push => push(&self.0, &request, &mut body).await?,
            Ask::Pull => pull(&self.0, &request).await?,
        })
    }
}

fn answer(status: StatusCode, body: &impl Serialize) -> Result<Response> {
    let body = serde_json::to_string(body).map_err(Error::defect)?;
    Ok(Response::builder()
        .status(status)
        .header(header::CACHE_CONTROL, "no-store")
        .content_type("application/json")
        .body(body))
}

/// The bearer of a request.
fn bearer(request: &Request) -> Result<String> {
    let value = request
        .header(header::AUTHORIZATION.as_str())
        .unwrap_or_default();
    let token = value
        .split_once(' ')
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    token
        .map(|(_, token)| token.trim().to_owned())
        .ok_or_else(|| {
            Error::new(
                Kind::TokenMissing,
                "this needs the venue's key: Authorization: Bearer <key>",
            )
        })
}

/// The marks of the server that asks.
fn run(request: &Request) -> Run {
    Run::parse(request.header(RUN).unwrap_or_default())
}

/// `POST /hub/pair`.
pub async fn pair(
    hub: &Hub,
    request: &Request,
    body: &mut RequestBody,
) -> Result<Response, Failure> {
    let (account, address) = (
        Account::unknown(throttle::Endpoint::VenueCode),
        ClientAddress::of(request),
    );
    hub.app.throttle.check(account, address, Instant::now())?;
    let sent = read_as_sent(request, body, PAIR_MAX_BYTES).await?;
    let text = as_written(request, sent, PAIR_MAX_BYTES)?;
    json::check_limits(&text)?;
    let asked: PairRequest = json::parse(&text)?;
    let paired = hub
        .store
        .write(move |sql| venues::pair(sql, &asked, Timestamp::now()))
        .await?;
    let Some(paired) = paired else {
        hub.app.throttle.failed(account, address, Instant::now())?;
        let wrong = Error::new(
            Kind::Unauthenticated,
            "this code is wrong, used or over; show a new one at the head office, under Venues",
        );
        return Err(Failure(wrong));
    };
    Ok(answer(StatusCode::OK, &paired)?)
}

/// `POST /hub/changes`.
pub async fn push(
    hub: &Hub,
    request: &Request,
    body: &mut RequestBody,
) -> Result<Response, Failure> {
    let bearer = bearer(request)?;
    let known = bearer.clone();
    // Before the body: of others nothing is read.
    hub.store
        .read(move |sql| venues::Venue::of_bearer(sql, &known).map(drop))
        .await?;
    let sent = read_as_sent(request, body, PUSH_MAX_BYTES).await?;
    let _permit = hub.pushes.acquire().await.map_err(Error::defect)?;
    let text = as_written(request, sent, UNPACKED_MAX_BYTES)?;
    let push: Push<'_> = parse_aside(text.len(), || serde_json::from_slice(&text))
        .map_err(|cause| Error::invalid(format!("not a push: {cause}")))?;
    let sender = Sender::Venue {
        bearer,
        run: run(request),
    };
    let taken = ingest::take(&hub.store, sender, push, Timestamp::now()).await?;
    Ok(match taken {
        Taken::Stored(told) => answer(StatusCode::OK, &told)?,
        Taken::Elsewhere(told) => answer(StatusCode::CONFLICT, &told)?,
    })
}

/// A body as it was before it was packed, of at most `max` bytes.
fn as_written(request: &Request, sent: Vec<u8>, max: usize) -> Result<Vec<u8>> {
    match coding(request).as_deref() {
        None => Ok(sent),
        Some("gzip") => parse_aside(sent.len(), || unpacked(&sent, max)),
        Some(_) => Err(Error::new(
            Kind::NotJson,
            "the body is gzip or not packed at all",
        )),
    }
}

fn unpacked(packed: &[u8], max: usize) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    let read = GzDecoder::new(packed)
        .take(max as u64 + 1)
        .read_to_end(&mut text);
    read.map_err(|cause| Error::invalid(format!("the body is not gzip: {cause}")))?;
    if text.len() > max {
        let message = format!("the body may have at most {max} bytes");
        return Err(Error::new(Kind::TooLarge, message));
    }
    Ok(text)
}

/// `GET /hub/down?since=&wait=`.
pub async fn pull(hub: &Hub, request: &Request) -> Result<Response, Failure> {
    let (bearer, run) = (bearer(request)?, run(request));
    let query: Vec<(String, String)> =
        form_urlencoded::parse(request.uri().query().unwrap_or_default().as_bytes())
            .into_owned()
            .collect();
    let named = |name: &str| {
        query
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.clone())
    };
    let since = named("since").filter(|since| !since.is_empty());
    let wait = named("wait")
        .and_then(|wait| wait.parse().ok())
        .unwrap_or(0_u64);
    let until = tokio::time::Instant::now() + Duration::from_secs(wait.min(WAIT_MAX_S));
    if let Some(confirmed) = since
        .as_deref()
        .and_then(down::confirmed)
        .filter(|at| *at != (0, 0))
    {
        let (bearer, run) = (bearer.clone(), run.clone());
        let confirm = move |sql: &mut dyn super::store::Sql| {
            let venue = runs::of_caller(sql, &bearer, &run, Timestamp::now())?;
            lost::confirm(sql, venue.id, confirmed)
        };
        hub.store.write(confirm).await?;
    }
    let mut changed = hub.down.subscribe();
    loop {
        changed.borrow_and_update();
        let (bearer, run, since) = (bearer.clone(), run.clone(), since.clone());
        let read = move |sql: &mut dyn super::store::Sql| {
            let venue = runs::of_caller(sql, &bearer, &run, Timestamp::now())?;
            down::pull(sql, &venue, since.as_deref())
        };
        let (pull, is_new) = hub.store.read(read).await?;
        if is_new || tokio::time::Instant::now() >= until || hub.stopped.load(Relaxed) {
            return Ok(answer(StatusCode::OK, &pull)?);
        }
        let _ = tokio::time::timeout_at(until, changed.changed()).await;
    }
}
