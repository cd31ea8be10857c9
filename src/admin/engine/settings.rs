//! Forms of settings: several of them may be parts of one page.

use super::{
    super::{
        RequestContext,
        form::{is_theirs, mark},
    },
    Form, Group, Input, filled, read,
};
use crate::{
    core::{audit, settings},
    types::error::Result,
};
use rusqlite::Connection;
use serde_json::{Map, Value, json};

/// A form of some of the settings.
pub struct SettingsForm {
    pub heading: &'static str,
    pub help: &'static str,
    /// The path that it is sent to.
    pub path: &'static str,
    /// The setting whose properties the fields are; none where each field is a setting.
    pub part_of: Option<&'static str>,
    /// The values that count where nothing is stored.
    pub defaults: fn() -> Value,
    pub inputs: fn() -> Vec<Input>,
    /// From the values of the settings to those of the fields.
    pub shown: fn(Map<String, Value>) -> Map<String, Value>,
    /// From the values of the fields to those of the settings.
    pub stored: fn(Map<String, Value>) -> Map<String, Value>,
    /// Checks the settings against what else is stored, such as whether a product is there.
    pub check: fn(&Connection, &Map<String, Value>) -> Result<()>,
    /// The message once it is saved.
    pub saved: &'static str,
}

impl SettingsForm {
    pub const EMPTY: Self = Self {
        heading: "",
        help: "",
        path: "",
        part_of: None,
        defaults: || json!({}),
        inputs: Vec::new,
        shown: |values| values,
        stored: |values| values,
        check: |_, _| Ok(()),
        saved: "Settings saved.",
    };

    /// The form of what is stored.
    pub fn form(&self, stored: &Map<String, Value>) -> Result<Form> {
        let values = self.values(stored);
        let groups = vec![Group::new(self.heading, (self.inputs)()).help(self.help)];
        Ok(Form {
            action: self.path.to_owned(),
            submit: "Save".to_owned(),
            version: mark(&values),
            groups: filled(groups, &(self.shown)(values))?,
            ..Form::default()
        })
    }

    fn keys(&self) -> Vec<String> {
        match self.part_of {
            Some(key) => vec![key.to_owned()],
            None => (self.inputs)()
                .into_iter()
                .map(|input| input.name.into_owned())
                .collect(),
        }
    }

    /// The values of the settings, with the defaults of those that are not set.
    fn values(&self, stored: &Map<String, Value>) -> Map<String, Value> {
        let stored = match self.part_of {
            Some(key) => stored.get(key).and_then(Value::as_object).cloned(),
            None => Some(stored.clone()),
        };
        let mut values = Map::new();
        if let Value::Object(defaults) = (self.defaults)() {
            values = defaults;
        }
        values.extend(stored.unwrap_or_default());
        if self.part_of.is_none() {
            let keys = self.keys();
            values.retain(|name, _| keys.contains(name));
        }
        values
    }

    /// The settings that these values of the fields make; null removes one.
    fn changes(&self, values: Map<String, Value>) -> Map<String, Value> {
        if let Some(key) = self.part_of {
            let values = Value::Object(values);
            let differs = values != (self.defaults)();
            let value = if differs { values } else { Value::Null };
            return Map::from_iter([(key.to_owned(), value)]);
        }
        let value = |name: String| {
            let value = values.get(&name).filter(|value| **value != json!([]));
            (name, value.cloned().unwrap_or_default())
        };
        self.keys().into_iter().map(value).collect()
    }

    /// Saves what was sent; otherwise the form again, with what is wrong.
    pub async fn save(&'static self, request: &RequestContext) -> Result<Option<Form>> {
        self.save_checked(request, Ok(())).await
    }

    /// As [`SettingsForm::save`], unless an earlier check failed.
    pub async fn save_checked(
        &'static self,
        request: &RequestContext,
        checked: Result<()>,
    ) -> Result<Option<Form>> {
        let opened_on = request.form.text("version").to_owned();
        let values = checked.and_then(|()| read(&(self.inputs)(), &request.form));
        let saved = match values {
            Ok(values) => {
                let changes = self.changes((self.stored)(values));
                let work = request.write(move |tx, ctx| {
                    let is_current = mark(&self.values(&settings::stored(tx)?)) == opened_on;
                    if is_current {
                        (self.check)(tx, &changes)?;
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
        let keys = self.keys();
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let (stored, who) = request.look_up(|connection| {
            let who = audit::last_actor(connection, "settings", None, &keys)?;
            Ok((settings::stored(connection)?, who))
        })?;
        let mut form = self.form(&stored)?;
        match cause {
            Some(cause) => form.reject(&request.form, &cause),
            None => form.warn(&request.form, &who, self.form(&stored)?),
        }
        Ok(Some(form))
    }
}
