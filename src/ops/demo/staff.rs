//! Who works at the event: an operator in the console, and a gate with its app.

use crate::{
    core::{Context, records::write},
    db::Tx,
    domain::{
        apps::ping::{self, Ping},
        delegates, devices,
    },
    identity::{
        ConsoleRole,
        clients::{self, Credentials, NewClient},
        password::Hashed,
        roles::Roles,
        users::{self, NewUser},
    },
    types::{DeviceId, error::Result},
};
use serde_json::{Map, Value, json};

/// Who operates the console.
pub const OPERATOR: &str = "operator@northgate.example";
/// What the gate is called.
const GATE: &str = "Gate A";

/// Makes the user.
pub fn make_operator(tx: &Tx<'_>, ctx: &Context, password: &Hashed) -> Result<()> {
    let user = NewUser {
        password: Some(password.clone()),
        console: Some(ConsoleRole::Operator),
        ..NewUser::of(OPERATOR)
    };
    users::create(tx, ctx, &user).map(drop)
}

/// Makes the gate below the event, its client, and what its app told last.
pub fn make_gate(tx: &Tx<'_>, ctx: &Context, event: i64, ids: [String; 2]) -> Result<Credentials> {
    let [code, public_id] = ids;
    let body = object(json!({
        "name": GATE,
        "deviceType": "regoapp",
        "parent": event,
        "code": code,
        "publicId": public_id,
    }));
    let device = DeviceId(write::create(tx, ctx, &devices::RESOURCE, body)?);
    let client = NewClient {
        roles: Roles::gate(),
        device: Some(device),
        ..NewClient::named(GATE)
    };
    let credentials = clients::create(tx, ctx, &client, &delegates::property_names())?;
    let told = object(json!({
        "localTime": tx.now().0 / 1000,
        "configVersion": 0,
        "battery": 81,
        "status": "foreground",
        "pingInterval": 60,
        "failedUploads": 0,
    }));
    ping::record(tx, device, &Ping::read(told)?)?;
    Ok(credentials)
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}
