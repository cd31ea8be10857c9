//! What a template pays, and what it may spend. Limits are counts, never a clock: a template that
//! works in the preview works at the door.

use super::tags::Tag;
use minijinja::{
    AutoEscape, Environment, Error, ErrorKind, HtmlEscape, Output, State, UndefinedBehavior, Value,
    value::ValueKind,
};

/// The longest source of a template, in bytes.
pub const SOURCE_BYTES: usize = 256 * 1024;
/// The most that a template may write, in bytes; what it keeps in variables on the way counts too.
pub const OUTPUT_BYTES: usize = 1024 * 1024;

/// Instructions that may run. A step of a loop over a list takes about ten; of the dearest, calls of
/// macros, so many take some 30 ms.
const FUEL: u64 = 100_000;
/// Bytes that operations may read and write in all, roughly: it bounds time and memory at once,
/// for nothing is allocated that was not paid for.
const WORK: usize = 4 * 1024 * 1024;
/// The largest value, unfolded, that is compared, sorted, printed or handed on as a whole.
const VALUE_BYTES: usize = 1024 * 1024;
/// How deep a value may be nested to be walked; JSON bodies have at most 64 levels.
const DEPTH: usize = 80;
/// The most plain text that loops may add to a variable, which nothing else counts.
const CAPTURED_BYTES: usize = 16 * 1024 * 1024;
/// Instructions that a step of a loop with plain text in it takes at least.
const FUEL_PER_TEXT: usize = 3;
/// Frames of loops, `with` and macros; a macro takes five, so it calls itself about twenty deep.
const RECURSION: usize = 100;
/// What a value takes beside its text, and an entry of a list beside its value.
pub(super) const CELL: usize = 32;

pub(super) const TOO_MANY_STEPS: &str = "the template takes too many steps";

/// What one rendering has spent.
#[derive(Default)]
struct Meter {
    work: usize,
    written: usize,
}

pub(super) fn limit(environment: &mut Environment<'static>) {
    environment.set_recursion_limit(RECURSION);
    // What a record does not have prints nothing, and neither does what would be in it: a guest
    // without a company is no fault of the template.
    environment.set_undefined_behavior(UndefinedBehavior::Chainable);
    environment.set_debug(false);
    environment.set_formatter(write);
}

/// The fuel of a template: less where a loop could fill the memory with plain text.
pub(super) fn fuel(tags: &[Tag<'_>]) -> u64 {
    let (mut loops, mut longest) = (0_usize, 1);
    for tag in tags {
        if loops > 0 {
            longest = longest.max(tag.text_before);
        }
        match tag.statement() {
            Some("for") => loops += 1,
            Some("endfor") => loops = loops.saturating_sub(1),
            _ => {}
        }
    }
    let most = FUEL_PER_TEXT * CAPTURED_BYTES / longest;
    FUEL.min(u64::try_from(most).unwrap_or(FUEL))
}

/// An error in an operation; the line is added by whoever runs it.
pub(super) fn fault(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidOperation, message.into())
}

/// Pays for an operation before it is done.
pub(super) fn spend(state: &mut State, bytes: usize) -> Result<(), Error> {
    let meter = state.get_or_insert_extension_with(Meter::default);
    meter.work = meter.work.saturating_add(bytes);
    if meter.work > WORK {
        return Err(fault("the template works on too much at once"));
    }
    Ok(())
}

/// Pays for walking through values, so many times: an entry that is in one twice counts twice.
pub(super) fn spend_walk(state: &mut State, values: &[Value], times: usize) -> Result<(), Error> {
    for value in values {
        let mut left = VALUE_BYTES;
        walk(value, &mut left, DEPTH)?;
        spend(state, (VALUE_BYTES - left).saturating_mul(times))?;
    }
    Ok(())
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

/// Writes a value into the page, escaped as the page needs; nothing for what is not there.
fn write(out: &mut Output, state: &mut State, value: &Value) -> Result<(), Error> {
    let escape = matches!(state.auto_escape(), AutoEscape::Html) && !value.is_safe();
    // A part of what is not there, such as `delegate.company[:9]`, is an empty list.
    let is_empty = value.kind() == ValueKind::Seq && value.len() == Some(0);
    if value.is_undefined() || value.is_none() || is_empty {
        return Ok(());
    }
    let made;
    let text = if let Some(text) = value.as_str() {
        text
    } else {
        spend_walk(state, std::slice::from_ref(value), 4)?;
        made = value.to_string();
        &made
    };
    let grows = if escape {
        // At most six characters stand for one.
        5 * text
            .bytes()
            .filter(|byte| b"<>&\"'/".contains(byte))
            .count()
    } else {
        0
    };
    count(state, text.len() + grows)?;
    if escape {
        write!(out, "{}", HtmlEscape(text))?;
    } else {
        out.write_str(text)?;
    }
    Ok(())
}

fn count(state: &mut State, bytes: usize) -> Result<(), Error> {
    let meter = state.get_or_insert_extension_with(Meter::default);
    meter.written += bytes;
    if meter.written > OUTPUT_BYTES {
        return Err(fault(too_much_output()));
    }
    Ok(())
}

pub(super) fn too_much_output() -> String {
    format!("the template writes more than {} KiB", OUTPUT_BYTES / 1024)
}
