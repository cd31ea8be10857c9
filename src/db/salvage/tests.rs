#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "logs of tests are small"
)]
use super::*;
use proptest::{prelude::*, sample::Index};
use rusqlite::Connection;
use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::LazyLock,
};
use tempfile::TempDir;

/// Rows that were committed one by one; each fills some pages.
const COMMITS: i64 = 12;
/// The bytes that a disk writes as one.
const SECTOR: usize = 512;

/// File and log as a killed server leaves them.
struct Left {
    file: Vec<u8>,
    log: Vec<u8>,
    /// The size of the log before each commit.
    sizes: Vec<usize>,
}

/// An open file in `folder`, with a log that was started over once.
fn begun(folder: &TempDir) -> (Connection, PathBuf) {
    let path = folder.path().join("a.db");
    let open = Connection::open(&path).unwrap();
    open.execute_batch(
        "PRAGMA page_size = 1024; PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;
         CREATE TABLE t (id INTEGER PRIMARY KEY, x BLOB, y INT); CREATE INDEX i ON t (y);
         CREATE TABLE other (x BLOB);
         INSERT INTO other SELECT randomblob(40000); PRAGMA wal_checkpoint; DELETE FROM other;",
    )
    .unwrap();
    (open, path)
}

fn commit(open: &Connection, number: i64) {
    let sql = "INSERT INTO t VALUES (?1, randomblob(3000), abs(random()))";
    open.execute(sql, [number]).unwrap();
}

fn left() -> Left {
    let folder = tempfile::tempdir().unwrap();
    let (open, path) = begun(&folder);
    let log = beside(&path, "-wal");
    let mut sizes = Vec::new();
    let mut end = wal_end(&open);
    for number in 1..=COMMITS {
        sizes.push(end);
        commit(&open, number);
        end = wal_end(&open);
    }
    Left {
        file: fs::read(&path).unwrap(),
        log: fs::read(log).unwrap(),
        sizes,
    }
}

/// Returns where the log ends, in bytes; without copying anything.
fn wal_end(open: &Connection) -> usize {
    let sql = "PRAGMA wal_checkpoint(NOOP)";
    let frames: usize = open.query_row(sql, [], |row| row.get(1)).unwrap();
    HEADER_BYTES + frames * (FRAME_HEADER_BYTES + 1024)
}

fn laid_out(file: &[u8], log: &[u8]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    fs::write(&path, file).unwrap();
    fs::write(beside(&path, "-wal"), log).unwrap();
    (folder, path)
}

fn salvaged(path: &Path) -> Result<Option<Salvaged>> {
    let lock = ServeLock::take(path).unwrap();
    salvage(path, &lock, Timestamp(0))
}

/// Salvages a file that was last used since the machine was started.
fn salvaged_since_boot(path: &Path) -> Result<Option<Salvaged>> {
    let plan = Plan::make_after(path, Some(&usage::boot_id()))?;
    plan.map(|plan| plan.carry_out(Timestamp(0))).transpose()
}

/// Counts the commits in a file that is sound, and holds those and no others.
fn commits(path: &Path) -> i64 {
    let file = Connection::open(path).unwrap();
    let verdict: String = file
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(verdict, "ok");
    let (count, last): (i64, Option<i64>) = file
        .query_row("SELECT count(*), max(id) FROM t", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .unwrap();
    assert_eq!(count, last.unwrap_or(0));
    count
}

#[test]
fn a_flipped_bit_costs_nothing_before_it_and_is_told() {
    let left = left();
    for bit in (0..HEADER_BYTES * 8).step_by(7) {
        let mut log = left.log.clone();
        log[bit / 8] ^= 1 << (bit % 8);
        let (_folder, path) = laid_out(&left.file, &log);
        let refused = salvaged(&path).unwrap_err();
        assert!(
            refused.to_string().contains("gatepost restore"),
            "bit {bit}"
        );
    }
    for bit in (256..left.log.len() * 8).step_by(3571) {
        let mut log = left.log.clone();
        log[bit / 8] ^= 1 << (bit % 8);
        let (_folder, path) = laid_out(&left.file, &log);
        let salvaged = salvaged(&path).unwrap();
        let kept = commits(&path);
        let before = left.sizes.iter().filter(|size| **size <= bit / 8).count() as i64 - 1;
        assert!(kept >= before, "bit {bit}: {kept} of {before}");
        let Some(salvaged) = salvaged else {
            // At the end it cannot be told from a torn group.
            assert!(before >= COMMITS - 2, "bit {bit}");
            continue;
        };
        // The bit may be what says whether a frame commits.
        let told = salvaged.damage.lost_commits as i64;
        assert!((told - (COMMITS - kept)).abs() <= 1, "bit {bit}: {told}");
        assert_eq!(fs::read(&salvaged.quarantined).unwrap(), log);
        assert!(examine(&path).unwrap().is_none());
    }
}

/// A mixture of two states of a log, sector by sector.
fn torn(old: &[u8], new: &[u8], dice: &mut u64) -> Vec<u8> {
    let mut torn = vec![0; new.len().max(old.len())];
    torn[..old.len()].copy_from_slice(old);
    for at in (0..new.len()).step_by(SECTOR) {
        if roll(dice).is_multiple_of(2) {
            let end = (at + SECTOR).min(new.len());
            torn[at..end].copy_from_slice(&new[at..end]);
        }
    }
    torn
}

/// The same numbers in each run.
fn roll(dice: &mut u64) -> u64 {
    *dice ^= *dice << 13;
    *dice ^= *dice >> 7;
    *dice ^= *dice << 17;
    *dice
}

/// A power cut tears the last group, again and again, and shorter groups follow longer ones: that is
/// no damage, and SQLite itself cuts it off.
#[test]
fn a_torn_end_is_no_damage() {
    let mut dice = 4711;
    for _ in 0..40 {
        let folder = tempfile::tempdir().unwrap();
        let (open, path) = begun(&folder);
        commit(&open, 1);
        let mut state = (
            fs::read(&path).unwrap(),
            fs::read(beside(&path, "-wal")).unwrap(),
        );
        drop(open);
        for power_cut in 0..4_i64 {
            let (_folder, path) = laid_out(&state.0, &state.1);
            let open = Connection::open(&path).unwrap();
            open.execute_batch("PRAGMA wal_autocheckpoint = 0").unwrap();
            let sure: i64 = open
                .query_row("SELECT coalesce(max(id), 0) FROM t", [], |row| row.get(0))
                .unwrap();
            commit(&open, sure + 1);
            let file = fs::read(&path).unwrap();
            let before = fs::read(beside(&path, "-wal")).unwrap();
            let size = if power_cut % 2 == 0 { 20_000 } else { 500 };
            let sql = "INSERT INTO t VALUES (?1, randomblob(?2), 1)";
            open.execute(sql, [sure + 2, size]).unwrap();
            let after = fs::read(beside(&path, "-wal")).unwrap();
            state = (file, torn(&before, &after, &mut dice));
            let (_folder, path) = laid_out(&state.0, &state.1);
            assert_eq!(examine(&path).unwrap(), None);
            assert!(salvaged(&path).unwrap().is_none());
            assert!(commits(&path) > sure);
        }
    }
}

/// Whatever the damage, the outcome is a state that was committed, with everything before the damage, or
/// a refusal that changes nothing.
#[test]
fn garbage_anywhere_leaves_a_state_that_was_committed() {
    let left = left();
    let mut dice = 815;
    let mut lost = 0;
    for _ in 0..150 {
        let mut log = left.log.clone();
        let length = [8, 512, 4096, 20_000][(roll(&mut dice) % 4) as usize];
        let at = HEADER_BYTES + (roll(&mut dice) as usize) % (log.len() - HEADER_BYTES - length);
        let zeros = roll(&mut dice).is_multiple_of(2);
        for byte in &mut log[at..at + length] {
            *byte = if zeros { 0 } else { roll(&mut dice) as u8 };
        }
        if log == left.log {
            continue;
        }
        let (_folder, path) = laid_out(&left.file, &log);
        let before = left.sizes.iter().filter(|size| **size <= at).count() as i64 - 1;
        let Some(salvaged) = salvaged(&path).unwrap() else {
            // At the end it cannot be told from a torn group.
            assert!(at + length >= left.sizes[left.sizes.len() - 2]);
            continue;
        };
        let kept = commits(&path);
        assert!(kept >= before, "{kept} of {before}");
        // Where a commit stood may be unreadable.
        let told = salvaged.damage.lost_commits as i64;
        assert!(told <= COMMITS - kept + 1, "{kept} {told}");
        lost += i64::from(kept < COMMITS);
    }
    assert!(lost > 20, "{lost}");
}

/// Frames that a checkpoint copied into the file are not needed in the log any more. Cut before that, the log
/// would put older pages over newer ones.
#[test]
fn what_was_copied_into_the_file_is_not_undone() {
    let folder = tempfile::tempdir().unwrap();
    let (open, path) = begun(&folder);
    for number in 1..=COMMITS {
        commit(&open, number);
    }
    let old = fs::read(&path).unwrap();
    open.execute_batch("PRAGMA wal_checkpoint").unwrap();
    let copied = fs::read(&path).unwrap();
    let log = fs::read(beside(&path, "-wal")).unwrap();
    let index = fs::read(beside(&path, "-shm")).unwrap();
    let mut dice = 7;
    for at in (HEADER_BYTES..wal_end(&open)).step_by(3_001) {
        let mut damaged = log.clone();
        let end = damaged.len().min(at + 700);
        damaged[at..end].fill(0);
        if damaged == log {
            continue;
        }
        let (_folder, path) = laid_out(&copied, &damaged);
        fs::write(beside(&path, "-shm"), &index).unwrap();
        assert!(salvaged_since_boot(&path).unwrap().is_some());
        // Interrupted, it is begun again: the index is of the log before.
        assert!(salvaged_since_boot(&path).unwrap().is_none());
        assert_eq!(commits(&path), COMMITS, "{at}");
        // As one that was under way when the server was killed left it.
        let mut half = copied.clone();
        for page in (0..old.len()).step_by(1024) {
            if roll(&mut dice).is_multiple_of(2) {
                half[page..page + 1024].copy_from_slice(&old[page..page + 1024]);
            }
        }
        if at > wal_end(&open) - 30_000 {
            continue;
        }
        for file in [&copied, &half] {
            let (_folder, path) = laid_out(file, &damaged);
            match salvaged(&path) {
                Ok(_) => assert_eq!(commits(&path), COMMITS, "{at}"),
                Err(cause) => {
                    assert!(cause.to_string().contains("gatepost restore"), "{cause}");
                    assert!(fs::read(&path).unwrap() == *file);
                    assert!(fs::read(beside(&path, "-wal")).unwrap() == damaged);
                }
            }
        }
    }
}

/// A count that goes up and down leaves a page as it was before the log: no checkpoint copied it.
#[test]
fn a_page_that_is_again_as_it_was_is_no_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let (open, path) = begun(&folder);
    let sql =
        "PRAGMA wal_checkpoint(TRUNCATE); CREATE TABLE count (id INTEGER PRIMARY KEY, inside INT);
         INSERT INTO count VALUES (1, 0); PRAGMA wal_checkpoint(TRUNCATE)";
    open.execute_batch(sql).unwrap();
    let mut sizes = Vec::new();
    for number in 1..=4 {
        commit(&open, number);
        sizes.push(wal_end(&open));
        let inside = format!("UPDATE count SET inside = {}", number % 2);
        open.execute_batch(&inside).unwrap();
    }
    open.execute_batch("UPDATE count SET inside = 1").unwrap();
    open.execute_batch(
        "BEGIN; UPDATE count SET inside = 0; INSERT INTO t VALUES (5, randomblob(3000), 1); COMMIT",
    )
    .unwrap();
    let file = fs::read(&path).unwrap();
    let log = fs::read(beside(&path, "-wal")).unwrap()[..wal_end(&open)].to_vec();
    let index = fs::read(beside(&path, "-shm")).unwrap();
    let mut damaged = log.clone();
    damaged[sizes[1] - 100] ^= 1;
    let (_folder, path) = laid_out(&file, &damaged);
    fs::write(beside(&path, "-shm"), index).unwrap();
    // Where the machine was restarted nobody knows.
    let before = Plan::make_after(&path, Some("another")).map(drop);
    assert!(before.unwrap_err().to_string().contains("gatepost restore"));
    let salvaged = salvaged_since_boot(&path).unwrap().unwrap();
    assert_eq!(salvaged.damage.lost_commits, 8);
    assert_eq!(commits(&path), 1);
    // Torn at its end it is no damage either way.
    let mut torn = log;
    let end = torn.len() - 100;
    torn[end] ^= 1;
    let (_folder, path) = laid_out(&file, &torn);
    assert_eq!(examine(&path).unwrap(), None);
    assert_eq!(commits(&path), 4);
}

/// A history of changes to few pages, again and again, so that pages of later commits take the place of earlier
/// ones, each with one to a page of its own; and what the file held after each.
struct History {
    left: Left,
    /// The file once all of the log was copied into it, and the log's index then.
    copied: Vec<u8>,
    index: Vec<u8>,
    states: HashSet<u64>,
    last: u64,
}

impl History {
    /// Returns whether a frame of the last commit is whole in a damaged log, and can be told by the checksum before it.
    fn has_left_last_commit(&self, log: &[u8]) -> bool {
        let frame = FRAME_HEADER_BYTES + 1024;
        let last = self.left.sizes.last().unwrap();
        (*last..log.len()).step_by(frame).any(|at| {
            let (before, end) = (at - frame, at + frame);
            let is_whole =
                |from: usize, until: usize| log[from..until] == self.left.log[from..until];
            is_whole(at, end) && is_whole(before, before + FRAME_HEADER_BYTES)
        })
    }
}

fn history() -> History {
    let folder = tempfile::tempdir().unwrap();
    let (open, path) = begun(&folder);
    open.execute_batch(
        "CREATE TABLE far (id INTEGER PRIMARY KEY, x BLOB);
         WITH n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
         INSERT INTO far SELECT i, randomblob(700) FROM n;
         PRAGMA wal_checkpoint",
    )
    .unwrap();
    let mut dice = 2_026;
    let mut last = state(&open);
    let mut states = HashSet::from([last]);
    let mut sizes = Vec::new();
    for number in 1..=40 {
        let id = 1 + roll(&mut dice) % 12;
        let sql = match roll(&mut dice) % 4 {
            0 => format!("DELETE FROM t WHERE id = {id}"),
            1 => format!("UPDATE t SET y = {number} WHERE id = {id}"),
            _ => format!("INSERT OR REPLACE INTO t VALUES ({id}, randomblob(600), {number})"),
        };
        sizes.push(wal_end(&open));
        let far = format!("UPDATE far SET x = randomblob(700) WHERE id = {number}");
        open.execute_batch(&format!("BEGIN; {sql}; {far}; COMMIT"))
            .unwrap();
        last = state(&open);
        states.insert(last);
    }
    let file = fs::read(&path).unwrap();
    let log = fs::read(beside(&path, "-wal")).unwrap()[..wal_end(&open)].to_vec();
    open.execute_batch("PRAGMA wal_checkpoint").unwrap();
    let copied = fs::read(&path).unwrap();
    let index = fs::read(beside(&path, "-shm")).unwrap();
    let left = Left { file, log, sizes };
    History {
        left,
        copied,
        index,
        states,
        last,
    }
}

/// A digest of all that a file holds, which must be sound.
fn state(file: &Connection) -> u64 {
    let verdict: String = file
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(verdict, "ok");
    let all = "SELECT id, x, y FROM t UNION ALL SELECT id, x, -1 FROM far ORDER BY 3, 1";
    let mut rows = file.prepare(all).unwrap();
    let rows = rows.query_map([], |row| {
        Ok((
            row.get::<_, i64>(0)?,
            row.get::<_, Vec<u8>>(1)?,
            row.get::<_, i64>(2)?,
        ))
    });
    let rows: Vec<_> = rows.unwrap().map(Result::unwrap).collect();
    let mut hasher = DefaultHasher::new();
    rows.hash(&mut hasher);
    hasher.finish()
}

/// One damaged place: a bit, zeros or garbage, somewhere in the log or in the header of a frame.
#[derive(Debug, Clone)]
enum Place {
    Bit(Index, u8),
    Header(Index, usize, u8),
    Zeros(Index, usize),
    Garbage(Index, usize, u64),
}

impl Place {
    fn damage(&self, log: &mut [u8]) {
        let frame = FRAME_HEADER_BYTES + 1024;
        let body = &mut log[HEADER_BYTES..];
        let (at, length) = match self {
            Self::Bit(at, _) => (at.index(body.len()), 1),
            Self::Header(at, byte, _) => (at.index(body.len() / frame) * frame + byte, 1),
            Self::Zeros(at, length) | Self::Garbage(at, length, _) => {
                (at.index(body.len() - length), *length)
            }
        };
        let body = &mut body[at..at + length];
        match self {
            Self::Bit(_, bit) => body[0] ^= 1 << bit,
            Self::Header(_, _, bits) => body[0] ^= bits,
            Self::Zeros(..) => body.fill(0),
            Self::Garbage(_, _, seed) => {
                let mut dice = *seed | 1;
                body.fill_with(|| roll(&mut dice) as u8);
            }
        }
    }
}

fn place() -> impl Strategy<Value = Place> {
    prop_oneof![
        (any::<Index>(), 0_u8..8).prop_map(|(at, bit)| Place::Bit(at, bit)),
        // Often where the page's number has its last byte.
        (any::<Index>(), prop_oneof![Just(3), 0_usize..24], 1_u8..64)
            .prop_map(|(at, byte, bits)| Place::Header(at, byte, bits)),
        (any::<Index>(), 1_usize..3_000).prop_map(|(at, length)| Place::Zeros(at, length)),
        (any::<Index>(), 1_usize..3_000, any::<u64>())
            .prop_map(|(at, length, seed)| Place::Garbage(at, length, seed)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// With several damaged places, and with the log copied into the file not at all, in part or whole; with
    /// an index that can be trusted, or without: the outcome is a state that was committed, or a refusal that
    /// changes nothing.
    #[test]
    fn what_is_salvaged_was_committed(
        places in prop::collection::vec(place(), 1..5), copied in prop_oneof![Just(0.0), Just(1.0), 0.0..1.0],
        has_index in any::<bool>(),
    ) {
        static HISTORY: LazyLock<History> = LazyLock::new(history);
        let history = &*HISTORY;
        let mut log = history.left.log.clone();
        for place in &places {
            place.damage(&mut log);
        }
        // Without an index, a last commit of which no frame is left cannot be told from one that never was.
        if copied > 0.0 && !has_index && !history.has_left_last_commit(&log) {
            return Ok(());
        }
        // A checkpoint copies page by page.
        let pages = (history.copied.len() / 1024) as f64;
        let until = (pages * copied) as usize * 1024;
        let mut file = history.left.file.clone();
        if until > 0 {
            file.resize(file.len().max(until), 0);
            file[..until].copy_from_slice(&history.copied[..until]);
        }
        let mut index = history.index.clone();
        if copied < 1.0 {
            // It notes what it copied at its end, and that it begins.
            index[96..100].fill(0);
        }
        if copied == 0.0 {
            index[128..132].fill(0);
        }
        let (_folder, path) = laid_out(&file, &log);
        let salvaged = if has_index {
            fs::write(beside(&path, "-shm"), index).unwrap();
            salvaged_since_boot(&path)
        } else {
            salvaged(&path)
        };
        match salvaged {
            Ok(_) => {
                let state = state(&Connection::open(&path).unwrap());
                prop_assert!(history.states.contains(&state));
                if has_index && copied >= 1.0 {
                    prop_assert_eq!(state, history.last);
                }
            }
            Err(cause) => {
                prop_assert!(!has_index || copied > 0.0 && copied < 1.0, "{cause}");
                prop_assert!(cause.to_string().contains("gatepost restore"), "{cause}");
                prop_assert!(fs::read(&path).unwrap() == file);
                prop_assert!(fs::read(beside(&path, "-wal")).unwrap() == log);
            }
        }
    }
}

/// A checkpoint copies nothing that was not synced, so what is in the file is damaged and not torn.
#[test]
fn damage_to_a_last_commit_that_is_in_the_file_is_no_torn_end() {
    let history = history();
    let mut log = history.left.log.clone();
    log[history.left.sizes.last().unwrap() + FRAME_HEADER_BYTES + 100] ^= 1;
    let (_folder, path) = laid_out(&history.copied, &log);
    let salvaged = salvaged(&path).unwrap().unwrap();
    assert_eq!(salvaged.damage.lost_commits, 0);
    assert!(
        history
            .states
            .contains(&state(&Connection::open(&path).unwrap()))
    );
}
