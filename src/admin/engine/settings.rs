//! Forms of settings: several of them may be parts of one page.

use super::{
    super::{
        Fields, RequestContext,
        form::{is_theirs, mark},
    },
    Form, Group, Input,
};
use crate::{
    core::{audit, settings},
    types::error::Result,
};
use serde_json::{Map, Value};

/// A form of some of the settings.
pub struct SettingsForm {
    /// Its heading.
    pub heading: &'static str,
    /// What it is about.
    pub help: &'static str,
    /// Where it is sent.
    pub path: &'static str,
    /// The page that shows it.
    pub page: &'static str,
    /// The settings that it changes.
    pub keys: &'static [&'static str],
    /// Its fields, of what is stored.
    pub inputs: fn(&Map<String, Value>) -> Vec<Input>,
    /// The changes that were typed; null takes a setting away.
    pub changes: fn(&Fields) -> Result<Map<String, Value>>,
    /// What people read once it is saved.
    pub saved: &'static str,
}

impl SettingsForm {
    /// The form of what is stored.
    pub fn form(&self, stored: &Map<String, Value>) -> Form {
        Form {
            action: self.path.to_owned(),
            submit: "Save".to_owned(),
            version: self.version(stored),
            groups: vec![Group::new(self.heading, (self.inputs)(stored)).help(self.help)],
            ..Form::default()
        }
    }

    fn version(&self, stored: &Map<String, Value>) -> String {
        let values: Vec<Option<&Value>> = self.keys.iter().map(|key| stored.get(*key)).collect();
        mark(&values)
    }

    /// Saves what was sent; otherwise the form again, with what is wrong.
    pub async fn save(&'static self, request: &RequestContext) -> Result<Option<Form>> {
        let begun_on = request.form.text("version").to_owned();
        let saved = match (self.changes)(&request.form) {
            Ok(changes) => {
                let work = request.write(move |tx, ctx| {
                    let is_current = self.version(&settings::stored(tx)?) == begun_on;
                    if is_current {
                        settings::save(tx, ctx, &changes)?;
                    }
                    Ok(is_current)
                });
                work.await
            }
            Err(cause) => Err(cause),
        };
        let cause = match saved {
            Ok(true) => return Ok(None),
            Ok(false) => None,
            Err(cause) if is_theirs(&cause) => Some(cause),
            Err(cause) => return Err(cause),
        };
        let (stored, who) = request.look_up(|connection| {
            let who = audit::last_actor(connection, "settings", None, self.keys)?;
            Ok((settings::stored(connection)?, who))
        })?;
        let mut form = self.form(&stored);
        match cause {
            Some(cause) => form.reject(&request.form, &cause),
            None => form.warn(&request.form, &who, self.form(&stored)),
        }
        Ok(Some(form))
    }
}
