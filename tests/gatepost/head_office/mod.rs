//! A venue and its head office (contract §14): here the venue's side, against a hub that tests play.

mod down;
mod hub;
mod strangers;
mod up;

use crate::{faults::process::until, harness::*};
use gatepost::{core::head_office::venue::LineState, ops::head_office};
use hub::Hub;

/// Has a server join a hub.
fn join(server: &Server, hub: &Hub) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let (url, ctx) = (hub.url(), server.context());
    let joined = head_office::join(&server.app.store, ctx, &url, "ABCD-EFGH", None);
    let office = runtime.block_on(joined).expect("it is joined");
    assert_eq!((office.venue, office.name.as_str()), (7, "Hall West"));
    server.app.head_office.renew();
}

fn line(server: &Server) -> LineState {
    server.app.head_office.state()
}

/// A venue that belongs to a hub, and a caller with every role.
fn venue() -> (Server, Caller, Hub) {
    let (server, api) = Server::with_api();
    let hub = Hub::start();
    join(&server, &hub);
    (server, api, hub)
}
