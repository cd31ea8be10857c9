//! What an import found and did, for a person or as JSON.

use crate::{
    ops::import::{BadRow, Job, bad::TOLD_MAX, job::Done},
    types::error::{Error, Result},
};
use serde_json::{Value, json};
use std::{path::Path, time::Instant};

pub(super) struct Report {
    file: String,
    about: String,
    /// Headers and what they are, where they are imported.
    columns: Vec<(String, Option<String>)>,
    rows: u64,
    known: u64,
    bad_count: u64,
    bad: Vec<BadRow>,
    unlinked: Vec<BadRow>,
    warnings: Vec<String>,
    doubtful: Vec<BadRow>,
    encoding: Option<String>,
    done_before: u64,
    good: bool,
    dry_run: bool,
    done: Option<Done>,
    begun: Instant,
}

impl Report {
    pub(super) fn new(file: &Path, job: &Job, dry_run: bool, begun: Instant) -> Self {
        let columns = job.columns().iter();
        Self {
            file: file.display().to_string(),
            about: job.source().about(),
            columns: columns
                .map(|column| (column.header.clone(), column.target.name()))
                .collect(),
            rows: job.checked.rows,
            known: job.checked.known,
            bad_count: job.checked.bad.count() as u64,
            bad: job.checked.bad.told().to_vec(),
            unlinked: Vec::new(),
            warnings: job.warnings(),
            doubtful: job.checked.warnings.addresses().to_vec(),
            encoding: job.source().encoding(),
            done_before: job.done_before(),
            good: job.is_good(),
            dry_run,
            done: None,
            begun,
        }
    }

    pub(super) fn done(&mut self, done: Done) {
        self.bad_count += done.late.count() as u64;
        self.bad.extend(done.late.told().iter().cloned());
        self.bad.truncate(TOLD_MAX);
        self.unlinked = done.unlinked.told().to_vec();
        self.done = Some(done);
    }

    fn imported(&self) -> u64 {
        let done = self.done.as_ref();
        done.map_or(0, |done| done.created + done.updated)
    }

    /// Whether the command did what was asked.
    pub(super) fn verdict(&self) -> Result<()> {
        let late = self.done.as_ref().map_or(0, |done| done.late.count());
        if late > 0 {
            return Err(Error::invalid(format!(
                "{late} of {} rows were not imported",
                self.rows
            )));
        }
        let unlinked = self.done.as_ref().map_or(0, |done| done.unlinked.count());
        if unlinked > 0 {
            return Err(Error::invalid(format!(
                "{unlinked} of {} rows were imported without all that they refer to",
                self.rows
            )));
        }
        if self.good {
            return Ok(());
        }
        let more = if self.done_before > 0 { " more" } else { "" };
        Err(Error::invalid(format!(
            "{} of {} rows are bad: nothing{more} was imported; mend them, or leave them out with --skip-bad",
            self.bad_count, self.rows
        )))
    }

    pub(super) fn to_json(&self) -> Value {
        let columns = self.columns.iter();
        let columns: Vec<_> = columns
            .map(|(header, property)| json!({"header": header, "property": property}))
            .collect();
        let told = |row: &BadRow| json!({"line": row.line, "column": row.problem.column, "reason": row.problem.reason});
        let bad: Vec<_> = self.bad.iter().chain(&self.unlinked).map(told).collect();
        let doubtful: Vec<_> = self.doubtful.iter().map(told).collect();
        let done = self.done.as_ref();
        json!({
            "file": self.file,
            "format": self.about,
            "encoding": self.encoding,
            "columns": columns,
            "rows": self.rows,
            "known": self.known,
            "badRows": self.bad_count,
            "bad": bad,
            "warnings": self.warnings,
            "doubtful": doubtful,
            "dryRun": self.dry_run,
            "batch": done.map(|done| done.batch),
            "imported": self.imported(),
            "created": done.map_or(0, |done| done.created),
            "updated": done.map_or(0, |done| done.updated),
            "seconds": self.begun.elapsed().as_secs_f64(),
        })
    }

    pub(super) fn to_text(&self) -> String {
        let mut lines = vec![format!("{}: {} rows, {}", self.file, self.rows, self.about)];
        let widest = self
            .columns
            .iter()
            .map(|(header, _)| header.chars().count());
        let width = widest.max().unwrap_or(0).min(40);
        for (header, property) in &self.columns {
            let property = property.as_deref().unwrap_or("(not imported)");
            lines.push(format!("  {header:width$}  {property}"));
        }
        let warnings = self.warnings.iter().map(|told| format!("warning: {told}"));
        lines.extend(warnings);
        lines.extend(self.doubtful.iter().map(|row| format!("  {row}")));
        if self.done_before > 0 {
            lines.push(format!("{} rows were written before", self.done_before));
        }
        let bad = self.bad.iter().map(|row| format!("bad: {row}")).collect();
        lines.extend(super::shown(bad, self.bad_count));
        lines.extend(self.unlinked.iter().map(ToString::to_string));
        if self.dry_run {
            lines.push(format!(
                "good rows: {} ({} of them of records that are there), bad rows: {}; nothing was changed",
                self.rows - self.bad_count,
                self.known,
                self.bad_count
            ));
        } else if let Some(done) = &self.done {
            let seconds = self.begun.elapsed().as_secs_f64();
            lines.push(format!(
                "import {}: {} created, {} updated, {} skipped, in {seconds:.1} s; take it back with `gatepost import --undo {0}`",
                done.batch, done.created, done.updated, self.bad_count
            ));
        }
        lines.join("\n")
    }
}
