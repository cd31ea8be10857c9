//! A PostgreSQL of this machine, started in a folder and with a socket of its own: shared by the tests of the hub's store,
//! those with whole hubs, and the load.

use std::{
    fs, io,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

const START_MAX: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(20);
/// Its user, and the database of those who make none.
const USER: &str = "gatepost";

/// Ended, as a crash ends it, when it is dropped; its folder goes, too.
pub struct Postgres {
    programs: PathBuf,
    folder: PathBuf,
    running: Option<Child>,
    /// Where not the usual one.
    port: Option<u16>,
}

impl Postgres {
    /// Makes a cluster in a new folder, whose path is short enough for a socket, and starts it.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] where version 15 or newer is not installed.
    pub fn start(folder: &Path) -> io::Result<Self> {
        let mut server = Self::at(folder)?;
        let mut made = server.command("initdb");
        made.args(["--auth=trust", "--encoding=UTF8", "--username", USER]);
        made.arg("--pgdata").arg(server.data());
        run(&mut made)?;
        server.run()?;
        let mut database = server.command("createdb");
        database.arg("-h").arg(&server.folder);
        run(database.args(["-U", USER, USER]))?;
        Ok(server)
    }

    /// As [`Postgres::start`], also on a port of `localhost`, with TLS alone; the port.
    #[allow(dead_code, reason = "not all who share this speak TLS")]
    pub fn start_with_tls(folder: &Path, certificate: &str, key: &str) -> io::Result<(Self, u16)> {
        let mut server = Self::start(folder)?;
        let port = std::net::TcpListener::bind("127.0.0.1:0")?
            .local_addr()?
            .port();
        server.kill();
        let data = server.data();
        let settings = format!(
            "ssl = on\nssl_cert_file = '{0}'\nssl_key_file = '{1}'\n",
            folder.join("server.crt").display(),
            folder.join("server.key").display()
        );
        // Files of its user, which alone may read the key.
        for (file, content) in [
            (folder.join("server.crt"), certificate),
            (folder.join("server.key"), key),
            (data.join("postgresql.auto.conf"), &*settings),
            (
                data.join("pg_hba.conf"),
                "local all all trust\nhostssl all all all trust\n",
            ),
        ] {
            let mut written = server.command("/bin/sh");
            let script = "rm -f \"$1\" && umask 077 && cat >\"$1\"";
            let mut writer = written
                .args(["-c", script, "sh"])
                .arg(&file)
                .stdin(Stdio::piped())
                .spawn()?;
            io::Write::write_all(
                &mut writer.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?,
                content.as_bytes(),
            )?;
            writer.wait()?;
        }
        server.port = Some(port);
        server.run()?;
        Ok((server, port))
    }

    /// A replica of a running server, in a folder of its own.
    #[allow(dead_code, reason = "not all who share this have a replica")]
    pub fn replica(folder: &Path, of: &Self) -> io::Result<Self> {
        let mut server = Self::at(folder)?;
        let mut copied = server.command("pg_basebackup");
        copied.arg("-h").arg(&of.folder).args(["-U", USER]);
        copied.args(["--write-recovery-conf", "--checkpoint=fast", "--pgdata"]);
        run(copied.arg(server.data()))?;
        server.run()?;
        Ok(server)
    }

    fn at(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        fs::set_permissions(folder, fs::Permissions::from_mode(0o777))?;
        Ok(Self {
            programs: programs()?,
            folder: folder.to_owned(),
            running: None,
            port: None,
        })
    }

    #[allow(dead_code, reason = "not all who share this ask")]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// Starts it again, and waits until it can be asked.
    pub fn run(&mut self) -> io::Result<()> {
        let listen = match self.port {
            Some(_) => "listen_addresses=localhost",
            None => "listen_addresses=",
        };
        let mut command = self.command("postgres");
        command.arg("-D").arg(self.data());
        // In the folder: a server that is killed leaves nothing in /dev/shm.
        let memory = "dynamic_shared_memory_type=mmap";
        command
            .arg("-k")
            .arg(&self.folder)
            .args(["-c", listen, "-c", memory]);
        self.running = Some(command.spawn()?);
        self.wait("SELECT 1", "1")
    }

    /// Waits until a question has this answer.
    fn wait(&self, question: &str, answer: &str) -> io::Result<()> {
        self.wait_in("postgres", question, answer)
    }

    pub fn wait_in(&self, database: &str, question: &str, answer: &str) -> io::Result<()> {
        let deadline = Instant::now() + START_MAX;
        while self.ask(database, question).ok().as_deref() != Some(answer) {
            if Instant::now() > deadline {
                return Err(io::Error::other(format!(
                    "PostgreSQL: {question} is not {answer}"
                )));
            }
            thread::sleep(POLL);
        }
        Ok(())
    }

    /// What it answers, without spaces around it.
    pub fn ask(&self, database: &str, question: &str) -> io::Result<String> {
        let mut asked = self.command("psql");
        asked
            .arg("-h")
            .arg(&self.folder)
            .args(["-U", USER, "-d", database]);
        asked.args([
            "--no-psqlrc",
            "--quiet",
            "--no-align",
            "--tuples-only",
            "-c",
            question,
        ]);
        let output = asked.stdout(Stdio::piped()).output()?;
        if !output.status.success() {
            return Err(io::Error::other(format!("{question} failed")));
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// Acknowledges from now on only what a replica has, too; returns once one is there.
    #[allow(dead_code, reason = "not all who share this have a replica")]
    pub fn acknowledge_with_replica(&self) -> io::Result<()> {
        self.ask(
            "postgres",
            "ALTER SYSTEM SET synchronous_standby_names = '*'",
        )?;
        self.ask("postgres", "SELECT pg_reload_conf()")?;
        let replicas = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
        self.wait(replicas, "1")
    }

    /// Ends it as a loss of power does: all of its processes at once.
    pub fn kill(&mut self) {
        let Some(mut running) = self.running.take() else {
            return;
        };
        // Stopped first, so that it begins no more while they are counted.
        let main = running.id().to_string();
        let _ = Command::new("kill").args(["-STOP", &main]).status();
        let children = children_of(running.id());
        let all = children.iter().map(ToString::to_string).chain([main]);
        let _ = Command::new("kill")
            .arg("-KILL")
            .args(all)
            .stderr(Stdio::null())
            .status();
        let _ = running.wait();
        let _ = fs::remove_file(self.data().join("postmaster.pid"));
    }

    /// Makes a primary of a replica, which goes on alone.
    #[allow(dead_code, reason = "not all who share this have a replica")]
    pub fn promote(&self) -> io::Result<()> {
        let mut promoted = self.command("pg_ctl");
        run(promoted
            .args(["promote", "--wait", "--pgdata"])
            .arg(self.data()))
    }

    /// The address of a database of one server or several, the first that can be written to.
    pub fn address(servers: &[&Self], database: &str) -> String {
        let host = |server: &&Self| server.folder.display().to_string().replace('/', "%2F");
        let hosts: Vec<_> = servers.iter().map(host).collect();
        format!(
            "postgres://{USER}@{}/{database}?sslmode=disable",
            hosts.join(",")
        )
    }

    /// A program; PostgreSQL's do not run as root.
    fn command(&self, program: &str) -> Command {
        let program = self.programs.join(program);
        let mut command = if fs::metadata("/proc/self").is_ok_and(|of| of.uid() == 0) {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=nobody", "--regid=nogroup", "--clear-groups", "--"]);
            command.arg(program);
            command
        } else {
            Command::new(program)
        };
        command.envs(self.port.map(|port| ("PGPORT", port.to_string())));
        let silent = command.current_dir("/").stdin(Stdio::null());
        silent.stdout(Stdio::null()).stderr(Stdio::null());
        command
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.kill();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The processes that another one began.
fn children_of(main: u32) -> Vec<u32> {
    let is_child = |number: &u32| {
        let stat = fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
        // After the name in brackets: state, parent.
        let parent = stat
            .rsplit_once(") ")
            .and_then(|(_, rest)| rest.split(' ').nth(1)?.parse().ok());
        parent == Some(main)
    };
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = all.filter_map(|one| one.file_name().to_str()?.parse().ok());
    numbers.filter(is_child).collect()
}

/// The folder of the newest version's programs.
fn programs() -> io::Result<PathBuf> {
    let debian = (15..30)
        .rev()
        .map(|version| PathBuf::from(format!("/usr/lib/postgresql/{version}/bin")));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all: Vec<_> = debian.chain(std::env::split_paths(&path)).collect();
    let found = all
        .into_iter()
        .find(|folder| folder.join("initdb").exists());
    let missing = || {
        io::Error::new(
            io::ErrorKind::NotFound,
            "PostgreSQL 15 or newer: Debian's package postgresql",
        )
    };
    let real = found.ok_or_else(missing)?.join("initdb").canonicalize()?;
    real.parent().map(Path::to_owned).ok_or_else(missing)
}

fn run(command: &mut Command) -> io::Result<()> {
    if command.status()?.success() {
        Ok(())
    } else {
        Err(io::Error::other(format!("{command:?} failed")))
    }
}
