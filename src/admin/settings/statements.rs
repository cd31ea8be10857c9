//! Statements: values that searches know by name, with a try-out against one record.

use super::{Frame, frame, layout, mark};
use crate::{
    admin::{
        Layout, RequestContext, Route, answer,
        engine::{Choice, Form, Group, Input},
        form::is_theirs,
        route,
    },
    core::search::statements::{self, Statement},
    db::sandbox::View,
    domain::{delegates, devices},
    types::{
        DelegateSelector, DeviceSelector,
        error::{Error, Kind, Result},
    },
};
use askama::Template;
use poem::Response;
use rusqlite::Connection;

const HERE: &str = "/console/settings/statements";

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get(HERE, route::ADMINISTRATOR, list),
        Route::get(
            "/console/settings/statements/edit",
            route::ADMINISTRATOR,
            edit,
        ),
        Route::post(
            "/console/settings/statements/edit",
            route::ADMINISTRATOR,
            save,
        ),
        Route::post(
            "/console/settings/statements/remove",
            route::ADMINISTRATOR,
            remove,
        ),
    ]
}

#[derive(Template)]
#[template(path = "settings/statements.html")]
struct List {
    layout: Layout,
    frame: Frame,
    statements: Vec<(Statement, String)>,
}

async fn list(request: RequestContext) -> Result<Response> {
    let all = request.look_up(statements::all)?;
    let with_query = |statement: Statement| {
        let query = form_urlencoded::Serializer::new(String::new())
            .append_pair("name", &statement.name)
            .finish();
        (statement, query)
    };
    answer::page(&List {
        layout: layout(&request, "Statements"),
        frame: frame("Statements"),
        statements: all.into_iter().map(with_query).collect(),
    })
}

#[derive(Template)]
#[template(path = "settings/statement.html")]
struct Editor {
    layout: Layout,
    frame: Frame,
    form: Form,
    tried: Option<String>,
    views: Vec<View>,
}

impl Editor {
    /// The editor of the statement that the address names; of a new one where it names none.
    fn new(request: &RequestContext) -> Result<Self> {
        let name = request.query.text("name");
        let stored = request.look_up(|connection| of_name(connection, name))?;
        if stored.is_none() && !name.is_empty() {
            return Err(gone(name));
        }
        let title = if name.is_empty() {
            "New statement"
        } else {
            name
        };
        Ok(Self {
            layout: layout(request, title),
            frame: frame("Statements"),
            form: Form {
                action: request.target(),
                version: mark(&stored),
                groups: vec![Group::new("", inputs(&stored.unwrap_or_else(example)))],
                ..Form::default()
            },
            tried: None,
            views: statements::views(request.console.store.path())?,
        })
    }
}

fn gone(name: &str) -> Error {
    Error::new(
        Kind::NoSuchPath,
        format!("there is no statement {name} any more"),
    )
}

fn example() -> Statement {
    Statement {
        name: String::new(),
        record_type: "delegate".into(),
        label: None,
        sql: statements::EXAMPLE.into(),
    }
}

fn inputs(statement: &Statement) -> Vec<Input> {
    let of = |value: &str, label: &str| Choice::new(value, label, statement.record_type == value);
    vec![
        Input::text("name", "Name in searches", &statement.name)
            .max(64)
            .placeholder("visits"),
        Input::select(
            "type",
            "One value for each",
            vec![of("delegate", "attendee"), of("device", "device")],
        ),
        Input::text("label", "What it means", statement.label.as_deref().unwrap_or_default())
            .wide()
            .placeholder("How often somebody was let in"),
        Input::area("sql", "SQL", 8, &statement.sql).wide().code().help(
            "One SELECT of one column; :id is the record. It can read what is listed beside, and never \
             write.",
        ),
        Input::text("record", "A record to try it with", "")
            .wide()
            .placeholder("barcode:TLH26-0001, or an id")
            .help("Trying saves nothing."),
    ]
}

async fn edit(request: RequestContext) -> Result<Response> {
    answer::page(&Editor::new(&request)?)
}

fn of_name(connection: &Connection, name: &str) -> Result<Option<Statement>> {
    let all = statements::all(connection)?;
    Ok(all.into_iter().find(|statement| statement.name == name))
}

fn typed(request: &RequestContext) -> Statement {
    let form = &request.form;
    Statement {
        name: form.text("name").to_owned(),
        record_type: form.text("type").to_owned(),
        label: form.filled("label").map(ToOwned::to_owned),
        sql: form.text("sql").to_owned(),
    }
}

async fn save(request: RequestContext) -> Result<Response> {
    let outcome = if request.form.text("do") == "try" {
        try_out(&request).await.map(Some)
    } else {
        store(&request).await.map(|()| None)
    };
    if let Ok(None) = outcome {
        return request.done("Statement saved. Searches can use it.", HERE);
    }
    let mut page = Editor::new(&request)?;
    match outcome {
        Ok(value) => {
            page.form.refill(&request.form);
            page.tried = value;
            answer::page(&page)
        }
        Err(cause) if is_theirs(&cause) => {
            page.form.reject(&request.form, &cause);
            answer::form_again(&page)
        }
        Err(cause) => Err(cause),
    }
}

/// The value for the record that was chosen.
async fn try_out(request: &RequestContext) -> Result<String> {
    let mut statement = typed(request);
    if statement.name.is_empty() {
        statement.name = "this statement".into();
    }
    let record = request.form.text("record").to_owned();
    let path = request.console.store.path().to_owned();
    request
        .read(move |connection| {
            statements::check(&path, &statement)?;
            let id = record_id(connection, &statement.record_type, &record)?;
            statements::try_out(&path, &statement, id)
        })
        .await
}

fn record_id(connection: &Connection, record_type: &str, record: &str) -> Result<i64> {
    if record.is_empty() {
        return Err(Error::invalid(
            "record: name one to try it with: its id, or a code such as barcode:TLH26-0001",
        ));
    }
    let selector = if record.contains(':') {
        record.to_owned()
    } else {
        format!("id:{record}")
    };
    if record_type == "device" {
        Ok(devices::find(connection, &DeviceSelector::parse(&selector)?)?.0)
    } else {
        Ok(delegates::find(connection, &DelegateSelector::parse(&selector)?)?.0)
    }
}

async fn store(request: &RequestContext) -> Result<()> {
    let statement = typed(request);
    let checked = statement.clone();
    let path = request.console.store.path().to_owned();
    request
        .read(move |_| statements::check(&path, &checked))
        .await?;
    let was = request.query.text("name").to_owned();
    let begun_on = request.form.text("version").to_owned();
    request
        .write(move |tx, ctx| {
            if mark(&of_name(tx, &was)?) != begun_on {
                return Err(Error::invalid(format!(
                    "somebody else changed {was} meanwhile. Nothing of yours is saved; open it again"
                )));
            }
            if statement.name != was && of_name(tx, &statement.name)?.is_some() {
                return Err(Error::invalid("name: there is a statement of this name already"));
            }
            let mut all = statements::all(tx)?;
            all.retain(|known| known.name != was);
            all.push(statement);
            statements::save(tx, ctx, &all, true)
        })
        .await
}

async fn remove(request: RequestContext) -> Result<Response> {
    let name = request.form.text("name").to_owned();
    let said = format!("{name} is gone; searches that use it are refused from now on.");
    request
        .write(move |tx, ctx| {
            let mut all = statements::all(tx)?;
            all.retain(|known| known.name != name);
            statements::save(tx, ctx, &all, true)
        })
        .await?;
    request.done(said, HERE)
}
