//! Results of a form, such as a secret, until the page shows them: in memory, for the session that they are for, and
//! never for long. Neither an address nor the file has a secret meanwhile.

use crate::admin::prelude::*;
use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// The time for which something is kept.
const LASTS: Duration = Duration::from_mins(15);
/// Sessions that something is kept for; the oldest goes first.
const MOST: usize = 1000;

/// One `T` a session.
pub(super) struct Kept<T>(Mutex<HashMap<i64, (T, Instant)>>);

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone> Kept<T> {
    /// Keeps something for a session, in place of what was kept for it before.
    pub(super) fn keep(&self, current_user: &CurrentUser, kept: T) {
        let mut all = self.all();
        if all.len() >= MOST {
            let oldest = all.iter().min_by_key(|(_, (_, since))| *since);
            if let Some(oldest) = oldest.map(|(session, _)| *session) {
                all.remove(&oldest);
            }
        }
        all.insert(current_user.session, (kept, Instant::now()));
    }

    /// Returns what is kept for a session.
    pub(super) fn look(&self, current_user: &CurrentUser) -> Option<T> {
        self.all()
            .get(&current_user.session)
            .map(|(kept, _)| kept.clone())
    }

    /// Takes what is kept for a session, which then is kept no more.
    pub(super) fn take(&self, current_user: &CurrentUser) -> Option<T> {
        self.all()
            .remove(&current_user.session)
            .map(|(kept, _)| kept)
    }

    fn all(&self) -> MutexGuard<'_, HashMap<i64, (T, Instant)>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, (_, since)| since.elapsed() < LASTS);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{identity::ConsoleRole, types::UserId};

    fn session(session: i64) -> CurrentUser {
        CurrentUser {
            user: UserId(1),
            email: "ada@example.com".into(),
            role: ConsoleRole::Viewer,
            session,
            csrf: String::new(),
        }
    }

    #[test]
    fn what_is_taken_is_gone_and_was_for_one_session() {
        let kept = Kept::default();
        kept.keep(&session(1), "first");
        kept.keep(&session(1), "second");
        assert_eq!(kept.look(&session(2)), None);
        assert_eq!(kept.look(&session(1)), Some("second"));
        assert_eq!(kept.take(&session(1)), Some("second"));
        assert_eq!(kept.take(&session(1)), None);
    }

    #[test]
    fn memory_is_bounded_and_the_oldest_goes_first() {
        let kept = Kept::default();
        for number in 0..=MOST {
            kept.keep(&session(i64::try_from(number).unwrap()), number);
        }
        assert_eq!(kept.all().len(), MOST);
        assert_eq!(kept.look(&session(0)), None);
        assert_eq!(kept.look(&session(1)), Some(1));
    }
}
