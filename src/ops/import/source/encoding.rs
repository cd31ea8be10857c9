//! Which encoding a text is in that is not UTF-8: recognised by its letters, or named by somebody, and
//! then checked against all of the text. Short lists may be recognised wrongly, so people see what was
//! recognised and can name another.

use crate::types::{
    error::{Error, Result},
    text::shortened,
};
use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{DecoderResult, Encoding, UTF_8, WINDOWS_1252};
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
/// How much text with letters beyond ASCII is looked at to recognise an encoding.
const LOOKED_AT_BYTES: usize = 1024 * 1024;
const PIECE_BYTES: usize = 16 * 1024;

/// The encoding of a name, such as `windows-1250`.
pub(super) fn named(name: &str) -> Result<&'static Encoding> {
    Encoding::for_label_no_replacement(name.as_bytes()).ok_or_else(|| {
        Error::invalid(format!(
            "--encoding: \"{}\" is unknown; there are {} and others",
            shortened(name),
            OFFERED.join(", ")
        ))
    })
}

/// What an encoding is called.
pub(super) fn name_of(encoding: &'static Encoding) -> String {
    match encoding.name().strip_prefix("windows-") {
        Some(number) => format!("Windows-{number}"),
        None if encoding.name().starts_with("UTF-16") => "UTF-16".to_owned(),
        None => encoding.name().to_owned(),
    }
}

/// The encoding that the letters of a text are most likely in.
pub(super) fn recognised(path: &Path) -> Result<&'static Encoding> {
    let mut file = File::open(path).map_err(Error::invalid_cause)?;
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    let (mut piece, mut looked_at) = (vec![0; PIECE_BYTES], 0);
    while looked_at < LOOKED_AT_BYTES {
        let read = file.read(&mut piece).map_err(Error::invalid_cause)?;
        if read == 0 {
            break;
        }
        if !piece[..read].is_ascii() {
            looked_at += read;
            detector.feed(&piece[..read], false);
        }
    }
    detector.feed(b"", true);
    let guess = detector.guess(None, Utf8Detection::Deny);
    if check(path, guess).is_ok() {
        return Ok(guess);
    }
    check(path, WINDOWS_1252).map(|()| WINDOWS_1252)
}

/// Checks that all of a text can be read in an encoding.
pub(super) fn check(path: &Path, encoding: &'static Encoding) -> Result<()> {
    let mut file = File::open(path).map_err(Error::invalid_cause)?;
    let mut decoder = encoding.new_decoder();
    let mut piece = vec![0; PIECE_BYTES];
    // A byte becomes three at the most; what is left over is decoded in the next turn.
    let mut text = String::with_capacity(PIECE_BYTES);
    let mut line = 1;
    loop {
        let read = file.read(&mut piece).map_err(Error::invalid_cause)?;
        let mut rest = &piece[..read];
        loop {
            text.clear();
            let (result, used) =
                decoder.decode_to_string_without_replacement(rest, &mut text, read == 0);
            rest = &rest[used..];
            // Where an encoding has no letter for a byte, a control character stands for it.
            let is_stray = |letter: char| ('\u{80}'..='\u{9f}').contains(&letter);
            let until = text.find(is_stray).unwrap_or(text.len());
            line += text[..until].matches('\n').count();
            match result {
                DecoderResult::Malformed(..) => return Err(not_in(encoding, line)),
                _ if until < text.len() => return Err(not_in(encoding, line)),
                DecoderResult::OutputFull => {}
                DecoderResult::InputEmpty => break,
            }
        }
        if read == 0 {
            return Ok(());
        }
    }
}

fn not_in(encoding: &'static Encoding, line: usize) -> Error {
    let name = name_of(encoding);
    let told = format!("is not {name}: line {line} has a byte that is no letter in it");
    Error::invalid(if encoding == UTF_8 {
        format!("{told}; name another with --encoding")
    } else {
        format!(
            "{told}; name another with --encoding, or save it as UTF-8 (in a spreadsheet: \"CSV UTF-8\")"
        )
    })
}
