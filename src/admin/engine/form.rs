//! A form: what its fields are, what they hold, and what is wrong with them.

use crate::{
    admin::{Fields, answer},
    types::error::Error,
};
use std::borrow::Cow;

/// Empty rows at the end of a list of names and values.
const SPARE_ROWS: usize = 3;

/// A form as a page shows it.
#[derive(Debug, Default)]
pub struct Form {
    /// Where it is sent.
    pub action: String,
    /// Where "Cancel" leads.
    pub cancel: String,
    /// What its button says.
    pub submit: String,
    /// A mark of the state that it was begun on.
    pub version: String,
    /// What is wrong with no single field.
    pub failure: Option<String>,
    /// What somebody else changed meanwhile: labels and values.
    pub meanwhile: Vec<(String, String)>,
    /// Its fields, each group under a heading.
    pub groups: Vec<Group>,
}

/// Fields under a heading.
#[derive(Debug)]
pub struct Group {
    /// The heading; none where the form has one group.
    pub heading: &'static str,
    /// What the group is about.
    pub help: Cow<'static, str>,
    /// Its fields.
    pub inputs: Vec<Input>,
}

impl Group {
    /// Fields under a heading.
    pub fn new(heading: &'static str, inputs: Vec<Input>) -> Self {
        Self {
            heading,
            help: "".into(),
            inputs,
        }
    }

    /// With what it is about.
    pub fn help(mut self, help: impl Into<Cow<'static, str>>) -> Self {
        self.help = help.into();
        self
    }
}

/// How a field is filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Control {
    /// One line, of a type such as `text`, `url` or `number`.
    Line(&'static str),
    /// Several lines.
    Area {
        /// How many are shown.
        rows: u8,
        /// They are code.
        code: bool,
    },
    /// One of several, from a menu.
    Select,
    /// One of several.
    Radios,
    /// Any of several.
    Checks,
    /// Yes or no.
    Flag,
    /// Rows of a name and a value, sent as `key` and `value`.
    Pairs,
}

/// Something to choose.
#[derive(Debug, Clone, Default)]
pub struct Choice {
    /// What is sent.
    pub value: String,
    /// What is shown.
    pub label: String,
    /// What it means.
    pub help: String,
    /// Whether it is chosen.
    pub chosen: bool,
}

impl Choice {
    /// A choice of a value, shown under a label.
    pub fn new(value: impl Into<String>, label: impl Into<String>, chosen: bool) -> Self {
        Self {
            value: value.into(),
            label: label.into(),
            help: String::new(),
            chosen,
        }
    }

    /// With what it means.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = help.into();
        self
    }
}

/// Values with their labels, of which one is chosen.
pub fn choices<V: Into<String>, L: Into<String>>(
    all: impl IntoIterator<Item = (V, L)>,
    chosen: &str,
) -> Vec<Choice> {
    all.into_iter()
        .map(|(value, label)| {
            let value = value.into();
            let is_chosen = value == chosen;
            Choice::new(value, label, is_chosen)
        })
        .collect()
}

/// A field of a form.
#[expect(
    clippy::struct_excessive_bools,
    reason = "properties that have nothing to do with each other"
)]
#[derive(Debug)]
pub struct Input {
    /// Its name.
    pub name: &'static str,
    /// What people call it.
    pub label: Cow<'static, str>,
    /// What to know about it.
    pub help: Cow<'static, str>,
    /// How it is filled in.
    control: Control,
    /// What a line or an area holds; of a flag, anything where it is set.
    pub value: String,
    /// What can be chosen.
    pub choices: Vec<Choice>,
    /// The rows of a list of names and values.
    pub rows: Vec<(String, String)>,
    /// Values that are offered for a line, which may hold others.
    pub offered: Vec<String>,
    /// What the offered values mean.
    pub meanings: &'static [(&'static str, &'static str)],
    /// Further attributes of a line.
    pub attributes: Vec<(&'static str, Cow<'static, str>)>,
    /// It must be filled in.
    pub required: bool,
    /// It takes the whole width.
    pub wide: bool,
    /// It is folded away until somebody opens it.
    pub folded: bool,
    /// It never goes back to the page.
    is_secret: bool,
    /// What is wrong with it.
    pub error: Option<String>,
}

impl Input {
    fn new(name: &'static str, label: impl Into<Cow<'static, str>>, control: Control) -> Self {
        Self {
            name,
            label: label.into(),
            help: "".into(),
            control,
            value: String::new(),
            choices: Vec::new(),
            rows: Vec::new(),
            offered: Vec::new(),
            meanings: &[],
            attributes: Vec::new(),
            required: false,
            wide: false,
            folded: false,
            is_secret: false,
            error: None,
        }
    }

    /// A line of text.
    pub fn text(name: &'static str, label: &'static str, value: &str) -> Self {
        Self::line("text", name, label, value)
    }

    /// A line of a type of its own, such as `url`.
    pub fn line(kind: &'static str, name: &'static str, label: &'static str, value: &str) -> Self {
        Self {
            value: value.to_owned(),
            is_secret: kind == "password",
            ..Self::new(name, label, Control::Line(kind))
        }
    }

    /// A value that goes along unseen.
    pub fn hidden(name: &'static str, value: &str) -> Self {
        Self::line("hidden", name, "", value)
    }

    /// Several lines of text.
    pub fn area(name: &'static str, label: &'static str, rows: u8, value: &str) -> Self {
        Self {
            value: value.to_owned(),
            ..Self::new(name, label, Control::Area { rows, code: false })
        }
    }

    /// One of several, from a menu.
    pub fn select(name: &'static str, label: &'static str, choices: Vec<Choice>) -> Self {
        Self {
            choices,
            ..Self::new(name, label, Control::Select)
        }
    }

    /// One of several.
    pub fn radios(name: &'static str, label: &'static str, choices: Vec<Choice>) -> Self {
        Self {
            choices,
            ..Self::new(name, label, Control::Radios)
        }
    }

    /// Any of several.
    pub fn checks(
        name: &'static str,
        label: impl Into<Cow<'static, str>>,
        choices: Vec<Choice>,
    ) -> Self {
        Self {
            choices,
            ..Self::new(name, label, Control::Checks)
        }
    }

    /// Yes or no.
    pub fn flag(name: &'static str, label: &'static str, on: bool) -> Self {
        Self {
            value: if on { "1" } else { "" }.to_owned(),
            ..Self::new(name, label, Control::Flag)
        }
    }

    /// Rows of names and values, with some empty ones to fill in.
    pub fn pairs(name: &'static str, label: &'static str, rows: &[(String, String)]) -> Self {
        Self {
            rows: with_spare(rows.to_vec()),
            ..Self::new(name, label, Control::Pairs)
        }
    }

    /// With what to know about it.
    pub fn help(mut self, help: impl Into<Cow<'static, str>>) -> Self {
        self.help = help.into();
        self
    }

    /// It must be filled in.
    pub fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// It takes the whole width.
    pub fn wide(mut self) -> Self {
        self.wide = true;
        self
    }

    /// It never goes back to the page.
    pub fn secret(mut self) -> Self {
        self.is_secret = true;
        self
    }

    /// It is code: no spelling is checked.
    pub fn code(mut self) -> Self {
        if let Control::Area { code, .. } = &mut self.control {
            *code = true;
        }
        self
    }

    /// Folded away, unless something in it is chosen.
    pub fn folded(mut self) -> Self {
        self.folded = self.value.is_empty() && !self.choices.iter().any(|choice| choice.chosen);
        self
    }

    /// At most so many characters.
    pub fn max(self, characters: usize) -> Self {
        self.attribute("maxlength", characters.to_string())
    }

    /// An example.
    pub fn placeholder(self, example: &'static str) -> Self {
        self.attribute("placeholder", example)
    }

    /// With a further attribute.
    pub fn attribute(mut self, name: &'static str, value: impl Into<Cow<'static, str>>) -> Self {
        self.attributes.push((name, value.into()));
        self
    }

    /// Values that are offered.
    pub fn offered(mut self, values: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.offered = values.into_iter().map(Into::into).collect();
        self
    }

    /// Values that are offered, each with its meaning.
    pub fn explained(mut self, values: &'static [(&'static str, &'static str)]) -> Self {
        self.meanings = values;
        self.offered(values.iter().map(|(value, _)| *value))
    }

    /// Whether it goes along unseen.
    pub fn is_hidden(&self) -> bool {
        self.control == Control::Line("hidden")
    }

    /// The type of a line.
    pub fn line_kind(&self) -> Option<&'static str> {
        match self.control {
            Control::Line(kind) => Some(kind),
            _ => None,
        }
    }

    /// How many lines an area shows, and whether they are code.
    pub fn area_shape(&self) -> Option<(u8, bool)> {
        match self.control {
            Control::Area { rows, code } => Some((rows, code)),
            _ => None,
        }
    }

    /// Whether it is a menu.
    pub fn is_select(&self) -> bool {
        self.control == Control::Select
    }

    /// Whether it is yes or no.
    pub fn is_pairs(&self) -> bool {
        self.control == Control::Pairs
    }

    pub fn is_flag(&self) -> bool {
        self.control == Control::Flag
    }

    /// Whether any number can be chosen.
    pub fn is_any_of(&self) -> bool {
        self.control == Control::Checks
    }

    /// What it holds, as people read it.
    fn shown(&self) -> String {
        match self.control {
            Control::Line(_) | Control::Area { .. } => self.value.trim().to_owned(),
            Control::Pairs => {
                let rows = self.rows.iter().filter(|(key, _)| !key.is_empty());
                let rows: Vec<String> =
                    rows.map(|(key, value)| format!("{key}: {value}")).collect();
                rows.join(", ")
            }
            Control::Flag if self.value.is_empty() => "no".to_owned(),
            Control::Flag => "yes".to_owned(),
            Control::Select | Control::Radios | Control::Checks => {
                let chosen = self.choices.iter().filter(|choice| choice.chosen);
                let labels: Vec<&str> = chosen.map(|choice| choice.label.as_str()).collect();
                labels.join(", ")
            }
        }
    }

    /// Puts what was sent in place of what it holds.
    fn refill(&mut self, sent: &Fields) {
        if self.is_secret {
            return;
        }
        match self.control {
            Control::Line(_) => sent.text(self.name).clone_into(&mut self.value),
            Control::Area { .. } => {
                self.value = sent
                    .sent(self.name)
                    .unwrap_or_default()
                    .replace("\r\n", "\n");
            }
            Control::Pairs => self.rows = with_spare(sent.pairs()),
            Control::Flag => {
                let value = if sent.ticked(self.name) { "1" } else { "" };
                value.clone_into(&mut self.value);
            }
            Control::Select | Control::Radios | Control::Checks => {
                for choice in &mut self.choices {
                    choice.chosen = sent.all(self.name).any(|value| value == choice.value);
                }
            }
        }
    }
}

fn with_spare(mut rows: Vec<(String, String)>) -> Vec<(String, String)> {
    rows.extend(std::iter::repeat_n(Default::default(), SPARE_ROWS));
    rows
}

impl Form {
    fn inputs(&mut self) -> impl Iterator<Item = &mut Input> {
        self.groups.iter_mut().flat_map(|group| &mut group.inputs)
    }

    /// What a browser sends of the form.
    #[cfg(test)]
    pub fn into_sent(mut self) -> Fields {
        let mut sent = Vec::new();
        let mut send = |name: &str, value: &str| sent.push((name.to_owned(), value.to_owned()));
        for input in self.inputs() {
            match input.control {
                Control::Line(_) | Control::Area { .. } => send(input.name, &input.value),
                Control::Flag if input.value.is_empty() => {}
                Control::Flag => send(input.name, "1"),
                Control::Pairs => {
                    for (key, value) in &input.rows {
                        send("key", key);
                        send("value", value);
                    }
                }
                Control::Select | Control::Radios | Control::Checks => {
                    for choice in input.choices.iter().filter(|choice| choice.chosen) {
                        send(input.name, &choice.value);
                    }
                }
            }
        }
        Fields(sent)
    }

    /// The form as it was sent: what was typed, and the state that it was begun on.
    pub fn refill(&mut self, sent: &Fields) {
        sent.text("version").clone_into(&mut self.version);
        self.inputs().for_each(|input| input.refill(sent));
    }

    /// The form as it was sent, with what is wrong: beside the field that the message begins with,
    /// otherwise above all.
    pub fn reject(&mut self, sent: &Fields, error: &Error) {
        self.refill(sent);
        // Settings are named with the one that they are part of: `access.capacity`.
        let named = error.message.split_once(": ").map(|(path, rest)| {
            let name = path.rsplit('.').next().unwrap_or_default();
            (name.to_owned(), answer::sentence(rest))
        });
        let found = named.and_then(|(name, fault)| {
            let input = self.inputs().find(|input| input.name == name)?;
            input.error = Some(fault);
            input.folded = false;
            Some(input.label.clone())
        });
        self.failure = Some(match found {
            Some(label) => format!("Nothing was saved. Check the field {label}."),
            None => answer::sentence(&error.message),
        });
    }

    /// The form as it was sent, with what differs from how the record is `now`, changed by `who`. Saved
    /// again, it overwrites that.
    pub fn warn(&mut self, sent: &Fields, who: &str, mut now: Self) {
        self.refill(sent);
        self.version = std::mem::take(&mut now.version);
        let differing = self.inputs().zip(now.inputs()).filter_map(|(typed, now)| {
            let shown = now.shown();
            (typed.shown() != shown).then(|| (now.label.to_string(), shown))
        });
        self.meanwhile = differing.collect();
        self.failure = Some(format!(
            "{who} changed this while you did. Nothing of yours is saved yet: save again to overwrite what \
             is there now."
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form() -> Form {
        Form {
            groups: vec![Group::new(
                "",
                vec![
                    Input::text("name", "Name", "CRM"),
                    Input::radios(
                        "where",
                        "Where",
                        vec![
                            Choice::new("any", "anywhere", true),
                            Choice::new("some", "at some", false),
                        ],
                    ),
                    Input::flag("on", "On", true),
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
        form.reject(&sent, &Error::invalid("name: must be unique"));
        let inputs = &form.groups[0].inputs;
        assert_eq!(inputs[0].value, "Chat");
        assert_eq!(inputs[0].error.as_deref(), Some("Must be unique."));
        assert_eq!(inputs[1].shown(), "at some");
        assert_eq!(inputs[2].shown(), "no");
        let above = form.failure.as_deref();
        assert_eq!(above, Some("Nothing was saved. Check the field Name."));
        form.reject(&sent, &Error::invalid("something else"));
        assert_eq!(form.failure.as_deref(), Some("Something else."));
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
