//! Deleting a device and putting it back, and shutting out the apps that sign in as it.

use crate::{
    admin::RequestContext,
    domain::devices::{self, deleted, record::Record},
    identity::clients,
    types::{
        ClientId, DeviceId,
        error::{Error, Kind, Result},
    },
};
use poem::Response;

fn page_of(id: DeviceId) -> String {
    format!("/console/devices/{id}")
}

fn found(request: &RequestContext) -> Result<Record> {
    let id = request.id("id")?;
    request.look_up(|connection| Record::find(connection, id))
}

pub async fn delete(request: RequestContext) -> Result<Response> {
    let record = found(&request)?;
    let id = record.id;
    let revoked = request
        .write(move |tx, ctx| devices::delete(tx, ctx, id))
        .await?;
    let shut_out = if revoked > 0 {
        " Its app is shut out."
    } else {
        ""
    };
    request.done(
        format!(
            "{} is deleted.{shut_out} It can be restored from here.",
            record.name
        ),
        &page_of(id),
    )
}

pub async fn restore(request: RequestContext) -> Result<Response> {
    let record = found(&request)?;
    let id = record.id;
    request
        .write(move |tx, ctx| deleted::restore(tx, ctx, id))
        .await?;
    request.done(format!("{} is restored.", record.name), &page_of(id))
}

pub async fn erase(request: RequestContext) -> Result<Response> {
    let record = found(&request)?;
    let id = record.id;
    request
        .write(move |tx, ctx| deleted::erase(tx, ctx, id))
        .await?;
    request.done(
        format!("{} deleted permanently.", record.name),
        "/console/devices?show=deleted",
    )
}

/// Revokes a client of the device: its tokens end at once.
pub async fn revoke(request: RequestContext) -> Result<Response> {
    let record = found(&request)?;
    let (id, client) = (record.id, ClientId(request.id("client")?));
    let name = request
        .write(move |tx, ctx| {
            let mut own = clients::of_device(tx, id)?.into_iter();
            let client = own.find(|own| own.id == client).ok_or_else(|| {
                Error::new(Kind::NoSuchPath, "this device has no such credentials")
            })?;
            clients::revoke(tx, ctx, &client.client_id)?;
            Ok(client.name)
        })
        .await?;
    request.done(
        format!("The credentials of {name} are revoked. It is shut out from now on."),
        &page_of(id),
    )
}
