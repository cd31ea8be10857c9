//! Templates that administrators write, rendered where a mistake does no harm: content regions and
//! messages. The language is Jinja, by minijinja's public API.
//!
//! Every rendering has a budget (`FUEL`), which minijinja charges for each instruction and for the
//! bytes that it makes, before it makes them. It is counted, never timed: a template that works in the
//! preview works at the door.
//!
//! There is no loader: `include`, `import` and `extends` are not part of the language here. Nothing
//! reads a file, the environment or the clock, and no text is ever marked safe by a template.

mod checks;
mod filters;
mod tags;
#[cfg(test)]
mod tests;

pub use filters::filters;

use crate::types::error::panic_text;
use minijinja::{
    AutoEscape, Environment, Error, Output, State, UndefinedBehavior, escape_formatter,
    value::{Serde, ValueKind},
};
use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::OnceLock,
};

/// The longest source of a template, in bytes.
pub const SOURCE_BYTES: usize = 256 * 1024;
/// The most that a template may write, in bytes.
pub const OUTPUT_BYTES: usize = 1024 * 1024;
/// The most that a rendering may spend: about an instruction or 64 bytes each, so some 12 MB and 100 ms.
const FUEL: u64 = 200_000;
/// Frames of loops, `with` and macros; a macro takes five, so it calls itself about twenty deep.
const RECURSION: usize = 100;

/// A value that a template sees.
pub type Value = minijinja::Value;

/// The format that a template writes: it decides how the values in it are escaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// HTML: every value is escaped, always.
    Html,
    /// Plain text, such as an SMS or a subject: nothing is escaped.
    Text,
}

/// The reason why a template does not compile, or failed while it was rendered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The line of the source, counted from 1, where one can be named.
    pub line: Option<usize>,
    /// The fault, as a sentence for whoever wrote the template.
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for Fault {}

impl Fault {
    fn at(line: impl Into<usize>, message: impl Into<String>) -> Self {
        Self {
            line: Some(line.into()),
            message: message.into(),
        }
    }

    fn whole(message: impl Into<String>) -> Self {
        Self {
            line: None,
            message: message.into(),
        }
    }
}

impl From<minijinja::Error> for Fault {
    fn from(error: minijinja::Error) -> Self {
        // The innermost cause names the place: around it are only the macros that led there.
        let mut inner = &error;
        while let Some(cause) = std::error::Error::source(inner)
            .and_then(|cause| cause.downcast_ref::<minijinja::Error>())
        {
            inner = cause;
        }
        let message = match (inner.kind(), inner.detail()) {
            (minijinja::ErrorKind::OutOfFuel, _) => {
                "the template does too much: it takes too many steps, or makes too large a text"
                    .to_owned()
            }
            (_, Some(detail)) => detail.to_owned(),
            (kind, None) => kind.to_string(),
        };
        Self {
            line: inner.line().or_else(|| error.line()),
            message,
        }
    }
}

/// Checks a template before it is saved: that it compiles, that everything it calls exists, that the variables it reads are among `names` or its own, and that
/// what it reads of them can be there: `known` are the properties of a variable, or of a property of it
/// such as `delegate.parent`; what it does not name may have any.
pub fn check(source: &str, names: &[&str], known: &[Known<'_>]) -> Result<(), Fault> {
    if source.len() > SOURCE_BYTES {
        return Err(Fault::whole(format!(
            "a template has at most {} KiB",
            SOURCE_BYTES / 1024
        )));
    }
    contained(|| {
        let tags = tags::scan(source);
        checks::check_language(&tags)?;
        environment().template_from_named_str(PAGE, source)?;
        checks::check_names(&tags, names, known)
    })
}

/// A variable, or what a path from it leads to, and the properties that it can have.
pub type Known<'k> = (&'k str, &'k [&'k str]);

/// Turns something that can be written as JSON into a value for templates.
pub fn value(of: &impl serde::Serialize) -> Value {
    Value::from(Serde(of))
}

/// Renders a template with the values, at most [`OUTPUT_BYTES`]. A name without a value is undefined, which prints
/// nothing. It is compiled each time: that is a small part of it, and nothing can be out of date.
pub fn render(
    source: &str,
    format: Format,
    values: impl IntoIterator<Item = (&'static str, Value)>,
) -> Result<String, Fault> {
    let root = Value::from_pairs(values);
    contained(|| {
        let name = match format {
            Format::Html => PAGE,
            Format::Text => "text",
        };
        let text = environment().render_named_str(name, source, root)?;
        if text.len() > OUTPUT_BYTES {
            return Err(Fault::whole(format!(
                "the template writes more than {} KiB",
                OUTPUT_BYTES / 1024
            )));
        }
        Ok(text)
    })
}

/// The name under which a template is escaped.
const PAGE: &str = "page";

/// The one environment: it holds no template, only what templates may call.
fn environment() -> &'static Environment<'static> {
    static ENVIRONMENT: OnceLock<Environment<'static>> = OnceLock::new();
    ENVIRONMENT.get_or_init(|| {
        let mut environment = Environment::empty();
        environment.set_auto_escape_callback(|name| match name {
            PAGE => AutoEscape::Html,
            _ => AutoEscape::None,
        });
        environment.set_fuel(Some(FUEL));
        environment.set_recursion_limit(RECURSION);
        environment.set_undefined_behavior(UndefinedBehavior::Chainable);
        environment.set_debug(false);
        environment.set_formatter(write);
        filters::register(&mut environment);
        environment
    })
}

/// Writes a value into the page, escaped as the page needs; nothing for what a record does not have: a
/// guest without a company is no fault of the template.
fn write(out: &mut Output, state: &mut State, value: &Value) -> Result<(), Error> {
    // A part of what is not there, such as `delegate.company[:9]`, is an empty list.
    let is_empty = value.kind() == ValueKind::Seq && value.len() == Some(0);
    if value.is_undefined() || value.is_none() || is_empty {
        return Ok(());
    }
    if value.as_str().is_none() {
        filters::charge(state, value, 1)?;
    }
    escape_formatter(out, state, value)
}

/// A panic inside the library is a fault of this template, and nobody else's.
fn contained<T>(work: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        tracing::error!(
            cause = panic_text(&*panic),
            "a template made the renderer panic"
        );
        Err(Fault::whole("this template cannot be worked out"))
    })
}
