//! Reads a write-ahead log as SQLite documents it (<https://www.sqlite.org/fileformat2.html#walformat>).
//! SQLite itself stops at the first bad frame without a word; this tells a torn end from damage.
//!
//! After a power cut only the last group can be torn, because each group is synced before the next one
//! begins. So a good frame right behind a commit that is behind a bad frame proves damage.

use std::{
    collections::HashMap,
    fs::File,
    io::{self, BufReader, Read},
    path::Path,
};

/// The header of a log.
pub(super) const HEADER_BYTES: usize = 32;
/// The header of a frame; its page follows.
pub(super) const FRAME_HEADER_BYTES: usize = 24;
/// The bytes of a frame's header that its checksum covers.
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

    pub fn page_bytes(&self) -> usize {
        word(&self.0, 8) as usize
    }

    pub fn salts(&self) -> &[u8] {
        &self.0[16..24]
    }

    /// The header of a log begun anew, which no index knows yet.
    pub fn renewed(&self) -> Self {
        let mut bytes = self.0;
        let salt = word(&bytes, 16).wrapping_add(1);
        bytes[16..20].copy_from_slice(&salt.to_be_bytes());
        let sum = checksum(&bytes[..24], self.big_endian(), (0, 0));
        bytes[24..28].copy_from_slice(&sum.0.to_be_bytes());
        bytes[28..].copy_from_slice(&sum.1.to_be_bytes());
        Self(bytes)
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

/// The content of a frame's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Frame {
    /// The page that it holds; 0 where the frame is bad, as its number may be as well.
    pub page: u32,
    /// True if it ends a transaction.
    pub commits: bool,
    /// True if its content is known: its checksum was right, or could be put right.
    pub good: bool,
}

/// A log in which a frame is bad: damaged, or only torn at its end.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Damaged {
    pub header: Header,
    pub frames: Vec<Frame>,
    /// The first bad frame, counted from 0.
    pub first_bad: usize,
    /// Frames up to the last commit.
    pub end: usize,
    /// Bad frames whose page a checkpoint had copied into the database file, whole.
    pub copied: HashMap<usize, Vec<u8>>,
    /// True if no power cut can have left it so.
    pub proven: bool,
    /// The index's account of this log, where it can be trusted.
    pub index: Option<Index>,
}

impl Damaged {
    /// Counts the frames that make a committed state of the file, where all before `from` are in the file.
    pub fn sound_frames(&self, from: usize) -> usize {
        let mut sound = from;
        for (at, frame) in self.frames[..self.end].iter().enumerate().skip(from) {
            if !frame.good {
                break;
            }
            if frame.commits {
                sound = at + 1;
            }
        }
        sound
    }
}

/// The account of a log in its index (<https://www.sqlite.org/walformat.html>). It is never synced, and so worth
/// something only until the machine is restarted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Index {
    salts: [u8; 8],
    /// Frames up to the last commit.
    frames: usize,
    /// Frames that are in the database file.
    pub copied: usize,
    /// Frames of which a checkpoint may have begun to copy some.
    pub begun: usize,
}

impl Index {
    /// Reads the index of a log that nobody uses; none where it is not whole.
    pub fn read(path: &Path) -> Option<Self> {
        let mut bytes = [0; 132];
        File::open(path).ok()?.read_exact(&mut bytes).ok()?;
        let number = |at: usize| {
            u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        let is_used = bytes[12] != 0 && bytes[..48] == bytes[48..96];
        let sum = checksum(&bytes[..40], cfg!(target_endian = "big"), (0, 0));
        let index = Self {
            salts: bytes[32..40].try_into().ok()?,
            frames: number(16) as usize,
            copied: number(96) as usize,
            begun: number(128) as usize,
        };
        // All of it is in the file, or nothing. Of a log that was copied in part, not even that part need be there: a
        // checkpoint that a reader holds back leaves out the pages that were written again behind its end. And
        // whoever opened the log since, to look at it, made the index anew, of the frames before the damage.
        let is_known = index.begun == 0 || index.copied == index.frames;
        (is_used && sum == (number(40), number(44)) && is_known).then_some(index)
    }
}

/// A log that cannot be read at all.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Sound or empty.
    Sound,
    /// Damaged, or torn at its end.
    Damaged(Damaged),
    /// Frames without a header that fits.
    Headless,
}

/// Looks through a log, by its index where that is given; `page_of` reads a page of the database file.
pub(super) fn scan(
    log: &Path,
    index: Option<Index>,
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
    let Some(header) = Header::parse(bytes) else {
        let mut behind = Vec::new();
        reader.take(CHUNK_BYTES as u64).read_to_end(&mut behind)?;
        // SQLite syncs the header before it writes a frame.
        let used = behind.iter().any(|byte| *byte != 0);
        return Ok(if used { Found::Headless } else { Found::Sound });
    };
    let mut scan = Scan::new(header);
    let mut frame = vec![0; FRAME_HEADER_BYTES + scan.header.page_bytes()];
    while read_whole(&mut reader, &mut frame)? {
        scan.take(&mut frame, page_of);
    }
    Ok(scan.found(index))
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
    copied: HashMap<usize, Vec<u8>>,
    /// The checksum that the last frame holds.
    seed: Sum,
    /// True if the log was damaged, and not only torn.
    proven: bool,
    /// Frames up to the last commit of this log; behind it older logs may have left others.
    end: usize,
}

impl Scan {
    fn new(header: Header) -> Self {
        Self {
            seed: header.sum(),
            header,
            frames: Vec::new(),
            first_bad: None,
            copied: HashMap::new(),
            proven: false,
            end: 0,
        }
    }

    fn take(&mut self, frame: &mut [u8], page_of: &mut dyn FnMut(u32, usize) -> Option<Vec<u8>>) {
        let at = self.frames.len();
        let ours = frame[8..16] == *self.header.salts();
        let mut good = ours && word(frame, 0) != 0 && self.is_right(frame);
        let behind_commit = self.frames.last().is_some_and(|last| last.commits);
        if good {
            self.proven |= self.first_bad.is_some() && behind_commit;
        } else {
            self.first_bad.get_or_insert(at);
            good = ours && self.take_from_file(frame, page_of);
            if good {
                self.copied.insert(at, frame.to_vec());
            }
        }
        self.seed = sum_in(frame);
        // What a frame of another log says is not of this one.
        let commits = ours && word(frame, 4) != 0;
        self.frames.push(Frame {
            page: if good { word(frame, 0) } else { 0 },
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

    fn found(mut self, index: Option<Index>) -> Found {
        let index = index.filter(|index| index.salts == *self.header.salts());
        if let Some(index) = &index {
            let missing = Frame {
                page: 0,
                commits: false,
                good: false,
            };
            let read = self.frames.len();
            self.frames.resize(index.frames, missing);
            self.end = index.frames;
            if read < self.end {
                self.first_bad.get_or_insert(read);
            }
            self.proven = true;
            self.first_bad = self.first_bad.filter(|first| *first < self.end);
        }
        let Some(first_bad) = self.first_bad else {
            return Found::Sound;
        };
        Found::Damaged(Damaged {
            header: self.header,
            frames: self.frames,
            first_bad,
            end: self.end,
            copied: self.copied,
            proven: self.proven,
            index,
        })
    }
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

/// A number of a header.
pub(super) fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// The checksum that a frame holds.
fn sum_in(frame: &[u8]) -> Sum {
    (word(frame, 16), word(frame, 20))
}
