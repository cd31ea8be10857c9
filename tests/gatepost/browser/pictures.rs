//! The pictures that the README shows, where `GATEPOST_PICTURES` names a folder for them.

use super::window::{Browser, DESK, View};
use std::path::PathBuf;

const FRAME: View = View {
    width: 1280,
    height: 760,
    scheme: "light",
};

/// Where pictures go.
pub struct Pictures(Option<PathBuf>);

impl Pictures {
    /// As the environment says.
    pub fn wanted() -> Self {
        let folder = std::env::var_os("GATEPOST_PICTURES").map(PathBuf::from);
        if let Some(folder) = &folder {
            std::fs::create_dir_all(folder).expect("a folder for pictures");
        }
        Self(folder)
    }

    pub fn are_wanted(&self) -> bool {
        self.0.is_some()
    }

    /// Keeps what the page shows.
    #[track_caller]
    pub fn take(&self, browser: &Browser, name: &str) {
        let Some(folder) = &self.0 else {
            return;
        };
        browser.look(FRAME);
        browser.run("scrollTo(0, 0); document.activeElement?.blur()", &[]);
        let picture = browser.picture();
        browser.look(DESK);
        std::fs::write(folder.join(format!("{name}.png")), picture).expect("a picture");
    }
}
