//! `/badge/print`, `/badge/job/...` (contract §15).

use super::{
    jobs::{self, Job, NewJob, State},
    printers,
};
use crate::{
    domain::{
        apps::PublishedCache,
        delegates, devices,
        interactions::{
            confine,
            draft::{Draft, Participant},
            types::CHECK_IN,
        },
    },
    identity::{App, Granted, Role, roles::WriteInteractions},
    types::{
        DeviceSelector,
        error::{Error, Kind, Result},
    },
    web::{Answer, Body, Outcome, RequestId},
};
use poem_openapi::{OpenApi, param::Path};
use rusqlite::Connection;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::sync::Arc;

/// A badge to print.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({"delegate": "barcode:TICKET-0007", "device": "code:gate-b", "reason": "lost badge"}))]
pub struct PrintInput {
    /// An attendee's id or selector.
    delegate: Participant,
    /// The id or selector of the place where it is asked for; it decides who prints, unless the client has a printer.
    #[serde(default)]
    device: Option<Participant>,
    /// The name of a printer, in place of the one of the client or the place; not for gates.
    #[serde(default)]
    printer: Option<String>,
    /// The reason why it is printed once more.
    #[serde(default)]
    #[schemars(length(max = jobs::REASON_MAX_CHARS))]
    reason: Option<String>,
}

/// A badge that was, or is to be, printed.
#[derive(Serialize, JsonSchema)]
#[schemars(example = json!({"id": 12, "state": "queued", "printer": "Entrance left"}))]
pub struct PrintJob {
    #[schemars(range(min = 1))]
    id: i64,
    /// `sent`: the printer has it, and a `print` is recorded. `failed`: nothing was printed, and nothing will be.
    /// `unknown`: it may have been printed; somebody has to look.
    #[schemars(extend("enum" = ["queued", "sent", "failed", "unknown"]))]
    state: &'static str,
    printer: String,
    /// The reason why it waits, failed, or is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

impl PrintJob {
    fn of(connection: &Connection, job: Job) -> Result<Self> {
        let printer = printers::get(connection, job.printer)?;
        Ok(Self {
            id: job.id,
            state: match job.state {
                // For who asks from outside it is on its way.
                State::Sending => State::Queued.name(),
                state => state.name(),
            },
            printer: printer.map(|printer| printer.is.name).unwrap_or_default(),
            why: job.why,
        })
    }
}

pub struct PrintingApi {
    pub app: App,
    pub published: Arc<PublishedCache>,
}

#[OpenApi(tag = "crate::web::Tag::Delegates")]
impl PrintingApi {
    /// Print a badge
    ///
    /// By the printer of the client, otherwise that of the place or of one above it, otherwise one that is for all. It is
    /// queued at once and printed beside everything else; `GET /badge/job/{id}` tells what became of it. Each call prints
    /// a badge: a resend without an answer may print two. Needs `ROLE_OAUTH2_INTERACTION_WRITE`, or `ROLE_OAUTH2_GATE`
    /// for the gate's own places and printer.
    #[oai(path = "/badge/print", method = "post", operation_id = "printBadge")]
    async fn print(
        &self,
        caller: Granted<WriteInteractions>,
        request_id: RequestId,
        body: Body<PrintInput>,
    ) -> Outcome<Answer<PrintJob>> {
        let input: PrintInput = body.parse()?;
        let ctx = self.app.context(&caller, request_id.as_str());
        let delegate = input.delegate.delegate()?;
        let device = match &input.device {
            Some(Participant::Id(id)) => Some(DeviceSelector::parse(&format!("id:{id}"))?),
            Some(Participant::Selector(selector)) => Some(DeviceSelector::parse(selector)?),
            None => None,
        };
        let (published, principal) = (Arc::clone(&self.published), caller.principal());
        let job = self.app.store.write(move |tx| {
            if !principal.has(Role::InteractionWrite) {
                if input.printer.is_some() {
                    let message = "a gate prints by the printer that it is given";
                    return Err(Error::new(Kind::Forbidden, message));
                }
                if device.is_some() {
                    let as_check_in = Draft {
                        kind: CHECK_IN.name.to_owned(),
                        delegates: [Some(delegate.clone()), None, None],
                        devices: [device.clone(), None, None],
                        ..Draft::default()
                    };
                    confine::check(tx, &tx.cache(), &published, &principal, &as_check_in)?;
                }
            }
            let place = match &device {
                Some(device) => Some(devices::find(tx, device)?),
                None => None,
            };
            let printer = match &input.printer {
                Some(name) => Some(printers::named(tx, name)?),
                None => printers::assigned(tx, ctx.client, place)?,
            };
            let printer = printer.ok_or_else(printers::none_here)?;
            let new = NewJob {
                delegate: delegates::find(tx, &delegate)?,
                place,
                trigger: None,
                reason: input.reason.clone(),
            };
            let id = jobs::add(tx, &ctx, &printer, &new)?;
            PrintJob::of(tx, jobs::get(tx, id)?)
        });
        Ok(Answer::json(&job.await?))
    }

    /// Get a print job
    ///
    /// A gate sees those that it asked for. Needs `ROLE_OAUTH2_INTERACTION_WRITE` or `ROLE_OAUTH2_GATE`.
    #[oai(path = "/badge/job/:id", method = "get", operation_id = "getPrintJob")]
    async fn job(
        &self,
        caller: Granted<WriteInteractions>,
        request_id: RequestId,
        /// The job's id.
        id: Path<i64>,
    ) -> Outcome<Answer<PrintJob>> {
        let sees_all = caller.principal().has(Role::InteractionWrite);
        let actor = self.app.context(&caller, request_id.as_str()).actor;
        let job = self.app.store.look_up(|connection| {
            let job = jobs::get(connection, id.0)?;
            if !sees_all && job.actor != actor {
                return Err(jobs::missing());
            }
            PrintJob::of(connection, job)
        })?;
        Ok(Answer::json(&job))
    }
}
