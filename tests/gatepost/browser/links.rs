//! Follows the links of the console's pages, so that every page is known by an address that a user
//! gets to.

use gatepost::admin::{self, Route};
use reqwest::{Method, header, redirect};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Addresses of one route that are followed: pages differ by what they show, lists by their filters.
const FOLLOWED: usize = 12;
/// Pages of one route that are looked at.
const LOOKED_AT: usize = 3;

/// What there is in a console.
#[derive(Default)]
pub struct Found {
    /// Whole pages, by their route's path.
    pub pages: BTreeMap<&'static str, Vec<String>>,
    /// Paths of the routes that some link leads to.
    pub reached: BTreeSet<&'static str>,
    /// Links that lead nowhere: from, to, status.
    pub dead: Vec<String>,
}

/// The route that shows this path, where one does.
pub fn route<'a>(routes: &'a [Route], path: &str) -> Option<&'a Route> {
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let mut fitting: Vec<&Route> = routes
        .iter()
        .filter(|route| route.method == Method::GET && fits(route.path, path))
        .collect();
    // `/delegates/new` is no delegate, and whatever fits nothing else is not found.
    fitting.sort_by_key(|route| {
        let open = route.path.matches(':').count();
        let literal = route.path.len();
        (route.path.contains('*'), open, std::cmp::Reverse(literal))
    });
    fitting.first().copied()
}

fn fits(pattern: &str, path: &str) -> bool {
    let (mut wanted, mut given) = (pattern.split('/'), path.split('/'));
    loop {
        match (wanted.next(), given.next()) {
            (None, None) => return true,
            (Some(any), Some(_)) if any.starts_with('*') => return true,
            (Some(any), Some(part)) if any.starts_with(':') && !part.is_empty() => {}
            (Some(wanted), Some(given)) if wanted == given => {}
            _ => return false,
        }
    }
}

/// Follows every link from the dashboard on.
pub fn follow(origin: &str, cookies: &str) -> Found {
    let routes = admin::routes();
    let http = crate::harness::http()
        .redirect(redirect::Policy::none())
        .build()
        .expect("a client");
    let mut found = Found::default();
    let mut followed: BTreeMap<&str, usize> = BTreeMap::new();
    let mut known = BTreeSet::from(["/console".to_owned()]);
    let mut waiting = VecDeque::from([("/console".to_owned(), String::new())]);
    while let Some((path, from)) = waiting.pop_front() {
        let Some(route) = route(&routes, &path) else {
            found
                .dead
                .push(format!("{path}, linked from {from}: no route"));
            continue;
        };
        let times = followed.entry(route.path).or_default();
        *times += 1;
        if *times > FOLLOWED {
            continue;
        }
        // Drawing everybody's badge takes long in a build that is not optimised; `console::badges` looks at it.
        if route.path == "/console/settings/badges/pdf" {
            found.reached.insert(route.path);
            continue;
        }
        let request = http.get(format!("{origin}{path}"));
        let answer = request.header(header::COOKIE, cookies).send();
        let answer = answer.expect("an answer");
        let status = answer.status().as_u16();
        found.reached.insert(route.path);
        if status != 200 && status != 303 {
            let told = format!("{path}, linked from {from}: status {status}");
            found.dead.push(told);
            continue;
        }
        let kind = answer.headers().get(header::CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if !kind.starts_with("text/html") {
            continue;
        }
        let html = answer.text().expect("text");
        if is_whole(&html) {
            let pages = found.pages.entry(route.path).or_default();
            if pages.len() < LOOKED_AT {
                pages.push(path.clone());
            }
        }
        for link in links(&html) {
            let link = absolute(&path, &link);
            if link.starts_with("/console") && known.insert(link.clone()) {
                waiting.push_back((link, path.clone()));
            }
        }
    }
    found
}

/// Whether this is a page, rather than a part that a page renews.
fn is_whole(html: &str) -> bool {
    html.trim_start()
        .get(..9)
        .is_some_and(|start| start.eq_ignore_ascii_case("<!doctype"))
}

fn absolute(page: &str, link: &str) -> String {
    let link = link.split('#').next().unwrap_or_default();
    if link.starts_with('?') {
        let path = page.split('?').next().unwrap_or_default();
        return format!("{path}{link}");
    }
    link.to_owned()
}

/// The routes of what a page refers to.
pub fn routes_in(html: &str) -> BTreeSet<&'static str> {
    let routes = admin::routes();
    let links = links(html);
    let found = links.iter().filter_map(|link| route(&routes, link));
    found.map(|route| route.path).collect()
}

/// What a page refers to: links, parts, streams, pictures, and forms that only look.
fn links(html: &str) -> Vec<String> {
    const NAMES: [&str; 5] = [
        " href=\"",
        " hx-get=\"",
        " sse-connect=\"",
        " src=\"",
        " action=\"",
    ];
    let mut links = Vec::new();
    for tag in html.split('<').skip(1) {
        let tag = tag.split('>').next().unwrap_or_default();
        if tag.starts_with("form ") && tag.contains("method=\"post\"") {
            continue;
        }
        for name in NAMES {
            let value = tag
                .split(name)
                .nth(1)
                .and_then(|rest| rest.split('"').next());
            links.extend(value.map(unescaped));
        }
    }
    links
}

fn unescaped(text: &str) -> String {
    text.replace("&#38;", "&")
        .replace("&amp;", "&")
        .replace("&#34;", "\"")
        .replace("&quot;", "\"")
}

#[test]
fn a_path_belongs_to_its_route() {
    for (pattern, path, fitting) in [
        ("/console", "/console", true),
        ("/console/delegates/:id", "/console/delegates/7", true),
        ("/console/delegates/:id", "/console/delegates/", false),
        ("/console/delegates/:id", "/console/delegates/7/edit", false),
        ("/console/static/*name", "/console/static/vendor/x.js", true),
        ("/console/delegates", "/console/devices", false),
    ] {
        assert_eq!(fits(pattern, path), fitting, "{pattern} {path}");
    }
}
