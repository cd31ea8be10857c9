//! Progress of long commands: a bar on a terminal, nothing or short lines elsewhere.

use indicatif::{ProgressBar, ProgressStyle};
use std::{io::IsTerminal, time::Duration};

/// The time after which the elapsed time is drawn anew while a step takes long.
const TICK: Duration = Duration::from_millis(200);

pub(super) struct Progress {
    bar: ProgressBar,
    /// Set where steps are printed as lines, because there is no terminal to draw on.
    lines: bool,
}

impl Progress {
    pub(super) fn new() -> Self {
        let bar = ProgressBar::new_spinner();
        bar.set_style(style(MESSAGE));
        Self { bar, lines: false }
    }

    /// Shows steps; without a terminal each is a line on standard error, unless `quiet`.
    pub(super) fn of_steps(quiet: bool) -> Self {
        let progress = Self::new();
        progress.bar.set_style(style(TIMED));
        progress.bar.enable_steady_tick(TICK);
        Self {
            lines: !quiet && !std::io::stderr().is_terminal(),
            ..progress
        }
    }

    pub(super) fn step(&self, number: usize, of: usize, what: &str) {
        let line = format!("[{number}/{of}] {what}");
        if self.lines {
            eprintln!("{line}");
        }
        self.bar.set_message(line);
    }

    /// Shows how many rows are done; `what` is done to them, such as "checked".
    pub(super) fn rows(&self, rows: u64, what: &str) {
        self.bar.set_message(format!("{rows} rows {what}"));
    }

    pub(super) fn written(&self, batch: i64, done: u64, total: u64) {
        if self.bar.length() != Some(total) {
            self.bar.set_length(total);
            self.bar.set_style(style(BAR).progress_chars("#>."));
            self.bar.set_message(format!("import {batch}"));
        }
        self.bar.set_position(done);
    }

    /// Shows `what` and the time that passed while `work` is done, on a terminal only.
    pub(super) fn during<T>(what: &'static str, work: impl FnOnce() -> T) -> T {
        let bar = ProgressBar::new_spinner().with_style(style(TIMED));
        bar.set_message(what);
        bar.enable_steady_tick(TICK);
        let outcome = work();
        bar.finish_and_clear();
        outcome
    }

    pub(super) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

/// Templates of a line: a message alone, with the time that passed, and a bar.
const MESSAGE: &str = "{msg}";
const TIMED: &str = "{msg} ({elapsed})";
const BAR: &str = "[{bar:30}] {pos} of {len} rows, {msg}";

/// The style of one of the templates above; a test tries each.
fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_template_can_be_read() {
        for template in [MESSAGE, TIMED, BAR] {
            assert!(ProgressStyle::with_template(template).is_ok(), "{template}");
        }
    }
}
