//! The console as somebody uses it: signed in, page after page on one connection; and dashboards
//! that are left open.

use crate::{
    Result,
    client::{Connection, Target},
    histogram::Histogram,
    pairs::scattering_stride,
    people,
    report::Report,
    setup::Venue,
};
use std::{
    collections::BTreeMap,
    path::Path,
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::task::JoinSet;

const EMAIL: &str = "load@example.com";
const PASSWORD: &str = "load generator";
/// What a dashboard listens to.
const STREAM: &str = "/console/dashboard/stream";

/// Makes an administrator in a file, by the command line.
pub fn make_administrator(binary: &Path, db: &Path) -> Result<()> {
    let mut child = Command::new(binary)
        .args(["user", "add", EMAIL, "--admin", "--password-stdin", "--db"])
        .arg(db)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    if let Some(mut input) = child.stdin.take() {
        std::io::Write::write_all(&mut input, PASSWORD.as_bytes())?;
    }
    let output = child.wait_with_output()?;
    if output.status.success() {
        return Ok(());
    }
    let told = String::from_utf8_lossy(&output.stderr);
    Err(format!("gatepost user add: {told}").into())
}

/// Signs the administrator in: the console with the session's cookie.
pub async fn sign_in(url: &str) -> Result<Target> {
    let target = Target::parse(url)?;
    let form = form_urlencoded::Serializer::new(String::new())
        .append_pair("email", EMAIL)
        .append_pair("password", PASSWORD)
        .finish();
    let mut request = Vec::new();
    target.post_form(&mut request, "/console/sign-in", &form);
    let mut connection = target.connect().await?;
    let answer = connection.exchange(&request).await?;
    let cookie = answer
        .header("set-cookie")
        .and_then(|all| all.split(';').next());
    match cookie {
        Some(cookie) if answer.status == 303 => Ok(target.clone().with_header("Cookie", cookie)),
        _ => {
            let told = String::from_utf8_lossy(answer.body);
            Err(format!("sign-in: status {}: {told}", answer.status).into())
        }
    }
}

/// A page that is asked for again and again.
pub struct Page {
    /// What it is called in the table.
    pub name: String,
    address: Address,
    /// htmx asks for a part of it.
    is_part: bool,
}

/// The address of a page, by how often it was asked for.
enum Address {
    Same(String),
    /// What somebody types, a letter more each time.
    Typed(&'static str),
    Record(&'static str, Vec<i64>),
}

impl Page {
    fn same(path: &str) -> Self {
        Self {
            name: path.to_owned(),
            address: Address::Same(path.to_owned()),
            is_part: false,
        }
    }

    fn path(&self, time: u64) -> String {
        match &self.address {
            Address::Same(path) => path.clone(),
            Address::Typed(before) => format!("{before}{}", typed(time)),
            Address::Record(before, ids) => {
                let at = usize::try_from(time).unwrap_or(0) % ids.len();
                format!("{before}{}", ids[at])
            }
        }
    }
}

/// From one letter of a name to six, then the next name.
fn typed(time: u64) -> String {
    const LETTERS: u64 = 6;
    let name = people::person(1 + time / LETTERS * 7919).last_name;
    let letters = usize::try_from(time % LETTERS).unwrap_or(0) + 1;
    let typed: String = name.chars().take(letters).collect();
    form_urlencoded::byte_serialize(typed.as_bytes()).collect()
}

/// The pages of the navigation, and typical ones beside them.
pub async fn typical(console: &Target, venue: &Venue) -> Result<Vec<Page>> {
    let mut connection = console.connect().await?;
    let mut request = Vec::new();
    console.get(&mut request, format_args!("/console"));
    let answer = connection.exchange(&request).await?;
    let html = String::from_utf8_lossy(answer.body);
    let mut pages: Vec<Page> = navigation(&html)
        .iter()
        .map(|path| Page::same(path))
        .collect();
    if pages.is_empty() {
        return Err("the dashboard shows no navigation".into());
    }
    let stride = i64::try_from(scattering_stride(venue.delegates))?;
    let delegates = i64::try_from(venue.delegates)?;
    let people = (0..1000).map(|at| at * stride % delegates + 1).collect();
    pages.extend([
        Page {
            name: "search as you type".into(),
            address: Address::Typed("/console/delegates?q="),
            is_part: true,
        },
        Page {
            name: "a delegate".into(),
            address: Address::Record("/console/delegates/", people),
            is_part: false,
        },
        Page {
            name: "a session with its visitors".into(),
            address: Address::Record("/console/devices/", venue.devices.clone()),
            is_part: false,
        },
        Page::same("/console/interactions/refusals"),
        Page::same("/console/interactions/conflicts"),
        Page::same("/console/import/batches"),
        Page::same("/console/access/clients"),
    ]);
    let mut there = Vec::new();
    for page in pages {
        console.get(&mut request, format_args!("{}", page.path(0)));
        let status = connection.exchange(&request).await?.status;
        if status == 200 {
            there.push(page);
        } else {
            crate::output::print(format!("left out, status {status}: {}", page.path(0)))?;
        }
    }
    Ok(there)
}

/// Where the navigation leads.
fn navigation(html: &str) -> Vec<String> {
    let inside = html
        .split("<nav")
        .nth(1)
        .and_then(|rest| rest.split("</nav>").next());
    let links = inside.unwrap_or_default().split("<a href=\"").skip(1);
    let paths = links.filter_map(|link| link.split('"').next());
    paths
        .filter(|path| path.starts_with("/console"))
        .map(ToOwned::to_owned)
        .collect()
}

/// Asks for every page in turn, one request at a time, for so long; a report for each page.
pub async fn walk(console: &Target, pages: &[Page], duration: Duration) -> Result<Vec<Report>> {
    let part = console.clone().with_header("HX-Request", "true");
    let mut connection = console.connect().await?;
    let mut reports: Vec<Report> = pages.iter().map(|page| empty(page, duration)).collect();
    let mut request = Vec::new();
    let begun = Instant::now();
    let mut round = 0;
    while begun.elapsed() < duration {
        for (page, report) in pages.iter().zip(&mut reports) {
            let target = if page.is_part { &part } else { console };
            target.get(&mut request, format_args!("{}", page.path(round)));
            ask(&mut connection, &request, report).await?;
        }
        round += 1;
    }
    Ok(reports)
}

fn empty(page: &Page, duration: Duration) -> Report {
    Report {
        name: page.name.clone(),
        connections: 1,
        duration,
        latencies: Histogram::default(),
        units: 0,
        errors: BTreeMap::new(),
    }
}

async fn ask(connection: &mut Connection, request: &[u8], report: &mut Report) -> Result<()> {
    let begun = Instant::now();
    let answer = connection.exchange(request).await?;
    report.latencies.record(begun.elapsed());
    if answer.status == 200 {
        report.units += 1;
    } else {
        let kind = format!("status {}", answer.status);
        let sample = String::from_utf8_lossy(answer.body);
        let sample = || sample.chars().take(400).collect();
        report.errors.entry(kind).or_insert_with(|| (0, sample())).0 += 1;
    }
    Ok(())
}

/// Dashboards that are open and read until this goes.
pub struct Dashboards {
    heard: Arc<AtomicU64>,
    _tasks: JoinSet<()>,
}

impl Dashboards {
    /// Opens so many.
    pub async fn open(console: &Target, count: usize) -> Result<Self> {
        let heard = Arc::new(AtomicU64::new(0));
        let mut tasks = JoinSet::new();
        for _ in 0..count {
            let mut connection = console.connect().await?;
            let mut request = Vec::new();
            console.get(&mut request, format_args!("{STREAM}"));
            let heard = Arc::clone(&heard);
            tasks.spawn(async move {
                let count = |piece: &[u8]| {
                    let events = piece.windows(7).filter(|part| part == b"event: ").count();
                    heard.fetch_add(events as u64, Ordering::Relaxed);
                };
                // A stream that ends is missed in the count.
                let _ = connection.listen(&request, count).await;
            });
        }
        Ok(Self {
            heard,
            _tasks: tasks,
        })
    }

    /// Events that came, to all of them together.
    pub fn heard(&self) -> u64 {
        self.heard.load(Ordering::Relaxed)
    }
}
