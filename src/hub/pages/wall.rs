//! The wall display over all venues.

use crate::{
    admin::prelude::*,
    hub::{Hub, venues::Venue},
};
use std::sync::Arc;

/// Venues that fit.
const SHOWN: usize = 12;

/// The sums over all venues.
struct Sums {
    arrived: i64,
    expected: i64,
    inside: i64,
    connected: usize,
    paired: usize,
}

#[derive(Template)]
#[template(path = "hub/wall.html")]
struct Page {
    layout: Layout,
    sums: Sums,
    venues: Vec<Venue>,
}

pub(super) async fn show(hub: Arc<Hub>, request: RequestContext) -> Result<Response> {
    let mut venues = hub.store.read(Venue::all).await?;
    let now = Timestamp::now();
    venues.retain(Venue::is_paired);
    let sums = Sums {
        arrived: venues.iter().map(|venue| venue.arrived).sum(),
        expected: venues.iter().map(|venue| venue.expected).sum(),
        inside: venues.iter().map(|venue| venue.inside).sum(),
        connected: venues
            .iter()
            .filter(|venue| venue.is_connected(now))
            .count(),
        paired: venues.len(),
    };
    venues.sort_by_key(|venue| std::cmp::Reverse(venue.inside));
    venues.truncate(SHOWN);
    answer::page(&Page {
        layout: request.layout("Wall display of all venues", None),
        sums,
        venues,
    })
}
