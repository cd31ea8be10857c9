//! The plan by which backups are made.

use super::{
    backups::{HERE, Page},
    mark, told_of,
};
use crate::{
    admin::{Fields, RequestContext, Route, answer, layout::bytes, route},
    core::settings::{self, BACKUP_EVERY_MAX, BackupPlan},
    ops::backup::{folder, run},
    types::error::{Error, Result},
};
use poem::Response;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

pub(super) fn routes() -> Vec<Route> {
    vec![Route::post(
        "/console/settings/backups/plan",
        route::ADMINISTRATOR,
        save,
    )]
}

/// The plan as its form shows it.
pub(super) struct PlanForm {
    pub(super) on: bool,
    pub(super) every: String,
    pub(super) hours: bool,
    pub(super) keep: String,
    pub(super) folder: String,
    pub(super) seen: String,
    /// What a look at the folder found.
    pub(super) found: Option<String>,
}

impl PlanForm {
    pub(super) fn of(plan: Option<&BackupPlan>) -> Self {
        let every = plan.map_or(60, |plan| plan.every_minutes);
        let hours = every.is_multiple_of(60);
        Self {
            on: plan.is_some(),
            every: if hours { every / 60 } else { every }.to_string(),
            hours,
            keep: plan.map_or(24, |plan| plan.keep).to_string(),
            folder: plan
                .and_then(|plan| plan.folder.as_ref())
                .map(|folder| folder.display().to_string())
                .unwrap_or_default(),
            seen: seen(plan),
            found: None,
        }
    }

    fn typed(form: &Fields) -> Self {
        Self {
            on: form.ticked("on"),
            every: form.text("every").to_owned(),
            hours: form.text("unit") == "hours",
            keep: form.text("keep").to_owned(),
            folder: form.text("folder").to_owned(),
            seen: form.text("seen").to_owned(),
            found: None,
        }
    }
}

fn value(plan: &BackupPlan) -> Value {
    let mut value = json!({"everyMinutes": plan.every_minutes, "keep": plan.keep});
    if let Some(folder) = &plan.folder {
        value["folder"] = folder.to_string_lossy().into();
    }
    value
}

fn seen(plan: Option<&BackupPlan>) -> String {
    mark(&plan.map(value))
}

/// The plan of a form; none where it is switched off.
fn plan(form: &Fields) -> Result<Option<Value>> {
    if !form.ticked("on") {
        return Ok(None);
    }
    let number = |name: &str, called: &str| -> Result<u32> {
        crate::types::text::whole(form.text(name))
            .map_err(|fault| Error::invalid(format!("{called}: {fault}")))
    };
    let times = if form.text("unit") == "hours" { 60 } else { 1 };
    let every = number("every", "Every")?.saturating_mul(times);
    if !(1..=BACKUP_EVERY_MAX).contains(&every) {
        return Err(Error::invalid("Every: must be from one minute to a week"));
    }
    let mut plan = json!({
        "everyMinutes": every,
        "keep": number("keep", "Keep the newest")?,
    });
    if let Some(folder) = form.filled("folder") {
        plan["folder"] = folder.into();
    }
    settings::check(&[("backups".to_owned(), plan.clone())].into_iter().collect())?;
    Ok(Some(plan))
}

async fn save(request: RequestContext) -> Result<Response> {
    let outcome = if request.form.text("do") == "look" {
        look(&request).await.map(Some)
    } else {
        store(&request).await.map(|()| None)
    };
    match outcome {
        Ok(None) => Ok(answer::go(HERE)),
        Ok(Some(found)) => {
            let mut page = Page::new(&request).await?;
            page.plan = PlanForm::typed(&request.form);
            page.plan.found = Some(found);
            answer::page(&page)
        }
        Err(cause) => {
            let mut page = Page::new(&request).await?;
            page.plan = PlanForm::typed(&request.form);
            page.failed = "plan";
            page.failure = told_of(cause)?;
            answer::form_again(&page)
        }
    }
}

/// The folder of a form, looked at: what it offers, in words.
async fn look(request: &RequestContext) -> Result<String> {
    let database = request.console.store.path().to_owned();
    let own = run::own_folder(&database);
    let folder = match request.form.filled("folder").map(PathBuf::from) {
        Some(folder) if !folder.is_absolute() => {
            return Err(Error::invalid(
                "the folder must be a whole path, such as /media/stick",
            ));
        }
        Some(folder) => folder,
        // It is made when it is needed.
        None if !own.exists() => own.parent().unwrap_or(Path::new("")).to_owned(),
        None => own,
    };
    let room = run::on_thread(move || {
        let folder = std::path::absolute(folder).map_err(Error::invalid_cause)?;
        folder::look(&folder, &database)
    })
    .await?;
    Ok(format!(
        "The folder is there and can be written to. {} are free; a backup takes {} now.",
        bytes(room.free),
        bytes(room.needed)
    ))
}

async fn store(request: &RequestContext) -> Result<()> {
    let plan = plan(&request.form)?;
    if plan.is_some() {
        look(request).await?;
    }
    let was = request.form.text("seen").to_owned();
    let said = if plan.is_some() {
        "Backups are made by this plan from now on."
    } else {
        "No backups are made by themselves any more."
    };
    request.write(move |tx, ctx| {
            if seen(settings::load(tx)?.backups.as_ref()) != was {
                return Err(Error::invalid(
                    "somebody else changed the plan meanwhile, and nothing of yours was saved; open \
                     the page again to see what it is now",
                ));
            }
            let plan = plan.unwrap_or(Value::Null);
            settings::save(tx, ctx, &[("backups".to_owned(), plan)].into_iter().collect())
        })
        .await?;
    request.flash(said);
    Ok(())
}
