//! The engine behind what an administrator sets up. An [`Editor`] says which fields a record has and how
//! it is stored; the engine shows the form, keeps what was typed, puts what is wrong beside its field,
//! and lets nobody overwrite what they have not seen.

mod form;
mod record;
mod settings;

pub use form::{Choice, Form, Group, Input, choices};
pub use record::{Document, RecordDraft, document_group};
pub use settings::SettingsForm;

use super::{
    Area, Fields, Layout, RequestContext, Route, answer,
    form::{is_theirs, mark},
    route::Access,
};
use crate::{
    core::{Context, audit},
    db::Tx,
    types::error::Result,
};
use askama::Template;
use poem::Response;
use rusqlite::Connection;
use serde::Serialize;

/// One kind of record that has a form.
pub trait Editor: 'static {
    /// What a form fills in.
    type Draft: Clone + Serialize + Send + Sync + 'static;
    /// What comes of making one: its id, and perhaps a secret.
    type Created: Send + 'static;
    /// Where the console lists it.
    const LIST: &'static str;
    /// Its type in the audit, which is also what people call it.
    const NOUN: &'static str;
    /// Its area of the console.
    const AREA: Area;
    /// The pages beside the list: names and paths, and which of them this is.
    const TABS: (&'static [(&'static str, &'static str)], &'static str) = (&[], "");

    /// What a new one begins with.
    fn blank() -> Self::Draft;
    /// What a new one begins with where a link says more of it.
    fn begin(_connection: &Connection, _query: &Fields) -> Result<Self::Draft> {
        Ok(Self::blank())
    }
    /// What people call this kind of record.
    fn noun(_draft: &Self::Draft) -> &'static str {
        Self::NOUN
    }
    /// The record of an id.
    fn find(connection: &Connection, id: i64) -> Result<Self::Draft>;
    /// What people call this one.
    fn name(draft: &Self::Draft) -> &str;
    /// The fields of the form.
    fn groups(connection: &Connection, draft: &Self::Draft) -> Result<Vec<Group>>;
    /// What was typed.
    fn typed(form: &Fields) -> Result<Self::Draft>;
    /// Stores a new one.
    fn create(tx: &Tx<'_>, ctx: &Context, draft: &Self::Draft) -> Result<Self::Created>;
    /// Stores what changed.
    fn update(tx: &Tx<'_>, ctx: &Context, id: i64, draft: &Self::Draft) -> Result<()>;
    /// Where one goes on after making it.
    fn created(
        request: &RequestContext,
        draft: Self::Draft,
        made: Self::Created,
    ) -> Result<Response>;

    /// The page of one; where none has a page of its own, the list.
    fn page(id: i64) -> String {
        format!("{}/{id}", Self::LIST)
    }
}

/// The routes of a form: `new` makes a record, `edit` (with `:id`) changes one.
pub fn routes<E: Editor>(new: &'static str, edit: &'static str, access: Access) -> Vec<Route> {
    vec![
        Route::get(new, access, blank::<E>),
        Route::post(new, access, create::<E>),
        Route::get(edit, access, show::<E>),
        Route::post(edit, access, save::<E>),
    ]
}

#[derive(Template)]
#[template(path = "engine/form.html")]
struct Page {
    layout: Layout,
    tabs: &'static [(&'static str, &'static str)],
    tab: &'static str,
    form: Form,
}

impl Page {
    fn new<E: Editor>(request: &RequestContext, title: &str, form: Form) -> Self {
        let (tabs, tab) = E::TABS;
        Self {
            layout: request.layout(title, Some(E::AREA)),
            tabs,
            tab,
            form,
        }
    }
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
    };
    answer::form_page(is_again, &page)
}

/// The form of a record, or of a new one.
fn form<E: Editor>(
    request: &RequestContext,
    connection: &Connection,
    id: Option<i64>,
    draft: &E::Draft,
) -> Result<Form> {
    Ok(Form {
        action: request.uri_path().to_owned(),
        cancel: id.map_or_else(|| E::LIST.to_owned(), E::page),
        submit: match id {
            Some(_) => "Save".to_owned(),
            None => format!("Create {}", E::noun(draft)),
        },
        version: mark(draft),
        groups: E::groups(connection, draft)?,
        ..Form::default()
    })
}

async fn blank<E: Editor>(request: RequestContext) -> Result<Response> {
    let (draft, form) = request.look_up(|connection| {
        let draft = E::begin(connection, &request.query)?;
        let form = form::<E>(&request, connection, None, &draft)?;
        Ok((draft, form))
    })?;
    let title = format!("New {}", E::noun(&draft));
    answer::page(&Page::new::<E>(&request, &title, form))
}

async fn create<E: Editor>(request: RequestContext) -> Result<Response> {
    let made = match E::typed(&request.form) {
        Ok(draft) => {
            let stored = draft.clone();
            let made = request
                .write_prepared(move |tx, ctx| E::create(tx, ctx, &stored))
                .await;
            made.map(|made| (draft, made))
        }
        Err(cause) => Err(cause),
    };
    match made {
        Ok((draft, made)) => E::created(&request, draft, made),
        Err(cause) if is_theirs(&cause) => {
            let draft = E::typed(&request.form).unwrap_or_else(|_| E::blank());
            let mut form =
                request.look_up(|connection| form::<E>(&request, connection, None, &draft))?;
            form.reject(&request.form, &cause);
            let title = format!("New {}", E::noun(&draft));
            answer::form_again(&Page::new::<E>(&request, &title, form))
        }
        Err(cause) => Err(cause),
    }
}

async fn show<E: Editor>(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let (draft, form) = request.look_up(|connection| {
        let draft = E::find(connection, id)?;
        let form = form::<E>(&request, connection, Some(id), &draft)?;
        Ok((draft, form))
    })?;
    answer::page(&Page::new::<E>(&request, E::name(&draft), form))
}

async fn save<E: Editor>(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let begun_on = request.form.text("version").to_owned();
    let saved = match E::typed(&request.form) {
        Ok(draft) => {
            let work = move |tx: &Tx<'_>, ctx: &Context| {
                let is_current = mark(&E::find(tx, id)?) == begun_on;
                if is_current {
                    E::update(tx, ctx, id, &draft)?;
                }
                Ok(is_current.then(|| E::name(&draft).to_owned()))
            };
            request.write_prepared(work).await
        }
        Err(cause) => Err(cause),
    };
    let cause = match saved {
        Ok(Some(name)) => return request.done(format!("{name} saved."), &E::page(id)),
        Ok(None) => None,
        Err(cause) if is_theirs(&cause) => Some(cause),
        Err(cause) => return Err(cause),
    };
    let (name, form) = request.look_up(|connection| {
        let draft = E::find(connection, id)?;
        let mut typed = form::<E>(&request, connection, Some(id), &draft)?;
        if let Some(cause) = &cause {
            typed.reject(&request.form, cause);
        } else {
            let now = form::<E>(&request, connection, Some(id), &draft)?;
            let who = audit::last_actor(connection, E::NOUN, Some(id), &[])?;
            typed.warn(&request.form, &who, now);
        }
        Ok((E::name(&draft).to_owned(), typed))
    })?;
    answer::form_again(&Page::new::<E>(&request, &name, form))
}
