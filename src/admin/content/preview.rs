//! A template with a record that somebody chose.

use crate::{
    core::settings::Settings,
    domain::{
        content::{Of, Subject},
        delegates, devices,
    },
    types::{
        DelegateId, DelegateSelector, DeviceId, DeviceSelector, Timestamp,
        error::{Error, Kind, Result},
    },
};
use rusqlite::Connection;

/// What a template makes of a record.
pub(super) struct Preview {
    /// Whom or what it was rendered for.
    pub(super) with: String,
    /// The page, or what is wrong with the template.
    pub(super) made: Result<String, String>,
}

impl Preview {
    pub(super) fn page(&self) -> Option<&String> {
        self.made.as_ref().ok()
    }

    pub(super) fn fault(&self) -> Option<&String> {
        self.made.as_ref().err()
    }
}

/// The template rendered for the record that was named: by id, a selector, a code, or a part of the
/// name; where none was named, for the newest.
///
/// # Errors
/// [`Kind::Invalid`] for a path that says nothing of whom it is for, and where there is no such
/// record.
pub(super) fn of(
    connection: &Connection,
    path: &str,
    content: &str,
    record: &str,
    settings: &Settings,
) -> Result<Preview> {
    let of = Of::path(path)?;
    let (subject, brief) = match of {
        Of::Delegate => {
            let id = delegate(connection, record)?;
            let brief = delegates::brief(connection, id.0)?;
            (Subject::delegate(connection, id, None, settings)?, brief)
        }
        Of::Device => {
            let id = device(connection, record)?;
            let brief = devices::brief(connection, id.0)?;
            (Subject::device(connection, id, settings)?, brief)
        }
    };
    let made = of
        .check(content)
        .and_then(|()| subject.rendered(content, settings, Timestamp::now()))
        .map_err(|fault| told(content, &fault));
    let with = brief.map_or_else(String::new, |brief| brief.name);
    Ok(Preview { with, made })
}

/// A fault with the line it is about.
pub(super) fn told(content: &str, fault: &crate::core::template::Fault) -> String {
    let line = fault
        .line
        .and_then(|line| content.lines().nth(line.checked_sub(1)?))
        .map(str::trim)
        .filter(|line| !line.is_empty());
    match line {
        Some(line) => {
            let shown: String = line.chars().take(120).collect();
            format!("{fault}, in: {shown}")
        }
        None => fault.to_string(),
    }
}

fn none(of: Of, record: &str) -> Error {
    Error::new(
        Kind::Invalid,
        if record.is_empty() {
            format!("there is no {} yet to preview it with", of.name())
        } else {
            format!("preview: there is no {} \"{record}\"", of.name())
        },
    )
}

fn delegate(connection: &Connection, record: &str) -> Result<DelegateId> {
    if record.contains(':')
        && let Ok(selector) = DelegateSelector::parse(record)
    {
        return delegates::find(connection, &selector);
    }
    delegates::newest_named(connection, record)?.ok_or_else(|| none(Of::Delegate, record))
}

fn device(connection: &Connection, record: &str) -> Result<DeviceId> {
    if record.contains(':')
        && let Ok(selector) = DeviceSelector::parse(record)
    {
        return devices::find(connection, &selector);
    }
    devices::newest_named(connection, record)?.ok_or_else(|| none(Of::Device, record))
}
