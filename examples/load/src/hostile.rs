//! Look-ups beside connections that are opened to be kept open: slow heads, slow bodies, and idle
//! ones, each opened again as soon as the server has ended it.

use crate::{
    Result, measure,
    report::Report,
    run::Plan,
    setup::{Access, Venue},
};
use std::{
    cell::Cell,
    rc::Rc,
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::LocalSet,
};

/// A byte in so long, so that nobody takes the connection for dead.
const DRIP: Duration = Duration::from_secs(1);
/// What a connection that cannot be had is waited for.
const REST: Duration = Duration::from_millis(100);
/// Longer than this the opening of all of them is not waited for.
const OPENING_MAX: Duration = Duration::from_secs(30);

/// How the server is burdened and measured.
#[derive(clap::Args, Clone)]
pub struct Options {
    #[command(flatten)]
    access: Access,
    /// Bad connections, a third of each kind
    #[arg(long, default_value_t = 2000)]
    bad: usize,
    /// Connections that look delegates up
    #[arg(long, default_value_t = 16)]
    connections: usize,
    /// Seconds of each run
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,
}

/// What keeps a connection open.
#[derive(Clone, Copy)]
enum Kind {
    Head,
    Body,
    Idle,
}

impl Kind {
    fn beginning(self) -> &'static [u8] {
        match self {
            Self::Head => b"GET /health/live HTTP/1.1\r\nX-Slow: ",
            // The token endpoint reads a body before it asks who sends it.
            Self::Body => {
                b"POST /api/oauth/v2/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 4000\r\n\r\n{"
            }
            Self::Idle => b"GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n",
        }
    }
}

#[derive(Default)]
struct Counts {
    open: Cell<usize>,
    ended: Cell<u64>,
    refused: Cell<u64>,
}

/// Look-ups alone, then beside the bad connections; what became of those is printed with them.
pub async fn hostile(options: &Options) -> Result<(Report, Report, String)> {
    rlimit::increase_nofile_limit(u64::MAX)?;
    let venue = Venue::enter(&options.access).await?;
    let plan = Plan::seconds(options.seconds, 2);
    let alone = measure::look_ups(&venue, options.connections, plan).await?;
    let counts = Rc::new(Counts::default());
    let all = LocalSet::new();
    let address = venue.target.address().to_owned();
    for n in 0..options.bad {
        let kind = [Kind::Head, Kind::Body, Kind::Idle][n % 3];
        let (address, counts) = (address.clone(), Rc::clone(&counts));
        all.spawn_local(async move { keep_open(&address, kind, &counts).await });
    }
    let beside = all
        .run_until(async {
            let begun = Instant::now();
            while counts.open.get() < options.bad && begun.elapsed() < OPENING_MAX {
                tokio::time::sleep(REST).await;
            }
            measure::look_ups(&venue, options.connections, plan).await
        })
        .await?;
    let told = format!(
        "bad connections: {} open at the end, {} ended by the server, {} not to be had",
        counts.open.get(),
        counts.ended.get(),
        counts.refused.get(),
    );
    Ok((
        alone,
        Report {
            name: "look-ups beside".into(),
            ..beside
        },
        told,
    ))
}

/// Keeps a bad connection open, for as long as it is polled.
async fn keep_open(address: &str, kind: Kind, counts: &Counts) {
    loop {
        let Ok(mut stream) = TcpStream::connect(address).await else {
            counts.refused.set(counts.refused.get() + 1);
            tokio::time::sleep(REST).await;
            continue;
        };
        counts.open.set(counts.open.get() + 1);
        let _ = drip(&mut stream, kind).await;
        counts.open.set(counts.open.get() - 1);
        counts.ended.set(counts.ended.get() + 1);
    }
}

/// Sends as little as keeps the connection open; returns when it is not.
async fn drip(stream: &mut TcpStream, kind: Kind) -> std::io::Result<()> {
    stream.write_all(kind.beginning()).await?;
    let mut answer = [0; 512];
    loop {
        tokio::select! {
            read = stream.read(&mut answer) => {
                if read? == 0 {
                    return Ok(());
                }
            }
            () = tokio::time::sleep(DRIP) => {
                if !matches!(kind, Kind::Idle) {
                    stream.write_all(b" ").await?;
                }
            }
        }
    }
}
