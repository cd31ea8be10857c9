//! Faults: the process is killed, the power fails, the disk is full, fifty gates scan one ticket
//! at once, a connection breaks off, somebody points the server at the wrong file (contract §11).
//!
//! Every property here has a control beside it: a case in which the same check must find the
//! fault. A check that cannot fail proves nothing.
//!
//! `GATEPOST_KILL_ROUNDS=1000` makes the test of `kill -9` longer than its fifty rounds.

mod at_once;
mod backup;
mod check;
mod commands;
mod copies;
mod cut_connections;
mod damaged_log;
mod evidence;
mod full_disk;
mod handled_files;
mod integrity;
mod kill;
mod ledger;
mod links;
pub mod litestream;
mod load;
mod lying_server;
mod power;
pub mod process;
pub mod proxy;
mod rehearsal_end;
mod replaced_files;
mod start;
mod till;
mod trace;
pub mod wire;
mod writer;
