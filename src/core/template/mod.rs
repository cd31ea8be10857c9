//! Templates that somebody wrote at run time, rendered where they can do no harm: content regions
//! and messages. The language is Jinja, by minijinja; what stands around it is a meter.
//!
//! minijinja counts instructions, and an instruction may cost anything: `x ~ x` doubles a text, one
//! `*` makes a hundred megabytes, a list that holds itself twice thirty times over is a thousand
//! million entries once it is printed. So nothing here runs as minijinja compiled it. The source is
//! measured before it is parsed (`source`), what would be computed while compiling is estimated
//! (`folding`), and of the compiled instructions only a list of known ones passes, those that can
//! grow or walk a value replaced by functions that pay for it first (`guard`, `operators`,
//! `filters`). The payment is deterministic (`meter`): the same template with the same values
//! always fails at the same place, on a slow laptop too.
//!
//! There is no loader: `include`, `import` and `extends` are not part of the language here. Nothing
//! reads a file, the environment or the clock, and no text is ever marked safe by a template.

mod filters;
mod folding;
mod guard;
mod meter;
mod operators;
mod prices;
mod properties;
mod source;
#[cfg(test)]
mod tests;

pub use filters::filters;
pub use meter::{OUTPUT_BYTES, SOURCE_BYTES};

use crate::types::error::panic_text;
use minijinja::{AutoEscape, Environment, machinery, syntax::SyntaxConfig, value::Serde};
use std::{
    collections::BTreeMap,
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

/// Checks a template before it is saved: that it compiles, that everything it calls exists, that the
/// variables it reads are among `names` or its own, and that what it reads of them can be there:
/// `known` are the properties of a variable, or of a property of it such as `delegate.parent`; what
/// it does not name may have any.
pub fn check(source: &str, names: &[&str], known: &[Known<'_>]) -> Result<(), Fault> {
    contained(|| {
        let compiled = compile(source)?;
        guard::metered(&compiled, names)?;
        properties::check(&compiled, known)
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
    names: &[&str],
    values: impl IntoIterator<Item = (&'static str, Value)>,
) -> Result<String, Fault> {
    let root = Value::from_pairs(values);
    contained(|| {
        let program = program(source, names)?;
        let mut text = String::with_capacity(source.len().min(OUTPUT_BYTES));
        let escape = match format {
            Format::Html => AutoEscape::Html,
            Format::Text => AutoEscape::None,
        };
        machinery::eval(
            environment(),
            &program,
            root,
            &BTreeMap::new(),
            &mut machinery::make_string_output(&mut text),
            escape,
        )?;
        Ok(text)
    })
}

fn program<'s>(source: &'s str, names: &[&str]) -> Result<machinery::Instructions<'s>, Fault> {
    guard::metered(&compile(source)?, names)
}

fn compile(source: &str) -> Result<machinery::Instructions<'_>, Fault> {
    source::measure(source)?;
    let tree = machinery::parse(source, "template", SyntaxConfig::default())?;
    folding::estimate(&tree)?;
    let mut generator = machinery::CodeGenerator::new("template", source);
    generator.compile_stmt(&tree);
    Ok(generator.finish().0)
}

/// The one environment: it holds no template, only what templates may call.
fn environment() -> &'static Environment<'static> {
    static ENVIRONMENT: OnceLock<Environment<'static>> = OnceLock::new();
    ENVIRONMENT.get_or_init(|| {
        let mut environment = Environment::empty();
        meter::limit(&mut environment);
        operators::register(&mut environment);
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
