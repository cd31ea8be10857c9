//! `/handbook`: the documentation, in the console's look. It needs no sign-in, and nothing from the
//! internet. Its pages are the Markdown files of `assets/handbook`, rendered once.

mod render;

use crate::{
    admin::{answer, assets},
    core::texts,
    identity::App,
    types::error::{Error, Kind},
    web::Failure,
};
use askama::Template;
use poem::{Request, Response, http::header};
use render::{Page, Section};
use rust_embed::Embed;
use std::sync::LazyLock;

/// The pages, in the order of the table of contents.
const NAMES: [&str; 14] = [
    "start",
    "prepare",
    "gates",
    "readers",
    "on-the-day",
    "card",
    "operate",
    "standby",
    "head-office",
    "integrate",
    "figures",
    "develop",
    "changes",
    "licences",
];
/// Files of the console that the pages use; the console itself does not answer everybody.
const SHARED: [&str; 5] = [
    "console.css",
    "console.js",
    "handbook.css",
    "icon.svg",
    "icons.svg",
];
/// Words of a search that count.
const WORDS_MAX: usize = 8;
/// Sections that a search lists.
const HITS_MAX: usize = 40;

/// The pages by language, as `texts` has the languages. A page that a language lacks is English.
static PAGES: LazyLock<Vec<Vec<Page>>> = LazyLock::new(|| {
    let of = |code: &str| NAMES.iter().filter_map(|name| read(code, name)).collect();
    texts::languages()
        .iter()
        .map(|language| of(&language.code))
        .collect()
});

fn read(code: &str, name: &'static str) -> Option<Page> {
    let own = Files::get(&format!("{code}/{name}.md"));
    let language = if own.is_some() { code } else { "en" };
    let file = own.or_else(|| Files::get(&format!("{name}.md")))?;
    let text = String::from_utf8_lossy(&file.data);
    Some(Page::render(name, language, &text))
}

/// The pages in the language of the request.
fn pages() -> &'static [Page] {
    PAGES.get(texts::index()).map_or(&[], Vec::as_slice)
}

#[derive(Embed)]
#[folder = "assets/handbook"]
struct Files;

#[derive(Template)]
#[template(path = "handbook.html")]
struct View<'a> {
    pages: &'a [Page],
    /// The page that is shown; none for the table of contents and for a search.
    current: Option<&'a Page>,
    query: Option<&'a str>,
    hits: Vec<Hit>,
    /// The titles of the search and of the table of contents.
    words: (String, String),
}

impl View<'_> {
    fn title(&self) -> &str {
        match (self.current, self.query) {
            (Some(page), _) => &page.title,
            (None, Some(_)) => &self.words.0,
            (None, None) => &self.words.1,
        }
    }

    fn is_current(&self, page: &Page) -> bool {
        self.current
            .is_some_and(|current| current.name == page.name)
    }

    fn answer(&self) -> poem::Result<Response> {
        let html = self
            .render()
            .map_err(|cause| Failure(Error::defect(cause)))?;
        let response = Response::builder()
            .content_type("text/html; charset=utf-8")
            .header(header::CACHE_CONTROL, "no-cache")
            .body(html);
        Ok(answer::secured(response))
    }
}

/// The address of a shared file; changes with its content.
fn address(name: &str) -> String {
    format!("/handbook/{name}?v={}", assets::content(name).1)
}

/// A section that a search found.
struct Hit {
    page: &'static Page,
    section: &'static Section,
    /// The paragraph with the first word.
    excerpt: &'static str,
}

fn respond(current: Option<&Page>, query: Option<&str>) -> poem::Result<Response> {
    View {
        pages: pages(),
        current,
        query,
        hits: query.map(find).unwrap_or_default(),
        words: (texts::t("handbook-search"), texts::t("handbook-handbook")),
    }
    .answer()
}

/// The table of contents.
pub fn contents() -> poem::Result<Response> {
    respond(None, None)
}

/// The sections with every word of `q`; those with all of them in the heading first.
pub fn search(_: &App, request: &Request) -> poem::Result<Response> {
    let query = request.uri().query().unwrap_or_default();
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    let query = pairs.find(|(name, _)| name == "q");
    respond(
        None,
        Some(&query.map(|(_, value)| value).unwrap_or_default()),
    )
}

/// A page, or a file that the pages use.
pub fn show(_: &App, request: &Request) -> poem::Result<Response> {
    let name = request.path_params::<String>().unwrap_or_default();
    if let Some(page) = pages().iter().find(|page| page.name == name) {
        return respond(Some(page), None);
    }
    file(&name).ok_or_else(|| {
        let message = format!("the handbook has no page \"{name}\"; /handbook lists them");
        Failure(Error::new(Kind::NoSuchPath, message)).into()
    })
}

fn file(name: &str) -> Option<Response> {
    let (content, kind) = match name.rsplit_once('.')? {
        (_, "png") => (Files::get(name)?.data.into_owned(), "image/png"),
        (_, extension) if SHARED.contains(&name) => {
            let kind = match extension {
                "css" => "text/css; charset=utf-8",
                "js" => "text/javascript; charset=utf-8",
                _ => "image/svg+xml",
            };
            (assets::content(name).0, kind)
        }
        _ => return None,
    };
    let response = Response::builder()
        .content_type(kind)
        .header(header::CACHE_CONTROL, "public, max-age=86400")
        .body(content);
    Some(answer::secured(response))
}

fn find(query: &str) -> Vec<Hit> {
    let query = query.to_lowercase();
    let words: Vec<&str> = query.split_whitespace().take(WORDS_MAX).collect();
    if words.is_empty() {
        return Vec::new();
    }
    let all_in = |text: &str| {
        let text = text.to_lowercase();
        words.iter().all(|word| text.contains(word))
    };
    let sections = pages()
        .iter()
        .flat_map(|page| page.sections.iter().map(move |section| (page, section)));
    let mut hits: Vec<Hit> = sections
        .filter(|(_, section)| all_in(&section.searched()))
        .map(|(page, section)| Hit {
            page,
            section,
            excerpt: section.excerpt(words[0]),
        })
        .collect();
    hits.sort_by_key(|hit| !all_in(&hit.section.title));
    hits.truncate(HITS_MAX);
    hits
}
