//! The runs, each in one function, for the single commands and for `figures` alike.

use crate::{
    Result,
    report::Report,
    run::{Plan, run},
    setup::Venue,
    workloads::{Batches, CheckIns, Lists, LookUps},
};

/// Check-ins and check-outs, one a request.
pub async fn check_ins(
    venue: &Venue,
    connections: usize,
    nonce: bool,
    plan: Plan,
) -> Result<Report> {
    let lanes = (0..connections)
        .map(|lane| CheckIns::new(venue, lane, connections, nonce))
        .collect::<Result<Vec<_>>>()?;
    run("check-ins", &venue.target, lanes, plan).await
}

/// How batches are measured.
#[derive(clap::Args, Clone, Copy)]
pub struct BatchOptions {
    /// Interactions in each batch
    #[arg(long, default_value_t = 1000)]
    pub size: usize,
    /// Connections that send batches, each one batch at a time
    #[arg(long, default_value_t = 2)]
    pub batch_connections: usize,
    /// Gates that check people in at the same time, one connection each
    #[arg(long, default_value_t = 16)]
    pub beside: usize,
    /// Check-ins a second of all these gates together; 0: as fast as answers come
    #[arg(long, default_value_t = 320)]
    pub beside_rate: u32,
}

/// Batches, and the check-ins beside them.
pub async fn batches(
    venue: &Venue,
    options: BatchOptions,
    nonce: bool,
    plan: Plan,
) -> Result<(Report, Report)> {
    let BatchOptions {
        size,
        batch_connections,
        beside,
        beside_rate,
    } = options;
    let lanes = batch_connections + beside;
    let senders = (0..batch_connections)
        .map(|lane| Batches::new(venue, lane, lanes, size, nonce))
        .collect::<Result<Vec<_>>>()?;
    let gates = (batch_connections..lanes)
        .map(|lane| CheckIns::new(venue, lane, lanes, nonce))
        .collect::<Result<Vec<_>>>()?;
    let paced = match beside_rate {
        0 => plan,
        rate_per_s => plan.at_rate(rate_per_s),
    };
    tokio::try_join!(
        run("batched interactions", &venue.target, senders, plan),
        run("check-ins beside", &venue.target, gates, paced),
    )
}

/// Look-ups of a delegate by barcode.
pub async fn look_ups(venue: &Venue, connections: usize, plan: Plan) -> Result<Report> {
    let lanes = (0..connections).map(|lane| LookUps::new(venue, lane));
    run("look-ups", &venue.target, lanes.collect(), plan).await
}

/// How lists are measured.
#[derive(clap::Args, Clone)]
pub struct ListOptions {
    /// Delegates a page
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..=50_000))]
    pub limit: u64,
    #[arg(long, default_value = "id,barcode,firstName,lastName,company")]
    pub fields: String,
}

/// Pages of the delegate list.
pub async fn lists(
    venue: &Venue,
    options: &ListOptions,
    connections: usize,
    plan: Plan,
) -> Result<Report> {
    let ListOptions { limit, fields } = options;
    let lanes = (0..connections).map(|lane| Lists::new(venue, lane, *limit, fields));
    run(
        &format!("pages of {limit} delegates"),
        &venue.target,
        lanes.collect(),
        plan,
    )
    .await
}
