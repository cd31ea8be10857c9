//! `gatepost serve`

use crate::{
    app::App,
    error::{Error, Result},
    server,
    store::{Durability, ServeLock, Store},
};
use std::{net::SocketAddr, path::Path};
use tokio::net::TcpListener;

/// Start the server; makes the file when there is none, and brings an older one up to date.
#[derive(clap::Args)]
#[command(
    after_help = "Example:\n  gatepost serve --listen 0.0.0.0:8080 --public-url https://gate.example.org"
)]
pub struct Args {
    /// Where to listen.
    #[arg(long, default_value = "0.0.0.0:8080", value_name = "ADDRESS")]
    listen: SocketAddr,
    /// The address that clients reach the server by; from the request's Host without it.
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// Do not announce the server on the LAN (this version announces nothing yet).
    #[arg(long)]
    no_mdns: bool,
    /// What an acknowledged write survives: power loss (full), or only the end of the process.
    #[arg(long, value_enum, default_value = "full")]
    durability: Durability,
}

/// Serves until it is interrupted.
///
/// # Errors
/// A sentence for the operator when the file or the address cannot be used.
pub fn run(args: Args, db: &Path, json: bool) -> Result<()> {
    log_to_stderr();
    let _lock = ServeLock::take(db)?;
    let store = Store::open(db, args.durability)?;
    let public_url = args
        .public_url
        .map(|url| url.trim_end_matches('/').to_owned());
    let app = App::new(store, public_url);
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(Error::defect)?
        .block_on(serve(app, args.listen, json))
}

async fn serve(app: App, listen: SocketAddr, json: bool) -> Result<()> {
    let told = |cause: std::io::Error| Error::invalid(format!("{listen}: {cause}"));
    let listener = TcpListener::bind(listen).await.map_err(told)?;
    let address = listener.local_addr().map_err(told)?;
    announce(&app, address, json);
    server::run(app, listener, interrupted())
        .await
        .map_err(told)
}

fn announce(app: &App, address: SocketAddr, json: bool) {
    let shown = if address.ip().is_unspecified() {
        format!("http://localhost:{}", address.port())
    } else {
        format!("http://{address}")
    };
    let db = app.store.path().display();
    if json {
        println!(
            "{}",
            serde_json::json!({"url": shown, "listen": address.to_string()})
        );
    } else {
        println!("Gatepost serves {db} at {shown}");
        println!("API reference: {shown}/docs");
    }
}

/// Resolves when the process is asked to end.
async fn interrupted() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminated) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminated.recv() => {}
            }
            return;
        }
    }
    let _ = tokio::signal::ctrl_c().await;
}

fn log_to_stderr() {
    let filter = tracing_subscriber::EnvFilter::try_from_default_env()
        .unwrap_or_else(|_| "warn,gatepost=info".into());
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .init();
}
