//! The field for the device that another one belongs to.

use crate::admin::prelude::*;
use crate::{
    domain::devices::{self, Offer},
    types::text,
};

/// Devices that are offered as a parent.
const OFFERED: usize = 20;

/// A device as the field for a parent shows it.
pub(super) fn shown(id: i64, name: &str) -> String {
    format!("{name} (#{id})")
}

pub(super) fn input(value: &str) -> Input {
    Input::text("parent", "Belongs to")
        .value(value)
        .offered([value])
        .help("Type a part of its name, or its code. Leave empty for top level.")
        .attribute("hx-get", "/console/devices/parents")
        .attribute("hx-trigger", "focus once, input changed delay:150ms")
        .attribute("hx-target", "#parent-offered")
}

/// The device that was typed: `Hall (#7)`, a number, a code or a name.
pub(super) fn find(connection: &Connection, typed: &str) -> Result<i64> {
    let id = typed
        .strip_suffix(')')
        .and_then(|text| text.rsplit_once("(#"))
        .map_or(typed, |(_, id)| id)
        .trim_start_matches('#');
    let named = devices::find_typed(connection, id, typed)?;
    let typed = text::shortened(typed);
    match named.as_slice() {
        [id] => Ok(*id),
        [] => Err(Error::field(
            "parent",
            format!("there is no device \"{typed}\"; type a part of its name and choose one"),
        )),
        _ => Err(Error::invalid(format!(
            "there are several devices \"{typed}\"; choose one from the list, or type its code"
        ))
        .at("parent")),
    }
}

#[derive(Template)]
#[template(path = "devices/parents.html")]
struct Parents {
    offers: Vec<Offer>,
}

/// The devices that the typed text may mean, as options.
pub(super) async fn offers(request: RequestContext) -> Result<Response> {
    let typed = text::fold(request.query.text("parent"));
    let offers = request
        .read(move |connection| devices::matching(connection, &typed, OFFERED))
        .await?;
    answer::page(&Parents { offers })
}
