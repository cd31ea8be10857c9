//! The setting `scans`: which part of a scanned text is the code, and a scan to try it with.

use crate::admin::prelude::*;
use crate::{
    admin::engine::Input,
    core::{scanned::Meaning, settings},
    domain::delegates::{self, scanned},
    types::scanned::{ScanPattern, likely_code},
};

/// The field of the pattern, in the form and in a trial.
const CODE: &str = "code";

pub(super) fn inputs() -> Vec<Input> {
    vec![
        Input::text(CODE, "The code is this part of what is scanned")
            .wide()
            .max(200)
            .placeholder("https://tickets.example/c/(*)")
            .help(
                "For tickets whose QR code holds an address or JSON: the text before the code, (*) for the code, and the \
                 text after it, such as \"ticket\":\"(*)\". Any other * stands for anything. Without text after it, the \
                 code ends at a space or one of \" ' < > ? & # , ; | ) ] }. Leave it empty where tickets hold the code \
                 alone.",
            ),
    ]
}

/// A scan that somebody tries, and whom it means.
#[derive(Debug, Default)]
pub(super) struct Trial {
    pub scanned: String,
    /// The fault of the pattern.
    pub fault: Option<String>,
    pub code: String,
    /// Id and name of the attendee, and the kind of code.
    pub found: Option<(i64, String, String)>,
    pub why_nobody: String,
}

impl Trial {
    /// The trial that an address asks for, with the pattern as it is typed, otherwise the stored one.
    pub fn new(connection: &Connection, query: &Fields) -> Result<Self> {
        let scanned = query.sent("scanned").unwrap_or_default().to_owned();
        if scanned.trim().is_empty() {
            return Ok(Self::default());
        }
        let pattern = match query.sent(CODE).map(str::trim) {
            None => settings::scan_pattern(connection)?,
            Some("") => None,
            Some(typed) => match ScanPattern::parse(typed) {
                Ok(pattern) => Some(pattern),
                Err(cause) => {
                    return Ok(Self {
                        fault: Some(answer::sentence(&cause)),
                        scanned,
                        ..Self::default()
                    });
                }
            },
        };
        let meaning = scanned::meaning_by(connection, &scanned, pattern.as_ref())?;
        let mut trial = Self {
            code: likely_code(&scanned, pattern.as_ref()),
            ..Self::default()
        };
        match meaning {
            Meaning::Match(found) if !found.is_blocked => {
                let name = delegates::name_of(connection, found.id)?.unwrap_or_default();
                trial.code = found.code;
                trial.found = Some((found.id, name, found.kind));
            }
            nobody => {
                let missing = scanned::missing(connection, &scanned, &nobody)?;
                trial.why_nobody = answer::sentence(&missing);
            }
        }
        trial.scanned = scanned;
        Ok(trial)
    }
}
