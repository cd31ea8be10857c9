//! The rehearsal: a snapshot before it, and one click back to it before the doors open.

use super::layout;
use crate::admin::prelude::*;
use crate::{
    admin::layout::number,
    core::settings,
    identity::sessions,
    ops::backup::{
        ledger::{self, Entry, Purpose},
        rehearsal::{self, Going},
        run,
    },
};

const HERE: &str = "/console/settings/rehearsal";
/// What is typed to go back.
const WORDS: &str = "go back";

pub(super) fn routes() -> Routes {
    Routes::access(ADMINISTRATOR)
        .get(HERE, show)
        .post("/console/settings/rehearsal/snapshot", snapshot)
        .post("/console/settings/rehearsal/return", go_back)
        .action("/console/settings/rehearsal/doors", |tx, ctx, action| {
            let open = action.form.text("doors") == "open";
            settings::open_doors(tx, ctx, open)?;
            let message = if open {
                "The doors are open. The rehearsal cannot be undone any more."
            } else {
                "The doors are closed again."
            };
            Ok(Done::new(message, HERE))
        })
}

#[derive(Template)]
#[template(path = "settings/rehearsal.html")]
struct Page {
    layout: Layout,
    opened_at: Option<Timestamp>,
    snapshot: Option<Entry>,
    /// What would go; why that cannot be told.
    going: Option<Going>,
    trouble: Option<String>,
    words: &'static str,
}

impl Page {
    async fn new(request: &RequestContext) -> Result<Self> {
        let (snapshot, opened_at) = request.look_up(|connection| {
            let settings = settings::load(connection)?;
            Ok((ledger::snapshot(connection)?, settings.doors_opened_at))
        })?;
        let mut page = Self {
            layout: layout(request, "Rehearsal"),
            opened_at,
            snapshot,
            going: None,
            trouble: None,
            words: WORDS,
        };
        if let (Some(snapshot), None) = (&page.snapshot, opened_at) {
            let (app, path) = (request.console.app().clone(), snapshot.path.clone());
            let counted = run::on_thread(move || rehearsal::preview(&app.store, &path));
            match counted.await {
                Ok(going) => page.going = Some(going),
                Err(cause) => {
                    tracing::warn!("the rehearsal's snapshot: {cause}");
                    page.trouble = Some(format!(
                        "{} cannot be read any more; take a new snapshot.",
                        snapshot.path.display()
                    ));
                }
            }
        }
        Ok(page)
    }
}

async fn show(request: RequestContext) -> Result<Response> {
    answer::page(&Page::new(&request).await?)
}

async fn snapshot(request: RequestContext) -> Result<Response> {
    let (app, ctx) = (request.console.app().clone(), request.context());
    let made = run::on_thread(move || {
        app.store.look_up(rehearsal::check_doors)?;
        let folder = run::own_folder(app.store.path());
        let purpose = Purpose::Rehearsal;
        run::into_folder(&app.store, &ctx, purpose, &folder, Timestamp::now())
    });
    match made.await {
        Ok(_) => request.done("The snapshot is taken and was found sound. Rehearse!", HERE),
        Err(cause) => request.failed(cause, show).await,
    }
}

async fn go_back(request: RequestContext) -> Result<Response> {
    if request.form.text("words").to_lowercase() != WORDS {
        let cause = Error::invalid(format!("type “{WORDS}” into the field to go back"));
        return request.failed(cause, show).await;
    }
    let snapshot = request.look_up(ledger::snapshot)?;
    // Of two who look at the page, neither goes back to what the other has just taken.
    let asked = request.form.text("snapshot");
    let Some(snapshot) = snapshot.filter(|snapshot| snapshot.id.to_string() == asked) else {
        let cause = Error::invalid("there is another snapshot by now; look at the page again");
        return request.failed(cause, show).await;
    };
    let ctx = request.context();
    // On its own: a browser that goes away does not stop it half-way, nor its message.
    let console = request.console.clone();
    let returned = tokio::spawn(async move {
        let returned = rehearsal::go_back(console.app(), &ctx, &snapshot).await?;
        // Who was erased since came back for a moment, within that transaction.
        console.app().wipe_log();
        let told = format!(
            "Back to the snapshot of {}: {} interactions of the rehearsal are gone. What was there is in {}.",
            ctx.settings.zone.plain(snapshot.started_at),
            number(returned.gone.interactions),
            returned.safety.display()
        );
        tell_everybody(&console, &told)?;
        Ok::<_, Error>(())
    });
    match returned.await.map_err(Error::defect)? {
        Ok(()) => Ok(answer::go(HERE)),
        Err(cause) => request.failed(cause, show).await,
    }
}

/// A message on the next page of everybody who is signed in.
fn tell_everybody(console: &crate::admin::Console, told: &str) -> Result<()> {
    let ids = |connection: &_| sessions::ids(connection, Timestamp::now());
    let sessions = console.store.look_up(ids)?;
    for session in sessions {
        answer::flash(console, session, told.to_owned(), false);
    }
    Ok(())
}
