//! The time of the next scheduled backup. The ledger has the earlier ones: so a restart forgets nothing,
//! and a clock that jumps causes one backup more, or a short delay.

use super::{
    folder,
    ledger::{self, Entry, Purpose},
    run,
};
use crate::{
    core::{
        Context,
        settings::{BackupPlan, Settings},
    },
    db::Store,
    types::{Timestamp, error::Result},
};
use std::{path::Path, sync::Arc};

const MINUTE_MS: i64 = 60_000;
/// After a failure, such as a stick that is not there, it is tried again so often.
const AGAIN_MS: i64 = 5 * MINUTE_MS;
/// A backup of the future by more than this is one before the clock was put back.
const AHEAD_MAX_MS: i64 = MINUTE_MS;

/// Returns whether a backup is due, after the last one of the plan.
#[must_use]
pub fn is_due(plan: &BackupPlan, last: Option<&Entry>, now: Timestamp) -> bool {
    let Some(last) = last else {
        return true;
    };
    let every = i64::from(plan.every_minutes) * MINUTE_MS;
    let wait = if last.failure.is_some() {
        every.min(AGAIN_MS)
    } else {
        every
    };
    let since = now.0 - last.started_at.0;
    since >= wait || since < -AHEAD_MAX_MS
}

/// The plan, if a backup is due at `now`; it only reads.
pub fn due<'a>(
    store: &Store,
    settings: &'a Settings,
    now: Timestamp,
) -> Result<Option<&'a BackupPlan>> {
    let Some(plan) = &settings.backups else {
        return Ok(None);
    };
    let last = store.look_up(|connection| ledger::last(connection, Purpose::Scheduled))?;
    Ok(is_due(plan, last.as_ref(), now).then_some(plan))
}

/// Makes a backup if one is due at `now`, and deletes those of the plan that are too many; to be
/// called once in a while, on a thread that may wait. Whether one was made.
pub fn tick(store: &Store, settings: &Arc<Settings>, now: Timestamp) -> Result<bool> {
    let Some(plan) = due(store, settings, now)? else {
        return Ok(false);
    };
    run::end_interrupted(store, now)?;
    let ctx = Context {
        actor: "schedule".into(),
        ..Context::of_command("admin", Arc::clone(settings))
    };
    let own = || run::own_folder(store.path());
    let folder = plan.folder.clone().unwrap_or_else(own);
    run::into_folder(store, &ctx, Purpose::Scheduled, &folder, now)?;
    thin(store, &ctx, plan, &folder)?;
    Ok(true)
}

/// Deletes the oldest backups of the plan in its folder, beyond those that are kept.
fn thin(store: &Store, ctx: &Context, plan: &BackupPlan, of: &Path) -> Result<()> {
    let of = std::path::absolute(of).map_err(crate::types::error::Error::invalid_cause)?;
    let all = store.look_up(|connection| ledger::of_plan(connection, &of))?;
    for entry in all.into_iter().skip(plan.keep as usize) {
        if let Err(cause) = folder::delete(&entry.path, store.path()) {
            tracing::warn!("an old backup stays: {cause}");
            continue;
        }
        let ctx = ctx.clone();
        store
            .write(move |tx| ledger::forget(tx, &ctx, &entry))
            .wait()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn a_backup_is_due_whatever_the_clock_does() {
        let plan = BackupPlan {
            every_minutes: 30,
            keep: 3,
            folder: None,
        };
        let last = |at: i64, failure: Option<&str>| Entry {
            id: 1,
            purpose: Purpose::Scheduled,
            path: PathBuf::from("/x"),
            started_at: Timestamp(at * MINUTE_MS),
            finished_at: Some(Timestamp(at * MINUTE_MS)),
            bytes: None,
            failure: failure.map(Into::into),
            checked_at: None,
            check_failure: None,
        };
        assert!(is_due(&plan, None, Timestamp(0)));
        for (at, failure, now, due) in [
            (100, None, 129, false),
            (100, None, 130, true),
            // The clock was put forward, or the server was off.
            (100, None, 5000, true),
            // It was put back: by a little, and by more.
            (100, None, 99, false),
            (100, None, 98, true),
            (100, Some("no stick"), 104, false),
            (100, Some("no stick"), 105, true),
        ] {
            let last = last(at, failure);
            let is_due = is_due(&plan, Some(&last), Timestamp(now * MINUTE_MS));
            assert_eq!(is_due, due, "{at} {failure:?} {now}");
        }
    }
}
