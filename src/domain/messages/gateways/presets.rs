//! Providers of texts whose settings are known: chosen in the console, and filled in from there.

use super::http::Http;
use std::sync::LazyLock;

#[derive(Debug, serde::Deserialize)]
pub struct Preset {
    pub name: &'static str,
    pub label: &'static str,
    /// What the provider calls the user; empty where it needs none.
    pub user: &'static str,
    pub secret: &'static str,
    http: Http,
}

pub static PRESETS: LazyLock<Vec<Preset>> =
    LazyLock::new(|| serde_json::from_str(include_str!("presets.json")).unwrap_or_default());

impl Preset {
    pub fn named(name: &str) -> Option<&'static Self> {
        PRESETS.iter().find(|preset| preset.name == name)
    }

    /// The settings that it stands for.
    pub fn http(&self) -> Http {
        self.http.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::outgoing::Reach;

    #[test]
    fn every_preset_can_be_used_as_it_is() {
        assert_eq!(PRESETS.len(), 4);
        for preset in &*PRESETS {
            preset.http().check(Reach::Network).unwrap();
            assert_eq!(
                Preset::named(preset.name).map(|found| found.label),
                Some(preset.label)
            );
        }
    }
}
