//! The server under measurement, started as a child on a free port.

use crate::Result;
use std::{
    fs::File,
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

const START_MAX: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(20);

/// The running server; it is ended when this is dropped.
pub struct Server {
    child: Child,
    url: String,
}

impl Server {
    /// Starts `gatepost serve` on a file and returns once it answers. What it prints
    /// goes to a file beside the database.
    pub async fn start(binary: &Path, db: &Path) -> Result<Self> {
        if !binary.exists() {
            return Err(format!(
                "{} is not there; run `cargo build --release` first",
                binary.display()
            )
            .into());
        }
        let address = free_address()?;
        let mut command = Command::new(binary);
        command
            .args(["serve", "--no-mdns", "--listen", &address, "--db"])
            .arg(db);
        Self::spawn(command, address, &db.with_extension("serve.log")).await
    }

    /// Starts any server that will listen on an address, and returns once it answers.
    pub async fn spawn(mut command: Command, address: String, log_path: &Path) -> Result<Self> {
        let log = File::create(log_path)?;
        let child = command
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .map_err(|cause| format!("{}: {cause}", command.get_program().display()))?;
        let mut server = Self {
            child,
            url: format!("http://{address}"),
        };
        let deadline = Instant::now() + START_MAX;
        while !answers(&address) {
            let ended = server.child.try_wait()?;
            if ended.is_some() || Instant::now() > deadline {
                let printed = std::fs::read_to_string(log_path).unwrap_or_default();
                return Err(format!("the server does not start: {printed}").into());
            }
            tokio::time::sleep(POLL).await;
        }
        Ok(server)
    }

    /// A figure of its memory in KiB, such as `VmRSS` (now) or `VmHWM` (at most so far).
    pub fn memory_kib(&self, figure: &str) -> Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix(figure));
        line.and_then(|line| line.trim_start_matches(':').trim().split(' ').next())
            .and_then(|kib| kib.parse().ok())
            .ok_or_else(|| format!("no {figure} of the server").into())
    }

    /// Processor time that it has used.
    pub fn processor_time(&self) -> Result<Duration> {
        /// Of a second, on every Linux.
        const TICK: Duration = Duration::from_millis(10);
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // The name in brackets may hold spaces; user and system time are the twelfth and thirteenth after it.
        let (_, times) = stat
            .rsplit_once(") ")
            .ok_or("no processor time of the server")?;
        let times = times.split(' ').skip(11).take(2);
        let ticks: u32 = times.map(str::parse::<u32>).sum::<Result<_, _>>()?;
        Ok(TICK * ticks)
    }

    pub fn url(&self) -> String {
        self.url.clone()
    }
}

/// Tells whether a server answers: it holds its address from before it has made its file.
fn answers(address: &str) -> bool {
    let Ok(mut stream) = TcpStream::connect(address) else {
        return false;
    };
    let _ = stream.set_read_timeout(Some(START_MAX));
    let asked = stream.write_all(b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n");
    asked.is_ok() && stream.read(&mut [0]).is_ok_and(|read| read == 1)
}

impl Drop for Server {
    /// Ends it the hard way; that is what it promises to survive.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A loopback address that nobody listens on.
pub fn free_address() -> Result<String> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string())
}

/// The server that was built beside this example.
pub fn binary_beside() -> PathBuf {
    let name = format!("gatepost{}", std::env::consts::EXE_SUFFIX);
    std::env::current_exe().map_or_else(
        |_| PathBuf::from(&name),
        |example| example.with_file_name(&name),
    )
}
