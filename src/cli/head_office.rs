//! `gatepost head-office`: the head office that this venue belongs to (contract §14).

use super::{answer, print, user::changed_by_command};
use crate::{
    core::head_office::venue::{self, HeadOffice},
    db::Store,
    ops::head_office::{join, kept},
    types::error::{Error, Result},
};
use serde_json::json;
use std::path::PathBuf;

/// Join the head office of many venues, and tell how that is.
#[derive(clap::Subcommand)]
pub enum Command {
    /// Join with the code that the head office shows for this venue.
    ///
    /// From then on a running server pushes what happens, and takes over the lists and settings of the head office.
    #[command(
        after_help = "Examples:\n  gatepost head-office join https://hub.example.org K7QM-3XTA-9VDC\n  gatepost head-office join https://192.168.1.5:8443 K7QM-3XTA-9VDC --ca ca.pem"
    )]
    Join {
        /// The address of the head office.
        url: String,
        /// The code, which is good once.
        code: String,
        /// The authority that signed the head office's certificate, such as the file from its /gate/trust.
        #[arg(long, value_name = "FILE")]
        ca: Option<PathBuf>,
    },
    /// Tell which head office it is, and which values the venue keeps against it.
    #[command(after_help = "Example:\n  gatepost head-office status --json")]
    Status,
    /// Leave it: nothing is pushed or taken over any more. What came from there stays.
    #[command(after_help = "Example:\n  gatepost head-office leave")]
    Leave,
}

/// Runs `gatepost head-office …`.
pub fn run(command: Command, store: &Store, json: bool) -> Result<()> {
    match command {
        Command::Join { url, code, ca } => {
            let ca = ca.map(|path| {
                let read = std::fs::read(&path);
                let read = read.map_err(|cause| Error::field(path.display(), cause));
                read.map(|certificate| venue::authority(&certificate))
            });
            let ctx = super::context(store, "admin")?;
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            let runtime = runtime.map_err(Error::defect)?;
            let office = runtime.block_on(join(store, ctx, &url, &code, ca.transpose()?))?;
            tell(&office, json)?;
            if office.is_plain() && !json {
                eprintln!(
                    "gatepost: {} has no TLS: whoever is on this network can read what is pushed, and the key of this venue",
                    office.hubs.join(", ")
                );
            }
            Ok(())
        }
        Command::Status => match store.look_up(HeadOffice::find)? {
            Some(office) => {
                tell(&office, json)?;
                if json { Ok(()) } else { tell_kept(store) }
            }
            None => answer(
                json,
                &json!({"joined": false}),
                "This venue belongs to no head office.",
            ),
        },
        Command::Leave => {
            changed_by_command(store, venue::leave)?;
            answer(
                json,
                &json!({"joined": false}),
                "The venue left its head office.",
            )
        }
    }
}

fn tell(office: &HeadOffice, json: bool) -> Result<()> {
    let value = json!({
        "joined": true, "venue": office.venue, "name": office.name, "hubs": office.hubs,
    });
    let text = format!(
        "This is \"{}\" (venue {}) of the head office at {}.",
        office.name,
        office.venue,
        office.hubs.join(", ")
    );
    answer(json, &value, &text)
}

fn tell_kept(store: &Store) -> Result<()> {
    let zone = super::user::zone(store)?;
    for kept in store.look_up(|connection| kept::all(connection, &zone))? {
        print(&format!(
            "{} {} {}: {} there, {} here",
            kept.record_type, kept.id, kept.property, kept.office, kept.venue
        ))?;
    }
    Ok(())
}
