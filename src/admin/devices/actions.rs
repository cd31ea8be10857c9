//! Deleting a device and putting it back, and shutting out the apps that sign in as it.

use super::record::Record;
use crate::{
    admin::{RequestContext, answer},
    domain::devices::{self, deleted},
    identity::clients,
    types::{
        DeviceId,
        error::{Error, Kind, Result},
    },
};
use poem::Response;
use rusqlite::OptionalExtension;

fn page_of(id: DeviceId) -> String {
    format!("/console/devices/{id}")
}

fn found(request: &RequestContext) -> Result<Record> {
    let id = request.id("id")?;
    request
        .console
        .store
        .look_up(|connection| Record::find(connection, id))
}

pub async fn delete(request: RequestContext) -> Result<Response> {
    let record = found(&request)?;
    let (ctx, id) = (request.context(), record.id);
    let revoked = request
        .console
        .store
        .write(move |tx| devices::delete(tx, &ctx, id))
        .await?;
    let shut_out = if revoked > 0 {
        " Its app is shut out."
    } else {
        ""
    };
    request.flash(format!(
        "{} is deleted.{shut_out} It can be restored from here.",
        record.name
    ));
    Ok(answer::go(&page_of(id)))
}

pub async fn restore(request: RequestContext) -> Result<Response> {
    let record = found(&request)?;
    let (ctx, id) = (request.context(), record.id);
    request
        .console
        .store
        .write(move |tx| deleted::restore(tx, &ctx, id))
        .await?;
    request.flash(format!("{} is restored.", record.name));
    Ok(answer::go(&page_of(id)))
}

pub async fn erase(request: RequestContext) -> Result<Response> {
    let record = found(&request)?;
    let (ctx, id) = (request.context(), record.id);
    request
        .console
        .store
        .write(move |tx| deleted::erase(tx, &ctx, id))
        .await?;
    request.flash(format!("{} deleted permanently.", record.name));
    Ok(answer::go("/console/devices?show=deleted"))
}

/// Revokes a client of the device: its tokens end at once.
pub async fn revoke(request: RequestContext) -> Result<Response> {
    let record = found(&request)?;
    let (ctx, id, client) = (request.context(), record.id, request.id("client")?);
    let name = request
        .console
        .store
        .write(move |tx| {
            let (client_id, name): (String, String) = tx
                .prepare_cached(
                    "SELECT client_id, name FROM clients WHERE id = ?1 AND device_id = ?2",
                )?
                .query_row(rusqlite::params![client, id], |row| {
                    Ok((row.get(0)?, row.get(1)?))
                })
                .optional()?
                .ok_or_else(|| {
                    Error::new(Kind::NoSuchPath, "this device has no such credentials")
                })?;
            clients::revoke(tx, &ctx, &client_id)?;
            Ok(name)
        })
        .await?;
    request.flash(format!(
        "The credentials of {name} are revoked. It is shut out from now on."
    ));
    Ok(answer::go(&page_of(id)))
}
