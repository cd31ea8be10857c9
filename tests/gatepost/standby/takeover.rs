//! Both programs of the primary are killed, and the second machine takes over.

use super::{Primary, durable, mark, page, scan, serve};
use crate::faults::{
    process::{Served, findings, until},
    wire::{post, request},
};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    os::unix::fs::PermissionsExt,
    path::Path,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
};

/// Nonces with the number of interactions that each has in a file.
fn stored(db: &Path) -> BTreeMap<String, i64> {
    let file = Connection::open(db).expect("the file");
    let mut statement = file
        .prepare("SELECT nonce, count(i.id) FROM nonces n JOIN interactions i ON i.id = n.interaction_id GROUP BY nonce")
        .expect("SQL");
    let rows = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .expect("rows");
    rows.collect::<Result<_, _>>().expect("nonces")
}

/// What a gate keeps until it is covered.
struct Kept {
    nonce: String,
    body: Value,
    mark: i64,
}

/// Gates that send scans until somebody stops them; what was acknowledged, and the newest mark that was covered.
fn under_load(primary: &Primary, stop: impl FnOnce()) -> (Vec<Kept>, i64) {
    let (is_over, sent) = (AtomicBool::new(false), AtomicUsize::new(0));
    let (address, token) = (primary.served.address, primary.site.token.clone());
    std::thread::scope(|scope| {
        let gate = |gate: usize| {
            let (is_over, sent, token, primary) = (&is_over, &sent, &token, &primary.site);
            scope.spawn(move || {
                let (mut kept, mut covered) = (Vec::new(), 0);
                let Ok(mut wire) = crate::faults::wire::Wire::open(address) else {
                    return (kept, covered);
                };
                for number in 0.. {
                    let nonce = format!("{gate}-{number}");
                    let body = scan(primary, &nonce, number % 24);
                    let Ok(answer) = wire.call(&post("/interaction/new/check-in", token, &body))
                    else {
                        break;
                    };
                    if is_over.load(Relaxed) && answer.status != 201 {
                        break;
                    }
                    answer.is(201);
                    sent.fetch_add(1, Relaxed);
                    covered = answer.body["meta"]["durable"]["covered"]
                        .as_i64()
                        .expect("a mark");
                    kept.push(Kept {
                        nonce,
                        mark: mark(&answer),
                        body,
                    });
                }
                (kept, covered)
            })
        };
        let gates: Vec<_> = (0..8).map(gate).collect();
        until("gates are at work", || sent.load(Relaxed) > 200);
        let before = sent.load(Relaxed);
        primary.freeze();
        until("more came than the replica has", || {
            sent.load(Relaxed) > before + 50
        });
        is_over.store(true, Relaxed);
        stop();
        let (mut all, mut newest) = (Vec::new(), 0);
        for gate in gates {
            let (kept, covered) = gate.join().expect("a gate");
            all.extend(kept);
            newest = newest.max(covered);
        }
        (all, newest)
    })
}

#[test]
fn nothing_that_gates_were_told_is_lost_when_both_are_killed() {
    let Some(mut primary) = Primary::start() else {
        return;
    };
    let pids = [
        primary.served.pid(),
        primary.litestream.as_ref().expect("it runs").id(),
    ];
    let (kept, covered) = under_load(&primary, || {
        pids.into_iter()
            .for_each(crate::faults::process::kill_by_id);
    });
    primary.kill();
    let (db, done, served) = primary.take_over();
    let mode = std::fs::metadata(&db)
        .expect("the file")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(findings(&db), "");
    // The check can find a loss, and what was said to be covered is none.
    let before = stored(&db);
    let missing = kept.iter().filter(|kept| !before.contains_key(&kept.nonce));
    assert!(
        missing.clone().count() > 0,
        "nothing was lost: this shows nothing"
    );
    for kept in missing {
        assert!(kept.mark > covered, "{} was covered", kept.nonce);
    }
    assert!(done["mark"].as_i64() >= Some(covered));
    let epoch = durable(&mut served.wire(), &primary.site.token)["epoch"]
        .as_i64()
        .expect("an epoch");
    assert!(epoch > 1);
    let mut wire = served.wire();
    for kept in kept.iter().filter(|kept| kept.mark > covered) {
        let mut body = kept.body.clone();
        body["admitted"] = true.into();
        let answer = wire
            .call(&post(
                "/interaction/new/check-in",
                &primary.site.token,
                &body,
            ))
            .expect("an answer");
        assert!([200, 201].contains(&answer.status), "{answer:?}");
    }
    let after = stored(&db);
    for kept in &kept {
        assert_eq!(after.get(&kept.nonce), Some(&1), "{}", kept.nonce);
    }
    served.stop();
    assert_eq!(findings(&db), "");
}

#[test]
fn the_primary_stops_once_it_meets_a_higher_epoch_with_its_proof() {
    let Some(primary) = Primary::start() else {
        return;
    };
    let (_, done, second) = primary.take_over();
    let token = &primary.site.token;
    let ping = second
        .wire()
        .call(&request("GET", "/ping", "", token, ""))
        .expect("an answer");
    let epoch = ping.header("gatepost-epoch").expect("an epoch").to_owned();
    assert!(epoch.starts_with(&format!("{}.", done["epoch"])), "{epoch}");
    let shown = |served: &Served, epoch: &str, nonce: &str| {
        let header = format!("Gatepost-Epoch: {epoch}\r\n");
        let body = scan(&primary.site, nonce, 1).to_string();
        served
            .wire()
            .call(&request(
                "POST",
                "/interaction/new/check-in",
                &header,
                token,
                &body,
            ))
            .expect("an answer")
    };
    let (number, proof) = epoch.split_once('.').expect("a proof");
    let forged = [
        format!("{number}.{}", "0".repeat(32)),
        format!("{number}0.{proof}"),
        "99999999".into(),
        "x.y".into(),
    ];
    for (at, forged) in forged.iter().enumerate() {
        shown(&primary.served, forged, &format!("forged-{at}")).is(201);
    }
    // Its own clients, who know the lower one, are no news to the second machine.
    shown(&second, "1.0", "lower").is(201);
    let refused = shown(&primary.served, &epoch, "proven");
    refused.is(503);
    assert_eq!(refused.code(), 1108);
    let why = refused.body["meta"]["error"]["message"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    assert!(why.contains("another machine took over"), "{why}");
    primary.check_in("later", 2).is(503);
    let (status, ready) = page(&primary.served, "/health/ready");
    assert!(
        status == 503 && ready.contains("another machine took over"),
        "{ready}"
    );
    // For good, over a restart.
    let Primary {
        site,
        litestream,
        program,
        ..
    } = &primary;
    assert!(litestream.is_some() && program.exists());
    primary.served.ask("TERM");
    let db = site.db.clone();
    until("it ends", || !gatepost_is_open(&db));
    let again = serve(&db);
    let answer = again
        .wire()
        .call(&post(
            "/interaction/new/check-in",
            token,
            &scan(site, "again", 3),
        ))
        .expect("an answer");
    answer.is(503);
    let status = crate::faults::process::gatepost(&db, &["standby", "status", "--json"]);
    assert_eq!(status.status.code(), Some(1));
    let status: Value = serde_json::from_slice(&status.stdout).expect("JSON");
    assert!(
        status["missing"][0]
            .as_str()
            .is_some_and(|why| why.contains("another machine took over")),
        "{status}"
    );
}

fn gatepost_is_open(db: &Path) -> bool {
    gatepost::db::open::is_served(db)
}

#[test]
fn of_two_promotions_at_once_one_stops() {
    let Some(mut primary) = Primary::start() else {
        return;
    };
    primary.kill();
    // On one machine.
    let db = primary.path("second/gatepost.db");
    let outputs = std::thread::scope(|scope| {
        let both = [0, 1].map(|_| scope.spawn(|| primary.promote(&db)));
        both.map(|promoted| promoted.join().expect("it ran"))
    });
    let done = outputs
        .iter()
        .filter(|output| output.status.success())
        .count();
    assert_eq!(done, 1, "{outputs:?}");
    let again = primary.promote(&db);
    assert!(
        String::from_utf8_lossy(&again.stderr).contains("in charge already"),
        "{again:?}"
    );
    // On two.
    let other = primary.path("third/gatepost.db");
    assert!(primary.promote(&other).status.success());
    let servers = [Served::start(&db), Served::start(&other)];
    let token = &primary.site.token;
    let told = |served: &Served, header: &str| {
        let header = format!("Gatepost-Epoch: {header}\r\n");
        let body = json!({"device": primary.site.devices[0]}).to_string();
        served
            .wire()
            .call(&request(
                "POST",
                "/interaction/new/seen",
                &header,
                token,
                &body,
            ))
            .expect("an answer")
    };
    let epochs = servers.each_ref().map(|served| {
        told(served, "0.x")
            .header("gatepost-epoch")
            .expect("an epoch")
            .to_owned()
    });
    let number = |epoch: &str| {
        epoch
            .split_once('.')
            .and_then(|(number, _)| number.parse::<i64>().ok())
    };
    assert_ne!(number(&epochs[0]), number(&epochs[1]));
    let lower = usize::from(number(&epochs[0]) > number(&epochs[1]));
    told(&servers[1 - lower], &epochs[lower]).is(201);
    told(&servers[lower], &epochs[1 - lower]).is(503);
}

#[test]
fn a_copy_that_follows_is_taken_for_a_quick_takeover() {
    let Some(mut primary) = Primary::start() else {
        return;
    };
    let db = primary.path("second/gatepost.db");
    std::fs::create_dir_all(db.parent().expect("a folder")).expect("made");
    let followed = crate::faults::process::beside(&db, ".followed");
    let mut follow = std::process::Command::new(&primary.program);
    follow
        .args(["restore", "-config"])
        .arg(primary.config())
        .args(["-f", "-follow-interval", "50ms", "-o"]);
    let mut follow = follow
        .arg(&followed)
        .arg(&primary.site.db)
        .spawn()
        .expect("it runs");
    let txid = crate::faults::process::beside(&followed, "-txid");
    until("the copy follows", || txid.exists());
    let last = primary.check_in("last", 5);
    primary.until_covered(mark(&last));
    primary.kill();
    let output = primary.promote(&db);
    follow.kill().expect("killed");
    follow.wait().expect("gone");
    assert!(output.status.success(), "{output:?}");
    let done: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(
        (&done["followed"], &done["checked"]),
        (&json!(true), &json!(true))
    );
    assert_eq!(stored(&db).get("last"), Some(&1));
    assert_eq!(findings(&db), "");
}
