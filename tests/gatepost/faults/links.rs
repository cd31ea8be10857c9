//! Lock and log stand beside the file itself, by whatever name it is opened.

use super::process::{Served, Site, beside, gatepost, serve_arguments, told};
use crate::harness::has;
use std::{
    fs,
    os::unix::fs::symlink,
    path::Path,
    process::{Command, Stdio},
};

/// What a `serve` says that must be refused.
fn refused(db: &Path) -> String {
    let output = Command::new(super::process::GATEPOST)
        .args(serve_arguments(db))
        .stdin(Stdio::null())
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_second_serve_through_a_link_is_refused() {
    let site = Site::prepare();
    let elsewhere = tempfile::tempdir().expect("a folder");
    let link = elsewhere.path().join("link.db");
    symlink(&site.db, &link).expect("a link");
    let folder = elsewhere.path().join("folder");
    symlink(site.folder.path(), &folder).expect("a link");
    let served = Served::start(&site.db);
    for other in [&link, &folder.join("gatepost.db")] {
        has(refused(other), "another `gatepost serve` runs on");
    }
    // The other way round, and a command that works beside the server.
    served.stop();
    let served = Served::start(&link);
    has(refused(&site.db), "another `gatepost serve` runs on");
    told(&link, &["client", "add", "x", "--gate", "--json"]);
    assert!(!beside(&link, "-wal").exists() && !beside(&link, ".lock").exists());
    served.stop();
    // A restore replaces the file, not the link to it.
    let backup = elsewhere.path().join("backup.db");
    let name = backup.to_str().expect("a name");
    told(&link, &["backup", "--json", "--output", name]);
    told(&link, &["restore", name, "--json"]);
    assert!(link.is_symlink() && !site.db.is_symlink());
}

#[test]
fn a_file_with_a_second_name_is_refused() {
    let site = Site::prepare();
    let served = Served::start(&site.db);
    let other = site.folder.path().join("other.db");
    fs::hard_link(&site.db, &other).expect("a link");
    for db in [&other, &site.db] {
        for command in [
            &["client", "list"][..],
            &["backup", "--output", "x.db"],
            &["restore", "x.db"],
        ] {
            let output = gatepost(db, command);
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(1), "{command:?}: {told}");
            has(&told, ["has 2 names", "remove the others"]);
        }
    }
    has(refused(&other), "has 2 names");
    served.stop();
    has(refused(&site.db), "has 2 names");
    // The control: what the message advises helps.
    fs::remove_file(&other).expect("removed");
    Served::start(&site.db).stop();
}

/// A container that mounts the file alone, and not its folder: the same file by a path where neither log nor lock
/// is found.
#[cfg(target_os = "linux")]
#[test]
fn a_file_that_is_served_under_another_path_is_refused() {
    let site = Site::prepare();
    let elsewhere = tempfile::tempdir().expect("a folder");
    let mounted = elsewhere.path().join("mounted.db");
    fs::write(&mounted, b"").expect("a place to mount at");
    let script = r#"mount --bind "$1" "$2" && shift 2 && exec "$@""#;
    let beside_it = |command: &[&str]| {
        let mut unshare = Command::new("unshare");
        let paths = [site.db.as_os_str(), mounted.as_os_str()];
        unshare.args(["-m", "sh", "-c", script, "sh"]).args(paths);
        unshare.args(command).stdin(Stdio::null());
        unshare.output().expect("unshare")
    };
    if !beside_it(&["true"]).status.success() {
        eprintln!("skipped: mounting takes root");
        return;
    }
    let serve = serve_arguments(&mounted);
    let serve: Vec<&str> = serve.iter().map(String::as_str).collect();
    let name = mounted.to_str().expect("a name");
    let backup = elsewhere.path().join("backup.db");
    let backup = backup.to_str().expect("a name");
    let commands = [
        &serve[..],
        &["client", "list", "--db", name],
        &["check", "--db", name],
        &["backup", "--output", backup, "--db", name],
        &["compact", "--db", name],
    ];
    let served = Served::start(&site.db);
    for command in commands {
        let output = beside_it(&[&[super::process::GATEPOST], command].concat());
        let told = [output.stdout, output.stderr].concat();
        assert!(!output.status.success(), "{command:?}");
        has(
            String::from_utf8_lossy(&told),
            ["served under another path", "mount the folder"],
        );
        if command[0] == "check" {
            has(
                String::from_utf8_lossy(&told),
                "by the path that the server uses",
            );
            assert!(!String::from_utf8_lossy(&told).contains("last backup"));
        }
    }
    // By its own path it is there for commands, and by any once it is served no more.
    told(&site.db, &["client", "list", "--json"]);
    served.stop();
    let output = beside_it(&[super::process::GATEPOST, "client", "list", "--db", name]);
    assert!(output.status.success(), "{output:?}");
}
