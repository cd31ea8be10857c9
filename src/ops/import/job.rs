//! One import from end to end: a file is opened and checked, and, once the findings were shown,
//! written. The command line and the console both import by this.

use super::{
    Batch, Checked, Columns, Findings, Import, Plan, Source, Stop, Survey, What,
    batches::{self, Options},
    check::check,
    slices,
    source::Fingerprint,
};
use crate::{
    core::Context,
    db::Store,
    ops::background::Background,
    types::{
        DeviceId,
        error::{Error, Result},
    },
};
use rusqlite::Connection;
use std::{ops::ControlFlow, sync::Arc};

/// A request for an import.
pub struct Request {
    /// The kind of the rows.
    pub what: What,
    pub options: Options,
    /// The device that the batch is for.
    pub device: Option<DeviceId>,
    /// The same file may be imported once more.
    pub again: bool,
}

/// A file that is checked.
pub struct Job {
    source: Arc<Source>,
    plan: Plan,
    pub findings: Findings,
    /// The result of the check.
    pub checked: Arc<Checked>,
    /// The batch that it takes up again.
    resumed: Option<Batch>,
    /// The same list may have been imported before.
    again: bool,
}

impl Job {
    /// Checks a file. Without a store nothing is compared with what is there. `on_rows` is told how many
    /// rows were looked at, and may stop it.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`] for what is wrong with the file or the request as a whole;
    /// bad rows are no error here.
    pub fn check(
        store: Option<&Store>,
        source: Source,
        ctx: Context,
        request: Request,
        background: &Background,
        on_rows: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<Self> {
        let again = request.again || request.options.key.is_some();
        let (source, plan, findings) = planned(
            source,
            ctx,
            request.what,
            request.options,
            request.device,
            background,
        )?;
        if let Some(store) = store.filter(|_| !again) {
            let list = source.fingerprint();
            store.look_up(|connection| refuse_again(connection, plan.what, &list))?;
        }
        let checked = check(&source, &plan, store, None, background, on_rows)?;
        if checked.rows == 0 {
            return Err(Error::field(source.name(), "has a header and no rows"));
        }
        Ok(Self {
            source: Arc::new(source),
            plan,
            findings,
            checked: Arc::new(checked),
            resumed: None,
            again,
        })
    }

    /// Checks what is left of an import that was interrupted.
    pub fn resume(
        store: &Store,
        source: Source,
        ctx: Context,
        batch: Batch,
        skip_bad: bool,
        background: &Background,
        on_rows: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<Self> {
        let id = batch.id;
        let refused = |reason: String| Err(Error::invalid(reason));
        if batch.undone_at.is_some() {
            return refused(format!("import {id} was taken back; import the file anew"));
        }
        if batch.finished_at.is_some() {
            return refused(format!("import {id} is complete"));
        }
        if source.fingerprint().sha256 != batch.sha256 {
            return refused(format!(
                "{} is not the file that import {id} was made from: it was changed, or is another one",
                source.name()
            ));
        }
        let mut options = batch.options.clone();
        options.skip_bad |= skip_bad;
        let (source, plan, findings) =
            planned(source, ctx, batch.what, options, batch.device, background)?;
        let checked = check(
            &source,
            &plan,
            Some(store),
            Some(&batch),
            background,
            on_rows,
        )?;
        // Rows that another command wrote meanwhile would be taken for bad ones.
        let now = store.look_up(|connection| batches::find(connection, id))?;
        if now.done != batch.done {
            return refused(format!("another command goes on with import {id}"));
        }
        Ok(Self {
            source: Arc::new(source),
            plan,
            findings,
            checked: Arc::new(checked),
            resumed: Some(batch),
            again: true,
        })
    }

    #[must_use]
    pub fn source(&self) -> &Source {
        &self.source
    }

    #[must_use]
    pub fn columns(&self) -> &Columns {
        &self.plan.columns
    }

    /// Returns whether it may be written: nothing is asked, and no row is bad, or bad ones are to be left out.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.findings.asked().is_empty()
            && (self.plan.options.skip_bad || self.checked.bad.count() == 0)
    }

    /// Doubts that keep no row out, as sentences.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let findings = self.findings.warnings.iter().cloned();
        findings
            .chain(self.checked.warnings.sentences(&self.plan))
            .collect()
    }

    /// Rows that were written before it was interrupted.
    #[must_use]
    pub fn done_before(&self) -> u64 {
        self.resumed.as_ref().map_or(0, |batch| batch.done)
    }

    /// Writes the good rows; `on_progress` is called after each slice, first when its batch is
    /// begun.
    pub fn run(
        &self,
        store: &Store,
        stop: Stop,
        mut on_progress: impl FnMut(&Import),
    ) -> Result<Import> {
        if !self.is_good() {
            return Err(Error::invalid(
                "rows are bad, or questions are open: nothing was written",
            ));
        }
        let done = self.done_before();
        let batch = match &self.resumed {
            Some(batch) => batch.id,
            None => self.begin(store)?,
        };
        let source = Arc::clone(&self.source);
        let checked = Arc::clone(&self.checked);
        let import = Import::new(source, self.plan.clone(), checked, batch, done, stop)?;
        on_progress(&import);
        slices::write(store, import, on_progress).map_err(|cause| {
            Error::new(
                cause.kind,
                format!("import {batch} was interrupted: {cause}"),
            )
        })
    }

    fn begin(&self, store: &Store) -> Result<i64> {
        let (plan, list) = (self.plan.clone(), self.source.fingerprint());
        let (rows, again) = (self.checked.rows, self.again);
        store
            .write(move |tx| {
                if !again {
                    // Another command may have begun with it since the check.
                    refuse_again(tx, plan.what, &list)?;
                }
                batches::begin(tx, &plan, &list, rows)
            })
            .wait()
    }
}

/// Finds the header of a list, surveys it, and plans its import.
fn planned(
    source: Source,
    ctx: Context,
    what: What,
    options: Options,
    device: Option<DeviceId>,
    background: &Background,
) -> Result<(Source, Plan, Findings)> {
    let source = source.with_header_found(what, &options.map)?;
    let survey = Survey::of(&source, &options, background)?;
    let plan = Plan::new(&source, ctx, what, options, device, &survey)?;
    let findings = Findings::of(&plan.columns, &survey, &plan.options);
    Ok((source, plan, findings))
}

/// A file that is imported twice by mistake would make everybody twice.
fn refuse_again(connection: &Connection, what: What, list: &Fingerprint) -> Result<()> {
    let earlier = batches::of_list(connection, what, list)?;
    let Some(earlier) = earlier else {
        return Ok(());
    };
    let id = earlier.id;
    Err(Error::invalid(if earlier.finished_at.is_some() {
        format!(
            "this file was imported already (import {id}); take that back with `gatepost import --undo {id}`, or insist with --again"
        )
    } else {
        format!(
            "an import of this file came to {} of {} rows; if it goes on no more, complete it with `gatepost import --resume {id}`, or take it back with `gatepost import --undo {id}`",
            earlier.done, earlier.total
        )
    }))
}
