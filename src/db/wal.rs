//! Reads a write-ahead log as SQLite documents it (<https://www.sqlite.org/fileformat2.html#walformat>).
//! SQLite itself stops at the first bad frame without a word; this tells a torn end from damage.
//!
//! After a power cut only the last group can be torn, because each group is synced before the next one
//! begins. So a good frame right behind a commit that is behind a bad frame proves damage. A single
//! flipped bit proves it, too, and is corrected where the checksum says which one it was: mostly.

use std::{
    collections::HashMap,
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::Path,
};

/// The header of a log.
pub(super) const HEADER_BYTES: usize = 32;
/// The header of a frame; its page follows.
pub(super) const FRAME_HEADER_BYTES: usize = 24;
/// What a frame's checksum covers of its header.
const SUMMED_BYTES: usize = 8;
const MAGIC: u32 = 0x377f_0682;
const PAGE_BYTES_MAX: u32 = 65_536;
/// Read at a time.
const CHUNK_BYTES: usize = 1 << 20;

/// A running checksum.
pub(super) type Sum = (u32, u32);

/// A header whose checksum is right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header(pub [u8; HEADER_BYTES]);

impl Header {
    fn parse(bytes: [u8; HEADER_BYTES]) -> Option<Self> {
        let header = Self(bytes);
        let page = word(&bytes, 8);
        let known = word(&bytes, 0) & !1 == MAGIC
            && page.is_power_of_two()
            && (512..=PAGE_BYTES_MAX).contains(&page);
        let sum = checksum(&bytes[..24], header.big_endian(), (0, 0));
        (known && sum == header.sum()).then_some(header)
    }

    /// As [`Header::parse`], with one flipped bit put right. The salts of the first frame decide where
    /// that bit was.
    fn corrected(mut bytes: [u8; HEADER_BYTES], first_frame: &[u8]) -> Option<Self> {
        let salts = first_frame.get(8..16)?;
        (0..HEADER_BYTES * 8).find_map(|bit| {
            bytes[bit / 8] ^= 1 << (bit % 8);
            let header = Self::parse(bytes).filter(|header| header.salts() == salts);
            bytes[bit / 8] ^= 1 << (bit % 8);
            header
        })
    }

    pub fn page_bytes(&self) -> usize {
        word(&self.0, 8) as usize
    }

    pub fn salts(&self) -> &[u8] {
        &self.0[16..24]
    }

    pub fn sum(&self) -> Sum {
        (word(&self.0, 24), word(&self.0, 28))
    }

    pub fn big_endian(&self) -> bool {
        word(&self.0, 0) & 1 == 1
    }

    /// The checksum of a frame.
    pub fn sum_of(&self, frame: &[u8], seed: Sum) -> Sum {
        let sum = checksum(&frame[..SUMMED_BYTES], self.big_endian(), seed);
        checksum(&frame[FRAME_HEADER_BYTES..], self.big_endian(), sum)
    }
}

/// What a frame says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Frame {
    /// The page that it holds; 0 where that is not known.
    pub page: u32,
    /// Whether it ends a transaction.
    pub commits: bool,
    /// Whether what it holds is known: its checksum was right, or could be put right.
    pub good: bool,
}

/// What is wrong with a log that is damaged.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Damaged {
    pub header: Header,
    /// All frames up to the last commit.
    pub frames: Vec<Frame>,
    /// The first bad frame, counted from 0; `None` where only the header was bad.
    pub first_bad: Option<usize>,
    /// Frames that could be put right, whole.
    pub corrected: HashMap<usize, Vec<u8>>,
}

impl Damaged {
    /// How many frames make a state of the file in which nothing is missing: those up to a commit by
    /// which each bad frame before it has a good one of the same page behind it. The first `copied`
    /// frames are in the file already.
    pub fn sound_frames(&self, copied: usize) -> usize {
        let mut later = HashMap::new();
        let mut superseded = HashMap::new();
        for (at, frame) in self.frames.iter().enumerate().rev() {
            if frame.good {
                later.insert(frame.page, at);
            } else if let Some(by) = later.get(&frame.page) {
                superseded.insert(at, *by);
            }
        }
        let (mut sound, mut needed) = (0, 0);
        for (at, frame) in self.frames.iter().enumerate() {
            if !frame.good && at >= copied {
                match superseded.get(&at) {
                    Some(by) => needed = needed.max(*by),
                    None => break,
                }
            }
            if frame.commits && needed <= at {
                sound = at + 1;
            }
        }
        sound
    }

    /// The frame that can stand in the place of one: itself, or where it is bad, the next good one, which
    /// counts anyway.
    pub fn stand_in(&self, at: usize) -> Option<usize> {
        (at..self.frames.len()).find(|at| self.frames[*at].good)
    }
}

/// A log that cannot be read at all.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Sound, empty, or torn at its end.
    Sound,
    Damaged(Damaged),
    /// Frames without a header that fits.
    Headless,
}

/// Looks through a log; `page_of` reads a page of the database file.
pub(super) fn scan(
    log: &Path,
    page_of: &mut dyn FnMut(u32, usize) -> Option<Vec<u8>>,
) -> io::Result<Found> {
    let file = match File::open(log) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(Found::Sound),
        opened => opened?,
    };
    let mut reader = BufReader::with_capacity(CHUNK_BYTES, file);
    let mut bytes = [0; HEADER_BYTES];
    if !read_whole(&mut reader, &mut bytes)? {
        return Ok(Found::Sound);
    }
    let parsed = Header::parse(bytes);
    let was_bad = parsed.is_none();
    let corrected = || Header::corrected(bytes, reader.fill_buf().unwrap_or_default());
    let Some(header) = parsed.or_else(corrected) else {
        let mut behind = Vec::new();
        reader.take(CHUNK_BYTES as u64).read_to_end(&mut behind)?;
        // SQLite syncs the header before it writes a frame.
        let used = behind.iter().any(|byte| *byte != 0);
        return Ok(if used { Found::Headless } else { Found::Sound });
    };
    let mut scan = Scan::new(header, was_bad);
    let mut frame = vec![0; FRAME_HEADER_BYTES + scan.header.page_bytes()];
    while read_whole(&mut reader, &mut frame)? {
        scan.take(&mut frame, page_of);
    }
    Ok(scan.found())
}

/// Fills the buffer; false where the file ends before.
fn read_whole(reader: &mut impl Read, into: &mut [u8]) -> io::Result<bool> {
    match reader.read_exact(into) {
        Err(cause) if cause.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        read => read.map(|()| true),
    }
}

struct Scan {
    header: Header,
    frames: Vec<Frame>,
    first_bad: Option<usize>,
    corrected: HashMap<usize, Vec<u8>>,
    /// The checksum that the last frame holds.
    seed: Sum,
    /// Whether the log was damaged, and not only torn.
    proven: bool,
    /// Frames up to the last commit of this log; behind it older logs may have left others.
    end: usize,
}

impl Scan {
    fn new(header: Header, proven: bool) -> Self {
        Self {
            seed: header.sum(),
            header,
            frames: Vec::new(),
            first_bad: None,
            corrected: HashMap::new(),
            proven,
            end: 0,
        }
    }

    fn take(&mut self, frame: &mut [u8], page_of: &mut dyn FnMut(u32, usize) -> Option<Vec<u8>>) {
        let at = self.frames.len();
        let mut ours = frame[8..16] == *self.header.salts();
        let mut good = ours && word(frame, 0) != 0 && self.is_right(frame);
        let behind_commit = self.frames.last().is_some_and(|last| last.commits);
        if good {
            self.proven |= self.first_bad.is_some() && behind_commit;
        } else {
            self.first_bad.get_or_insert(at);
            if self.correct(frame) {
                (ours, good, self.proven) = (true, true, true);
            } else if ours {
                good = self.take_from_file(frame, page_of);
            }
            if good {
                self.corrected.insert(at, frame.to_vec());
            }
        }
        self.seed = sum_in(frame);
        // What a frame of another log says is not of this one.
        let commits = ours && word(frame, 4) != 0;
        self.frames.push(Frame {
            page: if ours { word(frame, 0) } else { 0 },
            commits,
            good,
        });
        if commits {
            self.end = at + 1;
        }
    }

    fn is_right(&self, frame: &[u8]) -> bool {
        self.header.sum_of(frame, self.seed) == sum_in(frame)
    }

    /// Puts one flipped bit right, wherever it is.
    fn correct(&self, frame: &mut [u8]) -> bool {
        let wrong: u32 = (frame[8..16].iter().zip(self.header.salts()))
            .map(|(found, right)| (found ^ right).count_ones())
            .sum();
        if wrong == 1 {
            let found: [u8; 8] = std::array::from_fn(|at| frame[8 + at]);
            frame[8..16].copy_from_slice(self.header.salts());
            if self.is_right(frame) {
                return true;
            }
            frame[8..16].copy_from_slice(&found);
        }
        if wrong > 0 {
            return false;
        }
        let (right, stored) = (self.header.sum_of(frame, self.seed), sum_in(frame));
        let off = (
            stored.0.wrapping_sub(right.0),
            stored.1.wrapping_sub(right.1),
        );
        let big_endian = self.header.big_endian();
        let mut found = flipped_bits(frame, big_endian, off);
        for (at, wrong) in [(16, right.0 ^ stored.0), (20, right.1 ^ stored.1)] {
            if wrong.is_power_of_two() && (right.0 == stored.0 || right.1 == stored.1) {
                found.push((at, wrong));
            }
        }
        // The sums are weak: for the upper bits of a word there are often several places.
        let [(at, bit)] = found[..] else {
            return false;
        };
        let big_endian = big_endian || (SUMMED_BYTES..FRAME_HEADER_BYTES).contains(&at);
        let word = &mut frame[at..at + 4];
        let value = read_word(word, big_endian) ^ bit;
        write_word(word, value, big_endian);
        true
    }

    /// Takes the page from the database file, if a checkpoint had copied it there before it was damaged.
    fn take_from_file(
        &self,
        frame: &mut [u8],
        page_of: &mut dyn FnMut(u32, usize) -> Option<Vec<u8>>,
    ) -> bool {
        let Some(page) = page_of(word(frame, 0), self.header.page_bytes()) else {
            return false;
        };
        let mut whole = frame[..FRAME_HEADER_BYTES].to_vec();
        whole.extend_from_slice(&page);
        let right = self.is_right(&whole);
        if right {
            frame.copy_from_slice(&whole);
        }
        right
    }

    fn found(mut self) -> Found {
        if !self.proven {
            return Found::Sound;
        }
        self.frames.truncate(self.end);
        self.corrected.retain(|at, _| *at < self.end);
        Found::Damaged(Damaged {
            header: self.header,
            frames: self.frames,
            first_bad: self.first_bad.filter(|at| *at < self.end),
            corrected: self.corrected,
        })
    }
}

/// Which bits of a frame, each alone, make its checksum differ by so much: where its word begins, and the
/// bit in it.
fn flipped_bits(frame: &[u8], big_endian: bool, off: Sum) -> Vec<(usize, u32)> {
    // What a change of the first and of the second word of a pair by one does to the checksum.
    let (mut first, mut second) = ((1_u32, 1_u32), (0_u32, 1_u32));
    let step = |(a, b): Sum| {
        let a = a.wrapping_add(b);
        (a, b.wrapping_add(a))
    };
    let pairs = (0..SUMMED_BYTES)
        .step_by(8)
        .chain((FRAME_HEADER_BYTES..frame.len()).step_by(8));
    let mut found = Vec::new();
    for at in pairs.rev() {
        for (at, (a, b)) in [(at, first), (at + 4, second)] {
            let word = read_word(&frame[at..at + 4], big_endian);
            for bit in (0..32).map(|bit| 1_u32 << bit) {
                let change = if word & bit == 0 {
                    bit
                } else {
                    bit.wrapping_neg()
                };
                if (change.wrapping_mul(a), change.wrapping_mul(b)) == off {
                    found.push((at, bit));
                }
            }
        }
        (first, second) = (step(first), step(second));
    }
    found
}

/// SQLite's checksum of a log, over a multiple of 8 bytes.
fn checksum(bytes: &[u8], big_endian: bool, seed: Sum) -> Sum {
    if big_endian {
        sum(bytes, u32::from_be_bytes, seed)
    } else {
        sum(bytes, u32::from_le_bytes, seed)
    }
}

/// One loop for each order of bytes: a start reads through the whole log.
fn sum(bytes: &[u8], word: impl Fn([u8; 4]) -> u32, (mut a, mut b): Sum) -> Sum {
    for [p, q, r, s, t, u, v, w] in bytes.as_chunks::<8>().0 {
        a = a.wrapping_add(word([*p, *q, *r, *s])).wrapping_add(b);
        b = b.wrapping_add(word([*t, *u, *v, *w])).wrapping_add(a);
    }
    (a, b)
}

fn read_word(bytes: &[u8], big_endian: bool) -> u32 {
    let bytes = [bytes[0], bytes[1], bytes[2], bytes[3]];
    if big_endian {
        u32::from_be_bytes(bytes)
    } else {
        u32::from_le_bytes(bytes)
    }
}

fn write_word(bytes: &mut [u8], value: u32, big_endian: bool) {
    bytes.copy_from_slice(&if big_endian {
        value.to_be_bytes()
    } else {
        value.to_le_bytes()
    });
}

/// A number of a header.
pub(super) fn word(bytes: &[u8], at: usize) -> u32 {
    read_word(&bytes[at..at + 4], true)
}

/// The checksum that a frame holds.
fn sum_in(frame: &[u8]) -> Sum {
    (word(frame, 16), word(frame, 20))
}
