//! What a template is not saved with: operators that double a text with each use, where nothing
//! counts what they make, and what is not part of the language here. Only new and changed templates
//! pass here; one that is stored already runs as it is.

use super::{
    Fault,
    tags::{Kind, Tag},
};
use std::collections::BTreeSet;

/// The compiler calls itself once for each link of a chain, such as `a + a + …`, and for each `elif`.
const TOKENS_IN_TAG_MAX: usize = 250;
const ELIF_MAX: usize = 100;
/// The largest number that stands beside `*`.
const FACTOR_MAX: f64 = 1_000_000.0;

const OF_OTHER_TEMPLATES: [&str; 6] = ["block", "extends", "from", "import", "include", "super"];

pub(super) fn check(tags: &[Tag<'_>]) -> Result<(), Fault> {
    let texts = names_of_texts(tags);
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
        operators(tag, &texts)?;
        methods(tag)?;
    }
    Ok(())
}

/// The names that are given a text: by `name = "…"`, or by a block.
fn names_of_texts<'s>(tags: &[Tag<'s>]) -> BTreeSet<&'s str> {
    let mut names = BTreeSet::new();
    for tag in tags {
        if tag.statement() == Some("set") && tag.tokens.len() == 2 {
            names.extend(tag.name(1));
        }
        for (at, token) in tag.tokens.iter().enumerate().skip(2) {
            if token.kind == Kind::Text && tag.sign(at - 1) == Some("=") {
                names.extend(tag.name(at - 2));
            }
        }
    }
    names
}

fn operators(tag: &Tag<'_>, texts: &BTreeSet<&str>) -> Result<(), Fault> {
    let keeps = matches!(tag.statement(), Some("set" | "with"));
    let mut added: Vec<(usize, String)> = Vec::new();
    for at in 0..tag.tokens.len() {
        let fault = |message: String| Err(Fault::at(tag.tokens[at].line, message));
        let joins = |sign: &str| {
            fault(format!(
                "`{sign}` joins texts within {{{{ … }}}} only; to keep what it makes, write {{% set x %}}{{{{ a }}}}{{{{ b }}}}{{% endset %}}"
            ))
        };
        let has_left = at > 0 && !matches!(tag.sign(at - 1), Some("(" | "," | "[" | "="));
        let beside_text =
            has_left && (ends_as_text(tag, at - 1, texts) || is_text(tag, at + 1, texts));
        match tag.sign(at) {
            Some("~") if keeps => return joins("~"),
            Some("+") if keeps && beside_text => return joins("+"),
            Some("+") if keeps && has_left => {
                for (place, path) in [path_before(tag, at), path_after(tag, at + 1)] {
                    let twice = added
                        .iter()
                        .any(|(before, other)| *before != place && *other == path);
                    if twice && !path.is_empty() {
                        return fault(format!(
                            "`{path}` stands twice beside `+`: if it is a text, it doubles each time; write 2 * {path}"
                        ));
                    }
                    added.push((place, path));
                }
            }
            Some("*") if beside_text => {
                return fault("a text cannot be repeated with `*`: write it out".to_owned());
            }
            Some("*") if has_left && (is_large(tag, at - 1) || is_large(tag, at + 1)) => {
                return fault(format!("a number beside `*` is at most {FACTOR_MAX} here"));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whether the operand that begins here is visibly a text, or a tuple.
fn is_text(tag: &Tag<'_>, at: usize, texts: &BTreeSet<&str>) -> bool {
    let Some(token) = tag.tokens.get(at) else {
        return false;
    };
    // `"abc"|length` is what the filter makes of it.
    let ends = |after: usize| !matches!(tag.sign(after), Some("|" | "[" | "(" | "."));
    match token.kind {
        Kind::Text => ends(at + 1),
        Kind::Name => {
            let (end, _) = path_at(tag, at);
            tag.name(end).is_some_and(|name| texts.contains(name)) && ends(end + 1)
        }
        Kind::Sign if token.text == "(" => {
            let close = (at..tag.tokens.len()).find(|end| opening(tag, *end) == Some(at));
            close.is_some_and(|close| ends(close + 1) && group_is_text(tag, at, close, texts))
        }
        _ => false,
    }
}

/// Whether the operand that ends here is visibly a text, or a tuple.
fn ends_as_text(tag: &Tag<'_>, at: usize, texts: &BTreeSet<&str>) -> bool {
    match tag.tokens[at].kind {
        Kind::Text => true,
        Kind::Name => {
            texts.contains(tag.tokens[at].text) && (at == 0 || tag.sign(at - 1) != Some("|"))
        }
        Kind::Sign => opening(tag, at).is_some_and(|open| {
            let called = open > 0
                && tag
                    .name(open - 1)
                    .is_some_and(|name| !OPERATORS.contains(&name));
            tag.sign(open) == Some("(") && !called && group_is_text(tag, open, at, texts)
        }),
        Kind::Number => false,
    }
}

/// Names after which a parenthesis groups and calls nothing.
const OPERATORS: [&str; 6] = ["and", "else", "if", "in", "not", "or"];

fn group_is_text(tag: &Tag<'_>, open: usize, close: usize, texts: &BTreeSet<&str>) -> bool {
    let comma = |at| tag.sign(at) == Some(",") && depth(tag, open + 1, at) == 0;
    is_text(tag, open + 1, texts) || (open + 1..close).any(comma)
}

/// The parenthesis or bracket that the one here closes.
fn opening(tag: &Tag<'_>, close: usize) -> Option<usize> {
    matches!(tag.sign(close), Some(")" | "]" | "}"))
        .then(|| {
            (0..close)
                .rev()
                .find(|open| depth(tag, *open, close + 1) == 0)
        })
        .flatten()
}

/// How many parentheses and brackets are open after these tokens.
fn depth(tag: &Tag<'_>, from: usize, to: usize) -> i32 {
    (from..to).fold(0, |depth, at| match tag.sign(at) {
        Some("(" | "[" | "{") => depth + 1,
        Some(")" | "]" | "}") => depth - 1,
        _ => depth,
    })
}

/// The path, such as `n.total`, that ends before a sign: where its last name stands, and its text;
/// empty where it is a factor or filtered, which makes a number of it.
fn path_before(tag: &Tag<'_>, sign: usize) -> (usize, String) {
    let mut first = sign - 1;
    while first >= 2 && tag.sign(first - 1) == Some(".") {
        first -= 2;
    }
    let before = first.checked_sub(1).and_then(|at| tag.sign(at));
    if matches!(before, Some("|" | "*" | "/" | "//" | "%")) {
        return (sign - 1, String::new());
    }
    path_at(tag, first)
}

/// As [`path_before`], of what begins after a sign.
fn path_after(tag: &Tag<'_>, first: usize) -> (usize, String) {
    let (last, path) = path_at(tag, first);
    if matches!(tag.sign(last + 1), Some("|" | "*" | "/" | "//" | "%")) {
        return (last, String::new());
    }
    (last, path)
}

fn path_at(tag: &Tag<'_>, first: usize) -> (usize, String) {
    let mut last = first;
    let mut path = tag.name(first).unwrap_or_default().to_owned();
    while tag.sign(last + 1) == Some(".") {
        let Some(name) = tag.name(last + 2) else {
            break;
        };
        path = format!("{path}.{name}");
        last += 2;
    }
    (last, path)
}

fn is_large(tag: &Tag<'_>, at: usize) -> bool {
    let power = |at| tag.sign(at) == Some("**");
    let number = tag
        .tokens
        .get(at)
        .filter(|token| token.kind == Kind::Number);
    number.is_some_and(|number| {
        let value = number.text.replace('_', "").parse();
        value.is_ok_and(|value: f64| value > FACTOR_MAX) || power(at + 1) || at > 0 && power(at - 1)
    })
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
