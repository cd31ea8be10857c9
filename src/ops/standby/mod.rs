//! The second machine (contract §14): Litestream's configuration and the services of both machines, how far each is, and
//! the changes that a machine alone has.

pub mod changes;

use crate::{
    core::standby::Standby,
    db::open::beside,
    types::error::{Error, Result},
};
use serde_json::Value;
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The files that are written, each with its name.
const FILES: [(&str, &str); 9] = [
    ("litestream.yml", include_str!("files/litestream.yml")),
    ("README.txt", include_str!("files/README.txt")),
    (
        "primary/gatepost-litestream.service",
        include_str!("files/gatepost-litestream.service"),
    ),
    (
        "primary/gatepost-replicated.conf",
        include_str!("files/gatepost-replicated.conf"),
    ),
    (
        "standby/gatepost-follow.service",
        include_str!("files/gatepost-follow.service"),
    ),
    (
        "untested/net.gatepost.litestream.plist",
        include_str!("files/net.gatepost.litestream.plist"),
    ),
    (
        "untested/net.gatepost.follow.plist",
        include_str!("files/net.gatepost.follow.plist"),
    ),
    (
        "untested/gatepost-litestream.xml",
        include_str!("files/gatepost-litestream.xml"),
    ),
    (
        "untested/gatepost-follow.xml",
        include_str!("files/gatepost-follow.xml"),
    ),
];

/// The control socket that the configuration names.
pub fn socket(database: &Path) -> PathBuf {
    beside(database, ".litestream.sock")
}

/// The copy that follows the replica on the second machine.
pub fn followed(database: &Path) -> PathBuf {
    beside(database, ".followed")
}

/// Checks where the log is to go: a folder, or an address that Litestream knows; a folder in full.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`], with the forms that there are.
pub fn replica(text: &str) -> Result<String> {
    if text.starts_with("sftp://") || text.starts_with("s3://") {
        return Ok(text.trim_end_matches('/').to_owned());
    }
    if text.contains("://") {
        return Err(Error::field(
            "--replica",
            "must be a folder, sftp://USER@HOST/PATH or s3://BUCKET/PATH",
        ));
    }
    let folder = std::path::absolute(text).map_err(|cause| Error::field("--replica", cause))?;
    Ok(folder.to_string_lossy().into_owned())
}

/// Writes Litestream's configuration and the services of both machines into a folder.
pub fn write_files(
    standby: &Standby,
    database: &Path,
    litestream: &str,
    folder: &Path,
) -> Result<()> {
    let quoted = |text: &str| Value::from(text).to_string();
    let shown = |path: PathBuf| path.to_string_lossy().into_owned();
    let database = std::path::absolute(database).map_err(Error::invalid_cause)?;
    let replica = standby.replica_of_epoch();
    let is_folder = !replica.contains("://");
    let place = if is_folder {
        format!("type: file\n    path: {}", quoted(&replica))
    } else {
        format!("url: {}", quoted(&replica))
    };
    let writable = if is_folder {
        format!("ReadWritePaths=-{}", standby.replica)
    } else {
        String::new()
    };
    let (socket, db) = (shown(socket(&database)), shown(database.clone()));
    for (name, text) in FILES {
        let is_yaml = name == FILES[0].0;
        let value = |text: &str| {
            if is_yaml {
                quoted(text)
            } else {
                text.to_owned()
            }
        };
        let text = text
            .replace("{socket}", &value(&socket))
            .replace("{db}", &value(&db))
            .replace("{place}", &place)
            .replace("{replica}", &replica)
            .replace("{followed}", &shown(followed(&database)))
            .replace("{litestream}", litestream)
            .replace("{writable}", &writable)
            .replace("{epoch}", &standby.epoch.to_string());
        let path = folder.join(name);
        let written = path
            .parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| fs::write(&path, text));
        written.map_err(|cause| Error::field(path.display(), cause))?;
    }
    Ok(())
}

/// A configuration of Litestream, as [`write_files`] wrote it.
#[derive(Debug, Clone)]
pub struct Config {
    path: PathBuf,
    program: String,
    /// The database file that it names.
    pub database: PathBuf,
}

impl Config {
    /// Reads the file's name from the configuration.
    pub fn read(path: &Path, program: &str) -> Result<Self> {
        let text = fs::read_to_string(path).map_err(|cause| Error::field(path.display(), cause))?;
        let named = text.lines().find_map(|line| line.strip_prefix("- path: "));
        let database = named.and_then(|name| serde_json::from_str::<String>(name.trim()).ok());
        let database = database.ok_or_else(|| {
            Error::field(path.display(), "is none that `gatepost standby init` wrote")
        })?;
        Ok(Self {
            path: path.to_owned(),
            program: program.to_owned(),
            database: database.into(),
        })
    }

    /// Restores what the replica has.
    pub fn restore(&self, to: &Path) -> Result<()> {
        let to = to.to_string_lossy();
        self.run("restore", &["-integrity-check", "quick", "-o", &to])
            .map(drop)
    }

    /// The newest transaction of the replica, and its time.
    pub fn newest(&self) -> Result<Option<(String, String)>> {
        let told = self.run("ltx", &["-level", "all", "-json"])?;
        // Litestream writes its warnings to the same output, before the list.
        let list = told
            .split_inclusive('\n')
            .skip_while(|line| !line.starts_with('['));
        let list: String = list.collect();
        let files: Vec<Value> = serde_json::from_str(&list)
            .map_err(|cause| Error::invalid(format!("litestream ltx: {cause} in {told}")))?;
        let of = |file: &Value, name: &str| file[name].as_str().unwrap_or_default().to_owned();
        Ok(files
            .iter()
            .map(|file| (of(file, "max_txid"), of(file, "timestamp")))
            .max())
    }

    fn run(&self, command: &str, arguments: &[&str]) -> Result<String> {
        let mut asked = Command::new(&self.program);
        asked
            .arg(command)
            .arg("-config")
            .arg(&self.path)
            .args(arguments)
            .arg(&self.database);
        let output = asked.output().map_err(|cause| {
            Error::invalid(format!(
                "{} cannot be run ({cause}): install Litestream, or name it by --litestream",
                self.program
            ))
        })?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let told = String::from_utf8_lossy(&output.stderr);
        let why = told
            .lines()
            .last()
            .unwrap_or_default()
            .trim_start_matches("Error: ");
        Err(Error::invalid(format!("litestream {command}: {why}")))
    }
}
