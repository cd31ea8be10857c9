//! Badges of the attendees that a list shows: as a PDF, or at a printer.

use super::list;
use crate::admin::{prelude::*, settings::badges};
use crate::domain::{
    badges::{PDF_MAX, Sheet, sorted},
    printing::{
        jobs::{self, NewJob},
        printers,
    },
};

pub(super) const PAGE: &str = "/console/delegates/print";
/// Badges that go to a printer at once: some hours of its time.
const JOBS_MAX: usize = 500;
/// Jobs that are written in one transaction.
const SLICE: usize = 50;
/// The choices beside printers.
const PAGES: &str = "pdf";
const ON_A4: &str = "a4";

/// Asks how they are printed.
pub(super) async fn ask(request: RequestContext) -> Result<Response> {
    let found = list::found(&request).await?;
    let (people, printers) = request.look_up(|connection| {
        let people = sorted(connection, (None, found.as_deref()), false, PDF_MAX + 1)?;
        Ok((people.len(), printers::all(connection)?))
    })?;
    let count = i64::try_from(people).unwrap_or(i64::MAX);
    let printers = printers.into_iter().map(|printer| {
        let name = format!("At the printer {}", printer.is.name);
        Choice::new(printer.id.to_string(), name, false)
    });
    let pdfs = [
        Choice::new(ON_A4, "A PDF, as many on an A4 as fit", true),
        Choice::new(PAGES, "A PDF, a page each", false),
    ];
    let filters = list::filters(&request);
    let layout = request.layout("", None);
    let form = Form {
        action: format!("{PAGE}?{filters}"),
        cancel: format!("/console/delegates?{filters}"),
        submit: "Print".to_owned(),
        groups: vec![
            Group::new("", vec![Input::select("to", "How", pdfs.into_iter().chain(printers))]).help(format!(
                "Attendees that the list shows: {}. By last name; a printer takes {JOBS_MAX} at once.",
                layout.number(&count)
            )),
        ],
        ..Form::default()
    };
    engine::form_page(&request, "Print badges", Area::Delegates, form)
}

/// Prints them.
pub(super) async fn print(request: RequestContext) -> Result<Response> {
    let found = list::found(&request).await?;
    let printer = match request.form.text("to") {
        PAGES => return badges::drawn(&request, None, found, (None, false)).await,
        ON_A4 => return badges::drawn(&request, None, found, (Some(Sheet::A4), false)).await,
        _ => request.form.number("to")?.unwrap_or_default(),
    };
    let (printer, people) = request.look_up(|connection| {
        let printers = printers::all(connection)?.into_iter();
        let printer = printers.into_iter().find(|known| known.id == printer);
        let printer = printer.ok_or_else(|| Error::field("to", "this printer was removed"))?;
        let people = sorted(connection, (None, found.as_deref()), false, JOBS_MAX + 1)?;
        Ok((printer, people))
    })?;
    if people.len() > JOBS_MAX {
        let message = format!("takes {JOBS_MAX} badges at once: filter the list, or make a PDF");
        return Err(Error::field("to", message));
    }
    let told = format!("Badges that go to {}: {}.", printer.is.name, people.len());
    for slice in people.chunks(SLICE) {
        let (slice, printer) = (slice.to_vec(), printer.clone());
        let put = request.write(move |tx, ctx| {
            for delegate in slice {
                let job = NewJob {
                    delegate,
                    place: None,
                    trigger: None,
                    reason: None,
                };
                jobs::add(tx, ctx, &printer, &job)?;
            }
            Ok(())
        });
        put.await?;
    }
    request.done(told, "/console/printing")
}
