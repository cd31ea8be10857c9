//! Two real hubs before two PostgreSQL servers: a venue goes on whichever of them is killed.

use super::{join_at, postgresql::Postgres, up::people};
use crate::{
    faults::process::{Served, gatepost, told, until},
    harness::*,
    loopback,
};
use std::path::Path;

/// Starts one of several hubs at a store, and returns its address for venues, too.
fn start(db: &Path, store: &str) -> (Served, String) {
    // The address is told to venues, so it has to be known before the start.
    let address = loopback::listener().local_addr().expect("an address");
    let url = format!("http://{address}");
    let arguments = ["--store", store, "--public-url", &url];
    let hub = Served::start_hub_at(db, &address.to_string(), &arguments);
    (hub, url)
}

#[test]
fn a_venue_goes_on_when_a_hub_and_then_a_database_is_killed() {
    let folder = tempfile::Builder::new().prefix("gp").tempdir_in("/tmp");
    let folder = folder.expect("a folder with a short path");
    let path = |name: &str| folder.path().join(name);
    let mut primary = Postgres::start(&path("one")).expect("a primary");
    let replica = Postgres::replica(&path("other"), &primary).expect("a replica");
    primary.acknowledge_with_replica().expect("it is in step");
    let store = Postgres::address(&[&primary, &replica], "gatepost");
    let db = path("first.db");
    let (mut first, url) = start(&db, &store);
    let (second, _) = start(&path("second.db"), &store);
    let hubs = "SELECT count(*) FROM hub_hubs";
    let wait = |of: &Postgres, question: &str, answer: i32| {
        of.wait_in("gatepost", question, &answer.to_string())
            .unwrap_or_else(|cause| panic!("{cause}"));
    };
    wait(&primary, hubs, 2);

    let added = told(
        &db,
        &["hub", "venue", "add", "North", "--store", &store, "--json"],
    );
    let (server, api) = Server::with_api();
    join_at(&server, &url, added["code"].as_str().expect("a code"));
    let count = "SELECT count(*) FROM hub_attendees";
    people(&api, 0, 20);
    wait(&primary, count, 20);

    // Its own file has no venues: without the store it is refused, and so is a file whose venues are its own.
    let refused = gatepost(&db, &["hub", "report", "attendance"]);
    assert!(
        String::from_utf8_lossy(&refused.stderr).contains("--store"),
        "{refused:?}"
    );
    let own = path("own.db");
    told(
        &own,
        &["client", "add", "app", "--role", "delegate-read", "--json"],
    );
    told(&own, &["hub", "venue", "add", "South", "--json"]);
    // Two of one name could not be told apart in reports, on either store.
    for again in [
        gatepost(&own, &["hub", "venue", "add", "south"]),
        gatepost(&db, &["hub", "venue", "add", "north", "--store", &store]),
    ] {
        let cause = String::from_utf8_lossy(&again.stderr);
        assert!(cause.contains("name of another venue"), "{again:?}");
    }
    let refused = gatepost(&own, &["hub", "report", "attendance", "--store", &store]);
    assert!(
        String::from_utf8_lossy(&refused.stderr).contains("leave --store out"),
        "{refused:?}"
    );

    first.kill();
    people(&api, 20, 20);
    wait(&primary, count, 40);

    primary.kill();
    people(&api, 40, 20);
    // Whoever stands in front of the hubs hears that this one can store nothing.
    let readiness = || {
        let path = format!("http://{}/health/ready", second.address);
        let answer = http()
            .build()
            .expect("a client")
            .get(path)
            .send()
            .expect("an answer");
        (answer.status().as_u16(), answer.text().expect("a text"))
    };
    until("the hub is not ready", || {
        let (status, told) = readiness();
        status == 503 && told.contains("the store of the venues")
    });
    replica.promote().expect("it is a primary");
    until("the hub is ready", || readiness().0 == 200);
    wait(&replica, count, 60);
    let distinct = "SELECT count(DISTINCT code) FROM hub_attendees";
    wait(&replica, distinct, 60);
}
