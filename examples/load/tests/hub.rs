//! The proof of the head office, small: kills of hubs and of a database, on both stores.

use std::process::Command;

#[test]
fn a_head_office_has_what_its_venues_pushed() {
    let folder = tempfile::tempdir().expect("a folder");
    let small = "--venues 3 --interactions 600 --attendees 100 --kills 1 --failovers 1 --growth 2 --growth-interactions 400 --pairs 0";
    let done = Command::new(env!("CARGO_BIN_EXE_load"))
        .arg("hub")
        .args(small.split(' '))
        .arg("--dir")
        .arg(folder.path())
        .output()
        .expect("load");
    let told = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{done:?}");
    let whole = told
        .matches(" 0 missing, 0 that should not be there")
        .count();
    assert_eq!(whole, 15, "{told}");
    assert!(told.contains("replica promoted 1 times"), "{told}");
}
