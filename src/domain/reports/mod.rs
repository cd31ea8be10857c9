//! Reports (spec: Report endpoints; contract §8): lists that an administrator defines in SQL over
//! documented views, grouped into dashboards, and exposes to API clients one by one. They are run in
//! the sandbox, and sent while they are made.
//!
//! - `definition`: what a report is, and when it is one
//! - `built`: the SQL of a report that somebody put together without
//! - `parameters`: what its statement is given
//! - `rows`: where reports are kept, and who may see which
//! - `run`: one report, as JSON or CSV; `spool`: between the run and a reader who may be slow
//! - `workbook`: one report as a spreadsheet
//! - `preview`: its first rows, for the console

pub mod api;
pub mod built;
pub mod chart;
mod definition;
mod parameters;
mod preview;
mod rows;
mod run;
mod spool;
mod workbook;
mod write;

/// A query to begin with.
pub const EXAMPLE: &str = "SELECT delegate_type, count(*) AS people
FROM delegates
GROUP BY delegate_type
ORDER BY people DESC";

pub use definition::{Report, views};
pub use parameters::{Fixed, Parameter, ParameterKind, Values};
pub use preview::{Cell, Preview, preview};
pub use rows::label_of;
pub use rows::{
    Stored, all, change, create, dashboards, exposed, find, free_id, of_client, put, remove,
    shipped,
};
pub use run::{Output, run};
pub use workbook::workbook;
pub use write::Format;
