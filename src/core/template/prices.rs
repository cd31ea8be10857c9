//! What has to be paid before a filter or a test is called: by what it reads, and what it may make of
//! it.

use super::meter::{CELL, fault, spend, spend_walk};
use minijinja::{Error, State, Value};

/// The most that escaping, quoting or changing the case makes of a byte.
const GROWTH: usize = 6;
/// The largest group of `batch` and `slice`, which are filled up to their size.
const GROUP_MAX: i64 = 1_000;

fn text(arguments: &[Value], at: usize) -> &str {
    arguments
        .get(at)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// Texts are read through, of lists the length is known.
pub(super) fn touch(state: &mut State, arguments: &[Value]) -> Result<(), Error> {
    let bytes = |value: &Value| value.as_str().map_or(0, str::len);
    spend(state, arguments.iter().map(bytes).sum())
}

/// A list is made of the first argument; of a text it has at most its letters.
pub(super) fn entries(state: &mut State, arguments: &[Value]) -> Result<(), Error> {
    let entries = arguments.first().map_or(0, |value| match value.as_str() {
        Some(text) => text.len(),
        None => value.len().unwrap_or(0),
    });
    spend(state, entries.saturating_mul(CELL))?;
    touch(state, arguments)
}

/// Everything is read through, and may grow as it is written anew.
pub(super) fn whole(state: &mut State, arguments: &[Value]) -> Result<(), Error> {
    spend_walk(state, arguments, GROWTH)
}

/// As [`whole`], with nothing else said: an indentation could be any number.
pub(super) fn alone(state: &mut State, arguments: &[Value]) -> Result<(), Error> {
    if arguments.len() > 1 {
        return Err(fault("this filter takes no arguments here"));
    }
    whole(state, arguments)
}

pub(super) fn in_groups(state: &mut State, arguments: &[Value]) -> Result<(), Error> {
    let mut sizes = arguments.iter().skip(1).filter_map(Value::as_i64);
    if sizes.any(|size| size > GROUP_MAX) {
        return Err(fault(format!("a group has at most {GROUP_MAX} entries")));
    }
    spend(state, 1_000 * CELL)?;
    entries(state, arguments)
}

pub(super) fn replacing(state: &mut State, arguments: &[Value]) -> Result<(), Error> {
    let (from, to) = (text(arguments, 1), text(arguments, 2));
    let found = text(arguments, 0).matches(from).count();
    spend(state, found.saturating_mul(to.len()).saturating_mul(GROWTH))?;
    whole(state, arguments)
}

/// `%9.2f`: a width has two digits, and may stand at each value.
pub(super) fn formatting(state: &mut State, arguments: &[Value]) -> Result<(), Error> {
    let format = text(arguments, 0);
    let mut digits = 0;
    for letter in format.chars() {
        digits = if letter.is_ascii_digit() {
            digits + 1
        } else {
            0
        };
        if digits > 2 || letter == '*' {
            return Err(fault("a width in a format has at most two digits"));
        }
    }
    let values = format.matches('%').count();
    spend(state, format.len() * 100)?;
    spend_walk(state, arguments, GROWTH * (values + 1))
}

pub(super) fn joining(state: &mut State, arguments: &[Value]) -> Result<(), Error> {
    let joiner = arguments.iter().skip(1).map(|value| match value.as_str() {
        Some(text) => text.len(),
        None => value
            .get_attr("d")
            .map_or(0, |text| text.len().unwrap_or(0)),
    });
    let joiner: usize = joiner.sum();
    let entries = arguments.first().and_then(Value::len).unwrap_or(0);
    spend(state, entries.saturating_mul(joiner).saturating_mul(GROWTH))?;
    whole(state, arguments)
}
