//! The delegates: who they are, what they do, which ticket they hold.

use super::{Random, programme::SPONSORS, texts::TEXTS};
use crate::types::barcode::{Barcode, Base, RANDOM_SYMBOLS};
use icu_normalizer::DecomposingNormalizerBorrowed;
use serde_json::{Value, json};
use std::collections::HashSet;

/// The beginning of ticket codes.
const TICKETS: &str = "SMT26";
/// Speakers among the delegates.
const SPEAKERS: usize = 70;
/// Sponsors' staff among the delegates.
const EXHIBITORS: usize = 180;
/// Stewards and technicians among the delegates.
const CREW: usize = 90;

/// The role of a person at the event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Visitor,
    Speaker,
    /// At the stand of this sponsor.
    Exhibitor(usize),
    Crew,
}

/// A delegate to be.
pub struct Person {
    pub part: Part,
    /// The body of the request that creates the delegate.
    pub body: Value,
}

impl Person {
    /// A property that is text.
    pub fn text(&self, property: &str) -> &str {
        self.body[property].as_str().unwrap_or_default()
    }
}

/// Invents people, no two with the same name or ticket code.
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
    names: &mut HashSet<(&'static String, &'static String)>,
) -> Person {
    let (region, first, last) = loop {
        let region = random.pick(&TEXTS.regions);
        let name = (random.pick(&region.first), random.pick(&region.last));
        if names.insert(name) {
            break (region, name.0, name.1);
        }
    };
    let company = match part {
        Part::Exhibitor(sponsor) => &TEXTS.companies[sponsor],
        Part::Crew => &TEXTS.crew.company,
        _ => random.pick(&TEXTS.companies),
    };
    let kind = match part {
        Part::Crew => "crew",
        Part::Exhibitor(_) => "exhibitor",
        Part::Speaker => "speaker",
        Part::Visitor => "visitor",
    };
    let title = match part {
        Part::Crew => random.pick(&TEXTS.crew.job_titles),
        _ => random.pick(&TEXTS.job_titles),
    };
    let phone = random
        .chance(60)
        .then(|| format!("{}{:03}", region.phone, random.below(1000)));
    let mut body = json!({
        "firstName": first,
        "lastName": last,
        "email": email(first, last, company),
        "phone": phone,
        "company": company,
        "jobTitle": title,
        "delegateType": kind,
        "barcode": ticket_code(random, at + 1),
        "externalId": format!("R-{:05}", at + 1),
        "publicId": random.uuid(),
    });
    if random.chance(15) {
        body["data"] = json!({"Data": {"Diet": random.pick(&TEXTS.diets)}});
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
    let letters = name.to_lowercase();
    for letter in DecomposingNormalizerBorrowed::new_nfd().normalize_iter(letters.chars()) {
        match letter {
            'a'..='z' | '-' => plain.push(letter),
            '\u{308}' => plain.push('e'),
            'æ' => plain.push_str("ae"),
            'ø' => plain.push_str("oe"),
            'ß' => plain.push_str("ss"),
            'ł' => plain.push('l'),
            'ı' => plain.push('i'),
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
        for region in &TEXTS.regions {
            for name in region.first.iter().chain(&region.last) {
                let letters = name.chars().filter(|char| char.is_alphabetic()).count();
                assert!(plain(name).chars().count() >= letters, "{name}");
            }
        }
    }
}
