//! Writes a plan through the same use cases as the API's, so that presence, audit and refusals are
//! what they would be after a real event.

use super::{
    INTERACTIONS, Plan,
    people::Person,
    random::Random,
    sales::Sale,
    staff,
    story::{Happening, Place},
};
use crate::{
    core::{
        Context,
        records::{Resource, write},
    },
    db::{Store, Tx},
    domain::{
        delegates, devices, events,
        interactions::{
            draft::{Draft, InteractionInput},
            record::{self, Outcome},
        },
        sales,
    },
    identity::{
        clients::Credentials,
        password::{self, Hashed},
    },
    ops::import::slices::{self, Steps},
    types::{
        error::{Error, Result},
        secret,
    },
};
use jiff::civil::Date;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// So long is the operator's password: 64 random bits.
const PASSWORD_CHARS: usize = 16;

/// What was made.
pub struct Made {
    /// The event's id.
    pub event: i64,
    /// The ids of the rooms.
    pub rooms: Vec<i64>,
    /// The ids of the sessions.
    pub sessions: Vec<i64>,
    /// The ids of the sponsors.
    pub sponsors: Vec<i64>,
    /// How many delegates there are.
    pub delegates: usize,
    /// How many interactions there are.
    pub interactions: usize,
    /// How many check-ins were refused.
    pub refused: usize,
    /// How many check-ins of offline gates the rules would have refused.
    pub conflicts: usize,
    /// How many purchases there are.
    pub sales: usize,
    /// The user who operates the console, and the password.
    pub operator: (&'static str, String),
    /// What the gate's app signs in with.
    pub gate: Option<Credentials>,
    /// The ticket code of a visitor.
    pub barcode: String,
}

/// Fills an empty file.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`] when the file is not empty, and what keeps the store from
/// writing: the file then holds a part.
pub fn fill(store: &Store, ctx: Context, seed: u64, first_day: Date) -> Result<Made> {
    let midnight = ctx
        .settings
        .zone
        .read("the first day", &json!(format!("{first_day} 00:00:00")))?;
    let plan = Plan::new(seed, midnight, first_day.year());
    let mut random = Random::new(seed.rotate_left(32));
    let gate_ids = [random.uuid(), random.uuid()];
    let mut password = secret::fresh()?;
    password.truncate(PASSWORD_CHARS);
    let barcode = plan
        .people
        .iter()
        .find(|person| person.part == super::people::Part::Visitor);
    let barcode = barcode.map(|person| person.text("barcode").to_owned());
    let work = Filling {
        plan,
        ctx,
        event: None,
        rooms: Vec::new(),
        sessions: Vec::new(),
        sponsors: Vec::new(),
        products: Vec::new(),
        people: Vec::new(),
        happened: 0,
        refused: 0,
        sold: 0,
        seen: None,
        password: password::hash(&password)?,
        gate_ids,
        gate: None,
    };
    let done = slices::write(store, work, |_| ())?;
    let (interactions, conflicts) = store.look_up(|connection| {
        let count = |table: &str| {
            let sql = format!("SELECT count(*) FROM {table}");
            connection.query_row(&sql, [], |row| row.get(0))
        };
        Ok((count("interactions")?, count("conflicts")?))
    })?;
    Ok(Made {
        event: done.event.unwrap_or_default(),
        rooms: done.rooms,
        sessions: done.sessions,
        sponsors: done.sponsors,
        delegates: done.people.len(),
        interactions,
        refused: done.refused,
        conflicts,
        operator: (staff::OPERATOR, password),
        gate: done.gate,
        sales: done.plan.sales.passes.len() + done.sold,
        barcode: barcode.unwrap_or_default(),
    })
}

/// A plan, and the ids of what is written of it.
struct Filling {
    plan: Plan,
    ctx: Context,
    event: Option<i64>,
    rooms: Vec<i64>,
    sessions: Vec<i64>,
    sponsors: Vec<i64>,
    products: Vec<i64>,
    people: Vec<i64>,
    /// How much of the story is told.
    happened: usize,
    refused: usize,
    /// How much was sold at the shop.
    sold: usize,
    /// How much of what readers saw is told.
    seen: Option<usize>,
    password: Hashed,
    gate_ids: [String; 2],
    gate: Option<Credentials>,
}

impl Steps for Filling {
    fn step(&mut self, tx: &Tx<'_>) -> Result<bool> {
        let Some(event) = self.event else {
            check_empty(tx)?;
            self.event = Some(self.make_event(tx)?);
            return Ok(true);
        };
        let programme = &self.plan.programme;
        if let Some(room) = programme.rooms.get(self.rooms.len()) {
            self.rooms.push(self.device(tx, room, event)?);
        } else if let Some(session) = programme.sessions.get(self.sessions.len()) {
            let room = self.rooms[session.room];
            self.sessions.push(self.device(tx, &session.body, room)?);
        } else if let Some(sponsor) = programme.sponsors.get(self.sponsors.len()) {
            let hall = self.rooms[super::programme::EXPO_HALL];
            self.sponsors.push(self.device(tx, sponsor, hall)?);
        } else if let Some(product) = self.plan.sales.products.get(self.products.len()) {
            self.products.push(self.device(tx, product, event)?);
        } else if let Some(sale) = self.passes_from(self.people.len()) {
            let buyers = self.sell_passes(tx, event, sale)?;
            self.people.extend(buyers);
        } else if let Some(person) = self.plan.people.get(self.people.len()) {
            self.people.push(self.make_delegate(tx, person)?);
        } else if let Some(happening) = self.plan.story.get(self.happened) {
            let refused = self.happen(tx, event, happening)?;
            self.happened += 1;
            self.refused += usize::from(refused);
        } else if let Some(sale) = self.plan.sales.shop.get(self.sold) {
            self.sell(tx, event, sale)?;
            self.sold += 1;
        } else if self.gate.is_none() {
            staff::make_operator(tx, &self.ctx, &self.password)?;
            let ids = self.gate_ids.clone();
            self.gate = Some(staff::make_gate(tx, &self.ctx, event, ids)?);
        } else {
            return self.see(tx, event);
        }
        Ok(true)
    }
}

fn check_empty(tx: &Tx<'_>) -> Result<()> {
    let filled: bool = tx.query_row(
        "SELECT EXISTS (SELECT 1 FROM delegates) OR EXISTS (SELECT 1 FROM devices)
             OR EXISTS (SELECT 1 FROM interactions)",
        [],
        |row| row.get(0),
    )?;
    if filled {
        return Err(Error::invalid(
            "the file has records already; a demo is made in an empty file only, such as --db demo.db",
        ));
    }
    Ok(())
}

impl Filling {
    fn make_event(&self, tx: &Tx<'_>) -> Result<i64> {
        let (event, device) = &self.plan.programme.event;
        let id = write::create(tx, &self.ctx, &events::RESOURCE, event.clone())?;
        write::patch(tx, &self.ctx, &devices::RESOURCE, id, device.clone())?;
        Ok(id)
    }

    fn make_delegate(&self, tx: &Tx<'_>, person: &Person) -> Result<i64> {
        self.create(tx, &delegates::RESOURCE, person.body.clone())
    }

    /// The sale of passes whose first is of this person.
    fn passes_from(&self, person: usize) -> Option<&Sale> {
        let passes = &self.plan.sales.passes;
        let at = passes
            .binary_search_by_key(&Some(person), |sale| sale.people.first().copied())
            .ok()?;
        passes.get(at)
    }

    /// Sells passes; who bought them says who they are afterwards.
    fn sell_passes(&self, tx: &Tx<'_>, event: i64, sale: &Sale) -> Result<Vec<i64>> {
        let purchase = self.sell(tx, event, sale)?;
        let mut statement = tx.prepare_cached(
            "SELECT delegate_id FROM transaction_delegates WHERE transaction_id = ?1 ORDER BY delegate_id",
        )?;
        let buyers = statement.query_map([purchase], |row| row.get(0))?;
        let buyers = buyers.collect::<rusqlite::Result<Vec<i64>>>()?;
        if buyers.len() != sale.people.len() {
            return Err(Error::defect("a pass that was sold let nobody in"));
        }
        for (buyer, person) in buyers.iter().zip(&sale.people) {
            let body = self.plan.people[*person].body.clone();
            write::patch(tx, &self.ctx, &delegates::RESOURCE, *buyer, body)?;
        }
        Ok(buyers)
    }

    /// Takes what a till sends; the purchase.
    fn sell(&self, tx: &Tx<'_>, event: i64, sale: &Sale) -> Result<i64> {
        let ctx = Context {
            source: "tx",
            ..self.ctx.clone()
        };
        let unix_s = self.plan.programme.unix_s(sale.at_s);
        let mut purchase = 0;
        for body in sale.bodies(event, &self.products, unix_s) {
            let read = sales::Sale::read(&body);
            let received = sales::receive(tx, &ctx, &body, &read)?;
            while sales::tickets(tx, &ctx, received, &read)? {}
            purchase = received.transaction;
        }
        Ok(purchase)
    }

    fn device(&self, tx: &Tx<'_>, body: &Map<String, Value>, parent: i64) -> Result<i64> {
        let mut body = body.clone();
        body.insert("parent".into(), parent.into());
        self.create(tx, &devices::RESOURCE, body)
    }

    fn create(
        &self,
        tx: &Tx<'_>,
        resource: &'static Resource,
        body: Map<String, Value>,
    ) -> Result<i64> {
        write::create(tx, &self.ctx, resource, body)
    }

    /// Records the next thing that readers saw, until there are as many interactions as there are to be.
    fn see(&mut self, tx: &Tx<'_>, event: i64) -> Result<bool> {
        let at = if let Some(at) = self.seen {
            at
        } else {
            let there: usize =
                tx.query_row("SELECT count(*) FROM interactions", [], |row| row.get(0))?;
            self.plan.seen.truncate(INTERACTIONS.saturating_sub(there));
            self.plan.seen.sort_by_key(|happening| happening.at_s);
            0
        };
        let Some(happening) = self.plan.seen.get(at) else {
            return Ok(false);
        };
        self.happen(tx, event, happening)?;
        self.seen = Some(at + 1);
        Ok(true)
    }

    /// Records one thing that happened; whether the rules refused it.
    fn happen(&self, tx: &Tx<'_>, event: i64, happening: &Happening) -> Result<bool> {
        let device = happening.place.map(|place| match place {
            Place::Event => event,
            Place::Room(at) => self.rooms[at],
            Place::Session(at) => self.sessions[at],
            Place::Sponsor(at) => self.sponsors[at],
        });
        let body = json!({
            "firstDelegate": self.people[happening.first],
            "secondDelegate": happening.second.map(|at| self.people[at]),
            "firstDevice": device,
            "recordedAt": self.plan.programme.unix_s(happening.at_s),
            "data": happening.data,
            "admitted": happening.admitted,
        });
        let input: InteractionInput = serde_json::from_value(body).map_err(Error::defect)?;
        let draft = Draft::new(
            happening.kind,
            input,
            &Arc::default(),
            &self.ctx.settings.zone,
        )?;
        Ok(matches!(
            record::record(tx, &self.ctx, &draft)?.outcome,
            Outcome::Refused(_)
        ))
    }
}
