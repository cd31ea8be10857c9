//! Pictures that layouts name.

use crate::draw::Warning;
use base64::{Engine, prelude::BASE64_STANDARD};
use std::collections::BTreeMap;

/// The most pixels of a picture, which is a hundred megabytes where it is drawn.
const PIXELS_MAX: usize = 25_000_000;

/// Pictures by name: PNG, JPEG, WebP or GIF. One that cannot be drawn has the reason in its place.
#[derive(Debug, Default)]
pub struct Images(BTreeMap<String, Result<String, Warning>>);

impl Images {
    /// Adds a picture.
    pub fn add(&mut self, name: &str, content: &[u8]) {
        let image = name.to_owned();
        let picture = if let Some(size) = too_large(content) {
            Err(Warning::LargeImage { image, size })
        } else if imagesize::blob_size(content).is_err() {
            Err(Warning::NoImage { image })
        } else {
            // Of this media type the kind of picture is told by its content.
            let content = BASE64_STANDARD.encode(content);
            Ok(format!("data:text/plain;base64,{content}"))
        };
        self.0.insert(name.to_owned(), picture);
    }

    /// The picture as an address that holds it (RFC 2397).
    pub(crate) fn address(&self, name: &str) -> Result<&str, Warning> {
        let none = || Warning::NoImage {
            image: name.to_owned(),
        };
        match self.0.get(name).ok_or_else(none)? {
            Ok(address) => Ok(address),
            Err(warning) => Err(warning.clone()),
        }
    }
}

/// Returns how many pixels a picture has across and down, if they are more than can be drawn.
pub fn too_large(content: &[u8]) -> Option<(usize, usize)> {
    let size = imagesize::blob_size(content).ok()?;
    let is_large = size.width.saturating_mul(size.height) > PIXELS_MAX;
    is_large.then_some((size.width, size.height))
}
