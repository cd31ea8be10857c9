//! The question after another time zone was set: which times of places stay, those on the clock or the moments.

use crate::admin::prelude::*;
use crate::domain::devices::wall_clock;
use std::sync::Arc;

const HERE: &str = "/console/settings/times";
/// Places that the question shows.
const SHOWN: usize = 3;

pub(super) fn routes() -> Routes {
    Routes::access(ADMINISTRATOR)
        .get(HERE, ask)
        .post(HERE, decide)
}

/// The page of the question, where there are places with times.
pub(super) fn path(request: &RequestContext, before: &Zone) -> Result<Option<String>> {
    let (timed, _) = request.look_up(wall_clock::timed)?;
    let before = before.iana_name();
    let is_other = before != request.console.settings().zone.iana_name();
    let path = || format!("{HERE}?from={}", before.replace('+', "%2B"));
    Ok((is_other && !timed.is_empty()).then(path))
}

async fn ask(request: RequestContext) -> Result<Response> {
    let from = Zone::named(request.query.text("from"))?;
    let to = request.console.settings().zone.clone();
    let (timed, version) = request.look_up(wall_clock::timed)?;
    let starts = timed.iter().filter_map(|(_, start, end)| start.or(*end));
    let starts: Vec<Timestamp> = starts.take(SHOWN).collect();
    let told = |zone: &Zone| {
        let starts = starts
            .iter()
            .map(|start| zone.plain(*start)[..16].to_owned());
        starts.collect::<Vec<_>>().join(", ")
    };
    let (before, after) = (told(&from), told(&to));
    let kept = [
        ("clock", format!("What the clock shows: {before}")),
        (
            "moment",
            format!("The moments; on the clock they are {after} now"),
        ),
    ];
    let form = Form {
        action: HERE.to_owned(),
        cancel: "/console/settings".to_owned(),
        submit: "Keep".to_owned(),
        version: version.to_string(),
        groups: vec![
            Group::new(
                "",
                vec![
                    Input::hidden("from", from.iana_name()),
                    Input::radios("kept", "What is right?", choices(kept, "clock")),
                ],
            )
            .help(format!(
                "{} places have times, which were read in {}; the time zone is {} now.",
                timed.len(),
                from.iana_name(),
                to.iana_name()
            )),
        ],
        ..Form::default()
    };
    engine::form_page(&request, "Times of places", Area::Settings, form)
}

async fn decide(request: RequestContext) -> Result<Response> {
    let back = "/console/settings";
    if request.form.text("kept") != "clock" {
        return request.done("The times of places stay as they are.", back);
    }
    let zones = (
        Zone::named(request.form.text("from"))?,
        request.console.settings().zone.clone(),
    );
    let version = request.form.text("version").parse().unwrap_or_default();
    let ctx = Arc::new(request.context());
    let kept = wall_clock::keep(&request.console.store, ctx, zones, version).await;
    match kept {
        Ok(1) => request.done("The times of 1 place are as on the clock.", back),
        Ok(count) => request.done(
            format!("The times of {count} places are as on the clock."),
            back,
        ),
        Err(cause) => request.done(format!("Nothing was changed: {cause}."), back),
    }
}
