//! The purchases that are asked for, as a file to take along.

use super::filter::Filter;
use crate::{
    admin::{RequestContext, export as file},
    ops::export::{What, Which},
    types::error::{Error, Result},
};
use poem::Response;
use rusqlite::params_from_iter;

pub(super) async fn export(request: RequestContext) -> Result<Response> {
    let format = file::format(request.query.text("format"))?;
    let zone = request.console.settings().zone.clone();
    let (filter, failure) = Filter::read(&request.query, &zone);
    if let Some(failure) = failure {
        return Err(Error::invalid(failure));
    }
    let which = if filter.is_any() {
        Which::All
    } else {
        let condition = filter.condition();
        let found = request
            .console
            .store
            .read(move |connection| {
                let sql = format!(
                    "SELECT t.id FROM transactions t WHERE TRUE{} ORDER BY t.id",
                    condition.sql
                );
                let mut statement = connection.prepare_cached(&sql)?;
                let ids = statement
                    .query_map(params_from_iter(condition.parameters), |row| row.get(0))?;
                Ok(ids.collect::<rusqlite::Result<Vec<i64>>>()?)
            })
            .await?;
        Which::Ids(found)
    };
    let app = request.console.app();
    Ok(file::sent(app, What::Transactions, which, zone, format))
}
