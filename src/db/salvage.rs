//! What becomes of a damaged write-ahead log: it is kept under another name, and a log of what is sound
//! takes its place before SQLite opens the file.
//!
//! Pages of later commits build on those of earlier ones, so nothing behind a lost page is used. A bad
//! frame whose page was written again later is no loss, and neither is one that a checkpoint copied into
//! the file before. What is salvaged is a state that was committed, however many frames are damaged; only
//! where one frame's page and its number are both damaged, nothing tells which page it was. Interrupted anywhere, there is a whole log in place: the damaged one or the new one.

use super::{
    ServeLock,
    open::{self, beside, folder_of, is_served, refused},
    wal::{self, Damaged, FRAME_HEADER_BYTES, Found, HEADER_BYTES},
};
use crate::types::{
    Timestamp, Zone,
    error::{Error, Result},
    os,
};
use std::{
    collections::{HashMap, HashSet},
    fs::{self, File},
    io::{self, BufWriter, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

/// What the name of a quarantined log has behind that of the log; the time follows.
pub const QUARANTINED: &str = ".damaged-";

/// Damage in a log, and what it costs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    pub log: PathBuf,
    /// The first bad frame, counted from 1.
    pub first_bad: usize,
    /// Frames up to its last commit.
    pub frames: usize,
    pub lost_commits: usize,
    /// Frames of those, and of what was being written.
    pub lost_frames: usize,
    /// Pages that those had changed.
    pub lost_pages: usize,
}

impl std::fmt::Display for Damage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (log, frame) = (self.log.display(), self.first_bad);
        write!(
            f,
            "the log {log} is damaged in frame {frame} of {}",
            self.frames
        )?;
        if self.lost_commits == 0 {
            return f.write_str(": everything in it could be recovered");
        }
        write!(
            f,
            ": {} commits behind that are lost ({} frames, {} pages), all before are kept",
            self.lost_commits, self.lost_frames, self.lost_pages
        )
    }
}

/// What was salvaged of a log, and where the damaged one is now.
#[derive(Debug)]
pub struct Salvaged {
    /// What was wrong.
    pub damage: Damage,
    /// The damaged log.
    pub quarantined: PathBuf,
}

/// Looks whether the log that an earlier run left is damaged. The log of a running server is not looked
/// at: the server did that when it began.
pub fn examine(database: &Path) -> Result<Option<Damage>> {
    if is_served(database) {
        return Ok(None);
    }
    Ok(Plan::make(database)?.map(|plan| plan.damage))
}

/// Whether the log is damaged, salvageable or not; for whoever is alone with the file.
pub fn is_damaged(database: &Path, _: &ServeLock) -> bool {
    !matches!(Plan::make(database), Ok(None))
}

/// Refuses a file whose log is damaged: SQLite would cut the log off.
pub fn refuse_damaged(database: &Path) -> Result<()> {
    match examine(database)? {
        None => Ok(()),
        Some(damage) => Err(refused(format!(
            "{damage}; `gatepost serve` keeps the damaged log under another name and goes on with what is sound"
        ))),
    }
}

/// Puts a damaged log aside and what is sound of it in its place. To be called before anything opens
/// the file.
pub fn salvage(database: &Path, _: &ServeLock, now: Timestamp) -> Result<Option<Salvaged>> {
    let Some(plan) = Plan::make(database)? else {
        return Ok(None);
    };
    let log = &plan.damage.log;
    let told = |cause: io::Error| refused(format!("{}: {cause}", log.display()));
    let stamp: String = (Zone::default().plain(now).chars())
        .filter_map(|letter| match letter {
            ' ' => Some('-'),
            '-' | ':' => None,
            other => Some(other),
        })
        .collect();
    let quarantined = beside(log, &format!("{QUARANTINED}{stamp}"));
    let fresh = beside(log, ".salvaged");
    let place = || {
        plan.write(&fresh)?;
        // A stick's file system may have no links.
        if fs::hard_link(log, &quarantined).is_err() {
            fs::copy(log, &quarantined)?;
            File::open(&quarantined)?.sync_all()?;
        }
        os::sync_folder(folder_of(log))?;
        fs::rename(&fresh, log)?;
        os::sync_folder(folder_of(log))
    };
    place().map_err(told)?;
    Ok(Some(Salvaged {
        damage: plan.damage,
        quarantined,
    }))
}

/// What to keep of a damaged log.
struct Plan {
    damage: Damage,
    found: Damaged,
    /// Frames that are kept.
    kept: usize,
}

impl Plan {
    fn make(database: &Path) -> Result<Option<Self>> {
        let log = beside(database, "-wal");
        if !log.exists() {
            return Ok(None);
        }
        let told = |cause: io::Error| refused(format!("{}: {cause}", log.display()));
        let mut file = match File::open(database) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(told)?,
        };
        let mut scan = || wal::scan(&log, &mut |page, bytes| page_of(&mut file, page, bytes));
        let found = scan().map_err(told)?;
        // Of a log that another command is writing to at this moment, no two looks agree.
        if found == Found::Sound || scan().map_err(told)? != found {
            return Ok(None);
        }
        let Found::Damaged(found) = found else {
            return Err(hopeless(database, &log, "the header of its log is damaged"));
        };
        let mut plan = Self {
            kept: 0,
            damage: Damage {
                first_bad: found.first_bad + 1,
                frames: found.frames.len(),
                lost_commits: 0,
                lost_frames: 0,
                lost_pages: 0,
                log,
            },
            found,
        };
        let (copied, whole) = plan.copied(&mut file).map_err(Error::invalid_cause)?;
        // A power cut tears the end, which no checkpoint copies before it is synced.
        if !(plan.found.proven || whole && copied > plan.found.first_bad) {
            return Ok(None);
        }
        plan.kept = plan.found.sound_frames(if whole { copied } else { 0 });
        if plan.kept < copied {
            let why = "its log is damaged, and later changes were copied into the file already";
            return Err(hopeless(database, &plan.damage.log, why));
        }
        Ok(Some(plan.with_losses()))
    }

    fn with_losses(mut self) -> Self {
        let lost = &self.found.frames[self.kept..];
        let pages: HashSet<u32> = lost.iter().map(|frame| frame.page).collect();
        self.damage.lost_commits = lost.iter().filter(|frame| frame.commits).count();
        self.damage.lost_frames = lost.len();
        self.damage.lost_pages = pages.len();
        self
    }

    /// Up to which frame a checkpoint copied into the file, and whether all before is in it, too: one that
    /// was interrupted leaves a mixture. With the log cut before what was copied, it would be one for good.
    fn copied(&self, file: &mut File) -> io::Result<(usize, bool)> {
        let mut log = File::open(&self.damage.log)?;
        // Of each page, where the file has it from, and the first change since.
        let mut pages: HashMap<u32, (usize, usize)> = HashMap::new();
        for (at, frame) in self.found.frames.iter().enumerate() {
            if !frame.good {
                continue;
            }
            let whole = self.frame(&mut log, at)?;
            let page = &whole[FRAME_HEADER_BYTES..];
            let is_in_file = page_of(file, frame.page, page.len()).is_some_and(|now| now == page);
            let (from, until) = pages.entry(frame.page).or_insert((0, usize::MAX));
            if is_in_file {
                (*from, *until) = (at + 1, usize::MAX);
            } else if *until == usize::MAX {
                *until = at;
            }
        }
        let copied = pages.values().map(|(from, _)| *from).max().unwrap_or(0);
        let missing = pages.values().map(|(_, until)| *until).min();
        Ok((copied, missing.is_none_or(|missing| missing >= copied)))
    }

    /// A frame as it should be, or one that can stand in its place.
    fn frame(&self, log: &mut File, at: usize) -> io::Result<Vec<u8>> {
        let source = self.found.stand_in(at).unwrap_or(at);
        match self.found.copied.get(&source) {
            Some(frame) => Ok(frame.clone()),
            None => self.stored(log, source),
        }
    }

    fn stored(&self, log: &mut File, at: usize) -> io::Result<Vec<u8>> {
        let mut frame = vec![0; FRAME_HEADER_BYTES + self.found.header.page_bytes()];
        let offset = HEADER_BYTES as u64 + at as u64 * frame.len() as u64;
        log.seek(SeekFrom::Start(offset))?;
        log.read_exact(&mut frame)?;
        Ok(frame)
    }

    /// Writes a log of the frames that are kept.
    fn write(&self, path: &Path) -> io::Result<()> {
        let mut log = File::open(&self.damage.log)?;
        let _ = fs::remove_file(path);
        open::make_private(path).map_err(|cause| io::Error::other(cause.message))?;
        let fresh = File::options().write(true).open(path)?;
        fresh.set_permissions(log.metadata()?.permissions())?;
        let mut fresh = BufWriter::with_capacity(1 << 20, fresh);
        let header = &self.found.header;
        fresh.write_all(&header.0)?;
        let mut seed = header.sum();
        for at in 0..self.kept {
            let mut frame = self.frame(&mut log, at)?;
            if !self.found.frames[at].good {
                // Whether it commits is its own.
                let size = if self.found.frames[at].commits {
                    self.stored(&mut log, at)?[4..8].to_vec()
                } else {
                    vec![0; 4]
                };
                frame[4..8].copy_from_slice(&size);
            }
            frame[8..16].copy_from_slice(header.salts());
            seed = header.sum_of(&frame, seed);
            frame[16..20].copy_from_slice(&seed.0.to_be_bytes());
            frame[20..24].copy_from_slice(&seed.1.to_be_bytes());
            fresh.write_all(&frame)?;
        }
        fresh.flush()?;
        fresh.get_ref().sync_all()
    }
}

fn hopeless(database: &Path, log: &Path, why: &str) -> Error {
    refused(format!(
        "{}: {why}, so nothing can be salvaged of it; put a backup in its place with `gatepost restore`, or move {} elsewhere to go on with what the file alone holds",
        database.display(),
        log.display()
    ))
}

/// Reads a page of the database file.
fn page_of(file: &mut File, page: u32, bytes: usize) -> Option<Vec<u8>> {
    let at = u64::from(page).checked_sub(1)? * bytes as u64;
    let mut read = vec![0; bytes];
    file.seek(SeekFrom::Start(at)).ok()?;
    file.read_exact(&mut read).ok()?;
    Some(read)
}

#[cfg(test)]
mod tests;
