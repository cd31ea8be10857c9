//! Requests to a reader. Each function writes the body of the request of its name.

use super::{
    Capabilities, ReaderConfig,
    kinds::{C1G2, content, parameter},
    wire::Encoder,
};
use std::time::Duration;

/// The number of our `ROSpec`. A reader runs no other one beside it.
pub const RO_SPEC_ID: u32 = 5084;

/// `GET_READER_CAPABILITIES`: all.
pub fn get_capabilities(body: &mut Encoder) {
    body.u8(0);
}

/// `GET_READER_CONFIG`: which antennas are connected.
pub fn get_antennas(body: &mut Encoder) {
    const ANTENNA_PROPERTIES: u8 = 2;
    // Every antenna; no inputs and outputs.
    body.u16(0).u8(ANTENNA_PROPERTIES).u16(0).u16(0);
}

/// `SET_READER_CONFIG`: keepalives, and nothing else of what the reader has.
pub fn set_keepalive(body: &mut Encoder, period: Duration) {
    const PERIODIC: u8 = 1;
    let period_ms = u32::try_from(period.as_millis()).unwrap_or(u32::MAX);
    body.u8(0).tlv(parameter::KEEPALIVE_SPEC, |spec| {
        spec.u8(PERIODIC).u32(period_ms);
    });
}

/// `SET_READER_CONFIG`: the events that we use, and no reports held back when we connect again.
pub fn set_events(body: &mut Encoder) {
    const RO_SPEC: u16 = 2;
    const BUFFER: u16 = 3;
    const EXCEPTION: u16 = 4;
    const ANTENNA: u16 = 8;
    body.u8(0)
        .tlv(parameter::READER_EVENT_NOTIFICATION_SPEC, |spec| {
            for event in [RO_SPEC, BUFFER, EXCEPTION, ANTENNA] {
                spec.tlv(parameter::EVENT_NOTIFICATION_STATE, |state| {
                    state.u16(event).u8(0x80);
                });
            }
        })
        .tlv(parameter::EVENTS_AND_REPORTS, |hold| {
            hold.u8(0);
        });
}

/// `ENABLE_ROSPEC`, `START_ROSPEC`, `STOP_ROSPEC` and `DELETE_ROSPEC`; 0 stands for every `ROSpec`.
pub fn ro_spec_id(body: &mut Encoder, id: u32) {
    body.u32(id);
}

/// The way reads are reported. Readers differ in what they accept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reporting {
    /// Each read at once.
    Each,
    /// At the end of each round over the antennas.
    Rounds,
    /// As the reader is set up.
    ReadersOwn,
}

/// An inventory: which antennas, and how their reads are reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoSpec {
    /// 0 for all; with the index of the transmit power, if it is set.
    pub antennas: Vec<(u16, Option<u16>)>,
    pub hop_table: u16,
    pub channel: u16,
    pub reporting: Reporting,
}

impl RoSpec {
    /// Leaves out antennas that the reader does not have.
    pub fn new(config: &ReaderConfig, capabilities: &Capabilities) -> Self {
        let has = |antenna| capabilities.antennas == 0 || antenna <= capabilities.antennas;
        let antennas = if config.antennas.is_empty() {
            vec![(0, None)]
        } else {
            let known = config.antennas.iter().filter(|config| has(config.antenna));
            known
                .map(|config| {
                    (
                        config.antenna,
                        config
                            .power_dbm
                            .and_then(|dbm| capabilities.nearest_power(dbm)),
                    )
                })
                .collect()
        };
        Self {
            antennas,
            hop_table: capabilities.hop_table,
            channel: capabilities.channel,
            reporting: Reporting::Each,
        }
    }

    pub fn sets_power(&self) -> bool {
        self.antennas.iter().any(|(_, power)| power.is_some())
    }

    pub fn without_power(mut self) -> Self {
        for (_, power) in &mut self.antennas {
            *power = None;
        }
        self
    }

    /// `ADD_ROSPEC`: runs until it is stopped.
    pub fn add(&self, body: &mut Encoder) {
        const DISABLED: u8 = 0;
        const NO_TRIGGER: u8 = 0;
        body.tlv(parameter::RO_SPEC, |spec| {
            spec.u32(RO_SPEC_ID).u8(0).u8(DISABLED);
            spec.tlv(parameter::RO_BOUNDARY_SPEC, |boundary| {
                boundary.tlv(parameter::RO_SPEC_START_TRIGGER, |trigger| {
                    trigger.u8(NO_TRIGGER);
                });
                boundary.tlv(parameter::RO_SPEC_STOP_TRIGGER, |trigger| {
                    trigger.u8(NO_TRIGGER).u32(0);
                });
            });
            spec.tlv(parameter::AI_SPEC, |inventory| {
                inventory.u16(u16::try_from(self.antennas.len()).unwrap_or(u16::MAX));
                for (antenna, _) in &self.antennas {
                    inventory.u16(*antenna);
                }
                inventory.tlv(parameter::AI_SPEC_STOP_TRIGGER, |trigger| {
                    trigger.u8(NO_TRIGGER).u32(0);
                });
                inventory.tlv(parameter::INVENTORY_PARAMETER_SPEC, |spec| {
                    spec.u16(1).u8(C1G2);
                    self.powers(spec);
                });
            });
            self.report_spec(spec);
        });
    }

    fn powers(&self, spec: &mut Encoder) {
        let powers = self
            .antennas
            .iter()
            .filter_map(|(antenna, power)| Some((*antenna, (*power)?)));
        for (antenna, power) in powers {
            spec.tlv(parameter::ANTENNA_CONFIGURATION, |configuration| {
                configuration
                    .u16(antenna)
                    .tlv(parameter::RF_TRANSMITTER, |transmitter| {
                        transmitter.u16(self.hop_table).u16(self.channel).u16(power);
                    });
            });
        }
    }

    fn report_spec(&self, spec: &mut Encoder) {
        const TAGS_OR_END_OF_AI_SPEC: u8 = 1;
        const TAGS_OR_END_OF_RO_SPEC: u8 = 2;
        let trigger = match self.reporting {
            Reporting::Each => TAGS_OR_END_OF_RO_SPEC,
            Reporting::Rounds => TAGS_OR_END_OF_AI_SPEC,
            Reporting::ReadersOwn => return,
        };
        spec.tlv(parameter::RO_REPORT_SPEC, |report| {
            report.u8(trigger).u16(1);
            report.tlv(parameter::TAG_REPORT_CONTENT_SELECTOR, |selector| {
                selector.u16(
                    content::ANTENNA_ID
                        | content::PEAK_RSSI
                        | content::FIRST_SEEN
                        | content::LAST_SEEN
                        | content::SEEN_COUNT,
                );
                selector.tlv(parameter::C1G2_EPC_MEMORY_SELECTOR, |memory| {
                    memory.u8(0);
                });
            });
        });
    }
}

impl Capabilities {
    /// The index of the power that is nearest; `None` where the reader offers none.
    fn nearest_power(&self, dbm: f64) -> Option<u16> {
        let distance = |power: &super::PowerLevel| (power.dbm - dbm).abs();
        let nearest = self
            .powers
            .iter()
            .min_by(|a, b| distance(a).total_cmp(&distance(b)));
        nearest.map(|power| power.index)
    }
}
