//! Whether everything that a template names is there: variables, properties of the records that it
//! sees, filters, tests and functions. minijinja tells the last three only where it gets there; a
//! misspelt property prints nothing, and nobody notices before the guests do.

use super::{
    Fault, Known, filters,
    tags::{Kind, Tag},
};
use crate::types::text;
use std::collections::BTreeSet;

const KEYWORDS: [&str; 16] = [
    "False",
    "None",
    "True",
    "and",
    "else",
    "false",
    "if",
    "ignore",
    "in",
    "is",
    "none",
    "not",
    "or",
    "recursive",
    "true",
    "with",
];

/// Checks what is read of variables that are not the template's own. What it keeps in a variable of
/// its own, or computes, is not followed.
pub(super) fn check(tags: &[Tag<'_>], names: &[&str], known: &[Known<'_>]) -> Result<(), Fault> {
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
                Place::Variable if own.contains(name) || KEYWORDS.contains(&name) => {}
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

/// What a name stands for where it is written.
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
