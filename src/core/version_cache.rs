//! A value that is costly to read, kept until its version changes.

use crate::types::error::Result;
use std::sync::{Arc, Mutex, PoisonError};

/// The value of the version that was asked for last.
#[derive(Debug)]
pub struct VersionCache<K, V>(Mutex<Option<(K, Arc<V>)>>);

impl<K, V> Default for VersionCache<K, V> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<K: PartialEq, V> VersionCache<K, V> {
    /// The value of a version. Whoever asks while it is being read waits for it.
    pub fn get(&self, version: K, read: impl FnOnce() -> Result<V>) -> Result<Arc<V>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, value)) = &*kept
            && *known == version
        {
            return Ok(Arc::clone(value));
        }
        let value = Arc::new(read()?);
        *kept = Some((version, Arc::clone(&value)));
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_read_once_for_each_version() {
        let cache = VersionCache::default();
        let ask = |version: u8, value: u8| *cache.get(version, || Ok(value)).unwrap();
        assert_eq!(
            [ask(1, 10), ask(1, 11), ask(2, 12), ask(1, 13)],
            [10, 10, 12, 13]
        );
    }
}
