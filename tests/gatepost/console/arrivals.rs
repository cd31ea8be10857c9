//! Arrived of expected: the first number of the dashboard follows whatever changes it, and is at each moment
//! what a count of everybody gives; and the wall display, whose link opens nothing else.

use super::{Crew, browser, field, page, rehearsal};
use crate::{
    faults::process::until,
    harness::{Caller, Server, has, lacks},
};
use gatepost::{
    admin::{self, Access},
    domain::interactions::arrivals::Arrivals,
    types::Timestamp,
};
use reqwest::{Method, header};
use serde_json::json;

/// The number of a name on a page.
fn live(html: &str, name: &str) -> Option<i64> {
    let after = html.split(&format!("data-live=\"{name}\">")).nth(1)?;
    after.split('<').next()?.replace(',', "").parse().ok()
}

/// A hall, and who watches it.
struct Hall {
    server: Server,
    api: Caller,
    crew: Crew,
    id: i64,
}

impl Hall {
    fn open() -> Self {
        let (server, api) = Server::with_api();
        let crew = server.administrator();
        let id = api.device(&json!({"name": "Hall"}));
        Self {
            server,
            api,
            crew,
            id,
        }
    }

    fn attendee(&self, kind: &str) -> i64 {
        self.api.delegate(&json!({"delegateType": kind}))
    }

    fn check_in(&self, delegate: i64) -> i64 {
        self.api.scan("check-in", delegate, self.id).id()
    }

    /// What a count of everybody gives: arrived, expected, today.
    fn counted(&self) -> [i64; 3] {
        let fresh = Arrivals::default();
        let day = self.server.app.settings().day(Timestamp::now());
        let look = |connection: &rusqlite::Connection| fresh.follow(connection, day);
        self.server.app.store.look_up(look).expect("a count");
        let now = fresh.now();
        [now.arrived, now.expected, now.today]
    }

    /// Checks that the dashboard shows so many arrived of so many, and that this is what counting gives.
    #[track_caller]
    fn shows(&self, arrived: i64, expected: i64) {
        let [counted, of, today] = self.counted();
        assert_eq!((counted, of), (arrived, expected));
        // What only a count can tell waits for its turn.
        until(&format!("{arrived} of {expected} have arrived"), || {
            let html = self.crew.page("/console");
            let shown = ["arrived", "expected"].map(|name| live(&html, name));
            let shown_today = live(&html, "today").or(Some(arrived));
            shown == [Some(arrived), Some(expected)] && shown_today == Some(today)
        });
    }
}

#[test]
fn arrived_of_expected_follows_whatever_happens() {
    let hall = Hall::open();
    lacks(hall.crew.page("/console"), "data-live=\"arrived\"");
    let [ada, bob, carl] = ["Visitor", "Visitor", "Crew"].map(|kind| hall.attendee(kind));
    hall.shows(0, 3);
    hall.check_in(ada);
    hall.shows(1, 3);
    // Once each, whatever they do next.
    hall.api.scan("check-out", ada, hall.id).data();
    let room = hall.api.device(&json!({"name": "Room"}));
    hall.api.scan("check-in", ada, room).data();
    hall.shows(1, 3);
    hall.api.scan("check-in-override", carl, room).data();
    hall.shows(2, 3);
    has(
        hall.crew.page("/console"),
        [
            "<strong>1</strong> of 2</span>",
            "<strong>1</strong> of 1</span>",
            "1 not yet",
        ],
    );
    // Another type, and none.
    hall.api.patched(
        &format!("/delegate/id:{carl}"),
        &json!({"delegateType": "Speaker"}),
    );
    let html = hall.crew.page("/console");
    has(&html, "type=Speaker");
    lacks(&html, "type=Crew");
    // A check-in that is taken back never was.
    let wrong = hall.check_in(bob);
    hall.shows(3, 3);
    hall.api.delete(&format!("/interaction/id:{wrong}"));
    hall.shows(2, 3);
    // Who is deleted is neither expected nor there, and is again when restored.
    hall.api.delete(&format!("/delegate/id:{ada}"));
    hall.shows(1, 2);
    hall.crew
        .post(&format!("/console/delegates/{ada}/restore"), &[])
        .taken();
    hall.shows(2, 3);
    hall.api.delegate(&json!({}));
    hall.shows(2, 4);
}

#[test]
fn whom_a_note_holds_is_expected_once_they_come() {
    let hall = Hall::open();
    let [ada, bob] = [(); 2].map(|()| hall.attendee("Visitor"));
    let note = |level: &str, delegate: i64| {
        let form = [("note", "Call security"), ("level", level)];
        hall.crew
            .post(&format!("/console/delegates/{delegate}/note"), &form)
            .taken();
    };
    note("stop", ada);
    hall.shows(0, 1);
    note("warning", bob);
    hall.shows(0, 1);
    hall.check_in(ada);
    hall.shows(1, 2);
}

#[test]
fn merged_and_erased_people_are_counted_as_they_are_now() {
    let hall = Hall::open();
    let [ada, double, bob] = [(); 3].map(|()| hall.attendee("Visitor"));
    hall.check_in(double);
    hall.check_in(bob);
    hall.shows(2, 3);
    let (kept, other) = (ada, double);
    let path = format!("/console/delegates/{kept}/merge");
    let html = hall.crew.page(&format!("{path}?other={other}"));
    let form = super::form_fields(&html, "/merge");
    let form: Vec<_> = form
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    hall.crew.post(&path, &form).taken();
    hall.shows(2, 2);
    hall.api.delete(&format!("/delegate/id:{bob}"));
    hall.crew
        .post(
            &format!("/console/delegates/{bob}/erase"),
            &[("confirm", &bob.to_string())],
        )
        .taken();
    hall.shows(1, 1);
}

#[test]
fn imports_and_their_undoing_are_followed() {
    let hall = Hall::open();
    let people: Vec<_> = (0..50)
        .map(|at| format!("Guest{at},Person,T-{at}"))
        .collect();
    let list = format!("First name,Last name,Barcode\n{}\n", people.join("\n"));
    let list = hall.server.file("list.csv", &list);
    hall.server.done(&["import", "delegates", &list]);
    hall.shows(0, 50);
    hall.api.scan("check-in", "barcode:T-7", hall.id).data();
    hall.shows(1, 50);
    let batch: i64 = hall.server.value("SELECT id FROM batches");
    hall.server.sql("DELETE FROM interactions");
    hall.crew
        .post(&format!("/console/import/batches/{batch}/undo"), &[])
        .taken();
    until("all are gone", || {
        live(&hall.crew.page("/console"), "arrived").is_none()
    });
    assert_eq!(hall.server.count("delegates"), 0);
}

#[test]
fn a_rehearsal_leaves_no_arrivals_behind() {
    let hall = Hall::open();
    let ada = hall.attendee("Visitor");
    rehearsal::take_snapshot(&hall.crew);
    hall.check_in(ada);
    let bob = hall.attendee("Crew");
    hall.check_in(bob);
    hall.shows(2, 2);
    rehearsal::go_back(&hall.crew);
    hall.shows(0, 1);
    hall.check_in(ada);
    hall.shows(1, 1);
}

#[test]
fn on_the_next_day_people_of_yesterday_have_arrived_but_not_today() {
    let hall = Hall::open();
    let [ada, bob] = [(); 2].map(|()| hall.attendee("Visitor"));
    let yesterday = (Timestamp::now().0 - 26 * 3_600_000) / 1000;
    let scan = json!({
        "firstDelegate": ada, "firstDevice": hall.id, "recordedAt": yesterday, "admitted": true,
    });
    hall.api.interact("check-in", &scan).data();
    assert_eq!(hall.counted(), [1, 2, 0]);
    hall.shows(1, 2);
    has(hall.crew.page("/console"), "Nobody has arrived today");
    hall.check_in(bob);
    assert_eq!(hall.counted(), [2, 2, 1]);
    hall.shows(2, 2);
    has(
        hall.crew.page("/console"),
        "<strong data-live=\"today\">1</strong> of them today",
    );
    hall.check_in(ada);
    assert_eq!(hall.counted(), [2, 2, 2]);
}

/// A screen with this cookie.
fn screen(server: &Server, cookie: &str, method: Method, path: &str) -> super::Page {
    let url = format!("{}{path}", server.url());
    page(
        browser()
            .request(method, url)
            .header(header::COOKIE, cookie),
    )
}

/// Makes a link, and opens it on a screen; its path and the screen's cookie.
fn open_link(hall: &Hall) -> (String, String) {
    let crew = &hall.crew;
    assert_eq!(
        crew.post("/console/wall/link", &[]).taken(),
        "/console/wall/link"
    );
    let html = crew.page("/console/wall/link");
    let address = super::between(&html, "id=\"wall-address\">", "<");
    let (_, path) = address.split_once("/console/").expect("an address");
    let path = format!("/console/{path}");
    let url = format!("{}{path}", hall.server.url());
    let answer = browser().get(url).send().expect("an answer");
    assert_eq!(answer.headers()[header::LOCATION], "/console/wall");
    let cookie = answer.headers()[header::SET_COOKIE]
        .to_str()
        .expect("text")
        .to_owned();
    has(
        &cookie,
        ["; Path=/console/wall;", "; HttpOnly;", "; SameSite=Lax;"],
    );
    (path, cookie.split(';').next().expect("a cookie").to_owned())
}

#[test]
fn the_link_of_the_wall_opens_the_wall_alone() {
    let hall = Hall::open();
    let ada = hall
        .api
        .delegate(&json!({"firstName": "Ada", "lastName": "Lovelace", "delegateType": "Visitor"}));
    hall.check_in(ada);
    let (path, cookie) = open_link(&hall);
    let html = screen(&hall.server, &cookie, Method::GET, "/console/wall").shown();
    assert_eq!(live(&html, "arrived"), Some(1));
    has(&html, ["Hall", "Visitor", "/console/wall/stream"]);
    lacks(
        &html,
        [
            "Lovelace",
            "csrf",
            "<nav",
            "href=\"/console\"",
            "/console/delegates",
        ],
    );
    for route in admin::routes() {
        let (path, method) = (route.path.replace(":id", "1"), route.method.clone());
        match route.access {
            Access::Anyone | Access::Wall => continue,
            Access::Role(_) => {}
        }
        let refused = screen(&hall.server, &cookie, method, &path);
        assert_eq!(refused.status, 303, "{path}: {refused:?}");
        has(&refused.location, "/console/sign-in");
    }
    // The secret is hashed at rest, and in no log of the console.
    let secret = path.split("key=").nth(1).expect("a key");
    assert!(hall.server.traces(&[secret]).is_empty());
    lacks(hall.crew.page("/console/audit"), secret);
}

#[test]
fn a_revoked_link_opens_nothing() {
    let hall = Hall::open();
    let (path, cookie) = open_link(&hall);
    let sees =
        |cookie: &str| screen(&hall.server, cookie, Method::GET, "/console/wall").status == 200;
    assert!(sees(&cookie));
    // Another link ends the first.
    let (_, newer) = open_link(&hall);
    assert!(!sees(&cookie) && sees(&newer));
    page(browser().get(format!("{}{path}", hall.server.url())))
        .refused(403, "does not work any more");
    hall.crew.post("/console/wall/link/revoke", &[]).taken();
    assert!(!sees(&newer));
    for wrong in [
        "",
        "?key=",
        "?key=0123",
        &format!("?key={}", "0".repeat(64)),
    ] {
        let url = format!("{}/console/wall/enter{wrong}", hall.server.url());
        page(browser().get(url)).refused(403, "does not work any more");
    }
    // Nobody but an administrator makes one.
    let operator = hall.server.operator();
    let refused = operator.post("/console/wall/link", &[]);
    assert_eq!(refused.status, 403, "{refused:?}");
    operator.page("/console/wall");
    assert!(field(&operator.page("/console"), "csrf").len() > 10);
}

#[test]
fn a_type_is_counted_once_however_it_is_spelt() {
    let hall = Hall::open();
    let [one, crew, first, marked, other] =
        ["visitor", "Crew", "VISITOR", "Visitör", "visitor"].map(|kind| hall.attendee(kind));
    hall.check_in(first);
    hall.shows(1, 5);
    let html = hall.crew.page("/console");
    has(&html, ["<strong>1</strong> of 4</span>", "type=visitor&"]);
    lacks(&html, ["type=VISITOR", "type=Visit%C3%B6r"]);
    // The link finds all of them, whatever spelling it has.
    for spelling in ["visitor", "VISITOR", "Visitor"] {
        let list = hall
            .crew
            .page(&format!("/console/delegates?type={spelling}&been=no"));
        let listed = |id: &i64| list.contains(&format!("href=\"/console/delegates/{id}\""));
        assert!(
            [one, marked, other].iter().all(listed),
            "{spelling}: {list}"
        );
        assert!(![crew, first].iter().any(listed), "{spelling}: {list}");
    }
    has(hall.crew.page("/console/delegates"), "value=\"visitor\"");
}
