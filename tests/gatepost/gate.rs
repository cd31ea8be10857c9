//! The own tests of the gate app, and of the console's designer of badges: Node runs their modules, the TypeScript
//! compiler checks their types, and a linter and a formatter their text.

use crate::{browser::gate::venue::Venue, faults::proxy::Proxy};
use serde::Deserialize;
use serde_json::{Value, json};
use std::{
    collections::HashSet,
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
    for part in ["assets/gate", "assets/static/designer", "tests/gate"] {
        copy(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join(part),
            &folder.path().join(part),
        );
    }
    // Older versions of Node take a file that ends in .js for CommonJS.
    std::fs::write(folder.path().join("package.json"), r#"{"type":"module"}"#).expect("written");
    folder
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder") {
        let path = entry.expect("an entry").path();
        let to = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &to);
        } else {
            std::fs::copy(&path, to).expect("a file");
        }
    }
}

#[track_caller]
fn run(command: &mut Command) -> String {
    let output = command
        .output()
        .unwrap_or_else(|cause| panic!("{command:?}: {cause}: it takes Node 20 or newer"));
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let wrong = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{told}{wrong}");
    told
}

#[test]
fn the_gate_app_passes_its_own_tests() {
    let folder = folder();
    let mut tests: Vec<PathBuf> = std::fs::read_dir(folder.path().join("tests/gate"))
        .expect("the tests")
        .map(|entry| entry.expect("a test").path())
        .filter(|path| path.to_string_lossy().ends_with(".test.mjs"))
        .collect();
    tests.sort();
    run(Command::new("node").arg("--test").args(tests));
}

/// The API's document as the binary prints it.
fn document() -> Value {
    let document = run(Command::new(env!("CARGO_BIN_EXE_gatepost")).arg("openapi"));
    serde_json::from_str(&document).expect("JSON")
}

/// The compiler over a copy of the app, whose requests and answers are those of a document.
fn compiler(folder: &TempDir, document: &Value) -> Command {
    let api = folder.path().join("target/gate");
    std::fs::create_dir_all(&api).expect("a folder");
    std::fs::write(api.join("openapi.json"), document.to_string()).expect("written");
    run(
        Command::new(tools().join("node_modules/.bin/openapi-typescript"))
            .current_dir(&api)
            .args([
                "openapi.json",
                "--path-params-as-types",
                "--output",
                "api.d.ts",
            ]),
    );
    for (types, module) in [
        ("zxing", "zxing-reader-3.1.4"),
        ("noble", "noble-hashes-2.4.0"),
        ("ed25519", "noble-ed25519-3.2.0"),
    ] {
        let types = folder.path().join(format!("tests/gate/{types}.d.ts"));
        let beside = format!("assets/gate/vendor/{module}.d.ts");
        std::fs::copy(types, folder.path().join(beside)).expect("the types");
    }
    let mut compiler = Command::new(tools().join("node_modules/.bin/tsc"));
    compiler
        .arg("--project")
        .arg(folder.path().join("tests/gate"));
    compiler
}

#[test]
fn the_gate_app_has_no_errors_of_type() {
    let folder = folder();
    run(&mut compiler(&folder, &document()));
    // For editors.
    std::fs::copy(
        folder.path().join("target/gate/api.d.ts"),
        tools().join("api.d.ts"),
    )
    .expect("the types");
}

#[test]
fn a_property_that_the_document_does_not_have_is_an_error_of_type() {
    let folder = folder();
    let mut document = document();
    let mut lost = Vec::new();
    for (schema, name) in [
        ("/components/schemas/Gate", "supervisorPin"),
        ("/components/schemas/GateDelegate", "lastDoor"),
        ("/components/schemas/PlaceAtGate", "hasPlacesBelow"),
        ("/components/schemas/InteractionMeta", "repeat"),
        ("/components/schemas/DeviceRequest", "clearedStatus"),
        // Of a request.
        ("/components/schemas/GateFindInput", "place"),
    ] {
        let schema = document.pointer_mut(schema).expect(schema);
        let removed = schema["properties"]
            .as_object_mut()
            .expect("properties")
            .remove(name);
        assert!(removed.is_some(), "{name}");
        if let Some(required) = schema["required"].as_array_mut() {
            required.retain(|required| required != name);
        }
        lost.push(format!("'{name}'"));
    }
    let output = compiler(&folder, &document).output().expect("tsc runs");
    assert!(!output.status.success());
    let told = String::from_utf8_lossy(&output.stdout);
    for name in lost {
        assert!(told.contains(&name), "{name}\n{told}");
    }
}

#[test]
fn the_gate_app_is_formatted_and_has_no_lints() {
    let folder = folder();
    let modules = [
        "gate/app.js",
        "gate/core",
        "gate/io",
        "gate/ui",
        "static/designer",
    ];
    let modules = modules.map(|part| format!("assets/{part}"));
    let run_on = |tool: &str, arguments: &[&str], paths: &[String]| {
        let mut command = Command::new(tools().join("node_modules/.bin").join(tool));
        command.current_dir(&folder).args(arguments).args(paths);
        run(&mut command);
    };
    let config = "tests/gate/eslint.config.mjs";
    let tests = ["tests/gate".to_owned()];
    let lint = ["--config", config, "--max-warnings", "0"];
    run_on("eslint", &lint, &[&modules[..], &tests].concat());
    let format = ["--config", "tests/gate/prettier.json", "--check"];
    run_on("prettier", &format, &modules);
}

/// The value of a custom property, where a style sheet sets it first.
fn token<'a>(sheet: &'a str, name: &str) -> &'a str {
    let (_, after) = sheet.split_once(&format!(" --{name}: ")).expect(name);
    after.split_once(';').expect(name).0
}

#[test]
fn colours_are_said_in_one_style_sheet() {
    let read = |path: &str| {
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect(path)
    };
    let hex = |text: &str| -> Vec<String> {
        let colours = text.split('#').skip(1);
        let colours = colours.map(|after| {
            let end = after.find(|letter: char| !letter.is_ascii_hexdigit());
            after[..end.unwrap_or(after.len())].to_owned()
        });
        colours
            .filter(|digits| [3, 4, 6, 8].contains(&digits.len()))
            .collect()
    };
    let tokens = read("assets/gate/tokens.css");
    assert!(hex(&tokens).len() > 80, "{}", hex(&tokens).len());
    let mut sheets = String::new();
    for path in [
        "assets/static/console.css",
        "assets/static/handbook.css",
        "assets/gate/style.css",
        "assets/gate/kiosk.css",
    ] {
        let sheet = read(path);
        assert_eq!(hex(&sheet), [""; 0], "{path}");
        for other in ["rgb(", "rgba(", "hsl(", "oklch("] {
            assert!(!sheet.contains(other), "{path}: {other}");
        }
        sheets.push_str(&sheet);
    }
    for line in tokens.lines().flat_map(|line| line.split(';')) {
        if let Some((name, _)) = line.trim().split_once(": ")
            && name.starts_with("--")
        {
            let used = format!("var({name}");
            assert!(sheets.contains(&used), "{name} is of no use");
        }
    }
    // Files that know no custom properties.
    let by_day = |name| hex(token(&tokens, name))[0].clone();
    let manifest: Value =
        serde_json::from_str(&read("assets/gate/manifest.webmanifest")).expect("JSON");
    let accent = format!("#{}", by_day("accent"));
    assert_eq!(manifest["theme_color"], accent);
    let (_, gate) = tokens.split_once("The gate").expect("its colours");
    let by_night = format!("#{}", hex(token(gate, "page"))[1]);
    assert_eq!(manifest["background_color"], by_night);
    for icon in ["assets/gate/icon.svg", "assets/static/icon.svg"] {
        assert!(read(icon).contains(&format!("fill=\"{accent}\"")), "{icon}");
    }
}

/// What a gate says at its end.
#[derive(Deserialize)]
struct Ended {
    passed: Vec<String>,
    refused: usize,
    /// Admitted by the gate's own list.
    offline: usize,
    failed: usize,
}

#[test]
fn ten_thousand_scans_over_eight_gates_are_stored_once_each() {
    let scans = 10_000;
    let seed = std::env::var("GATEPOST_SEED").map_or_else(
        |_| u64::from(std::process::id()),
        |seed| seed.parse().expect("a number"),
    );
    println!("GATEPOST_SEED={seed}");
    let venue = Venue::new(500, json!({}));
    let networks: Vec<Proxy> = (0..8).map(|_| venue.network()).collect();
    let gates: Vec<_> = networks
        .iter()
        .zip(seed..)
        .map(|(network, seed)| {
            network.trouble(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
            let (id, secret) = venue.credentials();
            json!({"origin": network.origin(), "clientId": id, "clientSecret": secret})
        })
        .collect();
    let folder = folder();
    let told = run(Command::new("node")
        .arg(folder.path().join("tests/gate/eight-gates.mjs"))
        .arg(
            json!({"gates": gates, "place": venue.place, "people": 500, "scans": scans, "seed": seed})
                .to_string(),
        ));
    let ended: Vec<Ended> = serde_json::from_str(&told).expect("what the gates say");
    let sum = |count: fn(&Ended) -> usize| ended.iter().map(count).sum::<usize>();
    assert_eq!(
        (sum(|gate| gate.refused), sum(|gate| gate.failed)),
        (0, 0),
        "seed {seed}"
    );
    let offline = sum(|gate| gate.offline);
    println!("{offline} of {scans} scans were made offline");
    // Both ways were gone, often.
    assert!(
        (100..scans - 100).contains(&offline),
        "seed {seed}: {offline} offline"
    );
    let passed: HashSet<&String> = ended.iter().flat_map(|gate| &gate.passed).collect();
    assert_eq!(passed.len(), scans, "seed {seed}");
    assert_eq!(usize::try_from(venue.check_ins()), Ok(scans), "seed {seed}");
    let connection = rusqlite::Connection::open(venue.server.path()).expect("the file");
    let mut nonces = connection
        .prepare("SELECT nonce FROM nonces JOIN interactions ON interactions.id = interaction_id")
        .expect("a query");
    let stored: HashSet<String> = nonces
        .query_map([], |row| row.get(0))
        .and_then(Iterator::collect)
        .expect("the nonces");
    assert_eq!(stored.len(), scans, "seed {seed}");
    assert!(
        passed.into_iter().all(|nonce| stored.contains(nonce)),
        "seed {seed}"
    );
}
