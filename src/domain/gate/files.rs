//! The files of the gate app, and their version.

use crate::types::secret;
use rust_embed::Embed;
use serde_json::json;
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

#[derive(Embed)]
#[folder = "assets/gate"]
pub struct Files;

/// Changes with the files: the app updates itself when it does. The files are served below it, and no other
/// version is, so that what a browser has of one version belongs together.
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

/// The service worker, by its name among the files. Its address stays `/gate/worker.js`: pages of earlier versions register it
/// there.
const WORKER: &str = "io/worker.js";

/// The page, with the addresses of its files below their version.
pub fn page() -> String {
    let page = Files::get("index.html").map(|file| file.data.into_owned());
    let page = String::from_utf8(page.unwrap_or_default()).unwrap_or_default();
    page.replace("\"/gate/", &format!("\"/gate/{}/", *VERSION))
}

/// The service worker, above its text what it keeps.
pub fn worker() -> String {
    let files: Vec<_> = Files::iter()
        .filter(|name| name != WORKER && !name.contains("LICENSE"))
        .collect();
    let worker = Files::get(WORKER).map(|file| file.data.into_owned());
    let worker = String::from_utf8(worker.unwrap_or_default()).unwrap_or_default();
    format!(
        "const VERSION = {};\nconst FILES = {};\n{worker}",
        json!(*VERSION),
        json!(files)
    )
}
