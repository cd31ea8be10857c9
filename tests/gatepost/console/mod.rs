//! The console, as a browser without scripts sees it: pages over HTTP, with the cookie and the CSRF
//! token of a session.

mod access;
mod account;
mod activity;
mod arrivals;
mod audit;
mod authorisation;
mod backups;
mod badges;
mod configuration;
mod content;
mod crew;
mod dashboard;
pub mod delegates;
mod desk;
mod devices;
mod discovery;
mod evacuation;
mod gates;
mod imports;
mod interactions;
mod places;
mod readers;
pub mod rehearsal;
mod sales;
mod secrets;
mod sessions;
pub mod settings;
mod shell;

use access::field;
pub use access::{between, commanded};
pub use delegates::fields as form_fields;

use crate::{
    harness::{PASSWORD, Server},
    tables::{Parts, has},
};
use gatepost::identity::{ConsoleRole, password, users};
use reqwest::{
    Method,
    blocking::{Client, RequestBuilder, Response},
    header, redirect,
};

/// Somebody who is signed in to the console.
pub struct Crew {
    pub url: String,
    pub http: Client,
    pub cookie: String,
    pub csrf: String,
}

/// What the console answers.
#[derive(Debug)]
pub struct Page {
    pub status: u16,
    /// Where it leads, of a redirect.
    pub location: String,
    pub html: String,
}

impl Page {
    /// A page that could be shown.
    #[track_caller]
    pub fn shown(self) -> String {
        assert_eq!(self.status, 200, "{self:?}");
        self.html
    }

    /// Checks the status.
    #[track_caller]
    pub fn is(&self, status: u16) {
        assert_eq!(self.status, status, "{self:?}");
    }

    /// Where a form that was taken leads.
    #[track_caller]
    pub fn taken(self) -> String {
        assert_eq!(self.status, 303, "{self:?}");
        self.location
    }

    /// The mark of the state that a form was begun on.
    #[track_caller]
    pub fn version(&self) -> String {
        let after = self.html.split("name=\"version\" value=\"").nth(1);
        let version = after.and_then(|rest| rest.split('"').next());
        version.expect("a form with a version").to_owned()
    }

    /// Checks that a page tells of `about` and has this status.
    #[track_caller]
    pub fn refused(&self, status: u16, about: &str) {
        assert_eq!(self.status, status, "{self:?}");
        assert!(self.html.contains(about), "no {about:?} in {self:?}");
    }
}

/// A client that follows no redirects.
pub fn browser() -> Client {
    crate::harness::http()
        .redirect(redirect::Policy::none())
        .build()
        .expect("a client")
}

/// Sends a request and reads the page.
pub fn page(request: RequestBuilder) -> Page {
    let response: Response = request.send().expect("an answer");
    Page {
        status: response.status().as_u16(),
        location: response
            .headers()
            .get(header::LOCATION)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
            .to_owned(),
        html: response.text().expect("text"),
    }
}

impl Server {
    /// A user of the console with the password [`PASSWORD`].
    pub fn console_user(&self, email: &str, role: ConsoleRole) {
        let new = users::NewUser {
            email: email.to_owned(),
            password: Some(password::hash(PASSWORD).expect("a hash")),
            console: Some(role),
            ..users::NewUser::default()
        };
        self.write(move |tx, ctx| users::create(tx, ctx, &new));
    }

    /// As [`Server::crew`], for a user who may be there already.
    pub fn crew_once(&self, role: ConsoleRole) -> Crew {
        let email = format!("{}@example.com", role.name());
        let there = format!("SELECT count(*) FROM users WHERE email = '{email}'");
        if self.value::<i64>(&there) == 0 {
            self.console_user(&email, role);
        }
        Crew::sign_in(self, &email)
    }

    /// Somebody of the crew with this role, signed in.
    pub fn crew(&self, role: ConsoleRole) -> Crew {
        let email = format!("{}@example.com", role.name());
        self.console_user(&email, role);
        Crew::sign_in(self, &email)
    }

    pub fn viewer(&self) -> Crew {
        self.crew(ConsoleRole::Viewer)
    }

    pub fn operator(&self) -> Crew {
        self.crew(ConsoleRole::Operator)
    }

    pub fn administrator(&self) -> Crew {
        self.crew(ConsoleRole::Administrator)
    }

    /// Starts a server on a fresh file; a viewer.
    pub fn with_viewer() -> (Self, Crew) {
        let server = Self::start();
        let crew = server.viewer();
        (server, crew)
    }

    /// Starts a server on a fresh file; an administrator.
    pub fn with_administrator() -> (Self, Crew) {
        let server = Self::start();
        let crew = server.administrator();
        (server, crew)
    }
}

impl Crew {
    /// Signs a user with the password [`PASSWORD`] in.
    pub fn sign_in(server: &Server, email: &str) -> Self {
        Self::sign_in_at(&server.url(), email, PASSWORD)
    }

    /// Signs a user in at the server of an address.
    pub fn sign_in_at(url: &str, email: &str, password: &str) -> Self {
        let form = [("email", email), ("password", password)];
        let request = browser().post(format!("{url}/console/sign-in"));
        Self::answered(url, &request.form(&form).send().expect("an answer"))
    }

    /// Whoever is signed in by an answer.
    pub fn answered(url: &str, answer: &Response) -> Self {
        assert_eq!(answer.status(), 303, "{answer:?}");
        let cookie = answer.headers()[header::SET_COOKIE].to_str().expect("text");
        let mut crew = Self {
            url: url.to_owned(),
            http: browser(),
            cookie: cookie.split(';').next().expect("a cookie").to_owned(),
            csrf: String::new(),
        };
        let html = crew.get("/console/account").html + &crew.get("/console").html;
        field(&html, "csrf").clone_into(&mut crew.csrf);
        crew
    }

    /// A request with the session's cookie; `path` is the whole path.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http
            .request(method, format!("{}{path}", self.url))
            .header(header::COOKIE, &self.cookie)
    }

    /// Checks that a page has all these parts.
    #[track_caller]
    pub fn sees(&self, path: &str, parts: impl Parts) {
        has(self.page(path), parts);
    }

    /// Deletes an attendee permanently.
    #[track_caller]
    pub fn erase(&self, delegate: i64) {
        let fields = [("confirm", &*delegate.to_string())];
        self.post(&format!("/console/delegates/{delegate}/erase"), &fields)
            .taken();
    }

    /// A page that can be shown.
    #[track_caller]
    pub fn page(&self, path: &str) -> String {
        self.get(path).shown()
    }

    /// Sends a form that has nothing but a button; where that leads.
    #[track_caller]
    pub fn press(&self, path: &str) -> String {
        self.post(path, &[]).taken()
    }

    /// A page.
    pub fn get(&self, path: &str) -> Page {
        page(self.request(Method::GET, path))
    }

    /// Sends a form, with the session's CSRF token.
    pub fn post(&self, path: &str, fields: &[(&str, &str)]) -> Page {
        let mut all = vec![("csrf", self.csrf.as_str())];
        all.extend_from_slice(fields);
        page(self.request(Method::POST, path).form(&all))
    }

    /// Sends a form as a script does, for a part of the page.
    pub fn part(&self, path: &str, fields: &[(&str, &str)]) -> Page {
        let mut all = vec![("csrf", self.csrf.as_str())];
        all.extend_from_slice(fields);
        let request = self.request(Method::POST, path).form(&all);
        page(request.header("HX-Request", "true"))
    }

    /// Sends a form with a file.
    pub fn send_file(&self, path: &str, name: &str, content: &[u8]) -> Page {
        let mut body = format!(
            "--edge\r\nContent-Disposition: form-data; name=\"csrf\"\r\n\r\n{}\r\n--edge\r\n\
             Content-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
             Content-Type: application/octet-stream\r\n\r\n",
            self.csrf
        )
        .into_bytes();
        body.extend_from_slice(content);
        body.extend_from_slice(b"\r\n--edge--\r\n");
        let request = self
            .request(Method::POST, path)
            .header(header::CONTENT_TYPE, "multipart/form-data; boundary=edge");
        page(request.body(body))
    }
}
