//! Lists from outside into the file (contract §8, §10): a file is read as rows, its columns are
//! matched with properties, every row is checked, and only then is any of them written, in slices
//! under one batch that can be completed or taken back. It knows no command line: the console
//! imports by the same functions.
//!
//! - `source`: a file as rows, as the crate `sheets` reads it
//! - `target`: the content of a column; `headers`, `by_header`: headers that mean one; `mapping`: directions for columns;
//!   `columns`: the columns of a table; `shops`: lists of shops, known by their headers as a whole
//! - `survey`: facts that only a column as a whole can tell; `settle`: columns as those decide; `findings`: what was
//!   recognised and is left out, in sentences, and questions to the operator; `choice`: their answers
//! - `clean`: a cell without what spreadsheets put around it; `values`, `dates`, `names`, `status`: its text as a
//!   property's value; `body`: the cells of a row together;
//!   `left_out`: rows that are no records
//! - `plan`: a row as a record or interaction; `check`, `bad`: rows that cannot be imported, with reasons;
//!   `warnings`: doubts that keep no row out
//! - `references`: what rows refer to; `people`: those whom they mean by an e-mail address; `device_names`: devices by
//!   their names
//! - `write`: the good rows into the file, and in a second pass references to rows further down
//! - `batches`, `kept`: what is stored about an import, and about its rows; `undo`: undoes it
//! - `job`: one import from end to end; `join`: delegates joined with a device
//! - `slices`: long writes between which gates get their turn

pub mod bad;
pub mod batches;
mod body;
mod by_header;
pub mod check;
pub mod choice;
mod clean;
pub mod columns;
pub mod dates;
mod device_names;
pub mod findings;
mod headers;
pub mod job;
pub mod join;
pub(in crate::ops) mod kept;
mod left_out;
pub mod mapping;
mod names;
mod people;
pub mod plan;
mod references;
mod settle;
mod shops;
pub mod slices;
pub mod source;
pub mod status;
mod survey;
pub mod target;
pub mod undo;
pub mod uploads;
mod values;
pub mod warnings;
pub mod write;

pub use bad::{BadRow, BadRows};
pub use batches::Batch;
pub use check::{Checked, check};
pub use columns::{Columns, Misfit};
pub use findings::Findings;
pub use job::Job;
pub use mapping::{Constant, Mapping};
pub use plan::Plan;
pub use source::Source;
pub use survey::Survey;
pub use target::{JSON_MARK, Target};
pub use undo::{Left, undo};
pub use write::Import;

use crate::{
    core::records::{Field, Resource},
    domain::{delegates, devices},
};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};
use target::OF_INTERACTION;

/// The kind of the rows of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum What {
    #[default]
    Delegates,
    /// Devices, events among them.
    Devices,
    /// Interactions: what happened.
    Interactions,
}

impl What {
    pub const ALL: [Self; 3] = [Self::Delegates, Self::Devices, Self::Interactions];

    /// The name of several.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Delegates => "delegates",
            Self::Devices => "devices",
            Self::Interactions => "interactions",
        }
    }

    /// The name of the records in the console.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Delegates => "attendees",
            Self::Devices => "devices",
            Self::Interactions => "interactions",
        }
    }

    /// The declaration of the records; `None` for interactions.
    fn resource(self) -> Option<&'static Resource> {
        match self {
            Self::Delegates => Some(&delegates::RESOURCE),
            Self::Devices => Some(&devices::LISTED),
            Self::Interactions => None,
        }
    }

    fn fields(self) -> &'static [Field] {
        self.resource()
            .map_or(OF_INTERACTION, |resource| resource.fields)
    }

    /// Returns what is wrong with a row of ours that says what it is: purchases are never imported, and
    /// nothing is taken for what it is not.
    fn misnamed(self, says: &str) -> Option<String> {
        let own: &[&str] = match self {
            Self::Delegates => &["delegate"],
            Self::Devices => &["device", "event"],
            Self::Interactions => &["interaction"],
        };
        let another = ["delegate", "device", "event", "interaction", "transaction"].contains(&says)
            && !own.contains(&says);
        another.then(|| format!("is a list of {says}s, and not of {}", self.name()))
    }

    /// A property that a list of them has.
    fn example(self) -> &'static str {
        match self {
            Self::Delegates => "barcode",
            Self::Devices => "name",
            Self::Interactions => "interactionType",
        }
    }
}

/// Stops a long import or undo between two rows. It can be completed or undone later.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests;
