//! Connections as they are accepted.

use poem::{
    listener::{Acceptor as PoemAcceptor, TcpAcceptor},
    web::{LocalAddr, RemoteAddr},
};
use std::io::Result;
use tokio::net::{TcpListener, TcpStream};

/// Accepts connections and has their packets sent at once: a gate waits for each answer.
pub struct Acceptor(TcpAcceptor);

impl Acceptor {
    /// Accepts from a listener.
    ///
    /// # Errors
    /// When the listener has no address.
    pub fn new(listener: TcpListener) -> Result<Self> {
        TcpAcceptor::from_tokio(listener).map(Self)
    }
}

impl PoemAcceptor for Acceptor {
    type Io = TcpStream;

    fn local_addr(&self) -> Vec<LocalAddr> {
        self.0.local_addr()
    }

    async fn accept(
        &mut self,
    ) -> Result<(Self::Io, LocalAddr, RemoteAddr, poem::http::uri::Scheme)> {
        let accepted = self.0.accept().await?;
        accepted.0.set_nodelay(true)?;
        Ok(accepted)
    }
}
