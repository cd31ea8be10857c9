//! Whether check-ins slow down as the file grows: the same run on files of several sizes.

use crate::{
    Result, measure,
    output::{Output, OwnServer, machine},
    prepare,
    report::{grouped, median},
    run::Plan,
    server::Server,
    setup::{Access, Venue},
};
use std::path::PathBuf;

/// The files and how they are measured.
#[derive(clap::Args, Clone)]
pub struct Options {
    #[command(flatten)]
    own: OwnServer,
    /// Delegates in the files
    #[arg(long, value_delimiter = ',', default_values_t = [1_000, 50_000, 1_000_000])]
    delegates: Vec<i64>,
    /// Interactions in the files, beside a join of each delegate
    #[arg(long, value_delimiter = ',', default_values_t = [0, 5_000_000])]
    interactions: Vec<i64>,
    #[arg(long, visible_alias = "places", default_value_t = 100)]
    sessions: i64,
    #[arg(long, default_value_t = 64)]
    connections: usize,
    /// Seconds of each run
    #[arg(long, default_value_t = 15)]
    seconds: u64,
    /// Rounds over all files, one after the other; the median counts
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Leave the files for another run
    #[arg(long)]
    keep: bool,
}

struct Sized {
    path: PathBuf,
    delegates: i64,
    interactions: i64,
    rates: Vec<f64>,
}

impl Sized {
    fn median(&self) -> f64 {
        median(self.rates.clone())
    }
}

/// Measures every file in interleaved rounds, prints the medians and how far they are apart.
pub async fn growth(options: &Options) -> Result<()> {
    let mut output = Output::to(options.own.output.as_deref())?;
    let binary = options.own.binary();
    output.line(machine())?;
    let mut files = prepare_files(options, &mut output)?;
    for round in 1..=options.rounds {
        for file in &mut files {
            let server = Server::start(&binary, &file.path).await?;
            let venue = Venue::enter(&Access::at(server.url())).await?;
            let plan = Plan::seconds(options.seconds, 3);
            let report = measure::check_ins(&venue, options.connections, false, plan).await?;
            output.line(format!(
                "round {round}, {} delegates, {} interactions: {report}",
                file.delegates, file.interactions
            ))?;
            if report.failures() > 0 {
                return Err("a run with errors has no figures".into());
            }
            file.rates.push(report.rate());
        }
    }
    for line in table(&files) {
        output.line(line)?;
    }
    if !options.keep {
        for file in &files {
            prepare::remove(&file.path)?;
        }
    }
    Ok(())
}

fn prepare_files(options: &Options, output: &mut Output) -> Result<Vec<Sized>> {
    std::fs::create_dir_all(&options.own.dir)?;
    let mut files = Vec::new();
    for &delegates in &options.delegates {
        for &interactions in &options.interactions {
            let path = options
                .own
                .dir
                .join(format!("growth-{delegates}-{interactions}.db"));
            if !path.exists() {
                output.line(format!(
                    "preparing {delegates} delegates, {interactions} interactions"
                ))?;
                prepare::prepare(&prepare::Options {
                    db: path.clone(),
                    delegates,
                    sessions: options.sessions,
                    interactions,
                })?;
            }
            files.push(Sized {
                path,
                delegates,
                interactions,
                rates: Vec::new(),
            });
        }
    }
    Ok(files)
}

fn table(files: &[Sized]) -> Vec<String> {
    let mut lines = vec![
        "\n| delegates | interactions | check-ins/s |".to_owned(),
        "|---|---|---|".to_owned(),
    ];
    for file in files {
        lines.push(format!(
            "| {} | {} | {} |",
            file.delegates,
            file.interactions,
            grouped(file.median())
        ));
    }
    let fastest = files.iter().map(Sized::median).fold(0.0, f64::max);
    let slowest = files.iter().map(Sized::median).fold(f64::MAX, f64::min);
    let verdict = if slowest >= fastest * 0.8 {
        "pass"
    } else {
        "miss"
    };
    lines.push(format!(
        "\nslowest against fastest: {:.2} (at least 0.80: {verdict})",
        slowest / fastest
    ));
    lines
}
