//! What templates may call: minijinja's own filters and tests, each with its price, and `date`. A
//! filter that is not on the list is not there.

use super::{
    meter::{CELL, fault, spend},
    prices::{alone, entries, formatting, in_groups, joining, replacing, touch, whole},
};
use jiff::{civil::DateTime, fmt::strtime};
use minijinja::{
    Environment, Error, State, Value, filters as built_in, functions, tests as built_in_tests,
    value::{Rest, ValueKind, ValueOrKwargs},
};

const FORMAT_BYTES: usize = 64;

/// What has to be paid before a filter or test is called with these arguments.
type Price = fn(&mut State, &[Value]) -> Result<(), Error>;

/// Filters that have something to say about what is not there.
const ASKS_FOR_NOTHING: &[&str] = &["bool", "d", "default", "float", "int", "tojson"];

/// A table of minijinja's own: names as templates write them, what is called, and its price.
macro_rules! table {
    ($names:ident, $register:ident($environment:ident, $module:ident): $add:expr;
     $($name:literal $(or $alias:literal)? = $call:ident for $price:ident),+ $(,)?) => {
        const $names: &[&str] = &[$($name $(, $alias)?),+];

        fn $register($environment: &mut Environment<'static>) {
            let mut add = $add;
            $(
                let call = Value::from_function($module::$call);
                $(add($alias, call.clone(), $price as Price);)?
                add($name, call, $price as Price);
            )+
        }
    };
}

table! {
    BUILT_IN_FILTERS, register_filters(environment, built_in): |name, call, price| {
        environment.add_filter(name, lenient(name, priced(call, price)));
    };
    "abs" = abs for touch,
    "attr" = attr for touch,
    "batch" = batch for in_groups,
    "bool" = bool for touch,
    "capitalize" = capitalize for whole,
    "default" or "d" = default for touch,
    "dictsort" = dictsort for entries,
    "escape" or "e" = escape for whole,
    "first" = first for touch,
    "float" = float for touch,
    "format" = format for formatting,
    "groupby" = groupby for entries,
    "int" = int for touch,
    "items" = items for entries,
    "join" = join for joining,
    "last" = last for entries,
    "length" or "count" = length for touch,
    "lines" = lines for entries,
    "list" = list for entries,
    "lower" = lower for whole,
    "map" = map for entries,
    "max" = max for entries,
    "min" = min for entries,
    "reject" = reject for entries,
    "rejectattr" = rejectattr for entries,
    "replace" = replace for replacing,
    "reverse" = reverse for entries,
    "round" = round for touch,
    "select" = select for entries,
    "selectattr" = selectattr for entries,
    "slice" = slice for in_groups,
    "sort" = sort for entries,
    "split" = split for entries,
    "string" = string for whole,
    "sum" = sum for entries,
    "title" = title for whole,
    "tojson" = tojson for alone,
    "trim" = trim for touch,
    "unique" = unique for entries,
    "upper" = upper for whole,
    "urlencode" = urlencode for whole,
}

table! {
    TESTS, register_tests(environment, built_in_tests): |name, call, price| {
        environment.add_test(name, priced(call, price));
    };
    "boolean" = is_boolean for touch,
    "defined" = is_defined for touch,
    "divisibleby" = is_divisibleby for touch,
    "endingwith" = is_endingwith for whole,
    "eq" or "equalto" = is_eq for whole,
    "even" = is_even for touch,
    "false" = is_false for touch,
    "float" = is_float for touch,
    "ge" = is_ge for whole,
    "gt" or "greaterthan" = is_gt for whole,
    "in" = is_in for whole,
    "integer" or "int" = is_integer for touch,
    "iterable" = is_iterable for touch,
    "le" = is_le for whole,
    "lower" = is_lower for touch,
    "lt" or "lessthan" = is_lt for whole,
    "mapping" = is_mapping for touch,
    "ne" = is_ne for whole,
    "none" = is_none for touch,
    "number" = is_number for touch,
    "odd" = is_odd for touch,
    "sequence" = is_sequence for touch,
    "startingwith" = is_startingwith for whole,
    "string" = is_string for touch,
    "true" = is_true for touch,
    "undefined" = is_undefined for touch,
    "upper" = is_upper for touch,
}

const OWN_FILTERS: &[&str] = &["date"];

const FUNCTIONS: &[&str] = &["dict", "namespace", "range"];

pub(super) fn is_filter(name: &str) -> bool {
    BUILT_IN_FILTERS.contains(&name) || OWN_FILTERS.contains(&name)
}

pub(super) fn is_test(name: &str) -> bool {
    TESTS.contains(&name)
}

pub(super) fn is_function(name: &str) -> bool {
    FUNCTIONS.contains(&name)
}

/// The names of all filters, for whoever writes a template.
#[must_use]
pub fn filters() -> Vec<&'static str> {
    let mut names = [BUILT_IN_FILTERS, OWN_FILTERS].concat();
    names.sort_unstable();
    names
}

pub(super) fn register(environment: &mut Environment<'static>) {
    register_filters(environment);
    register_tests(environment);
    environment.add_filter("date", date);
    environment.add_function("range", functions::range);
    environment.add_function("dict", functions::dict);
    environment.add_function("namespace", functions::namespace);
}

/// The call, paid for. What comes back is at hand: a list that would be worked out later, at each
/// look, is one now.
fn priced(
    call: Value,
    price: Price,
) -> impl Fn(&mut State, Rest<ValueOrKwargs>) -> Result<Value, Error> + Send + Sync + 'static {
    move |state: &mut State, arguments: Rest<ValueOrKwargs>| {
        let arguments = arguments.into_values();
        spend(state, 2 * CELL)?;
        price(state, &arguments)?;
        let result = call.call(state, &arguments)?;
        if result.kind() == ValueKind::Iterable {
            let listed: Vec<Value> = result.try_iter()?.collect();
            spend(state, listed.len() * CELL)?;
            return Ok(Value::from(listed));
        }
        Ok(result)
    }
}

/// A filter that makes nothing of what is not there: records leave out what has no value, and a guest
/// without a company is no fault of the template.
fn lenient(
    name: &'static str,
    filter: impl Fn(&mut State, Rest<ValueOrKwargs>) -> Result<Value, Error> + Send + Sync + 'static,
) -> impl Fn(&mut State, Rest<ValueOrKwargs>) -> Result<Value, Error> + Send + Sync + 'static {
    let asks = ASKS_FOR_NOTHING.contains(&name);
    let counts = ["count", "length", "sum"].contains(&name);
    move |state: &mut State, arguments: Rest<ValueOrKwargs>| {
        let nothing = arguments
            .first()
            .is_some_and(|value| value.is_undefined() || value.is_none());
        match nothing {
            true if counts => Ok(Value::from(0)),
            true if !asks => Ok(Value::UNDEFINED),
            _ => filter(state, arguments),
        }
    }
}

/// `session.startAt|date("%H:%M")`: a time as records show it, which is in the instance's zone.
fn date(state: &mut State, at: Value, format: String) -> Result<Value, Error> {
    if at.is_undefined() || at.is_none() {
        return Ok(Value::UNDEFINED);
    }
    spend(state, 1_024)?;
    if format.len() > FORMAT_BYTES {
        return Err(fault(format!(
            "a format of dates has at most {FORMAT_BYTES} bytes"
        )));
    }
    let local: DateTime = at
        .as_str()
        .and_then(|text| text.get(..19))
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| fault("date: this is no time such as 2026-11-21 09:00:00"))?;
    strtime::format(&format, local)
        .map(Value::from)
        .map_err(|error| fault(format!("date: {error}")))
}
