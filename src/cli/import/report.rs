//! The report of an import, for a person or as JSON.

use super::shown;
use crate::{
    ops::import::{BadRow, Import, Job, bad::LISTED_MAX},
    types::error::{Error, Result},
};
use serde_json::{Value, json};
use std::{path::Path, time::Instant};

pub(super) struct Report<'a> {
    pub file: &'a Path,
    pub job: &'a Job,
    pub dry_run: bool,
    pub begun: Instant,
    pub done: Option<Import>,
    /// Scans that gates refused before their codes were known, once it is done.
    pub late_scans: Option<usize>,
}

impl Report<'_> {
    /// Counts the rows that were late, and those imported without all that they refer to.
    fn failed(&self) -> [u64; 2] {
        self.done.as_ref().map_or([0, 0], |done| {
            [&done.late, &done.unlinked].map(|rows| rows.count() as u64)
        })
    }

    fn bad_count(&self) -> u64 {
        self.job.checked.bad.count() as u64 + self.failed()[0]
    }

    fn bad(&self) -> Vec<&BadRow> {
        let late = self.done.iter().flat_map(|done| done.late.listed());
        let bad = self.job.checked.bad.listed().iter().chain(late);
        bad.take(LISTED_MAX).collect()
    }

    fn unlinked(&self) -> &[BadRow] {
        self.done
            .as_ref()
            .map_or(&[], |done| done.unlinked.listed())
    }

    /// Fails where the command did not do all that was asked.
    pub(super) fn verdict(&self) -> Result<()> {
        let rows = self.job.checked.rows;
        let [late, unlinked] = self.failed();
        if late > 0 {
            return Err(Error::invalid(format!(
                "{late} of {rows} rows were not imported"
            )));
        }
        if unlinked > 0 {
            return Err(Error::invalid(format!(
                "{unlinked} of {rows} rows were imported without all that they refer to"
            )));
        }
        let asked = self.job.findings.asked().join("; ");
        if !asked.is_empty() {
            return Err(Error::invalid(format!("{asked}; nothing was imported")));
        }
        if self.job.is_good() {
            return Ok(());
        }
        let more = if self.job.done_before() > 0 {
            " more"
        } else {
            ""
        };
        Err(Error::invalid(format!(
            "{} of {rows} rows are bad: nothing{more} was imported; mend them, or leave them out with --skip-bad",
            self.bad_count()
        )))
    }

    pub(super) fn to_json(&self) -> Value {
        let (job, done) = (self.job, self.done.as_ref());
        let columns: Vec<_> = job
            .columns()
            .iter()
            .map(|column| json!({"header": column.header, "property": column.target.name()}))
            .collect();
        let row = |row: &BadRow| json!({"line": row.line, "column": row.problem.column, "reason": row.problem.reason});
        let bad = self.bad().into_iter().chain(self.unlinked());
        let doubtful = job.checked.warnings.addresses().iter();
        let counts = done.map_or([0, 0], |done| [done.created, done.updated]);
        json!({
            "file": self.file.display().to_string(),
            "format": job.source().about(),
            "encoding": job.source().encoding(),
            "columns": columns,
            "rows": job.checked.rows,
            "known": job.checked.known,
            "badRows": self.bad_count(),
            "leftOut": job.checked.left_out.count(),
            "leftOutRows": job.checked.left_out.listed().iter().map(row).collect::<Vec<_>>(),
            "recognised": job.findings.recognised,
            "questions": job.findings.asked(),
            "bad": bad.map(row).collect::<Vec<_>>(),
            "warnings": job.warnings(),
            "doubtful": doubtful.map(row).collect::<Vec<_>>(),
            "dryRun": self.dry_run,
            "batch": done.map(|done| done.batch),
            "imported": counts[0] + counts[1],
            "created": counts[0],
            "updated": counts[1],
            "lateScans": self.late_scans,
            "seconds": self.begun.elapsed().as_secs_f64(),
        })
    }

    pub(super) fn to_text(&self) -> String {
        let checked = &self.job.checked;
        let mut lines = self.about_list();
        if self.job.done_before() > 0 {
            let before = self.job.done_before();
            lines.push(format!("{before} rows were written before"));
        }
        let left_out = checked.left_out.listed().iter();
        let left_out = left_out.map(|row| format!("left out: {row}")).collect();
        lines.extend(shown(left_out, checked.left_out.count() as u64));
        let asked = self.job.findings.asked().into_iter();
        lines.extend(asked.map(|question| format!("asked: {question}")));
        let bad = self.bad().iter().map(|row| format!("bad: {row}")).collect();
        lines.extend(shown(bad, self.bad_count()));
        lines.extend(self.unlinked().iter().map(ToString::to_string));
        lines.extend(self.counts());
        if let Some(late) = self.late_scans.filter(|late| *late > 0) {
            lines.push(format!(
                "gates refused {late} scans of codes that are known by now; record them in the console, Activity, Refusals"
            ));
        }
        lines.join("\n")
    }

    /// The list with its columns, findings and doubts, a line each.
    fn about_list(&self) -> Vec<String> {
        let (job, checked) = (self.job, &self.job.checked);
        let (file, about) = (self.file.display(), job.source().about());
        let mut lines = vec![format!("{file}: {} rows, {about}", checked.rows)];
        let headers = job.columns().iter();
        let widths = headers.map(|column| column.header.chars().count());
        let width = widths.max().unwrap_or(0).min(40);
        lines.extend(job.columns().iter().map(|column| {
            let property = column.target.name();
            let property = property.as_deref().unwrap_or("(not imported)");
            format!("  {:width$}  {property}", column.header)
        }));
        let recognised = job.findings.recognised.iter();
        lines.extend(recognised.map(|one| format!("recognised: {one}")));
        let warnings = job.warnings().into_iter();
        lines.extend(warnings.map(|warning| format!("warning: {warning}")));
        let doubtful = checked.warnings.addresses().iter();
        lines.extend(doubtful.map(|row| format!("  {row}")));
        lines
    }

    /// The numbers of rows that were, or would be, imported; none where the import failed.
    fn counts(&self) -> Option<String> {
        let (checked, bad) = (&self.job.checked, self.bad_count());
        let left_out = checked.left_out.count() as u64;
        if self.dry_run {
            return Some(format!(
                "good rows: {} ({} of them of records that are there), bad rows: {bad}, left out: {left_out}; nothing was changed",
                checked.rows - bad - left_out,
                checked.known,
            ));
        }
        let done = self.done.as_ref()?;
        let seconds = self.begun.elapsed().as_secs_f64();
        let left_out = match left_out {
            0 => String::new(),
            count => format!(", {count} left out"),
        };
        Some(format!(
            "import {}: {} created, {} updated, {bad} skipped{left_out}, in {seconds:.1} s; take it back with `gatepost import --undo {0}`",
            done.batch, done.created, done.updated
        ))
    }
}
