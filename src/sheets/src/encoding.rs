//! The bytes of a text: one look at all of those of a file, and the encoding of a text that is not
//! UTF-8, recognised by its letters, or named by somebody and then checked against all of the text.
//! Short lists may be recognised wrongly, so people see what was recognised and can name another.

use crate::error::{Error, Kind, Result};
use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Decoder, DecoderResult, Encoding, MACINTOSH, UTF_8, UTF_16LE, WINDOWS_1252};
use sha2::{Digest, Sha256};
use std::{fs::File, io::Read, path::Path};

/// The encodings that are offered; others can be named, too.
pub const OFFERED: [&str; 10] = [
    "UTF-8",
    "Windows-1252",
    "Windows-1250",
    "ISO-8859-2",
    "ISO-8859-15",
    "Windows-1251",
    "Windows-1253",
    "Windows-1254",
    "Windows-1257",
    "macintosh",
];
/// The amount of text with letters beyond ASCII that is looked at to recognise an encoding.
const LOOKED_AT_BYTES: usize = 1024 * 1024;
const PIECE_BYTES: usize = 128 * 1024;
/// The part of the name of an unknown encoding that is told.
const NAME_SHOWN_CHARS: usize = 40;
/// The part of the beginning that is kept.
const HEAD_BYTES: usize = 64 * 1024;

/// The findings of one look at all bytes of a file.
pub(super) struct Scan {
    pub sha256: [u8; 32],
    pub head: Vec<u8>,
    /// Set where it has no control characters that no text has.
    pub is_text: bool,
    /// The line of the first byte that is not UTF-8; none where all of it is.
    pub not_utf_8_in: Option<usize>,
    /// Letters past ASCII that are UTF-8, and bytes that are not.
    letters: usize,
    strays: usize,
}

impl Scan {
    pub(super) fn of(path: &Path) -> Result<Self> {
        let mut digest = Sha256::new();
        let mut scan = Self {
            sha256: [0; 32],
            head: Vec::new(),
            is_text: true,
            not_utf_8_in: None,
            letters: 0,
            strays: 0,
        };
        let mut text = Text::new(UTF_8);
        each_piece(path, |piece| {
            digest.update(piece);
            if scan.head.len() < HEAD_BYTES {
                scan.head.extend_from_slice(piece);
            }
            scan.is_text &= piece.iter().all(|byte| is_of_text(*byte));
            text.read(piece, |letters, line| {
                if let Some(letters) = letters {
                    scan.letters += letters.bytes().filter(|byte| *byte >= 0xc0).count();
                } else {
                    scan.strays += 1;
                    scan.not_utf_8_in.get_or_insert(line);
                }
            });
            Ok(true)
        })?;
        scan.sha256 = digest.finalize().into();
        Ok(scan)
    }

    /// The encoding of the text, where nobody named it.
    pub(super) fn encoding(&self, path: &Path) -> Result<&'static Encoding> {
        if self.head.starts_with(b"\xff\xfe") || self.head.starts_with(b"\xfe\xff") {
            // The byte order mark decides which of the two.
            return Ok(UTF_16LE);
        }
        let Some(line) = self.not_utf_8_in else {
            return Ok(UTF_8);
        };
        // In another encoding hardly any letter would look like UTF-8.
        if self.letters > self.strays || self.head.starts_with(b"\xef\xbb\xbf") {
            return Err(Error::unreadable(format!(
                "is UTF-8, but for a byte in line {line}; save it anew as UTF-8 (in a spreadsheet: \"CSV UTF-8\")"
            )));
        }
        if self.is_text {
            return recognised(path);
        }
        Err(Error::unreadable(format!(
            "is no text: a byte in line {line} is neither UTF-8 nor a letter of another encoding; save it as UTF-8 (in a spreadsheet: \"CSV UTF-8\")"
        )))
    }
}

fn is_of_text(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c | 0x20..=0x7e | 0x80..)
}

/// Gives a file to `take` piece by piece, at last an empty one, until that is false.
fn each_piece(path: &Path, mut take: impl FnMut(&[u8]) -> Result<bool>) -> Result<()> {
    let mut file = File::open(path).map_err(Error::cause)?;
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let read = match file.read(&mut piece) {
            Ok(read) => read,
            Err(cause) if cause.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(cause) => return Err(Error::cause(cause)),
        };
        if !take(&piece[..read])? || read == 0 {
            return Ok(());
        }
    }
}

/// A text as it is decoded.
struct Text {
    decoder: Decoder,
    decoded: String,
    line: usize,
}

impl Text {
    fn new(encoding: &'static Encoding) -> Self {
        Self {
            decoder: encoding.new_decoder(),
            decoded: String::with_capacity(PIECE_BYTES),
            line: 1,
        }
    }

    /// Gives the text of the next bytes to `take`, or nothing in the place of bytes that are none in this
    /// encoding, with the line in which each ends. No bytes are the end.
    fn read(&mut self, mut bytes: &[u8], mut take: impl FnMut(Option<&str>, usize)) {
        let is_end = bytes.is_empty();
        loop {
            self.decoded.clear();
            let (result, used) =
                self.decoder
                    .decode_to_string_without_replacement(bytes, &mut self.decoded, is_end);
            bytes = &bytes[used..];
            self.line += self.decoded.bytes().filter(|byte| *byte == b'\n').count();
            take(Some(&self.decoded), self.line);
            match result {
                DecoderResult::Malformed(..) => take(None, self.line),
                DecoderResult::OutputFull => {}
                DecoderResult::InputEmpty => return,
            }
        }
    }
}

/// The encoding of a name, such as `windows-1250`.
pub(super) fn named(name: &str) -> Result<&'static Encoding> {
    Encoding::for_label_no_replacement(name.as_bytes()).ok_or_else(|| {
        let name: String = name.chars().take(NAME_SHOWN_CHARS).collect();
        Error::new(
            Kind::NamedEncoding,
            format!(
                "\"{name}\" is unknown; there are {} and others",
                OFFERED.join(", ")
            ),
        )
    })
}

/// The name of an encoding, as people know it.
pub(super) fn name_of(encoding: &'static Encoding) -> String {
    match encoding.name().strip_prefix("windows-") {
        Some(number) => format!("Windows-{number}"),
        None if encoding.name().starts_with("UTF-16") => "UTF-16".to_owned(),
        None => encoding.name().to_owned(),
    }
}

/// The encoding that the letters of a text are most likely in.
fn recognised(path: &Path) -> Result<&'static Encoding> {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    let mut looked_at = 0;
    each_piece(path, |piece| {
        if !piece.is_ascii() {
            looked_at += piece.len();
            detector.feed(piece, false);
        }
        Ok(looked_at < LOOKED_AT_BYTES)
    })?;
    detector.feed(b"", true);
    let guess = detector.guess(None, Utf8Detection::Deny);
    // The detector does not know the one of old Macs.
    if odd_letters(path, guess)? > 0 && odd_letters(path, MACINTOSH)? == 0 {
        return Ok(MACINTOSH);
    }
    if check(path, guess).is_ok() {
        return Ok(guess);
    }
    check(path, WINDOWS_1252).map(|()| WINDOWS_1252)
}

/// Counts what no word has in the text that is looked at: signs between letters, and capital letters beside small ones,
/// where they are not ASCII.
fn odd_letters(path: &Path, encoding: &'static Encoding) -> Result<usize> {
    let mut text = Text::new(encoding);
    let (mut odd, mut looked_at, mut last) = (0, 0, [' '; 2]);
    each_piece(path, |piece| {
        looked_at += piece.len();
        text.read(piece, |letters, _| {
            let Some(letters) = letters else {
                odd += 1;
                return;
            };
            for letter in letters.chars() {
                odd += usize::from(is_odd([last[0], last[1], letter]));
                last = [last[1], letter];
            }
        });
        Ok(looked_at < LOOKED_AT_BYTES)
    })?;
    Ok(odd)
}

fn is_odd([before, letter, after]: [char; 3]) -> bool {
    if letter.is_ascii() || matches!(letter, '\u{2018}' | '\u{2019}') && before.is_uppercase() {
        return false;
    }
    let is_within = before.is_alphabetic() || after.is_alphabetic();
    let is_inside = before.is_alphabetic() && after.is_alphabetic();
    match letter {
        letter if !letter.is_alphabetic() => {
            is_inside && letter != '\u{2019}' || letter.is_control()
        }
        letter if letter.is_uppercase() => {
            is_within && (before.is_lowercase() || is_inside && after.is_lowercase())
        }
        _ => after.is_uppercase(),
    }
}

/// Checks that all of a text can be read in an encoding.
pub(super) fn check(path: &Path, encoding: &'static Encoding) -> Result<()> {
    let mut text = Text::new(encoding);
    each_piece(path, |piece| {
        let mut fault = None;
        text.read(piece, |letters, line| {
            // Where an encoding has no letter for a byte, a control character stands for it.
            let stray = |letter: char| ('\u{80}'..='\u{9f}').contains(&letter);
            let after = match letters {
                None => Some(""),
                Some(letters) => letters.find(stray).map(|at| &letters[at..]),
            };
            if let Some(after) = after {
                fault.get_or_insert(line - after.matches('\n').count());
            }
        });
        fault.map_or(Ok(true), |line| Err(not_in(encoding, line)))
    })
}

fn not_in(encoding: &'static Encoding, line: usize) -> Error {
    let is_utf_8 = encoding == UTF_8;
    Error::new(
        Kind::NotInEncoding { is_utf_8 },
        format!(
            "is not {}: line {line} has a byte that is no letter in it",
            name_of(encoding)
        ),
    )
}
