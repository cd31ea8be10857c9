//! Tag reads as readers and integrators post them: our own JSON, NDJSON and CSV, and the JSON of Impinj's
//! and Zebra's readers.

use super::{Epc, Read};
use crate::types::{
    Timestamp, Zone,
    error::{Error, Result},
    json::{self, in_plain_words},
};
use serde::Deserialize;
use serde_json::Value;

/// Reads in a body at the most.
pub const READS_MAX: usize = 10_000;
/// The level of a read that says none: near enough to count, and weaker than most that say one.
const LEVEL_DBM: f32 = -60.0;

/// A body of reads.
#[derive(Debug, Default)]
pub struct Posted {
    /// The reader that the body names, as a selector.
    pub reader: Option<String>,
    pub reads: Vec<Read>,
}

/// The forms of bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// One JSON object.
    Json,
    /// A JSON object a line.
    Lines,
    /// CSV with a header of `epc,antenna,rssi,at`, in any order.
    Csv,
    Impinj,
    Zebra,
}

impl Form {
    /// The form of a body at `/reader/reads`, by its content type.
    pub fn of(content_type: Option<&str>) -> Self {
        let essence = content_type.unwrap_or_default().split(';').next();
        match essence
            .unwrap_or_default()
            .trim()
            .to_ascii_lowercase()
            .as_str()
        {
            "text/csv" => Self::Csv,
            "application/x-ndjson" | "application/ndjson" | "application/jsonl" => Self::Lines,
            _ => Self::Json,
        }
    }

    /// Parses a body that arrived `now`.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`], naming the read at fault: nothing of the body counts then.
    pub fn parse(self, body: &[u8], now: Timestamp, zone: &Zone) -> Result<Posted> {
        let mut posted = Posted::default();
        let names: &[(&str, &str)] = match self {
            Self::Impinj => &[
                ("epc", "epcHex"),
                ("rssi", "peakRssiCdbm"),
                ("at", "timestamp"),
            ],
            Self::Zebra => &[("epc", "idHex"), ("rssi", "peakRssi"), ("at", "timestamp")],
            Self::Json | Self::Lines | Self::Csv => &[],
        };
        let mut add = |path: &str, read: ReadInput| {
            if posted.reads.len() == READS_MAX {
                return Err(Error::invalid(format!(
                    "at most {READS_MAX} reads in a body"
                )));
            }
            let read = read.read(now, zone);
            posted.reads.push(read.map_err(|(field, fault)| {
                let theirs = names.iter().find(|(ours, _)| *ours == field);
                let field = theirs.map_or(field, |(_, theirs)| theirs);
                Error::invalid(format!("{path}{field}: {fault}"))
            })?);
            Ok(())
        };
        match self {
            Self::Json => {
                let input: ReadsInput = json::parse(body)?;
                for (at, read) in input.reads.into_iter().enumerate() {
                    add(&format!("reads[{at}]."), read)?;
                }
                posted.reader = match input.reader {
                    None => None,
                    Some(Value::String(selector)) => Some(selector),
                    Some(Value::Number(id)) => Some(id.to_string()),
                    Some(_) => {
                        return Err(Error::invalid("reader: must be an id or a selector"));
                    }
                };
            }
            Self::Lines => {
                for (at, line) in lines(body) {
                    let read = parsed(line)
                        .map_err(|fault| Error::invalid(format!("line {at}: {fault}")))?;
                    add(&format!("line {at}: "), read)?;
                }
            }
            Self::Csv => {
                let mut reader = csv::ReaderBuilder::new()
                    .trim(csv::Trim::All)
                    .from_reader(body);
                let header = reader
                    .headers()
                    .map_err(|fault| Error::invalid(format!("line 1: {fault}")))?
                    .clone();
                let columns = ["epc", "antenna", "rssi", "at"];
                if !header.iter().any(|name| name == "epc")
                    || header.iter().any(|name| !columns.contains(&name))
                {
                    return Err(Error::invalid(
                        "line 1: must be a header of epc,antenna,rssi,at; all but epc may be missing",
                    ));
                }
                for (at, row) in (2..).zip(reader.deserialize()) {
                    let row: CsvRow = row.map_err(|fault| {
                        Error::invalid(format!("line {at}: {}", csv_fault(&fault, &header)))
                    })?;
                    add(&format!("line {at}: "), row.into())?;
                }
            }
            Self::Impinj => {
                for (at, event) in events(body)? {
                    let at_event = event.get("timestamp").cloned();
                    // Others tell of the reader's own state.
                    if let Some(event) = event.get("tagInventoryEvent") {
                        let event: ImpinjEvent = part(&format!("{at}tagInventoryEvent"), event)?;
                        if event.epc_hex.is_some() || event.epc.is_some() {
                            add(
                                &format!("{at}tagInventoryEvent."),
                                event.read_input(at_event),
                            )?;
                        }
                    }
                }
            }
            Self::Zebra => {
                for (at, event) in events(body)? {
                    if let Some(data) = event.get("data").filter(|data| data.get("idHex").is_some())
                    {
                        let data: ZebraData = part(&format!("{at}data"), data)?;
                        let at_event = event.get("timestamp").cloned();
                        add(&format!("{at}data."), data.read_input(at_event))?;
                    }
                }
            }
        }
        Ok(posted)
    }
}

/// What is wrong with a row of CSV, with the column's name.
fn csv_fault(fault: &csv::Error, header: &csv::StringRecord) -> String {
    let csv::ErrorKind::Deserialize { err, .. } = fault.kind() else {
        return fault.to_string();
    };
    let field = err.field().and_then(|at| usize::try_from(at).ok());
    let column = field.and_then(|at| header.get(at)).unwrap_or("row");
    format!("{column}: {}", in_plain_words(&err.kind().to_string()))
}

/// The lines of a body that hold something, with their numbers.
fn lines(body: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let lines = body.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    (1..).zip(lines).filter(|(_, line)| !line.is_empty())
}

fn parsed<'a, T: Deserialize<'a>>(text: &'a [u8]) -> std::result::Result<T, String> {
    serde_json::from_slice(text).map_err(|cause| in_plain_words(&cause.to_string()))
}

/// The events of a body: a JSON array, a JSON object, or one a line; each with how messages begin.
fn events(body: &[u8]) -> Result<Vec<(String, Value)>> {
    let events: Vec<(String, Value)> = if let Ok(whole) = serde_json::from_slice(body) {
        json::check_limits(body)?;
        match whole {
            Value::Array(events) => {
                let named = |(at, event)| (format!("[{at}]."), event);
                events.into_iter().enumerate().map(named).collect()
            }
            event => vec![(String::new(), event)],
        }
    } else {
        events_of_lines(body)?
    };
    match events.iter().find(|(_, event)| !event.is_object()) {
        Some((at, _)) if at.is_empty() => Err(Error::invalid("must be an event, a JSON object")),
        Some((at, _)) => {
            let at = at.trim_end_matches(['.', ':', ' ']);
            Err(Error::invalid(format!(
                "{at}: must be an event, a JSON object"
            )))
        }
        None => Ok(events),
    }
}

fn events_of_lines(body: &[u8]) -> Result<Vec<(String, Value)>> {
    let line = |(at, line): (usize, &[u8])| {
        let event = json::check_limits(line).map_err(|cause| cause.message);
        let event = event.and_then(|()| parsed(line));
        let event = event.map_err(|fault| Error::invalid(format!("line {at}: {fault}")))?;
        Ok((format!("line {at}: "), event))
    };
    lines(body).map(line).collect()
}

/// A part of an event, named by its path.
fn part<T: for<'a> Deserialize<'a>>(path: &str, value: &Value) -> Result<T> {
    serde_path_to_error::deserialize(value).map_err(|cause| {
        let field = cause.path().to_string();
        let separator = if field == "." { "" } else { "." };
        let field = field.trim_start_matches('.').to_owned();
        let fault = in_plain_words(&cause.into_inner().to_string());
        Error::invalid(format!("{path}{separator}{field}: {fault}"))
    })
}

/// The body of `POST /reader/reads`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadsInput {
    reader: Option<Value>,
    reads: Vec<ReadInput>,
}

/// A read as integrators send it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadInput {
    epc: String,
    antenna: Option<u16>,
    rssi: Option<f32>,
    at: Option<Value>,
}

#[derive(Debug, Deserialize)]
struct CsvRow {
    epc: String,
    antenna: Option<u16>,
    rssi: Option<f32>,
    at: Option<String>,
}

impl From<CsvRow> for ReadInput {
    fn from(row: CsvRow) -> Self {
        let at = row.at.filter(|at| !at.is_empty()).map(|at| {
            let seconds = at.parse::<f64>().ok();
            let seconds = seconds.and_then(serde_json::Number::from_f64);
            seconds.map_or_else(|| at.into(), Value::Number)
        });
        Self {
            epc: row.epc,
            antenna: row.antenna,
            rssi: row.rssi,
            at,
        }
    }
}

/// `tagInventoryEvent` of Impinj's `IoT` device interface.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ImpinjEvent {
    epc_hex: Option<String>,
    /// The EPC in base 64, which is all that some settings send.
    epc: Option<String>,
    antenna_port: Option<u16>,
    peak_rssi_cdbm: Option<f32>,
    timestamp: Option<Value>,
    last_seen_time: Option<Value>,
}

impl ImpinjEvent {
    fn read_input(self, at_event: Option<Value>) -> ReadInput {
        let of_base64 = |text: String| {
            let bytes =
                data_encoding::BASE64URL_NOPAD.decode(text.trim_end_matches('=').as_bytes());
            // What is no base 64 is no EPC, either, and is told as that.
            bytes.map_or(text, |bytes| data_encoding::HEXUPPER.encode(&bytes))
        };
        let at = self.last_seen_time.or(self.timestamp);
        ReadInput {
            epc: self
                .epc_hex
                .or_else(|| self.epc.map(of_base64))
                .unwrap_or_default(),
            antenna: self.antenna_port,
            rssi: self.peak_rssi_cdbm.map(|level| level / 100.0),
            at: at.or(at_event),
        }
    }
}

/// `data` of an event of Zebra's `IoT` Connector.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ZebraData {
    id_hex: String,
    antenna: Option<u16>,
    peak_rssi: Option<f32>,
    timestamp: Option<Value>,
}

impl ZebraData {
    fn read_input(self, at_event: Option<Value>) -> ReadInput {
        ReadInput {
            epc: self.id_hex,
            antenna: self.antenna,
            rssi: self.peak_rssi,
            at: self.timestamp.or(at_event),
        }
    }
}

impl ReadInput {
    /// The read, or the field that is wrong and why.
    fn read(
        self,
        now: Timestamp,
        zone: &Zone,
    ) -> std::result::Result<Read, (&'static str, String)> {
        if self.epc.is_empty() {
            return Err(("epc", "is missing".into()));
        }
        let epc = self.epc.parse::<Epc>();
        let epc = epc.map_err(|fault| ("epc", fault.to_string()))?;
        let rssi_dbm = self.rssi.unwrap_or(LEVEL_DBM);
        if !(-200.0..=50.0).contains(&rssi_dbm) {
            return Err(("rssi", "must be a level from -200 to 50 dBm".into()));
        }
        let at_ms = match &self.at {
            None | Some(Value::Null) => now.0,
            Some(at) => milliseconds(at, zone).ok_or_else(|| {
                let fault = "must be Unix seconds, fractions allowed, or ISO 8601";
                ("at", fault.to_owned())
            })?,
        };
        Ok(Read {
            antenna: self.antenna.unwrap_or(1),
            epc,
            rssi_dbm,
            at_ms,
            count: 1,
        })
    }
}

/// A time in Unix milliseconds. Fractions of a second count: reads come by the hundred a second.
fn milliseconds(value: &Value, zone: &Zone) -> Option<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "bounded before")]
    match value {
        Value::Number(seconds) => {
            let ms = seconds.as_f64()? * 1000.0;
            (ms.abs() < 1e15).then_some(ms as i64)
        }
        Value::String(text) => match text.parse::<jiff::Timestamp>() {
            Ok(instant) => Some(instant.as_millisecond()),
            // Zebra writes `+0200`.
            Err(_) => jiff::fmt::strtime::parse("%Y-%m-%dT%H:%M:%S%.f%z", text)
                .and_then(|parts| parts.to_timestamp())
                .map(jiff::Timestamp::as_millisecond)
                .ok()
                .or_else(|| zone.read("at", value).ok().map(|at| at.0)),
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_has_the_time_of_its_tag_or_else_of_its_event() {
        let now = Timestamp(1_000);
        let at = |form: Form, body: &str| {
            let posted = form.parse(body.as_bytes(), now, &Zone::default());
            posted.expect("reads").reads[0].at_ms
        };
        let impinj = |own: &str| {
            let event = r#"{"timestamp": "1970-01-01T00:00:07.5Z", "tagInventoryEvent": {"epcHex": "3034AB01"OWN}}"#;
            at(Form::Impinj, &event.replace("OWN", own))
        };
        assert_eq!(impinj(""), 7_500);
        let own = r#", "timestamp": "1970-01-01T00:00:08Z""#;
        assert_eq!(impinj(own), 8_000);
        let last =
            r#", "timestamp": "1970-01-01T00:00:08Z", "lastSeenTime": "1970-01-01T00:00:09.125Z""#;
        assert_eq!(impinj(last), 9_125);
        let zebra = r#"{"timestamp": "1970-01-01T01:00:07.5+0100", "data": {"idHex": "3034AB01"}}"#;
        assert_eq!(at(Form::Zebra, zebra), 7_500);
        assert_eq!(at(Form::Csv, "at,epc\n3.25,3034AB01"), 3_250);
        assert_eq!(at(Form::Csv, "epc\n3034AB01"), 1_000);
    }
}
