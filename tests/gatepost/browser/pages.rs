//! Every page of the console, for everybody: axe-core finds nothing, nothing is wider than the
//! window, the browser complains about nothing, and a link leads there.

use super::{
    PASSWORD, app::scan, become_administrator, examine::Examiner, links, open, open_first_run,
    origin, sample_day, sign_in, sign_out, window::Browser,
};
use crate::console::{Crew, commanded};
use crate::faults::process::{Served, gatepost, write_demo};
use crate::harness::table;
use gatepost::{admin, core::texts};
use reqwest::Method;
use std::{collections::BTreeSet, fmt::Write as _, path::Path, time::SystemTime};
use totp_rs::{Builder, Secret};

/// Somebody who looks at everything.
struct Inspector {
    browser: Browser,
    examiner: Examiner,
    /// Paths of the routes that were looked at, or that a page refers to.
    reached: BTreeSet<&'static str>,
    faults: Vec<String>,
}

impl Inspector {
    /// Looks at the page that the browser is at.
    fn look(&mut self) {
        let path = self.browser.path();
        self.faults
            .extend(self.examiner.faults(&self.browser, &path));
        if let Some(route) = links::route(&admin::routes(), &path) {
            self.reached.insert(route.path);
        }
        let html = self
            .browser
            .run("return document.documentElement.outerHTML", &[]);
        let refers = links::routes_in(html.as_str().unwrap_or_default());
        self.reached.extend(refers);
    }

    fn look_at(&mut self, path: &str) {
        self.browser.go(path);
        self.look();
    }

    /// From the first run to the sign-in.
    fn enter(&mut self, served: &Served) {
        open_first_run(&self.browser, served);
        self.look();
        become_administrator(&self.browser);
        sign_out(&self.browser);
        // The dashboard's stream ends with the session, now and then before the page is left.
        self.browser.complaints();
        self.look();
        sign_in(&self.browser);
        self.browser.go("/console/nothing");
        // The browser is right to complain that there is no such page.
        self.browser.complaints();
        self.look();
    }

    /// Looks at every page that a link leads to.
    fn look_around(&mut self, served: &Served) {
        let found = links::follow(&origin(served), &self.browser.cookies());
        for page in found.pages.values().flatten() {
            self.look_at(page);
        }
        self.reached.extend(found.reached);
        self.faults.extend(found.dead);
        // It stands outside of the console, for people who have no sign-in there.
        self.look_at("/otp");
        self.look_at("/t/try");
    }

    /// Looks at what stands for a moment only: secrets that are shown once.
    fn look_at_secrets(&mut self) {
        self.browser.go("/console/access/clients/new");
        self.browser.fill("name", "A gate");
        self.browser.press("Create client");
        self.browser.arrives_at("/console/access/made");
        self.look();
        self.browser.go("/console/account/second-factor");
        self.browser.fill("password", PASSWORD);
        self.browser.press("Begin");
        self.browser.tells("Scan this");
        self.look();
        let address = scan(&self.browser.picture()).expect("a QR code in the picture");
        self.browser.fill("code", &code_of(&address));
        self.browser.press("Turn it on");
        self.browser.arrives_at("/console/account/recovery");
        self.look();
    }

    /// Routes that nothing leads to.
    fn unreached(&self) -> Vec<String> {
        admin::routes()
            .iter()
            .filter(|route| route.method == Method::GET && !self.reached.contains(route.path))
            .filter(|route| !sample_day::PASSING.contains(&route.path))
            .map(|route| format!("{}: no page leads there", route.path))
            .collect()
    }
}

/// What an authenticator app shows that has scanned this `otpauth` address.
fn code_of(address: &str) -> String {
    let url = reqwest::Url::parse(address).expect("an address");
    let key = url.query_pairs().find(|(name, _)| name == "secret");
    let secret = Secret::try_from_base32(key.expect("a secret").1).expect("base 32");
    let app = Builder::new().with_secret(secret).build().expect("an app");
    let now = SystemTime::now();
    let now = now
        .duration_since(SystemTime::UNIX_EPOCH)
        .expect("after 1970");
    app.generate(now.as_secs()).to_string()
}

fn inspector(served: &Served) -> Inspector {
    Inspector {
        browser: open(served),
        examiner: Examiner::installed(),
        reached: BTreeSet::new(),
        faults: Vec::new(),
    }
}

#[track_caller]
fn assert_none(faults: &[String]) {
    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        faults.join("\n")
    );
}

#[test]
fn every_page_of_an_empty_file_is_for_everybody() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let served = Served::start(&folder.path().join("gatepost.db"));
    let mut inspector = inspector(&served);
    inspector.enter(&served);
    inspector.look_around(&served);
    assert_none(&inspector.faults);
}

#[test]
fn every_page_of_an_event_is_for_everybody() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let db = folder.path().join("gatepost.db");
    fill(&db);
    let served = Served::start_for_all(&db, &[]);
    let mut inspector = inspector(&served);
    inspector.enter(&served);
    sample_day::spend(&inspector.browser, &served, folder.path());
    inspector.look();
    inspector.look_around(&served);
    inspector.look_at_secrets();
    let mut faults = inspector.unreached();
    faults.append(&mut inspector.faults);
    assert_none(&faults);
}

/// Writes the German texts a third longer, as another language's may be: words are longer, sentences have more of them.
fn write_longer_texts(folder: &Path) -> String {
    let folder = folder.join("texts");
    std::fs::create_dir(&folder).expect("a folder");
    let mut longer = String::new();
    for (key, file, words) in texts::keys("de") {
        // Patterns of dates and words of scripts are no texts of a layout, and the rest stands on several lines.
        if words.is_empty()
            || words.ends_with("->")
            || file.ends_with("moments.ftl")
            || file.ends_with("scripts.ftl")
        {
            continue;
        }
        let letters = words.chars().count().div_ceil(3);
        let sentence = "und noch etwas mehr davon ".chars().cycle();
        let more: String = if words.contains(' ') {
            [' '].into_iter().chain(sentence).take(letters).collect()
        } else {
            sentence
                .filter(|letter| *letter != ' ')
                .take(letters)
                .collect()
        };
        writeln!(longer, "{key} = {words}{more}").expect("a text");
    }
    std::fs::write(folder.join("de.ftl"), longer).expect("written");
    folder.display().to_string()
}

#[test]
fn every_page_is_for_everybody_in_german() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let db = folder.path().join("gatepost.db");
    fill(&db);
    let texts = write_longer_texts(folder.path());
    let served = Served::start_for_all(&db, &["--texts", &texts]);
    let mut inspector = inspector(&served);
    inspector.examiner = inspector.examiner.of_words();
    inspector.enter(&served);
    inspector
        .browser
        .run("document.cookie = 'gatepost_language=de; path=/'", &[]);
    inspector.browser.go("/console");
    inspector.browser.tells("Braucht jemanden");
    inspector.look_around(&served);
    assert_none(&inspector.faults);
}

#[test]
fn discovery_is_for_everybody_in_each_of_its_states() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let db = folder.path().join("gatepost.db");
    write_demo(&db);
    let file = rusqlite::Connection::open(&db).expect("the file");
    file.execute_batch(REQUESTS).expect("requests");
    drop(file);
    let served = Served::start_for_all(&db, &[]);
    let mut inspector = inspector(&served);
    open_first_run(&inspector.browser, &served);
    become_administrator(&inspector.browser);
    inspector.browser.go("/console/discovery");
    for state in [
        "already",
        "gate",
        "fetched",
        "not fetched yet",
        "missed",
        "revoked",
        "Give out again",
        "Requests accepted",
    ] {
        inspector.browser.tells(state);
    }
    inspector.look();
    inspector.browser.press("Close");
    inspector.browser.tells("Discovery is closed");
    inspector.look();
    assert_none(&inspector.faults);
}

/// A request in each state: two that wait, one of a gate and one of a device that is there; then added ones, of
/// which the app has fetched its credentials or not, in time or not, and one that was revoked.
const REQUESTS: &str = "
    WITH s (code, kind, at, shown_for, fetched, revoked) AS (VALUES
        ('W-1', 'gate', NULL, NULL, 0, 0), ('W-2', NULL, NULL, NULL, 0, 0),
        ('A-1', 'gate', 1, 1, 1, 0), ('A-2', 'gate', 1, 1, 0, 0), ('A-3', 'gate', 1, NULL, 1, 0),
        ('A-4', 'gate', 1, NULL, 0, 0), ('A-5', 'gate', 1, NULL, 1, 1))
    INSERT INTO device_requests (code, secret_hash, preferred_type, agent, address, created_at, updated_at,
        cleared_at, cleared_status, shown_until, salt)
    SELECT code, randomblob(32), kind, 'Gate app 3.1', '192.168.1.7', now, now, iif(at IS NULL, NULL, now),
        iif(at IS NULL, NULL, 'added'), now + shown_for * 3600000, iif(shown_for IS NULL, NULL, x'01')
    FROM s, (SELECT unixepoch() * 1000 AS now);
    INSERT INTO devices (code, name, device_type, public_id, sources, created_at, updated_at)
    SELECT code, 'Gate ' || code, 'regoapp', 'public ' || code, '[]', created_at, created_at
    FROM device_requests WHERE code <> 'W-1';
    INSERT INTO clients (client_id, secret_hash, name, roles, scopes, device_id, created_at, revoked_at)
    SELECT 'app-' || r.code, iif(r.code IN ('A-2', 'A-4'), zeroblob(32), randomblob(32)), r.code, '[]', '[]', d.id,
        r.created_at, iif(r.code = 'A-5', r.created_at, NULL)
    FROM device_requests r JOIN devices d ON d.code = r.code;
    UPDATE device_requests SET (device_id, client_id) =
        (SELECT c.device_id, c.id FROM clients c WHERE c.name = device_requests.code)
    WHERE cleared_status = 'added'";

#[test]
fn an_id_stands_once_on_a_page() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let db = folder.path().join("gatepost.db");
    fill(&db);
    let arguments = [
        "user",
        "add",
        "ada@example.com",
        "--admin",
        "--password-stdin",
    ];
    assert!(commanded(&db, &arguments).status.success());
    let served = Served::start(&db);
    let crew = Crew::sign_in_at(
        &origin(&served),
        "ada@example.com",
        crate::harness::PASSWORD,
    );
    let found = links::follow(&crew.url, &crew.cookie);
    assert!(found.pages.len() > 40, "{:?}", found.pages.keys());
    let mut faults = Vec::new();
    for path in found.pages.values().flatten() {
        let html = crew.page(path);
        let mut seen = BTreeSet::new();
        for id in html.split(" id=\"").skip(1) {
            let id = id.split('"').next().unwrap_or_default();
            if !seen.insert(id) {
                faults.push(format!("{path}: {id} stands twice"));
            }
        }
    }
    assert_none(&faults);
}

/// Who speaks to a page says the words that are on it (WCAG 2.5.3). Axe sees only what happens to be there.
#[test]
fn buttons_are_named_by_the_words_on_them() {
    let mut found = 0;
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets");
    let mut folders = vec![assets.join("templates"), assets.join("gate")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("a file").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            if path.extension().is_none_or(|kind| kind != "html") {
                continue;
            }
            let html = std::fs::read_to_string(&path).expect("a page");
            for (label, words) in labelled(&crate::texts::in_english(&html)) {
                found += 1;
                let (told, shown) = (label.to_lowercase(), words.to_lowercase());
                assert!(
                    told.contains(&shown),
                    "{}: {label:?} for {words:?}",
                    path.display()
                );
            }
        }
    }
    assert!(found > 4, "{found}");
}

/// Of each button and link with a label of its own: the label, and the words that are seen.
fn labelled(html: &str) -> Vec<(&str, String)> {
    let mut found = Vec::new();
    for (tag, end) in [("<button ", "</button>"), ("<a ", "</a>")] {
        for part in html.split(tag).skip(1) {
            let element = part.split(end).next().unwrap_or_default();
            let Some((_, after)) = element.split_once("aria-label=\"") else {
                continue;
            };
            let (label, rest) = after.split_once('"').expect("a whole label");
            let (_, content) = rest.split_once('>').expect("a whole tag");
            let words = content.split('<').enumerate().map(|(at, piece)| {
                let seen = if at == 0 {
                    Some(piece)
                } else {
                    piece.split('>').nth(1)
                };
                seen.unwrap_or_default()
            });
            found.push((label, words.collect::<String>().trim().to_owned()));
        }
    }
    found
}

fn fill(db: &Path) {
    write_demo(db);
    for arguments in [
        ["import", "delegates", "examples/attendees.csv"].as_slice(),
        &["client", "add", "Gate B", "--gate"],
    ] {
        let filled = gatepost(db, arguments);
        assert!(filled.status.success(), "{arguments:?}: {filled:?}");
    }
    // Two places that look like doors, in every room.
    let file = rusqlite::Connection::open(db).expect("the file");
    file.execute_batch(
        "INSERT INTO devices (parent_id, name, code, public_id, sources, created_at, updated_at)
         SELECT id, side, side || id, side || id, '[]', 0, 0 FROM devices, (SELECT 'North door' AS side UNION SELECT 'South door')
         WHERE device_type = 'room'",
    )
    .expect("places");
    file.execute_batch(
        r#"INSERT INTO printers (name, definition)
         VALUES ('Entrance', '{"name": "Entrance", "address": "127.0.0.1:9"}')"#,
    )
    .expect("a printer");
    // Half of the people came the day before, which is more to say.
    file.execute_batch(
        "UPDATE interactions SET recorded_at = recorded_at - 86400000, created_at = created_at - 86400000
         WHERE first_delegate_id % 2 = 1",
    )
    .expect("times");
    // Names that are one long word.
    file.execute_batch(
        "UPDATE delegates SET last_name = replace(hex(zeroblob(75)), '0', 'w') WHERE id % 3 = 0;
         UPDATE devices SET name = replace(hex(zeroblob(60)), '0', 'h') WHERE device_type = 'room' AND id % 2 = 0;",
    )
    .expect("names");
}

#[test]
fn what_keeps_people_out_is_found() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let served = Served::start(&folder.path().join("gatepost.db"));
    let browser = open(&served);
    let examiner = Examiner::installed();
    browser.go("/console/sign-in");
    assert_none(&examiner.faults(&browser, "sign-in"));
    browser.run(
        "document.querySelector('label').remove();
         document.querySelector('h1').style.color = '#ddd';
         document.querySelector('main').insertAdjacentHTML('beforeend', '<p>' + 'wide'.repeat(500));
         document.querySelector('main').lastElementChild.style.whiteSpace = 'nowrap';
         console.error('a complaint');",
        &[],
    );
    let faults = examiner.faults(&browser, "sign-in").join("\n");
    for [about, views] in table(
        "label at 1 places          | (1440 light, 390 dark)
         color-contrast at 1 places | (1440 light, 390 light)
         px wide                    | (390 light, 390 dark)
         a complaint                |",
    ) {
        let found = faults
            .lines()
            .any(|line| line.contains(about) && line.contains(views));
        assert!(found, "no {about:?} {views} in {faults}");
    }
}
