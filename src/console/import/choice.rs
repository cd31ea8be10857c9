//! How a list is to be imported, as the wizard's form says it.

use super::{Glance, glance::words};
use crate::{
    console::Fields,
    delegates, devices,
    error::{Error, Result},
    events,
    import::{Columns, Misfit, What, batches::Options, job::Request},
    records::Resource,
    types::DeviceId,
};

/// What was chosen.
#[derive(Debug, Clone, Default)]
pub struct Choice {
    /// The sheet of a spreadsheet; the first without it.
    pub sheet: Option<String>,
    /// What each column holds; empty for one that is left out.
    pub columns: Vec<String>,
    /// The code by which rows mean records that are there.
    pub key: Option<String>,
    /// The device that everybody is joined with.
    pub join: Option<i64>,
    /// The device that the list is for.
    pub device: Option<i64>,
    /// Bad rows are left out.
    pub skip_bad: bool,
}

impl Choice {
    /// Reads the form.
    ///
    /// # Errors
    /// [`crate::error::Kind::Invalid`] for a device that is no id.
    pub fn read(&self, form: &Fields) -> Result<Self> {
        let column = |(at, known): (usize, &String)| {
            form.sent(&format!("column-{at}"))
                .map_or_else(|| known.clone(), ToOwned::to_owned)
        };
        Ok(Self {
            sheet: self.sheet.clone(),
            columns: self.columns.iter().enumerate().map(column).collect(),
            key: form.filled("key").map(ToOwned::to_owned),
            join: form.number("join")?,
            device: form.number("device")?,
            skip_bad: form.ticked("skip_bad"),
        })
    }

    /// Checks that rows can be imported so.
    ///
    /// # Errors
    /// A sentence that says what to change on the page.
    pub fn check(&self, what: What, glance: &Glance) -> Result<()> {
        let headers: Vec<String> = glance
            .columns
            .iter()
            .map(|column| column.header.clone())
            .collect();
        let columns = Columns::matched(what, &headers, &glance.mappings(self))?;
        match columns.misfit() {
            Some(Misfit::Both {
                first,
                second,
                name,
            }) => {
                return Err(Error::invalid(format!(
                    "\"{first}\" and \"{second}\" are both \"{}\"; leave one of them out",
                    words(&name)
                )));
            }
            Some(Misfit::NoneKnown) => {
                return Err(Error::invalid(format!(
                    "no column is known yet: choose what at least one of them says about the {}",
                    what.name()
                )));
            }
            None => {}
        }
        let is_key = |name: String| Some(&name) == self.key.as_ref();
        let has_key = columns
            .iter()
            .filter_map(|column| column.target.name())
            .any(is_key);
        match &self.key {
            Some(key) if !glance.columns.is_empty() && !has_key => Err(Error::invalid(format!(
                "rows are to be matched by \"{0}\", and no column is that; choose which one is, or choose that every row is new",
                words(key)
            ))),
            _ => Ok(()),
        }
    }

    /// What is asked for.
    #[must_use]
    pub fn request(&self, what: What, name: &str, glance: &Glance) -> Request {
        let mappings = glance.mappings(self).into_iter();
        Request {
            what,
            options: Options {
                path: name.to_owned(),
                sheet: self.sheet.clone(),
                map: mappings.map(|one| (one.header, one.target)).collect(),
                key: self.key.clone(),
                join: self.join.filter(|_| what == What::Delegates),
                skip_bad: self.skip_bad,
            },
            device: self.device.map(DeviceId),
            // The page says when a list was imported before.
            again: true,
        }
    }
}

/// The codes by which rows may mean records: name, and plain words.
#[must_use]
pub fn keys(what: What, glance: &Glance) -> Vec<(&'static str, String)> {
    let resource: &Resource = match what {
        What::Delegates => &delegates::RESOURCE,
        What::Devices if glance.events => &events::LISTED,
        What::Devices => &devices::LISTED,
        What::Interactions => return Vec::new(),
    };
    resource
        .codes()
        .map(|(_, name)| (name, words(name)))
        .collect()
}
