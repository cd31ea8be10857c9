//! One template: written, looked at for a delegate, tried, and sent.

use super::{
    layout,
    templates::HERE,
    tried::{self, Tried},
};
use crate::{
    admin::{
        Fields, Layout, RequestContext, Route, answer,
        form::{mark, told},
        route,
    },
    domain::messages::{
        Channel,
        templates::{self, Entry, Template as Known},
    },
    types::error::{Error, Kind, Result},
};
use askama::Template;
use poem::Response;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/console/messages/templates/new", route::OPERATOR, new),
        Route::get("/console/messages/templates/:id", route::VIEWER, show),
        Route::post("/console/messages/templates/save", route::OPERATOR, save),
        Route::post("/console/messages/templates/page", route::OPERATOR, page),
    ]
}

#[derive(Template)]
#[template(path = "messages/template.html")]
struct Editor {
    layout: Layout,
    tab: &'static str,
    failure: String,
    /// `None`: a new one.
    id: Option<i64>,
    seen: String,
    channel: Channel,
    slug: String,
    subject: String,
    content: String,
    html: String,
    /// Whom it is tried for.
    delegate: String,
    /// Where a test goes.
    address: String,
    tried: Option<Tried>,
}

#[expect(clippy::unused_self, reason = "templates call it so")]
impl Editor {
    fn of(request: &RequestContext, channel: Channel, known: Option<&Known>) -> Self {
        let entry = known.map(|known| &known.entry);
        let text = |part: Option<&String>| part.cloned().unwrap_or_default();
        let title = known.map_or_else(
            || format!("New {}", channel.noun()),
            |known| format!("Template {}", known.entry.slug),
        );
        Self {
            layout: layout(request, &title),
            tab: "Templates",
            failure: String::new(),
            id: known.map(|known| known.id),
            seen: mark(&entry),
            channel,
            slug: text(entry.map(|entry| &entry.slug)),
            subject: text(entry.and_then(|entry| entry.subject.as_ref())),
            content: text(entry.map(|entry| &entry.content)),
            html: text(entry.and_then(|entry| entry.html.as_ref())),
            delegate: request.query.text("delegate").to_owned(),
            address: String::new(),
            tried: None,
        }
    }

    /// The form as it was sent.
    fn again(request: &RequestContext) -> Result<Self> {
        let form = &request.form;
        let channel = Channel::named(form.text("type"))?;
        let id = form.number("id")?;
        let text = |name: &str| form.text(name).to_owned();
        let title = if id.is_none() {
            format!("New {}", channel.noun())
        } else {
            format!("Template {}", form.text("slug"))
        };
        Ok(Self {
            layout: layout(request, &title),
            tab: "Templates",
            failure: String::new(),
            id,
            seen: text("seen"),
            channel,
            slug: text("slug"),
            subject: text("subject"),
            content: form.sent("content").unwrap_or_default().to_owned(),
            html: form.sent("html").unwrap_or_default().to_owned(),
            delegate: text("delegate"),
            address: text("address"),
            tried: None,
        })
    }

    fn is_mail(&self) -> bool {
        self.channel == Channel::Email
    }

    fn has_title(&self) -> bool {
        self.channel != Channel::Sms
    }

    fn address_label(&self) -> &'static str {
        match self.channel {
            Channel::Email => "E-mail address for a test",
            Channel::Sms => "Phone number for a test",
            Channel::Push => "Push token for a test",
        }
    }

    fn fields(&self) -> &'static [&'static str] {
        &[
            "firstName",
            "lastName",
            "company",
            "barcode",
            "email",
            "delegateType",
        ]
    }
}

/// What the form says a template is.
fn typed(form: &Fields) -> Entry {
    // Browsers send line ends as CR LF.
    let text = |name: &str| form.sent(name).unwrap_or_default().replace("\r\n", "\n");
    let filled = |name: &str| Some(text(name)).filter(|text| !text.trim().is_empty());
    Entry {
        slug: form.text("slug").to_owned(),
        id: None,
        channel: form.text("type").to_owned(),
        subject: form.filled("subject").map(ToOwned::to_owned),
        content: text("content"),
        html: filled("html"),
    }
}

async fn new(request: RequestContext) -> Result<Response> {
    let channel = Channel::named(request.query.text("type")).unwrap_or(Channel::Email);
    answer::page(&Editor::of(&request, channel, None))
}

async fn show(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let known = request
        .look_up(|connection| templates::of_id(connection, id))?
        .ok_or_else(|| Error::new(Kind::NoSuchPath, "there is no such template any more"))?;
    let channel = known.entry.channel()?;
    answer::page(&Editor::of(&request, channel, Some(&known)))
}

async fn save(request: RequestContext) -> Result<Response> {
    let mut page = Editor::again(&request)?;
    let entry = typed(&request.form);
    let outcome = match request.form.text("do") {
        "preview" => tried::preview(&request, &entry).await.map(Done::Tried),
        "test" => tried::test(&request, &entry).await.map(Done::Sent),
        "send" => tried::send(&request, page.id).await.map(Done::Sent),
        _ => store(&request, page.id, entry).await.map(Done::Saved),
    };
    match outcome {
        Ok(Done::Tried(tried)) => {
            page.tried = Some(tried);
            answer::page(&page)
        }
        Ok(Done::Sent(message)) => Ok(answer::go(&format!("/console/messages/{message}"))),
        Ok(Done::Saved(id)) => request.done("Template saved.", &format!("{HERE}/{id}")),
        Err(cause) => {
            page.failure = told(cause)?;
            answer::form_again(&page)
        }
    }
}

enum Done {
    Saved(i64),
    Tried(Tried),
    /// The message that was put into the outbox.
    Sent(i64),
}

async fn store(request: &RequestContext, id: Option<i64>, entry: Entry) -> Result<i64> {
    let seen = request.form.text("seen").to_owned();
    request.write(move |tx, ctx| {
            if let Some(id) = id {
                let stored = templates::of_id(tx, id)?.map(|known| known.entry);
                if mark(&stored.as_ref()) != seen {
                    let now = stored.map_or_else(
                        || "it is not there any more".to_owned(),
                        |stored| format!("its text is now: {}", stored.content),
                    );
                    return Err(Error::invalid(format!(
                        "somebody else changed this template meanwhile, and nothing of yours was saved; {now}"
                    )));
                }
            }
            templates::save(tx, ctx, id, &entry)
        })
        .await
}

/// The HTML as it is typed, for a delegate, as a page by itself.
async fn page(request: RequestContext) -> Result<Response> {
    let entry = typed(&request.form);
    match tried::preview(&request, &entry).await {
        Ok(tried) => {
            let html = tried
                .composed
                .html
                .ok_or_else(|| Error::invalid("there is no HTML in this template to be shown"))?;
            Ok(answer::foreign(html))
        }
        Err(cause) => {
            let mut page = Editor::again(&request)?;
            page.failure = told(cause)?;
            answer::form_again(&page)
        }
    }
}
