//! Work without a bound that a write needs, such as validating against a schema: it is done outside
//! of the writer's transaction, while others write.

use super::tx::Tx;
use crate::types::error::{Error, Result};
use std::{
    cell::RefCell,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::{
    sync::Semaphore,
    time::{Instant, timeout_at},
};

/// How long a write waits for such work.
const WAIT_MAX: Duration = Duration::from_secs(5);
/// How many writes may have it done at once: the processor is for gates.
const AT_ONCE_MAX: usize = 2;

static AT_ONCE: Semaphore = Semaphore::const_new(AT_ONCE_MAX);

/// Work that a write needs done before it is tried again.
pub type Prerequisite = Box<dyn FnOnce() + Send>;

/// Where a transaction may have such work done.
#[derive(Clone, Copy)]
pub(super) enum Place<'a> {
    /// Right there: nobody waits for that transaction.
    Within,
    /// Nowhere: somebody does.
    Nowhere,
    /// After it failed.
    After(&'a RefCell<Vec<Prerequisite>>),
}

/// What an attempt needs before the next one.
#[derive(Clone, Default)]
pub(super) struct Needs(Arc<Mutex<Vec<Prerequisite>>>);

impl Needs {
    /// Runs `work` such that it fails where it put something off, and keeps that.
    pub fn attempt<T>(&self, tx: &Tx<'_>, work: impl FnOnce(&Tx<'_>) -> Result<T>) -> Result<T> {
        let put_off = RefCell::default();
        let outcome = work(&tx.with_place(Place::After(&put_off)));
        let put_off = put_off.into_inner();
        if put_off.is_empty() {
            return outcome;
        }
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = put_off;
        Err(not_yet())
    }

    /// Whether something was put off.
    pub fn take(&self) -> Vec<Prerequisite> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Why a write fails whose prerequisites are not done.
pub(super) fn not_yet() -> Error {
    Error::unavailable("its data could not be validated beside the writer")
}

/// When a write that begins now has waited too long.
pub(super) fn deadline() -> Instant {
    Instant::now() + WAIT_MAX
}

/// Does what was put off, on a thread of its own.
pub(super) async fn run(work: Vec<Prerequisite>, deadline: Instant) -> Result<()> {
    let late = |_| {
        let seconds = WAIT_MAX.as_secs();
        Error::unavailable(format!(
            "validating the data took longer than {seconds} s; nothing was written"
        ))
    };
    let place = timeout_at(deadline, AT_ONCE.acquire());
    let place = place.await.map_err(late)?.map_err(Error::defect)?;
    let done = tokio::task::spawn_blocking(move || {
        let _place = place;
        for one in work {
            one();
        }
    });
    timeout_at(deadline, done)
        .await
        .map_err(late)?
        .map_err(Error::defect)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::{Durability, Store};
    use std::sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc::channel,
    };

    fn store() -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("a.db"), Durability::Normal).unwrap();
        (folder, store)
    }

    const PUT: &str = "REPLACE INTO settings (name, value) VALUES ('a', '1')";

    #[tokio::test(flavor = "multi_thread")]
    async fn a_write_is_tried_again_once_its_prerequisite_is_done() {
        let (_folder, store) = store();
        let done = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&done);
        let attempts = store
            .write_prepared(move |tx| {
                tx.execute(PUT, [])?;
                let attempt = seen.load(Ordering::SeqCst);
                if attempt < 2 {
                    let seen = Arc::clone(&seen);
                    // Caught or not, the attempt is undone.
                    let _ = tx.put_off(move || {
                        seen.fetch_add(1, Ordering::SeqCst);
                    });
                }
                Ok(attempt)
            })
            .await
            .unwrap();
        assert_eq!((attempts, done.load(Ordering::SeqCst)), (2, 2));
        let elsewhere = store.write(|tx| Err::<(), _>(tx.put_off(|| ()))).await;
        assert_eq!(
            elsewhere.unwrap_err().kind,
            crate::types::error::Kind::Unavailable
        );
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_write_that_waits_too_long_is_refused_and_nobody_else_waits() {
        let (_folder, store) = store();
        let (end, ended) = channel::<()>();
        let ended = Arc::new(Mutex::new(ended));
        let slow = store.write_prepared(move |tx| {
            tx.execute(PUT, [])?;
            let ended = Arc::clone(&ended);
            // It ends when the other end of the channel is gone.
            Err::<(), _>(tx.put_off(move || drop(ended.lock().map(|ended| ended.recv()))))
        });
        let others = async {
            for _ in 0..5 {
                store
                    .write(|tx| Ok(tx.execute("DELETE FROM settings WHERE name = 'b'", [])?))
                    .await
                    .unwrap();
            }
            std::time::Instant::now()
        };
        let (refused, others_done) = tokio::join!(slow, others);
        assert!(others_done.elapsed() > Duration::from_millis(1));
        assert_eq!(
            refused.unwrap_err().kind,
            crate::types::error::Kind::Unavailable
        );
        let count = |connection: &rusqlite::Connection| {
            Ok(connection.query_row(
                "SELECT count(*) FROM settings WHERE name = 'a'",
                [],
                |row| row.get::<_, i64>(0),
            )?)
        };
        assert_eq!(store.look_up(count).unwrap(), 0);
        drop(end);
    }
}
