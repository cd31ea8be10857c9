//! Notices that the database file, its log or the log's index was removed, renamed or replaced while it
//! is open. Writes would go on into files that nobody finds again.

use super::open::beside;
use std::{
    path::{Path, PathBuf},
    sync::OnceLock,
};

/// What callers are told whose writes are refused.
pub(super) const REFUSED: &str = "the database file was removed, renamed or replaced; nothing is stored until the server is restarted";

/// The files that SQLite has open, as they were found by their names at the start.
#[derive(Debug)]
pub struct Watch {
    files: Vec<(PathBuf, Identity)>,
    lost: OnceLock<PathBuf>,
}

impl Watch {
    /// Watches a file that is open, with what is beside it.
    pub(super) fn begin(database: &Path) -> Self {
        let files = ["", "-wal", "-shm"].into_iter().filter_map(|suffix| {
            let path = beside(database, suffix);
            let identity = identity(&path)?;
            Some((path, identity))
        });
        Self {
            files: files.collect(),
            lost: OnceLock::new(),
        }
    }

    /// Looks whether all are still in their places: some microseconds. Which one is not, for good.
    pub(super) fn look(&self) -> Option<&Path> {
        if self.lost.get().is_none() {
            let is_gone = |(path, known): &&(PathBuf, Identity)| identity(path) != Some(*known);
            let (path, _) = self.files.iter().find(is_gone)?;
            let _ = self.lost.set(path.clone());
        }
        self.lost()
    }

    /// The file that was found missing.
    pub fn lost(&self) -> Option<&Path> {
        self.lost.get().map(PathBuf::as_path)
    }

    /// Whether another program may have made a log of its own for the same database file.
    pub(super) fn has_another_log(&self) -> bool {
        let database = self.files.first().map(|(path, _)| path.as_path());
        self.lost() != database && self.lost().is_some_and(Path::exists)
    }
}

#[cfg(unix)]
type Identity = (u64, u64);

/// Device and inode; `None` where nothing has that name.
#[cfg(unix)]
fn identity(path: &Path) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    let found = std::fs::metadata(path).ok()?;
    Some((found.dev(), found.ino()))
}

#[cfg(not(unix))]
type Identity = ();

/// Windows lets nobody remove or rename a file that SQLite has open.
#[cfg(not(unix))]
fn identity(path: &Path) -> Option<Identity> {
    path.exists().then_some(())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn whatever_happens_to_a_name_is_noticed() {
        for (suffix, what) in [("", "removed"), ("-wal", "renamed"), ("-shm", "replaced")] {
            let folder = tempfile::tempdir().unwrap();
            let database = folder.path().join("a.db");
            for suffix in ["", "-wal", "-shm"] {
                fs::write(beside(&database, suffix), b"x").unwrap();
            }
            let watch = Watch::begin(&database);
            assert_eq!(watch.look(), None);
            // What is written to a file is no change of its name.
            fs::write(beside(&database, suffix), b"y").unwrap();
            assert_eq!(watch.look(), None);
            let (path, other) = (beside(&database, suffix), folder.path().join("other"));
            match what {
                "removed" => fs::remove_file(&path).unwrap(),
                "renamed" => fs::rename(&path, &other).unwrap(),
                _ => {
                    fs::write(&other, b"x").unwrap();
                    fs::rename(&other, &path).unwrap();
                }
            }
            assert_eq!(watch.look(), Some(&*path), "{what}");
            // For good: what was written meanwhile may be elsewhere.
            fs::write(&path, b"x").unwrap();
            assert_eq!(watch.look(), Some(&*path), "{what}");
        }
    }
}
