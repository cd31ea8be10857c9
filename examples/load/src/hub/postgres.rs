//! A PostgreSQL of its own, as a distribution installs it, in a folder and on a socket of its own.

use crate::{Result, server::free_address};
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// The running server; it is ended when this is dropped.
pub struct Postgres {
    programs: PathBuf,
    folder: PathBuf,
    port: String,
}

impl Postgres {
    /// Makes a cluster in a folder and starts it; none where PostgreSQL is not installed.
    pub fn start(folder: &Path) -> Result<Option<Self>> {
        let Some(programs) = newest_programs() else {
            return Ok(None);
        };
        let folder = std::path::absolute(folder)?;
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder)?;
        let address = free_address()?;
        let port = address.rsplit(':').next().unwrap_or_default().to_owned();
        let server = Self {
            programs,
            folder,
            port,
        };
        if is_root() {
            run(Command::new("chown").arg("postgres").arg(&server.folder))?;
        }
        let data = server.folder.join("data");
        let mut made = server.command("initdb");
        made.args([
            "--auth=trust",
            "--username=gatepost",
            "--encoding=UTF8",
            "--pgdata",
        ])
        .arg(&data);
        run(&mut made)?;
        let options = format!(
            "-p {} -c listen_addresses=127.0.0.1 -c unix_socket_directories='{}'",
            server.port,
            server.folder.display()
        );
        let mut started = server.command("pg_ctl");
        started.args(["start", "--wait", "--options", &options, "--log"]);
        started
            .arg(server.folder.join("log"))
            .arg("--pgdata")
            .arg(&data);
        run(&mut started)?;
        Ok(Some(server))
    }

    /// A fresh database; its address.
    pub fn database(&self, name: &str) -> Result<String> {
        let mut made = self.command("createdb");
        made.args([
            "--host=127.0.0.1",
            "--username=gatepost",
            "--port",
            &self.port,
            name,
        ]);
        run(&mut made)?;
        Ok(format!(
            "postgres://gatepost@127.0.0.1:{}/{name}",
            self.port
        ))
    }

    /// A program, as the user who may run it.
    fn command(&self, program: &str) -> Command {
        let program = self.programs.join(program);
        if !is_root() {
            return Command::new(program);
        }
        let mut command = Command::new("runuser");
        command.args(["-u", "postgres", "--"]).arg(program);
        command
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        let mut stopped = self.command("pg_ctl");
        stopped
            .args(["stop", "--mode=immediate", "--pgdata"])
            .arg(self.folder.join("data"));
        let _ = run(&mut stopped);
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|of| std::os::unix::fs::MetadataExt::uid(&of) == 0)
}

/// The programs of the newest version that Debian installed.
fn newest_programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?;
    let programs = versions.flatten().map(|version| version.path().join("bin"));
    programs
        .filter(|programs| programs.join("initdb").exists())
        .max()
}

fn run(command: &mut Command) -> Result<()> {
    let done = command
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let program = command.get_program().display();
    if done
        .map_err(|cause| format!("{program}: {cause}"))?
        .success()
    {
        Ok(())
    } else {
        Err(format!("{program} {:?} failed", command.get_args()).into())
    }
}
