//! The differences between operating systems: attributes and permissions of files, priorities, limits, and how a
//! process is asked to end. Nothing else in `src` asks which system it runs on; a test checks it.

use std::{
    fs::{self, File},
    io::{self, Write},
    ops::AddAssign,
    path::Path,
    time::{Duration, Instant},
};
pub use system::{
    changed_at, connect_socket, identity, interrupted, make_private, names, private,
    raise_file_limit, read_at, readable,
};

/// True if a locked file can be written to by another handle.
pub const WRITES_LOCKED_FILES: bool = cfg!(unix);
/// True if an open file can be deleted.
pub const DELETES_OPEN_FILES: bool = cfg!(unix);
/// True if a socket that listens on every IPv6 address takes IPv4, too.
pub const IPV6_TAKES_IPV4: bool = !cfg!(windows);

/// True if a thread can have a priority of its own.
pub const THREADS_HAVE_PRIORITIES: bool = cfg!(target_os = "linux");

/// Returns whether two paths lead to one file.
pub fn is_same(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| {
        let found = fs::metadata(path).ok()?;
        // Without one, the name says it.
        Some(identity(&found).ok_or_else(|| fs::canonicalize(path).ok()))
    };
    place(one).is_some_and(|one| Some(one) == place(other))
}

/// Makes durable which names a folder has. Elsewhere than on Unix a folder cannot be opened.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

/// Gives this thread idle priority; elsewhere than on Linux the process is made nice.
#[cfg(target_os = "linux")]
pub fn give_way() {
    use thread_priority::{
        NormalThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy,
        set_thread_priority_and_policy, thread_native_id,
    };
    let idle = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle);
    if set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, idle).is_err() {
        nice();
    }
}

/// Gives this thread idle priority; elsewhere than on Linux the process is made nice.
#[cfg(not(target_os = "linux"))]
pub fn give_way() {
    nice();
}

/// Bytes that are written to a file between two syncs. More at a time would stand in the way of the gates' own.
pub const SYNC_BYTES: usize = 64 << 10;
/// The longest rest after a sync.
const REST_MAX: Duration = Duration::from_millis(50);

/// Writes to a file of which so much is not synced yet. It is synced a little at a time, with a rest as long as each sync
/// took, so that gates have the disk to themselves half of the time.
pub fn write_gently(mut file: &File, bytes: &[u8], unsynced: &mut usize) -> io::Result<()> {
    for part in bytes.chunks(SYNC_BYTES) {
        file.write_all(part)?;
        *unsynced += part.len();
        if *unsynced >= SYNC_BYTES {
            *unsynced = 0;
            let begun = Instant::now();
            file.sync_data()?;
            std::thread::sleep(begun.elapsed().min(REST_MAX));
        }
    }
    Ok(())
}

/// Lowers the priority: of this thread on Linux, elsewhere of the process. Work is still left a tenth of a processor
/// that somebody else keeps busy.
pub fn nice() {
    #[cfg(unix)]
    let _ = rustix::process::nice(10);
}

/// Lowers this thread's priority, where that does not affect the whole process.
pub fn nice_thread() {
    if THREADS_HAVE_PRIORITIES {
        nice();
    }
}

/// The time that a thread ran, and the time that it was ready to run and did not.
#[derive(Debug, Clone, Copy, Default)]
pub struct ProcessorTime {
    pub ran: Duration,
    /// The time it waited for a processor.
    pub waited: Duration,
}

impl ProcessorTime {
    /// The times of this thread since its start; none where the system does not tell.
    pub fn of_thread() -> Self {
        let told = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
        let mut times = told.split_whitespace().map(|ns| ns.parse().unwrap_or(0));
        let mut next = || Duration::from_nanos(times.next().unwrap_or(0));
        Self {
            ran: next(),
            waited: next(),
        }
    }

    /// Returns whether the thread had less than a tenth of the processor, for long enough to tell.
    pub fn is_starved(self) -> bool {
        self.waited > Duration::from_millis(250) && self.waited > 10 * self.ran
    }
}

impl AddAssign for ProcessorTime {
    fn add_assign(&mut self, other: Self) {
        self.ran += other.ran;
        self.waited += other.waited;
    }
}

/// A lock on a file itself, far beyond its bytes and SQLite's locks at 1 GiB. It belongs to an open file
/// description (OFD): it stays when this process opens and closes the file elsewhere.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
pub mod lock {
    use nix::{
        errno::Errno,
        fcntl::{FcntlArg, fcntl},
        libc,
    };
    use std::fs::File;

    /// True if the system has such locks.
    #[cfg(test)]
    pub const IS_KNOWN: bool = true;
    const BYTE: i64 = 1 << 62;
    /// The byte of a log's index that SQLite locks for as long as the file is open.
    const OPEN_BYTE: i64 = 128;

    fn of(kind: i32, byte: i64) -> libc::flock {
        libc::flock {
            l_type: i16::try_from(kind).unwrap_or_default(),
            l_whence: i16::try_from(libc::SEEK_SET).unwrap_or_default(),
            l_start: byte,
            l_len: 1,
            l_pid: 0,
        }
    }

    /// Takes it; false where somebody else has it.
    pub fn take(file: &File) -> nix::Result<bool> {
        match fcntl(file, FcntlArg::F_OFD_SETLK(&of(libc::F_WRLCK, BYTE))) {
            Ok(_) => Ok(true),
            Err(Errno::EAGAIN | Errno::EACCES) => Ok(false),
            Err(cause) => Err(cause),
        }
    }

    /// Gives it back.
    pub fn give_back(file: &File) {
        let _ = fcntl(file, FcntlArg::F_OFD_SETLK(&of(libc::F_UNLCK, BYTE)));
    }

    /// Returns whether another handle holds the lock.
    pub fn is_taken(file: &File) -> bool {
        let mut found = of(libc::F_RDLCK, BYTE);
        let asked = fcntl(file, FcntlArg::F_OFD_GETLK(&mut found));
        asked.is_ok() && i32::from(found.l_type) != libc::F_UNLCK
    }

    /// Returns whether another process has the database open whose log has this index.
    pub fn is_open_elsewhere(index: &File) -> bool {
        let mut found = of(libc::F_WRLCK, OPEN_BYTE);
        let asked = fcntl(index, FcntlArg::F_GETLK(&mut found));
        asked.is_ok() && i32::from(found.l_type) != libc::F_UNLCK
    }
}

/// Locks that nobody has and everybody gets, where the system knows none that would do.
#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
pub mod lock {
    use std::{convert::Infallible, fs::File};

    #[cfg(test)]
    pub const IS_KNOWN: bool = false;

    pub fn take(_: &File) -> Result<bool, Infallible> {
        Ok(true)
    }

    pub fn give_back(_: &File) {}

    pub fn is_taken(_: &File) -> bool {
        false
    }

    pub fn is_open_elsewhere(_: &File) -> bool {
        false
    }
}

#[cfg(unix)]
mod system {
    use std::{
        fs::{File, Metadata, OpenOptions, Permissions},
        io,
        os::unix::{
            fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt},
            net::UnixStream,
        },
        path::Path,
        time::{Duration, SystemTime},
    };
    use tokio::signal::unix::{SignalKind, signal};

    /// Device and inode; `None` where the name is what a file is known by.
    pub fn identity(found: &Metadata) -> Option<(u64, u64)> {
        Some((found.dev(), found.ino()))
    }

    /// Returns how many names (hard links) a file has.
    pub fn names(found: &Metadata) -> u64 {
        found.nlink()
    }

    /// Returns when a file's content or attributes were last changed; nobody can set that back.
    pub fn changed_at(found: &Metadata) -> Option<SystemTime> {
        let nanos = u32::try_from(found.ctime_nsec()).ok()?;
        let seconds = u64::try_from(found.ctime()).ok()?;
        Some(SystemTime::UNIX_EPOCH + Duration::new(seconds, nanos))
    }

    /// Makes a new file private to its owner.
    pub fn private(options: &mut OpenOptions) {
        options.mode(0o600);
    }

    /// Keeps a file to its owner.
    pub fn make_private(path: &Path) -> io::Result<()> {
        std::fs::set_permissions(path, Permissions::from_mode(0o600))
    }

    /// Lets everybody read a file or a folder that its owner had alone.
    pub fn readable(path: &Path) -> io::Result<()> {
        let mode = if path.is_dir() { 0o755 } else { 0o644 };
        std::fs::set_permissions(path, Permissions::from_mode(mode))
    }

    /// Reads from a place in a file.
    pub fn read_at(file: &File, into: &mut [u8], at: u64) -> io::Result<()> {
        file.read_exact_at(into, at)
    }

    /// Connects to a program of this machine by the path of its socket; each read and write may take so long.
    pub fn connect_socket(
        path: &Path,
        patience: Duration,
    ) -> io::Result<impl io::Read + io::Write> {
        let stream = UnixStream::connect(path)?;
        stream.set_read_timeout(Some(patience))?;
        stream.set_write_timeout(Some(patience))?;
        Ok(stream)
    }

    /// Takes as many open files as the system gives; `None` where a connection is no file.
    pub fn raise_file_limit() -> io::Result<Option<u64>> {
        rlimit::increase_nofile_limit(u64::MAX).map(Some)
    }

    /// Resolves when the process is asked to end, by SIGTERM or Ctrl-C; a second Ctrl-C ends it at once.
    pub fn interrupted() -> io::Result<impl Future<Output = ()>> {
        let mut asked = signal(SignalKind::terminate())?;
        let mut interrupted = signal(SignalKind::interrupt())?;
        Ok(async move {
            tokio::select! {
                _ = asked.recv() => {}
                _ = interrupted.recv() => {}
            }
            tokio::spawn(async move {
                if interrupted.recv().await.is_some() {
                    super::end_at_once();
                }
            });
        })
    }
}

#[cfg(windows)]
mod system {
    use std::{
        fs::{File, Metadata, OpenOptions},
        io,
        os::windows::fs::FileExt,
        path::Path,
        time::{Duration, SystemTime},
    };
    use tokio::signal::windows;

    /// Device and inode; `None` where the name is what a file is known by: nobody may remove or rename a file
    /// that SQLite has open.
    pub fn identity(_: &Metadata) -> Option<(u64, u64)> {
        None
    }

    /// Returns how many names (hard links) a file has.
    pub fn names(_: &Metadata) -> u64 {
        1
    }

    /// Returns when a file was changed.
    pub fn changed_at(found: &Metadata) -> Option<SystemTime> {
        found.modified().ok()
    }

    /// Makes a new file private to its owner.
    pub fn private(_: &mut OpenOptions) {}

    /// Keeps a file to its owner.
    pub fn make_private(_: &Path) -> io::Result<()> {
        Ok(())
    }

    /// Lets everybody read a file or a folder that its owner had alone.
    pub fn readable(_: &Path) -> io::Result<()> {
        Ok(())
    }

    /// Reads from a place in a file.
    pub fn read_at(file: &File, into: &mut [u8], at: u64) -> io::Result<()> {
        let mut done = 0;
        while done < into.len() {
            match file.seek_read(&mut into[done..], at + done as u64)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                read => done += read,
            }
        }
        Ok(())
    }

    /// Connects to a program of this machine by the path of its socket; each read and write may take so long.
    pub fn connect_socket(_: &Path, _: Duration) -> io::Result<impl io::Read + io::Write> {
        Err::<io::Cursor<Vec<u8>>, _>(io::Error::new(
            io::ErrorKind::Unsupported,
            "this system has no such sockets",
        ))
    }

    /// Takes as many open files as the system gives; `None` where a connection is no file.
    pub fn raise_file_limit() -> io::Result<Option<u64>> {
        Ok(None)
    }

    /// Resolves when the process is asked to end: Ctrl-C, its window closed, or the system shut down. A second
    /// Ctrl-C ends it at once.
    pub fn interrupted() -> io::Result<impl Future<Output = ()>> {
        let mut interrupted = windows::ctrl_c()?;
        let mut broken = windows::ctrl_break()?;
        let mut closed = windows::ctrl_close()?;
        let mut shut_down = windows::ctrl_shutdown()?;
        Ok(async move {
            tokio::select! {
                _ = interrupted.recv() => {}
                _ = broken.recv() => {}
                _ = closed.recv() => {}
                _ = shut_down.recv() => {}
            }
            tokio::spawn(async move {
                if interrupted.recv().await.is_some() {
                    super::end_at_once();
                }
            });
        })
    }
}

/// Ends the process for whoever presses Ctrl-C again. What was acknowledged is in the file.
pub fn end_at_once() {
    std::process::exit(1);
}
