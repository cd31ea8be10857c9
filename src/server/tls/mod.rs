//! TLS: which certificate the server shows. rustls with its `ring` provider does the rest; it builds
//! with a C compiler alone. A certificate from files is read anew when they change; a broken one keeps the old
//! one in service. Its own is renewed when this machine gets other names or addresses.

use crate::{
    db::Store,
    types::error::{Error, Result},
};
use rustls::{
    ServerConfig,
    crypto::{CryptoProvider, ring},
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    server::{ClientHello, ResolvesServerCert},
    sign::CertifiedKey,
};
use sha2::{Digest, Sha256};
use std::{
    fmt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, RwLock},
    time::Duration,
};
use tokio_rustls::TlsAcceptor;

mod own;

pub use own::Own;

/// The certificate that secures connections, and its source.
#[derive(Clone)]
pub struct Tls {
    acceptor: TlsAcceptor,
    shown: Arc<Shown>,
    source: Source,
}

/// The source of the certificate.
#[derive(Clone)]
enum Source {
    Files(Arc<Files>),
    Own(Arc<Own>),
}

/// The certificate that is shown now.
#[derive(Debug)]
struct Shown(RwLock<Arc<CertifiedKey>>);

impl ResolvesServerCert for Shown {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.now())
    }
}

impl Shown {
    fn now(&self) -> Arc<CertifiedKey> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn change(&self, certificate: CertifiedKey) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(certificate);
    }
}

impl Tls {
    fn showing(certificate: CertifiedKey, source: Source) -> Result<Self> {
        let shown = Arc::new(Shown(RwLock::new(Arc::new(certificate))));
        let mut config = ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .map_err(Error::defect)?
            .with_no_client_auth()
            .with_cert_resolver(Arc::clone(&shown) as Arc<dyn ResolvesServerCert>);
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self {
            acceptor: TlsAcceptor::from(Arc::new(config)),
            shown,
            source,
        })
    }

    /// The server's own CA and certificate, where it uses them.
    pub fn own_certificate(&self) -> Option<&Arc<Own>> {
        match &self.source {
            Source::Own(own) => Some(own),
            Source::Files(_) => None,
        }
    }

    /// Shakes hands.
    pub(super) fn acceptor(&self) -> &TlsAcceptor {
        &self.acceptor
    }

    /// The SHA-256 fingerprint of the certificate that is shown now, as browsers write it.
    pub fn fingerprint(&self) -> String {
        self.shown
            .now()
            .cert
            .first()
            .map(fingerprint)
            .unwrap_or_default()
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tls({})", self.fingerprint())
    }
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

/// A certificate with its key; they must belong together.
fn certified(
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
) -> Result<CertifiedKey, rustls::Error> {
    CertifiedKey::from_der(chain, key, &provider())
}

fn fingerprint(certificate: &CertificateDer<'_>) -> String {
    let digest = Sha256::digest(certificate);
    let pairs: Vec<String> = digest.iter().map(|byte| format!("{byte:02X}")).collect();
    pairs.join(":")
}

/// The time between two looks at the files.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The two PEM files.
pub struct Files {
    certificate: PathBuf,
    key: PathBuf,
    /// The content of the files when they were last tried, or why they could not be read.
    tried: Mutex<Result<Content, String>>,
}

#[derive(PartialEq, Eq)]
struct Content {
    certificate: Vec<u8>,
    key: Vec<u8>,
}

impl Tls {
    /// A certificate chain and its key from PEM files; the server follows their changes.
    pub fn from_files(certificate: &Path, key: &Path) -> Result<Self> {
        let content = read(certificate, key).map_err(Error::invalid)?;
        let first = parse(&content).map_err(|cause| Error::field(certificate.display(), cause))?;
        let files = Files {
            certificate: certificate.to_owned(),
            key: key.to_owned(),
            tried: Mutex::new(Ok(content)),
        };
        Self::showing(first, Source::Files(Arc::new(files)))
    }

    /// Follows the files, or this machine's names and addresses, for as long as it is polled.
    pub(in crate::server) async fn follow(&self, store: &Store) {
        let files = match &self.source {
            Source::Files(files) => files,
            Source::Own(own) => return own.follow(store, &self.shown).await,
        };
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            let (files, shown) = (Arc::clone(files), Arc::clone(&self.shown));
            // Reading may wait for a disk.
            let looked = tokio::task::spawn_blocking(move || {
                if let Some(certificate) = files.changed() {
                    if let Some(first) = certificate.cert.first() {
                        tracing::info!("the certificate is now {}", fingerprint(first));
                    }
                    shown.change(certificate);
                }
            });
            let _ = looked.await;
        }
    }
}

impl Files {
    /// The certificate of files that changed and can be used. Unusable ones are logged once;
    /// one of the two may be new while the other is still to come.
    fn changed(&self) -> Option<CertifiedKey> {
        let content = read(&self.certificate, &self.key);
        let mut tried = self.tried.lock().unwrap_or_else(PoisonError::into_inner);
        if *tried == content {
            return None;
        }
        let parsed = content.as_ref().map_err(Clone::clone).and_then(parse);
        *tried = content;
        parsed
            .inspect_err(|cause| {
                let path = self.certificate.display();
                tracing::error!(
                    "{path} changed and cannot be used, the old certificate stays: {cause}"
                );
            })
            .ok()
    }
}

fn read(certificate: &Path, key: &Path) -> Result<Content, String> {
    let read =
        |path: &Path| std::fs::read(path).map_err(|cause| format!("{}: {cause}", path.display()));
    Ok(Content {
        certificate: read(certificate)?,
        key: read(key)?,
    })
}

fn parse(content: &Content) -> Result<CertifiedKey, String> {
    let chain = CertificateDer::pem_slice_iter(&content.certificate)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|cause| format!("not a certificate in PEM: {cause}"))?;
    if chain.is_empty() {
        return Err("there is no certificate in it".into());
    }
    let key = PrivateKeyDer::from_pem_slice(&content.key)
        .map_err(|cause| format!("its key is not one in PEM: {cause}"))?;
    certified(chain, key).map_err(|cause| match cause {
        rustls::Error::InconsistentKeys(_) => "certificate and key do not belong together".into(),
        other => other.to_string(),
    })
}
