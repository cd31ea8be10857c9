//! Two PostgreSQL servers of which one is killed again and again, and two hubs of which one is killed, while venues push.

use super::{Event, Hub, Options, Postgres, Pushing, Size, is_equal};
use crate::{Result, output::Output};
use std::{path::Path, sync::atomic::Ordering, time::Instant};

/// Kills the primary in the middle of batches, promotes the replica, and makes a new one where the primary was.
pub async fn proof(
    options: &Options,
    mut primary: Postgres,
    folder: &Path,
    output: &mut Output,
) -> Result<bool> {
    let (rounds, size) = (
        options.failovers,
        Size {
            attendees: options.attendees,
            interactions: options.interactions,
        },
    );
    let mut replica = Postgres::replica(&folder.join("other"), &primary)?;
    primary.acknowledge_with_replica()?;
    let store = Postgres::address(&[&primary, &replica], "gatepost");
    let [first, second] = ["first", "second"].map(|name| Hub::at(options, name, &store));
    let (first, second) = (first?, second?);
    let (of_first, _of_second) = (first.start().await?, second.start().await?);
    let venues = first.join(options.venues, size, |_| Event::Nothing).await?;
    let all = venues.len() * size.items();
    let longest = venues
        .first()
        .map(|venue| venue.longest_ms.clone())
        .unwrap_or_default();
    let pushing = Pushing::begin(venues);
    let mut promoted = Vec::new();
    for round in 1..=rounds {
        pushing.until(round, rounds + 2).await;
        let begun = Instant::now();
        primary.kill();
        replica.promote()?;
        promoted.push(begun.elapsed());
        let place = primary.folder().to_owned();
        drop(primary);
        primary = replica;
        replica = Postgres::replica(&place, &primary)?;
        primary.acknowledge_with_replica()?;
    }
    pushing.until(rounds + 1, rounds + 2).await;
    let of_failovers = longest.swap(0, Ordering::Relaxed);
    drop(of_first);
    let expected = pushing.end().await?;
    let promoted = promoted.into_iter().max().unwrap_or_default();
    output.line(format!(
        "two PostgreSQL servers, {} venues, {all} changes: primary killed and replica promoted {rounds} times, in {:.1} s at most; the longest that a venue waited for an answer {:.1} s",
        options.venues,
        promoted.as_secs_f64(),
        seconds(of_failovers),
    ))?;
    let of_hub = longest.load(Ordering::Relaxed);
    output.line(format!(
        "two hubs, one killed: its venues went on at the other after {:.1} s at most",
        seconds(of_hub),
    ))?;
    Ok(is_equal(&second, expected, output)? && of_hub < 10_000)
}

#[expect(clippy::cast_precision_loss, reason = "it is shown rounded")]
fn seconds(ms: u64) -> f64 {
    ms as f64 / 1_000.0
}
