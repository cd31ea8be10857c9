//! Names to addresses. Those that may not be called are left out here, between the look-up and the
//! connection, so that both see the same answer.

use super::reach::{Reach, judge};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::{
    future::Future,
    io,
    net::{IpAddr, SocketAddr},
    pin::Pin,
    sync::Arc,
};

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
