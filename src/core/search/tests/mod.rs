mod cases;
mod laws;
mod naive;
mod steps;

use super::Search;
use crate::{
    db::{connection, migrate},
    domain::delegates,
    types::Zone,
};
use rusqlite::Connection;

/// An empty database with everything a search uses.
fn database() -> Connection {
    let connection = Connection::open_in_memory().unwrap();
    connection::prepare(&connection).unwrap();
    migrate::create(&connection).unwrap();
    connection
}

fn search(text: &str) -> crate::types::error::Result<Search> {
    Search::parse(&delegates::SEARCHED, text, &Zone::default(), None)
}
