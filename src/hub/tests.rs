//! One suite for both stores.

#[path = "../../tests/postgresql/server.rs"]
mod server;

use super::{
    down,
    ingest::{self, Sender, Taken},
    lost,
    reports::{REPORTS, figures},
    store::{Postgres, Sql, Store},
    venues::{self, Venue},
};
use crate::{
    core::head_office::{PairRequest, Paired, Push},
    db::{self, Durability},
    identity::App,
    types::{Timestamp, error::Kind},
};
use serde_json::{Value, json, value::RawValue};
use server::Postgres as Server;
use std::{ops::Range, path::Path, sync::Arc, time::Duration};
use tempfile::TempDir;

const NOW: Timestamp = Timestamp(1_795_248_000_000);

/// A folder whose path leaves room for the name of a socket.
fn short_folder() -> TempDir {
    tempfile::Builder::new()
        .prefix("gp")
        .tempdir_in("/tmp")
        .unwrap()
}

async fn store_of(servers: &[&Server]) -> Store {
    let address = Server::address(servers, "gatepost");
    Store::Postgres(Arc::new(Postgres::open(&address).await.unwrap()))
}

fn sqlite(folder: &Path) -> Store {
    let store = db::Store::open(&folder.join("hub.db"), Durability::Normal).unwrap();
    Store::Sqlite(App::new(store, None))
}

/// A venue that pushes to a store.
struct Site {
    store: Store,
    paired: Paired,
    file: String,
    epoch: i64,
}

impl Site {
    async fn pair(store: &Store, name: &str, file: &str) -> Self {
        let (asked, name) = (file.to_owned(), name.to_owned());
        let pair = move |sql: &mut dyn Sql| {
            let id = venues::add(sql, &name, None, NOW)?;
            let code = venues::make_code(sql, id, NOW)?;
            venues::pair(sql, &request(&code, &asked, 0), NOW)
        };
        Self {
            store: store.clone(),
            paired: store.write(pair).await.unwrap().unwrap(),
            file: file.to_owned(),
            epoch: 0,
        }
    }

    async fn push(
        &self,
        from: Option<&str>,
        to: &str,
        items: &[Value],
        complete: bool,
    ) -> crate::types::error::Result<Taken> {
        let items: Vec<_> = items
            .iter()
            .map(|item| RawValue::from_string(item.to_string()).unwrap())
            .collect();
        let push = Push {
            venue: self.paired.venue,
            file: self.file.clone(),
            epoch: self.epoch,
            version: "1".to_owned(),
            clock: NOW.0,
            from: from.map(ToOwned::to_owned),
            to: Some(to.to_owned()),
            complete,
            behind: 0,
            behind_ms: 0,
            items: items.iter().map(AsRef::as_ref).collect(),
            kept: None,
        };
        let bearer = self.paired.secret.clone();
        ingest::take(&self.store, Sender::Venue { bearer }, push, NOW).await
    }

    async fn stored(&self, from: Option<&str>, to: &str, items: &[Value], complete: bool) {
        let taken = self.push(from, to, items, complete).await.unwrap();
        assert!(matches!(taken, Taken::Stored(_)), "{taken:?}");
    }

    /// Pushes check-ins one by one, as often as it takes; returns how many pushes failed.
    async fn push_check_ins(&self, numbers: Range<i64>) -> usize {
        let (mut sent, mut failed) = (numbers.start, 0);
        while sent < numbers.end {
            let (cursor, to) = (sent.to_string(), (sent + 1).to_string());
            let items = [check_in(&to, sent + 1, sent + 1)];
            match self.push(Some(&cursor), &to, &items, true).await {
                Ok(Taken::Stored(_)) => sent += 1,
                // The answer to the push before was lost with its server.
                Ok(Taken::Elsewhere(told)) if told.cursor.as_ref() == Some(&to) => sent += 1,
                Ok(Taken::Elsewhere(told)) => panic!("{cursor} was acknowledged: {told:?}"),
                Err(cause) => {
                    assert_eq!(cause.kind, Kind::Unavailable, "{cause}");
                    failed += 1;
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            }
        }
        failed
    }

    async fn venue(&self) -> Venue {
        let id = self.paired.venue;
        self.store
            .read(move |sql| Venue::find(sql, id))
            .await
            .unwrap()
    }

    async fn lost(&self) -> Vec<(String, i64, i64)> {
        let id = self.paired.venue;
        self.store
            .read(move |sql| lost::counts(sql, id))
            .await
            .unwrap()
    }

    async fn figures(&self) -> figures::Figures {
        let venue = self.venue().await;
        self.store
            .read(move |sql| figures::count(sql, &venue))
            .await
            .unwrap()
    }
}

fn request(code: &str, file: &str, epoch: i64) -> PairRequest {
    PairRequest {
        code: code.to_owned(),
        file: file.to_owned(),
        epoch,
        version: "1".to_owned(),
    }
}

fn upsert(cursor: &str, record_type: &str, id: i64, data: Value) -> Value {
    json!({"cursor": format!("{cursor}-{record_type}{id}"), "action": "upsert", "kind": "snapshot", "type": record_type,
        "id": id, "data": data})
}

fn person(cursor: &str, id: i64) -> Value {
    upsert(
        cursor,
        "delegate",
        id,
        json!({"id": id, "firstName": "Ada", "lastName": format!("No. {id}"),
        "barcode": format!("T{id}"), "publicId": format!("p{id}"), "createdAt": "2026-11-20T08:00:00+00:00"}),
    )
}

fn check_in(cursor: &str, id: i64, who: i64) -> Value {
    upsert(
        cursor,
        "interaction",
        id,
        json!({"id": id, "firstDelegate": {"id": who, "_type": "delegate"},
        "interactionType": "check-in", "recordedAt": format!("2026-11-21T09:{:02}:{:02}+00:00", id / 60 % 60, id % 60)}),
    )
}

fn snapshot(cursor: &str, people: i64, check_ins: i64) -> Vec<Value> {
    let people = (1..=people).map(|id| person(cursor, id));
    people
        .chain((1..=check_ins).map(|id| check_in(cursor, id, id)))
        .collect()
}

/// A batch that comes again and again changes nothing, whichever part of it came before.
async fn a_batch_counts_once(store: &Store) {
    let site = Site::pair(store, "North", "11").await;
    let items = snapshot("a", 1_200, 900);
    site.stored(None, "A", &items, true).await;
    for _ in 0..100 {
        let taken = site.push(None, "A", &items, true).await.unwrap();
        assert!(matches!(taken, Taken::Elsewhere(told) if told.cursor.as_deref() == Some("A")));
    }
    let more = [check_in("b", 901, 901)];
    site.stored(Some("A"), "B", &more, true).await;
    for _ in 0..100 {
        assert!(matches!(
            site.push(Some("A"), "B", &more, true).await.unwrap(),
            Taken::Elsewhere(_)
        ));
    }
    let figures = site.figures().await;
    assert_eq!(
        (figures.expected, figures.arrived, figures.inside),
        (1_200, 901, 901)
    );
    assert!(site.lost().await.is_empty());
}

/// A new generation replaces the last one only once it is complete; what it lacks is listed and can be sent back.
async fn a_venue_that_went_back_is_told_what_it_lost(store: &Store) {
    let site = Site::pair(store, "South", "12").await;
    site.stored(None, "A", &snapshot("a", 500, 412), true).await;
    site.stored(None, "X", &snapshot("x", 3, 0), false).await;
    assert_eq!(site.figures().await.arrived, 412);
    // Given up, and begun anew. Number 101 stands for somebody else by now.
    let mut items = snapshot("c", 500, 100);
    items.push(check_in("c", 101, 7));
    site.stored(None, "C", &items, true).await;
    assert_eq!(site.figures().await.arrived, 100);
    assert_eq!(site.lost().await, [("interaction".to_owned(), 312, 0)]);
    let id = site.paired.venue;
    let sent = store
        .write(move |sql| lost::send_back(sql, id))
        .await
        .unwrap();
    assert_eq!(sent, 312);
    let venue = site.venue().await;
    let pull = move |sql: &mut dyn Sql| down::pull(sql, &venue, None);
    let (pull, _) = store.read(pull).await.unwrap();
    let lines = pull.sent_back.unwrap();
    assert_eq!(lines.lines().count(), 313);
    assert!(lines.contains("publicId:p412"), "{lines}");
    let confirmed = down::confirmed(&pull.cursor).unwrap();
    store
        .write(move |sql| lost::confirm(sql, id, confirmed))
        .await
        .unwrap();
    assert!(site.lost().await.is_empty());
}

/// Whoever was erased is neither in the lists nor among what was lost.
async fn the_erased_are_gone_everywhere(store: &Store) {
    let site = Site::pair(store, "East", "13").await;
    site.stored(None, "A", &snapshot("a", 3, 3), true).await;
    site.stored(None, "B", &snapshot("b", 3, 0), true).await;
    assert_eq!(site.lost().await, [("interaction".to_owned(), 3, 0)]);
    let erased =
        json!({"cursor": "C", "action": "delete", "kind": "erased", "type": "delegate", "id": 2});
    site.stored(Some("B"), "C", &[erased], true).await;
    assert_eq!(site.lost().await, [("interaction".to_owned(), 2, 0)]);
    let id = site.paired.venue;
    let left = move |sql: &mut dyn Sql| {
        sql.query(
            "SELECT 1 FROM hub_records WHERE venue = ?1 AND CAST(data AS TEXT) LIKE '%No. 2%'",
            &[id.into()],
        )
    };
    assert!(store.read(left).await.unwrap().is_empty());
}

/// Nobody writes for another, and a key ends when it is revoked or replaced.
async fn a_venue_writes_its_own(store: &Store) {
    let mut site = Site::pair(store, "West", "14").await;
    let other = Site::pair(store, "Hall", "15").await;
    let refused = |taken: crate::types::error::Result<Taken>| taken.unwrap_err().kind;
    site.stored(None, "A", &[person("a", 1)], true).await;
    let id = std::mem::replace(&mut site.paired.venue, other.paired.venue);
    assert_eq!(
        refused(site.push(Some("A"), "B", &[], true).await),
        Kind::Forbidden
    );
    site.paired.venue = id;
    // Another machine took over.
    site.epoch = 2;
    site.stored(Some("A"), "B", &[], true).await;
    site.epoch = 1;
    assert_eq!(
        refused(site.push(Some("B"), "C", &[], true).await),
        Kind::CodeTaken
    );
    site.epoch = 2;
    // Paired twice: the same file as another venue is refused, the venue itself gets a new key, and a code works once.
    let again = move |sql: &mut dyn Sql| {
        let code = venues::make_code(sql, id, NOW)?;
        let foreign = venues::pair(sql, &request(&code, "15", 0), NOW).map(drop);
        Ok(foreign.unwrap_err().kind)
    };
    let kind = store.write(again).await.unwrap();
    assert_eq!(kind, Kind::CodeTaken);
    let anew = move |sql: &mut dyn Sql| {
        let code = venues::make_code(sql, id, NOW)?;
        let paired = venues::pair(sql, &request(&code, "14", 2), NOW)?;
        assert!(venues::pair(sql, &request(&code, "14", 2), NOW)?.is_none());
        Ok(paired.unwrap())
    };
    let paired = store.write(anew).await.unwrap();
    assert_eq!(
        refused(site.push(Some("B"), "C", &[], true).await),
        Kind::Unauthenticated
    );
    site.paired = paired;
    site.stored(Some("B"), "C", &[], true).await;
    store
        .write(move |sql| venues::revoke(sql, id, NOW))
        .await
        .unwrap();
    assert_eq!(
        refused(site.push(Some("C"), "D", &[], true).await),
        Kind::ClientRevoked
    );
}

/// The reports say the sum of the venues.
async fn reports_run(store: &Store) {
    for (name, file, came) in [("One", "21", 5), ("Two", "22", 3)] {
        Site::pair(store, name, file)
            .await
            .stored(None, "A", &snapshot("a", 10, came), true)
            .await;
    }
    for report in &REPORTS {
        let rows = store.read(|sql| report.rows(sql)).await.unwrap();
        let of_both: Vec<_> = rows
            .iter()
            .filter(|row| ["One", "Two"].contains(&&*row.text(0)))
            .collect();
        match report.id {
            "attendance" => assert_eq!(of_both.iter().map(|row| row.number(3)).sum::<i64>(), 8),
            "arrivals" => assert_eq!(of_both.iter().map(|row| row.number(2)).sum::<i64>(), 8),
            "no-shows" => assert_eq!(of_both.iter().map(|row| row.number(4)).sum::<i64>(), 12),
            "conflicts" => {
                let of_both = rows
                    .iter()
                    .filter(|row| ["One", "Two"].contains(&&*row.text(2)));
                assert_eq!(of_both.filter(|row| *row.text(0) <= *"T3").count(), 6);
            }
            _ => assert!(rows.is_empty()),
        }
    }
}

async fn suite(store: &Store) {
    a_batch_counts_once(store).await;
    a_venue_that_went_back_is_told_what_it_lost(store).await;
    the_erased_are_gone_everywhere(store).await;
    a_venue_writes_its_own(store).await;
    reports_run(store).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_suite_passes_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    suite(&sqlite(folder.path())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_suite_passes_on_postgresql() {
    let folder = short_folder();
    let mut server = Server::start(&folder.path().join("one")).unwrap();
    let store = store_of(&[&server]).await;
    suite(&store).await;
    // Killed in the middle of batches: what was acknowledged is there, once.
    let site = Site::pair(&store, "Killed", "31").await;
    site.stored(None, "0", &snapshot("a", 200, 0), true).await;
    let site = Arc::new(site);
    for (numbers, sent) in [(0..20, 15), (20..40, 25)] {
        let pushes = tokio::spawn({
            let site = Arc::clone(&site);
            async move { site.push_check_ins(numbers).await }
        });
        while site.figures().await.arrived < sent {
            tokio::task::yield_now().await;
        }
        server.kill();
        server.run().unwrap();
        pushes.await.unwrap();
    }
    assert_eq!(site.figures().await.arrived, 40);
    // Tables of a newer version are refused.
    store
        .write(|sql| sql.execute("UPDATE hub_schema SET version = version + 1", &[]))
        .await
        .unwrap();
    let newer = Postgres::open(&Server::address(&[&server], "gatepost")).await;
    assert_eq!(newer.err().map(|cause| cause.kind), Some(Kind::ForeignFile));
}

/// Two servers with synchronous replication: the one that is written to is killed in the middle of batches, and the other
/// one goes on.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_acknowledged_is_at_the_replica() {
    let folder = short_folder();
    let mut primary = Server::start(&folder.path().join("one")).unwrap();
    let replica = Server::replica(&folder.path().join("other"), &primary).unwrap();
    primary.acknowledge_with_replica().unwrap();
    let store = store_of(&[&primary, &replica]).await;
    let site = Arc::new(Site::pair(&store, "Promoted", "41").await);
    site.stored(None, "0", &snapshot("a", 200, 0), true).await;
    let pushes = tokio::spawn({
        let site = Arc::clone(&site);
        async move { site.push_check_ins(0..150).await }
    });
    while site.figures().await.arrived < 30 {
        tokio::task::yield_now().await;
    }
    primary.kill();
    replica.promote().unwrap();
    let failed = pushes.await.unwrap();
    assert!(failed > 0, "the server was killed after all was pushed");
    assert_eq!(site.figures().await.arrived, 150);
}
