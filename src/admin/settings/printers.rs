//! Printers: where they are, for whom they print, and when by themselves.

use super::TABS;
use crate::admin::prelude::*;
use crate::{
    core::{audit, dns_sd},
    domain::{
        delegates, devices,
        printing::{self, ByItself, Language, NewPrinter, Printer, SERVICES, jobs, printers},
    },
    identity::clients,
};
use futures_util::future::join_all;

const HERE: &str = "/console/settings/printers";

pub(super) fn routes() -> Routes {
    let edit = "/console/settings/printers/edit";
    Routes::access(ADMINISTRATOR)
        .get(HERE, list)
        .get("/console/settings/printers/find", found)
        .get(edit, engine::show::<Printers>)
        .post(edit, engine::submit::<Printers>)
        .action("/console/settings/printers/remove", remove)
}

struct Line {
    printer: NewPrinter,
    state: String,
    waiting: i64,
    unknown: i64,
}

#[derive(Template)]
#[template(path = "settings/printers.html")]
struct PrinterList {
    layout: Layout,
    lines: Vec<Line>,
}

async fn list(request: RequestContext) -> Result<Response> {
    let read = |connection: &Connection| {
        let all = printers::all(connection)?.into_iter();
        let counted = |printer: Printer| Ok((jobs::counts(connection, printer.id)?, printer.is));
        all.map(counted).collect::<Result<Vec<_>>>()
    };
    let known = request.read(read).await?;
    let lines = known
        .into_iter()
        .map(async |((waiting, unknown), printer)| Line {
            state: printing::state(request.console.app(), &printer).await,
            printer,
            waiting,
            unknown,
        });
    answer::page(&PrinterList {
        lines: join_all(lines).await,
        layout: super::layout(&request, "Printers"),
    })
}

#[derive(Template)]
#[template(path = "settings/printers_found.html")]
struct FoundPage {
    layout: Layout,
    found: Vec<(dns_sd::Found, NewPrinter)>,
    failure: Option<String>,
}

/// Asks the LAN for printers.
async fn found(request: RequestContext) -> Result<Response> {
    let asked = tokio::task::spawn_blocking(|| dns_sd::find(&SERVICES)).await;
    let (found, failure) = match asked.map_err(Error::defect)? {
        Ok(found) => (found, None),
        Err(cause) => (
            Vec::new(),
            Some(format!("The network cannot be asked: {cause}.")),
        ),
    };
    let found = found.into_iter().map(|found| {
        let printer = printing::of_found(&found);
        (found, printer)
    });
    answer::page(&FoundPage {
        found: found.collect(),
        failure,
        layout: super::layout(&request, "Printers on the network"),
    })
}

struct Printers;

fn name_of<T: serde::Serialize>(value: T) -> String {
    let json = serde_json::to_value(value).unwrap_or_default();
    json.as_str().unwrap_or_default().to_owned()
}

impl Editor for Printers {
    type Key = Named;
    type Draft = NewPrinter;
    type Created = ();
    const LIST: &'static str = HERE;
    const NOUN: &'static str = "printer";
    const AREA: Area = Area::Settings;

    fn tabs(_: &Layout) -> Tabs {
        (TABS, "Printers")
    }

    /// One that was found brings its name and address along.
    fn blank(request: &RequestContext) -> NewPrinter {
        let language = request.query.text("language");
        let languages = [Language::Zpl, Language::Brother, Language::Ipp];
        let language = languages
            .into_iter()
            .find(|known| name_of(known) == language);
        NewPrinter {
            name: request.query.text("preset").to_owned(),
            address: request.query.text("address").to_owned(),
            language: language.unwrap_or_default(),
            ..NewPrinter::default()
        }
    }

    fn find(connection: &Connection, name: &Named) -> Result<NewPrinter> {
        let mut all = printers::all(connection)?.into_iter();
        let found = all.find(|known| known.is.name == name.0);
        let gone = || {
            let message = format!("there is no printer {} any more", name.0);
            Error::new(Kind::NoSuchPath, message)
        };
        found.map(|printer| printer.is).ok_or_else(gone)
    }

    fn name(draft: &NewPrinter) -> String {
        draft.name.clone()
    }

    fn groups(connection: &Connection, name: Option<&Named>, draft: &NewPrinter) -> Groups {
        let when = [
            (name_of(ByItself::Never), "never"),
            (
                name_of(ByItself::First),
                "at the first check-in of each attendee",
            ),
            (name_of(ByItself::Each), "at each check-in"),
        ];
        let gates = clients::list(connection)?.into_iter();
        let gates = gates.filter(|client| client.revoked_at.is_none() && client.device.is_some());
        let places = devices::places(connection)?.into_iter();
        let others = printers::all(connection)?.into_iter();
        let others = others.filter(|other| name.is_none_or(|name| name.0 != other.is.name));
        let of_whom = vec![
            Input::checks(
                "gates",
                "Gates",
                gates.map(|client| Choice::named(client.client_id, client.name, false)),
            ),
            Input::checks(
                "places",
                "Places",
                places.map(|place| Choice::named(place.code, place.name, false)),
            )
            .help("With all below them: rooms of an event, sessions in a room."),
            Input::select(
                "fallback",
                "While it does not work, print at",
                std::iter::once(Choice::from(("", "none: badges wait"))).chain(
                    others.map(|other| Choice::named(other.is.name.clone(), other.is.name, false)),
                ),
            ),
        ];
        let by_itself = vec![
            Input::select("byItself", "Print", when),
            Input::words("types", "Only for types")
                .placeholder("Speaker, Press")
                .offered(delegates::types(connection)?),
        ];
        let groups = vec![
            Group::new("Printer", machine_inputs()),
            Group::new("Prints for", of_whom)
                .help("Without gates and places: for all that have no printer of their own."),
            Group::new("By itself", by_itself)
                .help("A check-in that a gate uploads more than ten minutes later prints nothing."),
        ];
        engine::filled(groups, draft)
    }

    fn typed(groups: &[Group], sent: &Fields) -> Result<NewPrinter> {
        engine::typed(groups, sent)
    }

    fn create(tx: &Tx<'_>, ctx: &Context, draft: &NewPrinter) -> Result<()> {
        draft.check(ctx.settings.reach)?;
        printers::put(tx, ctx, None, draft)
    }

    fn update(tx: &Tx<'_>, ctx: &Context, name: &Named, draft: &NewPrinter) -> Result<()> {
        draft.check(ctx.settings.reach)?;
        printers::put(tx, ctx, Some(&name.0), draft)
    }

    fn created(request: &RequestContext, draft: NewPrinter, (): ()) -> Result<Response> {
        request.done(
            format!("{} added. Print a test badge now.", draft.name),
            HERE,
        )
    }

    fn last_actor(connection: &Connection, _: &Named) -> Result<String> {
        audit::last_actor(connection, "printers", None, &[])
    }

    fn buttons(_: Option<&Named>, _: &NewPrinter) -> Vec<Button> {
        vec![Button::new("test", "Print a test badge").shows()]
    }

    async fn press(at: At<'_, Self>, draft: NewPrinter, _: &str) -> Result<Outcome> {
        draft.check(at.request.console.settings().reach)?;
        // It need not be stored yet.
        let printer = Printer::new(&draft);
        let (tone, told) = match printing::test(at.request.console.app(), &printer).await {
            Ok(()) => (
                "good",
                "The printer has taken the badge of Ada Lovelace.".to_owned(),
            ),
            Err(cause) => ("bad", format!("Not printed: {cause}.")),
        };
        Outcome::shown(&Tried { tone, told })
    }
}

#[derive(Template)]
#[template(
    source = r#"<p class="notice {{ tone }}" role="status">{{ told }}</p>"#,
    ext = "html"
)]
struct Tried {
    tone: &'static str,
    told: String,
}

fn remove(tx: &Tx<'_>, ctx: &Context, action: &Action) -> Result<Done> {
    let name = action.form.text("name");
    printers::remove(tx, ctx, name)?;
    Ok(Done::new(format!("{name} removed."), HERE))
}

/// The inputs of what a printer is.
fn machine_inputs() -> Vec<Input> {
    let languages = [
        (name_of(Language::Zpl), "Zebra and others with ZPL"),
        (name_of(Language::Brother), "Brother QL"),
        (
            name_of(Language::Ipp),
            "IPP, AirPrint, CUPS (also office printers)",
        ),
    ];
    vec![
        Input::text("name", "Name")
            .required()
            .max(100)
            .placeholder("Entrance left"),
        Input::select("language", "Speaks", languages),
        Input::text("address", "Address")
            .required()
            .max(200)
            .placeholder("192.0.2.9, or ipp://192.0.2.9/ipp/print")
            .help("Its name or IP address; with IPP the whole address."),
        Input::number("dpi", "Dots an inch", 152, 600)
            .help("Of one with ZPL: 152, 203, 300 or 600, as its label or manual says."),
        Input::number("paper", "Width of the paper (mm)", 29, 62)
            .help("Of a Brother QL: 29, 38, 50, 54 or 62."),
    ]
}
