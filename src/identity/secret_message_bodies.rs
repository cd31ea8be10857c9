//! Texts that hold a one-time password, from when their messages are put into the outbox until they
//! are sent. They stand in memory alone: what a process ends with is lost, and nothing of it is found
//! in the file, its log or a backup.

use crate::types::Timestamp;
use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

/// Texts by the id of their message. It has no `Debug` on purpose.
#[derive(Default)]
pub struct SecretMessageBodies(Mutex<HashMap<i64, Text>>);

struct Text {
    text: String,
    until: Timestamp,
}

impl SecretMessageBodies {
    /// Keeps the text of a message until then, and lets those go whose time is over.
    pub fn keep(&self, message: i64, text: String, now: Timestamp, until: Timestamp) {
        let mut texts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        texts.retain(|_, text| text.until > now);
        texts.insert(message, Text { text, until });
    }

    /// The text of a message, while it is known.
    pub fn find(&self, message: i64) -> Option<String> {
        let texts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        texts.get(&message).map(|text| text.text.clone())
    }

    /// Lets the text of a message go.
    pub fn forget(&self, message: i64) {
        let mut texts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        texts.remove(&message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_goes_when_it_is_sent_or_its_time_is_over() {
        let texts = SecretMessageBodies::default();
        for message in [1, 2] {
            texts.keep(message, "123456".into(), Timestamp(0), Timestamp(10));
        }
        texts.forget(1);
        assert_eq!(texts.find(1), None);
        assert_eq!(texts.find(2).as_deref(), Some("123456"));
        texts.keep(3, "654321".into(), Timestamp(10), Timestamp(20));
        assert_eq!(texts.find(2), None);
        assert_eq!(texts.find(3).as_deref(), Some("654321"));
    }
}
