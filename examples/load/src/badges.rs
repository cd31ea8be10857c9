//! Badges that four printers print by themselves, beside check-ins at other gates: the time from a check-in until its
//! printer gets the first byte of the badge, and what printing costs the gates. The printers are played here. And the PDF
//! of very many badges: its time and memory.

use crate::{
    Result,
    client::Target,
    histogram::Histogram,
    measure,
    output::{Output, OwnServer, machine},
    pages, prepare,
    report::ms,
    run::Plan,
    server::Server,
    setup::{Access, DEVICE_CODE, Venue, get},
};
use serde_json::json;
use std::{
    path::Path,
    process::Command,
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    time::timeout,
};

const PRINTERS: usize = 4;
/// Badges of one PDF.
const PDF: i64 = 10_000;
/// The answer to `~HS` of a printer that is ready.
const READY: &[u8] = b"\x02030,0,0,1183,000,0,0,0,000,0,0,0\x03\r\n\x02000,0,0,0,0,2,4,0,00000000,1,000\x03\r\n\x021234,0\x03\r\n";
/// A badge that takes longer counts as lost.
const LOST: Duration = Duration::from_secs(30);

/// What the run is made of.
#[derive(clap::Args, Clone)]
pub struct Options {
    #[command(flatten)]
    own: OwnServer,
    /// Attendees
    #[arg(long, visible_alias = "attendees", default_value_t = 100_000)]
    delegates: i64,
    #[arg(long, visible_alias = "places", default_value_t = 200)]
    sessions: i64,
    #[arg(long, default_value_t = 64)]
    gates: usize,
    /// Check-ins a second beside the printing, all gates together
    #[arg(long, default_value_t = 400, value_parser = clap::value_parser!(u32).range(1..))]
    rate: u32,
    /// Badges a minute of each of the four printers
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    badges: u32,
    /// Seconds of each run
    #[arg(long, default_value_t = 30)]
    seconds: u64,
}

/// Measures and prints.
pub async fn figures(options: &Options) -> Result<()> {
    let mut output = Output::to(options.own.output.as_deref())?;
    output.line(machine())?;
    output.line(format!(
        "file: {} delegates, {} sessions; {} check-ins/s at {} gates; {PRINTERS} printers, {} badges a minute each\n",
        options.delegates, options.sessions, options.rate, options.gates, options.badges
    ))?;
    let counts = (options.delegates, options.sessions, 0);
    let db = options.own.fresh("badges.db", counts)?;
    let binary = options.own.binary();
    let mut printers = Vec::new();
    for _ in 0..PRINTERS {
        printers.push(TcpListener::bind("127.0.0.1:0").await?);
    }
    let codes: Vec<String> = (0..4)
        .map(|at| format!("{DEVICE_CODE}{}", options.sessions - at))
        .collect();
    set_up(&binary, &db, &printers, &codes)?;
    let server = Server::start(&binary, &db).await?;
    let venue = Venue::enter(&Access::at(server.url())).await?;
    let mut doors = Vec::new();
    for (printer, code) in printers.into_iter().zip(codes) {
        let (tell, told) = unbounded_channel();
        tokio::spawn(play(printer, tell));
        doors.push(Door {
            place: place(&venue.target, &code).await?,
            told,
        });
    }
    let plan = Plan::seconds(options.seconds, 2).at_rate(options.rate);
    let alone = measure::check_ins(&venue, options.gates, false, plan).await?;
    output.line(format!("nothing is printed: {alone}"))?;
    let until = Instant::now() + plan.warm_up + plan.duration;
    let (beside, printed) = tokio::try_join!(
        measure::check_ins(&venue, options.gates, false, plan),
        print(&venue.target, &mut doors, options, until),
    )?;
    output.line(format!("beside printing:    {beside}"))?;
    output.line(format!(
        "check-in to first byte at the printer: p50 {:.0} ms, p99 {:.0} ms, longest {:.0} ms",
        ms(printed.quantile(500)),
        ms(printed.quantile(990)),
        ms(printed.max()),
    ))?;
    let (before, after) = (
        alone.latencies.quantile(990),
        beside.latencies.quantile(990),
    );
    output.line(format!(
        "gates' p99 beside printing: {:.2} of that without",
        after.as_secs_f64() / before.as_secs_f64()
    ))?;
    drop(server);
    prepare::remove(&db)?;
    let told = pdf(options).await?;
    output.line(told)
}

/// Draws the PDF of all attendees, several on an A4.
async fn pdf(options: &Options) -> Result<String> {
    let db = options.own.fresh("pdf.db", (PDF, 1, 0))?;
    let binary = options.own.binary();
    pages::make_administrator(&binary, &db)?;
    let server = Server::start(&binary, &db).await?;
    let console = pages::sign_in(&server.url()).await?;
    let before = server.memory_kib("VmHWM")? / 1024;
    let mut request = Vec::new();
    console.get(
        &mut request,
        format_args!("/console/settings/badges/pdf?sheet=a4"),
    );
    let mut connection = console.connect().await?;
    let begun = Instant::now();
    let answer = connection.exchange(&request).await?;
    let took = begun.elapsed();
    if answer.status != 200 {
        return Err(format!("the PDF: status {}", answer.status).into());
    }
    let bytes = answer.body.len();
    let most = server.memory_kib("VmHWM")? / 1024;
    drop(server);
    prepare::remove(&db)?;
    Ok(format!(
        "PDF of {PDF} badges: {:.1} s, {} kB; the server had {before} MiB at most before, {most} MiB after",
        took.as_secs_f64(),
        bytes / 1_000
    ))
}

/// A place whose printer prints at each check-in.
struct Door {
    place: i64,
    /// The times at which badges began to come.
    told: UnboundedReceiver<Instant>,
}

fn set_up(binary: &Path, db: &Path, printers: &[TcpListener], codes: &[String]) -> Result<()> {
    let all = printers.iter().zip(codes).map(|(printer, code)| {
        let address = printer.local_addr()?.to_string();
        Ok(json!({"name": code, "address": address, "places": [code], "byItself": "each"}))
    });
    let all = all.collect::<Result<Vec<_>>>()?;
    let document = json!({"settings": {"outgoing": {"allowLocal": true}}, "printers": all});
    let file = db.with_extension("config.json");
    std::fs::write(&file, document.to_string())?;
    let mut command = Command::new(binary);
    let applied = command
        .args(["config", "apply"])
        .arg(&file)
        .arg("--db")
        .arg(db);
    let applied = applied.output()?;
    std::fs::remove_file(&file)?;
    if !applied.status.success() {
        return Err(String::from_utf8_lossy(&applied.stderr).into());
    }
    Ok(())
}

async fn place(target: &Target, code: &str) -> Result<i64> {
    let mut connection = target.connect().await?;
    let found = get(
        &mut connection,
        target,
        &format!("/api/v5/device/code:{code}"),
    )
    .await?;
    found["data"]["id"]
        .as_i64()
        .ok_or_else(|| format!("no place {code}").into())
}

/// Plays a printer that is always ready.
async fn play(listener: TcpListener, tell: UnboundedSender<Instant>) {
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(take(stream, tell.clone()));
    }
}

async fn take(mut stream: TcpStream, tell: UnboundedSender<Instant>) {
    let (mut part, mut has_begun) = (vec![0; 64 << 10], false);
    while let Ok(count @ 1..) = stream.read(&mut part).await {
        let came = &part[..count];
        if !has_begun && came.windows(3).any(|letters| letters == b"^XA") {
            has_begun = true;
            let _ = tell.send(Instant::now());
        }
        if came.ends_with(b"~HS\r\n") && stream.write_all(READY).await.is_err() {
            return;
        }
    }
}

/// Checks people in at the doors in turn; the times until their badges began to come.
async fn print(
    target: &Target,
    doors: &mut [Door],
    options: &Options,
    until: Instant,
) -> Result<Histogram> {
    let pause = Duration::from_secs(60) / options.badges / u32::try_from(PRINTERS)?;
    let mut due = tokio::time::interval(pause);
    let mut connection = target.connect().await?;
    let (mut times, mut request) = (Histogram::default(), Vec::new());
    let mut delegate = options.delegates;
    for at in (0..doors.len()).cycle() {
        due.tick().await;
        if Instant::now() >= until {
            break;
        }
        let door = &mut doors[at];
        let body = json!({"firstDelegate": delegate, "firstDevice": door.place}).to_string();
        delegate -= 1;
        let begun = Instant::now();
        target.post(&mut request, "/api/v5/interaction/new/check-in", &body);
        let status = connection.exchange(&request).await?.status;
        if status != 201 {
            return Err(format!("a check-in was answered {status}").into());
        }
        let came = timeout(LOST, door.told.recv()).await;
        let came = came.ok().flatten().ok_or("a badge did not come")?;
        times.record(came.duration_since(begun));
    }
    Ok(times)
}
