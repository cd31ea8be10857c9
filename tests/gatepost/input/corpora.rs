//! The corpora of the fuzz targets, tried one file after the other.

#[path = "../../fuzz/targets.rs"]
mod targets;

use std::{collections::BTreeSet, fs, path::Path};

#[test]
fn what_the_fuzzers_start_from_holds_their_laws() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz");
    let names = |folder: &str| -> BTreeSet<String> {
        let entries = fs::read_dir(fuzz.join(folder)).expect("a folder");
        entries
            .map(|entry| entry.expect("an entry").path())
            .map(|path| {
                path.file_stem()
                    .expect("a name")
                    .to_string_lossy()
                    .into_owned()
            })
            .collect()
    };
    let known: BTreeSet<String> = targets::TARGETS
        .iter()
        .map(|target| target.0.into())
        .collect();
    assert_eq!(names("corpus"), known, "each corpus has its target");
    assert_eq!(names("fuzz_targets"), known, "each target has its binary");
    for (name, target) in targets::TARGETS {
        let mut files = 0;
        for entry in fs::read_dir(fuzz.join("corpus").join(name)).expect("a corpus") {
            let path = entry.expect("an entry").path();
            let bytes = fs::read(&path).expect("a file");
            let shown = path.display();
            if let Err(panic) = std::panic::catch_unwind(|| target(&bytes)) {
                panic!(
                    "{shown}: {}",
                    gatepost::types::error::panic_text(panic.as_ref())
                );
            }
            files += 1;
        }
        assert!(files >= 5, "{name} has {files} files");
    }
}

/// The packages of a lock file with their versions, and what the one called gatepost is built from.
fn locked(lock: &str) -> (BTreeSet<(&str, &str)>, BTreeSet<&str>) {
    let (mut packages, mut built_from) = (BTreeSet::new(), BTreeSet::new());
    for package in lock.split("[[package]]").skip(1) {
        let value = |key: &str| {
            let mut values = package.lines().filter_map(|line| line.strip_prefix(key));
            values.next().map(|value| value.trim_matches('"'))
        };
        let name = value("name = ").expect("a name");
        packages.insert((name, value("version = ").expect("a version")));
        if name == "gatepost" {
            let needed = package.lines().filter_map(|line| line.strip_prefix(" \""));
            built_from = needed
                .filter_map(|line| line.split([' ', '"']).next())
                .collect();
        }
    }
    (packages, built_from)
}

#[test]
fn the_fuzzers_are_built_from_what_gatepost_is_built_from() {
    let (manifest, lock) = (
        include_str!("../../../Cargo.toml"),
        include_str!("../../../Cargo.lock"),
    );
    let (_, for_tests) = manifest.split_once("[dev-dependencies]").expect("some");
    let (packages, built_from) = locked(lock);
    let (of_fuzzers, fuzzed) = locked(include_str!("../../fuzz/Cargo.lock"));
    let own = ["arbitrary", "gatepost-fuzz", "jobserver", "libfuzzer-sys"];
    let others = of_fuzzers.difference(&packages);
    let others: Vec<_> = others.filter(|(name, _)| !own.contains(name)).collect();
    assert!(others.is_empty(), "versions of their own: {others:?}");
    let missing = built_from.difference(&fuzzed);
    let missing: Vec<_> = missing
        .filter(|name| !for_tests.contains(&format!("\n{name} = ")))
        .collect();
    assert!(missing.is_empty(), "not in the fuzzers' lock: {missing:?}");
}
