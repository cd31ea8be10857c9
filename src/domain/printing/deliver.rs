//! Attempts at jobs. The badge is drawn, and the printer reached, before the job is stored as begun: what fails until then is
//! tried again. Whatever breaks off later may have been printed.

use super::{
    check_ins, ipp,
    jobs::{self, State as JobState},
    printers::{self, Language, NewPrinter, Printer},
    tcp,
};
use crate::{
    core::{
        Context,
        changes::Position,
        outbox::{Delivery, FinishedAttempt, Kind, Outcome, Read},
    },
    domain::badges::{self, Badge, Press, Records},
    identity::App,
    types::error::{Error, Kind as Wrong, Result},
};
use futures_util::future::BoxFuture;
use rusqlite::Connection;
use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::net::TcpStream;

/// Attempts at a time for one destination. Jobs of one printer go one after the other.
const AT_ONCE: usize = 4;
/// The longest wait for a printer that is down, in seconds: somebody stands there and puts paper in.
const WAIT_MAX_S: i64 = 3;
/// The time for which a shutdown waits: a badge is sent in less.
const GRACE: Duration = Duration::from_secs(5);
/// The end of an attempt at a job that is gone, or was begun by another.
const NOTHING: FinishedAttempt = FinishedAttempt {
    outcome: Outcome::Nothing,
    record: None,
};

/// The outcome of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Sent {
    /// The printer has it.
    Yes,
    /// It may have been printed.
    Unknown(String),
    /// Nothing was printed; it is tried again.
    NotYet(String),
    /// It cannot be printed.
    Never(String),
}

/// Printers, as the outbox delivers to them.
#[derive(Clone)]
pub struct Printing(Arc<Inner>);

struct Inner {
    app: App,
    /// Printers that do not tell how they are, and are not asked again.
    silent: Mutex<HashSet<i64>>,
}

impl Kind for Printing {
    fn destinations(&self, connection: &Connection) -> Result<Vec<String>> {
        let all = printers::all(connection)?;
        let mut names: Vec<String> = all.iter().map(Printer::destination).collect();
        if !names.is_empty() {
            names.push(check_ins::DESTINATION.to_owned());
        }
        Ok(names)
    }

    fn at_once(&self) -> usize {
        AT_ONCE
    }

    fn wait_max_s(&self) -> i64 {
        WAIT_MAX_S
    }

    fn grace(&self) -> Duration {
        GRACE
    }

    fn read(&self, connection: &Connection, _: &str, from: Position) -> Result<Read> {
        check_ins::read(connection, from)
    }

    fn attempt(
        &self,
        destination: String,
        delivery: Delivery,
    ) -> BoxFuture<'static, FinishedAttempt> {
        let (printing, id) = (self.clone(), delivery.of.id);
        Box::pin(async move {
            let attempted = match printers::id_of(&destination) {
                Some(printer) => printing.print(printer, id).await,
                None => printing.take_up(id).await,
            };
            attempted.unwrap_or_else(|cause| FinishedAttempt::defect(&cause))
        })
    }
}

/// All that a job needs before the printer is asked.
struct Drawn {
    printer: Printer,
    badge: Badge,
}

/// A printer that is ready to take a job.
enum Ready {
    Tcp {
        stream: TcpStream,
        job: Vec<u8>,
        tells: bool,
    },
    Ipp {
        format: &'static str,
        document: Vec<u8>,
    },
}

impl Printing {
    /// Printers of a server. What an earlier process began is decided about by a person.
    pub fn new(app: App) -> Self {
        Self(Arc::new(Inner {
            app,
            silent: Mutex::default(),
        }))
    }

    fn context(&self) -> Context {
        Context::of_command("printing", self.0.app.settings())
    }

    async fn take_up(&self, interaction: i64) -> Result<FinishedAttempt> {
        let ctx = self.context();
        let store = &self.0.app.store;
        let taken = store.write(move |tx| check_ins::take_up(tx, &ctx, interaction));
        Ok(FinishedAttempt {
            outcome: taken.await?,
            record: None,
        })
    }

    async fn print(&self, printer: i64, job: i64) -> Result<FinishedAttempt> {
        let settings = self.0.app.settings();
        let drawn = self.0.app.store.read(move |connection| {
            let found = jobs::get(connection, job);
            let Some(printer) = printers::get(connection, printer)? else {
                return Ok(None);
            };
            let Some(job) = found.ok().filter(|job| job.state == JobState::Queued) else {
                return Ok(None);
            };
            let record = Records::of(connection, &settings, None)?.get(job.delegate)?;
            let badge = Press::load(connection, &settings)?.draw(&record)?;
            Ok(Some(Drawn { printer, badge }))
        });
        let drawn = drawn.await;
        let left_out = match &drawn {
            Ok(Some(drawn)) => drawn.badge.warnings.first().map(ToString::to_string),
            _ => None,
        };
        let sent = match drawn {
            Ok(None) => return Ok(NOTHING),
            Ok(Some(drawn)) => match self.ready(&drawn.printer, drawn.badge).await {
                Ok(ready) => {
                    let store = &self.0.app.store;
                    let begun = store.write(move |tx| jobs::begin(tx, job, printer));
                    if !begun.await? {
                        return Ok(NOTHING);
                    }
                    // What is refused now was nothing that a printer could begin with.
                    match self.send(&drawn.printer.is, ready).await {
                        Sent::NotYet(why) | Sent::Never(why) => Sent::Unknown(why),
                        sent => sent,
                    }
                }
                Err(sent) => sent,
            },
            Err(cause) if matches!(cause.kind, Wrong::Invalid | Wrong::DelegateNotFound) => {
                Sent::Never(cause.to_string())
            }
            Err(cause) => return Err(cause),
        };
        let outcome = match &sent {
            Sent::Yes => Outcome::Delivered,
            Sent::Unknown(_) => Outcome::Unknown,
            Sent::Never(_) => Outcome::Refused,
            Sent::NotYet(why) => Outcome::Failed {
                why: why.clone(),
                unreachable: true,
                gone: false,
                again_after_s: None,
            },
        };
        let ctx = self.context();
        Ok(FinishedAttempt {
            outcome,
            record: Some(Arc::new(move |tx| {
                jobs::end(tx, &ctx, job, &sent)?;
                match &left_out {
                    Some(why) => jobs::remark(tx, job, why),
                    None => Ok(()),
                }
            })),
        })
    }

    /// Makes what a printer takes of a badge, and reaches the printer.
    async fn ready(&self, printer: &Printer, badge: Badge) -> Result<Ready, Sent> {
        let is = &printer.is;
        match is.language {
            Language::Ipp => {
                let description = ipp::describe(&self.0.app.outgoing, &is.address).await;
                let description = description.map_err(Sent::NotYet)?;
                if !description.troubles.is_empty() {
                    return Err(Sent::NotYet(description.troubles.join(", ")));
                }
                let format = description.format;
                let document = made(is, badge, format).await?;
                Ok(Ready::Ipp { format, document })
            }
            Language::Zpl | Language::Brother => {
                let job = made(is, badge, "").await?;
                let reach = self.0.app.outgoing.reach();
                let connected = tcp::connect(&is.address, reach).await;
                let mut stream = connected.map_err(Sent::NotYet)?;
                let is_silent = self.silent().contains(&printer.id);
                let troubles = if is_silent {
                    None
                } else {
                    tcp::trouble(&mut stream, is.language).await
                };
                let tells = troubles.is_some();
                match troubles {
                    Some(troubles) if !troubles.is_empty() => {
                        Err(Sent::NotYet(troubles.join(", ")))
                    }
                    _ => {
                        if !tells {
                            self.silent().insert(printer.id);
                        }
                        Ok(Ready::Tcp { stream, job, tells })
                    }
                }
            }
        }
    }

    fn silent(&self) -> std::sync::MutexGuard<'_, HashSet<i64>> {
        self.0.silent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn send(&self, printer: &NewPrinter, ready: Ready) -> Sent {
        match ready {
            Ready::Tcp { stream, job, tells } => tcp::send(stream, &job, tells).await,
            Ready::Ipp { format, document } => {
                ipp::print(&self.0.app.outgoing, &printer.address, format, document).await
            }
        }
    }
}

/// Makes the bytes of a job, beside the threads that others wait for.
async fn made(printer: &NewPrinter, badge: Badge, format: &'static str) -> Result<Vec<u8>, Sent> {
    let printer = printer.clone();
    let made = tokio::task::spawn_blocking(move || job(&printer, badge, format)).await;
    let never = |cause: &dyn std::fmt::Display| Sent::Never(cause.to_string());
    made.map_err(|cause| never(&cause))?
        .map_err(|cause| never(&cause))
}

fn job(printer: &NewPrinter, badge: Badge, format: &str) -> Result<Vec<u8>> {
    if format == ipp::PDF {
        return badges::pdf([Ok(badge)], None);
    }
    let page = badge.pages.first();
    let page = page.ok_or_else(|| Error::invalid("this layout draws nothing"))?;
    if let Some(too_wide) = printers::too_wide(printer, page.size.0) {
        return Err(Error::invalid(too_wide));
    }
    let dpi = match printer.language {
        Language::Brother => badges::BROTHER_DPI,
        _ => printer.dpi,
    };
    let dots = page.dots(dpi);
    let dots = dots.ok_or_else(|| Error::invalid("this badge has more than 9,000,000 dots"))?;
    match printer.language {
        Language::Zpl => Ok(badges::zpl(&dots).into_bytes()),
        Language::Brother => badges::brother_ql(&dots, printer.paper)
            .ok_or_else(|| Error::invalid("the badge is wider than the paper of this printer")),
        Language::Ipp => Ok(badges::pwg_raster(&dots, dpi)),
    }
}

/// Prints the badge of somebody invented, beside the queue.
///
/// # Errors
/// The reason why it was not printed, or may not have been.
pub async fn test(app: &App, printer: &Printer) -> Result<()> {
    let printing = Printing::new(app.clone());
    let settings = app.settings();
    let badge = app.store.read(move |connection| {
        let (_, sample) = badges::invented();
        Press::load(connection, &settings)?.draw(&sample)
    });
    let sent = match printing.ready(printer, badge.await?).await {
        Ok(ready) => printing.send(&printer.is, ready).await,
        Err(sent) => sent,
    };
    match sent {
        Sent::Yes => Ok(()),
        Sent::Unknown(why) | Sent::NotYet(why) | Sent::Never(why) => Err(Error::invalid(why)),
    }
}

/// Tells how a printer is, in words.
pub async fn state(app: &App, printer: &NewPrinter) -> String {
    let told = |troubles: Vec<String>| match troubles.len() {
        0 => "ready".to_owned(),
        _ => troubles.join(", "),
    };
    match printer.language {
        Language::Ipp => match ipp::describe(&app.outgoing, &printer.address).await {
            Ok(description) => told(description.troubles),
            Err(why) => why,
        },
        Language::Zpl | Language::Brother => {
            match tcp::connect(&printer.address, app.outgoing.reach()).await {
                Ok(mut stream) => match tcp::trouble(&mut stream, printer.language).await {
                    Some(troubles) => told(troubles.into_iter().map(ToOwned::to_owned).collect()),
                    None => "can be reached; it does not tell how it is".to_owned(),
                },
                Err(why) => why,
            }
        }
    }
}
