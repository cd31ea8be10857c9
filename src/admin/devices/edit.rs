//! Making a device and changing one. Of two who change the same at once, the second is told what is
//! there by then, and nothing is written.

use super::{
    TYPES, access,
    form::{self, Draft, NUMBERS},
};
use crate::{
    admin::{Area, Layout, RequestContext, answer},
    core::{
        records::{self, Field, write},
        rules::AccessRules,
    },
    domain::{
        devices::{
            self, EVENT,
            record::{Record, form_fields},
        },
        events,
    },
    types::{
        DeviceId, Timestamp,
        error::{Error, Kind, Result},
    },
};
use askama::Template;
use poem::Response;

/// A field as the page shows it.
struct Shown {
    name: &'static str,
    label: &'static str,
    help: String,
    value: String,
    /// `text`, `long`, `time` or `number`.
    kind: &'static str,
    wrong: bool,
}

/// A choice of a list.
struct Choice {
    value: &'static str,
    text: String,
    chosen: bool,
}

#[derive(Template)]
#[template(path = "devices/edit.html")]
struct Page {
    layout: Layout,
    /// The record that is changed; none when one is made.
    record: Option<Record>,
    path: String,
    back: String,
    draft: Draft,
    failure: Option<String>,
    /// The field that was wrong.
    wrong: Option<&'static str>,
    /// What somebody else wrote meanwhile, where it differs from what was typed.
    meanwhile: Option<Vec<(&'static str, String)>>,
    /// Rules that cannot be read, as they are stored.
    unreadable: Option<String>,
    defaults: AccessRules,
    types: &'static [(&'static str, &'static str)],
}

impl Page {
    fn new(request: &RequestContext, record: Option<Record>, draft: Draft) -> Self {
        let id = record.as_ref().map(|record| record.id);
        let title = match &record {
            Some(record) => format!("Edit {}", record.name),
            None if draft.get("deviceType") == EVENT => "New event".to_owned(),
            None => "New device".to_owned(),
        };
        let back = id.map_or_else(
            || "/console/devices".to_owned(),
            |id| format!("/console/devices/{id}"),
        );
        Self {
            layout: request.layout(&title, Some(Area::Devices)),
            path: id.map_or_else(|| format!("{back}/new"), |_| format!("{back}/edit")),
            back,
            unreadable: record.as_ref().and_then(unreadable),
            record,
            draft,
            failure: None,
            wrong: None,
            meanwhile: None,
            defaults: request.console.settings().access,
            types: TYPES,
        }
    }

    fn failed(mut self, error: &Error) -> Result<Response> {
        let (wrong, message) = form::located(&error.message);
        self.wrong = wrong;
        self.failure = Some(answer::sentence(&message));
        answer::form_again(&self)
    }

    /// The moment whose record the form shows, in milliseconds.
    fn seen(&self) -> String {
        self.record
            .as_ref()
            .map_or_else(String::new, |record| record.updated_at.0.to_string())
    }

    fn is_event(&self) -> bool {
        self.draft.get("deviceType") == EVENT
    }

    fn fields(&self, wanted: fn(&Field) -> bool) -> Vec<Shown> {
        form_fields()
            .filter(|field| wanted(field))
            .map(|field| Shown {
                name: field.name,
                label: field.label,
                help: field.help.to_owned(),
                value: self.draft.get(field.name).to_owned(),
                kind: match field {
                    field if field.kind == records::Kind::Time => "time",
                    field if field.is_multiline => "long",
                    _ => "text",
                },
                wrong: self.wrong == Some(field.name),
            })
            .collect()
    }

    fn plain(&self) -> Vec<Shown> {
        self.fields(|field| field.kind == records::Kind::Text && !form::is_of_event(field))
    }

    fn times(&self) -> Vec<Shown> {
        self.fields(|field| field.kind == records::Kind::Time)
    }

    fn codes(&self) -> Vec<Shown> {
        self.fields(|field| field.kind == records::Kind::Code)
    }

    fn of_event(&self) -> Vec<Shown> {
        self.fields(form::is_of_event)
    }

    fn is_wrong(&self, name: &str) -> bool {
        self.wrong == Some(name)
    }

    /// Choices of a rule: as the instance has it, and each of its values.
    fn choices(&self, name: &str, default: &str, all: [(&'static str, &str); 2]) -> Vec<Choice> {
        let own = self.draft.get(name);
        let instance = Choice {
            value: "",
            text: format!("As set for the whole instance: {}", small(default)),
            chosen: own.is_empty(),
        };
        let each = all.map(|(value, text)| Choice {
            value,
            text: text.to_owned(),
            chosen: own == value,
        });
        std::iter::once(instance).chain(each).collect()
    }

    fn rule_sets(&self) -> Vec<Choice> {
        use crate::core::rules::RuleSet::{Open, Simple};
        self.choices(
            "ruleSet",
            access::who(self.defaults.rule_set),
            [
                ("open", access::who(Some(Open))),
                ("simple", access::who(Some(Simple))),
            ],
        )
    }

    fn entries(&self) -> Vec<Choice> {
        use crate::core::rules::Entry::{Multiple, Single};
        self.choices(
            "entry",
            access::entry(self.defaults.entry),
            [
                ("multiple", access::entry(Some(Multiple))),
                ("single", access::entry(Some(Single))),
            ],
        )
    }

    fn numbers(&self) -> Vec<Shown> {
        let rules = &self.defaults;
        let about = [
            (
                "All days together, those that a gate overrode included.",
                rules.max_check_ins,
            ),
            (
                "Whoever comes later waits until somebody is checked out.",
                rules.capacity,
            ),
            ("0 is when it starts.", rules.opens_before),
            ("0 is when it ends.", rules.closes_after),
        ];
        let labels: std::collections::HashMap<_, _> = form::labels().collect();
        NUMBERS
            .into_iter()
            .zip(about)
            .map(|(name, (meaning, default))| Shown {
                name,
                label: labels.get(name).copied().unwrap_or(name),
                help: format!(
                    "{meaning} Empty: as set for the whole instance, {}.",
                    default.map_or_else(|| "no limit".to_owned(), |number| number.to_string())
                ),
                value: self.draft.get(name).to_owned(),
                kind: "number",
                wrong: self.is_wrong(name),
            })
            .collect()
    }
}

/// As it stands within a sentence.
fn small(sentence: &str) -> String {
    let mut letters = sentence.chars();
    let first = letters.next().map(char::to_lowercase);
    let text: String = first.into_iter().flatten().chain(letters).collect();
    text.trim_end_matches('.').to_owned()
}

/// What is stored, where the rules in it cannot be read.
pub fn unreadable(record: &Record) -> Option<String> {
    if record.rules().is_some() {
        return None;
    }
    record.data.clone()
}

/// An empty form, of the type and under the parent that the link says.
pub async fn new(request: RequestContext) -> Result<Response> {
    let parent = request.query.number("parent")?;
    let parent =
        request.look_up(|connection| parent.map(|id| Record::find(connection, id)).transpose())?;
    let parent = parent.filter(|parent| parent.deleted_at.is_none());
    let draft = Draft::fresh(request.query.text("type"), parent.as_ref());
    answer::page(&Page::new(&request, None, draft))
}

pub async fn create(request: RequestContext) -> Result<Response> {
    let draft = Draft::sent(&request.form);
    let typed = draft.clone();
    let made = request
        .write_prepared(move |tx, ctx| {
            let changes = typed.changes(tx, &Draft::default(), None)?;
            let mut body = changes.device;
            body.entry("available").or_insert(false.into());
            let id = write::create(tx, ctx, &devices::RESOURCE, body)?;
            if typed.get("deviceType").trim() == EVENT && !changes.event.is_empty() {
                write::patch(tx, ctx, &events::RESOURCE, id, changes.event)?;
            }
            Record::find(tx, id)
        })
        .await;
    match made {
        Ok(record) => request.done(
            format!("{} is made.", record.name),
            &format!("/console/devices/{}", record.id),
        ),
        Err(error) if is_told(&error) => Page::new(&request, None, draft).failed(&error),
        Err(error) => Err(error),
    }
}

/// Whether an error is about what was typed.
fn is_told(error: &Error) -> bool {
    matches!(error.kind, Kind::Invalid | Kind::CodeTaken)
}

pub async fn show(request: RequestContext) -> Result<Response> {
    let record = found(&request)?;
    let draft = Draft::of(&record, &request.console.settings().zone);
    answer::page(&Page::new(&request, Some(record), draft))
}

/// The living device of the path.
fn found(request: &RequestContext) -> Result<Record> {
    let id = request.id("id")?;
    let record = request.look_up(|connection| Record::find(connection, id))?;
    if record.deleted_at.is_some() {
        return Err(Error::new(
            Kind::DeviceNotFound,
            format!(
                "{} is deleted; restore it before you change it",
                record.name
            ),
        ));
    }
    Ok(record)
}

/// How saving ended.
enum Saved {
    Done,
    /// Somebody else wrote meanwhile.
    Meanwhile,
}

pub async fn save(request: RequestContext) -> Result<Response> {
    let record = found(&request)?;
    let seen = Timestamp(request.form.number("seen")?.unwrap_or_default());
    let draft = Draft::sent(&request.form);
    let (id, typed) = (record.id, draft.clone());
    let saved = request
        .write_prepared(move |tx, ctx| {
            let record = Record::find(tx, id.0)?;
            if record.updated_at != seen || record.deleted_at.is_some() {
                return Ok(Saved::Meanwhile);
            }
            let before = Draft::of(&record, &ctx.settings.zone);
            let changes = typed.changes(tx, &before, Some(&record))?;
            if !changes.device.is_empty() {
                write::patch(tx, ctx, &devices::RESOURCE, id.0, changes.device)?;
            }
            if typed.get("deviceType").trim() == EVENT && !changes.event.is_empty() {
                write::patch(tx, ctx, &events::RESOURCE, id.0, changes.event)?;
            }
            Ok(Saved::Done)
        })
        .await;
    match saved {
        Ok(Saved::Done) => request.done(
            format!("{} saved.", record.name),
            &format!("/console/devices/{}", record.id),
        ),
        Ok(Saved::Meanwhile) => changed_meanwhile(&request, id, draft),
        Err(error) if is_told(&error) => Page::new(&request, Some(record), draft)
            .with_seen(seen)
            .failed(&error),
        Err(error) => Err(error),
    }
}

impl Page {
    /// The form goes on from the record that it was filled in for, not from a newer one.
    fn with_seen(mut self, seen: Timestamp) -> Self {
        if let Some(record) = &mut self.record {
            record.updated_at = seen;
        }
        self
    }
}

/// The form with what was typed, and what is there now; saved again, it overwrites that knowingly.
fn changed_meanwhile(request: &RequestContext, id: DeviceId, draft: Draft) -> Result<Response> {
    let record = request.look_up(|connection| Record::find(connection, id.0))?;
    if record.deleted_at.is_some() {
        return Err(Error::new(
            Kind::DeviceNotFound,
            format!("{} was deleted meanwhile; nothing was saved", record.name),
        ));
    }
    let now = Draft::of(&record, &request.console.settings().zone);
    let mut page = Page::new(request, Some(record), draft);
    page.meanwhile = Some(page.draft.differing(&now));
    answer::form_again(&page)
}
