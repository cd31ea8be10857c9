//! An endpoint that reads its request and does nothing, on the same kind of server as Gatepost.

use crate::{Failure, Result};
use poem::{
    Endpoint, Request, Response,
    http::StatusCode,
    listener::{Acceptor, Listener, TcpListener},
};
use std::sync::mpsc;

const ANSWER: &str = r#"{"data":{"id":1,"_type":"interaction","interactionType":"check-in","firstDelegate":{"id":1,"_type":"delegate"},"firstDevice":{"id":2,"_type":"device"},"recordedAt":"2026-11-21T08:02:00+00:00","createdAt":"2026-11-21T08:02:00+00:00","updatedAt":"2026-11-21T08:02:00+00:00"},"meta":{}}"#;

/// The running server, on threads of its own until this is dropped.
pub struct Server {
    url: String,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Server {
    pub fn start() -> Result<Self> {
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let (tell_url, url) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            let served = serve(&tell_url, stopped);
            if let Err(cause) = served {
                eprintln!("no-op endpoint: {cause}");
            }
        });
        Ok(Self {
            url: url.recv().map_err(|_| "the no-op endpoint did not start")?,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    pub fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(
    tell_url: &mpsc::Sender<String>,
    stopped: tokio::sync::oneshot::Receiver<()>,
) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let acceptor = TcpListener::bind("127.0.0.1:0").into_acceptor().await?;
        let address = acceptor
            .local_addr()
            .first()
            .and_then(|address| address.as_socket_addr().copied())
            .ok_or_else(|| Failure::from("the no-op endpoint has no address"))?;
        tell_url.send(format!("http://{address}"))?;
        let server = poem::Server::new_with_acceptor(acceptor);
        tokio::select! {
            ended = server.run(Nothing) => ended?,
            _ = stopped => {}
        }
        Ok(())
    })
}

struct Nothing;

impl Endpoint for Nothing {
    type Output = Response;

    async fn call(&self, mut request: Request) -> poem::Result<Response> {
        request.take_body().into_bytes().await?;
        Ok(Response::builder()
            .status(StatusCode::CREATED)
            .content_type("application/json")
            .body(ANSWER))
    }
}
