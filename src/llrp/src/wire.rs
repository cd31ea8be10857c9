//! Messages and parameters as bytes. Every length is checked before it is used, and nothing recurses: a
//! decoder descends only into parameters that it knows, at most five levels, and skips the rest.

use super::kinds::parameter;
use bytes::{Buf, BytesMut};
use std::fmt;

/// The longest message, header included. Longer ones end the connection.
pub const MESSAGE_MAX: usize = 1 << 20;
pub const HEADER: usize = 10;
/// The longest text that is kept of a message, in characters.
pub const TEXT_MAX: usize = 200;
/// LLRP 1.0.1; readers with 1.1 take it until another version is negotiated.
const VERSION: u16 = 1;

/// The reason why bytes are not LLRP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WireError {
    /// The length field of a message, in bytes.
    MessageLength(u32),
    /// A version that no LLRP has.
    Version(u8),
    /// A message or parameter that ends early, by its type.
    Truncated(u16),
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MessageLength(length) => {
                write!(
                    f,
                    "The reader sent a message of {length} bytes; {HEADER} to {MESSAGE_MAX} are allowed."
                )
            }
            Self::Version(version) => write!(
                f,
                "The answer is not LLRP: version {version} does not exist."
            ),
            Self::Truncated(kind) => write!(
                f,
                "The reader sent malformed LLRP: type {kind} has the wrong length."
            ),
        }
    }
}

impl std::error::Error for WireError {}

pub type Result<T> = std::result::Result<T, WireError>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    pub version: u8,
    pub kind: u16,
    pub id: u32,
}

/// A whole message: its header and the bytes after it.
#[derive(Debug)]
pub struct Message {
    pub header: Header,
    pub body: BytesMut,
}

/// Takes the first message off a buffer, or `None` as long as it is not complete.
///
/// # Errors
/// The stream is not LLRP. Whatever follows cannot be read.
pub fn take_message(buffer: &mut BytesMut) -> Result<Option<Message>> {
    let mut fields = Fields::new(0, buffer);
    let Ok((first, length, id)) = fields.head() else {
        return Ok(None);
    };
    // Three reserved bits, three of the version, ten of the type.
    let version = (first >> 10 & 7) as u8;
    if !(1..=3).contains(&version) {
        return Err(WireError::Version(version));
    }
    let bytes = usize::try_from(length).unwrap_or(usize::MAX);
    if !(HEADER..=MESSAGE_MAX).contains(&bytes) {
        return Err(WireError::MessageLength(length));
    }
    if buffer.len() < bytes {
        return Ok(None);
    }
    let mut body = buffer.split_to(bytes);
    body.advance(HEADER);
    let kind = first & 0x3ff;
    Ok(Some(Message {
        header: Header { version, kind, id },
        body,
    }))
}

/// Reads the fields of one message or parameter, one after the other.
#[derive(Debug, Clone, Copy)]
pub struct Fields<'a> {
    kind: u16,
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    /// `kind` is named when the bytes end early.
    pub fn new(kind: u16, bytes: &'a [u8]) -> Self {
        Self { kind, rest: bytes }
    }

    fn head(&mut self) -> Result<(u16, u32, u32)> {
        Ok((self.u16()?, self.u32()?, self.u32()?))
    }

    pub fn kind(&self) -> u16 {
        self.kind
    }

    pub fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self
            .rest
            .split_at_checked(count)
            .ok_or(WireError::Truncated(self.kind))?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (taken, rest) = self
            .rest
            .split_first_chunk()
            .ok_or(WireError::Truncated(self.kind))?;
        self.rest = rest;
        Ok(*taken)
    }

    pub fn u8(&mut self) -> Result<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub fn i8(&mut self) -> Result<i8> {
        self.array().map(i8::from_be_bytes)
    }

    pub fn u16(&mut self) -> Result<u16> {
        self.array().map(u16::from_be_bytes)
    }

    pub fn i16(&mut self) -> Result<i16> {
        self.array().map(i16::from_be_bytes)
    }

    pub fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_be_bytes)
    }

    pub fn u64(&mut self) -> Result<u64> {
        self.array().map(u64::from_be_bytes)
    }

    /// The first [`TEXT_MAX`] characters of a text with its length before it, without control characters.
    pub fn text(&mut self) -> Result<String> {
        let length = self.u16()?;
        let bytes = self.take(usize::from(length))?;
        // A character has up to four bytes.
        let bytes = &bytes[..bytes.len().min(4 * TEXT_MAX)];
        let text = String::from_utf8_lossy(bytes);
        Ok(text
            .chars()
            .filter(|letter| !letter.is_control())
            .take(TEXT_MAX)
            .collect())
    }

    /// The parameters after the fields read so far.
    pub fn parameters(self) -> Parameters<'a> {
        Parameters { fields: self }
    }

    /// The first parameter of a type among the rest.
    pub fn find(self, kind: u16) -> Result<Option<Fields<'a>>> {
        for parameter in self.parameters() {
            let parameter = parameter?;
            if parameter.kind == kind {
                return Ok(Some(parameter));
            }
        }
        Ok(None)
    }
}

/// The parameters of a message or parameter, each as its fields. Ends after an error, and where a parameter
/// of the short form is unknown: its length is unknown, too.
pub struct Parameters<'a> {
    fields: Fields<'a>,
}

impl<'a> Parameters<'a> {
    fn parse(&mut self, first: u8) -> Result<Option<Fields<'a>>> {
        if first & 0x80 != 0 {
            let kind = u16::from(first & 0x7f);
            self.fields.u8()?;
            let Some(length) = short_length(kind) else {
                return Ok(None);
            };
            return Ok(Some(Fields::new(kind, self.fields.take(length)?)));
        }
        let kind = self.fields.u16()? & 0x3ff;
        let length = usize::from(self.fields.u16()?);
        let body = length
            .checked_sub(4)
            .and_then(|length| self.fields.take(length).ok());
        Ok(Some(Fields::new(
            kind,
            body.ok_or(WireError::Truncated(kind))?,
        )))
    }
}

impl<'a> Iterator for Parameters<'a> {
    type Item = Result<Fields<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        let first = *self.fields.rest.first()?;
        let parsed = self.parse(first).transpose();
        if !matches!(parsed, Some(Ok(_))) {
            self.fields.rest = &[];
        }
        parsed
    }
}

/// The bytes after the type of a parameter of the short form.
fn short_length(kind: u16) -> Option<usize> {
    Some(match kind {
        parameter::PEAK_RSSI => 1,
        parameter::ANTENNA_ID | parameter::TAG_SEEN_COUNT => 2,
        parameter::FIRST_SEEN_UTC
        | parameter::FIRST_SEEN_UPTIME
        | parameter::LAST_SEEN_UTC
        | parameter::LAST_SEEN_UPTIME => 8,
        parameter::EPC_96 => 12,
        // Channel, inventory parameter spec, CRC, PC, spec index, operations, and XPC words.
        7 | 10..=12 | 14 | 15 | 17 | 19 | 20 => 2,
        // ROSpec, AccessSpec and singulation details.
        9 | 16 | 18 => 4,
        _ => return None,
    })
}

/// Writes messages, one after the other. Lengths are filled in when a message or parameter ends.
#[derive(Debug, Default)]
pub struct Encoder {
    bytes: Vec<u8>,
}

impl Encoder {
    pub fn message(&mut self, kind: u16, id: u32, body: impl FnOnce(&mut Self)) -> &mut Self {
        let start = self.bytes.len();
        self.u16(VERSION << 10 | kind).u32(0).u32(id);
        body(self);
        let length = u32::try_from(self.bytes.len() - start).unwrap_or(u32::MAX);
        self.bytes[start + 2..start + 6].copy_from_slice(&length.to_be_bytes());
        self
    }

    /// A parameter with a length.
    pub fn tlv(&mut self, kind: u16, body: impl FnOnce(&mut Self)) -> &mut Self {
        let start = self.bytes.len();
        self.u16(kind).u16(0);
        body(self);
        let length = u16::try_from(self.bytes.len() - start).unwrap_or(u16::MAX);
        self.bytes[start + 2..start + 4].copy_from_slice(&length.to_be_bytes());
        self
    }

    /// The start of a parameter of the short form: one below 128.
    pub fn tv(&mut self, kind: u16) -> &mut Self {
        self.u8(0x80 | (kind & 0x7f) as u8)
    }

    pub fn u8(&mut self, value: u8) -> &mut Self {
        self.raw(&[value])
    }

    pub fn u16(&mut self, value: u16) -> &mut Self {
        self.raw(&value.to_be_bytes())
    }

    pub fn u32(&mut self, value: u32) -> &mut Self {
        self.raw(&value.to_be_bytes())
    }

    pub fn u64(&mut self, value: u64) -> &mut Self {
        self.raw(&value.to_be_bytes())
    }

    /// A text with its length before it.
    pub fn text(&mut self, text: &str) -> &mut Self {
        self.u16(u16::try_from(text.len()).unwrap_or(u16::MAX))
            .raw(text.as_bytes())
    }

    pub fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.bytes.extend_from_slice(bytes);
        self
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }
}
