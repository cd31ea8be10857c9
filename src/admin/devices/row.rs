//! A place as a line of a table: how many are inside, who may enter, and what can be changed right there.

use super::{form::ACCESS, tree::Equipment};
use crate::admin::prelude::*;
use crate::{
    core::records::write,
    domain::{
        devices::{self, record::Record, rule_texts, tree::Node},
        interactions::everybody_out::follow,
    },
    types::DeviceId,
};
use serde_json::{Map, Value, json};

const LIST: &str = "/console/devices";

/// A line.
pub(super) struct Row {
    pub node: Node,
    /// The number of levels below the first.
    pub depth: usize,
    pub is_open: bool,
    /// The rules that it sets itself, in a few words each.
    pub tags: Vec<String>,
    pub equipment: Equipment,
    /// The place that has more than are shown, and how many.
    pub more: Option<(i64, usize)>,
}

impl Row {
    pub fn of(node: Node, depth: usize, equipment: Equipment) -> Self {
        let mut tags = node
            .rules
            .as_ref()
            .map_or_else(|| vec!["Rules cannot be read".to_owned()], rule_texts::tags);
        if tags.is_empty() && node.kind == devices::EVENT {
            tags.push("Known tickets".to_owned());
        }
        Self {
            tags,
            node,
            depth,
            is_open: false,
            equipment,
            more: None,
        }
    }

    /// `Full`, `6 left`; nothing while there is room.
    pub fn room(&self) -> Option<(&'static str, String)> {
        let (capacity, inside) = (self.node.capacity()?, self.node.inside);
        match capacity - inside {
            ..=0 => Some(("bad", "Full".to_owned())),
            left if inside * 10 >= capacity * 9 => Some(("warn", format!("{left} left"))),
            _ => None,
        }
    }
}

/// The list that a button was pressed in.
fn back(form: &Fields) -> String {
    let from = form.text("from");
    let is_list = from == LIST || from.starts_with("/console/devices?");
    if is_list { from } else { LIST }.to_owned()
}

fn patch(tx: &Tx<'_>, ctx: &Context, id: i64, body: Value) -> Result<()> {
    let Value::Object(body) = body else {
        return Err(Error::defect("a patch is an object"));
    };
    write::patch(tx, ctx, &devices::RESOURCE, id, body)
}

/// Checks out everybody who is inside.
pub(super) async fn empty(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let name = request.look_up(|connection| Ok(Record::find(connection, id)?.name))?;
    let (ctx, console) = (request.context(), request.console.clone());
    // On its own: a browser that goes away does not stop it half-way.
    let work = async move { follow::at_once(console.app(), &ctx, DeviceId(id)).await };
    let count = tokio::spawn(work).await.map_err(Error::defect)??;
    let were = if count == 1 {
        "person was"
    } else {
        "people were"
    };
    let told = format!("{count} {were} checked out of {name}.");
    request.done(told, &back(&request.form))
}

/// Changes how many may be inside, unless somebody else did meanwhile.
pub(super) fn set_capacity(tx: &Tx<'_>, ctx: &Context, action: &Action) -> Result<Done> {
    let place = Record::find(tx, action.id)?;
    let Some(rules) = place.rules() else {
        return Err(Error::invalid(format!(
            "the rules of {} cannot be read; correct them on its page first",
            place.name
        )));
    };
    if rules.capacity.map(i64::from) != action.form.number("seen")? {
        return Err(Error::new(
            Kind::CodeTaken,
            format!(
                "somebody else changed the capacity of {} meanwhile; look at it now",
                place.name
            ),
        ));
    }
    let capacity = action.form.number("capacity")?;
    let access = Map::from_iter([("capacity".to_owned(), json!(capacity))]);
    patch(tx, ctx, action.id, json!({"data": {ACCESS: access}}))?;
    let told = match capacity {
        Some(capacity) => format!("{}: at most {capacity} people inside.", place.name),
        None => format!("{}: no limit of its own.", place.name),
    };
    Ok(Done::new(told, back(&action.form)))
}

/// Closes a place for entry, or opens it again.
pub(super) fn set_available(tx: &Tx<'_>, ctx: &Context, action: &Action) -> Result<Done> {
    let place = Record::find(tx, action.id)?;
    let is_open = action.form.text("available") == "1";
    patch(tx, ctx, action.id, json!({"available": is_open}))?;
    let told = if is_open {
        format!("{} is open for entry.", place.name)
    } else {
        format!("{} is closed: every check-in is refused.", place.name)
    };
    Ok(Done::new(told, back(&action.form)))
}
