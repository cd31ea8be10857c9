//! The repair of a damaged write-ahead log: it is kept under another name, and a log of what is sound
//! takes its place before SQLite opens the file.
//!
//! Pages of later commits build on those of earlier ones, and a bad frame may not even say which page it was. So
//! nothing behind a bad frame is used, unless a checkpoint copied the frame into the file before. What is
//! salvaged is a state that was committed, never a mixture. Interrupted anywhere, there is a whole log in
//! place: the damaged one or the new one.
//!
//! What a checkpoint copied, the log's index knows, if the machine was not restarted since. Damage to what is in
//! the file costs nothing then. Without the index the pages tell: where the file has one from behind the
//! damage, a checkpoint got further than what can be kept, and nothing is salvaged.

use super::{
    ServeLock, counters, moments,
    on_disk::{self, Roots},
    open::{self, beside, folder_of, is_served, refused},
    usage,
    wal::{self, Damaged, FRAME_HEADER_BYTES, Found, HEADER_BYTES},
};
use crate::types::{
    Timestamp, Zone,
    error::{Error, Result},
    os::{self, lock},
    secret,
};
use std::{
    collections::{BTreeMap, HashSet},
    fs::{self, File},
    io::{self, BufWriter, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

/// The ending that the name of a quarantined log has behind that of the log; the time follows.
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
    /// Interactions and changes that were stored and are not in what is kept, in words, as far as is known.
    pub missing: Option<String>,
}

impl Damage {
    /// The damage of a log of which so many frames are kept.
    fn of(found: &wal::Damaged, kept: usize, log: PathBuf) -> Self {
        let lost = &found.frames[kept..found.end];
        let pages: HashSet<u32> = lost.iter().map(|frame| frame.page).collect();
        Self {
            first_bad: found.first_bad + 1,
            frames: found.end,
            lost_commits: lost.iter().filter(|frame| frame.commits).count(),
            lost_frames: lost.len(),
            lost_pages: pages.len(),
            missing: None,
            log,
        }
    }

    /// Tells of the damage before anything is salvaged. Afterwards the file tells what is missing in it.
    pub fn foretold(&self) -> String {
        match &self.missing {
            None => self.to_string(),
            Some(missing) => format!("{self}; {missing} that were stored are missing"),
        }
    }
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
            return f.write_str(": all that can still be read of it is kept");
        }
        write!(
            f,
            ": {} commits behind that are lost ({} frames, {} pages), all before are kept",
            self.lost_commits, self.lost_frames, self.lost_pages
        )
    }
}

/// The result of salvaging a log, and the place of the damaged one.
#[derive(Debug)]
pub struct Salvaged {
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

/// Returns whether the log is damaged, salvageable or not, or of another moment than the file; for a caller that is
/// alone with the file.
pub fn is_damaged(database: &Path, _: &ServeLock) -> bool {
    !matches!(Plan::make(database), Ok(None)) || moments::refuse_other(database).is_err()
}

/// Refuses a file whose log is damaged: SQLite would cut the log off.
pub fn refuse_damaged(database: &Path) -> Result<()> {
    match examine(database)? {
        None => Ok(()),
        Some(damage) => Err(refused(format!(
            "{}; `gatepost serve` keeps the damaged log under another name and goes on with what is sound",
            damage.foretold()
        ))),
    }
}

/// Puts a damaged log aside and what is sound of it in its place. To be called before anything opens
/// the file.
pub fn salvage(database: &Path, _: &ServeLock, now: Timestamp) -> Result<Option<Salvaged>> {
    let plan = Plan::make(database)?;
    plan.map(|plan| plan.carry_out(now)).transpose()
}

/// The part of a damaged log to keep.
struct Plan {
    file: File,
    damage: Damage,
    found: Damaged,
    /// Frames that are kept, and those of them that are in the file already.
    kept: usize,
    in_file: usize,
}

impl Plan {
    fn make(database: &Path) -> Result<Option<Self>> {
        let state = usage::State::read(database);
        let plan = Self::make_after(database, state.as_ref().and_then(usage::State::boot))?;
        Ok(plan.map(|mut plan| {
            plan.damage.missing = state.and_then(|state| plan.missing(database, &state));
            plan
        }))
    }

    /// Makes a plan for a file that was last used in this boot of a machine; the index of its log is trusted in no
    /// other.
    fn make_after(database: &Path, boot: Option<&str>) -> Result<Option<Self>> {
        let log = beside(database, "-wal");
        if !log.exists() {
            return Ok(None);
        }
        let told = |cause: io::Error| refused(format!("{}: {cause}", log.display()));
        // Whoever has the file open has read the log, and may write to it at this moment: it is no remainder.
        if File::open(beside(database, "-shm")).is_ok_and(|index| lock::is_open_elsewhere(&index)) {
            return Ok(None);
        }
        let file = match File::open(database) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(told)?,
        };
        let scan = || {
            let is_trusted = boot.is_some_and(|boot| boot == usage::boot_id());
            let index = is_trusted.then(|| wal::Index::read(&beside(database, "-shm")));
            wal::scan(&log, index.flatten(), &mut |page, bytes| {
                page_of(&file, page, bytes)
            })
        };
        let found = scan().map_err(told)?;
        // Of a log that another command is writing to at this moment, no two looks agree.
        if found == Found::Sound || scan().map_err(told)? != found {
            return Ok(None);
        }
        let Found::Damaged(found) = found else {
            return Err(hopeless(database, &log, "the header of its log is damaged"));
        };
        let in_file = found.index.as_ref().map_or(0, |index| index.copied);
        let kept = found.sound_frames(in_file);
        let damage = Damage::of(&found, kept, log);
        let plan = Self {
            file,
            damage,
            found,
            kept,
            in_file,
        };
        let copied_further = match &plan.found.index {
            Some(index) => kept < index.begun,
            None => plan.is_copied_further().map_err(Error::invalid_cause)?,
        };
        if copied_further {
            let why = "its log is damaged, and later changes were copied into the file already";
            return Err(hopeless(database, &plan.damage.log, why));
        }
        // A power cut tears the end, which no checkpoint copies before it is synced.
        let is_damaged = plan.found.proven || !plan.found.copied.is_empty();
        Ok(is_damaged.then_some(plan))
    }

    /// Returns whether the file has a page from behind what is kept: with the log cut there, it would be a mixture for
    /// good.
    ///
    /// A page may also be again what it was before the log, such as a count that goes up and down. What looks like
    /// a torn end is no damage by such a page alone: a checkpoint copies in the order of pages, so the file
    /// must have all pages before it from there as well, some of them perhaps from a frame that is damaged by now.
    fn is_copied_further(&self) -> io::Result<bool> {
        let mut log = File::open(&self.damage.log)?;
        // The frames of each page, and whether the file has it as the frame has it.
        let mut pages: BTreeMap<u32, Vec<(usize, bool)>> = BTreeMap::new();
        // The content of frames of which nobody knows the page.
        let mut damaged = HashSet::new();
        for (at, frame) in self.found.frames.iter().enumerate() {
            let whole = self.frame(&mut log, at);
            if frame.good {
                let whole = whole?;
                let page = &whole[FRAME_HEADER_BYTES..];
                let now = page_of(&self.file, frame.page, page.len());
                let is_in_file = now.is_some_and(|now| now == page);
                pages.entry(frame.page).or_default().push((at, is_in_file));
            } else {
                damaged.extend(whole.map(|whole| secret::digest(&whole[FRAME_HEADER_BYTES..])));
            }
        }
        let page_bytes = self.found.header.page_bytes();
        let is_as_of = |page: u32, frames: &[(usize, bool)], at: usize| {
            let known = frames.iter().take_while(|(frame, _)| *frame <= at).count();
            known == 0
                || frames[known - 1..]
                    .iter()
                    .any(|(_, is_in_file)| *is_in_file)
                || page_of(&self.file, page, page_bytes)
                    .is_some_and(|now| damaged.contains(&secret::digest(&now)))
        };
        for (page, frames) in &pages {
            let kept = frames.iter().take_while(|(at, _)| *at < self.kept).last();
            if kept.is_some_and(|(_, is_in_file)| *is_in_file) {
                continue;
            }
            let behind = frames
                .iter()
                .rfind(|(at, is_in_file)| *is_in_file && *at >= self.kept);
            let Some((at, _)) = behind else {
                continue;
            };
            if self.found.proven
                || pages
                    .range(..page)
                    .all(|(number, before)| is_as_of(*number, before, *at))
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns what was stored and is not in what is kept. Where SQLite has its tables, the file alone tells.
    fn missing(&self, database: &Path, state: &usage::State) -> Option<String> {
        let alone = open::alone(database).ok()?;
        let number = counters::get(&alone, usage::FILE).ok()??;
        let page = Roots::read(&alone).ok()?.sequences;
        let mut kept = self.found.frames[..self.kept].iter();
        let content = match kept.rposition(|frame| frame.page == page) {
            Some(at) => {
                let mut log = File::open(&self.damage.log).ok()?;
                self.frame(&mut log, at).ok()?.split_off(FRAME_HEADER_BYTES)
            }
            None => page_of(&self.file, page, self.found.header.page_bytes())?,
        };
        state.missing(number, on_disk::sequences(&content)?)
    }

    /// Puts the damaged log aside and a log of what is kept in its place.
    fn carry_out(self, now: Timestamp) -> Result<Salvaged> {
        let log = &self.damage.log;
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
            self.write(&fresh)?;
            if self.in_file > 0 {
                // What is not in the log any more must not be lost.
                self.file.sync_all()?;
            }
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
        Ok(Salvaged {
            damage: self.damage,
            quarantined,
        })
    }

    /// A good frame, as it should be.
    fn frame(&self, log: &mut File, at: usize) -> io::Result<Vec<u8>> {
        if let Some(frame) = self.found.copied.get(&at) {
            return Ok(frame.clone());
        }
        let mut frame = vec![0; FRAME_HEADER_BYTES + self.found.header.page_bytes()];
        let offset = HEADER_BYTES as u64 + at as u64 * frame.len() as u64;
        log.seek(SeekFrom::Start(offset))?;
        log.read_exact(&mut frame)?;
        Ok(frame)
    }

    /// Writes a log of the frames that are kept and not in the file.
    fn write(&self, path: &Path) -> io::Result<()> {
        let mut log = File::open(&self.damage.log)?;
        let _ = fs::remove_file(path);
        open::make_private(path).map_err(|cause| io::Error::other(cause.to_string()))?;
        let fresh = File::options().write(true).open(path)?;
        fresh.set_permissions(log.metadata()?.permissions())?;
        let mut fresh = BufWriter::with_capacity(1 << 20, fresh);
        let header = self.found.header.renewed();
        fresh.write_all(&header.0)?;
        let mut seed = header.sum();
        for at in self.in_file..self.kept {
            let mut frame = self.frame(&mut log, at)?;
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
fn page_of(mut file: &File, page: u32, bytes: usize) -> Option<Vec<u8>> {
    let at = u64::from(page).checked_sub(1)? * bytes as u64;
    let mut read = vec![0; bytes];
    file.seek(SeekFrom::Start(at)).ok()?;
    file.read_exact(&mut read).ok()?;
    Some(read)
}

#[cfg(test)]
mod tests;
