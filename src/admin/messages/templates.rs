//! Templates: the list, and the editor with a preview, a test, and sending to one attendee.

use super::{
    hindrance, layout,
    new::{Shown, Words},
    tabs,
};
use crate::{
    admin::{
        Area, Fields, Layout, RequestContext, answer,
        engine::{self, At, Button, Editor, Group, Groups, Input, Outcome, Tabs},
        route::{ADMINISTRATOR, Action, Done, OPERATOR, Routes, VIEWER},
    },
    core::Context,
    db::Tx,
    domain::messages::{
        Channel, automations, preview,
        templates::{self, Entry, Template as Known},
    },
    types::error::{Error, Kind, Result},
};
use askama::Template;
use poem::Response;
use rusqlite::Connection;

const HERE: &str = "/console/messages/templates";

pub(super) fn routes() -> Routes {
    let (new, edit) = (
        "/console/messages/templates/new",
        "/console/messages/templates/:id",
    );
    Routes::access(VIEWER)
        .get(HERE, list)
        .get(edit, engine::show::<Templates>)
        .then(OPERATOR)
        .get(new, engine::show::<Templates>)
        .post(new, engine::submit::<Templates>)
        .post(edit, engine::submit::<Templates>)
        .then(ADMINISTRATOR)
        .action("/console/messages/templates/:id/remove", remove)
}

/// Templates of one channel, each with the automations that send it.
struct OfChannel {
    title: &'static str,
    how: &'static str,
    channel: Channel,
    templates: Vec<(Known, Vec<String>)>,
}

#[derive(Template)]
#[template(path = "messages/templates.html")]
struct List {
    layout: Layout,
    tab: &'static str,
    hindrance: Option<&'static str>,
    groups: Vec<OfChannel>,
}

async fn list(request: RequestContext) -> Result<Response> {
    let (known, automations) = request
        .look_up(|connection| Ok((templates::all(connection)?, automations::all(connection)?)))?;
    let with_automations = |template: &Known| {
        let (channel, slug) = (&template.entry.channel, &template.entry.slug);
        let uses = automations.iter().map(|automation| &automation.entry);
        let uses = uses.filter(|entry| (&entry.channel, &entry.template) == (channel, slug));
        (
            template.clone(),
            uses.map(|entry| entry.name.clone()).collect(),
        )
    };
    let groups = Channel::ALL.iter().map(|channel| {
        let (title, how) = match channel {
            Channel::Email => ("E-mails", "Apps name them by their number (email_id)."),
            Channel::Sms => ("Texts", "Apps name them by their slug (sms_code)."),
            Channel::Push => (
                "Push messages",
                "They go to every app in which the attendee has registered.",
            ),
        };
        let templates = known.iter();
        let templates = templates.filter(|known| known.entry.channel == channel.name());
        OfChannel {
            title,
            how,
            channel: *channel,
            templates: templates.map(with_automations).collect(),
        }
    });
    answer::page(&List {
        layout: layout(&request, "Templates"),
        tab: "Templates",
        hindrance: hindrance(&request)?,
        groups: groups.collect(),
    })
}

struct Templates;

#[derive(Template)]
#[template(path = "messages/template.html")]
struct Aside;

impl Editor for Templates {
    type Key = i64;
    type Draft = Entry;
    type Created = i64;
    const LIST: &'static str = HERE;
    const NOUN: &'static str = "template";
    const AREA: Area = Area::Messages;

    fn tabs(layout: &Layout) -> Tabs {
        (tabs(layout), "Templates")
    }

    fn blank(request: &RequestContext) -> Entry {
        match request.query.text("sample") {
            "ticket" => return Entry::your_ticket(),
            "certificate" => return Entry::your_certificate(),
            _ => {}
        }
        Entry::blank(Channel::named(request.query.text("type")).unwrap_or(Channel::Email))
    }

    fn find(connection: &Connection, id: &i64) -> Result<Entry> {
        let found = templates::of_id(connection, *id)?.map(|known| known.entry);
        found.ok_or_else(|| Error::new(Kind::NoSuchPath, "this template was removed"))
    }

    fn name(draft: &Entry) -> String {
        draft.slug.clone()
    }

    fn groups(_: &Connection, id: Option<&i64>, draft: &Entry) -> Groups {
        let channel = draft.channel()?;
        let slug = Input::text("slug", "Slug")
            .required()
            .max(64)
            .placeholder("welcome");
        let slug = slug.help(match (channel, id) {
            (Channel::Email, Some(id)) => {
                format!("Apps name this e-mail by its number, {id}. Searches use its slug.")
            }
            (Channel::Email, None) => "Searches use it. Apps name e-mails by their number.".into(),
            _ => "Apps and searches name it by this.".into(),
        });
        let mut inputs = vec![Input::hidden("type", channel.name()), slug.wide()];
        inputs.extend(super::inputs(
            channel,
            Input::area("content", "Text", 8).code(),
        ));
        let preview = vec![
            Input::text("delegate", "For this attendee")
                .apart()
                .placeholder("barcode:TLH26-0001, or an id")
                .help("Empty: an invented attendee."),
            super::test_address(channel),
        ];
        let groups = vec![
            Group::new("Message", inputs).tool(&Words)?,
            Group::new("Preview", preview),
        ];
        engine::filled(groups, draft)
    }

    fn typed(groups: &[Group], sent: &Fields) -> Result<Entry> {
        engine::typed(groups, sent)
    }

    fn create(tx: &Tx<'_>, ctx: &Context, draft: &Entry) -> Result<i64> {
        templates::save(tx, ctx, None, draft)
    }

    fn update(tx: &Tx<'_>, ctx: &Context, id: &i64, draft: &Entry) -> Result<()> {
        templates::save(tx, ctx, Some(*id), draft).map(|_| ())
    }

    fn created(request: &RequestContext, draft: Entry, id: i64) -> Result<Response> {
        request.done(format!("{} saved.", draft.slug), &format!("{HERE}/{id}"))
    }

    fn may_edit(layout: &Layout) -> bool {
        layout.operates()
    }

    fn buttons(id: Option<&i64>, draft: &Entry) -> Vec<Button> {
        let mut buttons = vec![Button::new("preview", "Preview").lives()];
        if draft.channel == Channel::Email.name() {
            buttons.push(Button::new("page", "HTML as a page").opens());
        }
        buttons.push(Button::new("test", "Send a test"));
        if id.is_some() {
            buttons.push(Button::new("send", "Send to the attendee"));
        }
        buttons
    }

    async fn press(at: At<'_, Self>, draft: Entry, button: &str) -> Result<Outcome> {
        let (request, settings) = (at.request, at.request.console.settings());
        let attendee = request.form.text("delegate").to_owned();
        let store = &request.console.store;
        if button == "send" {
            let id = *at
                .key
                .ok_or_else(|| Error::invalid("save the template before it is sent"))?;
            let message = preview::send_to(store, &settings, id, &attendee).await?;
            return Ok(Outcome::Done(answer::go(&super::page(message))));
        }
        let (channel, address) = (draft.channel()?, request.form.text("address"));
        let address = match button {
            "test" => preview::test_address(&settings, channel, address)?,
            _ => String::new(),
        };
        let render =
            move |connection: &_| preview::preview(connection, &settings, &draft, &attendee);
        let preview = request.read(render).await?;
        match button {
            "test" => {
                let composed = preview.composed;
                let put =
                    request.write(move |tx, _| preview::send_test(tx, channel, address, composed));
                Ok(Outcome::Done(answer::go(&super::page(put.await?))))
            }
            "page" => {
                let html = preview.page;
                let html = html.ok_or_else(|| Error::field("html", "this template has none"))?;
                Ok(Outcome::Done(answer::foreign(html)))
            }
            _ => Outcome::shown(&Shown {
                preview,
                lacking: Vec::new(),
            }),
        }
    }

    async fn aside(at: At<'_, Self>) -> Result<String> {
        if at.layout.operates() {
            return answer::part(&Aside);
        }
        Ok(String::new())
    }
}

fn remove(tx: &Tx<'_>, ctx: &Context, action: &Action) -> Result<Done> {
    templates::remove(tx, ctx, action.id)?;
    let message = "Template removed. Messages that were sent with it stay.";
    Ok(Done::new(message, HERE))
}
