//! A form: its fields, their values, and what is wrong with them. Fields are named like the properties
//! of the record, so that [`filled`] and [`read`] exchange their values as JSON.

use super::Input;
use crate::{
    admin::{Fields, answer},
    types::error::{Error, Faults, Result},
};
use askama::Template;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// A form as a page shows it.
#[derive(Debug, Default)]
pub struct Form {
    pub action: String,
    /// The page that "Cancel" leads to.
    pub cancel: String,
    /// The label of its button.
    pub submit: String,
    /// The question before it is sent; empty where there is none.
    pub confirm: String,
    /// Identifies the state of the record that the form was opened on.
    pub version: String,
    /// The fault that is no single field's.
    pub failure: Option<String>,
    /// The faults of several fields: the id and the label of each, and what is wrong. Fields of several controls have no id.
    pub faults: Vec<(String, String, String)>,
    /// Changes that somebody else made meanwhile: labels and values.
    pub meanwhile: Vec<(String, String)>,
    pub groups: Vec<Group>,
}

/// Fields under a heading; no heading where the form has one group.
#[derive(Debug)]
pub struct Group {
    pub heading: &'static str,
    pub help: Cow<'static, str>,
    pub inputs: Vec<Input>,
    /// HTML below the fields, such as a tool that fills them in by a script.
    pub tool: String,
    /// So many fields make a row; 0: there are no rows.
    row_len: usize,
}

impl Group {
    pub fn new(heading: &'static str, inputs: Vec<Input>) -> Self {
        Self {
            heading,
            help: "".into(),
            inputs,
            tool: String::new(),
            row_len: 0,
        }
    }

    /// Shows so many fields in a row.
    pub fn rows_of(mut self, inputs: usize) -> Self {
        self.row_len = inputs;
        self
    }

    /// Shows a part of a template below the fields.
    pub fn tool(mut self, part: &impl Template) -> Result<Self> {
        self.tool = answer::part(part)?;
        Ok(self)
    }

    /// The id of its heading, by which links lead to it.
    pub fn anchor(&self) -> String {
        format!("group-{}", self.heading.to_lowercase().replace(' ', "-"))
    }

    pub fn rows(&self) -> impl Iterator<Item = &[Input]> {
        self.inputs
            .chunks(self.row_len.max(1))
            .filter(|_| self.row_len > 0)
    }

    pub fn has_rows(&self) -> bool {
        self.row_len > 0
    }

    pub fn help(mut self, help: impl Into<Cow<'static, str>>) -> Self {
        self.help = help.into();
        self
    }
}

/// The fields with the values of a record.
pub fn filled(mut groups: Vec<Group>, record: &impl Serialize) -> Result<Vec<Group>> {
    let values = serde_json::to_value(record).map_err(Error::defect)?;
    for input in groups.iter_mut().flat_map(|group| &mut group.inputs) {
        if !input.is_apart && !input.is_hidden() {
            input.fill(&values[&*input.name]);
        }
    }
    Ok(groups)
}

/// The values that were typed, each under the name of its field. Empty fields are left out, unless they have
/// to be filled in.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`], naming the field, for a number that is none.
pub fn read<'a>(
    inputs: impl IntoIterator<Item = &'a Input>,
    sent: &Fields,
) -> Result<Map<String, Value>> {
    let (mut values, mut faults) = (Map::new(), Faults::default());
    for input in inputs {
        let value = faults.take(input.read(sent)).flatten();
        if let Some(value) = value.filter(|_| !input.is_apart) {
            values.insert(input.name.to_string(), value);
        }
    }
    faults.done()?;
    Ok(values)
}

/// The record that was typed.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`], naming the field.
pub fn typed<T: DeserializeOwned>(groups: &[Group], sent: &Fields) -> Result<T> {
    parse(read(groups.iter().flat_map(|group| &group.inputs), sent)?)
}

/// The record of these values.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`], naming the field.
pub fn parse<T: DeserializeOwned>(values: Map<String, Value>) -> Result<T> {
    serde_path_to_error::deserialize(Value::Object(values)).map_err(|cause| {
        let (path, cause) = (cause.path().to_string(), cause.into_inner().to_string());
        let missing = cause.strip_prefix("missing field `");
        match missing.and_then(|rest| rest.split('`').next()) {
            Some(name) => Error::field(name, "must be filled in"),
            None => Error::field(path, cause),
        }
    })
}

impl Form {
    fn inputs(&mut self) -> impl Iterator<Item = &mut Input> {
        self.groups.iter_mut().flat_map(|group| &mut group.inputs)
    }

    /// The values that a browser sends of the form.
    #[cfg(test)]
    pub fn into_sent(mut self) -> Fields {
        Fields(self.inputs().flat_map(|input| input.sent()).collect())
    }

    /// Shows what was sent: the values, and the version that the form was opened on.
    pub fn refill(&mut self, sent: &Fields) {
        sent.text("version").clone_into(&mut self.version);
        self.inputs().for_each(|input| input.refill(sent));
    }

    /// Shows what was sent, with the errors: each beside its field, and above the form those of no field of it.
    pub fn reject(&mut self, sent: &Fields, error: &Error) {
        self.refill(sent);
        let (mut labels, mut apart) = (Vec::new(), Vec::new());
        for error in std::iter::once(error).chain(&error.others) {
            match self.mark(error) {
                Some(label) => labels.push(label),
                None => apart.push(answer::sentence(error)),
            }
        }
        self.failure = Some(match labels.as_slice() {
            [] => apart.join(" "),
            [label] if apart.is_empty() => {
                format!("Nothing was saved. Check the field {label}.")
            }
            _ if apart.is_empty() => "Nothing was saved.".to_owned(),
            _ => format!("Nothing was saved. {}", apart.join(" ")),
        });
        if labels.len() > 1 {
            let faulty = self.groups.iter().flat_map(|group| &group.inputs);
            let faulty = faulty.filter_map(|input| {
                let fault = input.error.clone()?;
                let id = if input.is_one_control() {
                    input.id()
                } else {
                    ""
                };
                Some((id.to_owned(), input.label.to_string(), fault))
            });
            self.faults = faulty.collect();
        }
        self.keep_secrets(sent);
    }

    /// Keeps typed passwords, unless one of them is what is wrong: then they are typed again.
    pub fn keep_secrets(&mut self, sent: &Fields) {
        let is_faulty = |input: &Input| input.is_secret && input.error.is_some();
        if self.inputs().any(|input| is_faulty(input)) {
            return;
        }
        for input in self.inputs().filter(|input| input.is_secret) {
            let typed = sent.sent(&input.name).unwrap_or_default();
            typed.clone_into(&mut input.value);
        }
    }

    /// Shows an error beside the first field that it names and the form has; returns the label of that field.
    fn mark(&mut self, error: &Error) -> Option<Cow<'static, str>> {
        for (at, path) in error.field.iter().enumerate() {
            // Settings are named with the one that they are part of: `access.capacity`, `walkIn.types[0].cents`.
            for part in path.rsplit('.') {
                let (name, row) = row_of(part);
                let Some(input) = self.inputs().find(|input| input.name == name) else {
                    continue;
                };
                let fault = answer::sentence(&Error {
                    field: error.field[at + 1..].to_vec(),
                    ..error.clone()
                });
                input.error = Some(match row {
                    Some(row) => format!("Line {row}: {fault}"),
                    None => fault,
                });
                input.folded = false;
                return Some(input.label.clone());
            }
        }
        None
    }

    /// Shows what was sent, with the differences to the record `now`, which `who` changed. Saving again
    /// overwrites them.
    pub fn warn(&mut self, sent: &Fields, who: &str, mut now: Self) {
        self.refill(sent);
        self.version = std::mem::take(&mut now.version);
        let differing = self.inputs().zip(now.inputs()).filter_map(|(typed, now)| {
            let shown = now.shown();
            let differs = !typed.is_apart && typed.shown() != shown;
            differs.then(|| (now.label.to_string(), shown))
        });
        self.meanwhile = differing.collect();
        self.keep_secrets(sent);
        self.failure = Some(format!(
            "{who} changed this while you did. Nothing of yours is saved yet: save again to overwrite what \
             is there now."
        ));
    }
}

/// The name of a property and, of an entry of a list, the number of its line: `types` and 1 of `types[0]`.
fn row_of(part: &str) -> (&str, Option<usize>) {
    let entry = part.strip_suffix(']').and_then(|part| part.split_once('['));
    let row = entry.and_then(|(name, at)| Some((name, at.parse::<usize>().ok()? + 1)));
    row.map_or((part, None), |(name, row)| (name, Some(row)))
}

#[cfg(test)]
mod tests {
    use super::{super::Choice, *};

    #[test]
    fn what_a_select_does_not_offer_stays_chosen() {
        let chosen = |value: &str| {
            let mut select = Input::select("device", "At", [("", "anywhere"), ("hall", "Hall")]);
            select.fill(&value.into());
            let choices = select.choices.into_iter().filter(|choice| choice.chosen);
            choices.map(|choice| choice.value).collect::<Vec<_>>()
        };
        for value in ["", "hall", "room-10001"] {
            assert_eq!(chosen(value), [value]);
        }
    }

    fn form() -> Form {
        Form {
            groups: vec![Group::new(
                "",
                vec![
                    Input::text("name", "Name").value("CRM"),
                    Input::radios(
                        "where",
                        "Where",
                        vec![
                            Choice::new("any", "anywhere", true),
                            Choice::new("some", "at some", false),
                        ],
                    ),
                    Input::flag("on", "On").value("1"),
                ],
            )],
            ..Form::default()
        }
    }

    fn sent(pairs: &[(&str, &str)]) -> Fields {
        Fields(
            pairs
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
        )
    }

    #[test]
    fn what_was_typed_stays_and_its_fault_stands_beside_it() {
        let mut form = form();
        let sent = sent(&[("name", "Chat"), ("where", "some")]);
        form.reject(&sent, &Error::field("name", "must be unique"));
        let inputs = &form.groups[0].inputs;
        assert_eq!(inputs[0].value, "Chat");
        assert_eq!(inputs[0].error.as_deref(), Some("Must be unique."));
        assert_eq!(inputs[1].shown(), "at some");
        assert_eq!(inputs[2].shown(), "no");
        let above = form.failure.as_deref();
        assert_eq!(above, Some("Nothing was saved. Check the field Name."));
        form.reject(&sent, &Error::field("walkIn.name[2].cents", "must be 1"));
        let fault = form.groups[0].inputs[0].error.as_deref();
        assert_eq!(fault, Some("Line 3: Must be 1."));
        form.reject(&sent, &Error::invalid("something else"));
        assert_eq!(form.failure.as_deref(), Some("Something else."));
    }

    #[test]
    fn all_that_is_wrong_is_told_at_once_and_passwords_stay() {
        let form = || Form {
            groups: vec![Group::new(
                "",
                vec![
                    Input::text("name", "Name"),
                    Input::text("url", "Address"),
                    Input::line("password", "password", "Password"),
                ],
            )],
            ..Form::default()
        };
        let sent = sent(&[("name", ""), ("password", " secret words ")]);
        let mut faults = Faults::default();
        faults.take::<()>(Err(Error::field("name", "must be filled in")));
        assert_eq!(faults.take(Ok(7)), Some(7));
        faults.take::<()>(Err(Error::field("url", "must be an address")));
        faults.take::<()>(Err(Error::invalid("there are too many")));
        let mut rejected = form();
        rejected.reject(&sent, &faults.done().unwrap_err());
        let inputs = &rejected.groups[0].inputs;
        assert_eq!(inputs[0].error.as_deref(), Some("Must be filled in."));
        assert_eq!(inputs[1].error.as_deref(), Some("Must be an address."));
        assert_eq!(inputs[2].value, " secret words ");
        let told = rejected.failure.as_deref();
        assert_eq!(told, Some("Nothing was saved. There are too many."));
        let listed: Vec<_> = rejected.faults.iter().map(|(id, ..)| &**id).collect();
        assert_eq!(listed, ["name", "url"]);
        // A password that is what is wrong is typed again.
        let mut rejected = form();
        rejected.reject(&sent, &Error::field("password", "is too short"));
        assert_eq!(rejected.groups[0].inputs[2].value, "");
    }

    #[test]
    fn who_comes_second_reads_what_differs_and_by_whom() {
        let mut typed = form();
        let sent = sent(&[("name", "Chat"), ("where", "any"), ("on", "1")]);
        typed.warn(&sent, "ada@example.com", form());
        assert_eq!(typed.meanwhile, [("Name".to_owned(), "CRM".to_owned())]);
        assert!(
            typed
                .failure
                .unwrap()
                .starts_with("ada@example.com changed")
        );
    }
}
