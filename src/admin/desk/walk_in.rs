//! A walk-in at the desk: one panel registers, codes and checks in. People who look alike are shown while the
//! name is typed.

use super::{
    Desk,
    find::{Candidate, candidates},
    page,
    verdict::{Finding, Verdict},
};
use crate::admin::prelude::*;
use crate::{
    admin::sales,
    core::{
        rules::folded,
        settings::{self, WalkInPrices},
    },
    domain::{
        delegates,
        gate::walk_in::{Newcomer, Outcome as Registered, check_name},
        sales::till::Refund,
    },
    types::{DeviceId, scanned::likely_code, secret},
};

/// People who look alike that are shown.
const DUPLICATES_SHOWN: usize = 3;
/// Types that are offered as tiles.
const TYPES_MAX: usize = 12;
/// Ways to pay.
const METHODS: [(&str, &str); 3] = [("cash", "Cash"), ("card", "Card"), ("invoice", "Invoice")];

/// The panel, with what was typed.
pub(super) struct Panel {
    pub first_name: String,
    pub last_name: String,
    pub company: String,
    pub email: String,
    pub code: String,
    pub types: Vec<TypeTile>,
    /// Ways to pay, where a type has a price.
    pub methods: Vec<Choice>,
    /// Names this panel: sent twice, it registers once.
    pub once: String,
    pub failure: Option<String>,
    /// The failure is that nothing says how it was paid.
    pub lacks_payment: bool,
}

/// A walk-in that a panel registered, for as long as a browser may send it once more.
#[derive(Debug, Clone)]
pub(in crate::admin) struct WalkedIn {
    once: String,
    delegate: i64,
    check_in: i64,
    at: Timestamp,
    paid: Option<String>,
}

impl WalkedIn {
    fn verdict(&self, connection: &Connection) -> Result<Verdict> {
        let verdict = Verdict::new(Finding::Done(self.check_in), "Registered and checked in");
        let mut verdict = verdict.of(connection, Some(self.delegate))?;
        verdict.at = self.at;
        let code = verdict
            .person
            .as_ref()
            .and_then(|person| person.barcode.as_ref());
        let told = [
            code.map(|code| format!("Ticket code {code}.")),
            self.paid.as_ref().map(|paid| format!("Paid {paid}.")),
        ];
        let told: Vec<_> = told.into_iter().flatten().collect();
        verdict.remark = Some(told.join(" ")).filter(|told| !told.is_empty());
        Ok(verdict)
    }
}

/// The verdict of the walk-in that an address names, while it is this session's last.
pub(super) async fn last(request: &RequestContext) -> Result<Option<Verdict>> {
    let known = request.console.walked_in.look(request.current_user()?);
    let named = |known: &WalkedIn| known.once == request.query.text("walked");
    match known.filter(named) {
        Some(known) => Some(
            request
                .read(move |connection| known.verdict(connection))
                .await,
        )
        .transpose(),
        None => Ok(None),
    }
}

/// A type to choose.
pub(super) struct TypeTile {
    pub choice: Choice,
    /// Its price, with the currency.
    pub price: Option<String>,
}

impl Panel {
    /// An empty panel, for what was typed into the desk's field: a name, or a code that nobody has.
    pub fn new(connection: &Connection, prices: &WalkInPrices, typed: &str) -> Result<Self> {
        let is_code = super::pass::is_code(typed);
        let name = if is_code { "" } else { typed };
        let (first, last) = name.rsplit_once(' ').unwrap_or((name, ""));
        let mut panel = Self::of(connection, prices, &Fields::default())?;
        (panel.first_name, panel.last_name) = (first.trim().to_owned(), last.trim().to_owned());
        if is_code {
            panel.code = likely_code(typed, settings::scan_pattern(connection)?.as_ref());
        }
        Ok(panel)
    }

    fn of(connection: &Connection, prices: &WalkInPrices, form: &Fields) -> Result<Self> {
        let text = |name| form.text(name).to_owned();
        let mut names: Vec<String> = prices
            .types
            .iter()
            .map(|price| price.delegate_type.clone())
            .collect();
        for name in delegates::common_types(connection, TYPES_MAX)? {
            if !names.iter().any(|known| folded(known) == folded(&name)) {
                names.push(name);
            }
        }
        names.truncate(TYPES_MAX.max(prices.types.len()));
        let chosen = form.text("type");
        let types = names.iter().enumerate();
        let types = types.map(|(at, name)| {
            let is_chosen = if chosen.is_empty() {
                at == 0
            } else {
                folded(name) == folded(chosen)
            };
            let price = prices.of(name);
            TypeTile {
                choice: Choice::named(name, name, is_chosen),
                price: price.map(|price| priced(price.cents, prices)),
            }
        });
        let method = form.text("method");
        let methods = METHODS.iter().filter(|_| !prices.types.is_empty());
        let methods = methods.map(|(name, label)| Choice::new(*name, *label, *name == method));
        Ok(Self {
            first_name: text("firstName"),
            last_name: text("lastName"),
            company: text("company"),
            email: text("email"),
            code: text("code"),
            types: types.collect(),
            methods: methods.collect(),
            once: match form.filled("once") {
                Some(once) => once.to_owned(),
                None => secret::fresh()?,
            },
            failure: None,
            lacks_payment: false,
        })
    }
}

/// `45.00 EUR`.
fn priced(cents: i64, prices: &WalkInPrices) -> String {
    format!("{} {}", sales::money(&cents), prices.currency)
}

/// Tells the amount to give back for a walk-in that was taken back.
pub(super) fn refunded(refund: &Refund, prices: &WalkInPrices) -> String {
    let amount = priced(refund.cents, prices);
    match &*refund.method {
        "invoice" => format!("{amount} on the invoice are refunded."),
        "card" => format!("Give back {amount} to the card."),
        _ => format!("Give back {amount}."),
    }
}

#[derive(Template)]
#[template(path = "desk/duplicates.html")]
struct Duplicates {
    people: Vec<Candidate>,
}

/// People who look like the one whose name is typed.
pub(super) async fn duplicates(request: RequestContext) -> Result<Response> {
    let query = &request.query;
    let words = format!("{} {}", query.text("firstName"), query.text("lastName"));
    let email = query.text("email").to_owned();
    let zone = request.console.settings().zone.clone();
    let read = move |connection: &Connection| {
        let mut people = candidates(connection, words.trim(), &zone)?;
        if email.contains('@') {
            people.extend(candidates(connection, &email, &zone)?);
        }
        let mut seen = std::collections::HashSet::new();
        people.retain(|person| seen.insert(person.id));
        people.truncate(DUPLICATES_SHOWN);
        Ok(people)
    };
    let people = request.read(read).await?;
    answer::page(&Duplicates { people })
}

/// The fields of the panel that are properties of an attendee, with their names there.
const PROPERTIES: [(&str, &str); 5] = [
    ("firstName", "firstName"),
    ("lastName", "lastName"),
    ("company", "company"),
    ("email", "email"),
    ("type", "delegateType"),
];

/// The person who was typed, and the payment in words.
fn newcomer(form: &Fields, place: DeviceId, prices: &WalkInPrices) -> (Newcomer, Option<String>) {
    let typed = PROPERTIES.iter().filter_map(|(field, property)| {
        let text = form.filled(field)?;
        Some(((*property).to_owned(), text.into()))
    });
    let price = prices.of(form.text("type"));
    let method = form.filled("method").unwrap_or_default().to_owned();
    let paid = price.map(|price| format!("{}, {method}", priced(price.cents, prices)));
    let person = Newcomer {
        place,
        properties: typed.collect(),
        code: form.filled("code").map(ToOwned::to_owned),
        recorded_at: None,
        nonce: None,
        admitted: false,
        payment: price.map(|price| (price.clone(), method)),
    };
    (person, paid)
}

/// Registers somebody and checks them in.
fn walk_in(
    tx: &Tx<'_>,
    ctx: &Context,
    person: &Newcomer,
    once: String,
    paid: Option<String>,
) -> Result<WalkedIn> {
    check_name(&person.properties)?;
    match person.register(tx, ctx)? {
        Registered::Created(delegate, check_in) => Ok(WalkedIn {
            once,
            delegate: delegate.0,
            check_in: check_in.map_or(0, |id| id.0),
            at: tx.now(),
            paid,
        }),
        Registered::Replayed(..) => Err(Error::defect("a desk sends no nonce")),
        Registered::Refused(refusal) => Err(refusal),
    }
}

pub(super) async fn register(request: RequestContext) -> Result<Response> {
    let desk = Desk::of(&request);
    let Some(place) = desk.place else {
        return Err(Error::field("place", "choose the desk's place first"));
    };
    let settings = request.console.settings();
    let (person, paid) = newcomer(&request.form, place, &settings.walk_in);
    let lacks_payment = paid.is_some() && request.form.filled("method").is_none();
    let once = match request.form.filled("once") {
        Some(once) => once.to_owned(),
        None => secret::fresh()?,
    };
    let (console, session) = (request.console.clone(), request.current_user()?.clone());
    let shown = format!("{}&walked={once}", desk.path());
    let registered = request
        .write(move |tx, ctx| {
            // Pressed twice, or loaded anew: whoever it registered is there.
            let known = console.walked_in.look(&session);
            if known.is_none_or(|known| known.once != once) {
                let walked_in = walk_in(tx, ctx, &person, once.clone(), paid.clone())?;
                console.walked_in.keep(&session, walked_in);
            }
            Ok(())
        })
        .await;
    let Err(cause) = registered else {
        return Ok(answer::go(&shown));
    };
    // Nothing of it was stored.
    request.console.walked_in.take(request.current_user()?);
    let failure = crate::admin::form::told(cause)?;
    let form = request.form.clone();
    let mut panel = request
        .read(move |connection| Panel::of(connection, &settings.walk_in, &form))
        .await?;
    (panel.failure, panel.lacks_payment) = (Some(failure), lacks_payment);
    page(&request, desk, None, Some(panel)).await
}
