//! One look at all bytes of a file: its digest, its beginning, and which encoding it can be in.

use crate::types::error::{Error, Result};
use sha2::{Digest, Sha256};
use std::io::Read;

/// How much of the beginning is kept.
const HEAD_BYTES: usize = 64 * 1024;

/// What a file is made of.
pub(super) struct Scan {
    pub sha256: [u8; 32],
    pub head: Vec<u8>,
    /// Every byte of it is UTF-8.
    pub utf_8: bool,
    /// It has no control characters that no text has.
    pub is_text: bool,
    /// Where it stops being UTF-8, in bytes, and in which line.
    pub not_utf_8_at: u64,
    pub not_utf_8_in: u64,
    /// Letters past ASCII that are UTF-8, and bytes that are not.
    letters: u64,
    strays: u64,
}

impl Scan {
    pub(super) fn of(file: &mut impl Read) -> Result<Self> {
        let mut digest = Sha256::new();
        let mut scan = Self {
            sha256: [0; 32],
            head: Vec::new(),
            utf_8: true,
            is_text: true,
            not_utf_8_at: 0,
            not_utf_8_in: 1,
            letters: 0,
            strays: 0,
        };
        let mut buffer = vec![0; 128 * 1024];
        // The start of a letter that the next bytes complete.
        let mut kept = 0;
        loop {
            let read = match file.read(&mut buffer[kept..]) {
                Ok(read) => read,
                Err(cause) if cause.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(cause) => return Err(Error::invalid_cause(cause)),
            };
            let fresh = &buffer[kept..kept + read];
            digest.update(fresh);
            if scan.head.len() < HEAD_BYTES {
                scan.head.extend_from_slice(fresh);
            }
            scan.is_text &= fresh.iter().all(|byte| is_of_text(*byte));
            if read == 0 {
                scan.utf_8 &= kept == 0;
                scan.sha256 = digest.finalize().into();
                return Ok(scan);
            }
            kept = scan.look_at(&mut buffer, kept + read);
        }
    }

    /// Looks at so many bytes; how many of them wait for more, moved to the front.
    fn look_at(&mut self, buffer: &mut [u8], length: usize) -> usize {
        let mut from = 0;
        while let Err(cause) = std::str::from_utf8(&buffer[from..length]) {
            let until = from + cause.valid_up_to();
            self.pass(&buffer[from..until]);
            let Some(strays) = cause.error_len() else {
                buffer.copy_within(until..length, 0);
                return length - until;
            };
            self.utf_8 = false;
            self.strays += 1;
            from = until + strays;
        }
        self.pass(&buffer[from..length]);
        0
    }

    /// Counts what is UTF-8.
    fn pass(&mut self, text: &[u8]) {
        let count = |is: fn(&u8) -> bool| text.iter().filter(|byte| is(byte)).count() as u64;
        self.letters += count(|byte| *byte >= 0xc0);
        if self.utf_8 {
            self.not_utf_8_at += text.len() as u64;
            self.not_utf_8_in += count(|byte| *byte == b'\n');
        }
    }

    /// Whether it is UTF-8 but for a few bytes: in another encoding hardly any letter would look like it.
    pub(super) fn is_nearly_utf_8(&self) -> bool {
        !self.utf_8 && (self.letters > self.strays || self.head.starts_with(b"\xef\xbb\xbf"))
    }

    /// Whether it begins with a byte order mark of UTF-16.
    pub(super) fn is_utf_16(&self) -> bool {
        self.head.starts_with(b"\xff\xfe") || self.head.starts_with(b"\xfe\xff")
    }
}

fn is_of_text(byte: u8) -> bool {
    match byte {
        b'\t' | b'\n' | b'\r' | 0x0c => true,
        0..=0x1f | 0x7f => false,
        _ => true,
    }
}
