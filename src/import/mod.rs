//! Lists from outside into the file: a table is read, its columns are matched with the properties
//! of delegates, every row is checked, and only then is any of them written (contract §8, §10).
//!
//! - `table`: a CSV file to rows of text
//! - `target`: what a column may hold; `columns`: which column of a table holds what
//! - `check`: which rows are bad, and why
//! - `write`: the good rows to delegates
//! - `slices`: long writes between which gates get their turn

pub mod check;
pub mod columns;
pub mod slices;
pub mod table;
pub mod target;
pub mod write;

pub use check::{BadRow, BadRows, check};
pub use columns::Columns;
pub use table::Table;
pub use target::Mapping;
pub use write::{Import, write};
