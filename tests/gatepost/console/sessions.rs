//! The first run, sign-in, sessions, and what keeps others out.

use super::{Crew, browser, page};
use crate::harness::{PASSWORD, Server, has, lacks, words};
use gatepost::{
    admin::{Console, Reach},
    identity::ConsoleRole,
};
use reqwest::{Method, header};
use serde_json::json;

fn setup_form<'a>(token: &'a str, email: &'a str) -> Vec<(&'a str, &'a str)> {
    vec![
        ("token", token),
        ("name", "Nordlicht"),
        ("timeZone", "Europe/Berlin"),
        ("email", email),
        ("password", PASSWORD),
        ("again", PASSWORD),
    ]
}

#[test]
fn the_first_run_creates_an_entrance_where_duplicates_are_refused() {
    let daily = json!({"ruleSet": "open", "entry": "daily"});
    let registered = json!({"ruleSet": "simple", "entry": "daily"});
    let open = json!({"ruleSet": "open", "entry": "multiple"});
    for (admission, days, used_twice, unregistered, access) in [
        ("once", "one", 412, 201, None),
        ("again", "one", 201, 201, None),
        ("registered", "one", 412, 412, None),
        ("once", "several", 412, 201, Some(daily)),
        ("again", "several", 201, 201, Some(open)),
        ("registered", "several", 412, 412, Some(registered)),
    ] {
        let server = Server::start();
        let link = |connection: &_| server.console.setup.link(connection);
        let path = server.app.store.look_up(link).expect("readable");
        let path = path.expect("a link");
        let mut form = setup_form(
            path.split("token=").nth(1).expect("a token"),
            "ada@example.com",
        );
        form.push(("admission", "whenever"));
        let url = format!("{}/console/setup", server.url());
        let post = |form: &[(&str, &str)]| page(browser().post(&url).form(form));
        post(&form).refused(422, "how people enter");
        form.pop();
        form.push(("admission", admission));
        form.push(("days", days));
        post(&form).taken();

        let api = server.caller_with_all();
        let [a, b] = [(); 2].map(|()| api.delegate(&json!({})));
        let scan = |kind: &str, delegate: i64| {
            let body = json!({"delegate": delegate, "device": "code:entrance"});
            api.interact(kind, &body).status
        };
        assert_eq!(scan("check-in", b), unregistered, "{admission}");
        assert_eq!(scan("join", a), 201);
        assert_eq!(scan("check-in", a), 201);
        assert_eq!(scan("check-in", a), used_twice, "{admission}");
        if let Some(access) = access {
            let entrance = api.read("/device/code:entrance");
            assert_eq!(entrance["data"]["Access"], access, "{admission}");
        }
        // Gate apps are told where they check in.
        let place: String = server.value(
            "SELECT document ->> '$.default.place' FROM app_config ORDER BY version DESC LIMIT 1",
        );
        assert_eq!(place, "code:entrance");
    }
}

/// The form of the first run with a picture, as a browser sends it.
fn with_picture(form: &[(&str, &str)], name: &str, content: &[u8]) -> Vec<u8> {
    const PART: &str = "--edge\r\nContent-Disposition: form-data; name=";
    let fields = form
        .iter()
        .map(|(name, value)| [PART, "\"", name, "\"\r\n\r\n", value, "\r\n"].concat());
    let file = format!(
        "{PART}\"logo\"; filename=\"{name}\"\r\nContent-Type: application/octet-stream\r\n\r\n"
    );
    let body: String = fields.chain([file]).collect();
    let mut body = body.into_bytes();
    body.extend_from_slice(content);
    body.extend_from_slice(b"\r\n--edge--\r\n");
    body
}

#[test]
fn the_first_run_takes_a_logo_too_and_goes_without_one() {
    let gif = b"GIF89a\x01\0\x01\0";
    for (name, content, logos) in [("logo.gif", gif.as_slice(), 1), ("", b"".as_slice(), 0)] {
        let server = Server::start();
        let link = |connection: &_| server.console.setup.link(connection);
        let path = server.app.store.look_up(link).expect("readable");
        let path = path.expect("a link");
        let token = path.split("token=").nth(1).expect("a token");
        let http = browser();
        let post = |token: &str, name: &str, content: &[u8]| {
            let form = setup_form(token, "ada@example.com");
            let kind = "multipart/form-data; boundary=edge";
            let url = format!("{}/console/setup", server.url());
            let request = http.post(url).header(header::CONTENT_TYPE, kind);
            page(request.body(with_picture(&form, name, content)))
        };
        let shown = page(http.get(format!("{}{path}", server.url()))).shown();
        has(&shown, ["multipart/form-data", "type=\"file\""]);
        post("0000", name, content).refused(403, "earlier start");
        let again = post(token, "logo.svg", b"<svg></svg>");
        again.refused(422, "SVG");
        has(&again.html, "value=\"Nordlicht\"");
        post(
            token,
            "large.gif",
            &[gif.as_slice(), &vec![0; 600 * 1024]].concat(),
        )
        .refused(422, "512 KiB");
        let count = |table: &str| server.count(table);
        assert_eq!((count("users"), count("logo")), (0, 0));
        post(token, name, content).taken();
        assert_eq!((count("users"), count("logo")), (1, logos));
        assert_eq!(server.app.settings().name(), "Nordlicht");
    }
}

#[test]
fn the_link_of_the_first_run_makes_one_administrator() {
    let server = Server::start();
    let link = |console: &Console| {
        let link = server
            .app
            .store
            .look_up(|connection| console.setup.link(connection));
        link.expect("readable")
    };
    let path = link(&server.console).expect("a link");
    assert_eq!(link(&server.console).as_ref(), Some(&path));
    let token = path.split("token=").nth(1).expect("a token");
    let http = browser();
    let post = |form: &[(&str, &str)]| {
        page(
            http.post(format!("{}/console/setup", server.url()))
                .form(form),
        )
    };
    let shown = page(http.get(format!("{}{path}", server.url()))).shown();
    has(&shown, "Welcome to Gatepost");
    post(&setup_form("0000", "eve@example.com")).refused(403, "earlier start");
    let mut differing = setup_form(token, "ada@example.com");
    differing[5].1 = "something else";
    post(&differing).refused(422, "two passwords differ");
    let mut weak = setup_form(token, "ada@example.com");
    (weak[4].1, weak[5].1) = ("ada@example.com", "ada@example.com");
    post(&weak).refused(422, "too easy to guess");
    let mut nowhere = setup_form(token, "ada@example.com");
    nowhere[2].1 = "Europe/Atlantis";
    post(&nowhere).refused(422, "Europe/Atlantis");
    assert_eq!(
        post(&setup_form(token, "ada@example.com")).taken(),
        "/console"
    );
    post(&setup_form(token, "eve@example.com")).refused(403, "has been used");
    assert_eq!(link(&server.console), None);
    let crew = Crew::sign_in(&server, "ada@example.com");
    crew.sees("/console", "Nordlicht");
    assert_eq!(
        server.app.settings().time_zone.as_deref(),
        Some("Europe/Berlin")
    );
}

#[test]
fn a_wrong_password_and_a_user_without_a_role_stay_outside() {
    let server = Server::start();
    server.console_user("ada@example.com", ConsoleRole::Viewer);
    server.user("guest@example.com", &[], None);
    let http = browser();
    let tried = |email: &str, password: &str| {
        let form = [("email", email), ("password", password)];
        page(
            http.post(format!("{}/console/sign-in", server.url()))
                .form(&form),
        )
    };
    tried("ada@example.com", "wrong").refused(422, "is wrong");
    tried("nobody@example.com", PASSWORD).refused(422, "is wrong");
    tried("guest@example.com", PASSWORD).refused(422, "no role in the console");
    for _ in 0..9 {
        tried("ada@example.com", "wrong");
    }
    tried("ada@example.com", PASSWORD).refused(429, "Too many attempts");
}

#[test]
fn sign_in_leads_back_to_where_one_wanted_to_go_and_nowhere_else() {
    let server = Server::start();
    server.console_user("ada@example.com", ConsoleRole::Viewer);
    let http = browser();
    let wanted = page(http.get(format!("{}/console?q=x", server.url()))).taken();
    assert_eq!(wanted, "/console/sign-in?next=%2Fconsole%3Fq%3Dx");
    // Of what was sent from a page, the page: that address knows no GET.
    let sent = |from: &str| {
        let form = http.post(format!("{}/console/desk/check-in", server.url()));
        page(form.header("Referer", format!("{}{from}", server.url())))
    };
    assert_eq!(
        sent("/console/desk?place=1").taken(),
        "/console/sign-in?next=%2Fconsole%2Fdesk%3Fplace%3D1"
    );
    for (next, led) in [
        ("/console/delegates?q=x", "/console/delegates?q=x"),
        ("https://evil.example", "/console"),
        ("//evil.example/console/", "/console"),
        ("/console/\\evil", "/console"),
        ("/consolex", "/console"),
    ] {
        let form = [
            ("email", "ada@example.com"),
            ("password", PASSWORD),
            ("next", next),
        ];
        let page = page(
            http.post(format!("{}/console/sign-in", server.url()))
                .form(&form),
        );
        assert_eq!(page.taken(), led);
    }
}

#[test]
fn a_session_ends_at_sign_out_and_with_its_user() {
    let (server, crew) = Server::with_viewer();
    let again = Crew::sign_in(&server, "viewer@example.com");
    crew.page("/console");
    assert_eq!(crew.press("/console/sign-out"), "/console/sign-in");
    assert!(crew.get("/console").taken().starts_with("/console/sign-in"));
    again.page("/console");
    server.sql("DELETE FROM users");
    assert!(
        again
            .get("/console")
            .taken()
            .starts_with("/console/sign-in")
    );
}

#[test]
fn every_answer_forbids_scripts_and_frames_from_elsewhere() {
    let (_server, crew) = Server::with_viewer();
    for path in words("/console /console/sign-in /console/nothing /console/static/console.css") {
        let answer = crew.request(Method::GET, path).send().expect("an answer");
        let policy = answer.headers()[header::CONTENT_SECURITY_POLICY]
            .to_str()
            .expect("text");
        has(policy, ["script-src 'self';", "frame-ancestors 'none'"]);
        lacks(policy, "unsafe");
    }
}

#[test]
fn without_tls_the_console_is_for_this_machine_alone() {
    let reached = |reach: Reach| Server::start_reached(reach);
    let Some(own) = own_address() else {
        return;
    };
    for (lan, status) in [(false, 403), (true, 200)] {
        let server = reached(Reach {
            lan,
            ..Reach::default()
        });
        let url = format!("http://{own}:{}/console/sign-in", server.address().port());
        assert_eq!(page(browser().get(url)).status, status);
    }
}

#[test]
fn the_console_answers_under_its_own_names_alone() {
    let (server, crew) = Server::with_viewer();
    let by = |host: &str, path: &str| {
        page(crew.request(Method::GET, path).header(header::HOST, host)).status
    };
    for known in words("localhost:8080 127.0.0.1 [::1]:8080 192.168.1.20:8080") {
        assert_eq!(by(known, "/console"), 200, "{known}");
    }
    for path in words("/console /console/sign-in /console/setup /console/nothing") {
        page(
            crew.request(Method::GET, path)
                .header(header::HOST, "evil.example:8080"),
        )
        .refused(403, "--public-url");
    }
    let form = [("email", "viewer@example.com"), ("password", PASSWORD)];
    let request = browser().post(format!("{}/console/sign-in", server.url()));
    let request = request.header(header::HOST, "evil.example").form(&form);
    page(request).refused(403, "evil.example");
    // The API has tokens, which no browser sends by itself.
    assert_eq!(by("evil.example", "/api/v5/ping"), 401);
    assert_eq!(by("evil.example", "/health/live"), 200);
    server.settings(&serde_json::json!({"publicUrl": "https://gate.example.org:8443"}));
    assert_eq!(by("gate.example.org:8443", "/console"), 200);
    assert_eq!(by("evil.example", "/console"), 403);
}

#[test]
fn two_servers_on_one_host_have_cookies_of_their_own() {
    let mut one = Server::start();
    let two = Server::start();
    let name = |server: &Server| {
        let crew = server.crew_once(ConsoleRole::Viewer);
        let name = crew.cookie.split('=').next().expect("a name").to_owned();
        (name, crew.cookie)
    };
    let ((first, own), (second, others)) = (name(&one), name(&two));
    assert_ne!(first, second);
    let both = format!("{own}; {others}");
    let status = |server: &Server| {
        let request = browser().get(format!("{}/console", server.url()));
        page(request.header(header::COOKIE, &both)).status
    };
    assert_eq!((status(&one), status(&two)), (200, 200));
    // Signing out of one takes its own cookie away.
    let crew = Crew::sign_in(&two, "viewer@example.com");
    let form = [("csrf", crew.csrf.as_str())];
    let out = crew.request(Method::POST, "/console/sign-out").form(&form);
    let out = out.send().expect("an answer");
    let gone = out.headers()[header::SET_COOKIE].to_str().expect("text");
    assert!(gone.starts_with(&format!("{second}=;")), "{gone}");
    one.restart();
    assert_eq!(status(&one), 200);
    assert_eq!(name(&one).0, first);
}

/// An address of this machine that is not loopback.
fn own_address() -> Option<std::net::Ipv4Addr> {
    let socket = std::net::UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.connect("192.0.2.1:9").ok()?;
    match socket.local_addr().ok()?.ip() {
        std::net::IpAddr::V4(address) if !address.is_loopback() && !address.is_unspecified() => {
            Some(address)
        }
        _ => None,
    }
}

#[test]
fn a_stream_ends_with_its_session_and_with_its_role() {
    let (server, admin) = Server::with_administrator();
    let watcher = server.operator();
    let ends = [
        "DELETE FROM console_sessions WHERE user_id = (SELECT id FROM users WHERE email = 'operator@example.com')",
        "UPDATE users SET console_role = 'viewer' WHERE email = 'operator@example.com'",
    ];
    let again = Crew::sign_in(&server, "operator@example.com");
    for (crew, end) in [(again, ends[1]), (watcher, ends[0])] {
        let streams = ["/console/dashboard/stream", "/console/interactions/stream"]
            .map(|path| crew.request(Method::GET, path).send().expect("an answer"));
        assert!(streams.iter().all(|stream| stream.status() == 200));
        server.sql(end);
        for stream in streams {
            // To its end: one that goes on would have the client give up.
            stream.text().expect("it ends");
        }
    }
    admin.page("/console");
}
