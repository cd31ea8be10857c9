//! Pairing a gate with a place: a code to scan or to type. Opening or refreshing the page keeps it good for ten
//! minutes; what the page asks for by itself does not.

use crate::admin::prelude::*;
use crate::{
    admin::discovery::{choose, explained},
    domain::{
        devices::record::Record,
        discovery::{Pairing, Place},
        gate::fleet::{self, AtPlace},
    },
    types::DeviceId,
};
use std::time::Instant;

#[derive(Template)]
#[template(path = "devices/pair.html")]
struct Page {
    layout: Layout,
    record: Record,
    /// None: it is over.
    pairing: Option<Pairing>,
    addresses: Vec<Place>,
    /// The address in the code.
    address: Option<Place>,
    trouble: Option<&'static str>,
    own_ca: bool,
    gates: Vec<AtPlace>,
}

impl Page {
    /// The gate that came with the code.
    fn paired(&self) -> Option<&AtPlace> {
        let gate = self.pairing.as_ref()?.gate?;
        self.gates.iter().find(|known| known.device == gate)
    }

    fn is_chosen(&self, address: &Place) -> bool {
        self.address.as_ref() == Some(address)
    }
}

fn place_of(connection: &Connection, id: i64) -> Result<Record> {
    let record = Record::find(connection, id)?;
    if record.deleted_at.is_some() {
        return Err(crate::domain::devices::RESOURCE.missing(&id));
    }
    Ok(record)
}

pub(super) async fn show(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let app = request.console.app().clone();
    let read = move |connection: &Connection| {
        let record = place_of(connection, id)?;
        let mut at = fleet::at_places(connection, &app, Timestamp::now())?;
        Ok((record, at.remove(&DeviceId(id)).unwrap_or_default()))
    };
    let (record, gates) = request.read(read).await?;
    let (ctx, now) = (request.context(), Instant::now());
    let pairings = &request.console.discovery.pairings;
    let pairing = if request.is_part() {
        pairings.of(DeviceId(id), &ctx.actor, now)
    } else {
        Some(pairings.offer(DeviceId(id), &record.name, ctx, now)?)
    };
    let (addresses, trouble) = match request.console.discovery.places() {
        Ok(addresses) => (addresses, None),
        Err(trouble) => (Vec::new(), Some(explained(trouble))),
    };
    answer::page(&Page {
        layout: request.layout(
            &format!("Pair a gate with {}", record.name),
            Some(Area::Devices),
        ),
        address: choose(&request, &addresses).cloned(),
        own_ca: request.console.reach.own_ca,
        record,
        pairing,
        addresses,
        trouble,
        gates,
    })
}

/// The code as a picture, with the address that the page names.
pub(super) async fn qr(request: RequestContext) -> Result<Response> {
    let gone = || Error::new(Kind::NoSuchPath, "this code is over; open the page again");
    let (id, actor) = (DeviceId(request.id("id")?), request.context().actor);
    let pairings = &request.console.discovery.pairings;
    let pairing = pairings.of(id, &actor, Instant::now()).ok_or_else(gone)?;
    let addresses = request.console.discovery.places().map_err(|_| gone())?;
    let address = choose(&request, &addresses).ok_or_else(gone)?;
    answer::qr(&address.pair_uri(&pairing.code))
}
