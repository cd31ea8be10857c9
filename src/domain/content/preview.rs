//! A template rendered for a record, before it is saved.

use super::{Of, Subject};
use crate::{
    core::{settings::Settings, template},
    domain::{delegates, devices},
    types::{
        DelegateId, DelegateSelector, DeviceId, DeviceSelector, Timestamp,
        error::{Error, Result},
    },
};
use rusqlite::Connection;

/// The output of a template for a record.
#[derive(Debug)]
pub struct Preview {
    /// The name of the record.
    pub with: String,
    /// The page, or what is wrong with the template.
    pub made: Result<String, String>,
}

/// The fault of a path's template, with the line it is in.
#[must_use]
pub fn fault(path: &str, content: &str) -> Option<String> {
    let fault = Of::path(path).ok()?.check(content).err()?;
    Some(fault_in(content, &fault))
}

/// The template rendered for the record that was named: by id, a selector, a code, or a part of the
/// name; where none was named, for the newest.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`] for a path that says nothing of whom it is for, and where there is no such
/// record.
pub fn preview(
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
        .map_err(|fault| fault_in(content, &fault));
    let with = brief.map_or_else(String::new, |brief| brief.name);
    Ok(Preview { with, made })
}

/// A fault with the line it is about.
fn fault_in(content: &str, fault: &template::Fault) -> String {
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
    let name = of.name();
    let message = if record.is_empty() {
        format!("there is no {name} yet")
    } else {
        format!("there is no {name} \"{record}\"")
    };
    Error::field("record", message)
}

fn delegate(connection: &Connection, record: &str) -> Result<DelegateId> {
    if record.contains(':')
        && let Ok(selector) = DelegateSelector::parse(record)
    {
        return delegates::find(connection, &selector);
    }
    delegates::named(connection, record)?.ok_or_else(|| none(Of::Delegate, record))
}

fn device(connection: &Connection, record: &str) -> Result<DeviceId> {
    if record.contains(':')
        && let Ok(selector) = DeviceSelector::parse(record)
    {
        return devices::find(connection, &selector);
    }
    devices::newest_named(connection, record)?.ok_or_else(|| none(Of::Device, record))
}
