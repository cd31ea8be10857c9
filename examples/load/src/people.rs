//! Invented people, always the same for the same number.

use crate::pairs::scrambled;

const FIRST_NAMES: [&str; 24] = [
    "Ada",
    "Björn",
    "Chloé",
    "Dmitri",
    "Elif",
    "Fatima",
    "Gustav",
    "Hanna",
    "Ines",
    "Jörg",
    "Katarzyna",
    "Lars",
    "Mei",
    "Noah",
    "Olga",
    "Pedro",
    "Quynh",
    "Rosa",
    "Søren",
    "Tariq",
    "Ute",
    "Viktor",
    "Wanjiru",
    "Zoë",
];
const LAST_NAMES: [&str; 24] = [
    "Abt",
    "Böhm",
    "Castro",
    "Dubois",
    "Ekström",
    "Fischer",
    "Gruber",
    "Håkansson",
    "Ivanova",
    "Jansen",
    "Kowalski",
    "Lindqvist",
    "Müller",
    "Nguyen",
    "O'Brien",
    "Pereira",
    "Quist",
    "Rossi",
    "Schäfer",
    "Tanaka",
    "Usman",
    "Vogel",
    "Weiß",
    "Yılmaz",
];
const COMPANIES: [&str; 8] = [
    "Alpenblick Hotels",
    "Brückner & Söhne",
    "Cobalt Robotics",
    "Delta Freight",
    "Eastside Clinic",
    "Fjord Energy",
    "Granit Versicherung",
    "Harbour Press",
];
const JOB_TITLES: [&str; 6] = [
    "Engineer",
    "Head of Sales",
    "Product manager",
    "Nurse",
    "Journalist",
    "Student",
];

/// One of them.
pub struct Person {
    pub first_name: &'static str,
    pub last_name: String,
    pub email: String,
    pub company: &'static str,
    pub job_title: &'static str,
}

pub fn person(number: u64) -> Person {
    let dice = scrambled(number);
    Person {
        first_name: pick(&FIRST_NAMES, dice),
        last_name: last_name(dice >> 12, number),
        email: format!("guest{number}@example.org"),
        company: pick(&COMPANIES, dice >> 24),
        job_title: pick(&JOB_TITLES, dice >> 36),
    }
}

/// Every second person has a double name, so that there are rare names too.
fn last_name(dice: u64, number: u64) -> String {
    let name = pick(&LAST_NAMES, dice);
    if number.is_multiple_of(2) {
        format!("{name}-{}", pick(&LAST_NAMES, scrambled(number ^ 0x0DD)))
    } else {
        name.to_owned()
    }
}

fn pick(from: &[&'static str], dice: u64) -> &'static str {
    let length = from.len() as u64;
    usize::try_from((dice & 0xFFF) % length).map_or("", |at| from[at])
}

/// A UUID (version 4 in form) for a number.
pub fn uuid(number: u64) -> String {
    let high = scrambled(number ^ 0x5EED);
    let low = scrambled(high);
    format!(
        "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
        high >> 32,
        (high >> 16) & 0xFFFF,
        high & 0xFFF,
        0x8000 | (low >> 48 & 0x3FFF),
        low & 0xFFFF_FFFF_FFFF
    )
}
