//! The `ROSpec` that a client adds, as far as the emulator follows it.

use crate::{
    kinds::{content, parameter},
    wire::{Fields, Message, Result},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmulatedRoSpec {
    pub id: u32,
    /// Empty for all.
    pub antennas: Vec<u16>,
    pub sets_power: bool,
    /// Reads in a report; `None` as the reader is set up.
    pub every: Option<u16>,
    /// Bits of [`content`].
    pub content: u16,
}

/// The `ROSpec` of `ADD_ROSPEC`; `None` if there is none.
pub fn decode(body: Fields) -> Result<Option<EmulatedRoSpec>> {
    let Some(mut fields) = body.find(parameter::RO_SPEC)? else {
        return Ok(None);
    };
    let mut spec = EmulatedRoSpec {
        id: fields.u32()?,
        antennas: Vec::new(),
        sets_power: false,
        every: None,
        content: content::ANTENNA_ID | content::PEAK_RSSI | content::LAST_SEEN,
    };
    // Priority and state.
    fields.u16()?;
    for parameter in fields.parameters() {
        let mut fields = parameter?;
        match fields.kind() {
            parameter::AI_SPEC => {
                for _ in 0..fields.u16()? {
                    spec.antennas.push(fields.u16()?);
                }
                spec.sets_power |= sets_power(fields)?;
            }
            parameter::RO_REPORT_SPEC => {
                fields.u8()?;
                spec.every = Some(fields.u16()?.max(1));
                if let Some(mut selector) = fields.find(parameter::TAG_REPORT_CONTENT_SELECTOR)? {
                    spec.content = selector.u16()?;
                }
            }
            _ => {}
        }
    }
    if spec.antennas.contains(&0) {
        spec.antennas.clear();
    }
    Ok(Some(spec))
}

fn sets_power(inventory: Fields) -> Result<bool> {
    let Some(mut spec) = inventory.find(parameter::INVENTORY_PARAMETER_SPEC)? else {
        return Ok(false);
    };
    // Number and protocol.
    spec.take(3)?;
    for parameter in spec.parameters() {
        let mut fields = parameter?;
        if fields.kind() == parameter::ANTENNA_CONFIGURATION {
            fields.u16()?;
            if fields.find(parameter::RF_TRANSMITTER)?.is_some() {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// The period of `SET_READER_CONFIG`'s keepalives in milliseconds: 0 for none, `None` to leave them.
pub fn keepalive_period(mut body: Fields) -> Result<Option<u32>> {
    body.u8()?;
    let Some(mut spec) = body.find(parameter::KEEPALIVE_SPEC)? else {
        return Ok(None);
    };
    let periodic = spec.u8()? == 1;
    let period_ms = spec.u32()?;
    Ok(Some(if periodic { period_ms } else { 0 }))
}

/// Decodes a message as each of the kinds above.
pub fn decode_anything(message: &Message) {
    let body = Fields::new(message.header.kind, &message.body);
    let _ = decode(body);
    let _ = keepalive_period(body);
}
