//! The last traces of whoever was erased: in the search index, the gaps of the file's pages, and the
//! write-ahead log.

use crate::{
    db::{Store, Tx},
    domain::delegates::erased,
    identity::App,
    types::{Timestamp, error::Result},
};

/// Pages of the search index that are merged in one go; it takes a few milliseconds.
const MERGED_PAGES: i64 = 16;

/// Has the last traces of whoever was erased wiped, beside everything else: it may take a minute, and
/// they are gone from everything that is read by now. To be called as well when a run begins, for what
/// an earlier one was cut off from.
pub fn wipe_soon(app: &App) {
    let app = app.clone();
    tokio::spawn(async move {
        if let Err(cause) = wipe(&app.store).await {
            tracing::warn!(
                "search index or log still have letters of somebody who was erased: {cause}"
            );
        }
    });
}

/// Takes the last traces out of the search index, the gaps of the file's pages, and the log.
async fn wipe(store: &Store) -> Result<()> {
    if !store.look_up(erased::is_unfinished)? {
        return Ok(());
    }
    let begun = Timestamp::now();
    wipe_index(store).await?;
    store.scrub().await?;
    store.write(move |tx| erased::mark_wiped(tx, begun)).await?;
    store.wipe_log();
    Ok(())
}

/// Has the search index write itself anew without what was deleted from it, in slices that let
/// gates go first.
async fn wipe_index(store: &Store) -> Result<()> {
    let mut pages = -MERGED_PAGES;
    loop {
        let changed = store.write_bulk(move |tx| merge_index(tx, pages)).await?;
        if !changed {
            return Ok(());
        }
        pages = MERGED_PAGES;
    }
}

/// Merges a part of the search index; negative pages begin with all of it. Whether there was
/// anything to do.
fn merge_index(tx: &Tx<'_>, pages: i64) -> Result<bool> {
    let before = tx.total_changes();
    tx.prepare_cached(
        "INSERT INTO delegates_search (delegates_search, rank) VALUES ('merge', ?1)",
    )?
    .execute([pages])?;
    // One change is the statement's own.
    Ok(tx.total_changes() - before > 1)
}
