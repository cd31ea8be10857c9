//! Messages that the emulator sends.

use super::{EmulatedRead, EmulatorOptions, ro_spec::EmulatedRoSpec};
use crate::{
    decode::{ReaderTime, TagReport},
    kinds::{C1G2, content, message, parameter, status},
    wire::Encoder,
};

/// The powers it offers: 10 to 30 dBm in steps of a quarter.
const POWERS: std::ops::RangeInclusive<u16> = 1..=81;
const POWER_MIN_CDBM: u16 = 1000;
const POWER_STEP_CDBM: u16 = 25;
/// Nobody has this private enterprise number.
const MANUFACTURER: u32 = 0;

pub fn status(body: &mut Encoder, code: u16, text: &str) {
    body.tlv(parameter::LLRP_STATUS, |status| {
        status.u16(code).text(text);
    });
}

pub fn capabilities(body: &mut Encoder, options: &EmulatorOptions) {
    status(body, status::SUCCESS, "");
    body.tlv(parameter::GENERAL_DEVICE_CAPABILITIES, |device| {
        let utc_clock = if options.utc_clock { 1 << 14 } else { 0 };
        device
            .u16(options.antennas)
            .u16(utc_clock)
            .u32(MANUFACTURER)
            .u32(1)
            .text(&options.firmware);
        device.tlv(parameter::RECEIVE_SENSITIVITY_ENTRY, |entry| {
            entry.u16(1).u16(0);
        });
        device.tlv(parameter::GPIO_CAPABILITIES, |gpio| {
            gpio.u16(0).u16(0);
        });
        for antenna in 1..=options.antennas {
            device.tlv(parameter::ANTENNA_AIR_PROTOCOL, |protocols| {
                protocols.u16(antenna).u16(1).u8(C1G2);
            });
        }
    });
    body.tlv(parameter::LLRP_CAPABILITIES, |capabilities| {
        // No surveys, no held reports; one priority, one ROSpec, one AISpec, no AccessSpecs.
        capabilities
            .u8(0)
            .u8(1)
            .u16(0)
            .u32(1)
            .u32(1)
            .u32(1)
            .u32(0)
            .u32(0);
    });
    body.tlv(parameter::REGULATORY_CAPABILITIES, |regulation| {
        // No country, no standard.
        regulation
            .u16(0)
            .u16(0)
            .tlv(parameter::UHF_BAND_CAPABILITIES, |band| {
                for index in POWERS {
                    band.tlv(parameter::TRANSMIT_POWER_ENTRY, |entry| {
                        entry
                            .u16(index)
                            .u16(POWER_MIN_CDBM + (index - 1) * POWER_STEP_CDBM);
                    });
                }
                band.tlv(parameter::FREQUENCY_INFORMATION, |frequencies| {
                    frequencies
                        .u8(0x80)
                        .tlv(parameter::FREQUENCY_HOP_TABLE, |table| {
                            table.u8(1).u8(0).u16(1).u32(866_300);
                        });
                });
                band.tlv(parameter::C1G2_MODE_TABLE, |table| {
                    table.tlv(parameter::C1G2_MODE_ENTRY, |mode| {
                        // Mode 1: DR 64/3, Miller 4, PR-ASK, dense reader, 274 kb/s, PIE 1.5, Tari 25 µs.
                        mode.u32(1).u8(0x80).u8(2).u8(0).u8(3);
                        mode.u32(274_000).u32(1500).u32(25_000).u32(25_000).u32(0);
                    });
                });
            });
    });
}

pub fn antennas(body: &mut Encoder, antennas: u16, disconnected: &[u16]) {
    status(body, status::SUCCESS, "");
    for antenna in 1..=antennas {
        let connected = if disconnected.contains(&antenna) {
            0
        } else {
            0x80
        };
        body.tlv(parameter::ANTENNA_PROPERTIES, |properties| {
            properties.u8(connected).u16(antenna).u16(0);
        });
    }
}

/// A `READER_EVENT_NOTIFICATION` with one event.
pub fn event(out: &mut Encoder, time: ReaderTime, kind: u16, fields: impl FnOnce(&mut Encoder)) {
    out.message(message::READER_EVENT_NOTIFICATION, 0, |body| {
        body.tlv(parameter::READER_EVENT_NOTIFICATION_DATA, |data| {
            let (clock, us) = match time {
                ReaderTime::Utc(us) => (parameter::UTC_TIMESTAMP, us),
                ReaderTime::Uptime(us) => (parameter::UPTIME, us),
            };
            data.tlv(clock, |stamp| {
                stamp.u64(us);
            });
            data.tlv(kind, fields);
        });
    });
}

/// The report of a read, with an EPC of so many bits.
pub fn tag_report(body: &mut Encoder, report: &TagReport, bits: usize, selected: u16) {
    body.tlv(parameter::TAG_REPORT_DATA, |data| {
        let epc = report.epc.as_bytes();
        epc_of(data, epc, bits);
        if selected & content::ANTENNA_ID != 0 {
            data.tv(parameter::ANTENNA_ID).u16(report.antenna);
        }
        if let Some(rssi_dbm) = report
            .rssi_dbm
            .filter(|_| selected & content::PEAK_RSSI != 0)
        {
            data.tv(parameter::PEAK_RSSI).raw(&rssi_dbm.to_be_bytes());
        }
        let first = (parameter::FIRST_SEEN_UTC, parameter::FIRST_SEEN_UPTIME);
        let last = (parameter::LAST_SEEN_UTC, parameter::LAST_SEEN_UPTIME);
        for (time, bit, (utc, uptime)) in [
            (report.first_seen, content::FIRST_SEEN, first),
            (report.last_seen, content::LAST_SEEN, last),
        ] {
            match time.filter(|_| selected & bit != 0) {
                Some(ReaderTime::Utc(us)) => data.tv(utc).u64(us),
                Some(ReaderTime::Uptime(us)) => data.tv(uptime).u64(us),
                None => data,
            };
        }
        if selected & content::SEEN_COUNT != 0 {
            data.tv(parameter::TAG_SEEN_COUNT).u16(report.count);
        }
    });
}

fn epc_of(data: &mut Encoder, epc: &[u8], bits: usize) {
    if bits == 96 && epc.len() == 12 {
        data.tv(parameter::EPC_96).raw(epc);
    } else {
        data.tlv(parameter::EPC_DATA, |data| {
            data.u16(u16::try_from(bits).unwrap_or(u16::MAX)).raw(epc);
        });
    }
}

/// Reports without an EPC that can be used: an empty one, and one that is too long.
pub fn bad_epcs(body: &mut Encoder) {
    for length in [0, 100] {
        body.tlv(parameter::TAG_REPORT_DATA, |data| {
            epc_of(data, &vec![0x30; length], 8 * length);
        });
    }
}

/// Returns the reader's report of a read; signal strengths are whole dBm.
pub fn report_of(read: &EmulatedRead, time: ReaderTime) -> TagReport {
    TagReport {
        epc: read.epc,
        antenna: read.antenna,
        rssi_dbm: Some(whole_dbm(read.rssi_dbm)),
        first_seen: Some(time),
        last_seen: Some(time),
        count: 1,
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a cast of floats saturates"
)]
fn whole_dbm(dbm: f32) -> i8 {
    dbm.round() as i8
}

/// `RO_ACCESS_REPORTs` of reads, as many in each as the client asked for.
pub fn reports(out: &mut Encoder, reports: &[TagReport], spec: &EmulatedRoSpec, odd: bool) {
    for reports in reports.chunks(usize::from(spec.every.unwrap_or(1))) {
        out.message(message::RO_ACCESS_REPORT, 0, |body| {
            for report in reports {
                let bits = 8 * report.epc.as_bytes().len() - if odd { 5 } else { 0 };
                tag_report(body, report, bits, spec.content);
            }
            if odd {
                bad_epcs(body);
            }
        });
    }
}
