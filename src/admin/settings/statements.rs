//! Statements: values that searches know by name, with a try-out against one record.

use super::{Frame, frame, layout, mark, told};
use crate::{
    admin::{Layout, RequestContext, Route, answer, route},
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
    let all = request.console.store.look_up(statements::all)?;
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
    failure: String,
    /// The name it had; empty for a new one.
    was: String,
    seen: String,
    name: String,
    record_type: String,
    label: String,
    sql: String,
    record: String,
    tried: Option<String>,
    views: Vec<View>,
}

async fn edit(request: RequestContext) -> Result<Response> {
    let name = request.query.text("name");
    let stored = if name.is_empty() {
        None
    } else {
        let found = request
            .console
            .store
            .look_up(|connection| of_name(connection, name))?;
        Some(found.ok_or_else(|| {
            Error::new(
                Kind::NoSuchPath,
                format!("there is no statement {name} any more"),
            )
        })?)
    };
    let seen = mark(&stored);
    let statement = stored.unwrap_or_else(|| Statement {
        name: String::new(),
        record_type: "delegate".into(),
        label: None,
        sql: "SELECT count(*) FROM interactions\nWHERE first_delegate_id = :id AND interaction_type = 'check-in'".into(),
    });
    answer::page(&Editor {
        layout: layout(
            &request,
            if name.is_empty() {
                "New statement"
            } else {
                name
            },
        ),
        frame: frame("Statements"),
        failure: String::new(),
        was: statement.name.clone(),
        seen,
        name: statement.name,
        record_type: statement.record_type,
        label: statement.label.unwrap_or_default(),
        sql: statement.sql,
        record: String::new(),
        tried: None,
        views: views(&request)?,
    })
}

fn views(request: &RequestContext) -> Result<Vec<View>> {
    statements::views(request.console.store.path())
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

fn again(request: &RequestContext) -> Result<Editor> {
    let form = &request.form;
    let text = |name: &str| form.text(name).to_owned();
    Ok(Editor {
        layout: layout(request, "Statement"),
        frame: frame("Statements"),
        failure: String::new(),
        was: text("was"),
        seen: text("seen"),
        name: text("name"),
        record_type: text("type"),
        label: text("label"),
        sql: text("sql"),
        record: text("record"),
        tried: None,
        views: views(request)?,
    })
}

async fn save(request: RequestContext) -> Result<Response> {
    let outcome = if request.form.text("do") == "try" {
        try_out(&request).await.map(Some)
    } else {
        store(&request).await.map(|()| None)
    };
    match outcome {
        Ok(None) => {
            request.flash("The statement is saved; searches can use it.");
            Ok(answer::go(HERE))
        }
        Ok(Some(value)) => {
            let mut page = again(&request)?;
            page.tried = Some(value);
            answer::page(&page)
        }
        Err(cause) => {
            let mut page = again(&request)?;
            page.failure = told(cause)?;
            answer::form_again(&page)
        }
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
        .console
        .store
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
            "name a record to try it with: its id, or a code such as barcode:TLH26-0001",
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
        .console
        .store
        .read(move |_| statements::check(&path, &checked))
        .await?;
    let ctx = request.context();
    let (was, seen) = (
        request.form.text("was").to_owned(),
        request.form.text("seen").to_owned(),
    );
    request
        .console
        .store
        .write(move |tx| {
            let stored = of_name(tx, &was)?;
            if mark(&stored) != seen {
                let now = stored.map_or_else(
                    || "it is not there any more".to_owned(),
                    |stored| format!("it is now: {}", stored.sql),
                );
                return Err(Error::invalid(format!(
                    "somebody else changed {was} meanwhile, and nothing of yours was saved; {now}"
                )));
            }
            if statement.name != was && of_name(tx, &statement.name)?.is_some() {
                return Err(Error::invalid(format!(
                    "there is a statement {} already",
                    statement.name
                )));
            }
            let mut all = statements::all(tx)?;
            all.retain(|known| known.name != was);
            all.push(statement);
            statements::save(tx, &ctx, &all, true)
        })
        .await
}

async fn remove(request: RequestContext) -> Result<Response> {
    let name = request.form.text("name").to_owned();
    let ctx = request.context();
    let said = format!("{name} is gone; searches that use it are refused from now on.");
    request
        .console
        .store
        .write(move |tx| {
            let mut all = statements::all(tx)?;
            all.retain(|known| known.name != name);
            statements::save(tx, &ctx, &all, true)
        })
        .await?;
    request.flash(said);
    Ok(answer::go(HERE))
}
