//! `gatepost completions`

use super::{Cli, print};
use crate::types::error::Result;
use clap::CommandFactory as _;
use clap_complete::{Shell, generate};

/// Print a script by which a shell completes commands and options.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  gatepost completions bash > /etc/bash_completion.d/gatepost")]
pub struct Args {
    /// The shell.
    shell: Shell,
}

/// Prints the script.
pub fn run(args: &Args) -> Result<()> {
    let mut script = Vec::new();
    generate(args.shell, &mut Cli::command(), "gatepost", &mut script);
    print(String::from_utf8_lossy(&script).trim_end())
}
