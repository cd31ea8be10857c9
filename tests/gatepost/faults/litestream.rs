//! Litestream beside a server: it holds the log, copies it to a replica and into the file, and is no loss. A file that
//! it restores is a copy of one in use, and says so.

use super::{
    handled_files::{COPIED, interactions, record},
    process::{Served, Site, acknowledge, findings, gatepost, until},
};
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

/// Where `tests/run` installs it: beside the build's profiles.
pub fn program() -> Option<PathBuf> {
    let binary = Path::new(env!("CARGO_BIN_EXE_gatepost"));
    let target = binary.ancestors().nth(2).expect("the target folder");
    let found = target.join("litestream/bin/litestream");
    found.exists().then_some(found)
}

/// Ends it as a service is ended: it sends what it has.
pub fn end(mut child: Child) {
    let asked = Command::new("kill").arg(child.id().to_string()).status();
    assert!(asked.expect("kill").success());
    assert!(child.wait().expect("it ends").success());
}

fn files(folder: &Path) -> usize {
    let Ok(entries) = fs::read_dir(folder) else {
        return 0;
    };
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths
        .map(|path| if path.is_dir() { files(&path) } else { 1 })
        .sum()
}

#[test]
fn litestream_is_no_loss_and_what_it_restores_says_what_it_is() {
    let Some(program) = program() else {
        eprintln!("not run: `tests/run` installs Litestream, which takes python3 with venv");
        return;
    };
    let site = Site::prepare();
    let path = |name: &str| site.folder.path().join(name);
    let (replica, config) = (path("replica"), path("litestream.yml"));
    // It copies the log into the file as often as it can.
    let settings = format!(
        "dbs:\n- path: {}\n  monitor-interval: 20ms\n  checkpoint-interval: 50ms\n  min-checkpoint-page-count: 1\n  \
         replica:\n    type: file\n    path: {}\n    sync-interval: 20ms\n",
        site.db.display(),
        replica.display()
    );
    fs::write(&config, settings).expect("written");
    let litestream = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        command.args(arguments).stdout(Stdio::null());
        command
    };
    let config = config.to_str().expect("a name");
    let mut served = Served::start(&site.db);
    let replicating = litestream(&["replicate", "-config", config]).spawn();
    let replicating = replicating.expect("it runs");
    for is_killed in [false, true, false, true] {
        let before = files(&replica);
        until("more is in the replica", || {
            record(&served, &site, 5);
            files(&replica) > before + 5
        });
        assert_eq!(findings(&site.db), "");
        if is_killed {
            served.kill();
        } else {
            served.stop();
        }
        assert_eq!(findings(&site.db), "", "killed: {is_killed}");
        let backup = path(&format!("backup-{before}.db"));
        let output = backup.to_str().expect("a name");
        let made = gatepost(&site.db, &["backup", "--output", output]);
        assert!(made.status.success(), "{made:?}");
        assert_eq!(findings(&backup), "");
        served = Served::start(&site.db);
    }
    record(&served, &site, 5);
    let stored = interactions(&site.db);
    end(replicating);
    served.stop();
    assert_eq!(findings(&site.db), "");
    // After both have ended the file alone is everything.
    let alone = path("alone.db");
    fs::copy(&site.db, &alone).expect("copied");
    assert_eq!(findings(&alone), "");
    assert_eq!(interactions(&alone), stored);

    let restored = path("restored.db");
    let output = restored.to_str().expect("a name");
    let from = site.db.to_str().expect("a name");
    let done = litestream(&["restore", "-config", config, "-o", output, from]).status();
    assert!(done.expect("it runs").success());
    assert!(findings(&restored).contains(COPIED));
    Served::start(&restored).stop();
    assert!(findings(&restored).contains(COPIED));
    assert_eq!(interactions(&restored), stored);
    acknowledge(&restored);
    assert_eq!(findings(&restored), "");
}
