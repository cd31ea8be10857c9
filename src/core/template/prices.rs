//! What has to be paid before a filter or a test is called: by what it reads, how often it looks at it,
//! and what it may make of it.

use super::{
    meter::{CELL, fault, nest, spend, spend_walk, weigh},
    operators::is_container,
};
use minijinja::{Error, State, Value};

/// The longest path of an attribute, and the like.
const ARGUMENT_BYTES: usize = 256;
/// Sorting compares each value about so often.
const COMPARISONS: usize = 16;
/// The most that escaping, quoting or changing the case makes of a byte.
const GROWTH: usize = 6;

/// How many entries there are to go through; of a text, its characters.
pub(super) fn length(value: Option<&Value>) -> usize {
    value.map_or(0, |value| match value.as_str() {
        Some(text) => text.len(),
        None => value.len().unwrap_or(0),
    })
}

/// Texts are read through, of lists the length is known.
pub(super) fn touch(state: &mut State, arguments: &[Value]) -> Result<(), Error> {
    let bytes = arguments
        .iter()
        .map(|value| value.as_str().map_or(0, str::len))
        .sum();
    spend(state, bytes)
}

/// The digits of a float are written out.
pub(super) fn rounded(state: &mut State, arguments: &[Value]) -> Result<(), Error> {
    spend(state, 2_048)?;
    touch(state, arguments)
}

pub(super) fn entries(state: &mut State, arguments: &[Value]) -> Result<(), Error> {
    spend(state, length(arguments.first()) * CELL)
}

pub(super) fn nested(state: &mut State, arguments: &[Value]) -> Result<(), Error> {
    nest(state)?;
    for argument in arguments {
        spend(state, length(Some(argument)) * 2 * CELL)?;
    }
    Ok(())
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

/// What stands beside the list is looked at for each entry, so it is small.
pub(super) fn by_small(state: &mut State, arguments: &[Value]) -> Result<(), Error> {
    for argument in arguments.iter().skip(1) {
        if argument.is_kwargs() {
            for name in argument.try_iter()? {
                small(&argument.get_item(&name)?)?;
            }
        } else {
            small(argument)?;
        }
    }
    spend(state, length(arguments.first()) * 2 * CELL)
}

pub(super) fn small(argument: &Value) -> Result<(), Error> {
    if is_container(argument) || argument.as_str().map_or(0, str::len) > ARGUMENT_BYTES {
        return Err(fault(format!(
            "an argument here is a text of at most {ARGUMENT_BYTES} bytes, or a number"
        )));
    }
    Ok(())
}

/// The path is small; what a test is given is paid for by the test, each time.
pub(super) fn by_path(state: &mut State, arguments: &[Value]) -> Result<(), Error> {
    arguments.get(1).map_or(Ok(()), small)?;
    spend(state, length(arguments.first()) * 2 * CELL)
}

/// A group is filled up to its size.
pub(super) fn in_groups(state: &mut State, arguments: &[Value]) -> Result<(), Error> {
    nest(state)?;
    let most = 1_000;
    if arguments
        .iter()
        .skip(1)
        .filter_map(Value::as_i64)
        .any(|size| size > most)
    {
        return Err(fault(format!("a group has at most {most} entries")));
    }
    spend(state, (length(arguments.first()) + 1_000) * 2 * CELL)
}

pub(super) fn trimmed(state: &mut State, arguments: &[Value]) -> Result<(), Error> {
    arguments.get(1).map_or(Ok(()), small)?;
    let characters = length(arguments.get(1)).max(1);
    spend(state, length(arguments.first()).saturating_mul(characters))
}

pub(super) fn pieces(state: &mut State, arguments: &[Value]) -> Result<(), Error> {
    let text = arguments
        .first()
        .and_then(Value::as_str)
        .unwrap_or_default();
    let found = match arguments.get(1).and_then(Value::as_str) {
        Some("") => text.len(),
        Some(separator) => text.matches(separator).count(),
        None => text.split(char::is_whitespace).count(),
    };
    spend(state, 2 * text.len() + (found + 2) * 2 * CELL)
}

pub(super) fn replacing(state: &mut State, arguments: &[Value]) -> Result<(), Error> {
    let text = |at: usize| {
        arguments
            .get(at)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let found = match text(1) {
        "" => text(0).len() + 1,
        sought => text(0).matches(sought).count(),
    };
    let made = text(0).len() + found.saturating_mul(text(2).len());
    spend(state, made.saturating_mul(GROWTH))?;
    whole(state, arguments)
}

/// `%9.2f`: a width has two digits, and may stand at each value.
pub(super) fn formatting(state: &mut State, arguments: &[Value]) -> Result<(), Error> {
    let format = arguments
        .first()
        .and_then(Value::as_str)
        .unwrap_or_default();
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
    let joiner: usize = arguments
        .iter()
        .skip(1)
        .map(|value| length(Some(value)))
        .sum();
    let number = length(arguments.first());
    spend(state, number.saturating_mul(joiner).saturating_mul(GROWTH))?;
    let positional = arguments.get(2).filter(|value| !value.is_kwargs());
    by_attribute(state, arguments, positional, GROWTH)
}

pub(super) fn ordering(state: &mut State, arguments: &[Value]) -> Result<(), Error> {
    by_attribute(state, arguments, None, COMPARISONS)
}

pub(super) fn grouping(state: &mut State, arguments: &[Value]) -> Result<(), Error> {
    nest(state)?;
    let positional = arguments.get(1).filter(|value| !value.is_kwargs());
    by_attribute(state, arguments, positional, COMPARISONS)
}

/// Pays for reading every entry so many times, or where an attribute is named, that of every entry.
fn by_attribute(
    state: &mut State,
    arguments: &[Value],
    positional: Option<&Value>,
    times: usize,
) -> Result<(), Error> {
    let named = match arguments.last() {
        Some(last) if last.is_kwargs() => last.get_attr("attribute")?,
        _ => Value::UNDEFINED,
    };
    let Some(path) = positional.unwrap_or(&named).as_str() else {
        return spend_walk(state, arguments, times);
    };
    small(&Value::from(path))?;
    let Some(list) = arguments.first() else {
        return Ok(());
    };
    for entry in list.try_iter()? {
        for path in path.split(',') {
            let weight = weigh(&at_path(&entry, path.trim())?)?;
            spend(state, weight.saturating_mul(times) + 2 * path.len())?;
        }
    }
    Ok(())
}

/// `data.Data.seat` of an entry; undefined where there is none.
pub(super) fn at_path(entry: &Value, path: &str) -> Result<Value, Error> {
    let mut value = entry.clone();
    for part in path.split('.') {
        if value.is_undefined() || value.is_none() {
            return Ok(Value::UNDEFINED);
        }
        value = match part.parse::<usize>() {
            Ok(at) => value.get_item(&Value::from(at))?,
            Err(_) => value.get_attr(part)?,
        };
    }
    Ok(value)
}
