//! The server's log: to standard error, as text or JSON, on a thread of its own. A log that cannot
//! be written, or not fast enough, loses lines and never holds up a request.

use crate::{
    server::ACCESS_LOG,
    types::error::{Error, Result},
};
use std::io::IsTerminal;
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::{EnvFilter, util::SubscriberInitExt};

/// Lines that wait to be written at the most.
const WAITING_MAX_LINES: usize = 16_384;

/// Options of the log.
#[derive(clap::Args)]
#[command(next_help_heading = "Log")]
pub struct Log {
    /// Text for people, or JSON, an object a line, for programs.
    #[arg(long, value_enum, default_value = "text")]
    log_format: Format,
    /// The most detailed level to log: error, warn, info, debug or trace, or directives such as
    /// `info,gatepost::db=debug`.
    #[arg(
        long,
        value_name = "LEVEL",
        env = "GATEPOST_LOG",
        default_value = "info"
    )]
    log_level: String,
    /// Log every request: method, path without codes, status, duration, bytes, address, client,
    /// request id. Off by default: a gate's scan is a line.
    #[arg(long)]
    access_log: bool,
}

/// The format of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Text,
    Json,
}

/// Starts the log; what is still waiting is written when the guard goes.
pub fn start(args: &Log) -> Result<WorkerGuard> {
    let filter = filter(&args.log_level, args.access_log)?;
    let (writer, guard) = NonBlockingBuilder::default()
        .buffered_lines_limit(WAITING_MAX_LINES)
        .thread_name("log")
        .finish(std::io::stderr());
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(writer)
        .log_internal_errors(false);
    let started = match args.log_format {
        Format::Text => subscriber.finish().try_init(),
        Format::Json => subscriber.json().flatten_event(true).finish().try_init(),
    };
    started.map_err(Error::defect)?;
    Ok(guard)
}

/// Makes the filter. A single level is that of Gatepost; of the libraries only warnings are logged then.
fn filter(level: &str, access_log: bool) -> Result<EnvFilter> {
    let single = level.parse::<tracing::level_filters::LevelFilter>().is_ok();
    let directives = if single {
        format!("warn,gatepost={level}")
    } else {
        level.to_owned()
    };
    let access = if access_log { "info" } else { "off" };
    EnvFilter::try_new(format!("{directives},{ACCESS_LOG}={access}"))
        .map_err(|cause| Error::invalid(format!("--log-level {level}: {cause}")))
}
