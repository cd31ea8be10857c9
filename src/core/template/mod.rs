//! Templates that administrators write, rendered where a mistake does no harm: content regions and
//! messages. The language is Jinja, by minijinja's public API.
//!
//! minijinja counts instructions (fuel), and an instruction may cost anything: `x ~ x` doubles a text.
//! So what doubles is refused when a template is saved (`growth`), filters pay for what they make
//! before they make it (`prices`), and values for what they write (`meter`). All of it is counted,
//! never timed: a template that works in the preview works at the door.
//!
//! There is no loader: `include`, `import` and `extends` are not part of the language here. Nothing
//! reads a file, the environment or the clock, and no text is ever marked safe by a template.

mod filters;
mod growth;
mod meter;
mod names;
mod prices;
mod tags;
#[cfg(test)]
mod tests;

pub use filters::filters;
pub use meter::{OUTPUT_BYTES, SOURCE_BYTES};

use crate::types::error::panic_text;
use minijinja::{AutoEscape, Environment, value::Serde};
use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::OnceLock,
};

/// A value that a template sees.
pub type Value = minijinja::Value;

/// What a template writes: it decides how the values in it are escaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// HTML: every value is escaped, always.
    Html,
    /// Plain text, such as an SMS or a subject: nothing is escaped.
    Text,
}

/// Why a template does not compile, or failed while it was rendered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The line of the source, counted from 1, where one can be named.
    pub line: Option<usize>,
    /// What is wrong there, as a sentence for whoever wrote the template.
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
            (minijinja::ErrorKind::OutOfFuel, _) => meter::TOO_MANY_STEPS.to_owned(),
            (_, Some(detail)) => detail.to_owned(),
            (kind, None) => kind.to_string(),
        };
        Self {
            line: inner.line().or_else(|| error.line()),
            message,
        }
    }
}

/// Checks a template before it is saved: that it compiles, that nothing in it doubles without bound,
/// that everything it calls exists, that the variables it reads are among `names` or its own, and that
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
        // First, for the compiler works out what is constant.
        growth::check(&tags)?;
        environment().template_from_named_str(PAGE, source)?;
        names::check(&tags, names, known)
    })
}

/// A variable, or what a path from it leads to, and the properties that it can have.
pub type Known<'k> = (&'k str, &'k [&'k str]);

/// What a template sees of something that can be written as JSON.
#[must_use]
pub fn value(of: &impl serde::Serialize) -> Value {
    Value::from(Serde(of))
}

/// What a template makes of the values, at most [`OUTPUT_BYTES`]. A name without a value is undefined,
/// which prints nothing. It is compiled each time: that is a small part of it, and nothing can be out
/// of date.
pub fn render(
    source: &str,
    format: Format,
    values: impl IntoIterator<Item = (&'static str, Value)>,
) -> Result<String, Fault> {
    let root = Value::from_pairs(values);
    contained(|| {
        let mut environment = environment().clone();
        environment.set_fuel(Some(meter::fuel(&tags::scan(source))));
        let name = match format {
            Format::Html => PAGE,
            Format::Text => "text",
        };
        let text = environment.render_named_str(name, source, root)?;
        if text.len() > OUTPUT_BYTES {
            return Err(Fault::whole(meter::too_much_output()));
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
        meter::limit(&mut environment);
        filters::register(&mut environment);
        environment
    })
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
