//! One client on its way through the feed.

use super::{Cursor, FeedView, Page, Place, page};
use crate::{
    core::{changes, keyed::Key},
    identity::App,
    types::error::{Error, Result},
};
use std::{sync::Arc, time::Duration};
use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::{Instant, timeout_at},
};

/// Requests that wait for changes at a time, streams included.
const WAITING_MAX: usize = 256;
static WAITING: Semaphore = Semaphore::const_new(WAITING_MAX);

/// Reserves a place among those that wait.
pub fn waiting() -> Result<SemaphorePermit<'static>> {
    WAITING.try_acquire().map_err(|_| {
        Error::unavailable(format!(
            "{WAITING_MAX} clients wait for changes already; ask again without wait"
        ))
    })
}

/// A whole number of a query within its bounds.
pub fn whole(name: &str, value: Option<i64>, least: usize, most: usize) -> Result<Option<usize>> {
    let Some(value) = value else {
        return Ok(None);
    };
    usize::try_from(value)
        .ok()
        .filter(|value| (least..=most).contains(value))
        .map(Some)
        .ok_or_else(|| Error::invalid(format!("{name}: must be {least} to {most}")))
}

/// One client on its way through the feed.
pub struct Reader {
    pub(super) app: App,
    view: Arc<dyn FeedView>,
    since: Option<Cursor>,
    limit: usize,
}

impl Reader {
    pub fn new(app: &App, view: Arc<dyn FeedView>, since: Option<Cursor>, limit: usize) -> Self {
        Self {
            app: app.clone(),
            view,
            since,
            limit,
        }
    }

    /// The next page; if it would be empty, the first that is not, or an empty one after `wait`.
    pub async fn wait(&mut self, wait: Duration) -> Result<Page> {
        // Before the first look, so that no change between the two is missed.
        let mut newest = self.app.changes.subscribe();
        let mut found = self.next().await?;
        if wait.is_zero() || !found.items.is_empty() || found.more {
            return Ok(found);
        }
        let _waiting = waiting()?;
        let until = Instant::now() + wait;
        while found.items.is_empty() && !found.more {
            let woken = timeout_at(until, newest.changed()).await;
            if woken.is_err() || newest.borrow_and_update().is_none() {
                break;
            }
            found = self.next().await?;
        }
        Ok(found)
    }

    pub async fn next(&mut self) -> Result<Page> {
        let store = &self.app.store;
        let key = match store.look_up(|connection| Key::named(connection, KEY))? {
            Some(key) => key,
            None => store.write(|tx| Key::named_or_make(tx, KEY)).await?,
        };
        let digest = key.hash(b"cursor")?;
        let mut file = [0; 8];
        file.copy_from_slice(&digest[..8]);
        let (view, since, limit) = (Arc::clone(&self.view), self.since, self.limit);
        let found = store
            .read(move |connection| {
                let here = Cursor {
                    file,
                    generation: changes::generation(connection)?,
                    view: view.fingerprint(),
                    place: Place::Changes(changes::Position::default()),
                };
                page(connection, &*view, here, since, limit)
            })
            .await?;
        self.since = Some(found.cursor);
        Ok(found)
    }
}

/// The key by which cursors know their file.
const KEY: &str = "feed";
