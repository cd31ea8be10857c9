//! Doubts about a list that keep no row out: a column that resembles a property and is none, guests
//! without a name or a ticket code, e-mail addresses that no mail can go to.
//!
//! A bad address is no bad row: it must not keep a guest out of the building. It is stored as it
//! stands, and messages to it fail one by one.

use super::{
    BadRow, Columns, Plan, Target, What,
    by_header::{FINDERS, resembled},
    findings::counted,
    people::{EMAIL, NAME_AND_EMAIL},
};
use crate::{
    domain::{messages::address, readers::Epc},
    types::text::shortened,
};
use serde_json::{Map, Value};

/// Addresses that are listed; more are counted.
const LISTED_MAX: usize = 100;
/// Properties with the name of a guest.
const NAMES: [&str; 2] = ["firstName", "lastName"];
/// Properties that can be scanned.
const CODES: [&str; 5] = ["barcode", "rfid", "code", "uhfId", "externalId"];

/// The doubts found while the rows of a list were checked.
#[derive(Debug, Clone, Default)]
pub struct Warnings {
    /// Rows that make a new delegate.
    new: u64,
    /// Guests without a name.
    nameless: u64,
    /// Guests without anything that can be scanned.
    codeless: u64,
    /// The first bad addresses.
    addresses: Vec<BadRow>,
    address_count: u64,
    /// Tags that no reader can send.
    tag_count: u64,
    /// Rows of a person that a row above has already, and the first of them: both lines, and the e-mail address.
    twice: u64,
    twice_first: Option<(u64, u64, String)>,
    /// Times that the clocks leave out, and times that they show twice.
    left_out_times: u64,
    twice_times: u64,
}

impl Warnings {
    /// Looks at the body of a good row.
    pub(super) fn look_at(&mut self, plan: &Plan, line: u64, body: &Map<String, Value>, new: bool) {
        if plan.what != What::Delegates {
            return;
        }
        let has_any = |names: &[&str]| {
            let mut values = names.iter().filter_map(|name| body.get(*name)?.as_str());
            values.any(|value| !value.trim().is_empty())
        };
        if new {
            self.new += 1;
            self.nameless += u64::from(!has_any(&NAMES));
            self.codeless += u64::from(!plan.options.make_codes && !has_any(&CODES));
        }
        let tag = body.get("uhfId").and_then(Value::as_str);
        self.tag_count += u64::from(tag.is_some_and(|tag| tag.parse::<Epc>().is_err()));
        let email = body.get("email").and_then(Value::as_str);
        if let Some(Err(cause)) = email.map(address::email) {
            self.address_count += 1;
            if self.addresses.len() < LISTED_MAX {
                let problem = plan.problem(cause.at("email"));
                self.addresses.push(BadRow { line, problem });
            }
        }
    }

    /// Notes that a row has the person of an earlier line.
    pub(super) fn is_twice(&mut self, first: u64, line: u64, body: &Map<String, Value>) {
        self.twice += 1;
        let email = body
            .get("email")
            .and_then(Value::as_str)
            .unwrap_or_default();
        self.twice_first
            .get_or_insert_with(|| (first, line, email.to_owned()));
    }

    /// Looks at the local times of a good row.
    pub(super) fn look_at_times(&mut self, plan: &Plan, body: &Map<String, Value>) {
        let times = ["startAt", "endAt", "recordedAt"]
            .iter()
            .filter_map(|name| body.get(*name)?.as_str());
        for time in times.filter(|time| !time.ends_with('Z') && !time.contains('+')) {
            match plan.ctx.settings.zone.is_shown_twice(time) {
                Some(false) => self.left_out_times += 1,
                Some(true) => self.twice_times += 1,
                None => {}
            }
        }
    }

    fn of_people(&self, plan: &Plan) -> Option<String> {
        let (first, line, email) = self.twice_first.as_ref()?;
        let rows = counted(self.twice, "row has", "rows have");
        let fate = match plan.key {
            Some(EMAIL | NAME_AND_EMAIL) => "they change the same record, and the last row counts",
            _ => "each becomes an attendee of its own; --key email makes one of them",
        };
        Some(format!(
            "{rows} the e-mail address of a row above, first \"{}\" in lines {first} and {line}: {fate}",
            shortened(email)
        ))
    }

    fn of_times(&self, plan: &Plan) -> Vec<String> {
        let zone = plan.ctx.settings.zone.iana_name();
        let all = [
            (
                self.left_out_times,
                "is one that the clocks leave out",
                "read an hour later",
            ),
            (
                self.twice_times,
                "is one that the clocks show twice",
                "read as the first of the two",
            ),
        ];
        let told = all.iter().filter(|(count, ..)| *count > 0);
        told.map(|(count, what, fate)| {
            format!(
                "{} in {zone}, as its clocks change: {what}; {fate}",
                counted(*count, "time is doubtful", "times are doubtful")
            )
        })
        .collect()
    }

    /// All of them as sentences; those of the columns alone are among the findings.
    #[must_use]
    pub fn sentences(&self, plan: &Plan) -> Vec<String> {
        let mut sentences = Vec::new();
        // Of a list with no such column at all that is said already.
        let has = |names: &[&str]| !plan.columns.is_table() || plan.columns.has_any(names);
        if self.nameless > 0 && (has(&NAMES) || has(&["name"])) {
            sentences.push(format!(
                "{} of {} new attendees have no name",
                self.nameless, self.new
            ));
        }
        if self.codeless > 0 && has(&CODES) {
            sentences.push(format!(
                "{} of {} new attendees have no ticket code and cannot be scanned; codes can be made for them",
                self.codeless, self.new
            ));
        }
        if self.address_count > 0 {
            sentences.push(format!(
                "{} e-mail addresses are not valid; they are imported as they are, and no mail can be sent to them",
                self.address_count
            ));
        }
        if self.tag_count > 0 {
            sentences.push(format!(
                "{} tags (uhfId) are not hexadecimal digits in pairs; UHF readers cannot find them",
                self.tag_count
            ));
        }
        sentences.extend(self.of_people(plan));
        sentences.extend(self.of_times(plan));
        sentences
    }

    /// The first e-mail addresses that are not valid.
    #[must_use]
    pub fn addresses(&self) -> &[BadRow] {
        &self.addresses
    }
}

/// Warnings about the columns of a list alone.
pub(super) fn of_columns(columns: &Columns, make_codes: bool) -> Vec<String> {
    let mut sentences = doubtful(columns);
    if columns.what == What::Delegates && columns.is_table() {
        if !columns.has_any(&NAMES) && !columns.has_any(&["name"]) {
            sentences.push("no column is a first name or a last name".to_owned());
        }
        if !make_codes && !columns.has_any(&CODES) {
            sentences.push(
                "no column is a ticket code, so nobody in this list can be scanned; codes can be made for them"
                    .to_owned(),
            );
        }
    }
    sentences
}

/// Columns that go into other data, though their headers mean or resemble a property.
pub(super) fn doubtful(columns: &Columns) -> Vec<String> {
    if columns.is_ours {
        return Vec::new();
    }
    let unmatched = columns.iter().filter(|column| {
        let free = Target::unmatched(columns.what, &column.header);
        matches!(free, Target::Data { .. }) && column.target == free
    });
    unmatched
        .filter_map(|column| {
            let why = doubt(columns, &column.header)?;
            let header = shortened(&column.header);
            Some(format!(
                "the column \"{header}\" goes into other data; {why}"
            ))
        })
        .collect()
}

fn doubt(columns: &Columns, header: &str) -> Option<String> {
    let what = columns.what;
    let mut known = FINDERS.iter().filter_map(|find| find(what, header)?.name());
    let taken = known.find_map(|name| {
        let mut columns = columns.iter();
        let by = columns.find(|column| column.target.name().as_ref() == Some(&name))?;
        let by = shortened(&by.header);
        Some(format!("\"{by}\" is the {name} already"))
    });
    taken.or_else(|| {
        let mut resembled = resembled(what, header).into_iter().rev();
        let name = resembled.find(|name| !columns.has_any(&[name]))?;
        Some(format!("if it is the {name}, map it to that"))
    })
}
