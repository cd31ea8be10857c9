//! Pretends to be readers, with people who walk between their places.

use super::super::{open_existing, print};
use crate::{
    domain::readers::{
        Epc,
        presence::TagRead,
        walks::{Options, Walks},
    },
    types::{
        Timestamp,
        error::{Error, Result},
    },
};
use llrp::emulator::{EmulatedRead, Emulator, EmulatorOptions};
use std::{net::SocketAddr, path::Path, time::Duration};

/// Serves readers until the seconds are over; without end where there are none.
pub fn run(listen: SocketAddr, options: Options, seconds: Option<u64>, db: &Path) -> Result<()> {
    let tags = tags(options.people, db)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Error::defect)?;
    runtime.block_on(async move {
        let readers = start(listen, options.places).await?;
        let mut walks = Walks::new(options);
        let mut ticks = tokio::time::interval(Duration::from_secs(1));
        for _ in 0..seconds.unwrap_or(u64::MAX) {
            ticks.tick().await;
            let mut reads = Vec::new();
            walks.second(Timestamp::now().0 - 1000, &mut reads);
            reads.sort_by_key(|read| read.at_ms);
            for (number, reader) in (0..).zip(&readers) {
                let of_reader = reads.iter().filter(|read| read.reader == number);
                let batch: Vec<_> = of_reader.filter_map(|read| emulated(read, &tags)).collect();
                if !batch.is_empty() {
                    reader.send(batch).await;
                }
            }
        }
        Ok(())
    })
}

/// The tags of so many people: those of attendees of the file first, where there is one.
fn tags(people: u32, db: &Path) -> Result<Vec<Epc>> {
    let mut tags: Vec<Epc> = Vec::new();
    if db.exists() {
        let store = open_existing(db)?;
        tags = store.look_up(|connection| {
            let mut statement = connection.prepare(
                "SELECT uhf_id FROM delegates WHERE uhf_id IS NOT NULL AND deleted_at IS NULL ORDER BY id LIMIT ?1",
            )?;
            let found = statement.query_map([people], |row| row.get::<_, String>(0))?;
            let found: Vec<String> = found.collect::<rusqlite::Result<_>>()?;
            Ok(found.iter().filter_map(|epc| epc.parse().ok()).collect())
        })?;
    }
    for number in tags.len()..people as usize {
        let epc = format!("E7E7{number:020X}");
        tags.push(epc.parse().map_err(Error::defect)?);
    }
    Ok(tags)
}

/// Starts so many readers, each on the port after the one before; on any free ports from port 0 on.
async fn start(listen: SocketAddr, count: u32) -> Result<Vec<Emulator>> {
    let mut readers = Vec::new();
    for number in 0..count {
        let port = match listen.port() {
            0 => 0,
            first => {
                let port = u32::from(first) + number;
                u16::try_from(port).map_err(|_| {
                    Error::invalid(format!("--listen {listen}: there is no port {port}"))
                })?
            }
        };
        let address = SocketAddr::new(listen.ip(), port);
        let about = EmulatorOptions {
            firmware: "Gatepost emulator".to_owned(),
            ..EmulatorOptions::default()
        };
        let emulator = Emulator::start(address, about)
            .await
            .map_err(|cause| Error::invalid(format!("--listen {address}: {cause}")))?;
        print(&format!("reader {}: {}", number + 1, emulator.address()))?;
        readers.push(emulator);
    }
    Ok(readers)
}

/// A read as an emulated reader sends it.
fn emulated(read: &TagRead, tags: &[Epc]) -> Option<EmulatedRead> {
    Some(EmulatedRead {
        antenna: 1,
        epc: *tags.get(usize::try_from(read.tag).ok()?)?,
        rssi_dbm: read.rssi_dbm,
        at_ms: read.at_ms,
    })
}
