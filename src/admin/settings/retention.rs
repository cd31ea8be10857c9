//! Anonymous attendees: so many days after the event, with a test run of what would go.

use super::layout;
use crate::admin::prelude::*;
use crate::{
    admin::engine::SettingsForm,
    core::settings,
    domain::erasure::{
        anonymous::{self, Due},
        copies,
    },
};

const HERE: &str = "/console/settings/retention";

pub(super) fn routes() -> Routes {
    Routes::access(ADMINISTRATOR)
        .get(HERE, show)
        .post(HERE, save)
}

static FORM: SettingsForm = SettingsForm {
    heading: "After the event",
    path: HERE,
    part_of: Some("retention"),
    inputs: || {
        let days = Input::number(
            "anonymiseAfterDays",
            "Days after the event until attendees are anonymous",
            1,
            settings::ANONYMOUS_AFTER_MAX_DAYS,
        );
        vec![days.wide().help(
            "Names, codes, addresses, other data, notes, messages and free texts of all attendees go. Their records keep \
             number and type, and check-ins and purchases stay, so that counts and reports do. The dashboard announces it \
             for a week before. Leave empty to keep everything.",
        )]
    },
    ..SettingsForm::EMPTY
};

#[derive(Template)]
#[template(path = "settings/retention.html")]
struct Page {
    layout: Layout,
    form: Form,
    due: Option<Due>,
    is_set: bool,
    /// The rows that would go if its day were now: words and how many.
    extent: Vec<(&'static str, i64)>,
    /// Copies of the file that keep everything.
    copies: Vec<String>,
}

impl Page {
    async fn new(request: &RequestContext, again: Option<Form>) -> Result<Self> {
        let form = match again {
            Some(form) => form,
            None => FORM.form(&request.look_up(settings::stored)?)?,
        };
        let database = request.console.store.path().to_owned();
        let read = move |connection: &Connection| {
            let (settings, now) = (settings::load(connection)?, Timestamp::now());
            let due = anonymous::due(connection, &settings, now)?;
            let until = due.map_or(now, |due| due.until);
            let extent = anonymous::extent(connection, until)?.into_iter();
            Ok((
                settings.anonymous_after_days.is_some(),
                due,
                extent.map(|(table, count)| (words(table), count)).collect(),
                copies(connection, &database, Timestamp(0))?,
            ))
        };
        let (is_set, due, extent, copies) = request.read(read).await?;
        Ok(Self {
            layout: layout(request, "Retention"),
            form,
            due,
            is_set,
            extent,
            copies,
        })
    }
}

/// A table in words of the console.
fn words(table: &'static str) -> &'static str {
    match table {
        "delegates" => "Attendees without names and codes",
        "blocked_codes" => "Blocked codes",
        "gate_notes" => "Notes for gates",
        "interactions" => "Activities without texts",
        "refusals" => "Refusals without codes",
        "conflicts" => "Conflicts without texts",
        "unknown_tags" => "Tags of nobody",
        "shared_values" => "Texts that activities share",
        "audit" => "History without values",
        "idempotency_keys" => "Stored answers",
        "batch_rows" => "Rows of imports that can be undone no more",
        "messages" => "Messages",
        "webhook_attempts" => "Answers of webhooks",
        "print_jobs" => "Reasons for another badge",
        "transactions" => "Purchases without texts",
        "inconsistencies" => "Remarks about purchases",
        "ticket_serials" => "Numbers of signed tickets",
        "office_records" => "Copies of what the head office sent",
        "transaction_delegates" => "Tickets of purchases without codes",
        other => other,
    }
}

async fn show(request: RequestContext) -> Result<Response> {
    answer::page(&Page::new(&request, None).await?)
}

async fn save(request: RequestContext) -> Result<Response> {
    match FORM.save(&request).await? {
        None => request.done(FORM.saved, HERE),
        Some(again) => answer::form_again(&Page::new(&request, Some(again)).await?),
    }
}
