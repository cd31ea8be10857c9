//! The purchases that are asked for, as a file to take along.

use super::filter::Filter;
use crate::{
    admin::{RequestContext, export as file},
    domain::sales::find,
    ops::export::{What, Which},
    types::error::{Error, Result},
};
use poem::Response;

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
        let purchases = filter.purchases();
        let found = request
            .read(move |connection| find::ids(connection, &purchases))
            .await?;
        Which::Ids(found)
    };
    let app = request.console.app();
    Ok(file::sent(app, What::Transactions, which, zone, format))
}
