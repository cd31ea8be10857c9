//! The evacuation list at gates: `/gate/evacuation`.

use super::gate::Venue;
use gatepost::identity::{ConsoleRole, Role, clients::NewClient};
use serde_json::{Value, json};
use std::time::{SystemTime, UNIX_EPOCH};

/// Attendees 1 to 4 with contact data: Ada in the room, Béa in the hall, Cy elsewhere, Dee has left the room.
fn fill(venue: &Venue) {
    for name in ["Ada", "Béa", "Cy", "Dee"] {
        venue.all.delegate(&json!({
            "firstName": name, "barcode": name, "company": "Engines", "email": format!("{name}@example.org"),
            "phone": "+49 170 5550100",
        }));
        for device in [venue.room, venue.hall] {
            let join = json!({"delegate": format!("barcode:{name}"), "device": device});
            venue.all.interact("join", &join).id();
        }
    }
    let pass = |kind: &str, name: &str, device: i64| {
        let body = json!({"delegate": format!("barcode:{name}"), "device": device});
        venue.all.interact(kind, &body).id();
    };
    pass("check-in", "Dee", venue.room);
    pass("check-out", "Dee", venue.room);
    pass("check-in", "Ada", venue.room);
    pass("check-in", "Béa", venue.hall);
    pass("check-in", "Cy", venue.other);
}

impl Venue {
    /// A gate that may be used at the hall.
    fn move_to_hall(&self) {
        let settings = json!({"place": "code:hall", "places": ["code:hall"]});
        self.server.publish(&json!({"default": settings}));
    }

    fn list(&self, place: i64) -> Vec<Value> {
        self.gate
            .get(&format!("/gate/evacuation?place={place}"))
            .list()
            .clone()
    }

    fn tick(&self, place: i64, ticks: &Value) {
        let body = json!({"place": place, "ticks": ticks});
        self.gate.post("/gate/evacuation", &body).is(204);
    }

    fn evacuations(&self) -> i64 {
        self.server.value("SELECT count(*) FROM evacuations")
    }
}

fn names(list: &[Value]) -> Vec<&str> {
    list.iter().filter_map(|one| one["name"].as_str()).collect()
}

/// Unix seconds, so many minutes ago.
fn minutes_ago(minutes: u64) -> u64 {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .expect("after 1970");
    now.as_secs() - minutes * 60
}

#[test]
fn a_gate_lists_whoever_is_inside_its_place_and_below_without_contact_data() {
    let venue = Venue::new();
    fill(&venue);
    let list = venue.list(venue.room);
    assert_eq!(names(&list), ["Ada"]);
    assert_eq!(
        (&list[0]["place"], &list[0]["company"], &list[0]["id"]),
        (&json!("Room"), &json!("Engines"), &json!(1))
    );
    assert!(list[0]["since"].is_i64() && list[0].get("safe").is_none());
    // Of a place that is not its own it learns nothing.
    for place in [venue.hall, venue.other, 999_999] {
        venue
            .gate
            .get(&format!("/gate/evacuation?place={place}"))
            .refused(403, 1202, "not one of this gate's places");
        venue
            .gate
            .post(
                "/gate/evacuation",
                &json!({"place": place, "ticks": [{"delegate": 1}]}),
            )
            .refused(403, 1202, "not one of this gate's places");
    }
    assert_eq!(venue.evacuations(), 0);
    venue.move_to_hall();
    let page = venue
        .gate
        .get(&format!("/gate/evacuation?place={}", venue.hall));
    assert_eq!(names(page.list()), ["Béa", "Ada"]);
    assert_eq!(page.list()[1]["place"], "Room");
    // At a door of the hall it is the same list.
    let door =
        json!({"name": "South", "code": "south", "deviceType": "door", "parent": venue.hall});
    let door = venue.all.device(&door);
    let settings = json!({"place": "code:hall", "places": ["code:south"]});
    venue.server.publish(&json!({"default": settings}));
    assert_eq!(names(&venue.list(door)), ["Béa", "Ada"]);
    let sent = page.body.to_string();
    assert!(
        !sent.contains("5550100") && !sent.contains("example.org"),
        "{sent}"
    );
    // A client that sees less is sent less.
    let (id, secret) = venue.server.new_client(NewClient {
        roles: [Role::Gate].into_iter().collect(),
        visible_properties: Some(vec!["externalId".into()]),
        ..NewClient::named("narrow")
    });
    let narrow = venue.server.caller_of(&id, &secret);
    let seen = narrow
        .get(&format!("/gate/evacuation?place={}", venue.hall))
        .list()
        .clone();
    assert_eq!(seen.len(), 2);
    assert!(
        seen.iter()
            .all(|one| one["name"] != "Ada" && one.get("company").is_none()),
        "{seen:?}"
    );
}

#[test]
fn a_long_list_comes_in_pages_with_those_who_left_at_its_end() {
    let venue = Venue::new();
    fill(&venue);
    for n in 1..=5 {
        let person = venue.all.delegate(&json!({"firstName": format!("P{n}")}));
        let body = json!({"delegate": person, "device": venue.hall});
        venue.all.interact("check-in-override", &body).id();
    }
    venue.move_to_hall();
    let dee = json!({"delegate": "barcode:Dee", "device": venue.hall});
    venue.all.interact("check-in-override", &dee).id();
    venue.tick(venue.hall, &json!([{"delegate": 1}, {"delegate": 4}]));
    venue.all.interact("check-out", &dee).id();
    let mut all = Vec::new();
    let mut after = String::new();
    loop {
        let path = format!("/gate/evacuation?place={}&limit=3{after}", venue.hall);
        let page = venue.gate.get(&path);
        assert!(page.list().len() <= 4);
        all.extend(page.list().clone());
        match page.body["meta"]["next"].as_i64() {
            Some(next) => after = format!("&after={next}"),
            None => break,
        }
    }
    assert_eq!(
        names(&all),
        ["P5", "P4", "P3", "P2", "P1", "Béa", "Ada", "Dee"]
    );
    assert_eq!(all[6]["safe"]["by"], "gate");
    assert!(all[7].get("place").is_none() && all[7]["safe"]["at"].is_i64());
    for (query, about) in [
        ("limit=0", "limit"),
        ("only=people", "only"),
        ("after=x", "after"),
    ] {
        let path = format!("/gate/evacuation?place={}&{query}", venue.hall);
        venue.gate.get(&path).invalid(about);
    }
}

#[test]
fn ticks_of_gates_and_of_the_console_are_the_same() {
    let venue = Venue::new();
    fill(&venue);
    venue.move_to_hall();
    let crew = venue.server.crew(ConsoleRole::Operator);
    assert!(venue.gate.get("/gate").data().get("evacuation").is_none());
    let path = crew.post("/console/evacuation", &[("place", "")]).taken();
    assert!(venue.gate.get("/gate").data()["evacuation"]["startedAt"].is_i64());
    // Ticked at the console, seen at the gate; Cy never was there.
    for delegate in ["2", "3"] {
        let tick = [("delegate", delegate), ("safe", "1")];
        crew.post(&format!("{path}/safe"), &tick).taken();
    }
    assert_eq!(names(&venue.list(venue.hall)), ["Béa", "Ada"]);
    let ticks = || {
        let path = format!("/gate/evacuation?place={}&only=safe", venue.hall);
        venue.gate.get(&path)
    };
    let reply = ticks();
    assert_eq!(reply.list().len(), 1);
    assert_eq!(reply.list()[0]["id"], 2);
    assert_eq!(reply.list()[0]["safe"]["by"], "operator@example.com");
    assert_eq!(reply.body["meta"]["safe"], 1);
    assert!(reply.body["meta"]["evacuation"]["id"].is_i64());
    // And the other way; a second tick changes nothing, and one may be taken back.
    venue.tick(
        venue.hall,
        &json!([{"delegate": 1}, {"delegate": 1}, {"delegate": 999_999}]),
    );
    let html = crew.get(&path).shown();
    assert!(html.contains("by gate"), "{html}");
    assert_eq!(venue.evacuations(), 1);
    venue.tick(venue.hall, &json!([{"delegate": 1, "safe": false}]));
    assert_eq!(ticks().list().len(), 1);
    // Nobody is checked out by it, and an erased person is nowhere.
    assert_eq!(names(&venue.list(venue.hall)), ["Béa", "Ada"]);
    venue.tick(venue.hall, &json!([{"delegate": 1}]));
    venue.all.delete("/delegate/barcode:Ada").is(204);
    assert_eq!(names(&venue.list(venue.hall)), ["Béa"]);
    let crew = venue.server.crew_once(ConsoleRole::Administrator);
    crew.post("/console/delegates/2/erase", &[("confirm", "2")])
        .is(303);
    assert!(venue.list(venue.hall).is_empty());
    assert!(ticks().list().iter().all(|one| one["id"] != 2));
    // The end empties it, for the next one.
    crew.post(&format!("{path}/end"), &[]).taken();
    assert!(ticks().list().is_empty());
    assert!(ticks().body["meta"].get("evacuation").is_none());
}

#[test]
fn ticks_that_come_late_count_where_an_evacuation_ran_at_the_time() {
    let venue = Venue::new();
    fill(&venue);
    let ticked = |of: &str| -> String {
        venue.server.text(&format!(
            "SELECT coalesce(group_concat(delegate_id), '') FROM (SELECT delegate_id FROM evacuation_safe
             JOIN evacuations e ON e.id = evacuation_id WHERE {of} ORDER BY delegate_id)"
        ))
    };
    let begin = |place: &str, started: &str, ended: &str| {
        venue.server.sql(&format!(
            "INSERT INTO evacuations (device_id, started_at, ended_at, actor) VALUES ({place}, unixepoch('now', '{started}') * 1000, {ended}, 'cli')"
        ));
    };
    // Of the whole venue, an hour long, three hours ago; and of the hall, from ten minutes ago on.
    begin("NULL", "-3 hours", "unixepoch('now', '-2 hours') * 1000");
    begin(&venue.hall.to_string(), "-10 minutes", "NULL");
    begin(&venue.other.to_string(), "-1 day", "NULL");
    let tick = |delegate: i64, minutes: u64| {
        let ticks = json!([{"delegate": delegate, "recordedAt": minutes_ago(minutes)}]);
        venue.tick(venue.room, &ticks);
    };
    tick(1, 150);
    tick(2, 20);
    tick(3, 5);
    let of_hall = format!("device_id = {}", venue.hall);
    assert_eq!(
        (&*ticked("device_id IS NULL"), &*ticked(&of_hall)),
        ("1", "2,3")
    );
    assert_eq!(ticked(&format!("device_id = {}", venue.other)), "");
    assert_eq!(venue.evacuations(), 3);
    // None ran: one of the gate's own place begins then, once.
    let ticks = json!([
        {"delegate": 4, "recordedAt": minutes_ago(60)}, {"recordedAt": minutes_ago(70)}, {"delegate": 1, "recordedAt": minutes_ago(65)},
    ]);
    venue.tick(venue.room, &ticks);
    venue.tick(venue.room, &ticks);
    let own = format!("device_id = {}", venue.room);
    assert_eq!((&*ticked(&own), venue.evacuations()), ("1,4", 4));
    let started: i64 = venue.server.value(&format!(
        "SELECT started_at / 1000 FROM evacuations WHERE {own}"
    ));
    assert!((0..5).contains(&(i64::try_from(minutes_ago(70)).expect("a time") - started).abs()));
    // What is taken back later than it was made is gone; a tick that is newer stays.
    let back =
        |minutes: u64| json!([{"delegate": 3, "safe": false, "recordedAt": minutes_ago(minutes)}]);
    venue.tick(venue.room, &back(8));
    assert_eq!(ticked(&of_hall), "2,3");
    venue.tick(venue.room, &back(1));
    assert_eq!(ticked(&of_hall), "2");
    for (ticks, about) in [
        (json!([]), "ticks"),
        (json!([{"delegate": 1, "recordedAt": "noon"}]), "recordedAt"),
        (Value::Array(vec![json!({"delegate": 1}); 201]), "ticks"),
    ] {
        let body = json!({"place": venue.room, "ticks": ticks});
        venue.gate.post("/gate/evacuation", &body).invalid(about);
    }
}
