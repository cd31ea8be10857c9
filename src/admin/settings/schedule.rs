//! The schedule of backups.

use super::backups::{HERE, Page};
use crate::admin::prelude::*;
use crate::{
    admin::{engine::SettingsForm, layout::bytes},
    core::settings::BACKUP_EVERY_MAX,
    ops::backup::{folder, run},
};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

pub(super) static SCHEDULE: SettingsForm = SettingsForm {
    heading: "Scheduled",
    path: "/console/settings/backups/plan",
    part_of: Some("backups"),
    inputs: || {
        vec![
            Input::flag("on", "Make backups on a schedule").wide(),
            Input::number("everyMinutes", "Every", 1, BACKUP_EVERY_MAX.into()).required(),
            Input::select("unit", "Minutes or hours", ["minutes", "hours"].map(|unit| (unit, unit))),
            Input::number("keep", "Keep the newest", 1, i64::from(u32::MAX))
                .required()
                .help("Older backups of the schedule are deleted."),
            Input::text("folder", "Folder").placeholder("the folder backups beside the file").help(
                "Best on a stick or another disk: a laptop that is lost takes its own disk along. If \
                 the folder is missing, this page and the dashboard report it.",
            ),
        ]
    },
    shown: |mut plan| {
        plan.insert("on".into(), (!plan.is_empty()).into());
        let every = plan
            .get("everyMinutes")
            .and_then(Value::as_i64)
            .unwrap_or(60);
        let is_hours = every % 60 == 0;
        plan.insert(
            "everyMinutes".into(),
            if is_hours { every / 60 } else { every }.into(),
        );
        plan.insert(
            "unit".into(),
            if is_hours { "hours" } else { "minutes" }.into(),
        );
        plan.entry("keep").or_insert_with(|| 24.into());
        plan
    },
    stored: |mut form| {
        let is_on = form.remove("on") == Some(json!(true));
        let minutes = if form.remove("unit") == Some(json!("hours")) {
            60
        } else {
            1
        };
        if let Some(every) = form.get("everyMinutes").and_then(Value::as_i64) {
            form.insert("everyMinutes".into(), (every * minutes).into());
        }
        if is_on { form } else { Map::new() }
    },
    saved: "Schedule saved.",
    ..SettingsForm::EMPTY
};

pub(super) async fn save(request: RequestContext) -> Result<Response> {
    let found = if request.form.ticked("on") || request.form.text("do") == "look" {
        look(&request).await.map(Some)
    } else {
        Ok(None)
    };
    if request.form.text("do") == "look"
        && let Ok(found) = found
    {
        let mut page = Page::new(&request).await?;
        page.schedule.refill(&request.form);
        page.found = found;
        return answer::page(&page);
    }
    match SCHEDULE.save_checked(&request, found.map(drop)).await? {
        None => request.done(SCHEDULE.saved, HERE),
        Some(again) => {
            let mut page = Page::new(&request).await?;
            page.schedule = again;
            answer::form_again(&page)
        }
    }
}

/// Looks at the folder of the form: what it offers, in words.
async fn look(request: &RequestContext) -> Result<String> {
    let database = request.console.store.path().to_owned();
    let own = run::own_folder(&database);
    let folder = match request.form.filled("folder").map(PathBuf::from) {
        Some(folder) if !folder.is_absolute() => {
            return Err(Error::field(
                "folder",
                "must be a whole path, such as /media/stick",
            ));
        }
        Some(folder) => folder,
        // It is created when it is needed.
        None if !own.exists() => own.parent().unwrap_or(Path::new("")).to_owned(),
        None => own,
    };
    let room = run::on_thread(move || {
        let folder = std::path::absolute(folder).map_err(Error::invalid_cause)?;
        folder::look(&folder, &database)
    });
    let room = room.await.map_err(|cause| cause.at("folder"))?;
    Ok(format!(
        "The folder can be written to. Free: {}. A backup takes {} now.",
        bytes(room.free),
        bytes(room.needed)
    ))
}
