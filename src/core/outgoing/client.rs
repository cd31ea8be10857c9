//! A call and its outcome: an answer, or a failure that tells whether the other side can have accepted it.
//! Certificates are checked against those that the operating system trusts, by rustls with ring. Addresses that
//! may not be called are left out between the look-up of a name and the connection, so that both see the same
//! answer.

use super::reach::{Reach, digits, judge, parse};
use crate::types::{
    error::{Error, Result},
    text::without_number,
};
use reqwest::{
    Method,
    dns::{Addrs, Name, Resolve, Resolving},
    header::{HeaderMap, HeaderName, HeaderValue},
    redirect::Policy,
};
use rustls::{ClientConfig, RootCertStore, crypto::ring, pki_types::CertificateDer};
use rustls_platform_verifier::Verifier;
use std::{
    error::Error as _,
    fmt,
    future::Future,
    io,
    net::{IpAddr, SocketAddr},
    pin::Pin,
    sync::{Arc, OnceLock},
    time::Duration,
};

/// The longest time of a call, from the look-up of the name to the end of the answer.
pub const WHOLE_MAX: Duration = Duration::from_secs(10);
/// The longest time of connecting, TLS included. Less than [`WHOLE_MAX`], so that a call that never got through is
/// known as one that was not sent.
const CONNECT_MAX: Duration = Duration::from_secs(6);
/// The most that is read of an answer's body; the rest is cut off.
pub const BODY_MAX_BYTES: usize = 256 << 10;
/// The time for which an unused connection is kept.
const IDLE_MAX: Duration = Duration::from_secs(20);
/// Unused connections that are kept for one host.
const IDLE_PER_HOST: usize = 8;

/// A call. It has no `Debug`, as headers and bodies hold secrets.
#[derive(Clone)]
pub struct Request {
    pub method: Method,
    /// The whole address, HTTP or HTTPS.
    pub url: String,
    /// Names and values.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Request {
    /// A POST of a body of this type.
    pub fn post(url: impl Into<String>, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        Self {
            method: Method::POST,
            url: url.into(),
            headers: vec![("Content-Type".to_owned(), content_type.to_owned())],
            body: body.into(),
        }
    }

    /// With one more header.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }
}

/// An answer, whatever its status; a redirect is one too.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    /// The body, as far as it came and [`BODY_MAX_BYTES`] let it.
    pub body: Vec<u8>,
}

impl Answer {
    /// Returns whether the status is one of success (2xx).
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// A header's value, as far as it is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The body as text; what is none is replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// No answer came. The reason names neither the address's path nor anything that was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// Nothing was accepted, for certain: the address may not be called, nobody was there, or TLS failed. Sending it
    /// again does nothing twice.
    NotSent(String),
    /// The request was sent, in whole or in part; the outcome is unknown.
    Unknown(String),
}

impl Failure {
    /// The reason.
    pub fn why(&self) -> &str {
        match self {
            Self::NotSent(why) | Self::Unknown(why) => why,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.why())
    }
}

/// Calls others. Connections are kept for a while and used again.
pub struct Client {
    reach: Box<dyn Fn() -> Reach + Send + Sync>,
    lookup: Arc<dyn Lookup>,
    whole_max: Duration,
    body_max: usize,
    ca: Option<CertificateDer<'static>>,
    /// Made when they are first used: reading what the machine trusts takes a while. Two, so that
    /// a connection to this machine is not used any more once that is forbidden.
    network: OnceLock<Option<reqwest::Client>>,
    local: OnceLock<Option<reqwest::Client>>,
}

impl Client {
    /// A client that asks before each call how far it may go.
    pub fn new(reach: impl Fn() -> Reach + Send + Sync + 'static) -> Self {
        Self::with_lookup(reach, System)
    }

    /// As [`Client::new`], with another way to look names up.
    pub fn with_lookup(
        reach: impl Fn() -> Reach + Send + Sync + 'static,
        lookup: impl Lookup,
    ) -> Self {
        Self {
            reach: Box::new(reach),
            lookup: Arc::new(lookup),
            whole_max: WHOLE_MAX,
            body_max: BODY_MAX_BYTES,
            ca: None,
            network: OnceLock::new(),
            local: OnceLock::new(),
        }
    }

    /// With other limits than [`WHOLE_MAX`] and [`BODY_MAX_BYTES`].
    #[must_use]
    pub fn with_limits(mut self, whole_max: Duration, body_max: usize) -> Self {
        (self.whole_max, self.body_max) = (whole_max, body_max);
        self
    }

    /// Trusting this authority besides those that the operating system trusts.
    #[must_use]
    pub fn trusting(mut self, ca: Option<CertificateDer<'static>>) -> Self {
        self.ca = ca;
        self
    }

    /// The reach of calls now.
    pub fn reach(&self) -> Reach {
        (self.reach)()
    }

    /// Makes a call; it ends within [`WHOLE_MAX`], unless the client has another limit.
    pub async fn send(&self, request: Request) -> Result<Answer, Failure> {
        let reach = self.reach();
        let (client, request) = self.prepare(reach, request).map_err(Failure::NotSent)?;
        let answered = client.execute(request).await;
        let mut response = answered.map_err(|cause| {
            let why = told(&cause, self.whole_max);
            if cause.is_connect() || cause.is_builder() {
                Failure::NotSent(why)
            } else {
                Failure::Unknown(why)
            }
        })?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let mut body = Vec::new();
        // The status is the outcome, even where the body breaks off.
        while let Ok(Some(chunk)) = response.chunk().await {
            let room = self.body_max - body.len();
            body.extend_from_slice(&chunk[..chunk.len().min(room)]);
            if chunk.len() > room {
                break;
            }
        }
        Ok(Answer {
            status,
            headers,
            body,
        })
    }

    /// Everything that can be wrong with a call before it is made.
    fn prepare(
        &self,
        reach: Reach,
        request: Request,
    ) -> Result<(&reqwest::Client, reqwest::Request), String> {
        let url = parse(&request.url).map_err(|why| format!("the address {why}"))?;
        if let Some(address) = digits(&url) {
            judge(address, reach)
                .map_err(|what| format!("{} is {what}", url.host_str().unwrap_or_default()))?;
        }
        let mut sent = reqwest::Request::new(request.method, url);
        for (name, value) in &request.headers {
            let header = HeaderName::from_bytes(name.as_bytes());
            let (Ok(header), Ok(value)) = (header, HeaderValue::from_str(value)) else {
                return Err(format!("the header {name} cannot be sent"));
            };
            sent.headers_mut().append(header, value);
        }
        if !request.body.is_empty() {
            *sent.body_mut() = Some(request.body.into());
        }
        let kept = match reach {
            Reach::Network => &self.network,
            Reach::Local => &self.local,
        };
        let client = kept.get_or_init(|| {
            let made = self.make(reach);
            if let Err(cause) = &made {
                tracing::error!("outgoing calls: {cause}");
            }
            made.ok()
        });
        let client = client
            .as_ref()
            .ok_or("TLS cannot be set up on this machine")?;
        Ok((client, sent))
    }

    fn make(&self, reach: Reach) -> Result<reqwest::Client> {
        reqwest::Client::builder()
            .tls_backend_preconfigured(tls_config(self.ca.clone())?)
            .dns_resolver(Arc::new(Judged {
                lookup: Arc::clone(&self.lookup),
                reach,
            }))
            .redirect(Policy::none())
            .no_proxy()
            .referer(false)
            .connect_timeout(CONNECT_MAX)
            .timeout(self.whole_max)
            .pool_idle_timeout(IDLE_MAX)
            .pool_max_idle_per_host(IDLE_PER_HOST)
            .user_agent(concat!("Gatepost/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(Error::defect)
    }
}

/// The innermost cause, in its own words: those around it repeat the address, in which there may be
/// a key.
fn told(cause: &reqwest::Error, whole_max: Duration) -> String {
    if cause.is_timeout() {
        let most = if cause.is_connect() {
            CONNECT_MAX
        } else {
            whole_max
        };
        return format!("no answer within {} s", most.as_secs());
    }
    let mut innermost = cause.source();
    while let Some(deeper) = innermost.and_then(std::error::Error::source) {
        innermost = Some(deeper);
    }
    match innermost {
        Some(cause) => without_number(&cause),
        None => "the call failed".to_owned(),
    }
}

/// The configuration of every call; `ca` is trusted besides what the operating system trusts.
pub fn tls_config(ca: Option<CertificateDer<'static>>) -> Result<ClientConfig> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(Error::defect)?;
    Ok(match Verifier::new_with_extra_roots(ca.clone(), provider) {
        Ok(verifier) => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth(),
        Err(cause) => {
            tracing::warn!(
                "HTTPS calls will fail, as this machine trusts no certificates: {cause}"
            );
            let mut trusted = RootCertStore::empty();
            trusted.add_parsable_certificates(ca);
            builder
                .with_root_certificates(trusted)
                .with_no_client_auth()
        }
    })
}

#[cfg(test)]
mod tests;

/// Looks names up.
pub trait Lookup: Send + Sync + 'static {
    /// The addresses that a name stands for now.
    fn addresses(
        &self,
        name: &str,
    ) -> Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>>;
}

/// As the operating system does.
pub struct System;

impl Lookup for System {
    fn addresses(
        &self,
        name: &str,
    ) -> Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>> {
        let name = name.to_owned();
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

/// A look-up that leaves out what may not be called.
pub(super) struct Judged {
    pub(super) lookup: Arc<dyn Lookup>,
    pub(super) reach: Reach,
}

impl Resolve for Judged {
    fn resolve(&self, name: Name) -> Resolving {
        let (found, reach) = (self.lookup.addresses(name.as_str()), self.reach);
        Box::pin(async move {
            let host = name.as_str();
            let found = found
                .await
                .map_err(|cause| format!("{host} cannot be found: {cause}"))?;
            let judged = |address: &IpAddr| judge(*address, reach);
            let first = found.iter().map(judged).find_map(Result::err);
            let allowed: Vec<SocketAddr> = found
                .into_iter()
                .filter(|address| judge(*address, reach).is_ok())
                .map(|address| SocketAddr::new(address, 0))
                .collect();
            match first {
                _ if !allowed.is_empty() => Ok(Box::new(allowed.into_iter()) as Addrs),
                Some(what) => Err(format!("{host} is {what}").into()),
                None => Err(format!("{host} has no address").into()),
            }
        })
    }
}
