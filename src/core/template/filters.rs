//! The filters and tests that templates may call: those of minijinja, and `date`; no other. Each call is charged for
//! the values that it may read, which minijinja's fuel does not cover.

use jiff::{civil::DateTime, fmt::strtime};
use minijinja::{
    Environment, Error, ErrorKind, State, Value, filters as built_in, functions,
    tests as built_in_tests,
    value::{Rest, ValueKind, ValueOrKwargs},
};

const FORMAT_BYTES: usize = 64;

/// Filters that have something to say about what is not there.
const ASKS_FOR_NOTHING: &[&str] = &["bool", "d", "default", "float", "int", "tojson"];

/// A table of minijinja's own: names as templates write them, and what is called.
macro_rules! table {
    ($names:ident, $register:ident($environment:ident, $module:ident): $add:expr;
     $($name:literal $(or $alias:literal)? = $call:ident),+ $(,)?) => {
        const $names: &[&str] = &[$($name $(, $alias)?),+];

        fn $register($environment: &mut Environment<'static>) {
            let mut add = $add;
            $(
                let call = Value::from_function($module::$call);
                $(add($alias, call.clone());)?
                add($name, call);
            )+
        }
    };
}

table! {
    BUILT_IN_FILTERS, register_filters(environment, built_in): |name, call| {
        environment.add_filter(name, lenient(name, call));
    };
    "abs" = abs,
    "attr" = attr,
    "batch" = batch,
    "bool" = bool,
    "capitalize" = capitalize,
    "default" or "d" = default,
    "dictsort" = dictsort,
    "escape" or "e" = escape,
    "first" = first,
    "float" = float,
    "format" = format,
    "groupby" = groupby,
    "int" = int,
    "items" = items,
    "join" = join,
    "last" = last,
    "length" or "count" = length,
    "lines" = lines,
    "list" = list,
    "lower" = lower,
    "map" = map,
    "max" = max,
    "min" = min,
    "reject" = reject,
    "rejectattr" = rejectattr,
    "replace" = replace,
    "reverse" = reverse,
    "round" = round,
    "select" = select,
    "selectattr" = selectattr,
    "slice" = slice,
    "sort" = sort,
    "split" = split,
    "string" = string,
    "sum" = sum,
    "title" = title,
    "tojson" = tojson,
    "trim" = trim,
    "unique" = unique,
    "upper" = upper,
    "urlencode" = urlencode,
}

table! {
    TESTS, register_tests(environment, built_in_tests): |name, call: Value| {
        let test = move |state: &mut State, arguments: Rest<ValueOrKwargs>| {
            charged(&call, false, state, arguments)
        };
        environment.add_test(name, test);
    };
    "boolean" = is_boolean,
    "defined" = is_defined,
    "divisibleby" = is_divisibleby,
    "endingwith" = is_endingwith,
    "eq" or "equalto" = is_eq,
    "even" = is_even,
    "false" = is_false,
    "float" = is_float,
    "ge" = is_ge,
    "gt" or "greaterthan" = is_gt,
    "in" = is_in,
    "integer" or "int" = is_integer,
    "iterable" = is_iterable,
    "le" = is_le,
    "lower" = is_lower,
    "lt" or "lessthan" = is_lt,
    "mapping" = is_mapping,
    "ne" = is_ne,
    "none" = is_none,
    "number" = is_number,
    "odd" = is_odd,
    "sequence" = is_sequence,
    "startingwith" = is_startingwith,
    "string" = is_string,
    "true" = is_true,
    "undefined" = is_undefined,
    "upper" = is_upper,
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

/// Calls a filter or a test, which pays for all that it may read; one that is shallow does not look into
/// its first argument.
fn charged(
    call: &Value,
    is_shallow: bool,
    state: &mut State,
    arguments: Rest<ValueOrKwargs>,
) -> Result<Value, Error> {
    let arguments = arguments.into_values();
    // A format may write each of its values as often as it has signs.
    let signs = arguments.first().and_then(Value::as_str);
    let times = signs.map_or(0, |format| format.matches('%').count());
    for argument in arguments.iter().skip(usize::from(is_shallow)) {
        charge(state, argument, times + 1)?;
    }
    call.call(state, &arguments)
}

/// A filter that makes nothing of what is not there: records leave out what has no value, and a guest
/// without a company is no fault of the template.
fn lenient(
    name: &'static str,
    call: Value,
) -> impl Fn(&mut State, Rest<ValueOrKwargs>) -> Result<Value, Error> + Send + Sync + 'static {
    let asks = ASKS_FOR_NOTHING.contains(&name);
    let is_length = ["count", "length"].contains(&name);
    let counts = is_length || name == "sum";
    move |state: &mut State, arguments: Rest<ValueOrKwargs>| {
        let nothing = arguments
            .first()
            .is_some_and(|value| value.is_undefined() || value.is_none());
        match nothing {
            true if counts => Ok(Value::from(0)),
            true if !asks => Ok(Value::UNDEFINED),
            // An indentation could be any number of spaces.
            _ if name == "tojson" && arguments.len() > 1 => {
                Err(fault("this filter takes no arguments here"))
            }
            _ => charged(&call, is_length, state, arguments),
        }
    }
}

/// `session.startAt|date("%H:%M")`: a time as records show it, which is in the instance's zone.
fn date(at: &Value, format: &str) -> Result<Value, Error> {
    if at.is_undefined() || at.is_none() {
        return Ok(Value::UNDEFINED);
    }
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
    strtime::format(format, local)
        .map(Value::from)
        .map_err(|error| fault(format!("date: {error}")))
}

/// The largest value, unfolded, that is printed or handed to a filter, in bytes.
const VALUE_BYTES: usize = 1024 * 1024;
/// The most levels of nesting; JSON bodies have at most 64.
const DEPTH: usize = 80;
/// The bytes of a value beside its text.
const CELL: usize = 32;
/// Bytes that are walked through for one fuel.
const BYTES_PER_FUEL: usize = 16;

/// An error in an operation; the line is added by whoever runs it.
pub(super) fn fault(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidOperation, message.into())
}

/// Charges for walking through a value so many times, before anything does.
pub(super) fn charge(state: &State, value: &Value, times: usize) -> Result<(), Error> {
    let mut left = VALUE_BYTES;
    walk(value, &mut left, DEPTH)?;
    let bytes = (VALUE_BYTES - left).saturating_mul(times);
    state.consume_fuel((bytes / BYTES_PER_FUEL) as u64)
}

fn walk(value: &Value, left: &mut usize, depth: usize) -> Result<(), Error> {
    let own = CELL + value.as_str().map_or(0, str::len);
    *left = left
        .checked_sub(own)
        .ok_or_else(|| fault("this is too large to be handled as a whole"))?;
    let containers = [ValueKind::Seq, ValueKind::Map, ValueKind::Iterable];
    if !containers.contains(&value.kind()) {
        return Ok(());
    }
    let depth = depth
        .checked_sub(1)
        .ok_or_else(|| fault("this is nested too deep"))?;
    for entry in value.try_iter()? {
        if value.kind() == ValueKind::Map {
            walk(&value.get_item(&entry)?, left, depth)?;
        }
        walk(&entry, left, depth)?;
    }
    Ok(())
}
