//! Passages at the desk: check-in and check-out, what solves a refusal, and the undo.

use super::{
    Desk, answer_with,
    find::candidates,
    verdict::{Finding, Verdict, remark},
    walk_in::refunded,
};
use crate::admin::{prelude::*, printing};
use crate::{
    domain::{
        delegates, devices,
        gate::walk_in::take_back,
        interactions::{
            draft::Draft,
            record::{self, record},
            refusing_rule::refusing_rule,
            types::{InteractionType, JOIN, OVERRIDE},
            undo,
            walk_in::Registration,
        },
        printing::{check_ins, printers},
    },
    types::{DelegateId, DelegateSelector, DeviceId, DeviceSelector},
};
use poem::http::StatusCode;
use serde_json::json;

/// The longest reason for an admission against the rules, in characters.
const REASON_MAX_CHARS: usize = 200;

/// Reasons for which no list that comes later makes a code good.
const NOT_TO_COME: [&str; 3] = ["forged", "retired-key", "cancelled"];

/// The people whom a text typed at the desk may mean.
enum Meant {
    One(DelegateSelector),
    Several(Vec<super::find::Candidate>),
    Nobody,
}

/// Finds who is meant: by the code as it was scanned, then by words.
fn find_meant(connection: &Connection, typed: &str, zone: &Zone) -> Result<Meant> {
    let scanned = DelegateSelector::Scanned(typed.to_owned());
    match delegates::find(connection, &scanned) {
        Ok(_) => return Ok(Meant::One(scanned)),
        // A blocked code is a refusal with its own words.
        Err(cause) if cause.kind == Kind::DelegateNotFound => {
            if delegates::blocked::meant(connection, &scanned)?.is_some() {
                return Ok(Meant::One(scanned));
            }
        }
        Err(cause) => return Err(cause),
    }
    let mut people = candidates(connection, typed, zone)?;
    let mut named = people.iter().filter(|person| person.is_named(typed));
    if let (Some(one), None) = (named.next(), named.next()) {
        return Ok(Meant::One(DelegateSelector::Id(DelegateId(one.id))));
    }
    Ok(match people.len() {
        0 => Meant::Nobody,
        1 => Meant::One(DelegateSelector::Id(DelegateId(people.remove(0).id))),
        _ => Meant::Several(people),
    })
}

/// Returns whether a text is a code rather than a name.
pub(super) fn is_code(typed: &str) -> bool {
    !typed.contains(char::is_whitespace) && typed.contains(|letter: char| letter.is_ascii_digit())
}

pub(super) async fn check_in(request: RequestContext) -> Result<Response> {
    let desk = Desk::of(&request);
    let typed = request.form.text("q").to_owned();
    let meant = match request.form.number("delegate")? {
        Some(id) => Meant::One(DelegateSelector::Id(DelegateId(id))),
        // A scanner's Enter comes after a code that was sent by itself: the verdict stays.
        None if typed.is_empty() && request.is_part() => {
            return Ok(Response::builder().status(StatusCode::NO_CONTENT).finish());
        }
        None if typed.is_empty() => return Ok(answer::go(&desk.path())),
        None => {
            let (zone, typed) = (request.console.settings().zone.clone(), typed.clone());
            request
                .read(move |connection| find_meant(connection, &typed, &zone))
                .await?
        }
    };
    let verdict = match meant {
        Meant::One(selector) => {
            let passage = Passage::new(desk.kind(), selector);
            passage.record(&request, &desk).await?
        }
        Meant::Several(people) => {
            let word = format!("{} people match \u{201c}{typed}\u{201d}", people.len());
            Verdict::new(Finding::Several(people), word)
        }
        // As a gate does: the refusal is kept, and the code may come with a later list.
        Meant::Nobody if is_code(&typed) => {
            let passage = Passage::new(desk.kind(), DelegateSelector::Scanned(typed));
            passage.record(&request, &desk).await?
        }
        Meant::Nobody => {
            let word = format!("Nobody matches \u{201c}{typed}\u{201d}");
            let unknown = Finding::Unknown {
                typed,
                is_code: false,
                may_wait: false,
            };
            Verdict::new(unknown, word)
        }
    };
    answer_with(&request, desk, verdict).await
}

/// Registers somebody for the place and checks them in.
pub(super) async fn register(request: RequestContext) -> Result<Response> {
    let desk = Desk::of(&request);
    let mut passage = Passage::new(desk.kind(), chosen(&request)?);
    passage.registers = true;
    let verdict = passage.record(&request, &desk).await?;
    answer_with(&request, desk, verdict).await
}

/// Checks somebody in against the rules, with the reason.
pub(super) async fn admit_once(request: RequestContext) -> Result<Response> {
    let desk = Desk::of(&request);
    let reason: String = request
        .form
        .text("reason")
        .chars()
        .take(REASON_MAX_CHARS)
        .collect();
    if reason.is_empty() {
        return Err(Error::field("reason", "must say why"));
    }
    let mut passage = Passage::new(&OVERRIDE, chosen(&request)?);
    passage.data = Some(json!({"reason": reason}).to_string());
    let verdict = passage.record(&request, &desk).await?;
    answer_with(&request, desk, verdict).await
}

/// Lets in whoever has a code that is unknown so far: recorded as soon as an import brings it.
pub(super) async fn wait_for_import(request: RequestContext) -> Result<Response> {
    let desk = Desk::of(&request);
    let code = request.form.text("code").to_owned();
    let mut passage = Passage::new(desk.kind(), DelegateSelector::Scanned(code));
    passage.admitted = true;
    let verdict = passage.record(&request, &desk).await?;
    answer_with(&request, desk, verdict).await
}

/// Prints somebody's badge at the printer of the desk's place.
pub(super) async fn print(request: RequestContext) -> Result<Response> {
    let desk = Desk::of(&request);
    let (selector, place) = (chosen(&request)?, desk.place);
    let verdict = request
        .write(move |tx, ctx| {
            let delegate = delegates::find(tx, &selector)?;
            let printer = printing::ask(tx, ctx, delegate, place, (None, None))?;
            let word = format!("Badge at {}", printer.is.name);
            let mut verdict = Verdict::new(Finding::Printing, word).of(tx, Some(delegate.0))?;
            verdict.remark = printers::trouble(tx, &printer)?
                .map(|why| format!("The printer does not work now, and the badge waits: {why}."));
            Ok(verdict)
        })
        .await?;
    answer_with(&request, desk, verdict).await
}

fn chosen(request: &RequestContext) -> Result<DelegateSelector> {
    let id = request.form.number("delegate")?;
    let id = id.ok_or_else(|| Error::field("delegate", "must name an attendee"))?;
    Ok(DelegateSelector::Id(DelegateId(id)))
}

/// A passage to record.
struct Passage {
    kind: &'static InteractionType,
    selector: DelegateSelector,
    /// Registers for the place first.
    registers: bool,
    admitted: bool,
    data: Option<String>,
}

impl Passage {
    fn new(kind: &'static InteractionType, selector: DelegateSelector) -> Self {
        Self {
            kind,
            selector,
            registers: false,
            admitted: false,
            data: None,
        }
    }

    fn draft(&self, kind: &InteractionType, place: DeviceId) -> Draft {
        Draft {
            kind: kind.name.to_owned(),
            delegates: [Some(self.selector.clone()), None, None],
            devices: [Some(DeviceSelector::Id(place)), None, None],
            ..Draft::default()
        }
    }

    async fn record(self, request: &RequestContext, desk: &Desk) -> Result<Verdict> {
        let Some(place) = desk.place else {
            return Err(Error::field("place", "choose the desk's place first"));
        };
        request
            .write(move |tx, ctx| {
                devices::find(tx, &DeviceSelector::Id(place)).map_err(|cause| {
                    match cause.kind {
                        Kind::DeviceNotFound => {
                            Error::invalid("this place was deleted; choose another one")
                        }
                        _ => cause,
                    }
                })?;
                if self.registers {
                    record(tx, ctx, &self.draft(&JOIN, place))?;
                }
                let draft = Draft {
                    admitted: self.admitted,
                    data: self.data.clone(),
                    ..self.draft(self.kind, place)
                };
                let recorded = record(tx, ctx, &draft)?;
                let mut verdict = self.verdict(tx, ctx, place, &recorded)?;
                verdict.note = recorded.note;
                Ok(verdict)
            })
            .await
    }

    fn verdict(
        &self,
        tx: &Tx<'_>,
        ctx: &Context,
        place: DeviceId,
        recorded: &record::Recorded,
    ) -> Result<Verdict> {
        let created = match &recorded.outcome {
            record::Outcome::Refused(refusal) => return self.refused(tx, ctx, place, refusal),
            record::Outcome::Created(created) => created,
            record::Outcome::Waiting(_) | record::Outcome::Replayed(_) => {
                let mut verdict = Verdict::new(Finding::Waiting, "Let in, waiting for the import");
                verdict.remark = Some(
                    "The check-in is recorded as soon as somebody in the list has this code."
                        .to_owned(),
                );
                return Ok(verdict);
            }
        };
        let word = match self.kind.name {
            name if name == OVERRIDE.name => "Admitted against the rules",
            "check-out" => "Checked out",
            _ if self.registers => "Registered and checked in",
            _ => "Checked in",
        };
        let outcome = Finding::Done(created.id.map_or(0, |id| id.0));
        let delegate = created.delegates[0].map(|delegate| delegate.0);
        let mut verdict = Verdict::new(outcome, word).of(tx, delegate)?;
        let repeat = recorded.repeat.as_ref();
        verdict.remark = repeat.map(|repeat| remark(repeat, &ctx.settings.zone, tx.now()));
        if let Some(id) = created.id
            && let Some(printer) = check_ins::prints(tx, id.0)?
        {
            verdict.printer = Some(printer.is.name);
        }
        Ok(verdict)
    }

    fn refused(
        &self,
        tx: &Tx<'_>,
        ctx: &Context,
        place: DeviceId,
        refusal: &Error,
    ) -> Result<Verdict> {
        let word = answer::sentence(refusal);
        let known = delegates::find(tx, &self.selector).ok();
        let Kind::Refused(reason) = refusal.kind else {
            let typed = self.selector.code().unwrap_or_default().to_owned();
            let outcome = match delegates::blocked::meant(tx, &self.selector)? {
                Some(_) => Finding::Refused {
                    refusal: None,
                    rule: None,
                },
                None => Finding::Unknown {
                    is_code: true,
                    may_wait: !refusal.reason.is_some_and(|why| NOT_TO_COME.contains(&why)),
                    typed,
                },
            };
            return Ok(Verdict::new(outcome, word));
        };
        let outcome = Finding::Refused {
            refusal: Some(reason),
            rule: Some(refusing_rule(tx, ctx, place, known, reason)?),
        };
        Verdict::new(outcome, word).of(tx, known.map(|known| known.0))
    }
}

/// Takes back a passage that this desk's user recorded.
pub(super) async fn undo(request: RequestContext) -> Result<Response> {
    let here = Desk::of(&request);
    let id = request.form.number("interaction")?.unwrap_or_default();
    let caller = request.caller()?;
    let prices = request.console.settings();
    let done = request.write(move |tx, ctx| {
        let taken = take_back(tx, ctx, caller, undo::Page::Desk, id)?;
        let word = match &*taken.interaction.kind {
            _ if taken.is_walk_in => "Walk-in undone",
            "check-out" => "Check-out undone",
            _ => "Check-in undone",
        };
        let delegate = taken.interaction.delegates[0].map(|delegate| delegate.0);
        let mut verdict = Verdict::new(Finding::Told, word).of(tx, delegate)?;
        if taken.is_walk_in {
            let gone = "The attendee is deleted with it, and can be restored on their page.";
            let refund = taken.refund.as_ref();
            let refund = refund.map(|refund| format!("{} ", refunded(refund, &prices.walk_in)));
            verdict.remark = Some(refund.unwrap_or_default() + gone);
        }
        if let Some(registration) = taken.registration {
            let told = match registration {
                Registration::Undone => "The registration for this place is undone with it.",
                Registration::Stays => {
                    "The registration for this place stays, as more happened since."
                }
            };
            verdict.remark = Some(told.to_owned());
        }
        Ok(verdict)
    });
    let verdict = match done.await {
        Err(gone) if gone.kind == Kind::InteractionNotFound => {
            Verdict::new(Finding::Told, "This passage was taken back already.")
        }
        done => done?,
    };
    answer_with(&request, here, verdict).await
}
