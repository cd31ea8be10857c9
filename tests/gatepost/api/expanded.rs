//! `expand` (contract §2): records within others, whole, with what the client may see.

use crate::harness::{Caller, Server, keys};
use gatepost::identity::Role;
use reqwest::Method;
use serde_json::{Value, json};

/// Ada, of a company, checks in at a gate of a hall, and says something that looks like a participant.
struct Venue {
    server: Server,
    api: Caller,
    ada: i64,
    gate: i64,
    check_in: i64,
}

fn venue() -> Venue {
    let (server, api) = Server::with_api();
    let firm = api.delegate(&json!({"barcode": "F", "company": "Engines"}));
    let ada = api.delegate(
        &json!({"barcode": "A", "lastName": "Lovelace", "parent": firm, "owner": firm,
        "data": {"Data": {"parent": {"id": firm, "_type": "delegate"}}}}),
    );
    let hall = api.device(&json!({"code": "hall", "name": "Hall"}));
    let gate = api.device(&json!({"code": "gate", "name": "Gate", "parent": hall}));
    let body = json!({"firstDelegate": ada, "firstDevice": gate,
        "data": {"firstDelegate": {"id": ada, "_type": "delegate"}, "n": 1.50}});
    let check_in = api.interact("check-in", &body).id();
    Venue {
        server,
        api,
        ada,
        gate,
        check_in,
    }
}

#[test]
fn participants_are_whole_wherever_interactions_are_read() {
    let venue = venue();
    let (api, id) = (&venue.api, venue.check_in);
    let plain = api.read(&format!("/interaction/{id}"));
    let both = "expand=firstDelegate,firstDevice,secondDelegate";
    let one = api.read(&format!("/interaction/{id}?{both}"));
    assert_eq!(one["firstDelegate"]["lastName"], "Lovelace");
    assert_eq!(one["firstDevice"]["name"], "Gate");
    // No deeper, and not in what was sent.
    assert_eq!(keys(&one["firstDevice"]["parent"]), "id _type");
    assert_eq!(one["firstDelegate"].get("firstInteractions"), None);
    assert_eq!(one["data"], plain["data"]);
    for name in ["id", "recordedAt", "interactionType"] {
        assert_eq!(one[name], plain[name]);
    }
    let listed = api.read(&format!("/interaction/list?{both}"));
    assert_eq!(listed, json!([one]));
    let body = json!({"expand": ["firstDelegate", "firstDevice"]});
    assert_eq!(
        api.post("/interaction/list", &body).list(),
        std::slice::from_ref(&one)
    );
    let few = api.read(&format!("/interaction/{id}?{both}&fields=firstDevice"));
    assert_eq!(keys(&few), "id _type firstDevice");
    assert_eq!(few["firstDevice"]["name"], "Gate");

    let page = api.get(&format!("/changes?types=interaction&{both}"));
    assert_eq!(page.data()[0]["data"], one);
    let cursor = page.body["meta"]["cursor"].as_str().expect("a cursor");
    // A copy that has other things in it begins anew.
    let other = api.get(&format!("/changes?types=interaction&since={cursor}"));
    assert_eq!(other.data()[0]["action"], "reset");
    let same = api.get(&format!("/changes?types=interaction&{both}&since={cursor}"));
    assert_eq!(same.data(), &json!([]));

    api.get(&format!("/interaction/{id}?expand=firstDelegat"))
        .invalid("did you mean \"firstDelegate\"");
    // Who was deleted is named only.
    api.delete(&format!("/delegate/id:{}", venue.ada)).is(204);
    let gone = api.read(&format!("/interaction/{id}?{both}"));
    assert_eq!(keys(&gone["firstDelegate"]), "id _type");
    assert_eq!(gone["firstDevice"]["id"], json!(venue.gate));
}

#[test]
fn parents_and_owners_are_whole() {
    let venue = venue();
    let api = &venue.api;
    let ada = api.read("/delegate/barcode:A?expand=parent,owner,previous");
    for name in ["parent", "owner"] {
        assert_eq!(ada[name]["company"], "Engines");
    }
    assert_eq!(keys(&ada["data"]["Data"]["parent"]), "id _type");
    let list = api.read("/delegate/list?expand=parent&fields=id,parent");
    assert_eq!(list[1]["parent"]["company"], "Engines");
    let gate = api.read("/device/code:gate?expand=parent");
    assert_eq!(gate["parent"]["name"], "Hall");
    assert_eq!(api.read("/device/list?expand=parent")[1], gate);
    let fed = api.read("/changes?types=device,delegate&expand=parent");
    assert_eq!(fed[1]["data"]["parent"]["name"], "Hall");
    assert_eq!(fed[3]["data"]["parent"]["company"], "Engines");
    api.get("/device/list?expand=owner").invalid("expand");
    api.get("/event/list?expand=parent").invalid("expand");
}

#[test]
fn nobody_is_shown_more_than_they_may_see() {
    let venue = venue();
    let path = format!("/interaction/{}?expand=", venue.check_in);
    let narrow = venue.server.caller_seeing(&["barcode", "parent"]);
    let shown = narrow.read(&format!("{path}firstDelegate"));
    assert_eq!(keys(&shown["firstDelegate"]), "id _type parent barcode");
    let shown = narrow.read("/delegate/barcode:A?expand=parent,owner");
    assert_eq!(keys(&shown["parent"]), "id _type barcode");
    assert_eq!(shown.get("owner"), None);
    let interactions = venue.server.caller(&[Role::InteractionRead]);
    for (name, role) in [
        ("firstDelegate", "ROLE_OAUTH2_DELEGATE_READ"),
        ("thirdDevice", "ROLE_OAUTH2_DEVICE_READ"),
    ] {
        interactions
            .get(&format!("{path}{name}"))
            .refused(403, 1202, role);
        interactions
            .get(&format!("/interaction/list?expand={name}"))
            .refused(403, 1202, role);
        interactions
            .get(&format!("/changes?expand={name}"))
            .refused(403, 1202, role);
    }
    // One's own record tells nothing of others.
    let own = venue
        .server
        .caller_as_user("ada@example.org", &[], Some(venue.ada));
    own.get("/delegate/barcode:A").is(200);
    own.get("/delegate/barcode:A?expand=parent")
        .refused(403, 1202, "ROLE_OAUTH2_DELEGATE_READ");
}

/// The values of a property on every page, going forward or back.
fn walked(api: &Caller, first: &str, way: &str, name: &str) -> Vec<Value> {
    let mut page = api.get(first);
    let mut pages = Vec::new();
    loop {
        page.is(200);
        let values: Vec<Value> = page.list().iter().map(|item| item[name].clone()).collect();
        pages.push(values);
        let pagination = &page.body["meta"]["pagination"];
        assert_eq!(pagination["totalItems"], 7, "{pagination}");
        match pagination[way].as_str() {
            Some(link) => page = api.follow(link),
            None => break,
        }
    }
    if way == "previous" {
        pages.reverse();
    }
    pages.concat()
}

#[test]
fn a_list_is_sorted_by_a_property() {
    let (_server, api) = Server::with_api();
    // In the order of names; two have none.
    let names = ["adler", "Émile", "emile", "Zorn", "zorn"];
    for code in [3, 1, 4, 0, 2] {
        api.delegate(&json!({"barcode": code.to_string(), "lastName": names[code]}));
    }
    api.delegate(&json!({"barcode": "5"}));
    api.delegate(&json!({"barcode": "6", "lastName": ""}));
    let of = |codes: [usize; 7]| codes.map(|code| json!(code.to_string())).to_vec();
    // Those that are alike are in the order of ids.
    let ascending = of([0, 1, 2, 3, 4, 5, 6]);
    let descending = of([4, 3, 2, 1, 0, 6, 5]);
    for limit in [1, 2, 3, 10] {
        for (sort, expected) in [("lastName", &ascending), ("-lastName", &descending)] {
            let first = format!("/delegate/list?sort={sort}&limit={limit}");
            assert_eq!(
                &walked(&api, &first, "next", "barcode"),
                expected,
                "{first}"
            );
            // From the end of the list back.
            let offset = 7 - 7 % limit;
            let last = format!("{first}&offset={}", if offset == 7 { 6 } else { offset });
            let back = walked(&api, &last, "previous", "barcode");
            assert_eq!(&back, expected, "{last}");
        }
    }
    let by = |query: &str| -> Vec<Value> {
        let list = api.read(&format!("/delegate/list?{query}"));
        let list = list.as_array().expect("a list");
        list.iter().map(|item| item["barcode"].clone()).collect()
    };
    let some = r#"search={"*=":["lastName","e"]}"#;
    assert_eq!(
        by(&format!("sort=lastName&{some}")),
        [json!("0"), json!("1"), json!("2")]
    );
    assert_eq!(by("sort=-barcode&limit=2"), [json!("6"), json!("5")]);
    assert_eq!(by("sort=-id&limit=1&offset=1"), [json!("5")]);
    assert_eq!(by("sort=createdAt").len(), 7);

    // Beyond what is deleted meanwhile.
    let page = api.get("/delegate/list?sort=lastName&limit=2&total=false");
    let next = page.body["meta"]["pagination"]["next"].clone();
    api.delete("/delegate/barcode:1").is(204);
    api.delete("/delegate/barcode:0").is(204);
    let page = api.follow(next.as_str().expect("a link"));
    assert_eq!(page.list()[0]["barcode"], "2");
    let posted = api.post("/delegate/list", &json!({"sort": "lastName", "limit": 1}));
    let after = &posted.body["meta"]["pagination"]["after"];
    let posted = api.post(
        "/delegate/list",
        &json!({"sort": "lastName", "limit": 1, "after": after}),
    );
    assert_eq!(posted.list()[0]["barcode"], "3");
    // An end of another order is none.
    let after = after.as_str().expect("an end");
    api.get(&format!("/delegate/list?after={after}"))
        .invalid("after");
}

#[test]
fn every_list_is_sorted_by_what_can_be_searched() {
    let venue = venue();
    let api = &venue.api;
    let first = |path: &str| api.read(path)[0].clone();
    assert_eq!(first("/device/list?sort=name")["name"], "Gate");
    assert_eq!(first("/device/list?sort=-name")["name"], "Hall");
    api.event(&json!({"eventName": "A", "eventStartAt": "2026-11-21 00:00:00"}));
    api.event(&json!({"eventName": "B", "eventStartAt": "2026-11-22 00:00:00"}));
    assert_eq!(first("/event/list?sort=-eventStartAt")["eventName"], "B");
    api.interact(
        "lead",
        &json!({"firstDelegate": venue.ada, "recordedAt": "2020-01-01 00:00:00"}),
    )
    .is(201);
    let oldest = first("/interaction/list?sort=recordedAt&expand=firstDelegate");
    assert_eq!(oldest["interactionType"], "lead");
    assert_eq!(oldest["firstDelegate"]["lastName"], "Lovelace");
    let lead = r#"search={"==":["interactionType","lead"]}"#;
    assert_eq!(first(&format!("/interaction/list?sort=-id&{lead}")), {
        let mut plain = oldest.clone();
        plain["firstDelegate"] = json!({"id": venue.ada, "_type": "delegate"});
        plain
    });
    for wrong in ["lastNam", "data", "", "-"] {
        let answer = api.get(&format!("/delegate/list?sort={wrong}"));
        if wrong.is_empty() {
            answer.is(200);
        } else {
            answer.invalid("sort");
        }
    }
    let narrow = venue.server.caller_seeing(&["barcode"]);
    narrow.get("/delegate/list?sort=lastName").invalid("sort");
    narrow.get("/delegate/list?sort=-barcode").is(200);
    let stream = api.request(Method::GET, "/changes/stream?expand=nobody");
    crate::harness::reply(stream).invalid("expand");
}
