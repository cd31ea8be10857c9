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
                panic!("{shown}: {}", gatepost::error::panic_text(panic.as_ref()));
            }
            files += 1;
        }
        assert!(files >= 5, "{name} has {files} files");
    }
}
