//! Calibration: somebody walks with a tag, and the page shows which antennas hear it.

use crate::admin::prelude::*;
use crate::domain::readers::{
    Epc,
    calibration::{self, Heard, Suggestion},
};

const PAGE: &str = "/console/readers/calibrate";

pub(super) fn routes() -> Vec<Route> {
    Routes::access(OPERATOR)
        .get(PAGE, show)
        .post("/console/readers/calibrate/follow", follow)
        .post("/console/readers/calibrate/stop", stop)
        .all()
}

#[derive(Template)]
#[template(path = "readers/calibrate.html")]
struct Page {
    layout: Layout,
    followed: Option<Followed>,
    floor: f32,
    move_db: f32,
}

struct Followed {
    epc: String,
    /// The name of the tag's holder.
    name: String,
    since: Timestamp,
    heard: Vec<Heard>,
    suggestion: Option<Suggestion>,
}

async fn show(request: RequestContext) -> Result<Response> {
    let readers = &request.console.readers;
    let configuration = readers.configuration();
    let followed = match readers.followed(request.current_user()?.session) {
        Some((epc, since, reads)) => {
            let tag = epc.to_string();
            let whose = tag.clone();
            let name = request.look_up(|connection| calibration::whose(connection, &whose))?;
            Some(Followed {
                epc: tag,
                name: name.unwrap_or_else(|| "nobody's".to_owned()),
                since,
                heard: calibration::heard(&configuration, &reads, Timestamp::now()),
                suggestion: calibration::suggest(&configuration, &reads),
            })
        }
        None => None,
    };
    answer::page(&Page {
        layout: request.layout("Calibrate readers", Some(Area::Readers)),
        followed,
        floor: configuration.settings.rssi_floor_dbm,
        move_db: configuration.settings.move_db,
    })
}

/// Follows the tag with this EPC, or the tag of the attendee whom a code means.
async fn follow(request: RequestContext) -> Result<Response> {
    let typed = request.form.text("tag").trim().to_owned();
    let sought = typed.clone();
    let tag = match request.look_up(move |connection| calibration::tag(connection, &sought))? {
        Some(None) => return request.done("This attendee has no tag number (uhfId).", PAGE),
        Some(Some(tag)) => tag,
        None => typed.split_whitespace().collect(),
    };
    match tag.parse::<Epc>() {
        Ok(epc) => {
            let session = request.current_user()?.session;
            request.console.readers.follow_tag(session, Some(epc));
            Ok(answer::go(PAGE))
        }
        Err(_) => request.done("No attendee has this code, and it is no EPC.", PAGE),
    }
}

async fn stop(request: RequestContext) -> Result<Response> {
    let session = request.current_user()?.session;
    request.console.readers.follow_tag(session, None);
    Ok(answer::go(PAGE))
}
