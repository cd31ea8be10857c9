//! The parameters of a report's statement: values that a caller chooses, and values that nobody can.

use crate::types::error::{Error, Result};
use rusqlite::types::Value as Sql;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::HashMap;

/// A value that a caller chooses, by name. Sent empty, it is NULL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub struct Parameter {
    /// The name in the query string, and with a colon in the statement.
    pub name: String,
    pub label: Option<String>,
    pub optional: bool,
    pub kind: ParameterKind,
}

/// The type in which a statement gets what a caller sends. It is said and not guessed: `1` may be a code, and SQLite
/// takes every text for greater than any number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ParameterKind {
    #[default]
    Text,
    /// The number that it is; anything else is refused.
    Number,
    /// The id of a place, which the console asks for by name.
    Place,
}

impl ParameterKind {
    fn sql(self, name: &str, sent: &str) -> Result<Sql> {
        match self {
            _ if sent.is_empty() => Ok(Sql::Null),
            Self::Text => Ok(Sql::Text(sent.to_owned())),
            Self::Number | Self::Place => number(sent.trim()).ok_or_else(|| {
                let sent = crate::types::text::shortened(sent);
                Error::field(
                    name,
                    format!("must be a number, such as 12 or 0.5, not \"{sent}\""),
                )
            }),
        }
    }
}

/// A decimal number; a whole one outside of 64 bits is none, rather than another.
fn number(text: &str) -> Option<Sql> {
    let plain = |byte: u8| byte.is_ascii_digit() || b"+-.".contains(&byte);
    if !text.bytes().all(plain) {
        return None;
    }
    if text.contains('.') {
        let real = text.parse().ok().filter(|real: &f64| real.is_finite());
        real.map(Sql::Real)
    } else {
        text.parse().ok().map(Sql::Integer)
    }
}

/// A value that is always the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fixed {
    pub name: String,
    #[serde(default)]
    pub value: Value,
}

impl Parameter {
    /// The name in a form.
    pub fn shown(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.name)
    }
}

impl TryFrom<Value> for Parameter {
    type Error = String;

    fn try_from(said: Value) -> Result<Self, String> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Said {
            name: String,
            #[serde(default)]
            label: Option<String>,
            #[serde(default)]
            optional: bool,
            #[serde(default, rename = "type")]
            kind: ParameterKind,
        }
        let said = match said {
            Value::String(name) => json!({"name": name}),
            said => said,
        };
        let said: Said = serde_json::from_value(said).map_err(|cause| {
            format!("must be a name, or an object with name, label, type and optional: {cause}")
        })?;
        Ok(Self {
            name: said.name,
            label: said.label.filter(|label| !label.is_empty()),
            optional: said.optional,
            kind: said.kind,
        })
    }
}

impl From<Parameter> for Value {
    fn from(parameter: Parameter) -> Self {
        let is_plain = parameter.kind == ParameterKind::Text;
        if parameter.label.is_none() && !parameter.optional && is_plain {
            return parameter.name.into();
        }
        let mut said = json!({"name": parameter.name});
        if let Some(label) = parameter.label {
            said["label"] = label.into();
        }
        if !is_plain {
            said["type"] = json!(parameter.kind);
        }
        if parameter.optional {
            said["optional"] = true.into();
        }
        said
    }
}

/// The values of one run, by name.
#[derive(Debug, Clone, Default)]
pub struct Values(HashMap<String, Sql>);

impl Values {
    /// The values of a run, from what a caller sent.
    pub fn read(
        parameters: &[Parameter],
        fixed: &[Fixed],
        sent: &[(String, String)],
    ) -> Result<Self> {
        let mut values = HashMap::new();
        for (name, value) in sent {
            if fixed.iter().any(|fixed| fixed.name == *name) {
                return Err(Error::field(
                    name,
                    "is fixed in this report and cannot be chosen",
                ));
            }
            let Some(parameter) = parameters.iter().find(|known| known.name == *name) else {
                let known: Vec<_> = asked(parameters, fixed).map(|known| &*known.name).collect();
                let known = match &*known.join(", ") {
                    "" => "this report has no parameters".to_owned(),
                    known => format!("the parameters of this report are {known}"),
                };
                let name = crate::types::text::shortened(name);
                return Err(Error::invalid(format!("\"{name}\": {known}")));
            };
            let value = parameter.kind.sql(name, value)?;
            if values.insert(name.clone(), value).is_some() {
                return Err(Error::field(name, "is in the query string twice"));
            }
        }
        for parameter in asked(parameters, fixed) {
            if !parameter.optional && !values.contains_key(&parameter.name) {
                return Err(Error::field(
                    &parameter.name,
                    format!("is missing; send {}= for no value", parameter.name),
                ));
            }
        }
        for fixed in fixed {
            values.insert(fixed.name.clone(), fixed.sql());
        }
        Ok(Self(values))
    }

    /// A value; NULL where there is none.
    pub(super) fn get(&self, name: &str) -> Sql {
        self.0.get(name).cloned().unwrap_or(Sql::Null)
    }
}

/// The parameters that a caller chooses: one that is fixed as well is not among them.
pub(super) fn asked<'a>(
    parameters: &'a [Parameter],
    fixed: &'a [Fixed],
) -> impl Iterator<Item = &'a Parameter> {
    parameters
        .iter()
        .filter(|parameter| !fixed.iter().any(|fixed| fixed.name == parameter.name))
}

impl Fixed {
    fn sql(&self) -> Sql {
        match &self.value {
            Value::Bool(flag) => Sql::Integer((*flag).into()),
            Value::String(text) => Sql::Text(text.clone()),
            Value::Number(number) => match (number.as_i64(), number.as_f64()) {
                (Some(whole), _) => Sql::Integer(whole),
                (None, Some(real)) => Sql::Real(real),
                (None, None) => Sql::Null,
            },
            _ => Sql::Null,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters() -> Vec<Parameter> {
        serde_json::from_value(json!(["day", {"name": "room", "optional": true}, "most"])).unwrap()
    }

    fn fixed() -> Vec<Fixed> {
        serde_json::from_value(
            json!([{"name": "most", "value": 5}, {"name": "kind", "value": "x"}]),
        )
        .unwrap()
    }

    fn read(sent: &[(&str, &str)]) -> Result<Values> {
        let sent: Vec<_> = sent
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        Values::read(&parameters(), &fixed(), &sent)
    }

    #[test]
    fn values_come_from_the_caller_or_are_fixed() {
        let values = read(&[("day", "2026-11-21")]).unwrap();
        assert_eq!(values.get("day"), Sql::Text("2026-11-21".into()));
        assert_eq!(values.get("room"), Sql::Null);
        assert_eq!(values.get("most"), Sql::Integer(5));
        assert_eq!(values.get("kind"), Sql::Text("x".into()));
        let values = read(&[("day", ""), ("room", "7")]).unwrap();
        assert_eq!(values.get("day"), Sql::Null);
        assert_eq!(values.get("room"), Sql::Text("7".into()));
    }

    #[test]
    fn what_does_not_fit_is_refused_by_name() {
        for (sent, about) in [
            (vec![], "day: is missing"),
            (vec![("room", "7")], "day: is missing"),
            (vec![("day", "1"), ("most", "9")], "most: is fixed"),
            (vec![("day", "1"), ("kind", "9")], "kind: is fixed"),
            (
                vec![("day", "1"), ("Day", "9")],
                "\"Day\": the parameters of this report are day, room",
            ),
            (
                vec![("day", "1"), ("day", "1")],
                "day: is in the query string twice",
            ),
        ] {
            let refused = read(&sent).unwrap_err();
            assert!(refused.to_string().contains(about), "{refused}");
        }
    }

    #[test]
    fn a_number_is_one_where_it_was_asked_for() {
        let asked: Vec<Parameter> =
            serde_json::from_value(json!([{"name": "least", "type": "number"}, "code"])).unwrap();
        let read = |least: &str| {
            let sent = [("least", least), ("code", "0012")];
            let sent = sent.map(|(name, value)| (name.to_owned(), value.to_owned()));
            Values::read(&asked, &[], &sent)
        };
        for (sent, value) in [
            ("12", Sql::Integer(12)),
            ("-3", Sql::Integer(-3)),
            (" 007 ", Sql::Integer(7)),
            ("0.5", Sql::Real(0.5)),
            ("-12.50", Sql::Real(-12.5)),
            ("9223372036854775807", Sql::Integer(i64::MAX)),
            ("", Sql::Null),
        ] {
            let values = read(sent).unwrap();
            assert_eq!(values.get("least"), value, "{sent}");
            assert_eq!(values.get("code"), Sql::Text("0012".into()));
        }
        for sent in [
            "many",
            "1,5",
            "1e3",
            "0x1",
            "inf",
            "NaN",
            ".",
            "-",
            "1.2.3",
            " ",
            "9223372036854775808",
        ] {
            let refused = read(sent).unwrap_err();
            assert!(
                refused.to_string().contains("least: must be a number"),
                "{refused}"
            );
        }
    }

    #[test]
    fn a_plain_parameter_is_its_name() {
        let said = json!(["day", {"name": "room", "label": "Room", "optional": true}, {"name": "least", "type": "number"}]);
        let parameters: Vec<Parameter> = serde_json::from_value(said.clone()).unwrap();
        assert_eq!(parameters[1].shown(), "Room");
        assert_eq!(json!(parameters), said);
        for bad in [
            json!([5]),
            json!([{"label": "x"}]),
            json!([{"name": "x", "type": "y"}]),
        ] {
            assert!(serde_json::from_value::<Vec<Parameter>>(bad).is_err());
        }
    }
}
