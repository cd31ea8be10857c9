//! How a list is to be imported, as the wizard's form says it.

use super::{Glance, glance::words};
use crate::{
    admin::Fields,
    core::records::Resource,
    domain::{delegates, devices, events},
    ops::import::{
        Columns, Misfit, What, batches::Options, job::Request, source::Reading, warnings,
    },
    types::{
        DeviceId,
        error::{Error, Result},
    },
};

/// What was chosen.
#[derive(Debug, Clone, Default)]
pub struct Choice {
    /// The sheet of a spreadsheet; the first without it.
    pub sheet: Option<String>,
    /// The encoding of a CSV file, where it was chosen.
    pub encoding: Option<String>,
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
    /// Attendees without a barcode are given one.
    pub make_codes: bool,
}

impl Choice {
    /// How the file is read.
    #[must_use]
    pub fn reading(&self) -> Reading<'_> {
        Reading {
            sheet: self.sheet.as_deref(),
            encoding: self.encoding.as_deref(),
        }
    }

    /// Reads the form.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`] for a device that is no id.
    pub fn read(&self, form: &Fields) -> Result<Self> {
        let column = |(at, known): (usize, &String)| {
            form.sent(&format!("column-{at}"))
                .map_or_else(|| known.clone(), ToOwned::to_owned)
        };
        Ok(Self {
            sheet: self.sheet.clone(),
            encoding: self.encoding.clone(),
            columns: self.columns.iter().enumerate().map(column).collect(),
            key: form.filled("key").map(ToOwned::to_owned),
            join: form.number("join")?,
            device: form.number("device")?,
            skip_bad: form.ticked("skip_bad"),
            make_codes: form.ticked("make_codes"),
        })
    }

    /// Checks that rows can be imported so.
    pub fn check(&self, what: What, glance: &Glance) -> Result<()> {
        let columns = self.matched(what, glance)?;
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

    fn matched(&self, what: What, glance: &Glance) -> Result<Columns> {
        let headers = glance.columns.iter().map(|column| column.header.clone());
        let headers: Vec<String> = headers.collect();
        Columns::matched(what, &headers, &glance.mappings(self))
    }

    /// What is doubtful about the columns, as sentences.
    #[must_use]
    pub fn warnings(&self, what: What, glance: &Glance) -> Vec<String> {
        let columns = self.matched(what, glance).ok();
        columns.map_or_else(Vec::new, |columns| {
            warnings::of_columns(&columns, what, self.make_codes)
        })
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
                make_codes: self.make_codes && what == What::Delegates,
                encoding: self.encoding.clone(),
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
