//! Messages of a reader, in our types.

use super::{
    Capabilities, PowerLevel,
    kinds::{parameter, status},
    wire::{Fields, Message, Result},
};
use crate::epc::{EPC_MAX_BYTES, Epc};
use std::fmt;

/// Entries of a power table that are kept.
const POWERS_MAX: usize = 1024;

/// A reader's answer to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    pub code: u16,
    pub text: String,
}

impl Status {
    pub fn is_success(&self) -> bool {
        self.code == status::SUCCESS
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.text.is_empty() {
            write!(f, "error {}", self.code)
        } else {
            write!(f, "error {}, \"{}\"", self.code, self.text)
        }
    }
}

/// The status of a response or an error message.
pub fn status(body: Fields) -> Result<Option<Status>> {
    let Some(mut fields) = body.find(parameter::LLRP_STATUS)? else {
        return Ok(None);
    };
    let (code, text) = (fields.u16()?, fields.text()?);
    Ok(Some(Status { code, text }))
}

/// Reads the answer to `GET_READER_CAPABILITIES`. Values that a reader leaves out keep their defaults.
pub fn capabilities(body: Fields, version: u8) -> Result<Capabilities> {
    let mut found = Capabilities {
        llrp_version: if version == 1 { "1.0.1" } else { "1.1" },
        channel: 1,
        ..Capabilities::default()
    };
    for parameter in body.parameters() {
        let mut fields = parameter?;
        match fields.kind() {
            parameter::GENERAL_DEVICE_CAPABILITIES => {
                found.antennas = fields.u16()?;
                found.utc_clock = fields.u16()? & 1 << 14 != 0;
                found.manufacturer = manufacturer(fields.u32()?);
                found.model = fields.u32()?;
                found.firmware = fields.text()?;
            }
            parameter::REGULATORY_CAPABILITIES => {
                // Country and standard.
                fields.u32()?;
                if let Some(band) = fields.find(parameter::UHF_BAND_CAPABILITIES)? {
                    uhf_band(band, &mut found)?;
                }
            }
            _ => {}
        }
    }
    Ok(found)
}

fn uhf_band(band: Fields, found: &mut Capabilities) -> Result<()> {
    for parameter in band.parameters() {
        let mut fields = parameter?;
        match fields.kind() {
            parameter::TRANSMIT_POWER_ENTRY if found.powers.len() < POWERS_MAX => {
                let index = fields.u16()?;
                let dbm = f64::from(fields.i16()?) / 100.0;
                found.powers.push(PowerLevel { index, dbm });
            }
            parameter::FREQUENCY_INFORMATION => {
                let hopping = fields.u8()? & 0x80 != 0;
                if let Some(mut table) = fields
                    .find(parameter::FREQUENCY_HOP_TABLE)?
                    .filter(|_| hopping)
                {
                    found.hop_table = u16::from(table.u8()?);
                    found.channel = 0;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// By the private enterprise number that IANA gave.
fn manufacturer(number: u32) -> String {
    let name = match number {
        161 => "Zebra (Motorola)",
        388 => "Zebra (Symbol)",
        1963 => "Intermec",
        17996 => "Alien",
        25882 => "Impinj",
        26554 => "ThingMagic",
        _ => return format!("Manufacturer {number}"),
    };
    name.into()
}

/// A time by a reader's clock, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReaderTime {
    Utc(u64),
    /// Since the reader started.
    Uptime(u64),
}

impl ReaderTime {
    fn parse(mut fields: Fields) -> Result<Option<Self>> {
        Ok(match fields.kind() {
            parameter::UTC_TIMESTAMP | parameter::FIRST_SEEN_UTC | parameter::LAST_SEEN_UTC => {
                Some(Self::Utc(fields.u64()?))
            }
            parameter::UPTIME | parameter::FIRST_SEEN_UPTIME | parameter::LAST_SEEN_UPTIME => {
                Some(Self::Uptime(fields.u64()?))
            }
            _ => None,
        })
    }
}

/// A read as the reader reports it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TagReport {
    pub epc: Epc,
    pub antenna: u16,
    pub rssi_dbm: Option<i8>,
    pub first_seen: Option<ReaderTime>,
    pub last_seen: Option<ReaderTime>,
    pub count: u16,
}

/// Calls `each` with every read of an `RO_ACCESS_REPORT`: `None` for one without an EPC that can be used.
pub fn tag_reports(body: Fields, mut each: impl FnMut(Option<TagReport>)) -> Result<()> {
    for parameter in body.parameters() {
        let fields = parameter?;
        if fields.kind() == parameter::TAG_REPORT_DATA {
            each(tag_report(fields)?);
        }
    }
    Ok(())
}

fn tag_report(data: Fields) -> Result<Option<TagReport>> {
    let mut epc = None;
    let (mut antenna, mut rssi_dbm, mut first_seen, mut last_seen, mut count) =
        (0, None, None, None, 1);
    for parameter in data.parameters() {
        let mut fields = parameter?;
        match fields.kind() {
            parameter::EPC_96 => epc = Epc::new(fields.take(12)?),
            parameter::EPC_DATA => epc = epc_data(fields)?,
            parameter::ANTENNA_ID => antenna = fields.u16()?,
            parameter::PEAK_RSSI => rssi_dbm = Some(fields.i8()?),
            parameter::FIRST_SEEN_UTC | parameter::FIRST_SEEN_UPTIME => {
                first_seen = ReaderTime::parse(fields)?;
            }
            parameter::LAST_SEEN_UTC | parameter::LAST_SEEN_UPTIME => {
                last_seen = ReaderTime::parse(fields)?;
            }
            parameter::TAG_SEEN_COUNT => count = fields.u16()?,
            _ => {}
        }
    }
    Ok(epc.map(|epc| TagReport {
        epc,
        antenna,
        rssi_dbm,
        first_seen,
        last_seen,
        count,
    }))
}

/// An EPC with its length in bits; bits that do not fill the last byte are followed by zeros.
fn epc_data(mut fields: Fields) -> Result<Option<Epc>> {
    let bits = usize::from(fields.u16()?);
    let bytes = fields.take(bits.div_ceil(8))?;
    if bits.is_multiple_of(8) {
        return Ok(Epc::new(bytes));
    }
    let mut padded = [0; EPC_MAX_BYTES];
    let Some(padded) = padded.get_mut(..bytes.len()) else {
        return Ok(None);
    };
    padded.copy_from_slice(bytes);
    if let Some(last) = padded.last_mut() {
        *last &= 0xff << (8 - bits % 8);
    }
    Ok(Epc::new(padded))
}

/// The content of a `READER_EVENT_NOTIFICATION`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReaderEvent {
    /// 0 for success.
    ConnectionAttempt(u16),
    ConnectionClosed,
    Antenna {
        antenna: u16,
        connected: bool,
    },
    RoSpecEnded(u32),
    BufferFull(u8),
    BufferOverflow,
    Exception(String),
}

/// Calls `each` with the events of a `READER_EVENT_NOTIFICATION` that we know; gives the reader's time.
pub fn reader_events(
    body: Fields,
    mut each: impl FnMut(ReaderEvent),
) -> Result<Option<ReaderTime>> {
    let mut time = None;
    let Some(data) = body.find(parameter::READER_EVENT_NOTIFICATION_DATA)? else {
        return Ok(None);
    };
    for parameter in data.parameters() {
        let mut fields = parameter?;
        match fields.kind() {
            parameter::UTC_TIMESTAMP | parameter::UPTIME => time = ReaderTime::parse(fields)?,
            parameter::CONNECTION_ATTEMPT => each(ReaderEvent::ConnectionAttempt(fields.u16()?)),
            parameter::CONNECTION_CLOSE => each(ReaderEvent::ConnectionClosed),
            parameter::ANTENNA_EVENT => {
                let connected = fields.u8()? == 1;
                each(ReaderEvent::Antenna {
                    antenna: fields.u16()?,
                    connected,
                });
            }
            parameter::RO_SPEC_EVENT => {
                let ended = fields.u8()? == 1;
                let id = fields.u32()?;
                if ended {
                    each(ReaderEvent::RoSpecEnded(id));
                }
            }
            parameter::REPORT_BUFFER_LEVEL_WARNING => each(ReaderEvent::BufferFull(fields.u8()?)),
            parameter::REPORT_BUFFER_OVERFLOW => each(ReaderEvent::BufferOverflow),
            parameter::READER_EXCEPTION => each(ReaderEvent::Exception(fields.text()?)),
            _ => {}
        }
    }
    Ok(time)
}

/// Calls `each` with the antennas of a `GET_READER_CONFIG_RESPONSE` and whether each is connected.
pub fn antennas(body: Fields, mut each: impl FnMut(u16, bool)) -> Result<()> {
    for parameter in body.parameters() {
        let mut fields = parameter?;
        if fields.kind() == parameter::ANTENNA_PROPERTIES {
            let connected = fields.u8()? & 0x80 != 0;
            each(fields.u16()?, connected);
        }
    }
    Ok(())
}

/// Decodes a message as each of the kinds above.
pub fn anything(message: &Message) {
    let body = Fields::new(message.header.kind, &message.body);
    let _ = status(body);
    let _ = capabilities(body, message.header.version);
    let _ = tag_reports(body, |_| ());
    let _ = reader_events(body, |_| ());
    let _ = antennas(body, |_, _| ());
}
