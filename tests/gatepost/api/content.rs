//! Regions, rendered for a delegate or a device (spec: Content region; contract §8).

use crate::harness::{Caller, Reply, Server, has, words};
use gatepost::{
    domain::content::{self, Draft, Region},
    identity::{Role, clients::NewClient},
    types::{DeviceId, Timestamp},
};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};

fn draft(path: &str, content: &str) -> Draft {
    Draft {
        path: path.into(),
        content: content.into(),
        tags: vec![],
        references: vec![],
        published_from: None,
        published_to: None,
    }
}

/// Saves a region, whatever was there.
fn put(server: &Server, path: &str, content: &str) {
    put_draft(server, draft(path, content));
}

fn put_draft(server: &Server, draft: Draft) {
    let draft = draft.check().expect("a good draft");
    server.write(move |tx, ctx| {
        match Region::find(tx, &draft.path)? {
            Some(region) => {
                content::save(tx, ctx, region.version, &draft)?;
            }
            None => content::create(tx, ctx, &draft)?,
        }
        Ok(())
    });
}

/// A region that the file holds though nobody could save it.
fn force(server: &Server, path: &str, content: &str) {
    put(server, path, "x");
    let quoted = content.replace('\'', "''");
    server.sql(&format!(
        "UPDATE regions SET content = '{quoted}' WHERE path = '{path}'"
    ));
}

fn contents(reply: &Reply) -> Vec<&str> {
    let regions = reply.data()["regions"].as_array().expect("regions");
    let content = |region: &'_ Value| region["content"].as_str().expect("content").to_owned();
    regions
        .iter()
        .map(content)
        .map(|text| &*text.leak())
        .collect()
}

fn ask(api: &Caller, of: &str, regions: &str) -> Reply {
    let query = percent_encoding::utf8_percent_encode(regions, percent_encoding::NON_ALPHANUMERIC);
    api.get(&format!("/{of}/info?region={query}"))
}

#[test]
fn a_region_is_rendered_for_a_delegate_and_for_a_device() {
    let server = Server::start();
    server.settings(&json!({"name": "Lyngby Days", "timeZone": "Europe/Copenhagen"}));
    let api = server.caller_with_all();
    api.delegate(
        &json!({"barcode": "A1", "firstName": "Ada <3", "data": {"Data": {"seat": "A-12"}}}),
    );
    api.device(&json!({"code": "hall", "name": "Hall", "startAt": "2026-11-21 09:30:00"}));
    put_draft(
        &server,
        Draft {
            tags: vec!["welcome".into()],
            references: vec!["https://example.org/map".into()],
            published_from: Some(Timestamp(1_795_248_120_000)),
            ..draft(
                "/api/delegate-info",
                "<h1>{{ delegate.firstName }}</h1> {{ delegate.data.Data.seat }} {{ settings.name }}",
            )
        },
    );
    server.sql("UPDATE regions SET published_from = 1763000000000, created_at = 1763000000000, updated_at = 1763000000000");
    let answer = api.get("/delegate/barcode:A1/info");
    assert_eq!(
        answer.data(),
        &json!({"regions": [{
            "path": "/api/delegate-info",
            "content": "<h1>Ada &lt;3</h1> A-12 Lyngby Days",
            "tags": ["welcome"],
            "references": ["https://example.org/map"],
            "publishedFrom": "2025-11-13 03:13:20",
            "publishedTo": null,
            "createdAt": "2025-11-13 03:13:20",
            "updatedAt": "2025-11-13 03:13:20",
        }]})
    );
    assert_eq!(answer.body["meta"], json!({}));
    put(
        &server,
        "/api/device-info",
        "{{ device.name }} {{ device.startAt|date('%H:%M') }} {{ device.available }}",
    );
    assert_eq!(
        contents(&api.get("/device/code:hall/info")),
        ["Hall 09:30 True"]
    );
    assert_eq!(
        contents(&api.get("/device/code:hall/info.json?region=")),
        ["Hall 09:30 True"]
    );
}

#[test]
fn regions_come_in_the_order_asked_for_and_as_often() {
    let (server, api) = Server::with_api();
    api.delegate(&json!({"barcode": "A1"}));
    for name in ["", "/a", "/b"] {
        put(
            &server,
            &format!("/api/delegate-info{name}"),
            &format!("[{name}]"),
        );
    }
    let of = "delegate/barcode:A1";
    let asked =
        " /api/delegate-info/b , /api/delegate-info\t,/api/delegate-info/a,/api/delegate-info/b";
    assert_eq!(
        contents(&ask(&api, of, asked)),
        ["[/b]", "[]", "[/a]", "[/b]"]
    );
    assert_eq!(contents(&ask(&api, of, "  ")), ["[]"]);
}

#[test]
fn a_path_outside_its_prefix_or_not_published_is_refused_by_name() {
    let (server, api) = Server::with_api();
    api.delegate(&json!({"barcode": "A1"}));
    api.device(&json!({"code": "hall"}));
    let now = Timestamp::now().0;
    let at = |seconds: i64| Some(Timestamp(now + seconds * 1000));
    let times = [
        ("open", at(-60), at(60), true),
        ("since", at(-60), None, true),
        ("until", None, at(60), true),
        ("over", at(-60), at(-1), false),
        ("later", at(60), None, false),
    ];
    for (name, published_from, published_to, _) in times {
        put_draft(
            &server,
            Draft {
                published_from,
                published_to,
                ..draft(&format!("/api/delegate-info/{name}"), name)
            },
        );
    }
    put(&server, "/api/device-info/x", "x");
    put(&server, "/api/delegate-info-vip", "beside");
    let of = "delegate/barcode:A1";
    let beside = ask(&api, of, "/api/delegate-info-vip");
    assert_eq!(contents(&beside), ["beside"]);
    for (name, _, _, given) in times {
        let path = format!("/api/delegate-info/{name}");
        let reply = ask(&api, of, &path);
        if given {
            assert_eq!(contents(&reply), [name]);
        } else {
            reply.refused(400, 1801, &path);
        }
    }
    for path in words(
        "/api/delegate-information /api/delegate-info/none /api/device-info/x \
         /api/delegate-info/open,/api/delegate-info/over /api/delegate-info/open,, \
         /api/delegate-info/OPEN x",
    ) {
        ask(&api, of, path).refused(400, 1801, "region");
    }
    // The one that is meant where none is named, too.
    api.get("/delegate/barcode:A1/info")
        .refused(400, 1801, "/api/delegate-info");
    api.get("/device/code:hall/info")
        .refused(400, 1801, "/api/device-info");
    ask(&api, "device/code:hall", "/api/delegate-info/open").refused(400, 1801, "region");
    ask(&api, of, &["/api/delegate-info/open"; 21].join(",")).invalid("at most 20");
    api.get("/delegate/barcode:nobody/info")
        .refused(404, 1301, "nobody");
    api.get("/device/code:nothing/info")
        .refused(404, 1401, "nothing");
    api.get("/delegate/nose:A1/info").refused(400, 1101, "nose");
    api.get("/delegate/barcode:A1/info?regions=x")
        .invalid("regions");
}

#[test]
fn who_reads_their_own_gets_the_regions_of_their_own() {
    let (server, all) = Server::with_api();
    put(&server, "/api/delegate-info", "{{ delegate.barcode }}");
    put(&server, "/api/device-info", "{{ device.code }}");
    let own = all.delegate(&json!({"barcode": "OWN"}));
    all.delegate(&json!({"barcode": "GUEST", "owner": own}));
    all.delegate(&json!({"barcode": "OTHER"}));
    let stand = all.device(&json!({"code": "stand"}));
    let gate = all.device(&json!({"code": "gate"}));
    all.scan("own", own, stand).id();
    let user = server.caller_as_user("own@example.org", &[], Some(own));
    for (path, content) in [
        (format!("/delegate/id:{own}/info"), "OWN"),
        ("/delegate/barcode:GUEST/info".into(), "GUEST"),
        ("/device/code:stand/info".into(), "stand"),
    ] {
        assert_eq!(contents(&user.get(&path)), [content]);
    }
    for path in [
        "/delegate/barcode:OTHER/info",
        "/delegate/barcode:nobody/info",
        "/device/code:gate/info",
        "/device/code:nothing/info",
        // Who may not is not told which regions there are either.
        "/delegate/barcode:OTHER/info?region=x",
    ] {
        user.get(path).refused(403, 1202, "READ");
    }
    // An app reads what is for the device that it runs on, whatever its roles.
    let (id, secret) = server.new_client(NewClient {
        roles: [Role::InteractionWrite].into_iter().collect(),
        device: Some(DeviceId(gate)),
        ..NewClient::named("gate")
    });
    let app = server.caller_of(&id, &secret);
    assert_eq!(contents(&app.get("/device/code:gate/info")), ["gate"]);
    app.get("/device/code:stand/info")
        .refused(403, 1202, "DEVICE_READ");
    app.get("/delegate/barcode:OWN/info")
        .refused(403, 1202, "DELEGATE_READ");
}

#[test]
fn a_region_tells_a_client_no_more_than_the_record_does() {
    let (server, all) = Server::with_api();
    all.delegate(&json!({"barcode": "A1", "firstName": "Ada", "email": "ada@example.org", "data": {"Data": {"x": "hidden"}}}));
    put(
        &server,
        "/api/delegate-info",
        "{{ delegate.firstName }}|{{ delegate.email }}|{{ delegate.data.Data.x }}|{{ delegate|tojson }}",
    );
    let limited = server.caller_seeing(&["firstName", "barcode"]);
    let reply = limited.get("/delegate/barcode:A1/info");
    let content = contents(&reply)[0];
    assert!(content.starts_with("Ada|||{"), "{content}");
    for hidden in ["ada@example.org", "hidden"] {
        assert!(!content.contains(hidden), "{content}");
        assert!(contents(&all.get("/delegate/barcode:A1/info"))[0].contains(hidden));
    }
}

#[test]
fn a_template_that_fails_names_region_and_line() {
    let (server, api) = Server::with_api();
    api.delegate(&json!({"barcode": "A1", "firstName": "Ada"}));
    put(&server, "/api/delegate-info", "fine");
    put(
        &server,
        "/api/delegate-info/bad",
        "first\n\n{{ delegate.firstName + 1 }}",
    );
    let reply = ask(
        &api,
        "delegate/barcode:A1",
        "/api/delegate-info,/api/delegate-info/bad",
    );
    reply.refused(500, 1199, "/api/delegate-info/bad");
    has(reply.message(), "line 3");
    // What somebody put into the file past every check fails as well.
    force(&server, "/api/delegate-info/broken", "a\n{% if %}");
    ask(&api, "delegate/barcode:A1", "/api/delegate-info/broken").refused(500, 1199, "line 2");
    assert_eq!(contents(&api.get("/delegate/barcode:A1/info")), ["fine"]);
}

#[test]
fn hostile_regions_at_once_leave_check_ins_alone() {
    let (server, api) = Server::with_api();
    api.delegate(&json!({"barcode": "A1", "firstName": "Ada"}));
    let gate = api.device(&json!({"code": "gate"}));
    let doubling = format!(
        "{{% set x = 'abcdefgh' %}}{}{{{{ x }}}}",
        "{% set x = [x, x]|join %}".repeat(60)
    );
    for (number, hostile) in [
        "{% for i in range(9999) %}{% for j in range(9999) %}{{ i }}{% endfor %}{% endfor %}",
        &doubling,
        "{% macro m() %}{{ m() }}{{ m() }}{% endmacro %}{{ m() }}",
        "{% set l = range(9999) %}{% for i in l %}{% set q = l|sort %}{% endfor %}",
    ]
    .iter()
    .enumerate()
    {
        put(&server, &format!("/api/delegate-info/h{number}"), hostile);
    }
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for number in 0..8 {
            let (api, over) = (&api, &over);
            scope.spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    let path = format!("/api/delegate-info/h{}", number % 4);
                    ask(api, "delegate/barcode:A1", &path).refused(500, 1199, &path);
                }
            });
        }
        // They go on until every check-in is through.
        for _ in 0..20 {
            let check_in = json!({"firstDelegate": "barcode:A1", "device": gate});
            api.interact("check-in", &check_in).id();
        }
        over.store(true, Ordering::Relaxed);
    });
}

#[test]
fn every_save_is_a_version_and_nobody_writes_over_another() {
    use gatepost::domain::content::{Version, edit::Saved};
    let server = Server::start();
    let path = "/api/delegate-info";
    put(&server, path, "one");
    let (ctx, seen) = (server.context(), 1);
    let save = |content: &str, seen: i64| {
        let draft = draft(path, content).check().expect("a good draft");
        let ctx = ctx.clone();
        let store = &server.app.store;
        store
            .write(move |tx| content::save(tx, &ctx, seen, &draft))
            .wait()
            .expect("it is written")
    };
    assert_eq!(save("two", seen), Saved::Version(2));
    assert_eq!(save("mine", seen), Saved::Meanwhile(Some(2)));
    assert_eq!(save("two", 2), Saved::Same);
    let restored = {
        let ctx = ctx.clone();
        server
            .app
            .store
            .write(move |tx| content::restore(tx, &ctx, path, 2, 1))
            .wait()
            .expect("it is written")
    };
    assert_eq!(restored, Saved::Version(3));
    let versions = server
        .app
        .store
        .look_up(|connection| Version::all(connection, path))
        .expect("versions");
    let told: Vec<_> = versions
        .iter()
        .map(|version| (version.version, version.then.content.as_str()))
        .collect();
    assert_eq!(told, [(3, "one"), (2, "two"), (1, "one")]);
    assert_eq!(server.count("audit WHERE record_type = 'region'"), 3);
    for wrong in [
        draft(path, "{{ nobody }}"),
        draft("/api/else", "x"),
        Draft {
            tags: vec![String::new()],
            ..draft(path, "x")
        },
        Draft {
            published_from: Some(Timestamp(2)),
            published_to: Some(Timestamp(1)),
            ..draft(path, "x")
        },
    ] {
        let shown = format!("{wrong:?}");
        assert!(wrong.check().is_err(), "{shown}");
    }
    assert_eq!(server.value::<i64>("SELECT version FROM regions"), 3);
}
