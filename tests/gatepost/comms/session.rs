//! The other end of a connection: plain, or by TLS under a certificate of its own.

use rustls::{
    ServerConfig, ServerConnection, StreamOwned,
    crypto::ring,
    pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
};
use std::{
    io::{Read, Result, Write},
    net::TcpStream,
    sync::Arc,
};

/// What a server shows that it is itself by.
#[derive(Clone)]
pub struct Identity {
    /// The certificate, in PEM: signed by nobody else.
    pub certificate: String,
    config: Arc<ServerConfig>,
}

impl Identity {
    /// Makes a certificate for a name or an address.
    pub fn of(name: &str) -> Self {
        let made = rcgen::generate_simple_self_signed([name.to_owned()]).expect("a certificate");
        let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], PrivateKeyDer::from(key))
            .expect("a configuration");
        Self {
            certificate: made.cert.pem(),
            config: Arc::new(config),
        }
    }
}

/// A connection.
pub enum Session {
    Plain(TcpStream),
    Secured(Box<StreamOwned<ServerConnection, TcpStream>>),
}

impl Session {
    /// One that begins with TLS; the handshake comes with the first word.
    pub fn secured(stream: TcpStream, identity: &Identity) -> Self {
        let session = ServerConnection::new(Arc::clone(&identity.config)).expect("a session");
        Self::Secured(Box::new(StreamOwned::new(session, stream)))
    }

    pub fn is_secured(&self) -> bool {
        matches!(self, Self::Secured(_))
    }
}

impl Read for Session {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        match self {
            Self::Plain(stream) => stream.read(buffer),
            Self::Secured(stream) => stream.read(buffer),
        }
    }
}

impl Write for Session {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        match self {
            Self::Plain(stream) => stream.write(bytes),
            Self::Secured(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> Result<()> {
        match self {
            Self::Plain(stream) => stream.flush(),
            Self::Secured(stream) => stream.flush(),
        }
    }
}
