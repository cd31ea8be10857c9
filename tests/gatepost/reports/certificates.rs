//! Certificates of attendance: who gets one, and that its code is confirmed (contract §15).

use crate::{
    console::Crew,
    harness::{Caller, Server, Whole, has, lacks, whole},
};
use gatepost::{
    domain::certificates::{self, Attendance, Attended, Wanted},
    identity::ConsoleRole,
    types::{DelegateId, DeviceId, Timestamp},
};
use reqwest::Method;
use serde_json::json;

const OUTSIDE: &str = "https://gate.example.org";
const PAGE: &str = "/console/reports/certificates";

struct Venue {
    server: Server,
    api: Caller,
    crew: Crew,
}

fn start() -> Venue {
    let server = Server::start_with(Some(OUTSIDE));
    let (api, crew) = (
        server.caller_with_all(),
        server.crew(ConsoleRole::Administrator),
    );
    server.settings(&json!({"name": "Summit"}));
    Venue { server, api, crew }
}

impl Venue {
    fn place(
        &self,
        name: &str,
        kind: &str,
        parent: Option<i64>,
        times: Option<(&str, &str)>,
    ) -> i64 {
        let at = |time: &str| format!("2025-11-21T{time}:00Z");
        self.api.device(&json!({
            "name": name, "deviceType": kind, "parent": parent,
            "startAt": times.map(|(from, _)| at(from)), "endAt": times.map(|(_, to)| at(to)),
        }))
    }

    /// Somebody who does something, each with a place and a time.
    fn attendee(&self, name: &str, happens: &[(&str, i64, &str)]) -> i64 {
        let who = self
            .api
            .delegate(&json!({"firstName": name, "lastName": "Byron"}));
        for (kind, place, at) in happens {
            let at = format!("2025-11-21T{at}:00Z");
            let body = json!({"delegate": who, "device": place, "recordedAt": at});
            self.api.interact(kind, &body).is(201);
        }
        who
    }

    fn shown(&self, place: i64, percent: i64) -> String {
        self.crew
            .get(&format!("{PAGE}?place={place}&percent={percent}"))
            .shown()
    }

    /// Who gets a certificate, by first name.
    fn certified(&self, place: i64, percent: i64) -> Vec<String> {
        let page = self.shown(place, percent);
        let names = page
            .split(" Byron</a>")
            .filter_map(|part| part.rsplit('>').next());
        let names = names
            .filter(|name| !name.contains('\n'))
            .map(ToOwned::to_owned);
        names.filter(|name| !name.is_empty()).collect()
    }

    fn open(&self, path: &str) -> Whole {
        whole(self.server.request(Method::GET, path))
    }
}

/// What somebody did, when in minutes, and where.
type Stay = (&'static str, i64, &'static str);

#[test]
fn whoever_stayed_for_so_many_percent_gets_a_certificate() {
    let venue = start();
    let hall = venue.place("Hall", "room", None, None);
    let talk = venue.place("Talk", "session", Some(hall), Some(("10:00", "12:00")));
    let cases: [(&str, i64, &[Stay]); 9] = [
        (
            "Ada",
            100,
            &[("check-in", talk, "09:30"), ("check-out", talk, "12:10")],
        ),
        (
            "Bea",
            80,
            &[("check-in", talk, "09:30"), ("check-out", talk, "11:36")],
        ),
        (
            "Cem",
            79,
            &[("check-in", talk, "10:00"), ("check-out", talk, "11:35")],
        ),
        // Whoever does not check out is there to the end of the session.
        ("Dan", 50, &[("check-in", talk, "11:00")]),
        (
            "Eve",
            75,
            &[
                ("check-in", talk, "10:00"),
                ("check-out", talk, "10:30"),
                ("check-in", talk, "11:00"),
                ("check-out", talk, "13:00"),
            ],
        ),
        (
            "Fay",
            90,
            &[("entered", hall, "10:12"), ("exited", hall, "12:30")],
        ),
        // A gate lets people into the hall for whatever is there.
        (
            "Gil",
            0,
            &[("check-in", hall, "10:00"), ("check-out", hall, "12:00")],
        ),
        (
            "Hal",
            0,
            &[("check-in", talk, "08:00"), ("check-out", talk, "09:00")],
        ),
        ("Ivy", 0, &[]),
    ];
    for (name, _, happens) in &cases {
        venue.attendee(name, happens);
    }
    for percent in [1, 50, 75, 76, 80, 81, 90, 91, 100] {
        let expected: Vec<&str> = cases
            .iter()
            .filter(|case| case.1 >= percent)
            .map(|case| case.0)
            .collect();
        assert_eq!(venue.certified(talk, percent), expected, "{percent} %");
    }
    has(
        venue.shown(talk, 80),
        "3 of 6 who were there, for 80 % of 2 hours",
    );
    // At the hall, whoever a gate let in counts, too.
    assert_eq!(venue.certified(hall, 100), ["Ada", "Gil"]);
    let pdf = venue
        .crew
        .get(&format!("{PAGE}/pdf?place={talk}&percent=80"));
    assert!(pdf.status == 200 && pdf.html.starts_with("%PDF"));
}

#[test]
fn sessions_at_the_same_time_count_once_and_a_place_without_any_counts_itself() {
    let venue = start();
    let event = venue.place("Congress", "event", None, Some(("08:00", "20:00")));
    let hall = venue.place("Hall", "room", Some(event), None);
    let first = venue.place("First", "session", Some(hall), Some(("10:00", "12:00")));
    venue.place("Second", "session", Some(event), Some(("11:00", "13:00")));
    let dinner = venue.place("Dinner", "room", Some(event), Some(("18:00", "20:00")));
    venue.attendee(
        "Ada",
        &[("check-in", event, "09:00"), ("check-out", event, "14:00")],
    );
    venue.attendee(
        "Bea",
        &[("check-in", first, "10:00"), ("check-out", first, "12:00")],
    );
    venue.attendee(
        "Cem",
        &[
            ("check-in", dinner, "17:00"),
            ("check-out", dinner, "19:00"),
        ],
    );
    // Three hours from 10 to 13, of which Bea has two.
    has(venue.shown(event, 66), "for 66 % of 3 hours");
    assert_eq!(venue.certified(event, 66), ["Ada", "Bea"]);
    assert_eq!(venue.certified(event, 67), ["Ada"]);
    assert_eq!(venue.certified(0, 67), ["Ada"], "all of it is the same");
    assert_eq!(venue.certified(dinner, 50), ["Cem"]);
    assert_eq!(venue.certified(dinner, 51), Vec::<String>::new());
    let empty = venue.place("Lobby", "room", None, None);
    venue
        .crew
        .get(&format!("{PAGE}?place={empty}&percent=80"))
        .refused(422, "No time counts");
    venue
        .crew
        .get(&format!("{PAGE}?percent=101"))
        .refused(422, "must be from 1 to 100");
    venue
        .crew
        .get(&format!("{PAGE}/pdf?place={dinner}&percent=51"))
        .refused(400, "Nobody was there");
    let viewer = venue.server.viewer();
    assert_eq!(viewer.get(PAGE).status, 403);
    lacks(viewer.get("/console/reports").shown(), [PAGE]);
}

/// The address on a certificate of an attendee; empty without one.
fn address(venue: &Venue, attendee: i64, place: i64) -> String {
    let place = Some(DeviceId(place));
    venue.server.write(move |tx, ctx| {
        let attended = Attended {
            attendee: DelegateId(attendee),
            name: String::new(),
            seconds: 5_400,
        };
        let day = Timestamp(1_763_719_200_000);
        let attendance = Attendance {
            span: (day, day),
            counted_s: 6_000,
            people: vec![attended],
        };
        let wanted = Wanted { place, percent: 80 };
        let prepared = certificates::prepare(tx, &ctx.settings, wanted, &attendance)?;
        let (record, fields) = &prepared.certificates[0];
        assert_eq!(record["id"], attendee);
        let told = ["event", "dates", "attended", "percent"].map(|name| fields[name].as_str());
        assert_eq!(told, ["Talk", "21 November 2025", "1.5 hours", "90 %"]);
        Ok(fields["certificateUrl"].clone())
    })
}

#[test]
fn the_code_of_a_certificate_is_confirmed_and_no_other() {
    let venue = start();
    let talk = venue.place("Talk", "session", None, Some(("10:00", "12:00")));
    let ada = venue.attendee("Ada", &[]);
    assert_eq!(
        address(&venue, ada, talk),
        "",
        "nothing is offered without an address"
    );
    lacks(venue.shown(talk, 80), ["Each has a code"]);
    venue.server.settings(&json!({"publicUrlReachable": true}));
    has(venue.shown(talk, 80), "Each has a code");

    let url = address(&venue, ada, talk);
    let path = url.strip_prefix(OUTSIDE).expect("an address");
    assert!(
        path.starts_with(&format!("/t/c{ada}-{talk}-90-90-")),
        "{path}"
    );
    let page = venue.open(path);
    assert_eq!(page.reply.status, 200);
    for told in [
        "This certificate is genuine.",
        "Ada Byron",
        "Talk",
        "1.5 hours (90 %)",
        "Issued by Summit",
    ] {
        has(&page.text, told);
    }
    lacks(&page.text, ["<script", "data:image"]);
    let signature = path.rsplit('-').next().expect("a signature");
    assert_eq!(signature.len(), 32, "128 bits");
    for forged in [
        format!("/t/c{ada}-{talk}-900-90-{signature}"),
        format!("/t/c{ada}-{talk}-90-100-{signature}"),
        format!("/t/c{ada}-0-90-90-{signature}"),
        format!("/t/c{}-{talk}-90-90-{signature}", ada + 1),
        format!("/t/c{ada}-{signature}"),
        "/t/c".to_owned(),
        format!("{path}0"),
    ] {
        let page = venue.open(&forged);
        assert_eq!(page.reply.status, 404, "{forged}");
        has(&page.text, "This certificate is unknown.");
    }
    // The code of a certificate opens no ticket.
    has(
        &venue.open(&path.replace("/t/c", "/t/")).text,
        "This ticket is not valid any more.",
    );
    venue.server.settings(&json!({"publicUrlReachable": false}));
    assert_eq!(venue.open(path).reply.status, 404);
    venue.server.settings(&json!({"publicUrlReachable": true}));
    assert_eq!(venue.open(path).reply.status, 200);
    venue
        .crew
        .post(
            &format!("/console/delegates/{ada}/erase"),
            &[("confirm", &ada.to_string())],
        )
        .taken();
    let gone = venue.open(path);
    assert_eq!(gone.reply.status, 404);
    lacks(&gone.text, ["Ada"]);
}

#[test]
fn a_layout_for_certificates_draws_no_badges() {
    let venue = start();
    let ada = venue.attendee("Ada", &[]);
    let badge = || venue.open_svg(ada);
    let before = badge();
    let form = venue
        .crew
        .get("/console/settings/badges/edit?preset=Certificate%20(A4)")
        .shown();
    has(&form, "&#34;for&#34;: &#34;certificate&#34;");
    venue.server.write(|tx, ctx| {
        let layout = gatepost::domain::badges::presets::certificate();
        gatepost::domain::badges::save(tx, ctx, &[layout], false)
    });
    assert_eq!(badge(), before, "badges are an A6 still");
    has(
        venue.crew.get("/console/settings/badges").shown(),
        "Certificate, 210 × 297 mm",
    );
}

impl Venue {
    fn open_svg(&self, id: i64) -> String {
        whole(
            self.api
                .request(Method::GET, &format!("/badge/id:{id}?format=svg")),
        )
        .text
    }
}
