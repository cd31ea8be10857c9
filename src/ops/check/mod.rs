//! Looks a whole file over, and says of everything that is wrong what to do about it. It changes
//! nothing and waits for nobody, while `serve` runs or not; only `repair` writes, and only what
//! follows from the rest.
//!
//! - `look`: what can be wrong with a file
//! - `index`: whether the search index has every delegate's texts
//! - `repair`: what follows from the rest made anew: the counts of those inside, the index

mod index;
mod look;
mod repair;

pub use index::rebuild as rebuild_index;
pub use look::look;
pub use repair::{Mended, repair};

/// Something that is wrong, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What is wrong.
    pub what: String,
    /// What to do about it.
    pub advice: &'static str,
}

impl Finding {
    /// Whether [`repair()`] mends it.
    fn is_repairable(&self) -> bool {
        [look::REPAIR, look::REPAIR_INDEX].contains(&self.advice)
    }
}

/// A step of a look.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    /// Counted from 1.
    pub number: usize,
    /// How many steps there are.
    pub of: usize,
    /// What is done, such as "Checking references".
    pub what: &'static str,
}

/// What a look found.
#[derive(Debug, Default)]
pub struct Report {
    /// Everything that is wrong, the worst first.
    pub findings: Vec<Finding>,
    /// Whether the index for searching misses somebody; [`repair()`] makes it anew.
    pub index: bool,
    /// When the last backup was made, ISO 8601, as far as the file knows.
    pub last_backup: Option<String>,
}

impl Report {
    /// Whether there is something wrong that [`repair()`] mends, and nothing else.
    #[must_use]
    pub fn is_repairable(&self) -> bool {
        !self.findings.is_empty() && self.findings.iter().all(Finding::is_repairable)
    }
}
