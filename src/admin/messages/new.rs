//! A message to a list of attendees: chosen by filters, written with a preview for one of them, tried on oneself, sent.

use super::{hindrance, tabs};
use crate::admin::{
    delegates::{
        list::{self, Filter},
        views::{View, Views},
    },
    import::{page_of_batch, work_on_batch},
    layout::number,
    prelude::*,
};
use crate::{
    core::{search::Part, settings},
    domain::{
        delegates::find::find,
        messages::{
            Channel, gateways,
            list::{INSERTED, inserted, lacking, reachable},
            preview::{self, Preview},
            templates::{self, Entry},
        },
    },
    ops::{
        bulk::{self, Action as BulkAction},
        import::{
            Batch, batches,
            uploads::{Outcome as WorkOutcome, Phase},
        },
        mailing,
    },
};
use serde::Serialize;
use std::sync::Arc;

const HERE: &str = "/console/messages/new";

pub(super) fn routes() -> Routes {
    Routes::access(OPERATOR)
        .get(HERE, show)
        .post(HERE, engine::submit::<NewMessages>)
        .post("/console/messages/lists/:id/stop", stop)
}

#[derive(Template)]
#[template(path = "messages/choose.html")]
struct Choose {
    layout: Layout,
    tab: &'static str,
    views: Vec<View>,
}

/// Asks for the list, or, where the address has one, for the message.
async fn show(request: RequestContext) -> Result<Response> {
    let filter = Filter::read(&request.query);
    if !filter.query.is_empty() || request.query.ticked("all") {
        return engine::show::<NewMessages>(request).await;
    }
    let user = request.current_user()?.user;
    let mut views = request.look_up(|connection| Views::read(connection, user, &filter))?;
    views.all.retain(|view| view.query != "deleted=1");
    answer::page(&Choose {
        layout: super::layout(&request, "New message"),
        tab: "Outbox",
        views: views.all,
    })
}

/// What is written, and to whom.
#[derive(Clone, Serialize)]
struct Draft {
    /// The filters of the list.
    list: String,
    #[serde(flatten)]
    entry: Entry,
    #[serde(skip)]
    attendees: Arc<Vec<i64>>,
}

struct NewMessages;

#[derive(Template)]
#[template(path = "messages/to_list.html")]
struct Aside {
    layout: Layout,
    hindrance: Option<&'static str>,
    /// The filters of the list; of everybody, that.
    query: String,
    channel: Channel,
    people: i64,
    reached: i64,
    /// Templates to begin with.
    templates: Vec<(i64, String)>,
}

#[derive(Template)]
#[template(path = "messages/tried.html")]
pub(super) struct Shown {
    pub preview: Preview,
    /// Fields of the message without a value for some of the list, each with the number of these people.
    pub lacking: Vec<(&'static str, i64)>,
}

impl Editor for NewMessages {
    type Key = i64;
    type Draft = Draft;
    type Created = Batch;
    const LIST: &'static str = "/console/messages";
    const NOUN: &'static str = "message";
    const AREA: Area = Area::Messages;

    fn tabs(layout: &Layout) -> Tabs {
        (tabs(layout), "Outbox")
    }

    fn begin(connection: &Connection, query: &Fields) -> Result<Option<Draft>> {
        let channel = Channel::named(query.text("by")).unwrap_or(Channel::Email);
        let template = match query.number("template")? {
            Some(id) => templates::of_id(connection, id)?,
            None => None,
        };
        let entry = template.map_or_else(|| Entry::blank(channel), |known| known.entry);
        Ok(Some(Draft {
            list: Filter::read(query).query,
            entry: Entry { id: None, ..entry },
            attendees: Arc::default(),
        }))
    }

    fn blank(_: &RequestContext) -> Draft {
        Draft {
            list: String::new(),
            entry: Entry::blank(Channel::Email),
            attendees: Arc::default(),
        }
    }

    fn find(_: &Connection, _: &i64) -> Result<Draft> {
        Err(Error::new(Kind::NoSuchPath, "there is no such page"))
    }

    fn name(draft: &Draft) -> String {
        draft.entry.subject.clone().unwrap_or_default()
    }

    fn groups(connection: &Connection, _: Option<&i64>, draft: &Draft) -> Groups {
        let channel = draft.entry.channel()?;
        let zone = settings::load(connection)?.zone;
        let wanted = Filter::of(&draft.list).wanted;
        let some = find(connection, &wanted, &zone, Part::After(0))?
            .lines
            .into_iter();
        let some = some.map(|line| Choice::named(line.id.to_string(), line.name, false));
        let mut inputs = vec![
            Input::hidden("list", &draft.list),
            Input::hidden("slug", &draft.entry.slug),
            Input::hidden("type", channel.name()),
        ];
        let fields = super::inputs(channel, Input::area("content", "Text", 10)).into_iter();
        inputs.extend(fields.map(|input| match &*input.name {
            "html" => input.folded(),
            _ => input,
        }));
        let tried = vec![
            Input::select("delegate", "Preview for", some).apart(),
            super::test_address(channel),
        ];
        let groups = vec![
            Group::new("Message", inputs).tool(&Words)?,
            Group::new("Try it", tried),
        ];
        engine::filled(groups, draft)
    }

    fn typed(groups: &[Group], sent: &Fields) -> Result<Draft> {
        let inputs = groups.iter().flat_map(|group| &group.inputs);
        let mut values = engine::read(inputs, sent)?;
        let list = values.shift_remove("list");
        values.entry("slug").or_insert_with(|| "".into());
        Ok(Draft {
            list: list
                .and_then(|list| list.as_str().map(ToOwned::to_owned))
                .unwrap_or_default(),
            entry: engine::parse(values)?,
            attendees: Arc::default(),
        })
    }

    async fn prepare(at: At<'_, Self>, mut draft: Draft) -> Result<Draft> {
        let mut entry = draft.entry.clone();
        if entry.slug.is_empty() {
            entry.slug.push_str("list");
        }
        entry.check()?;
        let channel = entry.channel()?;
        if at
            .request
            .look_up(|connection| gateways::find(connection, channel))?
            .is_none()
        {
            let message = format!("there is no gateway for {}s yet", channel.noun());
            return Err(Error::invalid(message));
        }
        at.request.console.imports.check_free()?;
        let wanted = Filter::of(&draft.list).wanted;
        draft.attendees = Arc::new(list::ids(at.request, wanted).await?);
        Ok(draft)
    }

    fn create(tx: &Tx<'_>, ctx: &Context, draft: &Draft) -> Result<Batch> {
        let action = BulkAction::Message(Box::new(draft.entry.clone()));
        bulk::begin(tx, ctx, &action, draft.attendees.len())
    }

    fn update(_: &Tx<'_>, _: &Context, _: &i64, _: &Draft) -> Result<()> {
        Err(Error::defect("a message is sent once"))
    }

    fn created(request: &RequestContext, draft: Draft, batch: Batch) -> Result<Response> {
        let (rows, of) = (batch.total, batch.clone());
        let attendees = Arc::unwrap_or_clone(draft.attendees);
        let work = move |store: &_, ctx, stop: crate::ops::import::Stop, on_rows: &dyn Fn(u64)| {
            let done = mailing::run(store, ctx, &of, attendees, stop.clone(), |mailing| {
                on_rows(u64::try_from(mailing.tally.looked_at).unwrap_or_default());
            })?;
            let stopped = if stop.is_stopped() { "Stopped. " } else { "" };
            let is_whole = stopped.is_empty() && done.tally.refused.is_empty();
            let told = done.tally.told("queued", number);
            Ok(WorkOutcome::new(format!("{stopped}{told}"), is_whole))
        };
        work_on_batch(request, Phase::Acting, (batch, rows), work)
    }

    fn submit(_: Option<&i64>, draft: &Draft) -> Option<(String, String)> {
        let (label, question) = match draft.entry.channel() {
            Ok(Channel::Email) => ("Send e-mails", "messages-send-the-e-mail-to-everybody"),
            Ok(Channel::Sms) => ("Send texts", "messages-send-the-text-to-everybody"),
            Ok(Channel::Push) => (
                "Send push messages",
                "messages-send-the-push-message-to-everybody",
            ),
            Err(_) => return None,
        };
        Some((label.to_owned(), t(question)))
    }

    fn buttons(_: Option<&i64>, draft: &Draft) -> Vec<Button> {
        let mut buttons = vec![
            Button::new("preview", "Preview").lives(),
            Button::new("test", "Send a test to me"),
        ];
        if draft.entry.html.is_some() {
            buttons.push(Button::new("page", "HTML as a page").opens());
        }
        buttons
    }

    async fn press(at: At<'_, Self>, draft: Draft, button: &str) -> Result<Outcome> {
        let (request, settings) = (at.request, at.request.console.settings());
        let attendee = request.form.text("delegate").to_owned();
        let entry = draft.entry;
        let channel = entry.channel()?;
        let address = match button {
            "test" => {
                let typed = request.form.text("address");
                preview::test_address(&settings, channel, typed)
                    .map_err(|cause| cause.at("address"))?
            }
            _ => String::new(),
        };
        let written = entry.clone();
        let render =
            move |connection: &_| preview::preview(connection, &settings, &written, &attendee);
        let preview = request.read(render).await?;
        match button {
            "test" => {
                let composed = preview.composed;
                let put =
                    request.write(move |tx, _| preview::send_test(tx, channel, address, composed));
                let id = put.await?;
                Ok(Outcome::Shown(format!(
                    "<p class=\"notice good\" role=\"status\">{}</p>",
                    crate::core::texts::html("messages-a-test-is-on-its-way")
                        .with("path", super::page(id))
                )))
            }
            "page" => {
                let html = preview
                    .page
                    .ok_or_else(|| Error::field("html", "there is none"))?;
                Ok(Outcome::Done(answer::foreign(html)))
            }
            _ => {
                let inserted = inserted(&entry);
                let lacking = if inserted.is_empty() {
                    Vec::new()
                } else {
                    let people = list::ids(request, Filter::of(&draft.list).wanted).await?;
                    let read = move |connection: &Connection| {
                        lacking(connection, channel, &inserted, &people)
                    };
                    request.read(read).await?
                };
                Outcome::shown(&Shown { preview, lacking })
            }
        }
    }

    async fn aside(at: At<'_, Self>) -> Result<String> {
        let request = at.request;
        let channel = at.stored.entry.channel()?;
        let wanted = Filter::of(&at.stored.list).wanted;
        let people = list::ids(request, wanted).await?;
        let count = i64::try_from(people.len()).unwrap_or(i64::MAX);
        let (reached, known) = request
            .read(move |connection| {
                let reached = reachable(connection, channel, &people)?;
                Ok((reached, templates::all(connection)?))
            })
            .await?;
        let known = known.into_iter().filter(|known| {
            known.entry.channel == channel.name() && !known.entry.is_of_certificates()
        });
        answer::part(&Aside {
            layout: request.layout("", None),
            hindrance: hindrance(request)?,
            query: match &*at.stored.list {
                "" => "all=1".to_owned(),
                list => list.to_owned(),
            },
            channel,
            people: count,
            reached,
            templates: known.map(|known| (known.id, known.entry.slug)).collect(),
        })
    }
}

/// Buttons that put fields into what is written.
#[derive(Template)]
#[template(path = "messages/words.html")]
pub(super) struct Words;

/// Calls back the messages of a list that wait.
async fn stop(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let batch = request.look_up(|connection| batches::find(connection, id))?;
    if let Some(work) = request
        .console
        .imports
        .work()
        .filter(|work| work.batch == Some(id))
    {
        work.stop.stop();
    }
    let store = &request.console.store;
    let called_back = mailing::call_back(store, request.context(), &batch).await?;
    let count = number(i64::try_from(called_back).unwrap_or(i64::MAX));
    request.done(
        format!("Stopped. {count} messages that waited are not sent."),
        &page_of_batch(id),
    )
}
