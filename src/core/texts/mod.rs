//! The texts that people read, by language: files of `assets/texts`, one folder a language and one file an area, in
//! Fluent's format. English is the first language, and stands in for what another one lacks. API messages and the log
//! stay English.
//!
//! # Layout
//!
//! - [`t`], [`tx`] and [`html`] give a text by its key, in the language of the request
//! - [`say`] (`phrases`) gives one by its English words, for what stands in Rust beside the thing that it names
//! - `moments` writes dates, times and numbers

mod moments;
mod phrases;

pub use moments::{
    ago, bytes, date, date_time, day_in_words, decimal, from_english_decimal, minute, number,
    short, short_minute,
};

use crate::types::error::{Error, Result};
use fluent_bundle::{FluentArgs, FluentResource, FluentValue, concurrent::FluentBundle};
use phrases::Phrases;
use rust_embed::Embed;
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt, fs,
    future::Future,
    path::Path,
    sync::OnceLock,
};

/// The language that every key has a text in.
const ENGLISH: &str = "en";
/// The file with what scripts say.
const SCRIPTS: &str = "scripts.ftl";

#[derive(Embed)]
#[folder = "assets/texts"]
struct Files;

/// A language with its texts.
pub struct Language {
    /// The code, such as `de`, as browsers send it and `<html lang>` has it.
    pub code: String,
    bundle: FluentBundle<FluentResource>,
    phrases: Phrases,
    /// What scripts say, as JSON by its English words.
    scripts: String,
}

static LANGUAGES: OnceLock<Vec<Language>> = OnceLock::new();

tokio::task_local! {
    static LANGUAGE: &'static Language;
}

/// Reads the texts, and those of a folder with further languages, or other words for texts that there are.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`] where the folder cannot be read, or a file of it is malformed.
pub fn load(folder: Option<&Path>) -> Result<()> {
    let languages = read(folder)?;
    // Read once; a test server in the same process finds what the first one read.
    let _ = LANGUAGES.set(languages);
    Ok(())
}

/// Every language, English first.
pub fn languages() -> &'static [Language] {
    LANGUAGES.get_or_init(|| read(None).unwrap_or_default())
}

/// The language of the request, English outside of one.
pub fn current() -> Option<&'static Language> {
    let of_request = LANGUAGE.try_with(|language| *language).ok();
    of_request.or_else(|| languages().first())
}

/// The code of the language of the request.
pub fn code() -> &'static str {
    current().map_or(ENGLISH, |language| &language.code)
}

/// The place of the language of the request among all, for what is kept once a language.
pub fn index() -> usize {
    let code = code();
    let place = languages()
        .iter()
        .position(|language| language.code == code);
    place.unwrap_or_default()
}

/// The language that somebody chose, otherwise the first that a browser accepts and there is.
pub fn choose(chosen: Option<&str>, accepted: &str) -> Option<&'static Language> {
    let found = |code: &str| {
        let languages = languages().iter();
        let mut languages = languages.filter(|language| language.code.eq_ignore_ascii_case(code));
        languages.next()
    };
    let mut wanted: Vec<(u32, &str)> = accepted
        .split(',')
        .filter_map(|part| {
            let (code, quality) = part.split_once(';').unwrap_or((part, ""));
            let quality = quality.trim().strip_prefix("q=").unwrap_or("1");
            let quality: f64 = quality.parse().ok()?;
            let rank = (1.0 - quality.clamp(0.0, 1.0)) * 1000.0;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "from 0 to 1000"
            )]
            Some((rank as u32, code.trim()))
        })
        .filter(|(rank, _)| *rank < 1000)
        .collect();
    wanted.sort_by_key(|(rank, _)| *rank);
    let of_browser = || {
        wanted
            .iter()
            .find_map(|(_, code)| found(code).or_else(|| found(code.split('-').next()?)))
    };
    chosen
        .and_then(found)
        .or_else(of_browser)
        .or_else(|| languages().first())
}

/// Works in a language.
pub async fn scope<F: Future>(language: Option<&'static Language>, work: F) -> F::Output {
    match language {
        Some(language) => LANGUAGE.scope(language, work).await,
        None => work.await,
    }
}

/// As [`scope`], for work that does not wait, such as what a reader's thread does for a page.
pub fn within<T>(language: Option<&'static Language>, work: impl FnOnce() -> T) -> T {
    match language {
        Some(language) => LANGUAGE.sync_scope(language, work),
        None => work(),
    }
}

/// What scripts say in the language of the request, as JSON by its English words.
pub fn scripts() -> &'static str {
    current().map_or("", |language| &language.scripts)
}

/// The text of a key.
pub fn t(key: &str) -> String {
    format(key, None)
}

/// The text of a key that takes arguments.
pub fn tx(key: &str) -> Text {
    Text {
        key: key.to_owned(),
        args: FluentArgs::new(),
    }
}

/// The text of a key with markup of its own; what it takes is escaped.
pub fn html(key: &str) -> Markup {
    Markup(tx(key))
}

/// The text of some English words: for a word that names what stands beside it in the source, such as the label of a
/// property or the reason of a refusal, and that the API gives in English. The words themselves where they are not
/// known.
pub fn say(english: impl AsRef<str>) -> String {
    let english = english.as_ref();
    let language = current().filter(|language| language.code != ENGLISH);
    let said = language.and_then(|language| phrases::find(language, english));
    said.unwrap_or_else(|| english.to_owned())
}

/// A text with its arguments.
#[derive(Debug)]
pub struct Text {
    key: String,
    args: FluentArgs<'static>,
}

impl Text {
    /// Gives it an argument. A number decides between singular and plural.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl fmt::Display) -> Self {
        self.args.set(name, argument(value.to_string()));
        self
    }

    /// Tells whether nothing is to be shown, as macros of templates ask of a text.
    pub fn is_empty(&self) -> bool {
        self.key.is_empty()
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format(&self.key, Some(&self.args)))
    }
}

/// A text with markup, and its arguments.
#[derive(Debug)]
pub struct Markup(Text);

impl Markup {
    /// Gives it an argument, which is escaped.
    #[must_use]
    pub fn with(self, name: &'static str, value: impl fmt::Display) -> Self {
        Self(self.0.with(name, escaped(&value.to_string())))
    }
}

impl fmt::Display for Markup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl askama::filters::HtmlSafe for Markup {}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '<' => escaped.push_str("&#60;"),
            '>' => escaped.push_str("&#62;"),
            '&' => escaped.push_str("&#38;"),
            '"' => escaped.push_str("&#34;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(letter),
        }
    }
    escaped
}

/// What looks like a number counts as one; the formatter writes it as it came.
fn argument(text: String) -> FluentValue<'static> {
    match moments::read_number(&text) {
        Some((number, is_grouped)) => moments::value(number, is_grouped),
        None => FluentValue::from(text),
    }
}

fn format(key: &str, args: Option<&FluentArgs<'_>>) -> String {
    let own = current();
    let english = languages().first();
    own.and_then(|language| language.format(key, args))
        .or_else(|| english?.format(key, args))
        .unwrap_or_else(|| key.to_owned())
}

impl Language {
    fn format(&self, key: &str, args: Option<&FluentArgs<'_>>) -> Option<String> {
        let pattern = self.bundle.get_message(key)?.value()?;
        let mut faults = Vec::new();
        let text = self.bundle.format_pattern(pattern, args, &mut faults);
        if !faults.is_empty() {
            tracing::warn!("text {key} ({}): {faults:?}", self.code);
        }
        Some(text.into_owned())
    }

    /// The language's own name, such as `Deutsch`.
    pub fn name(&self) -> String {
        let name = self.format("language-name", None);
        name.unwrap_or_else(|| self.code.clone())
    }

    /// Tells whether it has a text of its own for a key.
    pub fn has(&self, key: &str) -> bool {
        self.bundle.has_message(key)
    }
}

/// The keys of every text, with the file each stands in and its words on one line.
pub fn keys(code: &str) -> Vec<(String, String, String)> {
    let mut files = fluent_files();
    files.retain(|name| name.starts_with(&format!("{code}/")));
    let mut keys = Vec::new();
    for name in files {
        let text = embedded(&name);
        keys.extend(lines(&text).map(|(key, words)| (key, name.clone(), words)));
    }
    keys
}

/// A longer text that stands in a file of its own, in the language of the request, otherwise in English.
pub fn file(name: &str) -> String {
    let of = |code: &str| Some(embedded(&format!("{code}/{name}"))).filter(|text| !text.is_empty());
    of(code()).or_else(|| of(ENGLISH)).unwrap_or_default()
}

/// The files with keys.
fn fluent_files() -> BTreeSet<String> {
    let all = Files::iter().map(std::borrow::Cow::into_owned);
    let is_fluent = |name: &String| {
        Path::new(name)
            .extension()
            .is_some_and(|kind| kind == "ftl")
    };
    all.filter(is_fluent).collect()
}

fn embedded(name: &str) -> String {
    let file = Files::get(name);
    file.map_or_else(String::new, |file| {
        String::from_utf8_lossy(&file.data).into_owned()
    })
}

/// The keys of a file, each with the words that stand in its line.
fn lines(text: &str) -> impl Iterator<Item = (String, String)> {
    text.lines().filter_map(|line| {
        let (key, words) = line.split_once(" =")?;
        let is_key = key.starts_with(|first: char| first.is_ascii_lowercase())
            && key
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        is_key.then(|| (key.to_owned(), words.trim().to_owned()))
    })
}

fn read(folder: Option<&Path>) -> Result<Vec<Language>> {
    // Names of files with their texts, by language.
    let mut texts: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    for name in fluent_files() {
        if let Some((code, _)) = name.split_once('/') {
            let file = (name.clone(), embedded(&name));
            texts.entry(code.to_owned()).or_default().push(file);
        }
    }
    if let Some(folder) = folder {
        read_folder(folder, &mut texts)?;
    }
    let english = texts.remove(ENGLISH).unwrap_or_default();
    let mut languages = vec![language(ENGLISH, &english)?];
    for (code, files) in &texts {
        languages.push(language(code, files)?);
    }
    for language in &mut languages {
        let said = |key: &str| language.format(key, None);
        let files = english.iter().filter(|(name, _)| name.ends_with(SCRIPTS));
        let scripts = files.flat_map(|(_, text)| lines(text));
        let scripts: BTreeMap<String, String> = scripts
            .filter_map(|(key, words)| Some((words, said(&key)?)))
            .collect();
        let phrases = Phrases::new(&english, said);
        language.scripts = serde_json::to_string(&scripts).unwrap_or_default();
        language.phrases = phrases;
    }
    Ok(languages)
}

/// The files of a folder: one file a language, such as `fr.ftl`, or one folder with files.
fn read_folder(folder: &Path, texts: &mut BTreeMap<String, Vec<(String, String)>>) -> Result<()> {
    let unreadable =
        |cause: std::io::Error| Error::invalid(format!("{}: {cause}", folder.display()));
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let files = if path.is_dir() {
            let files = fs::read_dir(&path).map_err(unreadable)?;
            files.filter_map(|file| Some(file.ok()?.path())).collect()
        } else {
            vec![path.clone()]
        };
        for file in files {
            if file.extension().is_some_and(|extension| extension == "ftl") {
                let text = fs::read_to_string(&file).map_err(unreadable)?;
                let file = (file.display().to_string(), text);
                texts
                    .entry(stem.clone().into_owned())
                    .or_default()
                    .push(file);
            }
        }
    }
    Ok(())
}

fn language(code: &str, files: &[(String, String)]) -> Result<Language> {
    let locale = code
        .parse()
        .map_err(|_| Error::invalid(format!("{code} is no code of a language, such as fr")))?;
    let mut bundle = FluentBundle::new_concurrent(vec![locale]);
    bundle.set_use_isolating(false);
    bundle.set_formatter(Some(moments::write_number));
    for (name, text) in files {
        let resource = FluentResource::try_new(text.clone()).map_err(|(_, faults)| {
            let fault = faults.first().map(ToString::to_string);
            Error::invalid(format!("{name}: {}", fault.unwrap_or_default()))
        })?;
        bundle.add_resource_overriding(resource);
    }
    Ok(Language {
        code: code.to_owned(),
        bundle,
        phrases: Phrases::default(),
        scripts: String::new(),
    })
}

#[cfg(test)]
mod tests;
