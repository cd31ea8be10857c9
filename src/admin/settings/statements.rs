//! Statements: values that searches use by name. The form can run one against a record.

use super::TABS;
use crate::admin::prelude::*;
use crate::{
    core::{
        audit,
        search::statements::{self, Statement},
    },
    db::sandbox::View,
    domain::{delegates, devices},
    types::{DelegateSelector, DeviceSelector},
};

const HERE: &str = "/console/settings/statements";

pub(super) fn routes() -> Routes {
    let edit = "/console/settings/statements/edit";
    Routes::access(ADMINISTRATOR)
        .get(HERE, list)
        .get(edit, engine::show::<Statements>)
        .post(edit, engine::submit::<Statements>)
        .action("/console/settings/statements/remove", remove)
}

#[derive(Template)]
#[template(path = "settings/statements.html")]
struct StatementList {
    layout: Layout,
    statements: Vec<Statement>,
}

async fn list(request: RequestContext) -> Result<Response> {
    let read = |connection: &Connection, layout| {
        let statements = statements::all(connection)?;
        Ok(StatementList { layout, statements })
    };
    request.page("Statements", Area::Settings, read).await
}

struct Statements;

#[derive(Template)]
#[template(path = "settings/statement.html")]
struct Aside {
    views: Vec<View>,
}

#[derive(Template)]
#[template(
    source = r#"<p class="notice good" role="status">For this record it gives: <strong>{{ value }}</strong></p>"#,
    ext = "html"
)]
struct Tried {
    value: String,
}

impl Editor for Statements {
    type Key = Named;
    type Draft = Statement;
    type Created = ();
    const LIST: &'static str = HERE;
    const NOUN: &'static str = "statement";
    const AREA: Area = Area::Settings;

    fn tabs(_: &Layout) -> Tabs {
        (TABS, "Statements")
    }

    fn blank(_: &RequestContext) -> Statement {
        Statement {
            name: String::new(),
            record_type: "delegate".into(),
            label: None,
            sql: statements::EXAMPLE.into(),
        }
    }

    fn find(connection: &Connection, name: &Named) -> Result<Statement> {
        let mut all = statements::all(connection)?.into_iter();
        all.find(|known| known.name == name.0).ok_or_else(|| {
            Error::new(
                Kind::NoSuchPath,
                format!("there is no statement {} any more", name.0),
            )
        })
    }

    fn name(draft: &Statement) -> String {
        draft.name.clone()
    }

    fn groups(_: &Connection, _: Option<&Named>, draft: &Statement) -> Groups {
        let of = [("delegate", "attendee"), ("device", "device")];
        let inputs = vec![
            Input::text("name", "Name in searches").required().max(64).placeholder("visits"),
            Input::select("type", "One value for each", of),
            Input::text("label", "Meaning").wide().placeholder("Number of check-ins"),
            Input::area("sql", "SQL", 8).required().wide().code().help(
                "One SELECT of one column; :id is the record. It can read what is listed beside, and \
                 never write.",
            ),
            Input::text("record", "Record to run it for")
                .apart()
                .wide()
                .placeholder("barcode:TLH26-0001, or an id")
                .help("Running it saves nothing."),
        ];
        engine::filled(vec![Group::new("Statement", inputs)], draft)
    }

    fn typed(groups: &[Group], sent: &Fields) -> Result<Statement> {
        engine::typed(groups, sent)
    }

    async fn prepare(at: At<'_, Self>, draft: Statement) -> Result<Statement> {
        let path = at.request.console.store.path().to_owned();
        let check = move |_: &Connection| statements::check(&path, &draft).map(|()| draft);
        at.request.read(check).await
    }

    fn create(tx: &Tx<'_>, ctx: &Context, draft: &Statement) -> Result<()> {
        replace(tx, ctx, None, draft)
    }

    fn update(tx: &Tx<'_>, ctx: &Context, name: &Named, draft: &Statement) -> Result<()> {
        replace(tx, ctx, Some(name), draft)
    }

    fn created(request: &RequestContext, draft: Statement, (): ()) -> Result<Response> {
        request.done(format!("{} saved. Searches can use it.", draft.name), HERE)
    }

    fn last_actor(connection: &Connection, _: &Named) -> Result<String> {
        audit::last_actor(connection, "statements", None, &[])
    }

    fn buttons(_: Option<&Named>, _: &Statement) -> Vec<Button> {
        vec![Button::new("try", "Run").shows()]
    }

    async fn press(at: At<'_, Self>, mut draft: Statement, _: &str) -> Result<Outcome> {
        if draft.name.is_empty() {
            draft.name = "this statement".into();
        }
        let record = at.request.form.text("record").to_owned();
        let path = at.request.console.store.path().to_owned();
        let run = move |connection: &Connection| {
            statements::check(&path, &draft)?;
            let id = record_id(connection, &draft.record_type, &record)?;
            statements::try_out(&path, &draft, id)
        };
        let value = at.request.read(run).await?;
        Outcome::shown(&Tried { value })
    }

    async fn aside(at: At<'_, Self>) -> Result<String> {
        let views = statements::views(at.request.console.store.path())?;
        answer::part(&Aside { views })
    }
}

fn replace(tx: &Tx<'_>, ctx: &Context, before: Option<&Named>, draft: &Statement) -> Result<()> {
    let name = |statement: &Statement| statement.name.clone();
    let all = engine::replaced(statements::all(tx)?, name, before, draft.clone())?;
    statements::save(tx, ctx, &all, true)
}

fn record_id(connection: &Connection, record_type: &str, record: &str) -> Result<i64> {
    if record.is_empty() {
        return Err(Error::field(
            "record",
            "name one to run it for: its id, or a code such as barcode:TLH26-0001",
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

fn remove(tx: &Tx<'_>, ctx: &Context, action: &Action) -> Result<Done> {
    let name = action.form.text("name");
    let mut all = statements::all(tx)?;
    all.retain(|known| known.name != name);
    statements::save(tx, ctx, &all, true)?;
    let message = format!("{name} removed. Searches that use it are refused from now on.");
    Ok(Done::new(message, HERE))
}
