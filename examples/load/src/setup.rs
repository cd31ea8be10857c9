//! What a run has to know beforehand: a token, how many delegates there are, the ids of the session
//! devices, and the gates with a token and a place each. All of it comes from the server, over the API.

use crate::{
    Result,
    client::{Connection, Target},
    prepare::gate_client,
};
use serde_json::{Value, json};

/// The client that `load prepare` puts into a file.
pub const CLIENT_ID: &str = "load";
/// Its secret. Such a file holds invented people and is good for measuring only.
pub const CLIENT_SECRET: &str = "10ad10ad10ad10ad10ad10ad10ad10ad10ad10ad10ad10ad10ad10ad10ad10ad";
/// How the codes of the session devices begin that `load prepare` makes.
pub const DEVICE_CODE: &str = "load-session-";

/// Where the server is and who asks.
#[derive(clap::Args, Clone)]
pub struct Access {
    /// The server's address
    #[arg(long, default_value = "http://127.0.0.1:8080")]
    pub url: String,
    /// A bearer token; without one, the client's credentials are used
    #[arg(long)]
    pub token: Option<String>,
    #[arg(long, default_value = CLIENT_ID)]
    pub client_id: String,
    #[arg(long, default_value = CLIENT_SECRET)]
    pub client_secret: String,
    /// Use the first so many delegates [default: all of them]
    #[arg(long)]
    pub delegates: Option<u64>,
    /// Use the first so many sessions [default: all of them]
    #[arg(long)]
    pub devices: Option<usize>,
}

impl Access {
    /// The prepared file's client at this address.
    pub fn at(url: String) -> Self {
        Self {
            url,
            token: None,
            client_id: CLIENT_ID.to_owned(),
            client_secret: CLIENT_SECRET.to_owned(),
            delegates: None,
            devices: None,
        }
    }
}

/// A server that is ready to be measured.
#[derive(Clone)]
pub struct Venue {
    pub target: Target,
    pub delegates: u64,
    /// The session devices' ids.
    pub devices: Vec<i64>,
    gates: Vec<Gate>,
}

/// A client with the role of gates, at the place that its settings name.
#[derive(Clone)]
pub struct Gate {
    pub target: Target,
    pub places: Vec<i64>,
}

impl Venue {
    pub async fn enter(access: &Access) -> Result<Self> {
        let target = Target::parse(&access.url)?;
        let mut connection = target.connect().await?;
        let token = match &access.token {
            Some(token) => token.clone(),
            None => fetch_token(&mut connection, &target, access).await?,
        };
        let target = target.with_token(&token);
        let delegates = match access.delegates {
            Some(delegates) => delegates,
            None => count_delegates(&mut connection, &target).await?,
        };
        let mut devices = session_devices(&mut connection, &target).await?;
        devices.truncate(access.devices.unwrap_or(usize::MAX));
        if delegates == 0 || devices.is_empty() {
            return Err(format!(
                "{}: no delegates or no devices with codes {DEVICE_CODE}…; serve a file made by `load prepare`",
                access.url
            )
            .into());
        }
        // Whoever brings a token measures with that.
        let gates = match access.token {
            Some(_) => Vec::new(),
            None => gates(&mut connection, &target, access).await?,
        };
        Ok(Self {
            target,
            delegates,
            devices,
            gates,
        })
    }

    /// The gate of a lane; in a file without gates, one that may do everything everywhere.
    pub fn gate(&self, lane: usize) -> Gate {
        let gate = self.gates.get(lane % self.gates.len().max(1));
        gate.cloned().unwrap_or_else(|| Gate {
            target: self.target.clone(),
            places: self.devices.clone(),
        })
    }

    pub fn gates(&self) -> usize {
        self.gates.len()
    }
}

/// The gates of the file.
async fn gates(connection: &mut Connection, target: &Target, access: &Access) -> Result<Vec<Gate>> {
    let path = "/api/v5/device/list?limit=50000&fields=code&search=%7B%22%3D%3D%22:%5B%22deviceType%22,%22regoapp%22%5D%7D";
    let found = get(connection, target, path).await?;
    let codes = found["data"].as_array().into_iter().flatten();
    let count = codes
        .filter_map(|device| device["code"].as_str())
        .filter(|code| code.starts_with("load-gate-"))
        .count();
    let mut gates = Vec::with_capacity(count);
    for number in 0..u32::try_from(count)? {
        let target = enter_as(&access.url, &gate_client(number), CLIENT_SECRET).await?;
        let settings = get(connection, &target, "/api/v5/gate").await?;
        let place = settings["data"]["place"]["id"].as_i64();
        let place = place.ok_or_else(|| format!("gate {number} has no place"))?;
        gates.push(Gate {
            target,
            places: vec![place],
        });
    }
    Ok(gates)
}

/// The server as a client with these credentials reaches it.
pub async fn enter_as(url: &str, client_id: &str, client_secret: &str) -> Result<Target> {
    let access = Access {
        client_id: client_id.to_owned(),
        client_secret: client_secret.to_owned(),
        ..Access::at(url.to_owned())
    };
    let target = Target::parse(url)?;
    let mut connection = target.connect().await?;
    let token = fetch_token(&mut connection, &target, &access).await?;
    Ok(target.with_token(&token))
}

async fn fetch_token(
    connection: &mut Connection,
    target: &Target,
    access: &Access,
) -> Result<String> {
    let body = json!({
        "grant_type": "client_credentials",
        "client_id": access.client_id,
        "client_secret": access.client_secret,
    });
    let mut request = Vec::new();
    target.post(&mut request, "/api/oauth/v2/token", &body.to_string());
    let answer = ask(connection, &request).await?;
    match answer["access_token"].as_str() {
        Some(token) => Ok(token.to_owned()),
        None => Err(format!("no token in {answer}").into()),
    }
}

async fn count_delegates(connection: &mut Connection, target: &Target) -> Result<u64> {
    let answer = get(
        connection,
        target,
        "/api/v5/delegate/list?limit=1&fields=id",
    )
    .await?;
    answer["meta"]["pagination"]["totalItems"]
        .as_u64()
        .ok_or_else(|| format!("no totalItems in {answer}").into())
}

async fn session_devices(connection: &mut Connection, target: &Target) -> Result<Vec<i64>> {
    let answer = get(
        connection,
        target,
        "/api/v5/device/list?limit=50000&fields=id,code",
    )
    .await?;
    let devices = answer["data"].as_array().into_iter().flatten();
    Ok(devices
        .filter(|device| {
            let code = device["code"].as_str();
            code.is_some_and(|code| code.starts_with(DEVICE_CODE))
        })
        .filter_map(|device| device["id"].as_i64())
        .collect())
}

pub async fn get(connection: &mut Connection, target: &Target, path: &str) -> Result<Value> {
    let mut request = Vec::new();
    target.get(&mut request, format_args!("{path}"));
    ask(connection, &request).await
}

pub async fn ask(connection: &mut Connection, request: &[u8]) -> Result<Value> {
    let answer = connection.exchange(request).await?;
    if answer.status != 200 {
        let body = String::from_utf8_lossy(answer.body);
        return Err(format!("the server answered {}: {body}", answer.status).into());
    }
    Ok(serde_json::from_slice(answer.body)?)
}
