//! `gatepost standby` and `gatepost promote`: a second machine that takes over (contract §14).

use super::{answer, progress::Progress, user::changed_by_command};
use crate::{
    core::{
        audit::{self, Change},
        changes,
        litestream::Litestream,
        standby::{self, Standby},
    },
    db::open::{beside, is_served},
    ops::{
        backup::promote,
        standby::{self as files, Config},
    },
    types::{
        Timestamp,
        error::{Error, Result},
    },
};
use serde_json::{Value, json};
use std::{
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    time::Instant,
};

/// The program that replicates.
#[derive(clap::Args)]
pub struct Program {
    /// Litestream, version 0.5.17 or newer.
    #[arg(
        long,
        value_name = "PROGRAM",
        default_value = "litestream",
        env = "GATEPOST_LITESTREAM"
    )]
    litestream: String,
}

/// Prepare a second machine that takes over, and tell how it is.
#[derive(clap::Subcommand)]
pub enum StandbyCommand {
    /// Begin to replicate: write Litestream's configuration, and the services of both machines.
    ///
    /// The folder is for both: copy it to the second machine. Its README.txt has the steps. Run it again to send the log
    /// elsewhere.
    #[command(
        after_help = "Examples:\n  gatepost standby init --replica sftp://gatepost@192.168.1.12/var/lib/gatepost-replica\n  gatepost standby init --replica /media/nas/gatepost --output ./standby"
    )]
    Init(InitArgs),
    /// Tell how far the second machine is, and what is missing; on either machine. Exit code 1: something is missing.
    #[command(
        after_help = "Examples:\n  gatepost standby status\n  gatepost standby status --config /etc/gatepost-litestream.yml --json"
    )]
    Status(StatusArgs),
}

#[derive(clap::Args)]
pub struct InitArgs {
    /// Where the log goes: a folder that both machines see, `sftp://USER@HOST/PATH` or `s3://BUCKET/PATH`
    /// [default: as before, or FILE.replica].
    #[arg(long, value_name = "ADDRESS")]
    replica: Option<String>,
    /// The folder for what is written [default: FILE.standby].
    #[arg(long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    #[command(flatten)]
    program: Program,
}

#[derive(clap::Args)]
pub struct StatusArgs {
    /// On the second machine: the litestream.yml that `standby init` wrote.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The control socket of Litestream, where it is another than the configuration's.
    #[arg(long, value_name = "SOCKET")]
    socket: Option<PathBuf>,
    #[command(flatten)]
    program: Program,
}

/// Take over: put the replica in the place of the file, and raise the epoch.
///
/// Once the primary is off. What the replica has is restored to the last transaction, checked, and kept to its owner. Gates
/// and apps refuse the primary from then on, and it stops when it meets the new epoch.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  gatepost promote --config /etc/gatepost-litestream.yml\n  gatepost promote --config standby/litestream.yml --db gatepost.db --json"
)]
pub struct PromoteArgs {
    /// The litestream.yml that `standby init` wrote.
    #[arg(
        long,
        value_name = "FILE",
        default_value = "/etc/gatepost-litestream.yml"
    )]
    config: PathBuf,
    #[command(flatten)]
    program: Program,
}

/// Runs `gatepost standby …`; false where something is missing.
pub fn run(command: StandbyCommand, db: &Path, json: bool) -> Result<bool> {
    match command {
        StandbyCommand::Init(args) => init(&args, db, json).map(|()| true),
        StandbyCommand::Status(args) => status(&args, db, json),
    }
}

fn init(args: &InitArgs, db: &Path, json: bool) -> Result<()> {
    let store = super::open_existing(db)?;
    let before = store.look_up(Standby::find)?;
    let named = args.replica.as_deref().map(files::replica).transpose()?;
    let replica = named.or_else(|| before.map(|before| before.replica));
    let replica = match replica {
        Some(replica) => replica,
        None => files::replica(&beside(db, ".replica").to_string_lossy())?,
    };
    changed_by_command(&store, move |tx, ctx| {
        standby::begin(tx, &replica)?;
        let after = Some(json!({"replica": replica}));
        audit::append(
            tx,
            ctx,
            &Change {
                action: "create",
                record_type: "standby",
                record_id: None,
                before: None,
                after,
            },
        )
    })?;
    let found = store
        .look_up(Standby::find)?
        .ok_or_else(|| Error::defect("no row of standby"))?;
    let folder = args
        .output
        .clone()
        .unwrap_or_else(|| beside(db, ".standby"));
    files::write_files(&found, db, &args.program.litestream, &folder)?;
    let value = json!({
        "folder": folder.to_string_lossy(), "replica": found.replica_of_epoch(), "epoch": found.epoch,
        "socket": files::socket(db).to_string_lossy(),
    });
    let same_disk = !found.replica.contains("://")
        && Path::new(&found.replica).starts_with(db.parent().unwrap_or(db));
    let warning = if same_disk {
        "\nThe replica is on this machine's own disk: enough to try it, no protection."
    } else {
        ""
    };
    let text = format!(
        "Epoch {}. The log goes to {}.\nThe files for both machines are in {}; README.txt there has the steps.\nGates that know this \
         machine by an IP address stay with it when the second one takes over: open the gate app by name \
         (--public-url or gatepost-….local) before the event.{warning}",
        found.epoch,
        found.replica_of_epoch(),
        folder.display()
    );
    answer(json, &value, &text)
}

/// How a machine is, as lines for people and values for programs.
#[derive(Default)]
struct Told {
    value: serde_json::Map<String, Value>,
    lines: Vec<String>,
    missing: Vec<String>,
}

impl Told {
    fn add(&mut self, name: &str, label: &str, value: impl Into<Value>) {
        let value = value.into();
        self.lines.push(format!(
            "{label}: {}",
            value
                .as_str()
                .map_or_else(|| value.to_string(), ToOwned::to_owned)
        ));
        self.value.insert(name.to_owned(), value);
    }
}

fn status(args: &StatusArgs, db: &Path, json: bool) -> Result<bool> {
    let mut told = Told::default();
    if db.exists() {
        of_file(args, db, &mut told)?;
    }
    if let Some(config) = &args.config {
        of_replica(&Config::read(config, &args.program.litestream)?, &mut told)?;
    } else if !db.exists() {
        return Err(Error::invalid(format!(
            "{} does not exist: on the second machine, name the litestream.yml by --config",
            db.display()
        )));
    }
    for missing in &told.missing {
        told.lines.push(format!("Missing: {missing}"));
    }
    let is_whole = told.missing.is_empty();
    told.value.insert("missing".into(), json!(told.missing));
    answer(json, &Value::Object(told.value), &told.lines.join("\n"))?;
    Ok(is_whole)
}

/// A machine with the file: the primary, or one that was.
fn of_file(args: &StatusArgs, db: &Path, told: &mut Told) -> Result<()> {
    let connection = crate::db::open::unchanged(db)?;
    let Some(found) = Standby::find(&connection)? else {
        told.missing
            .push("no second machine is set up: run `gatepost standby init`".into());
        return Ok(());
    };
    told.add("epoch", "Epoch", found.epoch);
    told.add("replica", "Replica", found.replica_of_epoch());
    told.add("mark", "Last mark", changes::newest(&connection)?.mark());
    if let Some(why) = found.replaced() {
        told.missing.push(why);
        return Ok(());
    }
    let is_served = is_served(db);
    told.add("served", "Server running", is_served);
    let socket = args.socket.clone().unwrap_or_else(|| files::socket(db));
    let litestream = Litestream::new(&socket, db);
    let begun = Instant::now();
    match litestream
        .check_version()
        .and_then(|version| litestream.sync().map(|()| version))
    {
        Ok(version) => {
            told.add("litestream", "Litestream", version);
            told.add(
                "lagMs",
                "Replica has everything after ms",
                u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
            );
        }
        Err(why) => told.missing.push(why),
    }
    Ok(())
}

/// The replica as a machine sees it.
fn of_replica(config: &Config, told: &mut Told) -> Result<()> {
    let Some((newest, at)) = config.newest()? else {
        told.missing
            .push("the replica is empty: is Litestream running on the primary?".into());
        return Ok(());
    };
    told.add(
        "newestTransaction",
        "Newest transaction of the replica",
        newest.as_str(),
    );
    told.add("newestAt", "Written at", at);
    let followed = files::followed(&config.database);
    match fs::read_to_string(beside(&followed, "-txid")) {
        Ok(at) => told.add("followedTransaction", "The copy here has", at.trim()),
        Err(_) => told.missing.push(format!(
            "no copy follows the replica ({}): takeover restores it first, which takes longer. Start gatepost-follow",
            followed.display()
        )),
    }
    Ok(())
}

/// Runs `gatepost promote`.
pub fn promote(args: &PromoteArgs, db: &Path, json: bool) -> Result<()> {
    let config = Config::read(&args.config, &args.program.litestream)?;
    // Without `--db` it is the file that the services of this machine use.
    let is_named = db != Path::new(super::DEFAULT_DB) || db.exists();
    let db = if is_named { db } else { &config.database };
    let begun = Instant::now();
    let done = Progress::during("Restoring the replica", || {
        promote::promote(&config, db, Timestamp::now())
    })?;
    let folder = beside(db, ".standby");
    files::write_files(&done.standby, db, &args.program.litestream, &folder)?;
    let seconds = begun.elapsed().as_secs_f64();
    let aside = done.put_aside.as_ref().map(|path| path.to_string_lossy());
    let value = json!({
        "file": db.to_string_lossy(), "epoch": done.standby.epoch, "mark": done.mark, "host": done.standby.host,
        "publicUrl": done.standby.public_url, "followed": done.was_followed, "checked": done.is_checked, "putAside": aside,
        "folder": folder.to_string_lossy(), "seconds": seconds,
    });
    let names: Vec<&str> = [&done.standby.host, &done.standby.public_url]
        .into_iter()
        .flatten()
        .map(String::as_str)
        .collect();
    let mut text = format!(
        "{} is in place, epoch {}, up to mark {}, after {seconds:.1} s.\n\nNext:\n\
         1. Start the server: gatepost serve --db {}, with the options of the primary (--tls-self-signed too: devices trust the \
         same CA). It answers as {}.\n\
         2. Point a fixed name or address of the primary here, where clients know it by one.\n\
         3. Leave the primary off. When it is back, run there: gatepost export changes --since {} --output changes.ndjson, and \
         here: gatepost import changes changes.ndjson.\n\
         4. Replicate to another machine: {}/README.txt.",
        db.display(),
        done.standby.epoch,
        done.mark,
        db.display(),
        names.join(" and "),
        done.mark,
        folder.display()
    );
    if !done.is_checked {
        text += "\nThe file is large: the server checks it while it runs.";
    }
    if let Some(aside) = aside {
        let _ = write!(text, "\nThe file that was here before is {aside}.");
    }
    answer(json, &value, &text)
}
