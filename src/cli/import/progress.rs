//! A line that grows on a terminal, and is nowhere else.

use std::{
    io::{IsTerminal, Write},
    time::{Duration, Instant},
};

/// How often the line changes.
const EVERY: Duration = Duration::from_millis(100);
/// How long the bar is, in characters.
const BAR: u64 = 30;

pub(super) struct Progress {
    on: bool,
    told: Option<Instant>,
}

impl Progress {
    pub(super) fn new() -> Self {
        Self {
            on: std::io::stderr().is_terminal(),
            told: None,
        }
    }

    pub(super) fn checked(&mut self, rows: u64) {
        self.show(|| format!("{rows} rows checked"));
    }

    pub(super) fn written(&mut self, batch: i64, done: u64, total: u64) {
        self.show(|| {
            format!(
                "{} {done} of {total} rows, import {batch}",
                bar(done, total)
            )
        });
    }

    pub(super) fn taken_back(&mut self, rows: u64) {
        self.show(|| format!("{rows} rows taken back"));
    }

    pub(super) fn joined(&mut self, rows: u64) {
        self.show(|| format!("{rows} rows joined"));
    }

    fn show(&mut self, line: impl FnOnce() -> String) {
        if !self.on || self.told.is_some_and(|at| at.elapsed() < EVERY) {
            return;
        }
        self.told = Some(Instant::now());
        eprint!("\r\x1b[K{}", line());
        let _ = std::io::stderr().flush();
    }

    pub(super) fn clear(&mut self) {
        if self.told.take().is_some() {
            eprint!("\r\x1b[K");
        }
    }
}

fn bar(done: u64, total: u64) -> String {
    let full = (done * BAR).checked_div(total).unwrap_or(BAR).min(BAR);
    let part = |sign: &str, length: u64| sign.repeat(usize::try_from(length).unwrap_or(0));
    format!("[{}{}]", part("#", full), part(".", BAR - full))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_fills() {
        assert_eq!(bar(0, 0).matches('#').count(), 30);
        assert_eq!(bar(50, 100).matches('#').count(), 15);
        assert_eq!(bar(9, 3).len(), 32);
    }
}
