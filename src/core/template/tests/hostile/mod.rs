//! Templates that try to take the server's time, its memory, its stack, its files or its word. Each
//! category has a harmless twin that must work.

mod language;
mod size;
mod work;

use super::{Format, rendered};
use std::time::{Duration, Instant};

pub(super) struct Category {
    name: &'static str,
    pub(super) attempts: Vec<String>,
    /// Set where each must be refused; otherwise it may end by itself, in bounds.
    is_refused: bool,
    /// A template with the same means that is fine, and what it makes.
    twin: (&'static str, &'static str),
}

fn category(
    name: &'static str,
    twin: (&'static str, &'static str),
    attempts: Vec<String>,
) -> Category {
    Category {
        name,
        attempts,
        is_refused: false,
        twin,
    }
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(ToString::to_string).collect()
}

/// Every text with every filling in place of `@`.
fn filled(texts: &[&str], fillings: &[&str]) -> Vec<String> {
    texts
        .iter()
        .flat_map(|text| fillings.iter().map(|filling| text.replace('@', filling)))
        .collect()
}

pub(super) fn categories() -> Vec<Category> {
    let refused = |category| Category {
        is_refused: true,
        ..category
    };
    let costly = [size::loops(), size::growth(), work::work()].into_iter();
    let outside = [language::structure(), language::reach()].into_iter();
    costly
        .flatten()
        .chain(outside.flatten().map(refused))
        .collect()
}

/// Far longer than any of them takes on a busy machine, and far shorter than what would not end.
const LONGEST: Duration = Duration::from_secs(30);

#[test]
fn every_hostile_template_ends_at_once() {
    let categories = categories();
    let attempts: usize = categories.iter().map(|all| all.attempts.len()).sum();
    assert!(categories.len() >= 15, "{} categories", categories.len());
    assert!(attempts >= 300, "{attempts} attempts");
    let mut wrong = Vec::new();
    let mut slowest = (Duration::ZERO, "");
    for category in &categories {
        assert!(category.attempts.len() >= 6, "{}", category.name);
        for attempt in &category.attempts {
            let started = Instant::now();
            let answer = rendered(attempt, Format::Html);
            let took = started.elapsed();
            slowest = slowest.max((took, category.name));
            let shown: String = attempt.chars().take(150).collect();
            match answer {
                Ok(page) if category.is_refused => wrong.push(format!(
                    "{}: {shown} gave {} bytes",
                    category.name,
                    page.len()
                )),
                Err(fault) if fault.message.contains("cannot be worked out") => {
                    wrong.push(format!("{}: {shown} made it panic", category.name));
                }
                Err(fault) if fault.message.len() < 5 || fault.message.len() > 400 => {
                    wrong.push(format!("{}: {shown}: {fault}", category.name));
                }
                _ if took > LONGEST => {
                    wrong.push(format!("{}: {shown} took {took:?}", category.name));
                }
                _ => {}
            }
        }
    }
    println!("the slowest of {attempts}: {slowest:?}");
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn each_category_has_a_twin_that_works() {
    let wrong: Vec<String> = categories()
        .iter()
        .map(|category| (category, rendered(category.twin.0, Format::Html)))
        .filter(|(category, made)| made.as_deref() != Ok(category.twin.1))
        .map(|(category, made)| format!("{}: {made:?}", category.name))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
