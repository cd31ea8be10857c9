//! Lists into the file and out of it, by the real binary (contract §10).

mod bad;
mod columns;
mod interrupted;
mod killed;
mod links;
mod older;
mod round;
mod schemas;
mod searched;
mod sheets;
mod taken;
mod undone;
mod upsert;
mod warned;

use crate::harness::words;
use rusqlite::Connection;
use serde_json::Value;
use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
};

/// A folder with a database in it, or the place for one.
struct Site {
    folder: tempfile::TempDir,
    db: PathBuf,
}

impl Site {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let db = folder.path().join("event.db");
        Self { folder, db }
    }

    /// Writes a file into the folder: its path.
    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.folder.path().join(name);
        std::fs::write(&path, content).expect("a file");
        path.to_str().expect("a name").to_owned()
    }

    fn path(&self, name: &str) -> String {
        let path = self.folder.path().join(name);
        path.to_str().expect("a name").to_owned()
    }

    fn start(&self, args: &[&str]) -> Child {
        start(&self.db, args)
    }

    fn run(&self, args: &[&str]) -> Output {
        run(&self.db, args)
    }

    /// The standard output of a command that must succeed.
    #[track_caller]
    fn done(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).expect("text")
    }

    /// What a command with `--json` says; it must succeed.
    #[track_caller]
    fn told(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.done(&[args, &["--json"]].concat())).expect("JSON")
    }

    /// What a command that must fail says, on both streams.
    #[track_caller]
    fn refused(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {output:?}");
        let told = [output.stdout, output.stderr].concat();
        String::from_utf8(told).expect("text")
    }

    fn open(&self) -> Connection {
        Connection::open(&self.db).expect("the file")
    }

    /// A count that is taken again and again while others write.
    fn watch(&self, sql: &'static str) -> impl Fn() -> i64 {
        let file = self.open();
        let timeout = std::time::Duration::from_secs(5);
        file.busy_timeout(timeout).expect("a timeout");
        move || file.query_row(sql, [], |row| row.get(0)).expect(sql)
    }

    fn count(&self, sql: &str) -> i64 {
        self.open().query_row(sql, [], |row| row.get(0)).expect(sql)
    }

    fn text(&self, sql: &str) -> String {
        self.open().query_row(sql, [], |row| row.get(0)).expect(sql)
    }

    /// What `export` writes of something as JSON, without what belongs to the file itself.
    fn exported(&self, what: &str) -> Vec<Value> {
        let text = self.done(&["export", what, "--format", "json"]);
        let mut list: Vec<Value> = serde_json::from_str(&text).expect("JSON");
        for object in &mut list {
            let object = object.as_object_mut().expect("an object");
            for own in ["id", "createdAt", "updatedAt", "sources"] {
                object.remove(own);
            }
        }
        list
    }

    /// Everything that an import may change, row by row, as text.
    fn dump(&self) -> Vec<String> {
        let connection = self.open();
        connection
            .execute_batch(
                "INSERT INTO delegates_search (delegates_search, rank) VALUES ('integrity-check', 1)",
            )
            .expect("the search index fits");
        let mut dump = Vec::new();
        for table in
            words("delegates devices interactions users clients conflicts refusals shared_values")
        {
            dump.extend(rows_of(
                &connection,
                table,
                &format!("SELECT * FROM {table} ORDER BY 1"),
            ));
        }
        let inside = "SELECT * FROM occupancy WHERE inside != 0 ORDER BY 1";
        dump.extend(rows_of(&connection, "occupancy", inside));
        dump
    }
}

/// Kills a command at a moment before its end.
fn kill_when(mut child: Child, is_due: impl Fn() -> bool) {
    while !is_due() {
        assert!(
            child.try_wait().expect("a child").is_none(),
            "it ended too early"
        );
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    child.kill().expect("killed");
    child.wait().expect("gone");
}

/// So many lines, one after the other.
fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for n in 0..count {
        text.push_str(&line(n));
        text.push('\n');
    }
    text
}

fn rows_of(connection: &Connection, name: &str, sql: &str) -> Vec<String> {
    let mut statement = connection.prepare(sql).expect(sql);
    let width = statement.column_count();
    let rows = statement.query_map([], |row| {
        let values: Vec<_> = (0..width)
            .map(|at| format!("{:?}", row.get_ref(at)))
            .collect();
        Ok(format!("{name}: {}", values.join(" ")))
    });
    rows.expect(sql).map(|row| row.expect(sql)).collect()
}

fn start(db: &Path, args: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_gatepost"))
        .arg("--db")
        .arg(db)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs")
}

fn run(db: &Path, args: &[&str]) -> Output {
    start(db, args).wait_with_output().expect("it ends")
}
