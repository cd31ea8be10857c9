//! Overwrites what pages keep of content that moved elsewhere.
//!
//! `secure_delete` overwrites content where it is deleted. But a row that was moved to another page
//! before, when a tree was balanced, may have left a copy in the gap between its old page's pointers
//! and cells, until something else is written there. SQLite clears such gaps nowhere, so that is done
//! here, in the file itself: by the writer, in a group of its own, while no other process may write,
//! the log is empty (so that no page of the file stands in it anew), and none is in the writer's cache.
//! What stands in a gap means nothing to SQLite, whoever reads meanwhile and wherever it is cut off.

use super::tx::Tx;
use crate::types::error::{Error, Result};
use std::{
    fs::File,
    ops::Range,
    path::Path,
    time::{Duration, Instant},
};

/// Pages are looked at in pieces of this length.
const PIECE_BYTES: usize = 1 << 20;
/// How long the writer is held up in one go.
const SLICE: Duration = Duration::from_millis(15);
/// From here on, the first byte of other pages may look like that of a tree.
const PAGES_MAX: u64 = 1 << 24;
/// The length of the file's own header, on its first page.
const HEADER_BYTES: usize = 100;

/// Pages of a file whose gap is not empty, by number from 0. Read beside the writer: what changes
/// meanwhile is looked at again.
pub fn candidates(file: &File) -> Result<Vec<u64>> {
    let page_bytes = page_bytes(file)?;
    let pages = file.metadata().map_err(Error::unavailable)?.len() / page_bytes as u64;
    if pages > PAGES_MAX {
        return Err(Error::unavailable(
            "the file has too many pages for its gaps to be cleared",
        ));
    }
    let in_piece = PIECE_BYTES / page_bytes;
    let mut piece = vec![0; in_piece * page_bytes];
    let mut found = Vec::new();
    let mut first = 0;
    while first < pages {
        let count = usize::try_from(pages - first).map_or(in_piece, |rest| rest.min(in_piece));
        let read = &mut piece[..count * page_bytes];
        read_at(file, read, first * page_bytes as u64).map_err(Error::unavailable)?;
        for (number, page) in (first..).zip(read.chunks_exact(page_bytes)) {
            if leftover(page, number == 0).is_some() {
                found.push(number);
            }
        }
        first += count as u64;
    }
    Ok(found)
}

/// Clears the gaps of as many pages as go into a slice, from the end of the list; false when the log is
/// not empty, and nothing can be done now.
pub fn clear(tx: &Tx<'_>, file: &File, log: &Path, pages: &mut Vec<u64>) -> Result<bool> {
    if std::fs::metadata(log).is_ok_and(|log| log.len() > 0) {
        return Ok(false);
    }
    tx.release_memory()?;
    let begun = Instant::now();
    let mut page = vec![0; page_bytes(file)?];
    while begun.elapsed() < SLICE
        && let Some(number) = pages.pop()
    {
        let at = number * page.len() as u64;
        read_at(file, &mut page, at).map_err(Error::unavailable)?;
        if let Some(gap) = leftover(&page, number == 0) {
            let zeroes = vec![0; gap.len()];
            write_at(file, &zeroes, at + gap.start as u64).map_err(Error::unavailable)?;
        }
    }
    file.sync_data().map_err(Error::unavailable)?;
    Ok(true)
}

fn page_bytes(file: &File) -> Result<usize> {
    let mut header = [0; HEADER_BYTES];
    read_at(file, &mut header, 0).map_err(Error::unavailable)?;
    let size = match u16::from_be_bytes([header[16], header[17]]) {
        1 => 65_536,
        size => usize::from(size),
    };
    // Bytes reserved at a page's end would be none of ours.
    if header[20] == 0 && size.is_power_of_two() && size >= 512 {
        Ok(size)
    } else {
        Err(Error::defect("the file's header is not as we write it"))
    }
}

/// The gap of a tree's page, where there is anything in it.
fn leftover(page: &[u8], first: bool) -> Option<Range<usize>> {
    let gap = gap(page, first)?;
    page[gap.clone()]
        .iter()
        .any(|byte| *byte != 0)
        .then_some(gap)
}

/// What lies between the pointers and the cells of a tree's page (SQLite's file format, section 1.6);
/// `None` of any other page.
fn gap(page: &[u8], first: bool) -> Option<Range<usize>> {
    let start = if first { HEADER_BYTES } else { 0 };
    let pointers = start
        + match page[start] {
            2 | 5 => 12,
            10 | 13 => 8,
            _ => return None,
        };
    let number = |at: usize| usize::from(u16::from_be_bytes([page[at], page[at + 1]]));
    let cells = match number(start + 5) {
        0 => 65_536,
        cells => cells,
    };
    let end = pointers + 2 * number(start + 3);
    if end > cells || cells > page.len() {
        return None;
    }
    let inside = |at: usize| (cells..page.len()).contains(&number(at));
    let mut all = (pointers..end).step_by(2);
    all.all(inside).then_some(end..cells)
}

#[cfg(unix)]
pub(super) fn read_at(file: &File, into: &mut [u8], at: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, into, at)
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], at: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

#[cfg(windows)]
pub(super) fn read_at(file: &File, into: &mut [u8], at: u64) -> std::io::Result<()> {
    let mut done = 0;
    while done < into.len() {
        match std::os::windows::fs::FileExt::seek_read(file, &mut into[done..], at + done as u64)? {
            0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            read => done += read,
        }
    }
    Ok(())
}

#[cfg(windows)]
fn write_at(file: &File, bytes: &[u8], at: u64) -> std::io::Result<()> {
    let mut done = 0;
    while done < bytes.len() {
        done += std::os::windows::fs::FileExt::seek_write(file, &bytes[done..], at + done as u64)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::{Durability, Store};

    #[test]
    fn only_a_trees_page_has_a_gap() {
        let mut page = vec![0; 512];
        assert_eq!(gap(&page, false), None, "free");
        page[0] = 13;
        page[5..7].copy_from_slice(&[2, 0]);
        assert_eq!(gap(&page, false), Some(8..512), "an empty leaf");
        page[3..5].copy_from_slice(&[0, 2]);
        page[5..7].copy_from_slice(&[1, 0xF0]);
        page[8..12].copy_from_slice(&[1, 0xF0, 1, 0xF8]);
        assert_eq!(gap(&page, false), Some(12..0x1F0));
        page[8..10].copy_from_slice(&[1, 0xE0]);
        assert_eq!(gap(&page, false), None, "a cell outside of where cells are");
        page[0] = 1;
        assert_eq!(gap(&page, false), None, "of another kind");
    }

    #[test]
    fn what_moved_before_it_was_deleted_is_gone_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.db");
        let store = Store::open(&path, Durability::Normal).unwrap();
        let fill = |from: i64| {
            move |tx: &Tx<'_>| {
                for at in from..from + 3_000 {
                    // In no order, so that pages are split in their middle.
                    let name = format!(
                        "{:08x}-secret-{at}",
                        at.wrapping_mul(0x9E37_79B9) & 0xFFFF_FFFF
                    );
                    tx.execute(
                        "INSERT INTO settings (name, value) VALUES (?1, ?2)",
                        (
                            name,
                            format!("\"{}\"", "x".repeat(usize::try_from(at % 90).unwrap_or(0))),
                        ),
                    )?;
                }
                Ok(())
            }
        };
        store.write_blocking(fill(0)).unwrap();
        store.write_blocking(fill(3_000)).unwrap();
        let gone =
            |tx: &Tx<'_>| Ok(tx.execute("DELETE FROM settings WHERE name GLOB '*[13579]'", [])?);
        store.write_blocking(gone).unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(store.scrub()).unwrap();
        let all: String = store
            .look_up(|connection| {
                let verdict: String =
                    connection.query_row("PRAGMA integrity_check", [], |row| row.get(0))?;
                let count: i64 =
                    connection.query_row("SELECT count(*) FROM settings", [], |row| row.get(0))?;
                Ok(format!("{verdict} {count}"))
            })
            .unwrap();
        assert_eq!(all, "ok 3000");
        // It goes on being written to as ever.
        store.write_blocking(fill(6_000)).unwrap();
        let even =
            |tx: &Tx<'_>| Ok(tx.execute("DELETE FROM settings WHERE name GLOB '*secret*'", [])?);
        store.write_blocking(even).unwrap();
        runtime.block_on(store.scrub()).unwrap();
        drop(store);
        let bytes = std::fs::read(&path).unwrap();
        assert!(!bytes.windows(8).any(|part| part == b"-secret-"));
    }
}
