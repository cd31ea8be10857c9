//! How the other side of HTTPS is known: by what the operating system trusts, on rustls with ring.

use crate::types::error::{Error, Result};
use rustls::{ClientConfig, RootCertStore, crypto::ring};
use rustls_platform_verifier::BuilderVerifierExt;
use std::sync::Arc;

/// The configuration of every call.
pub(super) fn config() -> Result<ClientConfig> {
    let builder = || {
        ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(Error::defect)
    };
    match builder()?.with_platform_verifier() {
        Ok(builder) => Ok(builder.with_no_client_auth()),
        Err(cause) => {
            tracing::warn!(
                "HTTPS calls will fail, as this machine trusts no certificates: {cause}"
            );
            let trusted = RootCertStore::empty();
            Ok(builder()?
                .with_root_certificates(trusted)
                .with_no_client_auth())
        }
    }
}
