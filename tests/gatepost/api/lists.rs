//! Lists and their pages (spec: Pagination; contract §1, §2, §5).

use crate::harness::{Agrees, Caller, Reply, Server, cases, has, reply, table, whole};
use reqwest::Method;
use serde_json::{Value, json};

/// Follows the links of a list from an address to the end: the ids, page by page.
fn followed(api: &Caller, first: &str, direction: &str) -> Vec<Vec<i64>> {
    let mut pages = Vec::new();
    let mut address = Some(first.to_owned());
    while let Some(link) = address {
        let page = api.follow(&link);
        pages.push(ids(&page));
        assert!(pages.len() < 100, "{link}");
        let link = page.body["meta"]["pagination"][direction].as_str();
        address = link.map(ToOwned::to_owned);
    }
    pages
}

fn ids(page: &Reply) -> Vec<i64> {
    let items = page.list().iter();
    items
        .map(|item| item["id"].as_i64().expect("an id"))
        .collect()
}

fn pagination(page: &Reply) -> &Value {
    assert_eq!(page.status, 200, "{page:?}");
    &page.body["meta"]["pagination"]
}

/// A server with so many of each, and a deleted one between them.
fn filled(count: i64) -> Server {
    let server = Server::start();
    let many = format!(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i <= {count})"
    );
    let deleted = "iif(i = 2, 1, NULL)";
    server.sql(&format!(
        "{many} INSERT INTO delegates (public_id, barcode, sources, created_at, updated_at, deleted_at)
             SELECT 'p' || i, 'b' || i, '[\"import\"]', 0, 0, {deleted} FROM n;
         {many} INSERT INTO devices (code, public_id, sources, created_at, updated_at, deleted_at)
             SELECT 'c' || i, 'p' || i, '[\"import\"]', 0, 0, {deleted} FROM n;
         {many} INSERT INTO interactions (interaction_type, first_delegate_id, recorded_at, created_at)
             SELECT 'lead', 1, 0, 0 FROM n WHERE i <= {count};"
    ));
    server
}

#[test]
fn links_lead_through_every_page_and_back() {
    let server = filled(23);
    let api = server.caller_with_all();
    for list in ["delegate", "device", "interaction"] {
        let all = ids(&api.get(&format!("/{list}/list")));
        assert_eq!(all.len(), 23, "{list}");
        assert!(all.is_sorted());
        let pages = followed(&api, &format!("/api/v5/{list}/list?limit=5"), "next");
        assert_eq!(pages.len(), 5, "{list}");
        assert_eq!(pages.concat(), all, "{list}");
        let back = followed(
            &api,
            &format!("/api/v5/{list}/list?limit=5&offset=20"),
            "previous",
        );
        assert_eq!(
            back.into_iter().rev().flatten().collect::<Vec<_>>(),
            all,
            "{list}"
        );
    }
}

#[test]
fn pagination_tells_totals_and_the_window() {
    let server = filled(23);
    let api = server.caller_with_all();
    for (query, expected) in cases::<(&str, Value)>(json!([
        ["", {"totalItems": 23, "totalPages": 1, "offset": 0, "limit": 5000}],
        ["?limit=23", {"totalItems": 23, "totalPages": 1, "offset": 0, "limit": 23}],
        ["?limit=50000", {"totalItems": 23, "totalPages": 1, "offset": 0, "limit": 50000}],
    ])) {
        let page = api.get(&format!("/delegate/list{query}"));
        assert_eq!(pagination(&page), &expected, "{query}");
    }
    for (query, pages, next, previous) in [
        ("limit=5", 5, Some(5), None),
        ("limit=5&offset=5", 5, Some(10), Some(0)),
        ("limit=5&offset=3", 5, Some(8), Some(0)),
        ("limit=5&offset=20", 5, None, Some(15)),
        ("limit=22&offset=1", 2, None, Some(0)),
        ("limit=1&offset=22", 23, None, Some(21)),
        ("limit=5&offset=23", 5, None, Some(18)),
        ("limit=5&offset=1000", 5, None, Some(18)),
    ] {
        let page = api.get(&format!("/device/list?{query}"));
        let pagination = pagination(&page);
        assert_eq!(pagination["totalPages"], pages, "{query}");
        for (direction, by, offset) in [("next", "after", next), ("previous", "before", previous)] {
            let link = pagination.get(direction).and_then(Value::as_str);
            let limit = pagination["limit"].as_i64().unwrap_or_default();
            let begins = format!("{}/api/5/device/list?limit={limit}&{by}=", server.url());
            assert!(
                link.is_none_or(|link| link.starts_with(&begins)),
                "{link:?}"
            );
            // Beyond a page is what would be at that offset.
            let told = link.map(|link| self::pagination(&api.follow(link))["offset"].clone());
            assert_eq!(told, offset.map(Value::from), "{direction} of {query}");
        }
    }
}

#[test]
fn a_page_without_a_total_knows_only_whether_there_is_more() {
    let server = filled(23);
    let api = server.caller_with_all();
    let everybody = "%7B%22%3E%22%3A%5B%22id%22%2C0%5D%7D";
    for list in ["delegate", "device", "interaction"] {
        let all = ids(&api.get(&format!("/{list}/list")));
        for search in ["", &format!("&search={everybody}")] {
            let first = format!("/api/v5/{list}/list?limit=5&total=false{search}");
            let pages = followed(&api, &first, "next");
            assert_eq!(pages.concat(), all, "{first}");
            assert_eq!(pages.len(), 5, "{first}");
            for (window, next) in [
                ("limit=5&offset=15", Some(20)),
                ("limit=5&offset=18", None),
                ("limit=22", Some(22)),
                ("limit=23", None),
                ("limit=5&offset=23", None),
                ("limit=5&offset=1000", None),
                ("limit=50000&offset=9223372036854775807", None),
            ] {
                let page = api.get(&format!("/{list}/list?{window}&total=false{search}"));
                let pagination = pagination(&page);
                assert_eq!(pagination.get("totalItems"), None, "{window}");
                assert_eq!(pagination.get("totalPages"), None, "{window}");
                let link = pagination.get("next").and_then(Value::as_str);
                assert!(link.is_none_or(|link| link.contains("total=false")));
                let told = link.map(|link| self::pagination(&api.follow(link))["offset"].clone());
                assert_eq!(told, next.map(Value::from), "{window}");
            }
        }
        api.get(&format!("/{list}/list?total=maybe"))
            .invalid("total");
        let counted = api.get(&format!("/{list}/list?total=true"));
        assert_eq!(pagination(&counted)["totalItems"], 23);
    }
}

#[test]
fn links_carry_every_other_parameter_along() {
    let server = filled(5);
    let api = server.caller_with_all();
    let path = "/delegate/list?fields=id%2Cbarcode&offset=2&limit=2";
    let page = api.get(path);
    let link = |direction: &str| {
        pagination(&page)[direction]
            .as_str()
            .expect(direction)
            .to_owned()
    };
    let base = format!(
        "{}/api/5/delegate/list?fields=id%2Cbarcode&limit=2",
        server.url()
    );
    has(link("next"), [format!("{base}&after=")]);
    has(link("previous"), [format!("{base}&before=")]);
    let next = api.follow(&link("next"));
    let keys: Vec<&String> = next.data()[0]
        .as_object()
        .expect("an object")
        .keys()
        .collect();
    assert_eq!(keys, ["id", "_type", "barcode"]);
    // Whichever address the list was asked for at.
    for path in ["/api/5/delegate/list", "/api/v5/delegate/list.json"] {
        let request = server.request(Method::GET, &format!("{path}?limit=1"));
        let page = reply(request.bearer_auth(&api.token));
        let link = pagination(&page)["next"]
            .as_str()
            .expect("a link")
            .to_owned();
        let next = api.follow(&link);
        assert_eq!(ids(&next).len(), 1, "{link}");
        assert!(
            link.starts_with(&format!("{}/api/5/delegate/list", server.url())),
            "{link}"
        );
    }
}

/// Deletes some of a list softly, or an interaction for good, and creates others.
fn delete_and_create(server: &Server, list: &str, deleted: &[i64]) {
    let table = match list {
        "event" => "devices".to_owned(),
        list => format!("{list}s"),
    };
    let ids = json!(deleted);
    let deletes = match list {
        "interaction" => format!("DELETE FROM {table}"),
        _ => format!("UPDATE {table} SET deleted_at = 1"),
    };
    let columns = "(code, public_id, device_type, sources, created_at, updated_at)";
    let creates = match list {
        "delegate" => "INSERT INTO delegates (public_id, sources, created_at, updated_at)
             SELECT hex(randomblob(8)), '[]', 0, 0"
            .to_owned(),
        "interaction" => {
            "INSERT INTO interactions (interaction_type, first_delegate_id, recorded_at, created_at)
             SELECT 'lead', 1, 0, 0"
                .to_owned()
        }
        _ => format!(
            "INSERT INTO devices {columns} SELECT hex(randomblob(8)), hex(randomblob(8)), '{list}', '[]', 0, 0"
        ),
    };
    server.sql(&format!(
        "{deletes} WHERE id IN (SELECT value FROM json_each('{ids}'));
         {creates} FROM json_each('[1, 2, 3]')"
    ));
}

#[test]
fn nobody_is_missed_or_doubled_while_others_delete_and_create() {
    for list in ["delegate", "device", "event", "interaction"] {
        let server = filled(1000);
        server.sql("UPDATE devices SET device_type = 'event'");
        let api = server.caller_with_all();
        let everybody = "%7B%22%3E%22%3A%5B%22id%22%2C0%5D%7D";
        for query in [
            "",
            "&total=false",
            &format!("&search={everybody}"),
            &format!("&search={everybody}&total=false"),
        ] {
            let before = ids(&api.get(&format!("/{list}/list")));
            let mut gone = Vec::new();
            let (mut there, mut back) = (Vec::new(), Vec::new());
            let mut link = Some(format!("/api/v5/{list}/list?limit=50{query}"));
            let mut last = String::new();
            while let Some(address) = link {
                let page = api.follow(&address);
                let shown = ids(&page);
                assert_eq!(pagination(&page)["offset"], there.len(), "{address}");
                there.extend(shown.iter().copied());
                link = pagination(&page)["next"].as_str().map(ToOwned::to_owned);
                last = address;
                // Of those who were shown the first and the last of the page, and one who was not.
                let ends = [
                    shown[0],
                    *shown.last().expect("an item"),
                    shown[49 % shown.len()] + 7,
                ];
                gone.extend(ends);
                if there.len() < 900 {
                    delete_and_create(&server, list, &ends);
                }
            }
            let mut link = Some(last);
            while let Some(address) = link {
                let page = api.follow(&address);
                back.push(ids(&page));
                link = pagination(&page)["previous"]
                    .as_str()
                    .map(ToOwned::to_owned);
                if let (Some(first), true) =
                    (back.last().and_then(|ids| ids.first()), back.len() < 10)
                {
                    delete_and_create(&server, list, &[*first, first + 20, first - 7]);
                    gone.extend([*first, first + 20, first - 7]);
                }
            }
            let back: Vec<i64> = back.into_iter().rev().flatten().collect();
            for walked in [&there, &back] {
                assert!(
                    walked.is_sorted_by(|one, other| one < other),
                    "{list}{query}: {walked:?}"
                );
                let stayed = before.iter().filter(|id| !gone.contains(id));
                let missed: Vec<_> = stayed.filter(|id| !walked.contains(id)).collect();
                assert!(missed.is_empty(), "{list}{query}: {missed:?}");
            }
        }
    }
}

#[test]
fn links_start_with_the_public_url_where_there_is_one() {
    let server = Server::start_with(Some("https://gate.example.org"));
    let api = server.caller_with_all();
    for _ in 0..2 {
        api.delegate(&json!({}));
    }
    let page = api.get("/delegate/list?limit=1");
    let next = pagination(&page)["next"].as_str().expect("a link");
    let begins = "https://gate.example.org/api/5/delegate/list?limit=1&after=";
    assert!(next.starts_with(begins), "{next}");
}

#[test]
fn a_window_out_of_range_is_refused_by_name() {
    let (_server, api) = Server::with_api();
    for list in ["delegate", "device", "interaction"] {
        for (query, named) in [
            ("limit=0", "limit"),
            ("limit=50001", "limit"),
            ("limit=-1", "limit"),
            ("limit=x", "limit"),
            ("limit=", "limit"),
            ("limit=1.5", "limit"),
            ("limit=9223372036854775808", "limit"),
            ("offset=-1", "offset"),
            ("offset=x", "offset"),
            ("offset=18446744073709551616", "offset"),
            ("after=x", "after"),
            ("after=", "after"),
            ("before=WzFd", "before"),
            ("after=WzQxLDIwMF0&offset=0", "offset"),
            ("before=WzQxLDIwMF0&offset=5", "offset"),
            ("after=WzQxLDIwMF0&before=WzQxLDIwMF0", "before"),
        ] {
            api.get(&format!("/{list}/list?{query}")).invalid(named);
        }
        let far = api.get(&format!("/{list}/list?offset=9223372036854775807"));
        assert_eq!(far.data(), &json!([]), "{list}");
    }
}

#[test]
fn long_lists_are_whole() {
    // More than one slice, and the last slice full and not full.
    for count in [250, 251, 750, 1201] {
        let server = filled(count);
        let api = server.caller_with_all();
        let answer = whole(api.request(Method::GET, "/delegate/list"));
        assert_eq!(answer.header("content-type"), "application/json");
        let listed = ids(&answer.reply);
        let expected: Vec<i64> = (1..=count + 1).filter(|id| *id != 2).collect();
        assert_eq!(listed, expected);
        assert_eq!(pagination(&answer.reply)["totalItems"], count);
        let cut = ids(&api.get("/interaction/list?limit=600"));
        assert_eq!(i64::try_from(cut.len()), Ok(count.min(600)));
    }
}

#[test]
fn interactions_show_the_fields_they_are_asked_for() {
    let (_server, api) = Server::with_api();
    let delegate = api.delegate(&json!({}));
    let made = api.interacted("lead", &json!({"delegate": delegate, "data": {"x": 1}}));
    assert_eq!(api.get("/interaction/list").data(), &json!([made]));
    let sparse = api.get("/interaction/list?fields=interactionType,data,secondDevice");
    let expected = json!([{"id": made["id"], "_type": "interaction", "interactionType": "lead", "data": {"x": 1}}]);
    assert_eq!(sparse.data(), &expected);
    api.get("/interaction/list?fields=nonce").invalid("nonce");
}

/// What is passed over would answer with what nobody asked for.
#[test]
fn a_query_parameter_that_is_unknown_or_stands_twice_is_refused() {
    let (_server, api) = Server::with_api();
    api.get("/delegate/list?limit=1&offset=0&fields=id").data();
    for [path, about] in table(
        "/delegate/list?limits=1 | \"limits\": did you mean limit? the query parameters here are limit, offset, after, before, total, fields, search
         /delegate/list?limit=1&limit=2 | limit: stands twice
         /ping?x | no query parameters here
         /delegate/list?limit=abc | limit: must be a whole number",
    ) {
        api.get(path).invalid(about);
    }
    let reply = api.get("/delegate/list?offset=9999&limit=10");
    assert!(
        reply.body["meta"]["pagination"]["previous"]
            .as_str()
            .is_some_and(|link| link.contains("limit=10&before="))
    );
}

/// A filter that is passed over would answer with what nobody asked for.
#[test]
fn a_search_is_refused_rather_than_passed_over() {
    let (_server, api) = Server::with_api();
    for list in ["delegate", "device", "interaction"] {
        let reply = api.get(&format!("/{list}/list?search=%7B%7D"));
        assert_eq!((reply.status, reply.code()), (400, 1102), "{list}");
    }
}

#[test]
fn a_search_that_is_too_long_for_an_address_is_posted() {
    let server = filled(23);
    let api = server.caller_with_all();
    let long: Vec<String> = (0..9_000).map(|number| format!("{number:0>50}")).collect();
    for (list, property, wanted) in [
        ("delegate", "barcode", json!(["b5", "b7", "b9"])),
        ("device", "code", json!(["c5", "c7", "c9"])),
        ("interaction", "id", json!([5, 7, 9])),
    ] {
        let path = format!("/{list}/list");
        let mut values = wanted.as_array().expect("a list").clone();
        if list != "interaction" {
            values.extend(long.iter().map(|value| json!(value)));
        }
        let body = json!({"search": {"in": [property, values]}, "fields": ["id"], "limit": 2});
        let page = api.post(&path, &body);
        assert_eq!(ids(&page), [5, 7], "{list}");
        pagination(&page)
            .agrees(&json!({"totalItems": 3, "totalPages": 2, "offset": 0, "limit": 2}));
        let after = &pagination(&page)["after"];
        let rest = json!({"search": body["search"], "after": after, "limit": 2});
        let page_after = api.post(&path, &rest);
        assert_eq!(ids(&page_after), [9], "{list}");
        assert_eq!(
            pagination(&page_after),
            &json!({"totalItems": 3, "totalPages": 2, "offset": 2, "limit": 2})
        );
        let shown = page.data()[0].as_object().expect("a record").keys();
        assert_eq!(shown.collect::<Vec<_>>(), ["id", "_type"], "{list}");
        let body = json!({"search": {"in": [property, wanted]}, "offset": 2, "fields": "id"});
        let page = api.post(&path, &body);
        assert_eq!(ids(&page), [9], "{list}");
        // As the query string has it, and without anything.
        let text = json!({"in": [property, wanted]}).to_string();
        assert_eq!(ids(&api.post(&path, &json!({"search": text}))), [5, 7, 9]);
        let all = ids(&api.post(&path, &json!({"search": null, "limit": null})));
        assert_eq!(all, ids(&api.get(&path)), "{list}");
        for (wrong, code, about) in [
            (json!({"search": {"~": 1}}), 1102, "~"),
            (json!({"search": []}), 1102, "search"),
            (json!({"search": 5}), 1102, "search"),
            (json!({"limit": 0}), 1100, "limit"),
            (json!({"offset": -1}), 1100, "offset"),
            (json!({"after": "x"}), 1100, "after"),
            (json!({"after": after, "offset": 2}), 1100, "offset"),
            (json!({"before": after}), 1100, "before"),
            (json!({"fields": ["x"]}), 1100, "fields"),
            (json!({"fields": 5}), 1100, "fields"),
            (json!({"serach": {}}), 1100, "serach"),
        ] {
            api.post(&path, &wrong).refused(400, code, about);
        }
    }
    // What a client does not see it cannot search.
    let seeing = server.caller_seeing(&["id", "barcode"]);
    seeing
        .post("/delegate/list", &json!({"search": {"==": ["email", "x"]}}))
        .refused(400, 1102, "email");
}

#[test]
fn events_are_listed_and_searched_by_their_own_names() {
    let (_server, api) = Server::with_api();
    api.device(&json!({"name": "Hall"}));
    let made = ["Fair", "Summit", "Gone"].map(|name| {
        let event = json!({"eventName": name, "eventStartAt": "2026-11-21 00:00:00"});
        api.post("/event/new", &event).id()
    });
    api.delete(&format!("/event/{}", made[2]));
    let page = api.get("/event/list?limit=1");
    assert_eq!(
        (ids(&page), &pagination(&page)["totalItems"]),
        (vec![made[0]], &json!(2))
    );
    page.data()[0].agrees(&json!({"_type": "event", "eventName": "Fair"}));
    let pages = followed(&api, "/api/v5/event/list?limit=1&fields=id", "next");
    assert_eq!(pages, [[made[0]], [made[1]]]);
    let found = |search: &str| {
        let query = form_urlencoded::Serializer::new(String::new())
            .append_pair("search", search)
            .finish();
        api.get(&format!("/event/list?{query}"))
    };
    assert_eq!(ids(&found(r#"{"*=": ["eventName", "SUM"]}"#)), [made[1]]);
    assert_eq!(
        ids(&found(r#"{">": ["eventStartAt", "2026-11-20 00:00:00"]}"#)),
        made[..2]
    );
    assert_eq!(
        ids(&found(r#"{"fi": ["check-in", {}, "== 0"]}"#)),
        made[..2]
    );
    found(r#"{"==": ["deviceType", "event"]}"#).refused(400, 1102, "deviceType");
}
