//! Writes a plan through the same use cases as the API's, so that presence, audit and refusals are
//! what they would be after a real event.

use super::{
    INTERACTIONS, MORNING_S, Moment, Plan, Random, people::Part, programme::EVENT, sales::Sale,
    story::Happening,
};
use crate::{
    core::{
        Context,
        records::{Resource, write},
    },
    db::{Store, Tx},
    domain::{
        apps::ping::{self, Ping},
        delegates, devices, events,
        interactions::{
            draft::{Draft, InteractionInput},
            record::{self, Outcome},
        },
        sales,
    },
    identity::{
        ConsoleRole,
        clients::{self, Credentials, NewClient},
        password::{self, Hashed},
        roles::Roles,
        users::{self, NewUser},
    },
    ops::import::slices::{self, Steps},
    types::{
        DeviceId, Timestamp,
        error::{Error, Result},
        secret,
    },
};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The user who operates the console.
const OPERATOR: &str = "operator@northgate.example";
/// The length of the operator's password: 64 random bits.
const PASSWORD_CHARS: usize = 16;
const GATE: &str = "Gate A";

/// The records that were made.
#[derive(Serialize)]
pub struct Made {
    /// The ids of the event, and of the devices of a type.
    pub event: i64,
    pub rooms: Vec<i64>,
    pub sessions: Vec<i64>,
    pub sponsors: Vec<i64>,
    pub delegates: usize,
    pub interactions: usize,
    /// Check-ins that were refused.
    pub refused: usize,
    /// Check-ins of offline gates that the rules would have refused.
    pub conflicts: usize,
    pub sales: usize,
    /// The user who operates the console.
    pub operator: Operator,
    /// The credentials of the gate's app.
    #[serde(skip)]
    pub gate: Option<Credentials>,
    /// The ticket code of a visitor.
    pub barcode: String,
}

#[derive(Serialize)]
pub struct Operator {
    pub email: &'static str,
    pub password: String,
}

/// Fills an empty file.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`] when the file is not empty, and what keeps the store from
/// writing: the file then holds a part.
pub fn fill(store: &Store, ctx: Context, seed: u64, moment: Moment) -> Result<Made> {
    let begins = ctx
        .settings
        .zone
        .plain(Timestamp(moment.first_day.0 + 1000 * MORNING_S));
    let year = begins.get(..4).and_then(|year| year.parse().ok());
    let plan = Plan::new(
        seed,
        moment.first_day,
        year.unwrap_or_default(),
        moment.now_s,
    );
    let barcode = barcode_of_visitor(&plan);
    let mut random = Random::new(seed.rotate_left(32));
    let mut password = secret::fresh()?;
    password.truncate(PASSWORD_CHARS);
    let gate_ids = [random.uuid(), random.uuid()];
    let work = Filling::new(plan, ctx, password::hash(&password)?, gate_ids);
    let done = slices::write(store, work, |_| ())?;
    store.write(arrive_at_once).wait()?;
    let (interactions, conflicts) = counts(store)?;
    Ok(Made {
        event: done.devices[EVENT],
        rooms: done.devices_of_type("room"),
        sessions: done.devices_of_type("session"),
        sponsors: done.devices_of_type("sponsor"),
        delegates: done.people.len(),
        interactions,
        refused: done.refused,
        conflicts,
        sales: done.plan.passes.len() + done.sold,
        operator: Operator {
            email: OPERATOR,
            password,
        },
        gate: done.gate,
        barcode,
    })
}

fn barcode_of_visitor(plan: &Plan) -> String {
    let mut people = plan.people.iter();
    let visitor = people.find(|person| person.part == Part::Visitor);
    visitor.map_or_else(String::new, |person| person.text("barcode").to_owned())
}

/// The numbers of interactions and of conflicts.
fn counts(store: &Store) -> Result<(usize, usize)> {
    store.look_up(|connection| {
        let count = |table: &str| {
            let sql = format!("SELECT count(*) FROM {table}");
            connection.query_row(&sql, [], |row| row.get(0))
        };
        Ok((count("interactions")?, count("conflicts")?))
    })
}

/// Has everything arrive when it happened, but for what gates admitted while they were offline: otherwise all of the
/// event would have come in late.
fn arrive_at_once(tx: &Tx<'_>) -> Result<()> {
    Ok(tx.execute_batch(
        "UPDATE interactions SET created_at = recorded_at WHERE admitted = 0 AND recorded_at < created_at;
         UPDATE refusals SET at = recorded_at WHERE admitted = 0 AND recorded_at < at",
    )?)
}

/// A plan, and how much of it is written.
struct Filling {
    plan: Plan,
    ctx: Context,
    /// The ids of devices and people, in the order of the plan.
    devices: Vec<i64>,
    people: Vec<i64>,
    happened: usize,
    refused: usize,
    /// Sales at the shop.
    sold: usize,
    seen: usize,
    password: Hashed,
    gate_ids: [String; 2],
    gate: Option<Credentials>,
}

impl Filling {
    fn new(plan: Plan, ctx: Context, password: Hashed, gate_ids: [String; 2]) -> Self {
        Self {
            plan,
            ctx,
            devices: Vec::new(),
            people: Vec::new(),
            happened: 0,
            refused: 0,
            sold: 0,
            seen: 0,
            password,
            gate_ids,
            gate: None,
        }
    }

    /// The ids of the devices of a type.
    fn devices_of_type(&self, device_type: &str) -> Vec<i64> {
        let devices = self.plan.programme.devices.iter().zip(&self.devices);
        let of_type = devices.filter(|(device, _)| device.body["deviceType"] == device_type);
        of_type.map(|(_, id)| *id).collect()
    }
}

impl Steps for Filling {
    fn step(&mut self, tx: &Tx<'_>) -> Result<bool> {
        if let Some(device) = self.plan.programme.devices.get(self.devices.len()) {
            let mut body = device.body.clone();
            let resource = match device.parent {
                None => {
                    check_empty(tx)?;
                    &events::LISTED
                }
                Some(parent) => {
                    body["parent"] = self.devices[parent].into();
                    &devices::RESOURCE
                }
            };
            self.devices.push(self.create(tx, resource, body)?);
        } else if let Some(person) = self.plan.people.get(self.people.len()) {
            let first = Some(self.people.len());
            let mut passes = self.plan.passes.iter();
            if let Some(sale) = passes.find(|sale| sale.people.first().copied() == first) {
                self.people.extend(self.sell_passes(tx, sale)?);
            } else {
                self.people
                    .push(self.create(tx, &delegates::RESOURCE, person.body.clone())?);
            }
        } else if let Some(happening) = self.plan.story.get(self.happened) {
            self.refused += usize::from(self.happen(tx, happening)?);
            self.happened += 1;
        } else if let Some(sale) = self.plan.shop.get(self.sold) {
            self.sell(tx, sale)?;
            self.sold += 1;
        } else if self.gate.is_none() {
            self.make_operator(tx)?;
            self.gate = Some(self.make_gate(tx)?);
            // What readers saw makes the number full.
            let there: usize =
                tx.query_row("SELECT count(*) FROM interactions", [], |row| row.get(0))?;
            self.plan.seen.truncate(INTERACTIONS.saturating_sub(there));
            self.plan.seen.sort_by_key(|happening| happening.at_s);
        } else if let Some(happening) = self.plan.seen.get(self.seen) {
            self.happen(tx, happening)?;
            self.seen += 1;
        } else {
            return Ok(false);
        }
        Ok(true)
    }
}

fn check_empty(tx: &Tx<'_>) -> Result<()> {
    let filled = tx
        .prepare(
            "SELECT 1 FROM delegates UNION ALL SELECT 1 FROM devices
             UNION ALL SELECT 1 FROM interactions",
        )?
        .exists([])?;
    if filled {
        return Err(Error::invalid(
            "the file has records already; a demo is made in an empty file only, such as --db demo.db",
        ));
    }
    Ok(())
}

fn object(body: Value) -> Map<String, Value> {
    match body {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

impl Filling {
    fn create(&self, tx: &Tx<'_>, resource: &'static Resource, body: Value) -> Result<i64> {
        write::create(tx, &self.ctx, resource, object(body))
    }

    /// Sells passes; the delegates that are created by this get their names afterwards.
    fn sell_passes(&self, tx: &Tx<'_>, sale: &Sale) -> Result<Vec<i64>> {
        let purchase = self.sell(tx, sale)?;
        let mut statement = tx.prepare_cached(
            "SELECT delegate_id FROM transaction_delegates WHERE transaction_id = ?1 ORDER BY delegate_id",
        )?;
        let buyers = statement.query_map([purchase], |row| row.get(0))?;
        let buyers = buyers.collect::<rusqlite::Result<Vec<i64>>>()?;
        if buyers.len() != sale.people.len() {
            return Err(Error::defect("a pass that was sold let nobody in"));
        }
        for (buyer, person) in buyers.iter().zip(&sale.people) {
            let body = object(self.plan.people[*person].body.clone());
            write::patch(tx, &self.ctx, &delegates::RESOURCE, *buyer, body)?;
        }
        Ok(buyers)
    }

    /// Takes what a till sends; the purchase.
    fn sell(&self, tx: &Tx<'_>, sale: &Sale) -> Result<i64> {
        let ctx = Context {
            source: "tx",
            ..self.ctx.clone()
        };
        let mut purchase = 0;
        for body in sale.bodies(&self.plan.programme, &self.devices) {
            let read = sales::Sale::read(&body);
            let received = sales::receive(tx, &ctx, &body, &read)?;
            while sales::tickets(tx, &ctx, received, &read)? {}
            purchase = received.transaction;
        }
        Ok(purchase)
    }

    /// Records one thing that happened; whether the rules refused it.
    fn happen(&self, tx: &Tx<'_>, happening: &Happening) -> Result<bool> {
        let body = json!({
            "firstDelegate": self.people[happening.first],
            "secondDelegate": happening.second.map(|at| self.people[at]),
            "firstDevice": happening.device.map(|at| self.devices[at]),
            "recordedAt": self.plan.programme.unix_s(happening.at_s),
            "data": happening.data,
            "admitted": happening.admitted,
        });
        let input: InteractionInput = serde_json::from_value(body).map_err(Error::defect)?;
        let zone = &self.ctx.settings.zone;
        let draft = Draft::new(happening.kind, input, &Arc::default(), zone)?;
        let recorded = record::record(tx, &self.ctx, &draft)?;
        Ok(matches!(recorded.outcome, Outcome::Refused(_)))
    }

    fn make_operator(&self, tx: &Tx<'_>) -> Result<()> {
        let user = NewUser {
            password: Some(self.password.clone()),
            console: Some(ConsoleRole::Operator),
            ..NewUser::of(OPERATOR)
        };
        users::create(tx, &self.ctx, &user).map(drop)
    }

    /// Makes a gate below the event, its client, and the last message of its app.
    fn make_gate(&self, tx: &Tx<'_>) -> Result<Credentials> {
        let [code, public_id] = &self.gate_ids;
        let body = json!({
            "name": GATE,
            "deviceType": "regoapp",
            "parent": self.devices[EVENT],
            "code": code,
            "publicId": public_id,
        });
        let device = DeviceId(self.create(tx, &devices::RESOURCE, body)?);
        let client = NewClient {
            roles: Roles::gate(),
            device: Some(device),
            ..NewClient::named(GATE)
        };
        let credentials = clients::create(tx, &self.ctx, &client, &delegates::property_names())?;
        let ping = json!({
            "localTime": tx.now().0 / 1000,
            "configVersion": 0,
            "battery": 81,
            "status": "foreground",
            "pingInterval": 60,
            "failedUploads": 0,
        });
        ping::record(tx, device, &Ping::read(object(ping))?)?;
        Ok(credentials)
    }
}
