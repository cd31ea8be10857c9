//! Lists into the file and out of it, by the real binary (contract §10).

mod bad;
mod columns;
mod interrupted;
mod killed;
mod links;
mod lists;
pub mod older;
mod round;
mod schemas;
mod searched;
mod sheets;
mod taken;
mod undone;
mod upsert;
mod warned;

use crate::harness::{has_indexed_everybody, words};
use rusqlite::Connection;
use serde_json::Value;
use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
};

/// A folder with a database in it, or the place for one.
pub struct Site {
    pub folder: tempfile::TempDir,
    pub db: PathBuf,
}

impl Site {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let db = folder.path().join("event.db");
        Self { folder, db }
    }

    /// Writes a file into the folder: its path.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.folder.path().join(name);
        std::fs::write(&path, content).expect("a file");
        path.to_str().expect("a name").to_owned()
    }

    pub fn path(&self, name: &str) -> String {
        let path = self.folder.path().join(name);
        path.to_str().expect("a name").to_owned()
    }

    pub fn start(&self, args: &[&str]) -> Child {
        start(&self.db, args)
    }

    pub fn run(&self, args: &[&str]) -> Output {
        run(&self.db, args)
    }

    /// The standard output of a command that must succeed.
    #[track_caller]
    pub fn done(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).expect("text")
    }

    /// Writes a list into the folder and imports it.
    #[track_caller]
    pub fn import(&self, what: &str, name: &str, content: impl AsRef<[u8]>, options: &[&str]) {
        let list = self.file(name, content);
        self.done(&[&["import", what, &list], options].concat());
    }

    /// Returns the answer of a command with `--json`, which must succeed.
    #[track_caller]
    pub fn told(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.done(&[args, &["--json"]].concat())).expect("JSON")
    }

    /// Returns the output of a command that must fail, on both streams.
    #[track_caller]
    pub fn refused(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {output:?}");
        let told = [output.stdout, output.stderr].concat();
        String::from_utf8(told).expect("text")
    }

    pub fn open(&self) -> Connection {
        Connection::open(&self.db).expect("the file")
    }

    /// A count that is taken again and again while others write.
    pub fn watch(&self, sql: &'static str) -> impl Fn() -> i64 {
        let file = self.open();
        let timeout = std::time::Duration::from_secs(5);
        file.busy_timeout(timeout).expect("a timeout");
        move || file.query_row(sql, [], |row| row.get(0)).expect(sql)
    }

    /// Counts rows: of a table, or of what comes after `FROM`.
    pub fn rows(&self, from: &str) -> i64 {
        self.count(&format!("SELECT count(*) FROM {from}"))
    }

    pub fn count(&self, sql: &str) -> i64 {
        self.open().query_row(sql, [], |row| row.get(0)).expect(sql)
    }

    pub fn text(&self, sql: &str) -> String {
        self.open().query_row(sql, [], |row| row.get(0)).expect(sql)
    }

    /// Returns the records that `export` writes as JSON, without properties that belong to the file itself.
    pub fn exported(&self, what: &str) -> Vec<Value> {
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

    /// Applies a configuration document.
    pub fn apply(&self, document: &Value, options: &[&str]) -> Output {
        let file = self.file("config.json", document.to_string());
        self.run(&[&["config", "apply", &file], options].concat())
    }

    /// Applies a configuration document that must fit.
    #[track_caller]
    pub fn applied(&self, document: &Value, options: &[&str]) {
        let output = self.apply(document, options);
        assert!(output.status.success(), "{output:?}");
    }

    /// Returns the error about a configuration document that must not fit.
    #[track_caller]
    pub fn apply_refused(&self, document: &Value) -> String {
        let output = self.apply(document, &[]);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        String::from_utf8(output.stderr).expect("text")
    }

    /// The configuration document that is exported.
    #[track_caller]
    pub fn configuration(&self) -> Value {
        serde_json::from_str(&self.done(&["config", "export"])).expect("JSON")
    }

    /// Everything that an import may change, row by row, as text.
    pub fn dump(&self) -> Vec<String> {
        let connection = self.open();
        has_indexed_everybody(&connection);
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
        // What is told of records that are there no more.
        let of_gone = "SELECT * FROM audit a
             WHERE record_type = 'delegate' AND NOT EXISTS (SELECT 1 FROM delegates WHERE id = a.record_id)
                OR record_type IN ('device', 'event') AND NOT EXISTS (SELECT 1 FROM devices WHERE id = a.record_id)
                OR record_type = 'interaction' AND NOT EXISTS (SELECT 1 FROM interactions WHERE id = a.record_id)
             ORDER BY id";
        dump.extend(rows_of(&connection, "audit", of_gone));
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
        .current_dir(db.parent().expect("a folder"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs")
}

fn run(db: &Path, args: &[&str]) -> Output {
    start(db, args).wait_with_output().expect("it ends")
}
