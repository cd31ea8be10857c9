//! Who may go where, over the whole table of routes: roles, CSRF tokens and origins; and that no
//! route fails on what is not there or not filled in.

use super::{Crew, Page, browser, page};
use crate::harness::{Server, has, lacks};
use gatepost::{
    admin::{self, Access, Route},
    identity::ConsoleRole,
};
use reqwest::{Method, header};

/// What may stand where a route has a parameter; none of it exists.
const UNKNOWN: [&str; 8] = [
    "999999",
    "0",
    "-1",
    "9223372036854775807",
    "99999999999999999999",
    "nothing",
    "%00",
    "%F0%9F%8E%AB%22%3C%27",
];

/// The route's path with this for every parameter.
fn path(route: &Route, parameter: &str) -> String {
    let parts = route.path.split('/').map(|part| {
        if part.starts_with([':', '*']) {
            parameter
        } else {
            part
        }
    });
    parts.collect::<Vec<_>>().join("/")
}

fn named(route: &Route) -> String {
    format!("{} {}", route.method, route.path)
}

fn changing() -> impl Iterator<Item = Route> {
    let routes = admin::routes().into_iter();
    routes.filter(|route| route.method != Method::GET)
}

/// The status of an answer whose body may never end, and where it leads.
fn answered(crew: &Crew, path: &str) -> (u16, String) {
    let answer = crew.request(Method::GET, path).send().expect("an answer");
    let location = answer.headers().get(header::LOCATION);
    let location = location
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    (answer.status().as_u16(), location.to_owned())
}

fn leads_to_sign_in(page: &Page) -> bool {
    page.status == 303 && page.location.starts_with("/console/sign-in")
}

#[test]
fn every_route_lets_in_whom_its_table_says_and_nobody_else() {
    let server = Server::start();
    let crews = [server.viewer(), server.operator(), server.administrator()];
    let cookie = crews[0].cookie.split('=').next().expect("a name");
    let (stale, broken) = (format!("{cookie}=0123"), format!("{cookie}=\u{fc}"));
    for route in admin::routes() {
        let (path, named) = (path(&route, "999999"), named(&route));
        let Access::Role(needed) = route.access else {
            continue;
        };
        let url = format!("{}{path}", server.url());
        for cookie in ["", "unknown=0123", &stale, &broken] {
            let request = browser().request(route.method.clone(), &url);
            let outside = page(request.header(header::COOKIE, cookie));
            assert!(
                leads_to_sign_in(&outside),
                "{named} with {cookie:?}: {outside:?}"
            );
        }
        for (crew, role) in crews.iter().zip(ConsoleRole::ALL) {
            if *role < needed {
                let form = [("csrf", crew.csrf.as_str())];
                let refused = page(crew.request(route.method.clone(), &path).form(&form));
                assert_eq!(refused.status, 403, "{named} as {}", role.name());
                refused.refused(403, "needs the role");
            } else if route.method == Method::GET {
                let (status, location) = answered(crew, &path);
                let admitted = status != 403 && !location.starts_with("/console/sign-in");
                assert!(admitted, "{named} as {}: {status} {location}", role.name());
            }
        }
    }
}

#[test]
fn what_changes_something_needs_a_role_beyond_the_way_in() {
    let open: Vec<&str> = admin::routes()
        .iter()
        .filter(|route| route.access == Access::Anyone)
        .map(|route| route.path)
        .collect();
    // Whoever adds to these has to say why everybody may go there.
    let known = [
        "/console/static/*name",
        "/console/*path",
        "/console/setup",
        "/console/setup",
        "/console/sign-in",
        "/console/sign-in",
        "/console/sign-in/code",
        // The secret in its address is the way in, to the wall display alone.
        "/console/wall/enter",
    ];
    for path in open {
        assert!(known.contains(&path), "{path} is open to everybody");
    }
}

#[test]
fn nothing_is_changed_without_the_token_of_the_session() {
    let (server, crew) = Server::with_administrator();
    let other = Crew::sign_in(&server, "administrator@example.com");
    assert_ne!(crew.csrf, other.csrf);
    for route in changing() {
        let (path, named) = (path(&route, "999999"), named(&route));
        let without = page(crew.request(route.method.clone(), &path));
        without.refused(403, "of another session");
        for token in ["", "0", other.csrf.as_str()] {
            let form = page(
                crew.request(route.method.clone(), &path)
                    .form(&[("csrf", token)]),
            );
            assert_eq!(form.status, 403, "{named} with {token:?}");
        }
        // Its own token is good for nothing in the address, where logs and histories keep it.
        let query = format!("{path}?csrf={}", crew.csrf);
        let query = page(crew.request(route.method.clone(), &query));
        assert_eq!(query.status, 403, "{named} with the token in the query");
        let late = format!(
            "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\na\r\n\
             --x\r\nContent-Disposition: form-data; name=\"csrf\"\r\n\r\n{}\r\n--x--\r\n",
            crew.csrf
        );
        let late = crew.request(route.method.clone(), &path).body(late);
        let late = page(late.header(header::CONTENT_TYPE, "multipart/form-data; boundary=x"));
        assert_eq!(late.status, 403, "{named} with the token behind a file");
    }
    crew.page("/console");
}

#[test]
fn another_site_changes_nothing() {
    let (_server, crew) = Server::with_administrator();
    let form = [("csrf", crew.csrf.as_str())];
    for route in changing() {
        let path = path(&route, "999999");
        for (name, value) in [
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-site", "same-site"),
            ("origin", "http://evil.example"),
            ("origin", "null"),
        ] {
            let request = crew.request(route.method.clone(), &path);
            page(request.header(name, value).form(&form)).refused(403, "another site");
        }
    }
    crew.page("/console");
}

#[test]
fn no_page_of_an_empty_file_fails_whatever_its_address_says() {
    let (_server, crew) = Server::with_administrator();
    for route in admin::routes() {
        if route.method != Method::GET {
            continue;
        }
        for parameter in UNKNOWN {
            let path = path(&route, parameter);
            for query in [
                "",
                "?q=%22%27%00&page=-1&after=x&before=x&search=%7B&type=%F0",
            ] {
                let (status, _) = answered(&crew, &format!("{path}{query}"));
                assert!(status < 500, "{} {path}{query}: {status}", named(&route));
            }
            if path == route.path {
                break;
            }
        }
    }
}

#[test]
fn no_form_fails_when_nothing_is_filled_in() {
    let server = Server::start();
    let mut crew = server.administrator();
    for route in changing() {
        for parameter in UNKNOWN {
            let path = path(&route, parameter);
            let answer = crew.post(&path, &[]);
            assert!(answer.status < 500, "{} {path}: {answer:?}", named(&route));
            // What was uploaded is nothing, too.
            for kind in [
                "application/octet-stream",
                "multipart/form-data; boundary=x",
            ] {
                let upload = crew.request(route.method.clone(), &path);
                let upload = upload.header("x-csrf-token", &crew.csrf).body("--x--\r\n");
                let answer = page(upload.header(header::CONTENT_TYPE, kind));
                assert!(answer.status < 500, "{} {path}: {answer:?}", named(&route));
            }
            if leads_to_sign_in(&crew.get("/console")) {
                crew = Crew::sign_in(&server, "administrator@example.com");
            }
            if path == route.path {
                break;
            }
        }
    }
}

#[test]
fn what_no_route_takes_is_told_on_a_page() {
    let (server, crew) = Server::with_viewer();
    let is_page = |page: &Page, status: u16, about: &str| {
        page.refused(status, about);
        assert!(page.html.starts_with("<!doctype html>"), "{page:?}");
    };
    for route in admin::routes() {
        let path = path(&route, "999999");
        for method in ["PUT", "DELETE", "OPTIONS", "BREW"] {
            let method = Method::from_bytes(method.as_bytes()).expect("a method");
            let answer = crew
                .request(method.clone(), &path)
                .send()
                .expect("an answer");
            let allow = answer.headers().get(header::ALLOW).cloned();
            assert_eq!(answer.status(), 405, "{method} {path}");
            assert!(allow.is_some(), "{method} {path}");
            let html = answer.text().expect("text");
            has(&html, &format!("does not know {method}"));
        }
    }
    for broken in ["/console/delegates?q=%", "/console/%ff", "/console?x=%zz"] {
        is_page(&crew.get(broken), 400, "percent-encoded");
        // Somebody who is not signed in is shown where to do that, and nothing of the menu.
        let outside = page(browser().get(format!("{}{broken}", server.url())));
        is_page(&outside, 400, "/console/sign-in");
        lacks(&outside.html, "viewer@example.com");
    }
    let nowhere = crew.request(Method::POST, "/console/no/such/page");
    is_page(&page(nowhere), 404, "no such page");
    let head = crew.request(Method::HEAD, "/console/delegates");
    page(head).is(200);
    // Programs are told as ever.
    let api = page(crew.request(Method::PUT, "/api/v5/ping"));
    assert_eq!(api.status, 405);
    has(&api.html, "1104");
}
