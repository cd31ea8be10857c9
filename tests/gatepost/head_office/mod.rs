//! A venue and its head office (contract §14): the venue's side against a hub that tests play, and both ends together.

mod down;
mod hub;
mod misfortune;
#[path = "../../postgresql/server.rs"]
mod postgresql;
mod several;
mod strangers;
mod up;

use crate::{faults::process::until, harness::*};
use gatepost::{
    core::head_office::venue::{HeadOffice, LineState},
    ops::head_office,
};
use hub::Hub;

/// Has a server join a hub.
fn join(server: &Server, hub: &Hub) {
    let office = join_at(server, &hub.url(), "ABCD-EFGH");
    assert_eq!((office.venue, office.name.as_str()), (7, "Hall West"));
}

fn join_at(server: &Server, url: &str, code: &str) -> HeadOffice {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let joined = head_office::join(&server.app.store, server.context(), url, code, None);
    let office = runtime.block_on(joined).expect("it is joined");
    server.app.head_office.renew();
    office
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
