//! The engine behind what an administrator sets up. An [`Editor`] declares the fields of a record and
//! how it is stored. The engine shows the form, keeps what was typed, puts errors beside their fields,
//! and lets nobody overwrite a change that they have not seen. A [`List`] has the form above a list and its
//! pages.

mod form;
mod input;
mod list;
mod record;
mod settings;

pub use form::{Form, Group, filled, parse, read, typed};
pub use input::{Choice, Control, Input, choices};
pub use list::List;
pub use record::{Document, RecordDraft, document_group};
pub use settings::SettingsForm;

use super::{
    Area, Fields, Layout, RequestContext, Route, answer,
    form::{is_theirs, mark},
    route::{Access, Routes},
};
use crate::{
    core::{Context, audit},
    db::Tx,
    types::{
        ClientId, UserId,
        error::{Error, Result},
    },
};
use askama::Template;
use poem::Response;
use rusqlite::Connection;
use serde::Serialize;
use std::future::Future;

/// Pages beside each other: names with paths, and the name of the current one.
pub type Tabs = (&'static [(&'static str, &'static str)], &'static str);

/// The key of a record in the address of its form.
pub trait Key: Clone + Send + Sync + 'static {
    /// The record that a request is about; `None`: a new one.
    fn of(request: &RequestContext) -> Result<Option<Self>>;

    /// Its id in the audit, where it has one.
    fn id(&self) -> Option<i64> {
        None
    }
}

impl Key for i64 {
    fn of(request: &RequestContext) -> Result<Option<Self>> {
        request.id_if_any()
    }

    fn id(&self) -> Option<i64> {
        Some(*self)
    }
}

impl Key for ClientId {
    fn of(request: &RequestContext) -> Result<Option<Self>> {
        Ok(i64::of(request)?.map(Self))
    }

    fn id(&self) -> Option<i64> {
        Some(self.0)
    }
}

impl Key for UserId {
    fn of(request: &RequestContext) -> Result<Option<Self>> {
        Ok(i64::of(request)?.map(Self))
    }

    fn id(&self) -> Option<i64> {
        Some(self.0)
    }
}

/// A record that is known by its name, as the address has it.
#[derive(Clone)]
pub struct Named(pub String);

impl Key for Named {
    fn of(request: &RequestContext) -> Result<Option<Self>> {
        let name = request.query.filled("name");
        Ok(name.map(|name| Self(name.to_owned())))
    }
}

/// The list of all, with one in place of that which was called `before`.
///
/// # Errors
/// Another has its name.
pub fn replaced<T>(
    mut all: Vec<T>,
    name: fn(&T) -> String,
    before: Option<&Named>,
    one: T,
) -> Result<Vec<T>> {
    all.retain(|known| before.is_none_or(|before| name(known) != before.0));
    if all.iter().any(|known| name(known) == name(&one)) {
        return Err(Error::field("name", "there is one of this name already"));
    }
    all.push(one);
    Ok(all)
}

/// A further button of a form.
#[expect(
    clippy::struct_excessive_bools,
    reason = "properties that have nothing to do with each other"
)]
pub struct Button {
    /// The value that it sends as `do`.
    name: &'static str,
    label: &'static str,
    shows: bool,
    lives: bool,
    at_once: bool,
    opens: bool,
}

impl Button {
    pub fn new(name: &'static str, label: &'static str) -> Self {
        Self {
            name,
            label,
            shows: false,
            lives: false,
            at_once: false,
            opens: false,
        }
    }

    /// Makes it show something beside the form, and nothing else.
    pub fn shows(mut self) -> Self {
        self.shows = true;
        self
    }

    /// Makes it show something beside the form that follows what is typed.
    pub fn lives(mut self) -> Self {
        self.lives = true;
        self.shows()
    }

    /// Makes it show something as soon as the page is there, too.
    pub fn at_once(mut self) -> Self {
        self.at_once = true;
        self
    }

    /// Makes it open another tab.
    pub fn opens(mut self) -> Self {
        self.opens = true;
        self
    }
}

/// The outcome of a button.
pub enum Outcome {
    /// Another page follows.
    Done(Response),
    /// HTML to show beside the form, which stays as it was typed.
    Shown(String),
    /// Somebody else changed the record meanwhile; nothing was saved.
    Outdated,
}

impl Outcome {
    /// Shows a part of a page beside the form.
    pub fn shown(part: &impl Template) -> Result<Self> {
        answer::part(part).map(Self::Shown)
    }
}

/// The form for which a hook of an [`Editor`] is called.
pub struct At<'a, E: Editor> {
    pub request: &'a RequestContext,
    pub layout: &'a Layout,
    /// `None`: a new record.
    pub key: Option<&'a E::Key>,
    /// The record as it is stored.
    pub stored: &'a E::Draft,
}

/// The fields of a form.
pub type Groups = Result<Vec<Group>>;

/// One kind of record that has a form.
pub trait Editor: Sized + 'static {
    type Key: Key;
    /// The record as the form fills it in.
    type Draft: Clone + Serialize + Send + Sync + 'static;
    /// The result of creating one, such as its id and a secret.
    type Created: Send + 'static;
    /// The path of the list.
    const LIST: &'static str;
    /// Its type in the audit, which is also its name on screen.
    const NOUN: &'static str;
    const AREA: Area;

    fn tabs(_: &Layout) -> Tabs {
        (&[], "")
    }

    fn blank(request: &RequestContext) -> Self::Draft;
    fn find(connection: &Connection, key: &Self::Key) -> Result<Self::Draft>;

    /// Returns the draft that a new one begins with, where a link says more of it.
    fn begin(_connection: &Connection, _query: &Fields) -> Result<Option<Self::Draft>> {
        Ok(None)
    }

    /// Its name on screen.
    fn noun(_: &Self::Draft) -> &'static str {
        Self::NOUN
    }

    /// Returns the draft that the form of a record shows, where the address asks for something else.
    fn opened(_: &RequestContext, stored: Self::Draft) -> Self::Draft {
        stored
    }

    /// The title of the record's form.
    fn name(draft: &Self::Draft) -> String;
    /// The fields of the form, with the values of the draft.
    fn groups(connection: &Connection, key: Option<&Self::Key>, draft: &Self::Draft) -> Groups;
    /// Reads the draft from the typed fields.
    fn typed(groups: &[Group], sent: &Fields) -> Result<Self::Draft>;

    /// Completes what was typed before the write begins: everything that may take time.
    fn prepare(
        _: At<'_, Self>,
        draft: Self::Draft,
    ) -> impl Future<Output = Result<Self::Draft>> + Send {
        async { Ok(draft) }
    }

    fn create(tx: &Tx<'_>, ctx: &Context, draft: &Self::Draft) -> Result<Self::Created>;
    fn update(tx: &Tx<'_>, ctx: &Context, key: &Self::Key, draft: &Self::Draft) -> Result<()>;
    /// The page that follows the creation.
    fn created(
        request: &RequestContext,
        draft: Self::Draft,
        made: Self::Created,
    ) -> Result<Response>;

    /// The page that follows a change.
    fn saved(request: &RequestContext, key: &Self::Key, draft: &Self::Draft) -> Result<Response> {
        request.done(format!("{} saved.", Self::name(draft)), &Self::page(key))
    }

    /// The page of one; where none has a page of its own, the list.
    fn page(key: &Self::Key) -> String {
        match key.id() {
            Some(id) => format!("{}/{id}", Self::LIST),
            None => Self::LIST.to_owned(),
        }
    }

    fn may_edit(_: &Layout) -> bool {
        true
    }

    /// Returns who changed the record last.
    fn last_actor(connection: &Connection, key: &Self::Key) -> Result<String> {
        audit::last_actor(connection, Self::NOUN, key.id(), &[])
    }

    /// The label of the button that saves it, and what it asks first, where it is not that of all forms.
    fn submit(_: Option<&Self::Key>, _: &Self::Draft) -> Option<(String, String)> {
        None
    }

    /// Buttons beside "Save".
    fn buttons(_: Option<&Self::Key>, _: &Self::Draft) -> Vec<Button> {
        Vec::new()
    }

    /// Carries out one of [`Editor::buttons`].
    fn press(
        _: At<'_, Self>,
        _: Self::Draft,
        button: &str,
    ) -> impl Future<Output = Result<Outcome>> + Send {
        let cause = crate::types::error::Error::invalid(format!("there is no button {button}"));
        async { Err(cause) }
    }

    /// HTML beside the form.
    fn aside(_: At<'_, Self>) -> impl Future<Output = Result<String>> + Send {
        async { Ok(String::new()) }
    }

    /// Finds the choices of a lookup without scripts.
    fn found(_: &Connection, _: &str) -> Result<Vec<Choice>> {
        Ok(Vec::new())
    }
}

/// The routes of a form: `new` creates a record, `edit` changes one.
pub fn routes<E: Editor>(new: &'static str, edit: &'static str, access: Access) -> Vec<Route> {
    let routes = Routes::access(access).get(new, show::<E>);
    let routes = routes.post(new, submit::<E>).get(edit, show::<E>);
    routes.post(edit, submit::<E>).all()
}

#[derive(Template)]
#[template(path = "engine/form.html")]
struct Page {
    layout: Layout,
    tabs: &'static [(&'static str, &'static str)],
    tab: &'static str,
    form: Form,
    buttons: Vec<Button>,
    may_edit: bool,
    /// The HTML that a button showed.
    result: String,
    aside: String,
}

impl Page {
    fn has_lookup(&self) -> bool {
        let mut inputs = self.form.groups.iter().flat_map(|group| &group.inputs);
        inputs.any(Input::is_lookup)
    }
}

fn stored<E: Editor>(
    request: &RequestContext,
    connection: &Connection,
    key: Option<&E::Key>,
) -> Result<E::Draft> {
    if let Some(key) = key {
        E::find(connection, key)
    } else {
        let begun = E::begin(connection, &request.query)?;
        Ok(begun.unwrap_or_else(|| E::blank(request)))
    }
}

/// The page of a record as it is stored, with a form that shows a draft of it.
async fn page<E: Editor>(
    request: &RequestContext,
    key: Option<&E::Key>,
    draft: Option<&E::Draft>,
) -> Result<Page> {
    let (stored, groups) = request.look_up(|connection| {
        let stored = stored::<E>(request, connection, key)?;
        let begun = draft
            .cloned()
            .unwrap_or_else(|| E::opened(request, stored.clone()));
        let mut groups = E::groups(connection, key, &begun)?;
        for input in groups.iter_mut().flat_map(|group| &mut group.inputs) {
            let text = request.query.filled("find");
            if let Some(text) = text.filter(|_| input.is_lookup()) {
                input.choices.extend(E::found(connection, text)?);
            }
            input.ask(&request.query);
        }
        Ok((stored, groups))
    })?;
    let title = match key {
        Some(_) => E::name(&stored),
        None => format!("New {}", E::noun(&stored)),
    };
    let layout = request.layout(&title, Some(E::AREA));
    let cancel = key.map_or_else(|| E::LIST.to_owned(), E::page);
    let own = E::submit(key, draft.unwrap_or(&stored));
    let own = own.as_ref();
    Ok(Page {
        form: Form {
            cancel: if cancel == request.uri_path() {
                E::LIST.to_owned()
            } else {
                cancel
            },
            action: request.target(),
            submit: match (own, key) {
                (Some((label, _)), _) => label.clone(),
                (None, Some(_)) => "Save".to_owned(),
                (None, None) => format!("Create {}", E::noun(&stored)),
            },
            confirm: own.map_or_else(String::new, |(_, asks)| asks.clone()),
            version: mark(&stored),
            groups,
            ..Form::default()
        },
        tabs: E::tabs(&layout).0,
        tab: E::tabs(&layout).1,
        buttons: E::buttons(key, &stored),
        may_edit: E::may_edit(&layout),
        result: String::new(),
        aside: E::aside(At {
            request,
            layout: &layout,
            key,
            stored: &stored,
        })
        .await?,
        layout,
    })
}

/// A form as a page of its own: 422 where something is wrong with it.
pub fn form_page(
    request: &RequestContext,
    title: &str,
    area: Area,
    form: Form,
) -> Result<Response> {
    let is_again = form.failure.is_some();
    let page = Page {
        layout: request.layout(title, Some(area)),
        tabs: &[],
        tab: "",
        form,
        buttons: Vec::new(),
        may_edit: true,
        result: String::new(),
        aside: String::new(),
    };
    answer::form_page(is_again, &page)
}

/// Shows the form of a record, or of a new one.
pub async fn show<E: Editor>(request: RequestContext) -> Result<Response> {
    let key = E::Key::of(&request)?;
    answer::page(&page::<E>(&request, key.as_ref(), None).await?)
}

/// Saves what was typed, or does what another button of the form says.
pub async fn submit<E: Editor>(request: RequestContext) -> Result<Response> {
    let key = E::Key::of(&request)?;
    let key = key.as_ref();
    let (typed, stored) = request.look_up(|connection| {
        let stored = stored::<E>(&request, connection, key)?;
        let groups = E::groups(connection, key, &E::opened(&request, stored.clone()))?;
        Ok((E::typed(&groups, &request.form), stored))
    })?;
    let at = At {
        request: &request,
        layout: &request.layout("", None),
        key,
        stored: &stored,
    };
    let (draft, outcome) = match typed {
        Ok(draft) => (Some(draft.clone()), act::<E>(at, draft).await),
        Err(cause) => (None, Err(cause)),
    };
    match outcome {
        Ok(Outcome::Done(response)) => Ok(response),
        Ok(Outcome::Shown(html)) => {
            let mut page = page::<E>(&request, key, draft.as_ref()).await?;
            page.form.refill(&request.form);
            page.form.keep_secrets(&request.form);
            page.result = html;
            answer::page(&page)
        }
        Ok(Outcome::Outdated) => {
            let now = page::<E>(&request, key, None).await?.form;
            let mut page = page::<E>(&request, key, draft.as_ref()).await?;
            let who = request.look_up(|connection| {
                key.map_or_else(
                    || Ok("Somebody".to_owned()),
                    |key| E::last_actor(connection, key),
                )
            })?;
            page.form.warn(&request.form, &who, now);
            answer::form_again(&page)
        }
        // What follows typing is half typed mostly: it says why there is nothing to show yet.
        Err(cause) if is_theirs(&cause) && request.is_part() => {
            let mut page = page::<E>(&request, key, draft.as_ref()).await?;
            page.result = answer::part(&NotYet {
                why: answer::sentence(&cause),
            })?;
            answer::page(&page)
        }
        Err(cause) if is_theirs(&cause) => {
            let mut page = page::<E>(&request, key, draft.as_ref()).await?;
            page.form.reject(&request.form, &cause);
            answer::form_again(&page)
        }
        Err(cause) => Err(cause),
    }
}

/// The reason why a button shows nothing beside the form.
#[derive(Template)]
#[template(source = "<p class=\"notice warn\">{{ why }}</p>", ext = "html")]
struct NotYet {
    why: String,
}

/// The page of a record with what went wrong with one of its other buttons.
pub async fn failed<E: Editor>(
    request: &RequestContext,
    key: &E::Key,
    cause: &crate::types::error::Error,
) -> Result<Response> {
    let mut page = page::<E>(request, Some(key), None).await?;
    page.form.failure = Some(answer::sentence(cause));
    answer::form_again(&page)
}

async fn act<E: Editor>(at: At<'_, E>, draft: E::Draft) -> Result<Outcome> {
    let (request, key) = (at.request, at.key);
    let button = request.form.filled("do").filter(|name| *name != "save");
    if let Some(button) = button {
        return E::press(at, draft, button).await;
    }
    let draft = E::prepare(at, draft).await?;
    let stored = draft.clone();
    let Some(key) = key.cloned() else {
        let made = request.write(move |tx, ctx| E::create(tx, ctx, &stored));
        let made = made.await?;
        return E::created(request, draft, made).map(Outcome::Done);
    };
    let (record, opened_on) = (key.clone(), request.form.text("version").to_owned());
    let work = move |tx: &Tx<'_>, ctx: &Context| {
        let is_current = mark(&E::find(tx, &record)?) == opened_on;
        if is_current {
            E::update(tx, ctx, &record, &stored)?;
        }
        Ok(is_current)
    };
    if request.write(work).await? {
        E::saved(request, &key, &draft).map(Outcome::Done)
    } else {
        Ok(Outcome::Outdated)
    }
}
