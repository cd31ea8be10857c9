//! One thing done to many attendees: chosen in the list, looked at with who would be refused, then written in slices.

use super::list::{self, Filter};
use crate::admin::{
    import::work_on_batch, interactions::refusals::CODES, layout::number, prelude::*,
};
use crate::{
    domain::{
        delegates::{self, blocked::REASONS, name_of},
        devices,
    },
    ops::{
        bulk::{self, Action, Tally},
        import::uploads::{Outcome, Phase},
    },
    types::{DelegateId, DeviceId},
};

pub(super) const PAGE: &str = "/console/delegates/bulk";
/// Refused attendees that the page names.
const SHOWN_MAX: usize = 50;

#[derive(Template)]
#[template(path = "delegates/bulk.html")]
struct Page {
    layout: Layout,
    filter: Filter,
    /// The action, by its name in the address.
    action: String,
    verb: &'static str,
    /// What it needs to know, such as the place.
    input: Option<Input>,
    people: i64,
    preview: Option<Preview>,
    failure: Option<String>,
}

/// The value of a field.
fn chosen(input: &Input) -> &str {
    let chosen = input.choices.iter().find(|choice| choice.chosen);
    chosen.map_or(&input.value, |choice| &choice.value)
}

struct Preview {
    tally: Tally,
    /// The first of those who are refused, with their names.
    named: Vec<(DelegateId, String, String)>,
}

impl Preview {
    /// Those who are refused, by the reason.
    fn reasons(&self) -> Vec<(i64, &'static str)> {
        let told = |code: i64| {
            let known = CODES.iter().find(|(known, _)| *known == code);
            known.map_or("Not possible", |(_, words)| *words)
        };
        let refused = self.tally.refused.iter();
        refused.map(|(code, count)| (*count, told(*code))).collect()
    }
}

/// The actions, as buttons and addresses have them.
const ACTIONS: [(&str, &str); 8] = [
    ("check-in", "Check in"),
    ("check-out", "Check out"),
    ("register", "Register"),
    ("type", "Set type"),
    ("flag", "Add flag"),
    ("block", "Block tickets"),
    ("unblock", "Unblock tickets"),
    ("delete", "Delete"),
];

/// Reads the action of an address or a form; none where something is still to be chosen.
fn action(fields: &Fields) -> Result<Option<Action>> {
    let with = fields.text("with");
    let place = || -> Result<Option<DeviceId>> { Ok(fields.number("with")?.map(DeviceId)) };
    let text = || Some(with.to_owned()).filter(|text| !text.is_empty());
    Ok(match fields.text("do") {
        "check-in" => place()?.map(Action::CheckIn),
        "check-out" => place()?.map(Action::CheckOut),
        "register" => place()?.map(Action::Register),
        "type" => {
            text().map(|name| Action::SetType(if name == NO_TYPE { String::new() } else { name }))
        }
        "flag" => text().map(Action::AddFlag),
        "block" => text().map(Action::Block),
        "unblock" => Some(Action::Unblock),
        "delete" => Some(Action::Delete),
        _ => return Err(Error::field("do", "is no action on attendees")),
    })
}

/// Stands for no type.
const NO_TYPE: &str = "-";

/// The field of what an action needs to know.
fn input(connection: &Connection, action: &str) -> Result<Option<Input>> {
    let none = || std::iter::once(Choice::new("", "Choose …", true));
    let chosen = |label, choices: Vec<Choice>| {
        Some(Input::select("with", label, none().chain(choices)).required())
    };
    let plain = |text: String| Choice::new(text.clone(), text, false);
    Ok(match action {
        "check-in" | "check-out" | "register" => {
            let places = devices::places(connection)?.into_iter();
            let places = places.map(|place| Choice::named(place.id.to_string(), place.name, false));
            chosen("Place", places.collect())
        }
        "type" => {
            let types = delegates::types(connection)?;
            Some(
                Input::text("with", "Type")
                    .offered(types)
                    .help(format!("A new one, too. {NO_TYPE} takes the type away."))
                    .required(),
            )
        }
        "flag" => {
            let letters = ('a'..='d').map(|letter| {
                Choice::new(
                    letter.to_string(),
                    format!("{letter}, of this event's own"),
                    false,
                )
            });
            chosen("Flag", letters.collect())
        }
        "block" => {
            let reasons = REASONS.iter().map(|reason| plain((*reason).to_owned()));
            chosen("This badge was …", reasons.collect())
        }
        _ => None,
    })
}

pub(super) async fn ask(request: RequestContext) -> Result<Response> {
    let filter = Filter::of_selected(&request.query);
    let typed = &request.query;
    match typed.text("do") {
        "" => return Ok(answer::go(&format!("/console/delegates?{}", filter.query))),
        "badges" => {
            return Ok(answer::go(&format!(
                "{}?{}",
                super::print::PAGE,
                filter.query
            )));
        }
        "message" => {
            let path = format!("/console/messages/new?{}", filter.query);
            return Ok(answer::go(&path));
        }
        format @ ("csv" | "xlsx") => {
            let path = format!("/console/delegates/export?format={format}&{}", filter.query);
            return Ok(answer::go(&path));
        }
        _ => {}
    }
    show(request, filter, None).await
}

async fn show(request: RequestContext, filter: Filter, failure: Option<Error>) -> Result<Response> {
    let fields = if request.form.text("do").is_empty() {
        &request.query
    } else {
        &request.form
    };
    let name = fields.text("do").to_owned();
    let asked = action(fields);
    let verb = ACTIONS.iter().find(|(known, _)| *known == name);
    let (_, verb) = verb.ok_or_else(|| Error::field("do", "is no action on attendees"))?;
    let with = fields.text("with").to_owned();
    let people = list::ids(&request, filter.wanted.clone()).await?;
    let (ctx, count) = (request.context(), people.len());
    let named = name.clone();
    let (input, preview) = request
        .read(move |connection| {
            let mut input = input(connection, &named)?;
            if let Some(input) = input.as_mut().filter(|_| !with.is_empty()) {
                input.fill(&with.into());
            }
            let preview = match asked {
                Ok(Some(action)) => look(connection, &ctx, &action, &people).map(Some),
                Ok(None) => Ok(None),
                Err(cause) => Err(cause),
            };
            Ok((input, preview))
        })
        .await?;
    let (preview, failure) = match (preview, failure) {
        (Ok(preview), failure) => (preview, failure),
        (Err(cause), _) => (None, Some(cause)),
    };
    let failure = failure.map(super::super::form::told).transpose()?;
    let page = Page {
        layout: request.layout(
            &format!("{verb}: {}", attendees(count)),
            Some(Area::Delegates),
        ),
        filter,
        action: name,
        verb,
        input,
        people: i64::try_from(count).unwrap_or(i64::MAX),
        preview,
        failure,
    };
    answer::form_page(page.failure.is_some(), &page)
}

fn attendees(count: usize) -> String {
    match count {
        1 => "1 attendee".to_owned(),
        _ => format!(
            "{} attendees",
            number(i64::try_from(count).unwrap_or(i64::MAX))
        ),
    }
}

fn look(
    connection: &Connection,
    ctx: &Context,
    action: &Action,
    people: &[i64],
) -> Result<Preview> {
    let tally = bulk::preview(connection, ctx, action, people)?;
    let named = tally.named.iter().take(SHOWN_MAX);
    let named = named.map(|one| {
        let name = name_of(connection, one.attendee.0)?.unwrap_or_default();
        Ok((one.attendee, name, answer::capital(&one.reason)))
    });
    let named = named.collect::<Result<_>>()?;
    Ok(Preview { tally, named })
}

pub(super) async fn begin(request: RequestContext) -> Result<Response> {
    let filter = Filter::of_selected(&request.form);
    let asked = action(&request.form)
        .and_then(|action| action.ok_or_else(|| Error::field("with", "must be chosen")));
    let action = match asked {
        Ok(action) => action,
        Err(cause) => return show(request, filter, Some(cause)).await,
    };
    let people = list::ids(&request, filter.wanted.clone()).await?;
    // One after the other, and none is begun in vain.
    if let Err(cause) = request.console.imports.check_free() {
        return show(request, filter, Some(cause)).await;
    }
    let count = people.len();
    let begun = request
        .write(move |tx, ctx| bulk::begin(tx, ctx, &action, count))
        .await;
    let batch = match begun {
        Ok(batch) => batch,
        Err(cause) if is_theirs(&cause) => return show(request, filter, Some(cause)).await,
        Err(cause) => return Err(cause),
    };
    let (rows, of) = (batch.total, batch.clone());
    work_on_batch(
        &request,
        Phase::Acting,
        (batch, rows),
        move |store, ctx, stop, on_rows| {
            let done = bulk::run(store, ctx, &of, people, stop.clone(), |bulk| {
                on_rows(u64::try_from(bulk.tally.looked_at).unwrap_or_default());
            })?;
            let stopped = if stop.is_stopped() { "Stopped. " } else { "" };
            let tally = &done.tally;
            let is_whole = stopped.is_empty() && tally.refused.is_empty();
            let message = format!("{stopped}{}", tally.told("done", number));
            Ok(Outcome::new(message, is_whole))
        },
    )
}
