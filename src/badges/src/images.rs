//! Pictures that layouts name.

use base64::{Engine, prelude::BASE64_STANDARD};
use std::collections::BTreeMap;

/// The most pixels of a picture, which is a hundred megabytes where it is drawn.
const PIXELS_MAX: usize = 25_000_000;

/// Pictures by name: PNG, JPEG, WebP or GIF.
#[derive(Debug, Default)]
pub struct Images(BTreeMap<String, String>);

impl Images {
    /// Adds a picture; one that is none, or too large to be drawn, is not there.
    pub fn add(&mut self, name: &str, content: &[u8]) {
        let size = imagesize::blob_size(content);
        if size.is_ok_and(|size| size.width.saturating_mul(size.height) <= PIXELS_MAX) {
            // Of this media type the kind of picture is told by its content.
            let address = format!("data:text/plain;base64,{}", BASE64_STANDARD.encode(content));
            self.0.insert(name.to_owned(), address);
        }
    }

    /// The picture as an address that holds it (RFC 2397).
    pub(crate) fn address(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
}
