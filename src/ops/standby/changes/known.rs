//! Interactions that somebody else kept, such as a head office, as lines.

use super::{Line, Scan};
use crate::types::error::{Error, Result};
use serde_json::Value;
use std::collections::BTreeMap;

/// An interaction as the change feed showed it, with selectors of its participants.
pub struct Known {
    pub id: i64,
    pub data: Value,
    pub delegates: [Option<String>; 3],
    pub devices: [Option<String>; 3],
}

/// Writes interactions of a file down for an import.
pub fn of_known(file: i64, epoch: i64, known: Vec<Known>) -> Result<String> {
    let first = Line::Changes {
        file,
        epoch,
        from: 0,
        left_out: BTreeMap::new(),
    };
    let lines = known.into_iter().filter_map(|one| {
        let text = |name: &str| one.data.get(name).and_then(Value::as_str);
        let recorded_at: jiff::Timestamp = text("recordedAt")?.parse().ok()?;
        Some(Line::Recorded(Scan {
            id: one.id,
            kind: text("interactionType")?.to_owned(),
            delegates: one.delegates,
            devices: one.devices,
            data: one.data.get("data").map(Value::to_string),
            recorded_at: recorded_at.as_millisecond(),
            client: None,
            user: None,
            nonce: None,
            fingerprint: None,
        }))
    });
    let mut out = String::new();
    for line in [first].into_iter().chain(lines) {
        out.push_str(&serde_json::to_string(&line).map_err(Error::defect)?);
        out.push('\n');
    }
    Ok(out)
}
