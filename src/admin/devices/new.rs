//! A new place in one line above the list: a name, a kind, and where it is. All else is as at the place that it is in,
//! unless it is said below *More*.

use super::{form::ACCESS, tree};
use crate::admin::prelude::*;
use crate::{
    admin::engine::RecordDraft,
    core::records::{Field, write},
    domain::devices::{
        self, Offer,
        doors::{DOOR, is_place_of_doors},
        record::{Record, form_fields},
    },
};
use serde_json::{Map, Value, json};

/// Types to choose from: the type, its name here, and its symbol.
pub(super) const KINDS: [(&str, &str, &str); 6] = [
    ("room", "Room", "room"),
    ("session", "Session", "session"),
    (DOOR, "Entrance", "in"),
    ("location", "Area", "area"),
    ("sponsor", "Stand", "stand"),
    ("product", "Product", "ticket"),
];
/// The type of an entrance that is no door of a place.
const ENTRANCE: &str = "entrance";
/// The choices of who may enter a new place.
const WHO: [(&str, &str); 3] = [
    ("", "As at the place that it is in"),
    ("open", "Everybody with a known code"),
    ("simple", "Registered attendees only"),
];

/// The line as the page shows it.
pub(super) struct NewPlace {
    /// Set where somebody asked for it; it stands open by itself while there is time to prepare.
    pub is_asked: bool,
    pub failure: Option<String>,
    pub name: String,
    pub kind: String,
    pub places: Vec<Choice>,
    /// The inputs below *More*.
    pub more: Vec<Input>,
    /// The form with every field.
    pub all_fields: String,
}

impl NewPlace {
    /// The line with what was typed, or what a link says of it.
    pub fn read(connection: &Connection, sent: &Fields, is_asked: bool) -> Result<Self> {
        let kind = sent.filled("kind").unwrap_or(KINDS[0].0);
        let inside = match sent.number("in").ok().flatten() {
            Some(id) => Some(id),
            None => devices::newest_event(connection)?,
        };
        let holders = devices::holders(connection, inside)?;
        let inside = inside.map(|id| id.to_string()).unwrap_or_default();
        let choice = |offer: &Offer| {
            let id = offer.id.to_string();
            let is_chosen = id == inside;
            Choice::named(id, &offer.name, is_chosen)
        };
        let top = Choice::new("", "Nothing: at the top", inside.is_empty());
        let places = holders.iter().map(choice).chain([top]);
        let mut more = vec![
            Input::number("capacity", "People inside, at most", 0, u32::MAX.into()),
            Input::select("who", "Who may enter", WHO),
        ];
        let draft = RecordDraft::typed(sent, times());
        more.extend(times().map(|field| draft.input(field)));
        for input in &mut more {
            input.refill(sent);
        }
        Ok(Self {
            is_asked,
            failure: None,
            name: sent.text("name").to_owned(),
            kind: kind.to_owned(),
            places: places.collect(),
            more,
            all_fields: format!("/console/devices/new?type={kind}&parent={inside}"),
        })
    }

    /// Returns whether something below *More* is filled in.
    pub fn has_more(&self) -> bool {
        self.more.iter().any(|input| !input.value.is_empty())
    }
}

fn times() -> impl Iterator<Item = &'static Field> {
    form_fields().filter(|field| ["startAt", "endAt"].contains(&field.name))
}

/// The properties of the place that was typed.
fn properties(connection: &Connection, sent: &Fields) -> Result<Map<String, Value>> {
    let Some(name) = sent.filled("name") else {
        return Err(Error::field("name", "must be filled in"));
    };
    let typed = sent.text("kind");
    if !KINDS.iter().any(|(kind, ..)| *kind == typed) {
        return Err(Error::field("kind", "choose one"));
    }
    let above = match sent.number("in")? {
        Some(id) => Some(Record::find(connection, id)?).filter(|above| above.deleted_at.is_none()),
        None => None,
    };
    let has_doors = above
        .as_ref()
        .is_some_and(|above| is_place_of_doors(Some(above.kind())));
    let kind = if typed == DOOR && !has_doors {
        ENTRANCE
    } else {
        typed
    };
    let values = RecordDraft::typed(sent, times());
    let mut body = values.changes(&RecordDraft::default(), times());
    body.insert("name".into(), name.into());
    body.insert("deviceType".into(), kind.into());
    body.insert("available".into(), true.into());
    body.insert("parent".into(), json!(above.map(|above| above.id)));
    let mut rules = Map::new();
    if let Some(capacity) = sent.number("capacity")? {
        rules.insert("capacity".into(), capacity.into());
    }
    if let Some(who) = sent.filled("who") {
        rules.insert("ruleSet".into(), who.into());
    }
    if !rules.is_empty() {
        body.insert("data".into(), json!({ACCESS: rules}));
    }
    Ok(body)
}

/// Creates a place, and offers the next one beside it.
pub(super) async fn create(request: RequestContext) -> Result<Response> {
    let sent = request.form.clone();
    let made = request
        .write(move |tx, ctx| write::create(tx, ctx, &devices::RESOURCE, properties(tx, &sent)?));
    match made.await {
        Ok(_) => {
            let next = form_urlencoded::Serializer::new(String::new())
                .append_pair("new", "1")
                .append_pair("kind", request.form.text("kind"))
                .append_pair("in", request.form.text("in"))
                .finish();
            let name = request.form.text("name");
            request.done(
                format!("{name} created."),
                &format!("/console/devices?{next}"),
            )
        }
        Err(cause) if is_theirs(&cause) => tree::again(request, cause).await,
        Err(cause) => Err(cause),
    }
}

/// Creates a door of a place; next is the code by which a gate is paired with it.
pub(super) async fn add_door(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let name = request.form.text("name").to_owned();
    let made = request.write(move |tx, ctx| {
        let place = Record::find(tx, id)?;
        if place.deleted_at.is_some() || !is_place_of_doors(Some(place.kind())) {
            return Err(Error::invalid(format!(
                "{} cannot have doors; add a place below it",
                place.name
            )));
        }
        if name.is_empty() {
            return Err(Error::field("name", "must be filled in"));
        }
        let body = json!({"name": name, "deviceType": DOOR, "available": true, "parent": id});
        let Value::Object(body) = body else {
            return Err(Error::defect("a door is an object"));
        };
        write::create(tx, ctx, &devices::RESOURCE, body)
    });
    match made.await {
        Ok(door) => Ok(answer::go(&format!("/console/devices/{door}/pair"))),
        Err(cause) => request.failed(cause, super::show::show).await,
    }
}
