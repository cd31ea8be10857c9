//! One client on its way through the feed.

use super::{Cursor, FeedView, Page, Place, page};
use crate::{
    core::{changes, keyed::Key},
    identity::App,
    types::error::{Error, Result},
};
use rusqlite::Connection;
use std::{sync::Arc, time::Duration};
use tokio::time::{Instant, timeout_at};

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
    pub(super) since: Option<Cursor>,
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
        let found = loop {
            let (view, since, limit) = (Arc::clone(&self.view), self.since, self.limit);
            let read = move |connection: &Connection| {
                let Some(key) = Key::named(connection, KEY)? else {
                    return Ok(None);
                };
                let digest = key.hash(b"cursor")?;
                let mut file = [0; 8];
                file.copy_from_slice(&digest[..8]);
                let here = Cursor {
                    file,
                    generation: changes::generation(connection)?,
                    view: view.fingerprint(),
                    place: Place::Changes(changes::Position::default()),
                };
                page(connection, &*view, here, since, limit).map(Some)
            };
            match store.read_in_turn(read).await? {
                Some(found) => break found,
                None => store.write(|tx| Key::named_or_make(tx, KEY)).await?,
            };
        };
        self.since = Some(found.cursor);
        Ok(found)
    }
}

/// The key by which cursors know their file.
const KEY: &str = "feed";
