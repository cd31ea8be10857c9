//! The files of the gate app, and their version.

use crate::types::secret;
use rust_embed::Embed;
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

#[derive(Embed)]
#[folder = "assets/gate"]
pub struct Files;

/// Changes with the files: the app updates itself when it does.
pub static VERSION: LazyLock<String> = LazyLock::new(|| {
    let mut digest = Sha256::new();
    for name in Files::iter() {
        digest.update(name.as_bytes());
        if let Some(file) = Files::get(&name) {
            digest.update(file.metadata.sha256_hash());
        }
    }
    secret::hex(&digest.finalize()[..8])
});
