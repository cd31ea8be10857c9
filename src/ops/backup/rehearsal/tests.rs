use super::*;
use crate::{
    core::settings::Settings,
    db::{Durability, connection::steps_of},
    domain::delegates::{People, people},
};
use std::sync::Arc;

/// A file with so many delegates, and a snapshot of it.
struct Site {
    folder: tempfile::TempDir,
    store: Store,
}

impl Site {
    fn new(delegates: i64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("a.db"), Durability::Normal).unwrap();
        Connection::open(store.path())
            .unwrap()
            .execute(
                "INSERT INTO delegates (public_id, first_name, sources, created_at, updated_at)
                 WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
                 SELECT i, 'Ada', '{}', 1, 1 FROM n",
                [delegates],
            )
            .unwrap();
        let site = Self { folder, store };
        crate::ops::backup::make_beside(&site.store.source(), &site.snapshot()).unwrap();
        site
    }

    fn snapshot(&self) -> PathBuf {
        self.folder.path().join("snapshot.db")
    }

    async fn write(&self, sql: &'static str) {
        let written = self.store.write(move |tx| Ok(tx.execute_batch(sql)?));
        written.await.unwrap();
    }

    fn names(&self) -> String {
        let names =
            "SELECT group_concat(id || first_name) FROM (SELECT * FROM delegates ORDER BY id)";
        let names = |file: &Connection| Ok(file.query_row(names, [], |row| row.get(0))?);
        self.store.look_up(names).unwrap()
    }

    /// Goes back after `meanwhile`, which is done after the comparison; the steps of the last transaction.
    async fn go_back(&self, meanwhile: impl AsyncFnOnce()) -> Result<u64> {
        let watched = self.store.write(rows::watch).await?;
        let differing = rows::compare(&both(self.store.path(), &self.snapshot())?, NOW)?;
        let note = move |tx: &Tx<'_>| differing.iter().try_for_each(|rows| rows::note(tx, rows));
        self.store.write(note).await?;
        meanwhile().await;
        let ctx = Context::of_command("admin", Arc::new(Settings::default()));
        let put_back = move |tx: &Tx<'_>| {
            let mut gone = None;
            let put_back = || gone = Some(rows::put_back(tx, &ctx, watched));
            let steps = steps_of(tx, put_back);
            gone.transpose()?;
            Ok(steps)
        };
        self.store
            .write_exclusive(Some(self.snapshot()), put_back)
            .await
    }
}

#[tokio::test]
async fn what_is_written_after_the_comparison_goes_back_too() {
    let site = Site::new(4);
    let before = site.names();
    site.write("UPDATE delegates SET first_name = 'Bob' WHERE id = 1")
        .await;
    let meanwhile = async || {
        site.write(
            "UPDATE delegates SET first_name = 'Cid' WHERE id = 2;
             DELETE FROM delegates WHERE id = 3;
             INSERT INTO erasures VALUES ('delegate', 3, zeroblob(16), zeroblob(32), 1, NULL);
             INSERT INTO occupancy VALUES (1, 1) ON CONFLICT (device_id) DO UPDATE SET inside = inside + 1;
             INSERT INTO occupancy VALUES (1, 1) ON CONFLICT (device_id) DO UPDATE SET inside = inside + 1;
             INSERT INTO delegates (public_id, sources, created_at, updated_at) VALUES ('x', '{}', 1, 1)",
        )
        .await;
    };
    site.go_back(meanwhile).await.unwrap();
    assert_eq!(site.names(), before);
    // Nothing is noted any more.
    let left = "SELECT count(*) FROM temp.sqlite_schema";
    let left = move |tx: &Tx<'_>| Ok(tx.query_row(left, [], |row| row.get::<_, i64>(0))?);
    assert_eq!(site.store.write(left).await.unwrap(), 0);
}

#[tokio::test]
async fn what_another_program_writes_after_the_comparison_stops_the_return() {
    let site = Site::new(2);
    let other = async || {
        let file = Connection::open(site.store.path()).unwrap();
        file.execute("UPDATE delegates SET first_name = 'Bob'", [])
            .unwrap();
    };
    let refused = site.go_back(other).await.unwrap_err();
    assert!(refused.to_string().contains("try again"), "{refused}");
    assert_eq!(site.names(), "1Bob,2Bob");
}

/// Gates wait for the last transaction: what it takes depends on what the rehearsal changed.
#[tokio::test]
async fn rows_that_are_as_they_were_hold_up_nobody() {
    let mut steps = Vec::new();
    for delegates in [100, 5_000] {
        let site = Site::new(delegates);
        site.write("UPDATE delegates SET first_name = 'Bob' WHERE id <= 50")
            .await;
        steps.push(site.go_back(async || ()).await.unwrap());
    }
    assert!(steps[1] < steps[0] * 2, "{steps:?}");
}

/// Gates do not wait for the index; searches see what came back at once.
#[tokio::test]
async fn the_index_follows_beside_gates_and_after_a_kill() {
    const PEOPLE: usize = 5_000;
    let site = Site::new(5_000);
    index(&site.store).await;
    site.write("UPDATE delegates SET first_name = 'Bob'").await;
    index(&site.store).await;
    site.go_back(async || ()).await.unwrap();
    let found = |file: &Connection| {
        let behind = search_index::rows_behind(file)?;
        let named = |name| Ok::<_, Error>(people::find(file, &People::new(name), 10)?.ids.len());
        Ok((behind, named("Ada")?, named("Bob")?))
    };
    let (behind, came_back, gone) = site.store.look_up(found).unwrap();
    assert!((1..PEOPLE).contains(&behind), "{behind}");
    assert_eq!((came_back, gone), (10, 0));
    // As after a kill.
    let copy = site.folder.path().join("killed.db");
    crate::ops::backup::make_beside(&site.store.source(), &copy).unwrap();
    let killed = Store::open(&copy, Durability::Normal).unwrap();
    index(&site.store).await;
    for store in [&killed, &site.store] {
        assert_eq!(store.look_up(found).unwrap(), (0, 10, 0));
        let wrong = store.write(|tx| crate::ops::check::first_unindexed(tx));
        assert_eq!(wrong.await.unwrap(), None);
    }
}
