//! A field of a form: how it is filled in, and how its value becomes JSON.

use crate::{
    admin::Fields,
    core::texts::say,
    types::{
        error::{Error, Result},
        text::shortened,
    },
};
use serde_json::{Value, json};
use std::borrow::Cow;

/// The control that fills in a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Control {
    /// One line, of a type such as `text` or `url`.
    Line(&'static str),
    Number {
        min: i64,
        max: i64,
    },
    Area {
        rows: u8,
        code: bool,
    },
    Select,
    Radios,
    Checks,
    Flag,
    /// Rows of a name and a value, sent as `key` and `value`.
    Pairs,
    /// One record, found by a search at this path.
    Lookup {
        path: &'static str,
        placeholder: &'static str,
    },
}

/// Something to choose.
#[derive(Debug, Clone, Default)]
pub struct Choice {
    pub value: String,
    pub label: String,
    pub help: String,
    pub chosen: bool,
    /// People wrote the label, so it is the same in each language.
    is_data: bool,
}

impl Choice {
    /// One that people named, such as a place.
    pub fn named(value: impl Into<String>, name: impl Into<String>, chosen: bool) -> Self {
        Self {
            is_data: true,
            ..Self::new(value, name, chosen)
        }
    }

    /// The label in the language of the page.
    pub fn words(&self) -> String {
        if self.is_data {
            self.label.clone()
        } else {
            say(&self.label)
        }
    }

    pub fn new(value: impl Into<String>, label: impl Into<String>, chosen: bool) -> Self {
        Self {
            value: value.into(),
            label: label.into(),
            help: String::new(),
            chosen,
            is_data: false,
        }
    }

    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = help.into();
        self
    }
}

impl<V: Into<String>, L: Into<String>> From<(V, L)> for Choice {
    fn from((value, label): (V, L)) -> Self {
        Self::new(value, label, false)
    }
}

impl<V: Into<String>, L: Into<String>, H: Into<String>> From<(V, L, H)> for Choice {
    fn from((value, label, help): (V, L, H)) -> Self {
        Self::new(value, label, false).help(help)
    }
}

/// A field of a form.
#[expect(
    clippy::struct_excessive_bools,
    reason = "properties that have nothing to do with each other"
)]
#[derive(Debug)]
pub struct Input {
    pub name: Cow<'static, str>,
    /// The id of its control, where another field of the page has the same name.
    id: Option<&'static str>,
    pub label: Cow<'static, str>,
    pub help: Cow<'static, str>,
    pub control: Control,
    /// The text of a line or an area; of a flag, anything where it is set.
    pub value: String,
    pub choices: Vec<Choice>,
    /// The rows of a list of names and values.
    pub rows: Vec<(String, String)>,
    /// The meanings of the offered values.
    pub meanings: &'static [(&'static str, &'static str)],
    /// Values that are offered for a line, which may hold others.
    pub offered: Vec<String>,
    /// Further attributes of a line.
    pub attributes: Vec<(&'static str, Cow<'static, str>)>,
    pub required: bool,
    pub wide: bool,
    /// Hidden behind its label until somebody opens it.
    pub folded: bool,
    pub(super) is_secret: bool,
    /// Not a property of the record, such as what to preview it with.
    pub(super) is_apart: bool,
    /// The separator of the values of a list.
    separator: Option<char>,
    pub error: Option<String>,
}

type Text = Cow<'static, str>;

impl Input {
    fn new(name: impl Into<Text>, label: impl Into<Text>, control: Control) -> Self {
        Self {
            name: name.into(),
            id: None,
            label: label.into(),
            help: "".into(),
            control,
            value: String::new(),
            choices: Vec::new(),
            rows: Vec::new(),
            meanings: &[],
            offered: Vec::new(),
            attributes: Vec::new(),
            required: false,
            wide: false,
            folded: false,
            is_secret: false,
            is_apart: false,
            separator: None,
            error: None,
        }
    }

    fn chosen(
        name: impl Into<Text>,
        label: impl Into<Text>,
        control: Control,
        choices: impl IntoIterator<Item = impl Into<Choice>>,
    ) -> Self {
        Self {
            choices: choices.into_iter().map(Into::into).collect(),
            ..Self::new(name, label, control)
        }
    }

    pub fn text(name: impl Into<Text>, label: impl Into<Text>) -> Self {
        Self::new(name, label, Control::Line("text"))
    }

    /// A line of a type of its own, such as `url`.
    pub fn line(kind: &'static str, name: impl Into<Text>, label: impl Into<Text>) -> Self {
        Self {
            is_secret: kind == "password",
            ..Self::new(name, label, Control::Line(kind))
        }
    }

    /// A whole number.
    pub fn number(name: impl Into<Text>, label: impl Into<Text>, min: i64, max: i64) -> Self {
        Self::new(name, label, Control::Number { min, max })
            .attribute("min", min.to_string())
            .attribute("max", max.to_string())
    }

    /// Takes numbers between whole ones, too.
    pub fn decimal(self) -> Self {
        self.attribute("step", "any")
    }

    fn takes_decimals(&self) -> bool {
        self.attributes.iter().any(|(name, _)| *name == "step")
    }

    pub fn hidden(name: impl Into<Text>, value: &str) -> Self {
        Self::line("hidden", name, "").value(value)
    }

    pub fn area(name: impl Into<Text>, label: impl Into<Text>, rows: u8) -> Self {
        Self::new(name, label, Control::Area { rows, code: false })
    }

    /// A list with one value a line.
    pub fn lines(name: impl Into<Text>, label: impl Into<Text>, rows: u8) -> Self {
        Self {
            separator: Some('\n'),
            ..Self::area(name, label, rows)
        }
    }

    /// A list with values separated by commas.
    pub fn words(name: impl Into<Text>, label: impl Into<Text>) -> Self {
        Self {
            separator: Some(','),
            ..Self::text(name, label)
        }
    }

    /// One of several, from a menu.
    pub fn select(
        name: impl Into<Text>,
        label: impl Into<Text>,
        choices: impl IntoIterator<Item = impl Into<Choice>>,
    ) -> Self {
        Self::chosen(name, label, Control::Select, choices)
    }

    /// One of several.
    pub fn radios(
        name: impl Into<Text>,
        label: impl Into<Text>,
        choices: impl IntoIterator<Item = impl Into<Choice>>,
    ) -> Self {
        Self::chosen(name, label, Control::Radios, choices)
    }

    /// Any of several.
    pub fn checks(
        name: impl Into<Text>,
        label: impl Into<Text>,
        choices: impl IntoIterator<Item = impl Into<Choice>>,
    ) -> Self {
        Self::chosen(name, label, Control::Checks, choices)
    }

    pub fn flag(name: impl Into<Text>, label: impl Into<Text>) -> Self {
        Self::new(name, label, Control::Flag)
    }

    /// One record, by its id: the one chosen before, or one that a search at `path` finds.
    pub fn lookup(
        name: impl Into<Text>,
        label: impl Into<Text>,
        path: &'static str,
        placeholder: &'static str,
    ) -> Self {
        let none = [("", "none")];
        Self::chosen(name, label, Control::Lookup { path, placeholder }, none)
    }

    /// Rows of names and values, with some empty ones to fill in.
    pub fn pairs(name: impl Into<Text>, label: impl Into<Text>, rows: &[(String, String)]) -> Self {
        Self {
            rows: with_spare(rows.to_vec()),
            ..Self::new(name, label, Control::Pairs)
        }
    }

    pub fn on(self, is_on: bool) -> Self {
        self.value(if is_on { "1" } else { "" })
    }

    /// Values that are offered, each with its meaning.
    pub fn explained(mut self, values: &'static [(&'static str, &'static str)]) -> Self {
        self.meanings = values;
        self.offered(values.iter().map(|(value, _)| *value))
    }

    /// Returns what a browser sends of it.
    #[cfg(test)]
    pub(super) fn sent(&self) -> Vec<(String, String)> {
        let named = |value: &str| (self.name.to_string(), value.to_owned());
        match self.control {
            Control::Flag if self.value.is_empty() => Vec::new(),
            Control::Pairs => {
                let rows = self.rows.iter();
                let rows = rows.flat_map(|(key, value)| [("key", key), ("value", value)]);
                rows.map(|(name, text)| (name.to_owned(), text.clone()))
                    .collect()
            }
            Control::Line(_) | Control::Number { .. } | Control::Area { .. } | Control::Flag => {
                vec![named(&self.value)]
            }
            _ => {
                let chosen = self.choices.iter().filter(|choice| choice.chosen);
                chosen.map(|choice| named(&choice.value)).collect()
            }
        }
    }

    /// Gives its control an id of its own.
    pub fn with_id(mut self, id: &'static str) -> Self {
        self.id = Some(id);
        self
    }

    /// The id of its control.
    pub fn id(&self) -> &str {
        self.id.unwrap_or(&self.name)
    }

    pub fn value(mut self, value: impl Into<String>) -> Self {
        self.value = value.into();
        self
    }

    pub fn help(mut self, help: impl Into<Text>) -> Self {
        self.help = help.into();
        self
    }

    pub fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// As wide as the form.
    pub fn wide(mut self) -> Self {
        self.wide = true;
        self
    }

    /// Its value is never sent to the browser.
    pub fn secret(mut self) -> Self {
        self.is_secret = true;
        self
    }

    /// Not a property of the record.
    pub fn apart(mut self) -> Self {
        self.is_apart = true;
        self
    }

    /// Code: spelling is not checked.
    pub fn code(mut self) -> Self {
        if let Control::Area { code, .. } = &mut self.control {
            *code = true;
        }
        self
    }

    /// Hidden until somebody opens it, unless something in it is chosen.
    pub fn folded(mut self) -> Self {
        self.folded = self.value.is_empty() && !self.choices.iter().any(|choice| choice.chosen);
        self
    }

    /// Hidden until somebody opens it, whatever it holds.
    pub fn folded_always(mut self) -> Self {
        self.folded = true;
        self
    }

    pub fn max(self, characters: usize) -> Self {
        self.attribute("maxlength", characters.to_string())
    }

    pub fn placeholder(self, example: impl Into<Text>) -> Self {
        self.attribute("placeholder", example)
    }

    pub fn attribute(mut self, name: &'static str, value: impl Into<Text>) -> Self {
        self.attributes.push((name, value.into()));
        self
    }

    pub fn offered(mut self, values: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.offered = values.into_iter().map(Into::into).collect();
        self
    }

    pub fn is_hidden(&self) -> bool {
        self.control == Control::Line("hidden")
    }

    /// Returns whether the browser may fill it in.
    pub fn has_autocomplete(&self) -> bool {
        self.has("autocomplete")
    }

    pub fn has_placeholder(&self) -> bool {
        self.has("placeholder")
    }

    fn has(&self, attribute: &str) -> bool {
        self.attributes.iter().any(|(name, _)| *name == attribute)
    }

    /// Returns whether one control of its id fills it in.
    pub(super) fn is_one_control(&self) -> bool {
        use Control::{Area, Line, Number, Select};
        matches!(self.control, Line(_) | Number { .. } | Area { .. } | Select)
    }

    pub(super) fn is_lookup(&self) -> bool {
        matches!(self.control, Control::Lookup { .. })
    }

    /// Returns its value as people read it.
    pub(super) fn shown(&self) -> String {
        match self.control {
            Control::Line(_) | Control::Number { .. } | Control::Area { .. } => {
                self.value.trim().to_owned()
            }
            Control::Pairs => {
                let rows = self.rows.iter().filter(|(key, _)| !key.is_empty());
                let rows = rows.map(|(key, value)| format!("{key}: {value}"));
                rows.collect::<Vec<_>>().join(", ")
            }
            Control::Flag if self.value.is_empty() => "no".to_owned(),
            Control::Flag => "yes".to_owned(),
            _ => {
                let chosen = self.choices.iter().filter(|choice| choice.chosen);
                let labels: Vec<&str> = chosen.map(|choice| choice.label.as_str()).collect();
                labels.join(", ")
            }
        }
    }

    /// A field that is no property of the record may be filled in by the address.
    pub fn ask(&mut self, query: &Fields) {
        if let Some(value) = query
            .filled(&self.name)
            .filter(|_| self.is_apart && !self.is_secret)
        {
            value.clone_into(&mut self.value);
        }
    }

    pub fn fill(&mut self, value: &Value) {
        let text = |value: &Value| match value {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let values: Vec<String> = match value {
            Value::Array(values) => values.iter().map(text).collect(),
            value => vec![text(value)],
        };
        match self.control {
            _ if self.is_secret => {}
            Control::Line(_) | Control::Number { .. } => self.value = values.join(", "),
            Control::Area { .. } => self.value = values.join("\n"),
            Control::Flag => {
                let value = if value == &Value::Bool(true) { "1" } else { "" };
                value.clone_into(&mut self.value);
            }
            _ => {
                for choice in &mut self.choices {
                    choice.chosen = values.contains(&choice.value);
                }
                // What is not offered stays chosen: saving the form must not change it.
                if let (Control::Select, [value]) = (&self.control, &*values)
                    && !value.is_empty()
                    && !self.choices.iter().any(|choice| choice.chosen)
                {
                    self.choices.push(Choice::named(value, value, true));
                }
            }
        }
    }

    /// Its value as JSON; `None` where it is empty and need not be filled in.
    pub(super) fn read(&self, sent: &Fields) -> Result<Option<Value>> {
        let name = &*self.name;
        if let Some(separator) = self.separator {
            let values = sent.text(name).split([separator, '\n']).map(str::trim);
            let values: Vec<&str> = values.filter(|value| !value.is_empty()).collect();
            return Ok(Some(json!(values)));
        }
        let filled = match self.control {
            Control::Flag => Some(json!(sent.ticked(name))),
            Control::Pairs => None,
            Control::Checks => Some(json!(sent.all(name).collect::<Vec<_>>())),
            Control::Number { min, max } if self.takes_decimals() => {
                #[expect(clippy::cast_precision_loss, reason = "small bounds")]
                let range = min as f64..=max as f64;
                sent.decimal(name, range)?.map(Value::from)
            }
            Control::Number { min, max } => {
                let number = sent.number(name)?;
                if number.is_some_and(|number| !(min..=max).contains(&number)) {
                    return Err(Error::field(name, format!("must be from {min} to {max}")));
                }
                number.map(Value::from)
            }
            Control::Lookup { .. } if sent.sent(name).is_none() => {
                // Another search took the record away that was chosen in the one before: it stays.
                let chosen = self.choices.iter().find(|choice| choice.chosen);
                return Ok(chosen
                    .and_then(|choice| choice.value.parse::<i64>().ok())
                    .map(Value::from));
            }
            Control::Lookup { .. } => return Ok(sent.number(name)?.map(Value::from)),
            Control::Area { .. } => {
                let text = sent.sent(name).map(|text| text.replace("\r\n", "\n"));
                text.filter(|text| !text.trim().is_empty()).map(Value::from)
            }
            Control::Select | Control::Radios => {
                let value = sent.filled(name);
                let is_known = |value| self.choices.iter().any(|choice| choice.value == value);
                if let Some(unknown) = value.filter(|value| !is_known(*value)) {
                    let unknown = shortened(unknown);
                    return Err(Error::field(
                        name,
                        format!("\"{unknown}\" cannot be chosen"),
                    ));
                }
                value.map(Value::from)
            }
            Control::Line(_) => sent.filled(name).map(Value::from),
        };
        Ok(filled.or_else(|| self.required.then(|| json!(""))))
    }

    /// Puts what was sent in place of what it holds.
    pub(in crate::admin) fn refill(&mut self, sent: &Fields) {
        let name = &*self.name;
        match self.control {
            _ if self.is_secret => {}
            Control::Line(_) | Control::Number { .. } => {
                sent.text(name).clone_into(&mut self.value);
            }
            Control::Area { .. } => {
                self.value = sent.sent(name).unwrap_or_default().replace("\r\n", "\n");
            }
            Control::Flag => {
                let value = if sent.ticked(name) { "1" } else { "" };
                value.clone_into(&mut self.value);
            }
            Control::Pairs => self.rows = with_spare(sent.pairs()),
            Control::Lookup { .. } if sent.sent(name).is_none() => {}
            _ => {
                for choice in &mut self.choices {
                    choice.chosen = sent.all(name).any(|value| value == choice.value);
                }
            }
        }
    }
}

/// Empty rows at the end of a list of names and values.
const SPARE_ROWS: usize = 3;

fn with_spare(mut rows: Vec<(String, String)>) -> Vec<(String, String)> {
    rows.extend(std::iter::repeat_n(Default::default(), SPARE_ROWS));
    rows
}

/// Values with their labels, of which one is chosen.
pub fn choices<V: Into<String>, L: Into<String>>(
    all: impl IntoIterator<Item = (V, L)>,
    chosen: &str,
) -> Vec<Choice> {
    let choice = |(value, label): (V, L)| {
        let value = value.into();
        let is_chosen = value == chosen;
        Choice::new(value, label, is_chosen)
    };
    all.into_iter().map(choice).collect()
}
