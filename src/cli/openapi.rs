//! `gatepost openapi`

use super::print;
use crate::{
    admin::{Console, Reach},
    db::{Durability, Store},
    identity::App,
    server,
    types::error::{Error, Result},
};
use std::path::PathBuf;

/// Print the API's OpenAPI document.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  gatepost openapi --output gatepost-api.json")]
pub struct Args {
    /// Write it to a file instead.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Prints the document.
pub fn run(args: &Args) -> Result<()> {
    // The document does not depend on any file, but the application needs one.
    let folder = std::env::temp_dir().join(format!("gatepost-openapi-{}", uuid::Uuid::new_v4()));
    std::fs::create_dir(&folder).map_err(Error::defect)?;
    let document = Store::open(&folder.join("empty.db"), Durability::Normal).and_then(|store| {
        let console = Console::new(App::new(store, None), Reach::default());
        server::openapi::document(&console)
    });
    let _ = std::fs::remove_dir_all(&folder);
    let document = document?;
    if let Some(path) = &args.output {
        return std::fs::write(path, document + "\n")
            .map_err(|cause| Error::field(path.display(), cause));
    }
    print(&document)
}
