//! What minijinja's fuel does not charge: whatever walks through a value, such as printing it or a filter,
//! visits what is in it twice twice, and calls itself for each level.

use minijinja::{Error, ErrorKind, State, Value, value::ValueKind};

/// The largest value, unfolded, that is printed or handed to a filter, in bytes.
const VALUE_BYTES: usize = 1024 * 1024;
/// How deep it may be nested; JSON bodies have at most 64 levels.
const DEPTH: usize = 80;
/// What a value takes beside its text.
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
