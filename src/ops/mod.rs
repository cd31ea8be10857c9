//! Tasks of an operator with the whole file: import, export, backup, check, the demo.

pub mod background;
pub mod backup;
pub mod bulk;
pub mod check;
pub mod config;
pub mod demo;
pub mod export;
pub mod first_run;
pub mod head_office;
pub mod import;
pub mod mailing;
pub mod standby;
