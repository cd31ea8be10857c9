//! The head office that this venue belongs to: joining it, how the line is, and the values that the venue keeps.

use super::layout;
use crate::admin::prelude::*;
use crate::{
    core::head_office::{
        Kept,
        venue::{self, HeadOffice, LineState},
    },
    domain::{
        delegates::{self, overview},
        devices,
    },
    ops::head_office::{join, kept},
    types::{
        DeviceId,
        text::{sentence, shortened},
    },
};
use serde_json::Value;

const HERE: &str = "/console/settings/head-office";

pub(super) fn routes() -> Routes {
    Routes::access(ADMINISTRATOR)
        .get(HERE, show)
        .post("/console/settings/head-office/join", join_with)
        .post("/console/settings/head-office/leave", leave)
}

#[derive(Template)]
#[template(path = "settings/head_office.html")]
struct Page {
    layout: Layout,
    office: Option<HeadOffice>,
    line: LineState,
    kept: Vec<KeptRow>,
    /// What was typed, after a failure.
    url: String,
    code: String,
}

impl Page {
    /// The troubles of both ways, each once.
    fn troubles(&self) -> Vec<String> {
        let troubles = self.line.trouble.iter().flatten();
        let mut troubles: Vec<_> = troubles.map(|why| sentence(why)).collect();
        troubles.dedup();
        troubles
    }
}

/// A kept value, with its record as people know it.
struct KeptRow {
    name: String,
    href: Option<String>,
    property: String,
    office: String,
    venue: String,
}

impl KeptRow {
    fn new(connection: &Connection, (kept, local): kept::Local) -> Result<Self> {
        let Kept {
            record_type,
            id,
            property,
            office,
            venue,
        } = kept;
        let (name, href) = match record_type.as_str() {
            "delegate" if local > 0 => (
                overview::name_of(connection, local)?,
                Some(format!("/console/delegates/{local}")),
            ),
            "device" if local > 0 => (
                devices::name_of(connection, DeviceId(local))?,
                Some(format!("/console/devices/{local}")),
            ),
            "configuration" => (Some("Configuration".to_owned()), None),
            _ => (None, None),
        };
        let (label, [office, venue]) = match property.as_str() {
            "record" => ("could not be taken over", [String::new(), text(&venue)]),
            venue::ERASED => (
                "the record itself",
                [String::new(), "erased here".to_owned()],
            ),
            "deleted" => {
                let word = |value: &Value| {
                    if *value == true {
                        "deleted"
                    } else {
                        "not deleted"
                    }
                };
                (
                    "the record itself",
                    [word(&office).to_owned(), word(&venue).to_owned()],
                )
            }
            name => {
                let resource = match record_type.as_str() {
                    "delegate" => &delegates::RESOURCE,
                    _ => &devices::LISTED,
                };
                let label = resource.property(name).map(|field| field.label);
                let label = label.filter(|label| !label.is_empty()).unwrap_or(name);
                (label, [text(&office), text(&venue)])
            }
        };
        Ok(Self {
            name: name.unwrap_or_else(|| format!("{record_type} {id} of the head office")),
            href,
            property: label.to_owned(),
            office,
            venue,
        })
    }
}

/// A value as a table shows it.
fn text(value: &Value) -> String {
    match value {
        Value::Null => "empty".to_owned(),
        Value::String(text) => shortened(text),
        other => shortened(&other.to_string()),
    }
}

async fn show(request: RequestContext) -> Result<Response> {
    let zone = request.console.settings().zone.clone();
    let read = move |connection: &Connection| {
        let kept = kept::listed(connection, &zone)?.into_iter();
        let kept = kept.map(|kept| KeptRow::new(connection, kept));
        Ok((HeadOffice::find(connection)?, kept.collect::<Result<_>>()?))
    };
    let (office, kept) = request.read(read).await?;
    answer::page(&Page {
        layout: layout(&request, "Head office"),
        office,
        line: request.console.head_office.state(),
        kept,
        url: request.form.text("url").to_owned(),
        code: request.form.text("code").to_owned(),
    })
}

async fn join_with(request: RequestContext) -> Result<Response> {
    let form = &request.form;
    let (url, code) = (
        form.text("url").trim().to_owned(),
        form.text("code").to_owned(),
    );
    let ca = form.filled("ca").map(ToOwned::to_owned);
    let app = request.console.app().clone();
    match join(&app.store, request.context(), &url, &code, ca).await {
        Ok(office) => {
            app.head_office.renew();
            let told = format!(
                "Joined as {}. What happens here is pushed from now on.",
                office.name
            );
            request.done(told, HERE)
        }
        Err(cause) => request.failed(cause, show).await,
    }
}

async fn leave(request: RequestContext) -> Result<Response> {
    request.write(venue::leave).await?;
    request.console.head_office.renew();
    request.done("Left the head office. What came from there stays.", HERE)
}
