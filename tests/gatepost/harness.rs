//! A server for each test: its own temporary folder, port 0, and clients with the roles a test asks
//! for.

use crate::faults::{
    process::{gatepost, until},
    wire::PATIENCE,
};
use gatepost::{
    admin::{Console, Reach},
    core::{Context, settings},
    db::{Durability, Store, Tx},
    identity::{App, Role, Roles, Scope, clients, password, users},
    server,
    types::{DelegateId, error::Result},
};
use reqwest::{
    Method, StatusCode,
    blocking::{Client, ClientBuilder, RequestBuilder},
};
use serde_json::{Value, json};
use std::{
    net::SocketAddr,
    path::PathBuf,
    sync::{Arc, RwLock},
    thread::JoinHandle,
};
use tokio::sync::oneshot;

pub use crate::tables::{Agrees, at_once, cases, has, keys, lacks, table, typed, words};

/// The password of every user.
pub const PASSWORD: &str = "correct horse";

/// A client of a test in the making. reqwest has no TLS of its own here, so it is given one, which
/// trusts nobody: tests speak plain HTTP.
pub fn http() -> ClientBuilder {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("protocols")
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    Client::builder()
        .tls_backend_preconfigured(tls)
        .timeout(PATIENCE)
}

/// A client of a test.
pub fn plain() -> Client {
    http().build().expect("a client")
}

/// Where a server listens and the client that calls it there; a restart changes both.
#[derive(Clone)]
struct Line(Arc<RwLock<(SocketAddr, Client)>>);

impl Line {
    fn to(address: SocketAddr) -> Self {
        Self(Arc::new(RwLock::new((address, plain()))))
    }

    fn address(&self) -> SocketAddr {
        self.0.read().expect("a lock").0
    }

    /// Replaces the client: idle connections would hold up a shutdown.
    fn redirect(&self, address: SocketAddr) {
        *self.0.write().expect("a lock") = (address, plain());
    }

    /// `path` is the whole path, or an absolute address.
    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let (address, http) = &*self.0.read().expect("a lock");
        let url = if path.starts_with('/') {
            format!("http://{address}{path}")
        } else {
            path.to_owned()
        };
        http.request(method, url)
    }
}

/// A running server.
pub struct Server {
    pub app: App,
    pub console: Arc<Console>,
    pub folder: tempfile::TempDir,
    line: Line,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// An answer: status and body.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    pub status: u16,
    pub body: Value,
}

impl Reply {
    /// `meta.error.internalCode`.
    pub fn code(&self) -> i64 {
        self.body["meta"]["error"]["internalCode"]
            .as_i64()
            .unwrap_or(0)
    }

    /// `meta.error.message`.
    pub fn message(&self) -> &str {
        self.body["meta"]["error"]["message"]
            .as_str()
            .unwrap_or_default()
    }

    /// `data`, of a success.
    pub fn data(&self) -> &Value {
        assert!((200..300).contains(&self.status), "{self:?}");
        &self.body["data"]
    }

    /// Checks that this gives an earlier answer again.
    #[track_caller]
    pub fn repeats(&self, first: &Self) {
        assert_eq!(self, first);
    }

    /// `data` of a list.
    pub fn list(&self) -> &Vec<Value> {
        self.data().as_array().expect("a list")
    }

    /// Checks the status.
    #[track_caller]
    pub fn is(&self, status: u16) {
        assert_eq!(self.status, status, "{self:?}");
    }

    /// Checks a property of `data`, of a success.
    #[track_caller]
    pub fn shows(&self, name: &str, value: impl Into<Value>) {
        assert_eq!(self.data()[name], value.into(), "{name} of {self:?}");
    }

    /// Checks that `data`, of a success, has no such property.
    #[track_caller]
    pub fn without(&self, name: &str) {
        assert_eq!(self.data().get(name), None, "{name} of {self:?}");
    }

    /// Checks that a malformed value was refused and named.
    #[track_caller]
    pub fn invalid(&self, about: &str) {
        self.refused(400, 1100, about);
    }

    /// `data.id`, of a success.
    pub fn id(&self) -> i64 {
        self.data()["id"].as_i64().expect("an id")
    }

    /// Checks that this is an error of the contract's table: status, internal code, the envelope,
    /// and a message that holds `about`.
    #[track_caller]
    pub fn refused(&self, status: u16, code: i64, about: &str) {
        assert_eq!((self.status, self.code()), (status, code), "{self:?}");
        assert_eq!(self.body["data"], json!({}), "{self:?}");
        assert_eq!(
            self.body["meta"]["error"]["code"],
            json!(status),
            "{self:?}"
        );
        assert!(self.message().contains(about), "no {about:?} in {self:?}");
    }
}

/// An answer with its headers and its text.
#[derive(Debug)]
pub struct Whole {
    pub reply: Reply,
    pub headers: reqwest::header::HeaderMap,
    pub text: String,
}

impl Whole {
    /// A header's value; empty without it.
    pub fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        value.map_or("", |value| value.to_str().expect("a plain header"))
    }
}

impl Server {
    /// Starts a server on a fresh file.
    pub fn start() -> Self {
        Self::start_with(None)
    }

    /// Starts a server on a fresh file; a caller with every role.
    pub fn with_api() -> (Self, Caller) {
        let server = Self::start();
        let api = server.caller_with_all();
        (server, api)
    }

    /// Starts a server on a fresh file, with a `--public-url`.
    pub fn start_with(public_url: Option<&str>) -> Self {
        Self::begin(public_url, Reach::default(), "127.0.0.1:0")
    }

    /// Starts a server on a fresh file that listens on every address of this machine.
    pub fn start_reached(reach: Reach) -> Self {
        Self::begin(None, reach, "0.0.0.0:0")
    }

    /// Starts a server on a fresh file that trusts these proxies.
    pub fn start_behind(proxies: Vec<std::net::IpAddr>) -> Self {
        let mut options = server::Options::default();
        options.limits.trusted_proxies = proxies;
        Self::begin_with(None, Reach::default(), "127.0.0.1:0", options)
    }

    fn begin(public_url: Option<&str>, reach: Reach, listen: &'static str) -> Self {
        Self::begin_with(public_url, reach, listen, server::Options::default())
    }

    fn begin_with(
        public_url: Option<&str>,
        reach: Reach,
        listen: &'static str,
        options: server::Options,
    ) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let store = Store::open(&folder.path().join("gatepost.db"), Durability::Normal)
            .expect("a fresh store");
        let app = App::new(store, public_url.map(ToOwned::to_owned));
        let console = Console::new(app.clone(), reach);
        let (address, stop, thread) = run(Arc::clone(&console), listen, options);
        Self {
            app,
            console,
            folder,
            line: Line::to(address),
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// Stops and starts again, on the same file.
    pub fn restart(&mut self) {
        self.restart_after(|_| ());
    }

    /// As [`Server::restart`], after something was done to the file while nobody served it.
    pub fn restart_after(&mut self, meanwhile: impl FnOnce(&Self)) {
        self.stop();
        meanwhile(self);
        let path = self.path();
        self.close();
        let store = Store::open(&path, Durability::Normal).expect("the store");
        self.app = App::new(store, self.app.public_url.clone());
        self.console = Console::new(self.app.clone(), self.console.reach);
        let (address, stop, thread) = run(
            Arc::clone(&self.console),
            "127.0.0.1:0",
            server::Options::default(),
        );
        self.line.redirect(address);
        self.stop = Some(stop);
        self.thread = Some(thread);
    }

    /// Lets go of the file, and waits until this process has closed it. Whoever opens it looks at it by handles of
    /// their own first, and closing those drops SQLite's locks: another process would cut the index of the log under
    /// whoever still has it open.
    fn close(&mut self) {
        let open = self.app.store.open_guard();
        let spare = tempfile::tempdir().expect("a temporary folder");
        let store = Store::open(&spare.path().join("spare.db"), Durability::Normal);
        self.app = App::new(store.expect("a spare store"), self.app.public_url.clone());
        self.console = Console::new(self.app.clone(), self.console.reach);
        until("the file to be closed", || open.strong_count() == 0);
    }

    fn stop(&mut self) {
        self.line.redirect(self.address());
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }

    /// The database file.
    pub fn path(&self) -> PathBuf {
        self.app.store.path().to_owned()
    }

    /// The server's address, without a path.
    pub fn url(&self) -> String {
        format!("http://{}", self.address())
    }

    /// The server's socket address.
    pub fn address(&self) -> SocketAddr {
        self.line.address()
    }

    /// A request without a token; `path` is the whole path, or an absolute address.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.line.request(method, path)
    }

    /// A new client with roles and scopes: its id and secret.
    pub fn client(&self, roles: &[Role], scopes: &[Scope]) -> (String, String) {
        self.new_client(clients::NewClient {
            roles: roles.iter().copied().collect(),
            scopes: scopes.to_vec(),
            ..clients::NewClient::named("test")
        })
    }

    /// A new client: its id and secret.
    pub fn new_client(&self, new: clients::NewClient) -> (String, String) {
        let made = self.write(move |tx, ctx| {
            clients::create(
                tx,
                ctx,
                &new,
                &gatepost::domain::delegates::property_names(),
            )
        });
        (made.client_id, made.client_secret)
    }

    /// A caller whose client has every role and sees only these properties of delegates.
    pub fn caller_seeing(&self, properties: &[&str]) -> Caller {
        let (id, secret) = self.new_client(clients::NewClient {
            roles: Role::ALL.iter().copied().collect(),
            visible_properties: Some(properties.iter().map(ToString::to_string).collect()),
            ..clients::NewClient::named("test")
        });
        self.caller_of(&id, &secret)
    }

    /// A new user with the password [`PASSWORD`].
    pub fn user(&self, email: &str, roles: &[Role], delegate: Option<i64>) {
        let new = users::NewUser {
            email: email.to_owned(),
            password: Some(password::hash(PASSWORD).expect("a hash")),
            console: None,
            roles: roles.iter().copied().collect::<Roles>(),
            delegate: delegate.map(DelegateId),
        };
        self.write(move |tx, ctx| users::create(tx, ctx, &new));
    }

    /// A new user who has signed in through a client that has every role and scope.
    pub fn caller_as_user(&self, email: &str, roles: &[Role], delegate: Option<i64>) -> Caller {
        self.user(email, roles, delegate);
        let (id, secret) = self.client(Role::ALL, Scope::ALL);
        self.sign_in(&id, &secret, email)
    }

    /// A user with the password [`PASSWORD`] who signs in through a client.
    pub fn sign_in(&self, id: &str, secret: &str, email: &str) -> Caller {
        let token = self.token(&json!({
            "grant_type": "password", "client_id": id, "client_secret": secret,
            "username": email, "password": PASSWORD,
        }));
        Caller::with_token(self, token["access_token"].as_str().expect("a token"))
    }

    /// Changes settings, as an administrator does.
    pub fn settings(&self, changes: &Value) {
        let changes = changes.as_object().expect("an object").clone();
        self.write(move |tx, ctx| settings::save(tx, ctx, &changes));
    }

    /// The context of an administrator.
    pub fn context(&self) -> Context {
        Context::of_command("admin", self.app.settings())
    }

    /// A caller whose client has these roles.
    pub fn caller(&self, roles: &[Role]) -> Caller {
        let (id, secret) = self.client(roles, &[]);
        self.caller_of(&id, &secret)
    }

    /// A caller with every role that a client can have.
    pub fn caller_with_all(&self) -> Caller {
        self.caller(Role::ALL)
    }

    /// A caller with a client's credentials.
    pub fn caller_of(&self, id: &str, secret: &str) -> Caller {
        let token = self.token(&json!({
            "grant_type": "client_credentials", "client_id": id, "client_secret": secret,
        }));
        Caller::with_token(self, token["access_token"].as_str().expect("a token"))
    }

    /// What the token endpoint answers to a request that it grants.
    pub fn token(&self, body: &Value) -> Value {
        let reply = self
            .request(Method::POST, "/api/oauth/v2/token")
            .json(body)
            .send()
            .expect("an answer");
        assert_eq!(reply.status(), StatusCode::OK);
        reply.json().expect("JSON")
    }

    /// Writes a file beside the database: its path.
    pub fn file(&self, name: &str, content: &str) -> String {
        let path = self.folder.path().join(name);
        std::fs::write(&path, content).expect("a file");
        path.to_str().expect("a name").to_owned()
    }

    /// The standard output of a command on the file, which must succeed.
    #[track_caller]
    pub fn done(&self, arguments: &[&str]) -> String {
        let output = gatepost(&self.path(), arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).expect("text")
    }

    /// Runs SQL on the file beside the server.
    pub fn sql(&self, sql: &str) {
        let connection = rusqlite::Connection::open(self.path()).expect("the file");
        connection
            .busy_timeout(std::time::Duration::from_secs(5))
            .expect("a timeout");
        connection.execute_batch(sql).expect(sql);
    }

    /// The search index has what attendees are called, no more and no less.
    #[track_caller]
    pub fn has_indexed_everybody(&self) {
        has_indexed_everybody(&rusqlite::Connection::open(self.path()).expect("the file"));
    }

    /// Writes as an administrator does.
    #[track_caller]
    pub fn write<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Tx<'_>, &Context) -> Result<T> + Send + 'static,
    ) -> T {
        let ctx = self.context();
        let written = self.app.store.write(move |tx| job(tx, &ctx)).wait();
        written.expect("a write")
    }

    /// How many rows there are: of a table, or of what comes after `FROM`.
    pub fn count(&self, from: &str) -> i64 {
        self.value(&format!("SELECT count(*) FROM {from}"))
    }

    /// One text from the file.
    pub fn text(&self, sql: &str) -> String {
        self.value(sql)
    }

    /// One value from the file.
    pub fn value<T: rusqlite::types::FromSql>(&self, sql: &str) -> T {
        let connection = rusqlite::Connection::open(self.path()).expect("the file");
        connection.query_row(sql, [], |row| row.get(0)).expect(sql)
    }

    /// Which of these words the file still has.
    pub fn traces<'w>(&self, words: &[&'w str]) -> Vec<&'w str> {
        let connection = rusqlite::Connection::open(self.path()).expect("the file");
        let moved = "PRAGMA wal_checkpoint(TRUNCATE)";
        // The server may be at it itself.
        while connection.query_row(moved, [], |row| row.get::<_, i64>(0)) != Ok(0) {
            std::thread::yield_now();
        }
        let file = std::fs::read(self.path()).expect("the file");
        let held = |word: &&str| {
            file.windows(word.len())
                .any(|bytes| bytes == word.as_bytes())
        };
        words.iter().copied().filter(held).collect()
    }
}

fn run(
    console: Arc<Console>,
    listen: &'static str,
    options: server::Options,
) -> (SocketAddr, oneshot::Sender<()>, JoinHandle<()>) {
    let (stop, stopped) = oneshot::channel::<()>();
    let (tell, told) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .expect("a runtime");
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::bind(listen).await.expect("a port");
            tell.send(listener.local_addr().expect("an address"))
                .expect("told");
            Box::pin(server::run(console, listener, options, async {
                let _ = stopped.await;
            }))
            .await
            .expect("it serves");
        });
    });
    (told.recv().expect("an address"), stop, thread)
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Somebody with a token.
#[derive(Clone)]
pub struct Caller {
    line: Line,
    pub token: Arc<str>,
}

impl Caller {
    /// A caller with a token that is at hand.
    pub fn with_token(server: &Server, token: &str) -> Self {
        Self {
            line: server.line.clone(),
            token: token.into(),
        }
    }

    /// A request with the token; `path` comes after `/api/v5`.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.line.request(method, &format!("/api/v5{path}"));
        request.bearer_auth(&self.token)
    }

    /// Follows a link.
    pub fn follow(&self, link: &str) -> Reply {
        reply(
            self.line
                .request(Method::GET, link)
                .bearer_auth(&self.token),
        )
    }

    pub fn get(&self, path: &str) -> Reply {
        reply(self.request(Method::GET, path))
    }

    pub fn post(&self, path: &str, body: &Value) -> Reply {
        reply(self.request(Method::POST, path).json(body))
    }

    pub fn put(&self, path: &str, body: &Value) -> Reply {
        reply(self.request(Method::PUT, path).json(body))
    }

    pub fn patch(&self, path: &str, body: &Value) -> Reply {
        reply(self.request(Method::PATCH, path).json(body))
    }

    pub fn delete(&self, path: &str) -> Reply {
        reply(self.request(Method::DELETE, path))
    }

    /// Sends requests, one a row: `METHOD /path`, the body or null, the status that is answered, and for a refusal the
    /// internal code and a part of the message.
    #[track_caller]
    pub fn answers(&self, rows: &Value) {
        for row in rows.as_array().expect("rows") {
            let line = row[0].as_str().and_then(|line| line.split_once(' '));
            let (method, path) = line.expect("METHOD /path");
            let request = self.request(method.parse().expect("a method"), path);
            let reply = if row[1].is_null() {
                reply(request)
            } else {
                reply(request.json(&row[1]))
            };
            assert_eq!(row[2], reply.status, "{row}: {reply:?}");
            if let Some(code) = row.get(3) {
                assert_eq!(*code, reply.code(), "{row}: {reply:?}");
                reply.refused(reply.status, reply.code(), row[4].as_str().expect("a text"));
            }
        }
    }

    /// What a record shows, or a list.
    #[track_caller]
    pub fn read(&self, path: &str) -> Value {
        self.get(path).data().clone()
    }

    /// What a new record shows.
    #[track_caller]
    pub fn made(&self, path: &str, body: &Value) -> Value {
        self.post(path, body).data().clone()
    }

    /// What a record shows after a change.
    #[track_caller]
    pub fn patched(&self, path: &str, body: &Value) -> Value {
        self.patch(path, body).data().clone()
    }

    /// What a new interaction shows.
    #[track_caller]
    pub fn interacted(&self, kind: &str, body: &Value) -> Value {
        self.interact(kind, body).data().clone()
    }

    /// A new delegate: its id.
    pub fn delegate(&self, body: &Value) -> i64 {
        self.post("/delegate/new", body).id()
    }

    /// A new event: its id.
    pub fn event(&self, body: &Value) -> i64 {
        self.post("/event/new", body).id()
    }

    /// A new device: its id.
    pub fn device(&self, body: &Value) -> i64 {
        self.post("/device/new", body).id()
    }

    /// Posts an interaction of a delegate at a device, each by its id or by a selector.
    pub fn scan(&self, kind: &str, delegate: impl Into<Value>, device: impl Into<Value>) -> Reply {
        let body = json!({"delegate": delegate.into(), "device": device.into()});
        self.interact(kind, &body)
    }

    /// Posts an interaction.
    pub fn interact(&self, kind: &str, body: &Value) -> Reply {
        self.post(&format!("/interaction/new/{kind}"), body)
    }
}

/// The search index of a file has what attendees are called, no more and no less.
#[track_caller]
pub fn has_indexed_everybody(file: &rusqlite::Connection) {
    let waiting = "SELECT count(*) FROM delegates_search_pending";
    let waiting: i64 = file
        .query_row(waiting, [], |row| row.get(0))
        .expect("a count");
    assert_eq!(waiting, 0);
    assert_eq!(
        gatepost::ops::check::first_unindexed(file).expect("a look"),
        None
    );
}

/// Sends a request and reads its answer with its headers.
pub fn whole(request: RequestBuilder) -> Whole {
    let response = request.send().expect("an answer");
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let text = response.text().expect("text");
    Whole {
        reply: Reply {
            status,
            body: serde_json::from_str(&text).unwrap_or(Value::Null),
        },
        headers,
        text,
    }
}

/// Sends a request and reads its answer; a body that is not JSON is `null`.
pub fn reply(request: RequestBuilder) -> Reply {
    let response = request.send().expect("an answer");
    Reply {
        status: response.status().as_u16(),
        body: response.json().unwrap_or(Value::Null),
    }
}
