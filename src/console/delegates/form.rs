//! Making and changing a record. A change carries the time of what it is a change of: when
//! somebody else was faster, nothing is written, and the second is told what is there now.

use super::{
    super::{Area, Fields, Route, Shell, Visit, answer, route},
    label, list, text,
};
use crate::{
    delegates::{self, RESOURCE, merge::record},
    error::{Error, Kind, Result},
    records::write,
    store::Tx,
    types::{DelegateId, DelegateSelector, Zone, json},
};
use askama::Template;
use poem::Response;
use rusqlite::Connection;
use serde_json::{Map, Value};

/// Texts, in the order of the form.
const TEXTS: [&str; 7] = [
    "firstName",
    "lastName",
    "email",
    "phone",
    "jobTitle",
    "company",
    "delegateType",
];
const CODES: [&str; 7] = [
    "barcode",
    "rfid",
    "externalId",
    "publicId",
    "code",
    "uhfId",
    "slug",
];
const REFERENCES: [&str; 3] = ["parent", "owner", "previous"];
/// Flags that every event has.
const FLAGS: &str = "abcdefkpsv";
/// Empty lines for more details.
const SPARE_LINES: usize = 3;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/console/delegates/new", route::OPERATOR, blank),
        Route::post("/console/delegates/new", route::OPERATOR, create),
        Route::get("/console/delegates/:id/edit", route::OPERATOR, edit),
        Route::post("/console/delegates/:id/edit", route::OPERATOR, save),
    ]
}

#[derive(Template)]
#[template(path = "delegates/form.html")]
struct Page {
    shell: Shell,
    /// The record; none for a new one.
    id: Option<i64>,
    updated_at: i64,
    draft: Draft,
    types: Vec<String>,
    failure: Option<String>,
    /// What somebody else wrote meanwhile: the property, what is there now.
    meanwhile: Vec<(String, String)>,
}

/// What stands in the form.
#[derive(Debug, Clone, Default)]
struct Draft {
    texts: Vec<Text>,
    codes: Vec<Text>,
    references: Vec<Text>,
    flags: String,
    details: Vec<Detail>,
    /// The other sections, as JSON.
    sections: String,
}

#[derive(Debug, Clone)]
struct Text {
    name: &'static str,
    value: String,
}

impl Text {
    fn label(&self) -> &str {
        label(self.name)
    }

    fn kind(&self) -> &'static str {
        match self.name {
            "email" => "email",
            "phone" => "tel",
            _ => "text",
        }
    }

    fn is_type(&self) -> bool {
        self.name == "delegateType"
    }
}

/// A line of the free-form details.
#[derive(Debug, Clone, Default)]
struct Detail {
    key: String,
    value: String,
    /// The value is JSON: a number, a list, a group.
    json: bool,
}

impl Draft {
    /// A record as the form shows it.
    fn of(record: &Map<String, Value>) -> Self {
        let texts = |names: [&'static str; 7]| {
            let text = |name| Text {
                name,
                value: one_line(text(record, name)),
            };
            names.map(text).to_vec()
        };
        let reference = |name| Text {
            name,
            value: record
                .get(name)
                .and_then(|other| other["id"].as_i64())
                .map_or_else(String::new, |id| id.to_string()),
        };
        let mut sections = record
            .get("data")
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default();
        let details = match sections.remove("Data") {
            Some(Value::Object(details)) => details.into_iter().map(Detail::of).collect(),
            // What is no group of values is not for lines.
            Some(other) => {
                sections.insert("Data".to_owned(), other);
                Vec::new()
            }
            None => Vec::new(),
        };
        Self {
            texts: texts(TEXTS),
            codes: texts(CODES),
            references: REFERENCES.map(reference).to_vec(),
            flags: text(record, "rawFlags").to_owned(),
            details,
            sections: shown(&sections),
        }
    }

    /// What was typed.
    fn typed(form: &Fields) -> Self {
        let text = |name| Text {
            name,
            value: form.text(name).to_owned(),
        };
        let flags: String = form.all("flag").chain(form.all("flags")).collect();
        let kinds: Vec<&str> = form.all("detail-kind").collect();
        let details = form
            .all("detail-key")
            .zip(form.all("detail-value"))
            .enumerate();
        let details = details.map(|(at, (key, value))| Detail {
            key: key.trim().to_owned(),
            value: value.to_owned(),
            json: kinds.get(at) == Some(&"json"),
        });
        Self {
            texts: TEXTS.map(text).to_vec(),
            codes: CODES.map(text).to_vec(),
            references: REFERENCES.map(text).to_vec(),
            flags: flags
                .to_lowercase()
                .chars()
                .filter(|flag| !flag.is_whitespace())
                .collect(),
            details: details
                .filter(|detail| !detail.key.is_empty() || !detail.value.is_empty())
                .collect(),
            sections: form.text("sections").to_owned(),
        }
    }

    /// The changes that make of a record what was typed.
    fn changes(
        &self,
        connection: &Connection,
        current: &Map<String, Value>,
    ) -> Result<Map<String, Value>> {
        let mut changes = Map::new();
        for typed in self.texts.iter().chain(&self.codes) {
            if typed.value != one_line(text(current, typed.name)) {
                changes.insert(typed.name.to_owned(), or_null(&typed.value));
            }
        }
        for typed in &self.references {
            let known = current
                .get(typed.name)
                .and_then(|other| other["id"].as_i64());
            let wanted = referred(connection, typed)?;
            if wanted != known {
                changes.insert(
                    typed.name.to_owned(),
                    wanted.map_or(Value::Null, Value::from),
                );
            }
        }
        if sorted(&self.flags) != sorted(text(current, "rawFlags")) {
            changes.insert("rawFlags".to_owned(), or_null(&sorted(&self.flags)));
        }
        let empty = Value::Object(Map::new());
        let stored = current.get("data").unwrap_or(&empty);
        if let Some(patch) = json::difference(stored, &self.data()?) {
            changes.insert("data".to_owned(), patch);
        }
        Ok(changes)
    }

    /// The sections as typed.
    fn data(&self) -> Result<Value> {
        let mut data = if self.sections.is_empty() {
            Map::new()
        } else {
            json::check_limits(self.sections.as_bytes())
                .and_then(|()| json::parse::<Sections>(self.sections.as_bytes()))
                .map_err(|cause| Error::invalid(format!("other sections: {}", cause.message)))?
                .0
        };
        let mut details = Map::new();
        for detail in &self.details {
            if detail.key.is_empty() {
                return Err(Error::invalid(format!(
                    "details: \"{}\" needs a name",
                    crate::types::text::shortened(&detail.value)
                )));
            }
            if details.contains_key(&detail.key) {
                return Err(Error::invalid(format!(
                    "details: \"{}\" stands twice",
                    crate::types::text::shortened(&detail.key)
                )));
            }
            if !detail.value.trim().is_empty() {
                details.insert(detail.key.clone(), detail.read()?);
            }
        }
        if !details.is_empty() {
            if data.contains_key("Data") {
                return Err(Error::invalid(
                    "other sections: Data stands among the details above already",
                ));
            }
            data.insert("Data".to_owned(), Value::Object(details));
        }
        Ok(Value::Object(data))
    }

    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "templates give references"
    )]
    fn flag(&self, flag: &char) -> bool {
        self.flags.contains(*flag)
    }

    /// Flags of the event's own, beside those that every event has.
    fn more_flags(&self) -> String {
        let own = self.flags.chars().filter(|flag| !FLAGS.contains(*flag));
        own.collect()
    }
}

/// An object in which no property stands twice.
#[derive(serde::Deserialize)]
struct Sections(#[serde(deserialize_with = "json::no_property_twice")] Map<String, Value>);

impl Detail {
    fn of((key, value): (String, Value)) -> Self {
        match value {
            Value::String(value) if !value.contains(['\n', '\r']) => Self {
                key,
                value,
                json: false,
            },
            other => Self {
                key,
                value: other.to_string(),
                json: true,
            },
        }
    }

    fn read(&self) -> Result<Value> {
        if !self.json {
            return Ok(self.value.clone().into());
        }
        json::check_limits(self.value.as_bytes())
            .and_then(|()| serde_json::from_str(&self.value).map_err(Error::invalid_cause))
            .map_err(|cause| {
                Error::invalid(format!(
                    "details: {} must be JSON, as it was before: {}",
                    crate::types::text::shortened(&self.key),
                    cause.message
                ))
            })
    }
}

/// A line of a form has no line breaks.
fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], "").trim().to_owned()
}

fn or_null(text: &str) -> Value {
    if text.is_empty() {
        Value::Null
    } else {
        text.into()
    }
}

fn sorted(flags: &str) -> String {
    let mut flags: Vec<char> = flags.chars().collect();
    flags.sort_unstable();
    flags.dedup();
    flags.into_iter().collect()
}

fn shown(sections: &Map<String, Value>) -> String {
    if sections.is_empty() {
        return String::new();
    }
    serde_json::to_string_pretty(sections).unwrap_or_default()
}

/// Whom a field means: a number, or a code such as `barcode:ABC`.
fn referred(connection: &Connection, typed: &Text) -> Result<Option<i64>> {
    if typed.value.is_empty() {
        return Ok(None);
    }
    if let Ok(id) = typed.value.parse() {
        return Ok(Some(id));
    }
    let told = |cause: Error| Error::invalid(format!("{}: {}", typed.label(), cause.message));
    let selector = DelegateSelector::parse(&typed.value).map_err(|_| {
        Error::invalid(format!(
            "{}: must be a delegate's number or a code such as barcode:ABC",
            typed.label()
        ))
    })?;
    let id = delegates::find(connection, &selector).map_err(told)?;
    Ok(Some(id.0))
}

impl Page {
    fn new(visit: &Visit, id: Option<i64>, draft: Draft) -> Result<Self> {
        let (name, types) = visit.console.store.look_up(|connection| {
            let name = match id {
                Some(id) => super::name_of(connection, id)?.ok_or_else(|| list::missing(id))?,
                None => String::new(),
            };
            Ok((name, list::types(connection)?))
        })?;
        let title = if id.is_some() {
            format!("Edit {name}")
        } else {
            "New delegate".to_owned()
        };
        let mut page = Self {
            shell: visit.shell(&title, Some(Area::Delegates)),
            id,
            updated_at: 0,
            draft,
            types,
            failure: None,
            meanwhile: Vec::new(),
        };
        let spare = std::iter::repeat_n(Detail::default(), SPARE_LINES);
        page.draft.details.extend(spare);
        Ok(page)
    }
}

async fn blank(visit: Visit) -> Result<Response> {
    answer::page(&Page::new(&visit, None, Draft::of(&Map::new()))?)
}

async fn create(visit: Visit) -> Result<Response> {
    let draft = Draft::typed(&visit.form);
    let (ctx, typed) = (visit.context(), draft.clone());
    let done = visit
        .console
        .store
        .write(move |tx| {
            let body = typed.changes(tx, &Map::new())?;
            if body.is_empty() {
                return Err(Error::invalid("enter a name or a code at least"));
            }
            write::create(tx, &ctx, &RESOURCE, body)
        })
        .await;
    match done {
        Ok(id) => {
            visit.flash("The delegate is entered.");
            Ok(answer::go(&format!("/console/delegates/{id}")))
        }
        Err(cause) => again(&visit, None, draft, cause, 0),
    }
}

async fn edit(visit: Visit) -> Result<Response> {
    let id = visit.id("id")?;
    let zone = visit.console.settings().zone.clone();
    let (current, updated_at) = visit
        .console
        .store
        .look_up(|connection| stored(connection, id, &zone))?;
    let mut page = Page::new(&visit, Some(id), Draft::of(&current))?;
    page.updated_at = updated_at;
    answer::page(&page)
}

/// What became of a change.
enum Saved {
    Done,
    /// Somebody was faster: what is there now, and since when.
    Stale(Map<String, Value>, i64),
}

async fn save(visit: Visit) -> Result<Response> {
    let id = visit.id("id")?;
    let draft = Draft::typed(&visit.form);
    let seen = visit.form.number("updated_at")?.unwrap_or_default();
    let (ctx, typed) = (visit.context(), draft.clone());
    let done = visit
        .console
        .store
        .write(move |tx| change(tx, &ctx, id, &typed, seen))
        .await;
    match done {
        Ok(Saved::Done) => {
            visit.flash("Saved.");
            Ok(answer::go(&format!("/console/delegates/{id}")))
        }
        Ok(Saved::Stale(now, updated_at)) => {
            let meanwhile = differing(&draft, &Draft::of(&now));
            let mut page = Page::new(&visit, Some(id), draft)?;
            page.updated_at = updated_at;
            page.failure = Some(
                "Somebody else changed this record while you did; nothing of yours is saved yet. \
                 Look at what is there now, then save again what you want to stay."
                    .to_owned(),
            );
            page.meanwhile = meanwhile;
            answer::form_again(&page)
        }
        Err(cause) => again(&visit, Some(id), draft, cause, seen),
    }
}

fn change(
    tx: &Tx<'_>,
    ctx: &crate::auth::Context,
    id: i64,
    typed: &Draft,
    seen: i64,
) -> Result<Saved> {
    let (current, updated_at) = stored(tx, id, &ctx.settings.zone)?;
    if updated_at != seen {
        return Ok(Saved::Stale(current, updated_at));
    }
    let body = typed.changes(tx, &current)?;
    if !body.is_empty() {
        write::patch(tx, ctx, &RESOURCE, id, body)?;
    }
    Ok(Saved::Done)
}

fn stored(connection: &Connection, id: i64, zone: &Zone) -> Result<(Map<String, Value>, i64)> {
    let current = record(connection, DelegateId(id), zone)?;
    let updated_at = connection
        .prepare_cached("SELECT updated_at FROM delegates WHERE id = ?1")?
        .query_row([id], |row| row.get(0))?;
    Ok((current, updated_at))
}

/// What is there now of that which was typed differently.
fn differing(typed: &Draft, now: &Draft) -> Vec<(String, String)> {
    let mut differing = Vec::new();
    let fields = |draft: &Draft| {
        let fields = draft
            .texts
            .iter()
            .chain(&draft.codes)
            .chain(&draft.references);
        let mut fields: Vec<(String, String)> = fields
            .map(|field| (field.label().to_owned(), field.value.clone()))
            .collect();
        fields.push(("Flags".to_owned(), sorted(&draft.flags)));
        fields
    };
    for ((name, typed), (_, now)) in fields(typed).into_iter().zip(fields(now)) {
        if typed != now {
            differing.push((name, now));
        }
    }
    let details = |draft: &Draft| -> Vec<(String, String)> {
        let details = draft.details.iter();
        details
            .map(|detail| (detail.key.clone(), detail.value.clone()))
            .collect()
    };
    let (typed_details, now_details) = (details(typed), details(now));
    for (key, value) in &now_details {
        if !typed_details.contains(&(key.clone(), value.clone())) {
            differing.push((format!("Details › {key}"), value.clone()));
        }
    }
    for (key, _) in &typed_details {
        if !now_details.iter().any(|(known, _)| known == key) {
            differing.push((format!("Details › {key}"), String::new()));
        }
    }
    let sections = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
    if sections(&typed.sections) != sections(&now.sections) {
        differing.push(("Other sections".to_owned(), now.sections.clone()));
    }
    differing
}

/// The form with what was typed and what is wrong with it.
fn again(
    visit: &Visit,
    id: Option<i64>,
    draft: Draft,
    cause: Error,
    updated_at: i64,
) -> Result<Response> {
    if !matches!(cause.kind, Kind::Invalid | Kind::CodeTaken) {
        return Err(cause);
    }
    let mut page = Page::new(visit, id, draft)?;
    page.updated_at = updated_at;
    page.failure = Some(answer::sentence(&readable(&cause.message)));
    answer::form_again(&page)
}

/// A message with the property as the form calls it.
fn readable(message: &str) -> String {
    match message.split_once(": ") {
        Some((property, rest)) => format!("{}: {rest}", label(property)),
        None => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_form_that_nobody_touched_changes_nothing() {
        let record = json!({"firstName": " Ada\nL. ", "barcode": "A", "rawFlags": "pz",
            "parent": {"id": 7, "_type": "delegate"},
            "data": {"Data": {"meal": "vegan", "count": 2, "text": "a\nb"}, "Travel": {"by": ["train"]}}});
        let record = record.as_object().unwrap();
        let connection = Connection::open_in_memory().unwrap();
        let changes = Draft::of(record).changes(&connection, record).unwrap();
        assert_eq!(Value::Object(changes), json!({}));
    }

    #[test]
    fn what_is_taken_out_of_the_details_is_cleared() {
        let record =
            json!({"data": {"Data": {"meal": "vegan", "count": 2}, "Travel": {"by": "train"}}});
        let record = record.as_object().unwrap();
        let mut draft = Draft::of(record);
        draft.details.remove(0);
        draft.details[0].value = "3".to_owned();
        draft.sections = String::new();
        let connection = Connection::open_in_memory().unwrap();
        let changes = draft.changes(&connection, record).unwrap();
        assert_eq!(
            Value::Object(changes),
            json!({"data": {"Travel": null, "Data": {"meal": null, "count": 3}}})
        );
    }
}
