//! The dependency rule of `src/lib.rs`: imports point downward only, and HTTP stays where it
//! belongs. It reads the source, so that an import that points upward fails here and not in a
//! reviewer's memory.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// The rooms of the house, from the bottom up: files of one import from those below it, and of their own.
const ROOMS: [&str; 11] = [
    "types", "db", "core", "web", "identity", "domain", "ops", "admin", "hub", "server", "cli",
];

/// The features of `domain`, from the bottom up: those of one floor do not need each other, but for the first, where
/// attendees, places, apps and what happens between them do.
const FEATURES: [&[&str]; 7] = [
    &["devices", "apps", "delegates", "interactions"],
    &["tickets"],
    &["badges"],
    &["certificates"],
    &[
        "content",
        "discovery",
        "events",
        "messages",
        "readers",
        "reports",
        "sales",
    ],
    &["erasure", "feed", "otp", "printing"],
    &["gate", "myself", "webhooks"],
];

/// Files outside `web`, `identity`, `admin` and `server` that speak HTTP and are neither an `api.rs` nor the
/// `schemas.rs` of its shapes.
const SPEAKS_HTTP: [&str; 1] = [
    // An item's answer is what the single call would have answered, envelope and error included.
    "domain/interactions/answers.rs",
];

/// Every source file of the server with the code that runs outside tests. Other crates below `src` stand for
/// themselves: they cannot import from the rooms.
fn sources() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut folders = vec![root.clone()];
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.join("Cargo.toml").exists() {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs")
                && !path.ends_with("tests.rs")
                && !path
                    .strip_prefix(&root)
                    .is_ok_and(|path| path.iter().any(|part| part == "tests"))
            {
                let text = fs::read_to_string(&path).expect("a source file");
                let code = text
                    .split("#[cfg(test)]\nmod tests")
                    .next()
                    .unwrap_or_default();
                let lines = code
                    .lines()
                    .filter(|line| !line.trim_start().starts_with("//"));
                let relative = path.strip_prefix(&root).expect("a path in src").to_owned();
                sources.push((relative, lines.collect::<Vec<_>>().join("\n")));
            }
        }
    }
    assert!(sources.len() > 50);
    sources
}

/// The top-level module that a file belongs to; none for the two roots.
fn module(path: &Path) -> Option<String> {
    let first = path.components().next()?.as_os_str().to_str()?;
    let name = first.strip_suffix(".rs").unwrap_or(first);
    (!["lib", "main"].contains(&name)).then(|| name.to_owned())
}

/// The top-level modules that code names by `crate::…`, in a list or alone.
fn imports(code: &str) -> BTreeSet<String> {
    named_below("crate::", code)
}

/// The names that follow a path, in a list or alone.
fn named_below(path: &str, code: &str) -> BTreeSet<String> {
    let name = |text: &str| -> String {
        text.trim_start()
            .chars()
            .take_while(|letter| letter.is_alphanumeric() || *letter == '_')
            .collect()
    };
    let mut found = BTreeSet::new();
    for after in code.split(path).skip(1) {
        let Some(list) = after.strip_prefix('{') else {
            found.insert(name(after));
            continue;
        };
        let (mut depth, mut starts) = (0, true);
        for (at, letter) in list.char_indices() {
            match letter {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' if depth == 0 => starts = true,
                _ if starts && letter.is_alphabetic() => {
                    found.insert(name(&list[at..]));
                    starts = false;
                }
                _ => {}
            }
        }
    }
    found
}

fn level(room: &str) -> usize {
    let level = ROOMS.iter().position(|known| *known == room);
    assert!(level.is_some(), "{room} is no room of the house");
    level.unwrap_or_default()
}

#[test]
fn imports_point_downward() {
    let mut upward = Vec::new();
    for (path, code) in sources() {
        let Some(own) = module(&path) else {
            continue;
        };
        for imported in imports(&code) {
            if level(&imported) > level(&own) {
                upward.push(format!("{} imports {imported}", path.display()));
            }
        }
    }
    assert!(upward.is_empty(), "{}", upward.join("\n"));
}

#[test]
fn features_need_each_other_downward_only() {
    let floor = |feature: &str| {
        let floor = FEATURES.iter().position(|floor| floor.contains(&feature));
        // `history` tells of all of them in words.
        floor.unwrap_or(FEATURES.len())
    };
    let (mut upward, mut seen) = (Vec::new(), BTreeSet::new());
    for (path, code) in sources() {
        let Ok(below) = path.strip_prefix("domain") else {
            continue;
        };
        let Some(own) = module(below).filter(|own| own != "mod") else {
            continue;
        };
        for needed in named_below("domain::", &code) {
            let (above, needs) = (floor(&own), floor(&needed));
            if needed != own && (needs > above || needs == above && above > 0) {
                upward.push(format!("{} needs {needed}", path.display()));
            }
        }
        seen.insert(own);
    }
    assert!(upward.is_empty(), "{}", upward.join("\n"));
    let all = FEATURES.into_iter().flatten().chain(&["history"]);
    assert_eq!(seen, all.map(ToString::to_string).collect());
}

#[test]
fn http_stays_at_the_edge() {
    let mut inside = Vec::new();
    for (path, code) in sources() {
        let Some(own) = module(&path) else {
            continue;
        };
        let at_the_edge = ["web", "identity", "admin", "server"].contains(&&*own)
            || path.starts_with("hub/pages")
            || path.ends_with("api.rs")
            || path.ends_with("schemas.rs");
        if at_the_edge {
            continue;
        }
        let shown = path.display().to_string();
        for word in ["poem::", "poem_openapi::", "use poem"] {
            if code.contains(word) {
                inside.push(format!("{shown} uses {word}"));
            }
        }
        if imports(&code).contains("web") && !SPEAKS_HTTP.contains(&&*shown) {
            inside.push(format!("{shown} imports web"));
        }
    }
    assert!(inside.is_empty(), "{}", inside.join("\n"));
}

#[test]
fn one_file_asks_which_system_it_runs_on() {
    let words = [
        "(unix)",
        "(windows)",
        ", unix)",
        "target_os",
        "std::os::",
        "signal::",
    ];
    let crates = ["rustix::", "thread_priority::", "rlimit::", "nix::"];
    let asks = |code: &str| {
        let code = code.replace("all(test, unix)", "test");
        words.iter().chain(&crates).any(|word| code.contains(word))
    };
    let asking: Vec<PathBuf> = sources()
        .into_iter()
        .filter_map(|(path, code)| asks(&code).then_some(path))
        .collect();
    assert_eq!(asking, [Path::new("types/os.rs")]);
}

/// Kind and field say what an error is about; its text is for people.
#[test]
fn no_code_reads_the_text_of_an_error() {
    let errors = [
        "cause", "error", "fault", "failure", "refused", "refusal", "err()",
    ];
    let texts = errors.map(|error| format!("{error}.to_string()"));
    let texts = texts.iter().map(String::as_str);
    let texts: Vec<&str> = texts.chain(["message", "message()"]).collect();
    let readings = [
        ".contains(",
        ".starts_with(",
        ".ends_with(",
        ".split",
        ".rsplit",
        ".strip_",
        ".trim_",
        ".find(",
        ".rfind(",
        ".replace",
        ".eq(",
        "==",
        "!=",
    ];
    let mut reading = Vec::new();
    for (path, code) in sources() {
        let code: String = code.split_whitespace().collect();
        let code = code.replace(".as_str()", "");
        for text in &texts {
            for how in readings {
                let found = format!("{text}{how}");
                if code.contains(&found) {
                    reading.push(format!("{} has {found}", path.display()));
                }
            }
        }
    }
    assert!(reading.is_empty(), "{}", reading.join("\n"));
}

#[test]
fn the_layout_names_every_module() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs");
    let text = fs::read_to_string(root).expect("lib.rs");
    let modules = text
        .lines()
        .filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
    let layout: String = text
        .lines()
        .filter(|line| line.starts_with("//!"))
        .collect();
    for module in modules {
        assert!(
            layout.contains(&format!("`{module}`")),
            "`{module}` is not in the layout"
        );
        level(module);
    }
}
