//! One file that is reached by two paths, as when a container mounts the file alone. Log, index and lock file
//! are found by their names beside it, so whoever opens it by the other path finds none of them, and ruins it.
//!
//! So on Linux whoever is alone with a file also holds a lock on the file itself ([`lock`]). It stays when this
//! process opens and closes the file elsewhere, unlike SQLite's own.

use super::open::is_served;
use crate::types::{
    error::{Error, Kind, Result},
    os::lock,
};
use std::{fs::File, path::Path};

/// The lock of one file, held until this is dropped.
pub struct Claim {
    /// Never closed: closing it would drop SQLite's locks.
    file: &'static File,
}

impl Claim {
    /// Takes the lock; none where there is no file yet, or its disk knows no such locks.
    ///
    /// # Errors
    /// When the file is served under another path.
    pub fn take(path: &Path) -> Result<Option<Self>> {
        let Ok(file) = File::options().read(true).write(true).open(path) else {
            return Ok(None);
        };
        let file: &'static File = Box::leak(Box::new(file));
        match lock::take(file) {
            Ok(true) => Ok(Some(Self { file })),
            Ok(false) => Err(served(path)),
            Err(cause) => {
                tracing::debug!("{}: no lock: {cause}", path.display());
                Ok(None)
            }
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        lock::give_back(self.file);
    }
}

/// Refuses a file that is served under another path: its lock is taken, and the lock file beside this path is
/// free.
pub fn refuse(file: &File, path: &Path) -> Result<()> {
    if lock::is_taken(file) && !is_served(path) {
        return Err(served(path));
    }
    Ok(())
}

fn served(path: &Path) -> Error {
    Error::new(
        Kind::ServedElsewhere,
        format!(
            "{} is served under another path, and whoever opens it by this one would not find its log: use that path; for a container mount the folder, never the file alone",
            path.display()
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::open::beside;
    use std::fs;

    /// A hard link is as good as a mount here: another name for the same file.
    #[test]
    fn who_is_alone_with_a_file_is_so_by_every_path() {
        if !lock::IS_KNOWN {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("a.db"), folder.path().join("b.db"));
        assert!(Claim::take(&path).unwrap().is_none());
        fs::write(&path, b"x").unwrap();
        fs::hard_link(&path, &other).unwrap();
        let look = || refuse(&File::open(&other).unwrap(), &other);
        let claim = Claim::take(&path).unwrap().unwrap();
        // Opening and closing the file elsewhere changes nothing.
        drop(File::open(&path).unwrap());
        for refused in [look(), Claim::take(&other).map(drop)] {
            let message = refused.unwrap_err().to_string();
            assert!(message.contains("served under another path"), "{message}");
        }
        // Where the lock file beside the path is taken, this is the path.
        let beside = File::create(beside(&other, ".lock")).unwrap();
        beside.lock().unwrap();
        look().unwrap();
        drop(beside);
        drop(claim);
        look().unwrap();
        assert!(Claim::take(&other).unwrap().is_some());
    }
}
