//! Tag reads as readers and integrators post them: our own JSON, NDJSON and CSV, and the JSON of Impinj's
//! and Zebra's readers.

use super::{Epc, Read};
use crate::types::{
    Timestamp, Zone,
    error::{Error, Result},
    json::{self, in_plain_words},
};
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Value, value::RawValue};
use std::fmt;

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
        let mut reads = ParsedReads {
            form: self,
            now,
            zone,
            reads: Vec::new(),
        };
        let mut reader = None;
        match self {
            Self::Json => reader = reads.add_json(body)?,
            Self::Lines => reads.add_lines(body)?,
            Self::Csv => reads.add_csv(body)?,
            Self::Impinj => reads.add_impinj(body)?,
            Self::Zebra => reads.add_zebra(body)?,
        }
        Ok(Posted {
            reader,
            reads: reads.reads,
        })
    }

    /// The name of a field of a read in this form.
    fn name_of(self, field: &'static str) -> &'static str {
        match (self, field) {
            (Self::Impinj, "epc") => "epcHex",
            (Self::Impinj, "rssi") => "peakRssiCdbm",
            (Self::Zebra, "epc") => "idHex",
            (Self::Zebra, "rssi") => "peakRssi",
            (Self::Impinj | Self::Zebra, "at") => "timestamp",
            (_, field) => field,
        }
    }
}

/// The reads of a body so far.
struct ParsedReads<'a> {
    form: Form,
    /// The arrival of the body.
    now: Timestamp,
    zone: &'a Zone,
    reads: Vec<Read>,
}

impl ParsedReads<'_> {
    /// Adds a read; errors name its field after `path`.
    fn add(&mut self, path: &str, read: ReadInput) -> Result<()> {
        if self.reads.len() == READS_MAX {
            return Err(Error::invalid(format!(
                "at most {READS_MAX} reads in a body"
            )));
        }
        let read = read.read(self.now, self.zone).map_err(|(field, fault)| {
            let field = self.form.name_of(field);
            Error::field(format!("{path}{field}"), fault)
        })?;
        self.reads.push(read);
        Ok(())
    }

    /// Adds the reads of a JSON object, and returns the reader that it names.
    fn add_json(&mut self, body: &[u8]) -> Result<Option<String>> {
        let input: ReadsInput = json::parse(body)?;
        for (at, read) in input.reads.into_iter().enumerate() {
            self.add(&format!("reads[{at}]."), read)?;
        }
        match input.reader {
            None => Ok(None),
            Some(Scalar::Text(selector)) => Ok(Some(selector)),
            Some(Scalar::Number(id)) => Ok(Some(id.to_string())),
            Some(Scalar::Other) => Err(Error::field("reader", "must be an id or a selector")),
        }
    }

    fn add_lines(&mut self, body: &[u8]) -> Result<()> {
        for (at, line) in lines(body) {
            let read =
                parsed(line).map_err(|fault| Error::invalid(format!("line {at}: {fault}")))?;
            self.add(&format!("line {at}: "), read)?;
        }
        Ok(())
    }

    fn add_csv(&mut self, body: &[u8]) -> Result<()> {
        let mut reader = csv::ReaderBuilder::new()
            .trim(csv::Trim::All)
            .from_reader(body);
        let header = csv_header(&mut reader)?;
        for (at, row) in (2..).zip(reader.deserialize()) {
            let row: CsvRow = row.map_err(|fault| {
                Error::invalid(format!("line {at}: {}", csv_fault(&fault, &header)))
            })?;
            self.add(&format!("line {at}: "), row.into())?;
        }
        Ok(())
    }

    fn add_impinj(&mut self, body: &[u8]) -> Result<()> {
        events(body, "tagInventoryEvent", |at, event| {
            // Others tell of the reader's own state.
            let Some(told) = event.told else {
                return Ok(());
            };
            let told: ImpinjEvent = part(&format!("{at}tagInventoryEvent"), told)?;
            if told.epc_hex.is_none() && told.epc.is_none() {
                return Ok(());
            }
            self.add(
                &format!("{at}tagInventoryEvent."),
                told.read_input(event.at),
            )
        })
    }

    fn add_zebra(&mut self, body: &[u8]) -> Result<()> {
        events(body, "data", |at, event| {
            let Some(told) = event.told.filter(|told| told.get().contains("idHex")) else {
                return Ok(());
            };
            let told: ZebraData = part(&format!("{at}data"), told)?;
            self.add(&format!("{at}data."), told.read_input(event.at))
        })
    }
}

/// Reads the header of a body of CSV.
fn csv_header(reader: &mut csv::Reader<&[u8]>) -> Result<csv::StringRecord> {
    let header = reader
        .headers()
        .map_err(|fault| Error::invalid(format!("line 1: {fault}")))?;
    let columns = ["epc", "antenna", "rssi", "at"];
    if !header.iter().any(|name| name == "epc")
        || header.iter().any(|name| !columns.contains(&name))
    {
        return Err(Error::invalid(
            "line 1: must be a header of epc,antenna,rssi,at; all but epc may be missing",
        ));
    }
    Ok(header.clone())
}

/// Describes the fault of a row of CSV, with the column's name.
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

/// Calls back with each event of a body, as it is read, and how messages about it begin. A body is a JSON array, a JSON
/// object, or one a line; `key` is what an event tells of a tag under.
fn events<'a>(
    body: &'a [u8],
    key: &'static str,
    mut found: impl FnMut(&str, Event<'a>) -> Result<()>,
) -> Result<()> {
    let mut count = 0;
    let mut take = |at: &str, event: Event<'a>| {
        count += 1;
        if count > READS_MAX {
            return Err(Error::invalid(format!(
                "at most {READS_MAX} events in a body"
            )));
        }
        found(at, event)
    };
    if body.trim_ascii_start().starts_with(b"[") {
        json::check_limits(body)?;
        let mut failure = None;
        let all = Events {
            key,
            take: &mut take,
            failure: &mut failure,
        };
        let mut reader = serde_json::Deserializer::from_slice(body);
        let read = all.deserialize(&mut reader).and_then(|()| reader.end());
        return match (failure, read) {
            (Some(failure), _) => Err(failure),
            (None, read) => {
                read.map_err(|cause| Error::invalid(format!("the body {}", json::fault(&cause))))
            }
        };
    }
    if let Ok(only) = event(body, key) {
        return take("", only);
    }
    for (at, line) in lines(body) {
        let read = event(line, key);
        let read = read.map_err(|fault| Error::invalid(format!("line {at}: {fault}")))?;
        take(&format!("line {at}: "), read)?;
    }
    Ok(())
}

/// One event and nothing else.
fn event<'a>(text: &'a [u8], key: &'static str) -> std::result::Result<Event<'a>, String> {
    json::check_limits(text).map_err(|cause| cause.to_string())?;
    let mut reader = serde_json::Deserializer::from_slice(text);
    let read = EventKey(key).deserialize(&mut reader);
    let read = read.and_then(|event| reader.end().map(|()| event));
    read.map_err(|cause| in_plain_words(&cause.to_string()))
}

/// The fields of an event that matter.
#[derive(Default)]
struct Event<'a> {
    at: Option<Scalar>,
    /// The tag that it tells of.
    told: Option<&'a RawValue>,
}

/// Reads an event: what it tells of a tag stands under this key.
#[derive(Clone, Copy)]
struct EventKey(&'static str);

impl<'de> DeserializeSeed<'de> for EventKey {
    type Value = Event<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Event<'de>, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for EventKey {
    type Value = Event<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an event, a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Event<'de>, A::Error> {
        let mut event = Event::default();
        while let Some(key) = map.next_key::<String>()? {
            if key == self.0 {
                event.told = Some(map.next_value()?);
            } else if key == "timestamp" {
                event.at = map.next_value()?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(event)
    }
}

/// Reads an array of events, one after the other.
struct Events<'f, F> {
    key: &'static str,
    take: &'f mut F,
    /// The error that ended it early.
    failure: &'f mut Option<Error>,
}

impl<'de, F: FnMut(&str, Event<'de>) -> Result<()>> DeserializeSeed<'de> for Events<'_, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, F: FnMut(&str, Event<'de>) -> Result<()>> Visitor<'de> for Events<'_, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("events")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        for at in 0.. {
            let taken = match seq.next_element_seed(EventKey(self.key)) {
                Ok(None) => return Ok(()),
                Ok(Some(event)) => (self.take)(&format!("[{at}]."), event),
                Err(cause) => {
                    let fault = in_plain_words(&cause.to_string());
                    Err(Error::invalid(format!("[{at}]: {fault}")))
                }
            };
            if let Err(cause) = taken {
                *self.failure = Some(cause);
                break;
            }
        }
        Err(serde::de::Error::custom("ended early"))
    }
}

/// A number or a text; of anything else only that it is neither.
#[derive(Debug, Clone, PartialEq)]
enum Scalar {
    Number(serde_json::Number),
    Text(String),
    Other,
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ScalarVisitor;

        impl<'de> Visitor<'de> for ScalarVisitor {
            type Value = Scalar;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number or a text")
            }

            fn visit_i64<E>(self, number: i64) -> Result<Scalar, E> {
                Ok(Scalar::Number(number.into()))
            }

            fn visit_u64<E>(self, number: u64) -> Result<Scalar, E> {
                Ok(Scalar::Number(number.into()))
            }

            fn visit_f64<E>(self, number: f64) -> Result<Scalar, E> {
                let number = serde_json::Number::from_f64(number);
                Ok(number.map_or(Scalar::Other, Scalar::Number))
            }

            fn visit_str<E>(self, text: &str) -> Result<Scalar, E> {
                Ok(Scalar::Text(text.to_owned()))
            }

            fn visit_bool<E>(self, _: bool) -> Result<Scalar, E> {
                Ok(Scalar::Other)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Scalar, A::Error> {
                IgnoredAny.visit_seq(seq).map(|_| Scalar::Other)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Scalar, A::Error> {
                IgnoredAny.visit_map(map).map(|_| Scalar::Other)
            }
        }

        deserializer.deserialize_any(ScalarVisitor)
    }
}

/// Reads a list of reads, as far as it is not too long.
fn some_reads<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<ReadInput>, D::Error> {
    struct ReadsVisitor;

    impl<'de> Visitor<'de> for ReadsVisitor {
        type Value = Vec<ReadInput>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list of reads")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<ReadInput>, A::Error> {
            let mut reads = Vec::new();
            while let Some(read) = seq.next_element()? {
                if reads.len() == READS_MAX {
                    let told = format!("at most {READS_MAX} reads in a body");
                    return Err(serde::de::Error::custom(told));
                }
                reads.push(read);
            }
            Ok(reads)
        }
    }

    deserializer.deserialize_seq(ReadsVisitor)
}

/// A part of an event, named by its path.
fn part<'a, T: Deserialize<'a>>(path: &str, told: &'a RawValue) -> Result<T> {
    let mut reader = serde_json::Deserializer::from_str(told.get());
    serde_path_to_error::deserialize(&mut reader).map_err(|cause| {
        let field = cause.path().to_string();
        let separator = if field == "." { "" } else { "." };
        let field = field.trim_start_matches('.').to_owned();
        let fault = in_plain_words(&cause.into_inner().to_string());
        Error::field(format!("{path}{separator}{field}"), fault)
    })
}

/// The body of `POST /reader/reads`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadsInput {
    reader: Option<Scalar>,
    #[serde(deserialize_with = "some_reads")]
    reads: Vec<ReadInput>,
}

/// A read as integrators send it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadInput {
    epc: String,
    antenna: Option<u16>,
    rssi: Option<f32>,
    at: Option<Scalar>,
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
            seconds.map_or(Scalar::Text(at), Scalar::Number)
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
    timestamp: Option<Scalar>,
    last_seen_time: Option<Scalar>,
}

impl ImpinjEvent {
    fn read_input(self, at_event: Option<Scalar>) -> ReadInput {
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
    timestamp: Option<Scalar>,
}

impl ZebraData {
    fn read_input(self, at_event: Option<Scalar>) -> ReadInput {
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
            None => now.0,
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
fn milliseconds(value: &Scalar, zone: &Zone) -> Option<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "bounded before")]
    match value {
        Scalar::Number(seconds) => {
            let ms = seconds.as_f64()? * 1000.0;
            (ms.abs() < 1e15).then_some(ms as i64)
        }
        Scalar::Text(text) => match text.parse::<jiff::Timestamp>() {
            Ok(instant) => Some(instant.as_millisecond()),
            // Zebra writes `+0200`.
            Err(_) => jiff::fmt::strtime::parse("%Y-%m-%dT%H:%M:%S%.f%z", text)
                .and_then(|parts| parts.to_timestamp())
                .map(jiff::Timestamp::as_millisecond)
                .ok()
                .or_else(|| {
                    zone.read("at", &Value::from(text.as_str()))
                        .ok()
                        .map(|at| at.0)
                }),
        },
        Scalar::Other => None,
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

    #[test]
    fn a_body_has_at_most_ten_thousand_events_whatever_they_tell() {
        let count = READS_MAX + 1;
        let read = r#"{"epc":"30"}"#;
        for (form, body) in [
            (Form::Impinj, format!("[{}]", vec!["{}"; count].join(","))),
            (Form::Zebra, "{}\n".repeat(count)),
            (
                Form::Json,
                format!("{{\"reads\":[{}]}}", vec![read; count].join(",")),
            ),
            (Form::Lines, format!("{read}\n").repeat(count)),
            (Form::Csv, format!("epc\n{}", "30\n".repeat(count))),
        ] {
            let now = Timestamp(1_000);
            let fault = form.parse(body.as_bytes(), now, &Zone::default());
            let told = fault
                .map(|posted| posted.reads.len())
                .unwrap_err()
                .to_string();
            assert!(told.contains("at most 10000"), "{form:?}: {told}");
        }
        // It ends there: what comes later is not read.
        let mut seen = 0;
        let body = format!("[{}", "{},".repeat(count + 5));
        let ended = events(body.as_bytes(), "data", |_, _| {
            seen += 1;
            Ok(())
        });
        assert!(ended.unwrap_err().to_string().contains("at most"));
        assert_eq!(seen, READS_MAX);
    }
}
