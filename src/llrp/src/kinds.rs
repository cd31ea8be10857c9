//! The numbers of messages, parameters and values in LLRP 1.0.1; 1.1 kept them.

/// Types of messages. Most answers are ten above their request.
pub mod message {
    pub const GET_READER_CAPABILITIES: u16 = 1;
    pub const GET_READER_CONFIG: u16 = 2;
    pub const SET_READER_CONFIG: u16 = 3;
    pub const CLOSE_CONNECTION_RESPONSE: u16 = 4;
    pub const CLOSE_CONNECTION: u16 = 14;
    pub const ADD_ROSPEC: u16 = 20;
    pub const DELETE_ROSPEC: u16 = 21;
    pub const START_ROSPEC: u16 = 22;
    pub const STOP_ROSPEC: u16 = 23;
    pub const ENABLE_ROSPEC: u16 = 24;
    pub const RO_ACCESS_REPORT: u16 = 61;
    pub const KEEPALIVE: u16 = 62;
    pub const READER_EVENT_NOTIFICATION: u16 = 63;
    pub const ENABLE_EVENTS_AND_REPORTS: u16 = 64;
    pub const KEEPALIVE_ACK: u16 = 72;
    pub const ERROR_MESSAGE: u16 = 100;

    /// The type of the answer to a request.
    pub fn response(request: u16) -> u16 {
        match request {
            CLOSE_CONNECTION => CLOSE_CONNECTION_RESPONSE,
            _ => request + 10,
        }
    }
}

/// Types of parameters. Those below 128 are of the short form (TV), without a length.
pub mod parameter {
    pub const ANTENNA_ID: u16 = 1;
    pub const FIRST_SEEN_UTC: u16 = 2;
    pub const FIRST_SEEN_UPTIME: u16 = 3;
    pub const LAST_SEEN_UTC: u16 = 4;
    pub const LAST_SEEN_UPTIME: u16 = 5;
    pub const PEAK_RSSI: u16 = 6;
    pub const TAG_SEEN_COUNT: u16 = 8;
    pub const EPC_96: u16 = 13;
    pub const UTC_TIMESTAMP: u16 = 128;
    pub const UPTIME: u16 = 129;
    pub const GENERAL_DEVICE_CAPABILITIES: u16 = 137;
    pub const RECEIVE_SENSITIVITY_ENTRY: u16 = 139;
    pub const ANTENNA_AIR_PROTOCOL: u16 = 140;
    pub const GPIO_CAPABILITIES: u16 = 141;
    pub const LLRP_CAPABILITIES: u16 = 142;
    pub const REGULATORY_CAPABILITIES: u16 = 143;
    pub const UHF_BAND_CAPABILITIES: u16 = 144;
    pub const TRANSMIT_POWER_ENTRY: u16 = 145;
    pub const FREQUENCY_INFORMATION: u16 = 146;
    pub const FREQUENCY_HOP_TABLE: u16 = 147;
    pub const RO_SPEC: u16 = 177;
    pub const RO_BOUNDARY_SPEC: u16 = 178;
    pub const RO_SPEC_START_TRIGGER: u16 = 179;
    pub const RO_SPEC_STOP_TRIGGER: u16 = 182;
    pub const AI_SPEC: u16 = 183;
    pub const AI_SPEC_STOP_TRIGGER: u16 = 184;
    pub const INVENTORY_PARAMETER_SPEC: u16 = 186;
    pub const KEEPALIVE_SPEC: u16 = 220;
    pub const ANTENNA_PROPERTIES: u16 = 221;
    pub const ANTENNA_CONFIGURATION: u16 = 222;
    pub const RF_TRANSMITTER: u16 = 224;
    pub const EVENTS_AND_REPORTS: u16 = 226;
    pub const RO_REPORT_SPEC: u16 = 237;
    pub const TAG_REPORT_CONTENT_SELECTOR: u16 = 238;
    pub const TAG_REPORT_DATA: u16 = 240;
    pub const EPC_DATA: u16 = 241;
    pub const READER_EVENT_NOTIFICATION_SPEC: u16 = 244;
    pub const EVENT_NOTIFICATION_STATE: u16 = 245;
    pub const READER_EVENT_NOTIFICATION_DATA: u16 = 246;
    pub const RO_SPEC_EVENT: u16 = 249;
    pub const REPORT_BUFFER_LEVEL_WARNING: u16 = 250;
    pub const REPORT_BUFFER_OVERFLOW: u16 = 251;
    pub const READER_EXCEPTION: u16 = 252;
    pub const ANTENNA_EVENT: u16 = 255;
    pub const CONNECTION_ATTEMPT: u16 = 256;
    pub const CONNECTION_CLOSE: u16 = 257;
    pub const LLRP_STATUS: u16 = 287;
    pub const C1G2_MODE_TABLE: u16 = 328;
    pub const C1G2_MODE_ENTRY: u16 = 329;
    pub const C1G2_EPC_MEMORY_SELECTOR: u16 = 348;
}

/// Codes of `LLRPStatus`.
pub mod status {
    pub const SUCCESS: u16 = 0;
    pub const PARAMETER_ERROR: u16 = 100;
    pub const DUPLICATE_PARAMETER: u16 = 104;
    pub const UNSUPPORTED_MESSAGE: u16 = 109;
    pub const UNSUPPORTED_PARAMETER: u16 = 209;
    pub const OUT_OF_RANGE: u16 = 301;
}

/// The air protocol of all tags here: `EPCglobal` Class 1 Generation 2.
pub const C1G2: u8 = 1;

/// Bits of `TagReportContentSelector`, as the field's 16 bits.
pub mod content {
    pub const ANTENNA_ID: u16 = 1 << 12;
    pub const PEAK_RSSI: u16 = 1 << 10;
    pub const FIRST_SEEN: u16 = 1 << 9;
    pub const LAST_SEEN: u16 = 1 << 8;
    pub const SEEN_COUNT: u16 = 1 << 7;
}
