//! The instance's settings, its logo, sections of data and statements, by their forms.

use super::{Crew, Page, page};
use crate::harness::{Server, whole};
use gatepost::{
    admin::{self, Access},
    core::outgoing::Reach,
    identity::ConsoleRole,
};
use reqwest::{Method, header};
use serde_json::{Value, json};

fn administrator(server: &Server) -> Crew {
    server.crew(ConsoleRole::Administrator)
}

/// The value of a hidden field.
#[track_caller]
pub fn hidden(html: &str, form: &str, name: &str) -> String {
    let after = html.split(&format!("action=\"{form}\"")).nth(1);
    let after = after.unwrap_or_else(|| panic!("no form {form}"));
    let field = after
        .split(&format!("name=\"{name}\" value=\""))
        .nth(1)
        .and_then(|rest| rest.split('"').next());
    field.unwrap_or_else(|| panic!("no {name}")).to_owned()
}

#[test]
fn calls_go_to_this_machine_only_where_an_administrator_allows_it() {
    let server = Server::start();
    let crew = administrator(&server);
    let form = "/console/settings/outgoing";
    let seen = || hidden(&crew.get("/console/settings").html, form, "version");
    let before = seen();
    assert_eq!(server.app.outgoing.reach(), Reach::Network);
    let saved = crew.post(form, &[("version", &before), ("allowLocal", "1")]);
    assert_eq!(
        (saved.status, saved.location.as_str()),
        (303, "/console/settings")
    );
    assert_eq!(server.app.outgoing.reach(), Reach::Local);
    // Somebody who saw it otherwise changes nothing.
    crew.post(form, &[("version", &before)])
        .refused(422, "administrator@example.com changed this");
    assert_eq!(server.app.outgoing.reach(), Reach::Local);
    assert_eq!(crew.post(form, &[("version", &seen())]).status, 303);
    assert_eq!(server.app.outgoing.reach(), Reach::Network);
}

#[test]
fn the_part_of_a_scan_that_is_the_code_is_tried_before_it_is_saved() {
    let server = Server::start();
    let crew = administrator(&server);
    let all = server.caller_with_all();
    all.delegate(&json!({"firstName": "Ada", "lastName": "Lovelace", "barcode": "T7XQ2-AB"}));
    let form = "/console/settings/scans";
    let version = || hidden(&crew.get("/console/settings").html, form, "version");
    let tried = |pattern: &str, scanned: &str| {
        let sent = [("code", pattern), ("scanned", scanned)];
        let query = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(sent)
            .finish();
        let html = crew.get(&format!("/console/settings?{query}")).shown();
        let trial = html.split("id=\"trial\"").nth(1).expect("a trial");
        trial
            .split("</section>")
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    let url = "https://tickets.example/c/(*)";
    let scanned = "https://tickets.example/c/t7xq2-ab?utm=1";
    let shown = tried(url, scanned);
    assert!(
        shown.contains("<code>T7XQ2-AB</code>") && shown.contains("Ada Lovelace</a>, by barcode"),
        "{shown}"
    );
    let shown = tried(url, "https://tickets.example/c/OTHER");
    assert!(
        shown.contains("<code>OTHER</code>") && shown.contains("Unknown code https://"),
        "{shown}"
    );
    assert!(tried("", scanned).contains("Unknown code"));
    assert!(tried("/c/", scanned).contains("have (*) once, in the place of the code"));
    assert_eq!(server.count("settings WHERE name = 'scans'"), 0);
    crew.post(form, &[("version", &version()), ("code", "/c/")])
        .refused(422, "have (*) once, in the place of the code");
    crew.post(form, &[("version", &version()), ("code", url)])
        .taken();
    let stored = "SELECT value FROM settings WHERE name = 'scans'";
    assert_eq!(server.text(stored), json!({"code": url}).to_string());
    // Without scripts the stored pattern counts.
    let query = "/console/settings?scanned=https%3A%2F%2Ftickets.example%2Fc%2FT7XQ2-AB";
    crew.sees(query, ["Ada Lovelace</a>, by barcode"]);
    crew.post(form, &[("version", &version()), ("code", "")])
        .taken();
    assert_eq!(server.count("settings WHERE name = 'scans'"), 0);
}

#[test]
fn another_time_zone_asks_whether_times_stay_as_on_the_clock() {
    let server = Server::start();
    let (crew, all) = (administrator(&server), server.caller_with_all());
    let form = "/console/settings";
    let zone = |name: &str| {
        let version = hidden(&crew.get(form).html, form, "version");
        let fields = [
            ("version", &*version),
            ("timeZone", name),
            ("dayStartsAt", "04:00"),
        ];
        let saved = crew.post(form, &fields);
        assert_eq!(saved.status, 303, "{}", saved.html);
        saved.location
    };
    // Nothing has a time yet.
    assert_eq!(zone("Europe/Vienna"), form);
    zone("UTC");
    let body = json!({"name": "Opening", "code": "opening", "startAt": "2026-11-21 09:00:00", "endAt": "2026-11-21 10:30:00"});
    let opening = all.device(&body);
    let times = || {
        let device = all.read(&format!("/device/id:{opening}"));
        ["startAt", "endAt"].map(|name| device[name].as_str().expect("a time").to_owned())
    };
    let question = zone("Europe/Berlin");
    assert_eq!(question, "/console/settings/times?from=UTC");
    crew.sees(
        &question,
        ["2026-11-21 09:00", "2026-11-21 10:00", "Europe/Berlin"],
    );
    assert_eq!(
        times(),
        ["2026-11-21T10:00:00+01:00", "2026-11-21T11:30:00+01:00"]
    );
    let path = "/console/settings/times";
    let version = hidden(&crew.get(&question).html, path, "version");
    let fields = [("version", &*version), ("from", "UTC"), ("kept", "clock")];
    let on_the_clock = ["2026-11-21T09:00:00+01:00", "2026-11-21T10:30:00+01:00"];
    // Sent twice it moves nothing further.
    for told in [
        "The times of 1 place are as on the clock",
        "Nothing was changed",
    ] {
        assert_eq!(crew.post(path, &fields).status, 303);
        crew.sees(form, [told]);
        assert_eq!(times(), on_the_clock);
    }
    let question = zone("America/New_York");
    let version = hidden(&crew.get(&question).html, path, "version");
    let fields = [
        ("version", &*version),
        ("from", "Europe/Berlin"),
        ("kept", "moment"),
    ];
    assert_eq!(crew.post(path, &fields).status, 303);
    assert_eq!(
        times(),
        ["2026-11-21T03:00:00-05:00", "2026-11-21T04:30:00-05:00"]
    );
}

#[test]
fn settings_are_for_administrators_alone() {
    let routes = admin::routes();
    let ours: Vec<_> = routes
        .iter()
        .filter(|route| route.path.starts_with("/console/settings"))
        .collect();
    assert!(ours.len() > 20);
    for route in ours {
        assert_eq!(
            route.access,
            Access::Role(ConsoleRole::Administrator),
            "{}",
            route.path
        );
    }
    let server = Server::start();
    let operator = server.crew(ConsoleRole::Operator);
    for path in ["", "/sections", "/statements", "/backups", "/rehearsal"] {
        operator
            .get(&format!("/console/settings{path}"))
            .refused(403, "administrator");
    }
    operator
        .post("/console/settings", &[("name", "Mine")])
        .refused(403, "administrator");
}

fn general<'a>(
    seen: &'a str,
    name: &'a str,
    zone: &'a str,
    url: &'a str,
) -> [(&'a str, &'a str); 4] {
    [
        ("version", seen),
        ("name", name),
        ("timeZone", zone),
        ("publicUrl", url),
    ]
}

#[test]
fn the_general_form_is_taken_whole_or_shown_again() {
    let server = Server::start();
    let crew = administrator(&server);
    let seen = || {
        hidden(
            &crew.get("/console/settings").shown(),
            "/console/settings",
            "version",
        )
    };
    let first = seen();
    let form = general(
        &first,
        "Nordlicht",
        "Europe/Berlin",
        "https://gate.example.org/",
    );
    crew.post("/console/settings", &form).taken();
    let shown = crew.get("/console/settings").shown();
    for part in [
        "Nordlicht",
        "Europe/Berlin",
        "https://gate.example.org",
        "power loss",
        "gatepost.db",
    ] {
        assert!(shown.contains(part), "{part}");
    }
    assert_eq!(server.app.settings().name(), "Nordlicht");
    assert_eq!(
        server.app.public_url().as_deref(),
        Some("https://gate.example.org")
    );
    // Somebody else was faster: told what is there, and nothing is written.
    let late = crew.post("/console/settings", &general(&first, "Südlicht", "UTC", ""));
    late.refused(422, "administrator@example.com changed this");
    late.refused(
        422,
        "<dt>Name of the event or the venue is now</dt><dd>Nordlicht</dd>",
    );
    late.refused(422, "value=\"Südlicht\"");
    assert_eq!(server.app.settings().name(), "Nordlicht");
    let now = seen();
    for (form, about) in [
        (general(&now, "X", "Mars/Olympus", ""), "Mars/Olympus"),
        (
            general(&now, "X", "UTC", "gate.example.org"),
            "publicUrl-error",
        ),
    ] {
        let again = crew.post("/console/settings", &form);
        again.refused(422, about);
        assert!(again.html.contains("value=\"X\""));
    }
    // What the form lets one type is taken, and what is too long is told by its label.
    let long = "ü".repeat(201);
    crew.post("/console/settings", &general(&now, &long, "UTC", ""))
        .refused(422, "name-error");
    let long = "ü".repeat(200);
    crew.post("/console/settings", &general(&now, &long, "UTC", ""))
        .taken();
    let now = seen();
    let shown = crew.get("/console/settings").shown();
    assert!(shown.contains("<option value=\"Europe/Berlin\">"));
    for none in ["localtime", "Factory", "posixrules"] {
        assert!(!shown.contains(&format!("\"{none}\"")), "{none}");
        crew.post("/console/settings", &general(&now, "X", none, ""))
            .refused(422, "timeZone-error");
    }
    let origins = [
        ("version", now.as_str()),
        ("name", "N"),
        ("timeZone", "UTC"),
        ("corsOrigins", "https://a.example\nhttps://b.example/"),
    ];
    crew.post("/console/settings", &origins)
        .refused(422, "https://b.example/");
    let origins = [
        ("version", now.as_str()),
        ("name", "N"),
        ("timeZone", "UTC"),
        ("corsOrigins", "https://a.example\r\nhttps://b.example"),
    ];
    crew.post("/console/settings", &origins).taken();
    let allowed = server.app.settings().cors_origins.clone();
    assert_eq!(
        allowed,
        Some(vec!["https://a.example".into(), "https://b.example".into()])
    );
    assert_eq!(server.app.public_url(), None);
}

#[test]
fn the_flag_of_the_public_address_wins_and_is_shown() {
    let server = Server::start_with(Some("https://flag.example.org"));
    server.settings(&json!({"publicUrl": "https://setting.example.org"}));
    assert_eq!(
        server.app.public_url().as_deref(),
        Some("https://flag.example.org")
    );
    let shown = administrator(&server).get("/console/settings").shown();
    assert!(shown.contains("--public-url https://flag.example.org"));
    let server = Server::start();
    server.settings(&json!({"publicUrl": "https://setting.example.org"}));
    let caller = server.caller_with_all();
    caller.delegate(&json!({"firstName": "A"}));
    caller.delegate(&json!({"firstName": "B"}));
    let list = caller.get("/delegate/list?limit=1");
    let links = list.body["meta"].to_string();
    assert!(
        links.contains("https://setting.example.org/api/5/"),
        "{links}"
    );
}

#[test]
fn default_rules_are_a_form_and_bind_gates_at_once() {
    let server = Server::start();
    let (crew, caller) = (administrator(&server), server.caller_with_all());
    caller.device(&json!({"name": "Hall", "code": "hall"}));
    caller.delegate(&json!({"barcode": "A"}));
    let seen = || {
        hidden(
            &crew.get("/console/settings").shown(),
            "/console/settings/access",
            "version",
        )
    };
    let now = seen();
    let save = |seen: &str, entry: &str, most: &str| -> Page {
        let form = [
            ("version", seen),
            ("entry", entry),
            ("maxCheckIns", most),
            ("ruleSet", ""),
        ];
        crew.post("/console/settings/access", &form)
    };
    save(&now, "single", "many").refused(422, "maxCheckIns-error");
    save(&now, "thrice", "").refused(422, "thrice");
    save(&now, "single", "").taken();
    let scan = || {
        caller.interact(
            "check-in",
            &json!({"firstDelegate": "barcode:A", "firstDevice": "code:hall"}),
        )
    };
    assert_eq!(scan().status, 201);
    scan().refused(412, 740, "");
    save(&now, "multiple", "").refused(422, "administrator@example.com changed this");
    save(&seen(), "", "").taken();
    assert_eq!(scan().status, 201);
    assert_eq!(
        server.value::<i64>("SELECT count(*) FROM settings WHERE name = 'access'"),
        0
    );
}

#[test]
fn a_price_of_a_product_that_is_not_there_is_refused_by_its_line() {
    let server = Server::start();
    let (crew, form) = (administrator(&server), "/console/settings/walk-ins");
    let save = |lines: &str| {
        let version = hidden(&crew.get("/console/settings").shown(), form, "version");
        let sent = [
            ("version", &*version),
            ("currency", "EUR"),
            ("types", lines),
        ];
        crew.post(form, &sent)
    };
    save("Guest: 45.00 for code:day\nCrew: 1.00 for code:gone")
        .refused(422, "Line 1: There is no device code:day");
    let caller = server.caller_with_all();
    caller.device(&json!({"name": "Day ticket", "code": "day", "deviceType": "product"}));
    let again = save("Guest: 45.00 for code:day\nCrew: 1.00 for code:gone");
    again.refused(422, "Line 2: There is no device code:gone");
    // Loaded anew, its address leads to the page.
    assert_eq!(crew.get(form).taken(), "/console/settings");
    save("Guest: 45.00 for code:day").taken();
}

#[test]
fn the_second_of_two_editors_reads_who_changed_the_same_setting() {
    let server = Server::start();
    let crew = administrator(&server);
    server.console_user("bob@example.com", ConsoleRole::Administrator);
    let bob = Crew::sign_in(&server, "bob@example.com");
    let version = |form: &str| hidden(&crew.get("/console/settings").shown(), form, "version");
    let (access, general_form) = ("/console/settings/access", "/console/settings");
    let (begun_on, now) = (version(access), version(general_form));
    bob.post(access, &[("version", &begun_on), ("entry", "single")])
        .taken();
    // Somebody else changed something else since.
    crew.post(general_form, &general(&now, "Nordlicht", "UTC", ""))
        .taken();
    let late = crew.post(access, &[("version", &begun_on), ("entry", "multiple")]);
    late.refused(422, "bob@example.com changed this");
    late.refused(422, "How often is now");
}

const PNG: &[u8] =
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89";

fn upload(crew: &Crew, name: &str, content: &[u8]) -> Page {
    crew.send_file("/console/settings/logo", name, content)
}

#[test]
fn the_logo_is_taken_by_its_content_and_served_to_everybody() {
    let server = Server::start();
    let crew = administrator(&server);
    let logo = |tag: &str| {
        whole(
            server
                .request(Method::GET, "/logo")
                .header(header::IF_NONE_MATCH, tag),
        )
    };
    assert_eq!(logo("").reply.status, 404);
    let svg = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>";
    upload(&crew, "logo.png", svg).refused(422, "SVG");
    upload(&crew, "logo.png", b"<html></html>").refused(422, "PNG, JPEG, WebP or GIF");
    upload(&crew, "logo.png", b"").refused(422, "Choose a picture");
    let mut large = PNG.to_vec();
    large.resize(512 * 1024 + 1, 0);
    upload(&crew, "logo.png", &large).refused(422, "512 KiB");
    let many_pixels = b"GIF89a\x30\x75\x30\x75\0\0\0";
    upload(&crew, "logo.gif", many_pixels).refused(422, "30000 × 30000 pixels are too many");
    large.resize(600 * 1024, 0);
    upload(&crew, "logo.png", &large).refused(422, "512 KiB");
    large.resize(512 * 1024, 0);
    upload(&crew, "logo.png", &large).taken();
    upload(&crew, "whatever.exe", PNG).taken();
    let shown = logo("");
    assert_eq!(shown.reply.status, 200);
    assert_eq!(shown.header("content-type"), "image/png");
    assert_eq!(shown.header("x-content-type-options"), "nosniff");
    assert!(
        shown
            .header("content-security-policy")
            .contains("default-src 'none'")
    );
    let tag = shown.header("etag").to_owned();
    let known = logo(&tag);
    assert_eq!((known.reply.status, known.text.as_str()), (304, ""));
    assert_eq!(logo(&format!("\"x\", W/{tag}")).reply.status, 304);
    assert_eq!(logo("\"x\"").reply.status, 200);
    assert!(
        crew.get("/console/settings")
            .shown()
            .contains("src=\"/logo?at=")
    );
    let without = page(
        crew.request(Method::POST, "/console/settings/logo")
            .body(PNG.to_vec()),
    );
    assert_eq!(without.status, 403);
    crew.post("/console/settings/logo/remove", &[]).taken();
    assert_eq!(logo("").reply.status, 404);
    assert_eq!(
        server.value::<i64>("SELECT count(*) FROM audit WHERE record_type = 'logo'"),
        3
    );
}

/// The fields of a section's form.
fn section<'a>(seen: &'a str, more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let mut form = vec![
        ("version", seen),
        ("kind", "delegate"),
        ("name", "Catering"),
        ("mode", "fields"),
        ("name0", "meal"),
        ("holds0", "choice"),
        ("choices0", "vegan, none"),
        ("required0", "on"),
        ("name1", "guests"),
        ("holds1", "number"),
        ("name2", ""),
        ("holds2", "text"),
    ];
    form.retain(|(name, _)| more.iter().all(|(other, _)| other != name));
    form.extend_from_slice(more);
    form
}

const EDIT: &str = "/console/settings/sections/edit";

#[test]
fn a_section_is_made_of_fields_and_what_would_not_fit_is_counted_before() {
    let server = Server::start();
    let (crew, caller) = (administrator(&server), server.caller_with_all());
    for meal in ["vegan", "fish", "none"] {
        caller.delegate(&json!({"firstName": "A", "data": {"Catering": {"meal": meal}}}));
    }
    caller.delegate(&json!({"data": {"Other": {"about": "\"Catering\""}}}));
    let checked = crew.post(EDIT, &section("", &[("do", "check")]));
    assert!(checked.shown().contains("<strong>1 of 3</strong>"));
    let asked = crew.post(EDIT, &section("", &[("do", "save")]));
    asked.refused(422, "1 of 3 stored records would not fit");
    assert!(asked.html.contains("data.Catering.meal"));
    assert_eq!(server.value::<i64>("SELECT count(*) FROM sections"), 0);
    crew.post(EDIT, &section("", &[("anyway", "1")])).taken();
    caller
        .post(
            "/delegate/new",
            &json!({"data": {"Catering": {"meal": "fish"}}}),
        )
        .refused(400, 1100, "data.Catering.meal");
    caller.delegate(&json!({"data": {"Catering": {"meal": "vegan", "guests": 2}}}));
    // The form comes back as it was written; another administrator is told of a change.
    let path = "/console/settings/sections/edit?kind=delegate&name=Catering";
    let shown = crew.get(path).shown();
    assert!(shown.contains("value=\"vegan, none\""), "{shown}");
    let seen = crew.get(path).version();
    crew.post(path, &section(&seen, &[("anyway", "1"), ("closed", "1")]))
        .taken();
    crew.post(path, &section(&seen, &[("anyway", "1")]))
        .refused(422, "administrator@example.com changed this");
    caller
        .post(
            "/delegate/new",
            &json!({"data": {"Catering": {"meal": "none", "x": 1}}}),
        )
        .refused(400, 1100, "data.Catering");
    crew.post(
        "/console/settings/sections/remove",
        &[("kind", "delegate"), ("name", "Catering")],
    )
    .taken();
    caller.delegate(&json!({"data": {"Catering": {"meal": "anything"}}}));
    assert_eq!(
        server.value::<i64>("SELECT count(*) FROM audit WHERE record_type = 'sections'"),
        3
    );
}

#[test]
fn a_section_as_json_is_explained_where_it_is_wrong() {
    let server = Server::start();
    let crew = administrator(&server);
    let save = |name: &str, json: &str| {
        let form = [
            ("kind", "device"),
            ("name", name),
            ("mode", "json"),
            ("json", json),
            ("do", "save"),
        ];
        crew.post(EDIT, &form)
    };
    save("Seats", "{").refused(422, "not valid JSON");
    save("Seats", "[]").refused(422, "JSON object");
    save("Seats", r#"{"type": "nonsense"}"#).refused(422, "no JSON Schema");
    save(
        "Seats",
        r##"{"properties": {"row": {"$ref": "#/$defs/row"}}}"##,
    )
    .refused(422, "properties.row.$ref: references are not supported");
    save("Access", "{}").refused(422, "rules of entry");
    save("", "{}").refused(422, "name has 1 to 64");
    let rows = r#"{"type": "object", "properties": {"rows": {"type": "integer", "minimum": 1}}}"#;
    save("Seats", rows).taken();
    save("Seats", "{}").refused(422, "has a schema already");
    let shown = crew
        .get("/console/settings/sections/edit?kind=device&name=Seats")
        .shown();
    assert!(shown.contains("textarea") && shown.contains("minimum"));
    let caller = server.caller_with_all();
    caller
        .post("/device/new", &json!({"data": {"Seats": {"rows": 0}}}))
        .refused(400, 1100, "data.Seats.rows");
    let form = section("", &[("do", "save"), ("choices0", " , ")]);
    crew.post(EDIT, &form).refused(422, "ame the choices");
    let more = crew.post(EDIT, &section("", &[("do", "more")])).shown();
    assert!(more.contains("name=\"name4\"") && more.contains("value=\"guests\""));
}

#[test]
fn statements_are_tried_saved_and_searched_by() {
    const PATH: &str = "/console/settings/statements/edit";
    let server = Server::start();
    let (crew, caller) = (administrator(&server), server.caller_with_all());
    let id = caller.delegate(&json!({"barcode": "A", "firstName": "Ada"}));
    let shown = crew.get(PATH).shown();
    assert!(shown.contains("first_delegate_id") && shown.contains("raw_flags"));
    let seen = hidden(&shown, PATH, "version");
    let post = |seen: &str, was: &str, name: &str, sql: &str, record: &str, what: &str| {
        let form = [
            ("version", seen),
            ("name", name),
            ("type", "delegate"),
            ("sql", sql),
            ("record", record),
            ("do", what),
        ];
        let path = if was.is_empty() {
            PATH.to_owned()
        } else {
            format!("{PATH}?name={was}")
        };
        crew.post(&path, &form)
    };
    let sql = "SELECT upper(first_name) FROM delegates WHERE id = :id";
    let tried = post(&seen, "", "loud", sql, "barcode:A", "try").shown();
    assert!(tried.contains("“ADA”"));
    assert!(
        post(&seen, "", "", "SELECT 4", &id.to_string(), "try")
            .shown()
            .contains("<strong>4</strong>")
    );
    post(&seen, "", "loud", sql, "barcode:Z", "try").refused(422, "Z");
    post(&seen, "", "loud", sql, "nose:1", "try").refused(422, "nose");
    post(&seen, "", "loud", sql, "", "try").refused(422, "record-error");
    for (name, sql, about) in [
        ("loud", "DELETE FROM delegates", "sql-error"),
        ("loud", "SELECT password_hash FROM users", "sql-error"),
        ("loud", "SELECT 1; SELECT 2", "sql-error"),
        ("", "SELECT 1", "name-error"),
    ] {
        post(&seen, "", name, sql, "", "save").refused(422, about);
    }
    post(&seen, "", "loud", sql, "", "save").taken();
    post(&seen, "", "loud", sql, "", "save").refused(422, "already");
    let search =
        form_urlencoded::byte_serialize(br#"{"st": ["loud", "==", "ADA"]}"#).collect::<String>();
    assert_eq!(
        caller
            .get(&format!("/delegate/list?search={search}"))
            .data()
            .as_array()
            .map(Vec::len),
        Some(1)
    );
    let stored = crew.get(&format!("{PATH}?name=loud")).shown();
    let now = hidden(&stored, &format!("{PATH}?name=loud"), "version");
    post(&now, "loud", "quiet", "SELECT 1", "", "save").taken();
    post(&now, "loud", "loud", "SELECT 2", "", "save").refused(404, "no statement loud");
    let names: Vec<Value> = vec![
        server
            .value::<String>("SELECT group_concat(name) FROM statements")
            .into(),
    ];
    assert_eq!(names, [json!("quiet")]);
    crew.post("/console/settings/statements/remove", &[("name", "quiet")])
        .taken();
    assert_eq!(server.value::<i64>("SELECT count(*) FROM statements"), 0);
}
