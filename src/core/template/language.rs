//! What is not part of the language of templates here, though minijinja knows it.

use super::{Fault, tags::Tag};
use std::ops::Range;

/// The compiler calls itself once for each link of a chain, such as `a + a + …`, and for each `elif`.
const TOKENS_IN_TAG_MAX: usize = 250;
const ELIF_MAX: usize = 100;

const OF_OTHER_TEMPLATES: [&str; 6] = ["block", "extends", "from", "import", "include", "super"];

pub(super) fn check(tags: &[Tag<'_>]) -> Result<(), Fault> {
    let mut branches = 0;
    for tag in tags {
        let Some(first) = tag.tokens.first() else {
            continue;
        };
        let refused = |message: &str| Err(Fault::at(first.line, message));
        match tag.statement() {
            Some(statement) if OF_OTHER_TEMPLATES.contains(&statement) => {
                return refused(
                    "a template stands alone here: it cannot include, import or extend another, and has no blocks",
                );
            }
            Some("autoescape") => return refused("how texts are escaped cannot be changed"),
            Some("elif") => branches += 1,
            _ => {}
        }
        if branches > ELIF_MAX {
            return Err(Fault::at(first.line, format!("more than {ELIF_MAX} elif")));
        }
        if tag.tokens.len() > TOKENS_IN_TAG_MAX {
            return refused("this expression is too long: take it apart with {% set %}");
        }
        methods(tag)?;
        doubling(tag)?;
    }
    Ok(())
}

fn methods(tag: &Tag<'_>) -> Result<(), Fault> {
    for at in 1..tag.tokens.len() {
        let called = tag.sign(at) == Some(".") && tag.sign(at + 2) == Some("(");
        if called && tag.name(at - 1) != Some("loop") {
            let name = tag.name(at + 1).unwrap_or_default();
            return Err(Fault::at(
                tag.tokens[at].line,
                format!("values have no methods here: use a filter, such as `x|{name}`"),
            ));
        }
    }
    Ok(())
}

/// Refuses `{% set x = x + x %}`: of a list it makes one twice as long each time, which nothing charges.
fn doubling(tag: &Tag<'_>) -> Result<(), Fault> {
    let is_of_path = |at: &usize| tag.name(*at).is_some() || tag.sign(*at) == Some(".");
    let text = |path: Range<usize>| path.map(|at| tag.tokens[at].text).collect::<String>();
    let keeps = matches!(tag.statement(), Some("set" | "with"));
    for plus in (1..tag.tokens.len()).filter(|at| keeps && tag.sign(*at) == Some("+")) {
        let before = (0..plus).rev().take_while(is_of_path).count();
        let after = (plus + 1..tag.tokens.len()).take_while(is_of_path).count();
        let path = text(plus - before..plus);
        // What stands beside one of these is a number.
        let is_number = |at: Option<usize>| {
            at.and_then(|at| tag.sign(at))
                .is_some_and(|sign| ["*", "/", "//", "%", "|"].contains(&sign))
        };
        if !path.is_empty()
            && path == text(plus + 1..plus + 1 + after)
            && !is_number((plus - before).checked_sub(1))
            && !is_number(Some(plus + 1 + after))
        {
            return Err(Fault::at(
                tag.tokens[plus].line,
                format!("`{path}` stands twice beside `+`: write 2 * {path}"),
            ));
        }
    }
    Ok(())
}
