//! Checks before a template is saved: that it uses only what is part of the language here, and that
//! everything it names exists: variables, properties, filters, tests and functions. minijinja reports the
//! last three only where it gets there, and a misspelt property prints nothing.

use super::{
    Fault, Known, filters,
    tags::{Kind, Tag},
};
use crate::types::text;
use std::{collections::BTreeSet, ops::Range};

const KEYWORDS: &str =
    "False None True and else false if ignore in is none not or recursive true with";

/// Checks what is read of variables that are not the template's own. What it keeps in a variable of
/// its own, or computes, is not followed.
pub(super) fn check_names(
    tags: &[Tag<'_>],
    names: &[&str],
    known: &[Known<'_>],
) -> Result<(), Fault> {
    let own: BTreeSet<&str> = tags
        .iter()
        .flat_map(names_of_its_own)
        .chain(["loop", "caller"])
        .collect();
    for tag in tags {
        let first = usize::from(tag.is_statement);
        for at in first..tag.tokens.len() {
            let Some(name) = tag.name(at) else {
                continue;
            };
            let fault = |message: String| Err(Fault::at(tag.tokens[at].line, message));
            match place(tag, at) {
                Place::Filter if !filters::is_filter(name) => {
                    return fault(format!("there is no filter `{name}`"));
                }
                Place::Test if !filters::is_test(name) => {
                    return fault(format!("there is no test `{name}`"));
                }
                Place::Variable
                    if own.contains(name) || KEYWORDS.split(' ').any(|keyword| keyword == name) => {
                }
                Place::Variable if filters::is_function(name) => {}
                Place::Variable if tag.sign(at + 1) == Some("(") => {
                    return fault(format!("there is no function `{name}`"));
                }
                Place::Variable if !names.contains(&name) => {
                    return fault(format!(
                        "`{name}` is not known here; there is {}",
                        names.join(", ")
                    ));
                }
                Place::Variable => properties(tag, at, known)?,
                _ => {}
            }
        }
    }
    Ok(())
}

/// The role of a name where it is written.
enum Place {
    Variable,
    Filter,
    Test,
    /// A property, or the name of an argument.
    Other,
}

fn place(tag: &Tag<'_>, at: usize) -> Place {
    let before = |back: usize| at.checked_sub(back).and_then(|at| tag.tokens.get(at));
    let word = before(1).map_or("", |token| token.text);
    let is_not = word == "not" && before(2).is_some_and(|token| token.text == "is");
    match word {
        _ if before(1).is_some_and(|token| token.kind == Kind::Text) => Place::Variable,
        "." => Place::Other,
        "|" => Place::Filter,
        "filter" if at == 1 && tag.is_statement => Place::Filter,
        "is" if tag.name(at) == Some("not") => Place::Variable,
        "is" => Place::Test,
        _ if is_not => Place::Test,
        _ if tag.sign(at + 1) == Some("=") => Place::Other,
        _ => Place::Variable,
    }
}

/// The names that a tag gives to values of the template's own.
fn names_of_its_own<'s>(tag: &Tag<'s>) -> Vec<&'s str> {
    let statement = tag.statement().unwrap_or_default();
    let until = |end: &str| tag.tokens.iter().position(|token| token.text == end);
    let all = 1..tag.tokens.len();
    match statement {
        "set" => {
            let end = until("=").or(until("|")).unwrap_or(tag.tokens.len());
            (1..end).filter_map(|at| tag.name(at)).collect()
        }
        "for" => {
            let end = until("in").unwrap_or(1);
            (1..end).filter_map(|at| tag.name(at)).collect()
        }
        "with" => all
            .filter(|at| tag.sign(at + 1) == Some("="))
            .filter_map(|at| tag.name(at))
            .collect(),
        // Of a macro its own name, and the names of its arguments.
        "macro" | "call" => {
            let first = if statement == "macro" {
                tag.name(1)
            } else {
                None
            };
            let mut depth = 0;
            let arguments = all.filter_map(|at| {
                match tag.sign(at) {
                    Some("(" | "[" | "{") => depth += 1,
                    Some(")" | "]" | "}") => depth -= 1,
                    _ => {}
                }
                let begins = depth == 1 && matches!(tag.sign(at - 1), Some("(" | ","));
                tag.name(at).filter(|_| begins)
            });
            let declares = statement == "macro" || tag.sign(1) == Some("(");
            first
                .into_iter()
                .chain(arguments.take_while(|_| declares))
                .collect()
        }
        _ => Vec::new(),
    }
}

fn properties(tag: &Tag<'_>, mut at: usize, known: &[Known<'_>]) -> Result<(), Fault> {
    let mut path = tag.tokens[at].text.to_owned();
    while let Some((_, properties)) = known.iter().find(|(known, _)| *known == path) {
        let (property, next) = match (tag.sign(at + 1), tag.tokens.get(at + 2)) {
            (Some("."), Some(token)) => (token, at + 2),
            // `delegate["firstName"]`
            (Some("["), Some(token))
                if token.kind == Kind::Text && tag.sign(at + 3) == Some("]") =>
            {
                (token, at + 3)
            }
            _ => break,
        };
        if !properties.contains(&property.text) {
            let hint = text::hint(property.text, properties);
            let shown = text::shortened(property.text);
            let message = format!("{path} has no property \"{shown}\"; {hint}");
            return Err(Fault::at(property.line, message));
        }
        path = format!("{path}.{}", property.text);
        at = next;
    }
    Ok(())
}

/// The compiler calls itself once for each link of a chain, such as `a + a + …`, and for each `elif`.
const TOKENS_IN_TAG_MAX: usize = 250;
const ELIF_MAX: usize = 100;

const OF_OTHER_TEMPLATES: [&str; 6] = ["block", "extends", "from", "import", "include", "super"];

pub(super) fn check_language(tags: &[Tag<'_>]) -> Result<(), Fault> {
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
