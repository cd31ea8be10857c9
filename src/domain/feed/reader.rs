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
        .ok_or_else(|| Error::field(name, format!("must be {least} to {most}")))
}

/// Gives what a client may be shown by now; fails once its token ended or its rights were taken away.
type Rights = dyn Fn() -> Result<Arc<dyn FeedView>> + Send + Sync;

/// One client on its way through the feed.
pub struct Reader {
    pub(super) app: App,
    pub(super) rights: Box<Rights>,
    view: Arc<dyn FeedView>,
    pub(super) since: Option<Cursor>,
    limit: usize,
}

impl Reader {
    /// A reader that goes on behind the cursor that was sent. Without rights nothing else is said of it.
    pub fn new<V: FeedView + 'static>(
        app: &App,
        rights: impl Fn() -> Result<V> + Send + Sync + 'static,
        since: Option<&str>,
        limit: usize,
    ) -> Result<Self> {
        let rights = move || Ok(Arc::new(rights()?) as Arc<dyn FeedView>);
        Ok(Self {
            app: app.clone(),
            view: rights()?,
            rights: Box::new(rights),
            since: since.map(Cursor::parse).transpose()?,
            limit,
        })
    }

    /// The next page; if it would be empty, the first that is not, or an empty one after `wait`.
    pub async fn wait(&mut self, wait: Duration) -> Result<Page> {
        // Before the first look, so that no change between the two is missed.
        let mut newest = self.app.changes.subscribe();
        let found = self.next().await?;
        if wait.is_zero() || !found.items.is_empty() || found.more {
            return Ok(found);
        }
        let until = Instant::now() + wait;
        loop {
            let woken = timeout_at(until, newest.changed()).await;
            let is_over = woken.is_err() || newest.borrow_and_update().is_none();
            // Before every answer, an empty one too: it may be an error by now.
            let found = self.next().await?;
            if is_over || !found.items.is_empty() || found.more {
                return Ok(found);
            }
        }
    }

    /// The next page, for who has the rights when it is sent.
    pub async fn next(&mut self) -> Result<Page> {
        loop {
            let found = self.look().await?;
            // Asked after the look, so that nothing from after their end is sent.
            let view = (self.rights)()?;
            let is_same = view.fingerprint() == self.view.fingerprint();
            self.view = view;
            if is_same {
                return Ok(found);
            }
        }
    }

    async fn look(&mut self) -> Result<Page> {
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
                    stamp: changes::Stamp::of(connection)?,
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
