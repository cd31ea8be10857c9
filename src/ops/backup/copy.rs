//! Copies the bytes of a file that is being written to, again and again, each time only the pages
//! that changed since. It knows pages and hashes, and nothing of SQLite but where its lock stands.

use crate::{
    ops::background::Background,
    types::{
        error::{Error, Result},
        os,
    },
};
use std::{
    borrow::Borrow,
    fs::File,
    hash::{BuildHasher, RandomState},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

/// Read at a time.
const CHUNK_BYTES: usize = 1 << 20;
/// The page here holds nothing: SQLite's locks stand on its bytes, and some systems let nobody read
/// what is locked.
const LOCKED_AT: u64 = 1 << 30;

/// A file and its copy.
pub struct Copier<'a> {
    source: Side<&'a File>,
    copy: Side<File>,
    page_bytes: usize,
    /// The source of each page of the copy, as a keyed hash.
    seen: Vec<u64>,
    hasher: RandomState,
    unsynced: usize,
}

/// An open file with its name, for messages.
struct Side<F> {
    path: PathBuf,
    file: F,
}

impl<'a> Copier<'a> {
    /// A copy to be, in the file at `copy`, which is made anew. `open` is a handle on the source.
    pub fn new(source: &Path, open: &'a File, copy: &Path) -> Result<Self> {
        let source = Side::new(source, Ok(open))?;
        let copy = Side::new(copy, File::create(copy))?;
        // The copy has the permissions of the file.
        let permissions = source.file.metadata().map(|file| file.permissions());
        let permissions = permissions.and_then(|found| copy.file.set_permissions(found));
        permissions.map_err(|cause| copy.failed(&cause))?;
        let mut header = [0; 18];
        // The handle may have been read from before.
        let read = read_at(source.file, 0, &mut header).map_err(|cause| source.failed(&cause))?;
        if read < header.len() {
            return Err(source.failed(&"its header is cut off"));
        }
        let page_bytes = match u16::from_be_bytes([header[16], header[17]]) {
            1 => 65_536,
            size => usize::from(size),
        };
        if !page_bytes.is_power_of_two() || page_bytes < 512 {
            return Err(source.failed(&"its header is damaged"));
        }
        Ok(Self {
            source,
            copy,
            page_bytes,
            seen: Vec::new(),
            hasher: RandomState::new(),
            unsynced: 0,
        })
    }

    /// Brings the copy up to date with the file, from its first page to its last; how many bytes
    /// had changed. What changes meanwhile may be in the copy, not in it, or half in it.
    pub fn pass(&mut self, background: &Background) -> Result<u64> {
        let length = self.source.length()?;
        let mut chunk = vec![0; CHUNK_BYTES];
        let mut at = 0;
        let mut changed = 0;
        while at < length {
            let wanted =
                usize::try_from(length - at).map_or(CHUNK_BYTES, |rest| rest.min(CHUNK_BYTES));
            let (read, written) = background.run(|| -> Result<_> {
                let read = self.read(at, &mut chunk[..wanted])?;
                let written = self.write_changed(at, &chunk[..read])?;
                Ok((read, written))
            })?;
            changed += written;
            at += read as u64;
            if read < wanted {
                break;
            }
        }
        let pages = at.div_ceil(self.page_bytes as u64);
        self.seen
            .truncate(usize::try_from(pages).map_err(Error::defect)?);
        self.copy
            .file
            .set_len(at)
            .and_then(|()| self.copy.file.sync_data())
            .map_err(|cause| self.copy.failed(&cause))?;
        self.unsynced = 0;
        Ok(changed)
    }

    fn read(&mut self, at: u64, into: &mut [u8]) -> Result<usize> {
        let skipped = if at == LOCKED_AT {
            self.page_bytes.min(into.len())
        } else {
            0
        };
        let (locked, rest) = into.split_at_mut(skipped);
        locked.fill(0);
        read_at(self.source.file, at + skipped as u64, rest)
            .map(|read| skipped + read)
            .map_err(|cause| self.source.failed(&cause))
    }

    /// Writes the pages of a chunk that are not in the copy as they are, neighbours together.
    fn write_changed(&mut self, at: u64, chunk: &[u8]) -> Result<u64> {
        let first = usize::try_from(at).map_err(Error::defect)? / self.page_bytes;
        let mut written = 0;
        let mut run = 0..0;
        for (number, page) in chunk.chunks(self.page_bytes).enumerate() {
            let hash = self.hasher.hash_one(page);
            let start = number * self.page_bytes;
            match self.seen.get_mut(first + number) {
                Some(seen) if *seen == hash => continue,
                Some(seen) => *seen = hash,
                None => self.seen.push(hash),
            }
            if run.end != start {
                written += self.write(at, chunk, run)?;
                run = start..start;
            }
            run.end = start + page.len();
        }
        written += self.write(at, chunk, run)?;
        Ok(written)
    }

    fn write(&mut self, at: u64, chunk: &[u8], run: std::ops::Range<usize>) -> Result<u64> {
        let bytes = &chunk[run.clone()];
        let copy = &mut self.copy.file;
        let mut write = || {
            copy.seek(SeekFrom::Start(at + run.start as u64))?;
            os::write_gently(copy, bytes, &mut self.unsynced)
        };
        write().map_err(|cause: io::Error| self.copy.failed(&cause))?;
        Ok(bytes.len() as u64)
    }
}

impl<F: Borrow<File>> Side<F> {
    fn new(path: &Path, file: io::Result<F>) -> Result<Self> {
        let path = path.to_owned();
        let file = file.map_err(|cause| failed(&path, &cause))?;
        Ok(Self { path, file })
    }

    fn length(&self) -> Result<u64> {
        let file = self.file.borrow().metadata();
        file.map(|file| file.len())
            .map_err(|cause| self.failed(&cause))
    }

    fn failed(&self, cause: &dyn std::fmt::Display) -> Error {
        failed(&self.path, cause)
    }
}

fn failed(path: &Path, cause: &dyn std::fmt::Display) -> Error {
    Error::field(path.display(), cause)
}

/// Reads until the buffer is full or the file ends.
fn read_at(mut file: &File, at: u64, into: &mut [u8]) -> io::Result<usize> {
    file.seek(SeekFrom::Start(at))?;
    let mut length = 0;
    while length < into.len() {
        match file.read(&mut into[length..]) {
            Ok(0) => break,
            Ok(read) => length += read,
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
            Err(cause) => return Err(cause),
        }
    }
    Ok(length)
}

/// Copies what a log holds by now to a file that is made anew; none where there is no log. False
/// when the log was begun anew meanwhile or since `begun`: the copy is then worth nothing.
pub fn copy_log(log: &Path, begun: &LogHeader, copy: &Path) -> Result<bool> {
    let source = match File::open(log) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(begun.is_none()),
        opened => opened.map_err(|cause| failed(log, &cause))?,
    };
    let copied = File::create(copy).map_err(|cause| failed(copy, &cause))?;
    let permissions = source.metadata().map(|file| file.permissions());
    permissions
        .and_then(|found| copied.set_permissions(found))
        .map_err(|cause| failed(copy, &cause))?;
    let length = source
        .metadata()
        .map_err(|cause| failed(log, &cause))?
        .len();
    let mut at = 0;
    let mut copied = Side::new(copy, Ok(copied))?;
    let mut chunk = vec![0; CHUNK_BYTES];
    while at < length {
        let wanted = usize::try_from(length - at).map_or(CHUNK_BYTES, |rest| rest.min(CHUNK_BYTES));
        let read =
            read_at(&source, at, &mut chunk[..wanted]).map_err(|cause| failed(log, &cause))?;
        // Without a rest: the log is held meanwhile.
        let written = chunk[..read].chunks(os::SYNC_BYTES).try_for_each(|part| {
            copied.file.write_all(part)?;
            copied.file.sync_data()
        });
        written.map_err(|cause| copied.failed(&cause))?;
        at += read as u64;
        if read < wanted {
            break;
        }
    }
    Ok(log_header(log)? == *begun)
}

/// The first bytes of a log, which change whenever it is begun anew.
pub type LogHeader = Option<[u8; 32]>;

/// Reads the header of a log; `None` where there is no log, or an empty one.
pub fn log_header(log: &Path) -> Result<LogHeader> {
    let file = match File::open(log) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(|cause| failed(log, &cause))?,
    };
    let mut header = [0; 32];
    let read = read_at(&file, 0, &mut header).map_err(|cause| failed(log, &cause))?;
    Ok((read == header.len()).then_some(header))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const PAGE: usize = 512;

    /// A file of so many pages, each full of its number, with a header that says the page's size.
    fn pages(count: u8) -> Vec<u8> {
        let mut bytes: Vec<u8> = (0..count).flat_map(|number| [number; PAGE]).collect();
        bytes[16..18].copy_from_slice(&[2, 0]);
        bytes
    }

    #[test]
    fn each_pass_writes_what_changed_and_no_more() {
        let folder = tempfile::tempdir().unwrap();
        let (source, copy) = (folder.path().join("a"), folder.path().join("b"));
        let mut bytes = pages(100);
        fs::write(&source, &bytes).unwrap();
        let open = File::open(&source).unwrap();
        let mut copier = Copier::new(&source, &open, &copy).unwrap();
        let mut passed = |bytes: &[u8]| {
            fs::write(&source, bytes).unwrap();
            let changed = copier.pass(&Background::unchanged()).unwrap();
            assert!(fs::read(&copy).unwrap() == bytes);
            changed / PAGE as u64
        };
        assert_eq!(passed(&bytes), 100);
        assert_eq!(passed(&bytes), 0);
        for page in [0, 1, 7, 99] {
            bytes[page * PAGE + 100] ^= 1;
        }
        assert_eq!(passed(&bytes), 4);
        bytes.extend([7; 3 * PAGE]);
        assert_eq!(passed(&bytes), 3);
        bytes.truncate(50 * PAGE);
        assert_eq!(passed(&bytes), 0);
        // As it was before the file was cut.
        bytes.extend([50; PAGE]);
        assert_eq!(passed(&bytes), 1);
    }

    #[test]
    fn a_log_that_was_begun_anew_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let (log, copy) = (folder.path().join("a"), folder.path().join("b"));
        assert!(copy_log(&log, &None, &copy).unwrap());
        assert!(!copy_log(&log, &Some([1; 32]), &copy).unwrap());
        fs::write(&log, [1; 100]).unwrap();
        assert!(copy_log(&log, &Some([1; 32]), &copy).unwrap());
        assert_eq!(fs::read(&copy).unwrap(), [1; 100]);
        assert!(!copy_log(&log, &Some([2; 32]), &copy).unwrap());
        assert!(!copy_log(&log, &None, &copy).unwrap());
    }
}
