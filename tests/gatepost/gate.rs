//! The gate app's own tests: Node runs its modules, the TypeScript compiler checks their types.

use std::{
    path::{Path, PathBuf},
    process::Command,
};
use tempfile::TempDir;

/// Where `tests/run` installs what they need: beside the build's profiles.
fn tools() -> PathBuf {
    let binary = Path::new(env!("CARGO_BIN_EXE_gatepost"));
    let tools = binary.ancestors().nth(2).expect("the target folder");
    let tools = tools.join("gate");
    assert!(
        tools.join("node_modules").exists(),
        "{} is missing: `tests/run` installs it, which takes npm and the network",
        tools.display()
    );
    tools
}

/// A copy of the app and its tests among the tools, where Node finds its modules.
fn folder() -> TempDir {
    let folder = tempfile::tempdir_in(tools()).expect("a folder");
    for part in ["assets/gate", "assets/gate/vendor", "tests/gate"] {
        let to = folder.path().join(part);
        std::fs::create_dir_all(&to).expect("a folder");
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join(part);
        for entry in std::fs::read_dir(&from).expect(part) {
            let path = entry.expect(part).path();
            if path.is_file() {
                std::fs::copy(&path, to.join(path.file_name().expect("a name"))).expect(part);
            }
        }
    }
    // Older versions of Node take a file that ends in .js for CommonJS.
    std::fs::write(folder.path().join("package.json"), r#"{"type":"module"}"#).expect("written");
    folder
}

#[track_caller]
fn run(command: &mut Command) {
    let output = command
        .output()
        .unwrap_or_else(|cause| panic!("{command:?}: {cause}: it takes Node 20 or newer"));
    let told = [output.stdout, output.stderr].concat();
    let told = String::from_utf8_lossy(&told);
    assert!(output.status.success(), "{command:?}\n{told}");
}

#[test]
fn the_gate_app_passes_its_own_tests() {
    let folder = folder();
    let mut tests: Vec<PathBuf> = std::fs::read_dir(folder.path().join("tests/gate"))
        .expect("the tests")
        .map(|entry| entry.expect("a test").path())
        .filter(|path| path.extension().is_some_and(|end| end == "mjs"))
        .collect();
    tests.sort();
    run(Command::new("node").arg("--test").args(tests));
}

#[test]
fn the_gate_app_has_no_errors_of_type() {
    let folder = folder();
    let types = folder.path().join("tests/gate/zxing.d.ts");
    let beside = folder
        .path()
        .join("assets/gate/vendor/zxing-reader-3.1.4.d.ts");
    std::fs::copy(types, beside).expect("the types");
    let project = folder.path().join("tests/gate");
    run(Command::new(tools().join("node_modules/.bin/tsc"))
        .arg("--project")
        .arg(project));
}
