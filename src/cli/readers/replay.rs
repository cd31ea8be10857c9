//! Derives presence from a recording, as the server would have.

use super::{
    super::{context, print, print_json},
    configuration,
};
use crate::{
    db::Store,
    domain::{
        devices,
        readers::{
            Epc, Read, calibration,
            ingest::{Form, READS_MAX},
            presence::{Presence, TagRead},
            recording,
        },
    },
    types::{
        DeviceSelector, Timestamp, Zone,
        error::{Error, Result},
    },
};
use serde_json::json;
use std::{collections::HashMap, path::Path};

/// Prints who entered and left which places by the reads of a recording.
pub fn run(log: &Path, reader: &str, db: &Path, json: bool) -> Result<()> {
    let (store, configuration) = configuration(db)?;
    let reader = find_reader(&store, reader)?;
    let Some(config) = configuration.readers.get(&reader) else {
        let message =
            format!("--reader: device {reader} is not an available device of the type rfidreader");
        return Err(Error::invalid(message));
    };
    let mut presence = Presence::new(configuration.layout());
    let (mut tags, mut derived) = (Tags::default(), Vec::new());
    let reads = recorded(log)?;
    for read in reads.iter().filter(|read| config.takes(&read.epc)) {
        presence.push(TagRead {
            tag: tags.number(&store, read.epc)?,
            reader,
            antenna: read.antenna,
            rssi_dbm: read.rssi_dbm,
            at_ms: read.at_ms,
        });
        presence.advance(read.at_ms, &mut derived);
    }
    presence.finish(&mut derived);
    if derived.is_empty() && !json {
        return print("Nothing follows from these reads.");
    }
    let zone = context(&store, "admin")?.settings.zone.clone();
    for one in derived {
        let kind = recording::name(one.kind);
        let at = zone.iso(Timestamp(one.at_ms));
        let (epc, name) = tags.whose(one.tag);
        let place = configuration.place_name(one.place).unwrap_or_default();
        if json {
            print_json(
                &json!({"at": at, "type": kind, "place": place, "epc": epc, "attendee": name, "reads": one.reads}),
            )?;
        } else {
            let who = name.unwrap_or(epc);
            print(&format!("{at}  {kind:8}{who}  {place}"))?;
        }
    }
    Ok(())
}

/// The reader of an id or a selector.
fn find_reader(store: &Store, named: &str) -> Result<i64> {
    let selector = if named.contains(':') {
        DeviceSelector::parse(named)?
    } else {
        DeviceSelector::parse(&format!("id:{named}"))?
    };
    let reader = store.look_up(|connection| devices::find(connection, &selector))?;
    Ok(reader.0)
}

/// The reads of a recording, in the order of its lines.
fn recorded(log: &Path) -> Result<Vec<Read>> {
    let fault = |cause: &dyn std::fmt::Display| Error::field(log.display(), cause);
    let text = std::fs::read(log).map_err(|cause| fault(&cause))?;
    let lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    let mut reads = Vec::new();
    for slice in lines.chunks(READS_MAX) {
        let parsed = Form::Lines.parse(&slice.join(&b'\n'), Timestamp::now(), &Zone::default());
        reads.extend(parsed.map_err(|cause| fault(&cause))?.reads);
    }
    if reads.is_empty() {
        return Err(fault(&"there are no reads in it"));
    }
    Ok(reads)
}

/// The tags of a recording, numbered, with the names of those who wear them.
#[derive(Default)]
struct Tags {
    numbers: HashMap<Epc, i64>,
    /// By number.
    wearers: Vec<(Epc, Option<String>)>,
}

impl Tags {
    /// The number of a tag.
    fn number(&mut self, store: &Store, epc: Epc) -> Result<i64> {
        if let Some(number) = self.numbers.get(&epc) {
            return Ok(*number);
        }
        let number = i64::try_from(self.wearers.len()).map_err(Error::defect)?;
        let text = epc.to_string();
        let name = store.look_up(|connection| calibration::whose(connection, &text))?;
        self.wearers.push((epc, name));
        self.numbers.insert(epc, number);
        Ok(number)
    }

    /// The EPC of a tag, and the name of who wears it.
    fn whose(&self, number: i64) -> (String, Option<String>) {
        let number = usize::try_from(number).ok();
        number
            .and_then(|number| self.wearers.get(number))
            .map(|(epc, name)| (epc.to_string(), name.clone()))
            .unwrap_or_default()
    }
}
