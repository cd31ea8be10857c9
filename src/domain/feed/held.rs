//! The requests that may be held, and the answer to those who have more than their share (contract §12): one that is
//! slow and empty, or for streams 429. An app that gets 503 would take the server for gone.

use super::{Cursor, Page, Place, Reader};
use crate::{
    identity::{
        Principal,
        held_requests::{HELD_MAX, HeldPermit},
    },
    types::error::{Error, Kind, Result},
};
use std::{net::IpAddr, time::Duration};

/// The time for which a request over the share is held, without a look at the file.
const BUSY: Duration = Duration::from_secs(3);

/// As [`Reader::wait`], where the caller has its share of held requests; otherwise an empty page. True with
/// what was read from the file. No empty page comes in a snapshot: it would be taken for the end.
pub async fn wait(
    reader: &mut Reader,
    caller: &Principal,
    address: IpAddr,
    wait: Duration,
) -> Result<(Page, bool)> {
    let is_behind_snapshot = |since: &Cursor| matches!(since.place, Place::Changes { .. });
    let since = reader.since.filter(is_behind_snapshot);
    let Some(cursor) = since.filter(|_| !wait.is_zero()) else {
        return Ok((reader.wait(wait).await?, true));
    };
    if let Some(_permit) = reader.app.held_requests.enter(caller.client, address) {
        return Ok((reader.wait(wait).await?, true));
    }
    tokio::time::sleep(wait.min(BUSY)).await;
    (reader.rights)()?;
    let empty = Page {
        items: Vec::new(),
        cursor,
        more: false,
    };
    Ok((empty, false))
}

/// The permit of a stream.
///
/// # Errors
/// [`Kind::TooManyAttempts`].
pub fn stream(reader: &Reader, caller: &Principal, address: IpAddr) -> Result<HeldPermit> {
    let permit = reader.app.held_requests.enter(caller.client, address);
    permit.ok_or_else(|| {
        let retry_after_s = u32::try_from(BUSY.as_secs()).unwrap_or(1);
        Error::new(
            Kind::TooManyAttempts { retry_after_s },
            format!("{HELD_MAX} requests of this client wait for changes already; end one of them"),
        )
    })
}
