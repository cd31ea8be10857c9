//! The language's operators, paying for what they touch. Numbers are 64-bit integers or floats; what
//! does not fit is an error and never a wrong number.

use super::meter::{CELL, fault, nest, spend, spend_walk, weigh};
use minijinja::{
    Environment, Error, State, Value,
    value::{Rest, ValueKind},
};

pub(super) const CONCAT: &str = "__concat";
pub(super) const ADD: &str = "__add";
pub(super) const SUB: &str = "__sub";
pub(super) const MUL: &str = "__mul";
pub(super) const DIV: &str = "__div";
pub(super) const FLOOR_DIV: &str = "__floor_div";
pub(super) const REM: &str = "__rem";
pub(super) const POW: &str = "__pow";
pub(super) const NEG: &str = "__neg";
pub(super) const EQ: &str = "__eq";
pub(super) const NE: &str = "__ne";
pub(super) const LT: &str = "__lt";
pub(super) const LE: &str = "__le";
pub(super) const GT: &str = "__gt";
pub(super) const GE: &str = "__ge";
pub(super) const IN: &str = "__in";
pub(super) const SLICE: &str = "__slice";
pub(super) const ITEM: &str = "__item";
pub(super) const LIST: &str = "__list";
pub(super) const MAP: &str = "__map";
pub(super) const COPY: &str = "__copy";
pub(super) const ITERATE: &str = "__iterate";

/// The longest text or list that `*` makes.
const MOST_REPEATED: usize = 64 * 1024;

pub(super) fn register(environment: &mut Environment<'static>) {
    environment.add_filter(CONCAT, concat);
    environment.add_filter(ADD, |state: &mut State, a: Value, b: Value| {
        add(state, &a, &b)
    });
    environment.add_filter(MUL, multiply);
    environment.add_filter(SUB, |a: Value, b: Value| {
        numbers("-", &a, &b, i64::checked_sub, |a, b| a - b)
    });
    environment.add_filter(DIV, |a: Value, b: Value| {
        numbers("/", &a, &b, |_, _| None, |a, b| a / b)
    });
    environment.add_filter(FLOOR_DIV, |a: Value, b: Value| {
        numbers("//", &a, &b, floor_div, |a, b| (a / b).floor())
    });
    environment.add_filter(REM, |a: Value, b: Value| {
        numbers("%", &a, &b, floor_rem, |a, b| a - b * (a / b).floor())
    });
    environment.add_filter(POW, |a: Value, b: Value| {
        numbers(
            "**",
            &a,
            &b,
            |a, b| a.checked_pow(b.try_into().ok()?),
            f64::powf,
        )
    });
    environment.add_filter(NEG, |a: Value| {
        numbers("-", &Value::from(0), &a, i64::checked_sub, |_, a| -a)
    });
    environment.add_filter(EQ, |state: &mut State, a: Value, b: Value| {
        both(state, &a, &b).map(|()| a == b)
    });
    environment.add_filter(NE, |state: &mut State, a: Value, b: Value| {
        both(state, &a, &b).map(|()| a != b)
    });
    environment.add_filter(LT, |state: &mut State, a: Value, b: Value| {
        both(state, &a, &b).map(|()| a < b)
    });
    environment.add_filter(LE, |state: &mut State, a: Value, b: Value| {
        both(state, &a, &b).map(|()| a <= b)
    });
    environment.add_filter(GT, |state: &mut State, a: Value, b: Value| {
        both(state, &a, &b).map(|()| a > b)
    });
    environment.add_filter(GE, |state: &mut State, a: Value, b: Value| {
        both(state, &a, &b).map(|()| a >= b)
    });
    environment.add_filter(IN, |state: &mut State, needle: Value, within: Value| {
        contains(state, &within, &needle)
    });
    environment.add_filter(SLICE, slice);
    environment.add_filter(ITEM, item);
    environment.add_filter(LIST, list);
    environment.add_filter(MAP, map);
    environment.add_filter(COPY, copy);
    environment.add_filter(ITERATE, iterate);
}

/// Whether a value holds others.
pub(super) fn is_container(value: &Value) -> bool {
    matches!(
        value.kind(),
        ValueKind::Seq | ValueKind::Map | ValueKind::Iterable
    )
}

fn is_list(value: &Value) -> bool {
    matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable)
}

fn both(state: &mut State, a: &Value, b: &Value) -> Result<(), Error> {
    for value in [a, b] {
        let weight = weigh(value)?;
        spend(state, weight)?;
    }
    Ok(())
}

/// As it is written into a page; what is not there is empty.
fn text(value: &Value) -> String {
    if value.is_none() {
        String::new()
    } else {
        value.to_string()
    }
}

fn concat(state: &mut State, a: Value, b: Value) -> Result<Value, Error> {
    both(state, &a, &b)?;
    Ok(Value::from(text(&a) + &text(&b)))
}

/// `a + b`, of numbers, texts or lists.
pub(super) fn add(state: &mut State, a: &Value, b: &Value) -> Result<Value, Error> {
    if is_list(a) && is_list(b) {
        let entries = a.len().unwrap_or(0) + b.len().unwrap_or(0);
        spend(state, entries * CELL)?;
        return Ok(Value::from(
            a.try_iter()?.chain(b.try_iter()?).collect::<Vec<_>>(),
        ));
    }
    if let (Some(a_text), Some(b_text)) = (a.as_str(), b.as_str()) {
        both(state, a, b)?;
        return Ok(Value::from(a_text.to_owned() + b_text));
    }
    numbers("+", a, b, i64::checked_add, |a, b| a + b)
}

fn multiply(state: &mut State, a: Value, b: Value) -> Result<Value, Error> {
    let (whole, times) = if a.is_number() { (&b, &a) } else { (&a, &b) };
    let length = match whole.as_str() {
        Some(text) => text.len(),
        None if is_list(whole) => whole.len().unwrap_or(0),
        None => return numbers("*", &a, &b, i64::checked_mul, |a, b| a * b),
    };
    let times = times
        .as_i64()
        .ok_or_else(|| fault("a text or list is repeated by a whole number"))?;
    let times = usize::try_from(times).unwrap_or(0);
    if length.max(1).saturating_mul(times) > MOST_REPEATED {
        return Err(fault("a text or list is repeated too often here"));
    }
    spend(state, length * times + times * CELL)?;
    if let Some(text) = whole.as_str() {
        Ok(Value::from(text.repeat(times)))
    } else {
        let entries: Vec<Value> = whole.try_iter()?.collect();
        spend(state, entries.len() * times * CELL)?;
        let repeated = std::iter::repeat_n(entries, times).flatten();
        Ok(Value::from(repeated.collect::<Vec<_>>()))
    }
}

/// Of two integers an integer, where there is one; otherwise a float.
fn numbers(
    sign: &str,
    a: &Value,
    b: &Value,
    whole: impl Fn(i64, i64) -> Option<i64>,
    float: impl Fn(f64, f64) -> f64,
) -> Result<Value, Error> {
    let wrong = || {
        fault(format!(
            "`{sign}` needs two numbers, not {} and {}",
            a.kind(),
            b.kind()
        ))
    };
    if !a.is_number() || !b.is_number() {
        return Err(wrong());
    }
    let integers = a.is_integer() && b.is_integer();
    if integers
        && let (Some(a), Some(b)) = (a.as_i64(), b.as_i64())
        && let Some(result) = whole(a, b)
    {
        return Ok(Value::from(result));
    }
    let (Ok(a), Ok(b)) = (f64::try_from(a.clone()), f64::try_from(b.clone())) else {
        return Err(fault(format!("`{sign}`: this number is too large")));
    };
    let result = float(a, b);
    if !result.is_finite() {
        return Err(fault(format!("`{sign}` comes to no number here")));
    }
    // An integer that does not fit is told, not rounded.
    if integers && !matches!(sign, "/" | "**") {
        return Err(fault(format!("`{sign}`: this number is too large")));
    }
    Ok(Value::from(result))
}

fn floor_div(a: i64, b: i64) -> Option<i64> {
    let rest = floor_rem(a, b)?;
    a.checked_sub(rest)?.checked_div(b)
}

/// The remainder with the sign of the divisor, as in Python.
fn floor_rem(a: i64, b: i64) -> Option<i64> {
    let rest = a.checked_rem(b)?;
    Some(if rest != 0 && (rest < 0) != (b < 0) {
        rest + b
    } else {
        rest
    })
}

/// `needle in within`.
pub(super) fn contains(state: &mut State, within: &Value, needle: &Value) -> Result<bool, Error> {
    both(state, within, needle)?;
    if let Some(text) = within.as_str() {
        return match needle.as_str() {
            Some(needle) => Ok(text.contains(needle)),
            None => Ok(text.contains(&needle.to_string())),
        };
    }
    match within.kind() {
        ValueKind::Undefined | ValueKind::None => Ok(false),
        ValueKind::Seq | ValueKind::Iterable | ValueKind::Map => {
            Ok(within.try_iter()?.any(|entry| entry == *needle))
        }
        kind => Err(fault(format!("`in` cannot look into a {kind}"))),
    }
}

fn slice(
    state: &mut State,
    whole: Value,
    start: Value,
    stop: Value,
    step: Value,
) -> Result<Value, Error> {
    if whole.is_undefined() || whole.is_none() {
        return Ok(whole);
    }
    let bound = |value: &Value| -> Result<Option<i64>, Error> {
        if value.is_none() || value.is_undefined() {
            return Ok(None);
        }
        value
            .as_i64()
            .map(Some)
            .ok_or_else(|| fault("a part is named by whole numbers, such as [2:5]"))
    };
    let step = bound(&step)?.unwrap_or(1);
    let step = usize::try_from(step)
        .ok()
        .filter(|step| *step > 0)
        .ok_or_else(|| fault("a part is taken in steps of one or more; see the filter reverse"))?;
    let place = |value: Option<i64>, otherwise: usize, length: usize| match value {
        None => otherwise,
        Some(from_end) if from_end < 0 => {
            length.saturating_sub(usize::try_from(from_end.unsigned_abs()).unwrap_or(usize::MAX))
        }
        Some(at) => usize::try_from(at).unwrap_or(usize::MAX).min(length),
    };
    let (start, stop) = (bound(&start)?, bound(&stop)?);
    let range = |length: usize| {
        let (start, stop) = (place(start, 0, length), place(stop, length, length));
        (start, stop.saturating_sub(start))
    };
    if let Some(text) = whole.as_str() {
        spend(state, 2 * text.len())?;
        let (start, length) = range(text.chars().count());
        let part = text.chars().skip(start).take(length).step_by(step);
        return Ok(Value::from(part.collect::<String>()));
    }
    if !is_list(&whole) {
        return Err(fault(format!("a {} has no parts", whole.kind())));
    }
    let length = whole.len().unwrap_or(0);
    spend(state, length * CELL)?;
    let (start, length) = range(length);
    let part = whole.try_iter()?.skip(start).take(length).step_by(step);
    Ok(Value::from(part.collect::<Vec<_>>()))
}

/// `whole[key]`; what is not there is undefined.
fn item(state: &mut State, whole: Value, key: Value) -> Result<Value, Error> {
    if whole.is_undefined() || whole.is_none() {
        return Ok(Value::UNDEFINED);
    }
    if is_container(&key) {
        return Err(fault("a list or map cannot be a key"));
    }
    spend(
        state,
        whole.as_str().map_or(0, str::len) + key.as_str().map_or(0, str::len),
    )?;
    whole.get_item(&key)
}

fn list(state: &mut State, entries: Rest<Value>) -> Result<Value, Error> {
    spend(state, entries.len() * CELL)?;
    if entries.iter().any(is_container) {
        nest(state)?;
    }
    Ok(Value::from(entries.0))
}

fn map(state: &mut State, entries: Rest<Value>) -> Result<Value, Error> {
    spend(state, entries.len() * 2 * CELL)?;
    if entries.iter().any(is_container) {
        nest(state)?;
    }
    for key in entries.iter().step_by(2) {
        if is_container(key) {
            return Err(fault("a list or map cannot be a key"));
        }
        spend_walk(state, std::slice::from_ref(key), 1)?;
    }
    Ok(Value::from_pairs(
        entries
            .chunks_exact(2)
            .map(|pair| (pair[0].clone(), pair[1].clone())),
    ))
}

/// The value as it is now, without a tie to what it was taken from.
fn copy(state: &mut State, value: Value) -> Result<Value, Error> {
    if !is_container(&value) {
        return Ok(value);
    }
    nest(state)?;
    spend_walk(state, std::slice::from_ref(&value), 2)?;
    copied(&value)
}

/// Only of what was weighed before: it calls itself as deep as the value is.
fn copied(value: &Value) -> Result<Value, Error> {
    match value.kind() {
        ValueKind::Map => {
            let mut pairs = Vec::new();
            for key in value.try_iter()? {
                pairs.push((key.clone(), copied(&value.get_item(&key)?)?));
            }
            Ok(Value::from_pairs(pairs))
        }
        ValueKind::Seq | ValueKind::Iterable => {
            let entries: Result<Vec<_>, _> =
                value.try_iter()?.map(|entry| copied(&entry)).collect();
            entries.map(Value::from)
        }
        _ => Ok(value.clone()),
    }
}

/// What a loop goes through: a map is listed by its keys before the first round.
fn iterate(state: &mut State, value: Value) -> Result<Value, Error> {
    match value.as_str() {
        Some(text) => spend(state, text.len())?,
        None => spend(state, value.len().unwrap_or(0) * 8)?,
    }
    Ok(value)
}
