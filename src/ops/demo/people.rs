//! The delegates: who they are, what they do, which ticket they hold.

use super::{
    names::{COMPANIES, JOB_TITLES, REGIONS},
    programme::SPONSORS,
    random::Random,
};
use crate::types::barcode::{Barcode, Base, RANDOM_SYMBOLS};
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// What ticket codes begin with.
const TICKETS: &str = "SMT26";
/// Speakers among the delegates.
const SPEAKERS: usize = 70;
/// Sponsors' staff among the delegates.
const EXHIBITORS: usize = 180;
/// Stewards and technicians among the delegates.
const CREW: usize = 90;
/// What people cannot eat, or will not.
const DIETS: [&str; 5] = ["vegetarian", "vegan", "gluten-free", "halal", "no nuts"];

/// Why somebody is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// To see and hear.
    Visitor,
    /// To speak.
    Speaker,
    /// To show something, at the stand of this sponsor.
    Exhibitor(usize),
    /// To keep it running.
    Crew,
}

impl Part {
    fn delegate_type(self) -> &'static str {
        match self {
            Self::Visitor => "visitor",
            Self::Speaker => "speaker",
            Self::Exhibitor(_) => "exhibitor",
            Self::Crew => "crew",
        }
    }
}

/// A delegate to be.
#[derive(Debug)]
pub struct Person {
    /// Why they are there.
    pub part: Part,
    /// The record, as the API takes it.
    pub body: Map<String, Value>,
}

impl Person {
    /// A property that is text.
    pub fn text(&self, property: &str) -> &str {
        self.body
            .get(property)
            .and_then(Value::as_str)
            .unwrap_or_default()
    }
}

/// Makes people up: no two of them share a name or a ticket code.
pub fn invent(random: &mut Random, count: usize) -> Vec<Person> {
    let mut parts: Vec<Part> = (0..count).map(part_of).collect();
    random.shuffle(&mut parts);
    let mut names = HashSet::new();
    parts
        .into_iter()
        .enumerate()
        .map(|(at, part)| person(random, at, part, &mut names))
        .collect()
}

fn part_of(at: usize) -> Part {
    match at {
        _ if at < SPEAKERS => Part::Speaker,
        _ if at < SPEAKERS + EXHIBITORS => Part::Exhibitor(at % SPONSORS),
        _ if at < SPEAKERS + EXHIBITORS + CREW => Part::Crew,
        _ => Part::Visitor,
    }
}

fn person(
    random: &mut Random,
    at: usize,
    part: Part,
    names: &mut HashSet<(&'static str, &'static str)>,
) -> Person {
    let (region, first, last) = loop {
        let region = random.pick(REGIONS);
        let name = (*random.pick(region.first), *random.pick(region.last));
        if names.insert(name) {
            break (region, name.0, name.1);
        }
    };
    let company = match part {
        Part::Exhibitor(sponsor) => COMPANIES[sponsor],
        Part::Crew => "Northgate Arena",
        Part::Visitor | Part::Speaker => random.pick(COMPANIES),
    };
    let title = match part {
        Part::Crew => *random.pick(&["Steward", "Stage Technician", "Registration Desk"]),
        _ => random.pick(JOB_TITLES),
    };
    let mut body = Map::new();
    let mut set = |name: &str, value: Value| body.insert(name.to_owned(), value);
    set("firstName", first.into());
    set("lastName", last.into());
    set("email", email(first, last, company).into());
    if random.chance(60) {
        set(
            "phone",
            format!("{}{:03}", region.phone, random.below(1000)).into(),
        );
    }
    set("company", company.into());
    set("jobTitle", title.into());
    set("delegateType", part.delegate_type().into());
    set("barcode", ticket_code(random, at + 1).into());
    set("externalId", format!("R-{:05}", at + 1).into());
    set("publicId", random.uuid().into());
    if random.chance(15) {
        set("data", json!({"Data": {"Diet": random.pick(&DIETS)}}));
    }
    Person { part, body }
}

/// `SMT26…`: a code as the server makes them, with the numbers of the seed.
fn ticket_code(random: &mut Random, number: usize) -> String {
    let symbols = [(); RANDOM_SYMBOLS].map(|()| u8::try_from(random.below(32)).unwrap_or(0));
    let code = Base::parse(TICKETS).and_then(|base| {
        let number = u16::try_from(number).unwrap_or(u16::MAX);
        Barcode::assemble(&base, number, symbols)
    });
    code.map(|code| code.to_string()).unwrap_or_default()
}

/// An address at a domain that nobody can have.
fn email(first: &str, last: &str, company: &str) -> String {
    let company = company.split([' ', '&']).next().unwrap_or_default();
    format!(
        "{}.{}@{}.example",
        plain(first),
        plain(last),
        plain(company)
    )
}

/// A name in the letters of an address.
fn plain(name: &str) -> String {
    let mut plain = String::with_capacity(name.len());
    for letter in name.chars().flat_map(char::to_lowercase) {
        match letter {
            'a'..='z' | '-' => plain.push(letter),
            'á' | 'à' | 'â' | 'ã' | 'ą' | 'å' => plain.push('a'),
            'ä' | 'æ' => plain.push_str("ae"),
            'ç' | 'ć' => plain.push('c'),
            'é' | 'è' | 'ê' | 'ę' => plain.push('e'),
            'ğ' => plain.push('g'),
            'í' | 'ì' | 'ı' => plain.push('i'),
            'ł' => plain.push('l'),
            'ñ' | 'ń' => plain.push('n'),
            'ó' | 'ò' | 'ô' | 'õ' | 'ō' => plain.push('o'),
            'ö' | 'ø' => plain.push_str("oe"),
            'ş' | 'ś' => plain.push('s'),
            'ß' => plain.push_str("ss"),
            'ú' | 'ù' => plain.push('u'),
            'ü' => plain.push_str("ue"),
            'ż' | 'ź' => plain.push('z'),
            _ => {}
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_are_many_and_all_different() {
        let people = invent(&mut Random::new(1), 2_000);
        let all = |property: &str| -> HashSet<String> {
            people
                .iter()
                .map(|person| person.text(property).to_owned())
                .collect()
        };
        for property in ["barcode", "externalId", "publicId", "email"] {
            assert_eq!(all(property).len(), 2_000, "{property}");
        }
        assert_eq!(all("delegateType").len(), 4);
        for person in &people {
            assert!(Barcode::parse(person.text("barcode")).is_ok());
        }
        let crew = people.iter().filter(|person| person.part == Part::Crew);
        assert_eq!(crew.count(), CREW);
    }

    #[test]
    fn an_address_has_plain_letters_alone() {
        assert_eq!(
            email("Łukasz", "Weiß", "Pellegrin & Fils"),
            "lukasz.weiss@pellegrin.example"
        );
        assert_eq!(
            email("Niamh", "O'Connor", "Valdisole S.p.A."),
            "niamh.oconnor@valdisole.example"
        );
        for region in REGIONS {
            for name in region.first.iter().chain(region.last) {
                let letters = name.chars().filter(|char| char.is_alphabetic()).count();
                assert!(plain(name).chars().count() >= letters, "{name}");
            }
        }
    }
}
