//! The definition of a report (spec: Report endpoints, rule 2), and its checks: it is tried in the sandbox before it is
//! stored.

use super::{
    built::Built,
    parameters::{Fixed, Parameter, asked},
    rows::shipped_as,
};
use crate::{
    core::texts::say,
    db::sandbox::{Sandbox, View},
    types::{
        error::{Error, Faults, Result},
        text::{capital, check_text},
    },
};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeSet, path::Path, time::Duration};

/// Parameters and fixed values of one report at the most.
const PARAMETERS_MAX: usize = 30;
/// The longest time of compiling its query.
const CHECK_MAX: Duration = Duration::from_secs(5);
/// Clients that one report names at the most.
const CLIENTS_MAX: usize = 500;
/// Columns of the shipped reports whose values are words of the server.
const WORDS: [&str; 4] = ["certificate", "method", "state", "type"];

/// A report, as the configuration document has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Document", into = "Document")]
pub struct Report {
    pub dashboard: String,
    /// The name in addresses, once in its dashboard.
    pub id: String,
    pub label: String,
    /// One read-only SELECT over the documented views.
    pub query: String,
    pub parameters: Vec<Parameter>,
    /// Values that callers cannot change.
    pub fixed: Vec<Fixed>,
    /// The clients that it is exposed to, by their `client_id`; `*`: all.
    pub api_clients: Vec<String>,
    /// The choices of which `query` and `fixed` were made, where nobody wrote the SQL.
    pub built: Option<Built>,
}

/// A report in JSON: with SQL, or with the choices of which it is made.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    dashboard: String,
    id: String,
    label: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    query: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    built: Option<Built>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parameters: Option<Vec<Parameter>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fixed: Option<Vec<Fixed>>,
    #[serde(default)]
    api_clients: Vec<String>,
}

impl TryFrom<Document> for Report {
    type Error = String;

    fn try_from(said: Document) -> Result<Self, String> {
        let report = Self {
            dashboard: said.dashboard,
            id: said.id,
            label: said.label,
            query: String::new(),
            parameters: said.parameters.unwrap_or_default(),
            fixed: said.fixed.unwrap_or_default(),
            api_clients: said.api_clients,
            built: None,
        };
        match (said.query, said.built) {
            (Some(query), None) => Ok(Self { query, ..report }),
            (None, Some(built)) if report.parameters.is_empty() && report.fixed.is_empty() => {
                report
                    .built(built)
                    .map_err(|cause| format!("built: {cause}"))
            }
            (None, Some(_)) => {
                Err("a report with \"built\" has no parameters and no fixed values".to_owned())
            }
            _ => Err("a report has either \"query\" or \"built\"".to_owned()),
        }
    }
}

impl From<Report> for Document {
    fn from(report: Report) -> Self {
        let is_built = report.built.is_some();
        Self {
            dashboard: report.dashboard,
            id: report.id,
            label: report.label,
            query: (!is_built).then_some(report.query),
            built: report.built,
            parameters: (!is_built).then_some(report.parameters),
            fixed: (!is_built).then_some(report.fixed),
            api_clients: report.api_clients,
        }
    }
}

impl Report {
    /// The report with the SQL of these choices.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`], naming the choice.
    pub fn built(self, built: Built) -> Result<Self> {
        let (query, fixed) = built.compile()?;
        Ok(Self {
            query,
            fixed,
            parameters: Vec::new(),
            built: Some(built),
            ..self
        })
    }

    /// Its name on screen: in the language of the page while it is called as it came with Gatepost.
    pub fn name(&self) -> String {
        let own = shipped_as(self).filter(|shipped| shipped.label == self.label);
        own.map_or_else(|| self.label.clone(), |shipped| say(&shipped.label))
    }

    /// The name of a parameter in a form, in the language of the page where the report came with Gatepost.
    pub fn parameter_name(&self, parameter: &Parameter) -> String {
        let shown = parameter.shown();
        let is_own = |shipped: &Self| shipped.asked().any(|known| known.shown() == shown);
        if shipped_as(self).is_some_and(is_own) {
            say(shown)
        } else {
            shown.to_owned()
        }
    }

    /// A column of the result as people read it, in the language of the page where nobody but Gatepost named it.
    pub fn heading(&self, column: &str) -> String {
        self.head(column).0
    }

    /// The heading of a column, and whether its values are words of the server.
    pub fn head(&self, column: &str) -> (String, bool) {
        let built = self.built.as_ref().map(Built::headings).unwrap_or_default();
        let built = built.into_iter().find(|(key, ..)| key == column);
        if let Some((_, heading, is_of_words)) = built {
            return (heading, is_of_words);
        }
        let words = capital(&column.replace("check_ins", "check-ins").replace('_', " "));
        if shipped_as(self).is_some() {
            (say(words), WORDS.contains(&column))
        } else {
            (words, false)
        }
    }

    /// Returns whether it is exposed to a client.
    pub fn is_exposed_to(&self, client: &str) -> bool {
        let mut exposed = self.api_clients.iter();
        exposed.any(|known| known == "*" || known == client)
    }

    /// The parameters that a caller chooses.
    pub fn asked(&self) -> impl Iterator<Item = &Parameter> {
        asked(&self.parameters, &self.fixed)
    }

    /// Checks all of it: nothing is stored that could not be run.
    pub fn check(&self, database: &Path) -> Result<()> {
        let mut faults = Faults::default();
        faults.take(check_address("dashboard", &self.dashboard));
        faults.take(check_address("id", &self.id));
        faults.take(self.check_label());
        faults.take(self.check_names());
        faults.take(self.check_clients());
        faults.take(self.check_query(database));
        faults.done()
    }

    fn check_label(&self) -> Result<()> {
        if self.label.is_empty() || self.label.chars().count() > 200 {
            return Err(Error::field("label", "must have 1 to 200 characters"));
        }
        check_text("label", &self.label)
    }

    fn check_query(&self, database: &Path) -> Result<()> {
        if self.query.contains('\0') {
            // SQLite would read no further, and something else would run than what is shown.
            return Err(Error::field("query", "must not contain a NUL character"));
        }
        let sandbox = Sandbox::open(database)?;
        sandbox.limit(CHECK_MAX)?;
        let shape = sandbox.shape(&self.query)?;
        let used: BTreeSet<&str> = shape.parameters.iter().map(String::as_str).collect();
        let parameters = self.parameters.iter().map(|one| one.name.as_str());
        let fixed = self.fixed.iter().map(|one| one.name.as_str());
        let named: BTreeSet<&str> = parameters.chain(fixed).collect();
        let unknown = used.difference(&named).next();
        let unused = named.difference(&used).next();
        match (unknown, unused) {
            (Some(name), _) => Err(Error::field(
                "query",
                format!(":{name} is neither among the parameters nor fixed"),
            )),
            (None, Some(name)) => Err(Error::field(
                "parameters",
                format!("{name}: the query does not use :{name}"),
            )),
            (None, None) => Ok(()),
        }
    }

    fn check_names(&self) -> Result<()> {
        if self.parameters.len() + self.fixed.len() > PARAMETERS_MAX {
            return Err(Error::field(
                "parameters",
                format!("at most {PARAMETERS_MAX}, fixed ones included"),
            ));
        }
        let parameters = self.parameters.iter().map(|one| ("parameters", &one.name));
        let fixed = self.fixed.iter().map(|one| ("fixed", &one.name));
        let mut known = BTreeSet::new();
        for (what, name) in parameters.chain(fixed) {
            if !is_name(name) {
                return Err(Error::invalid(format!(
                    "\"{}\": a name has 1 to 64 letters, digits and _, and does not begin with a digit",
                    crate::types::text::shortened(name)
                ))
                .at(what));
            }
            if !known.insert((what, name)) {
                return Err(Error::field(what, format!("{name} is there twice")));
            }
        }
        for parameter in &self.parameters {
            check_text("parameters", parameter.shown())?;
        }
        let plain = |fixed: &&Fixed| !(fixed.value.is_object() || fixed.value.is_array());
        match self.fixed.iter().find(|fixed| !plain(fixed)) {
            Some(fixed) => Err(Error::invalid(format!(
                "{}: must be a text, a number, true, false or null",
                fixed.name
            ))
            .at("fixed")),
            None => Ok(()),
        }
    }

    fn check_clients(&self) -> Result<()> {
        if self.api_clients.len() > CLIENTS_MAX {
            return Err(Error::field(
                "api_clients",
                format!("at most {CLIENTS_MAX}; \"*\" is all of them"),
            ));
        }
        let fine = |client: &&String| !client.is_empty() && client.len() <= 255;
        if self.api_clients.iter().all(|client| fine(&client)) {
            Ok(())
        } else {
            Err(Error::field(
                "api_clients",
                "must be client ids, or \"*\" for all clients",
            ))
        }
    }
}

fn is_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    let begins = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    bytes.next().is_some_and(begins)
        && bytes.all(|byte| begins(byte) || byte.is_ascii_digit())
        && name.len() <= 64
}

/// Checks a part of an address.
fn check_address(name: &str, text: &str) -> Result<()> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if (1..=64).contains(&text.len()) && text.bytes().all(plain) {
        Ok(())
    } else {
        Err(Error::field(
            name,
            "must have 1 to 64 letters, digits, - and _",
        ))
    }
}

/// The views that reports may read.
pub fn views(database: &Path) -> Result<Vec<View>> {
    Sandbox::open(database)?.views()
}
