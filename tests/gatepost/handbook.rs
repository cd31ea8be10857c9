//! The handbook: its links, its search, the commands of its first page, and its list of licences.

use crate::{
    console::page,
    faults::process::{GATEPOST, Served},
    harness::{Server, has, lacks},
};
use reqwest::Method;
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    process::Command,
};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The names of the pages, from the table of contents.
pub fn pages(server: &Server) -> Vec<String> {
    let contents = get(server, "/handbook");
    let links = values(&contents, "href");
    let names = links
        .iter()
        .filter_map(|link| link.strip_prefix("/handbook/"))
        .filter(|name| !name.contains(['#', '?']));
    names
        .map(ToOwned::to_owned)
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect()
}

fn get(server: &Server, path: &str) -> String {
    let answer = server.request(Method::GET, path).send().expect("an answer");
    assert_eq!(answer.status(), 200, "{path}");
    answer.text().expect("text")
}

/// The values of an attribute.
fn values(html: &str, attribute: &str) -> Vec<String> {
    let opening = format!(" {attribute}=\"");
    let parts = html.split(&opening).skip(1);
    let values = parts.filter_map(|rest| rest.split('"').next());
    values.map(|value| value.replace("&amp;", "&")).collect()
}

#[test]
fn every_link_leads_somewhere_and_nothing_is_loaded_from_elsewhere() {
    let server = Server::start();
    let names = pages(&server);
    assert_eq!(names.len(), 14, "{names:?}");
    let mut shown = BTreeMap::from([("/handbook".to_owned(), get(&server, "/handbook"))]);
    for name in &names {
        let path = format!("/handbook/{name}");
        shown.insert(path.clone(), get(&server, &path));
    }
    let mut dead = Vec::new();
    for (path, html) in &shown {
        let loaded = values(html, "src").into_iter().chain(
            html.split("<link ")
                .skip(1)
                .flat_map(|tag| values(&format!(" {tag}"), "href").into_iter().take(1)),
        );
        for address in loaded {
            assert!(address.starts_with("/handbook/"), "{path} loads {address}");
        }
        for link in values(html, "href").into_iter().chain(values(html, "src")) {
            let (target, anchor) = link.split_once('#').unwrap_or((&link, ""));
            if target.starts_with("https://") {
                continue;
            }
            let target = if target.is_empty() { path } else { target };
            let id = format!(" id=\"{anchor}\"");
            let found = match shown.get(target) {
                Some(html) => anchor.is_empty() || html.contains(&id),
                None => exists(&server, target),
            };
            if !found {
                dead.push(format!("{path}: {link}"));
            }
        }
    }
    assert!(dead.is_empty(), "{}", dead.join("\n"));
    let missing = server.request(Method::GET, "/handbook/none").send();
    assert_eq!(missing.expect("an answer").status(), 404);
}

fn exists(server: &Server, path: &str) -> bool {
    let answer = server.request(Method::GET, path).send();
    answer.is_ok_and(|answer| answer.status().is_success())
}

#[test]
fn pages_of_the_console_lead_to_what_explains_them() {
    let (server, crew) = Server::with_administrator();
    let dashboard = page(crew.request(Method::GET, "/console")).shown();
    let mut links = BTreeSet::new();
    for path in values(&dashboard, "href") {
        if path.starts_with("/console") && !path.contains("/static/") {
            let html = page(crew.request(Method::GET, &path)).shown();
            let found = values(&html, "href");
            links.extend(
                found
                    .into_iter()
                    .filter(|link| link.starts_with("/handbook")),
            );
        }
    }
    assert!(links.contains("/handbook/integrate#webhooks"), "{links:?}");
    for link in links {
        let (path, anchor) = link.split_once('#').unwrap_or((&link, "main"));
        let html = get(&server, path);
        assert!(html.contains(&format!(" id=\"{anchor}\"")), "{link}");
    }
}

#[test]
fn the_readme_refers_to_files_that_exist() {
    let readme = std::fs::read_to_string(Path::new(ROOT).join("README.md")).expect("the file");
    assert!(readme.lines().count() <= 200);
    let links = readme.split("](").skip(1);
    for link in links.filter_map(|rest| rest.split(')').next()) {
        assert!(Path::new(ROOT).join(link).exists(), "{link}");
    }
}

#[test]
fn the_search_finds_sections_of_every_page() {
    let server = Server::start();
    let html = get(&server, "/handbook/search?q=Fingerprint+SELF-signed");
    has(&html, "href=\"/handbook/operate#https\"");
    has(&html, "prints the SHA-256 fingerprints");
    for query in ["", "?q=", "?q=%20", "?q=zzzz+%3Cb%3E", "?other=1"] {
        let html = get(&server, &format!("/handbook/search{query}"));
        has(&html, "No matches");
        lacks(&html, "<b>");
    }
    // Sections whose heading has the words come first.
    let html = get(&server, "/handbook/search?q=webhooks");
    let first = html.split("class=\"card hit\"").nth(1).expect("a match");
    has(first, "/handbook/integrate#webhooks");
}

/// `server/listener.rs: serve` is a function of a file below `src`, `core/gate.js: pass` of one below `assets/gate`;
/// `tests/run` is a file.
#[test]
fn what_the_page_for_developers_names_exists() {
    let root = Path::new(ROOT);
    let page = std::fs::read_to_string(root.join("assets/handbook/develop.md")).expect("the page");
    let quoted: Vec<&str> = page.split('`').skip(1).step_by(2).collect();
    let mut steps = 0;
    for name in &quoted {
        if let Some((file, function)) = name.split_once(".rs: ") {
            let path = root.join(format!("src/{file}.rs"));
            let code = std::fs::read_to_string(path).unwrap_or_default();
            let defined = ["(", "<"].map(|next| format!("fn {function}{next}"));
            assert!(defined.iter().any(|begin| code.contains(begin)), "{name}");
            steps += 1;
        }
        if let Some((file, function)) = name.split_once(".js: ") {
            let path = root.join(format!("assets/gate/{file}.js"));
            let code = std::fs::read_to_string(path).unwrap_or_default();
            let defined = ["  ", "async ", "function ", "#"];
            let defined = defined.map(|before| format!("{before}{function}("));
            let is_defined = defined.iter().any(|begin| code.contains(begin));
            assert!(
                is_defined || code.contains(&format!("const {function} = ")),
                "{name}"
            );
            steps += 1;
        }
        let folders = ["src/", "tests/", "assets/", ".ci/", "schema.sql"];
        if folders.iter().any(|folder| name.starts_with(folder)) && !name.contains(' ') {
            assert!(root.join(name).exists(), "{name}");
        }
    }
    assert!(steps >= 50, "{steps}");
    let domain = page.lines().find(|line| line.starts_with("| `domain` |"));
    let domain = domain.expect("its row");
    for entry in std::fs::read_dir(root.join("src/domain")).expect("a folder") {
        let name = entry.expect("an entry").file_name();
        let feature = name.to_str().expect("a name").trim_end_matches(".rs");
        assert!(feature == "mod" || domain.contains(feature), "{feature}");
    }
    for entry in std::fs::read_dir(root.join("src")).expect("a folder") {
        let entry = entry.expect("an entry");
        let room = entry.file_name().into_string().expect("a name");
        let listed = page.contains(&format!("\n| `{room}` |"));
        assert!(listed || entry.path().is_file(), "{room}");
    }
}

/// What differs from a terminal: the program is built already, the server has chosen its port, and
/// the file of the demo is in a folder of its own.
fn adapted(commands: &str, origin: &str, folder: &Path) -> String {
    commands
        .replace("cargo run --release --", GATEPOST)
        .replace("http://localhost:8080", origin)
        .replace("demo.db", &folder.join("demo.db").display().to_string())
}

#[test]
fn the_commands_of_the_first_page_work() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let db = folder.path().join("gatepost.db");
    let page = std::fs::read_to_string(Path::new(ROOT).join("assets/handbook/start.md"));
    let page = page.expect("the page");
    let blocks = page.split("```sh\n").skip(1);
    let mut served = None;
    let mut known = BTreeMap::from([("GATEPOST_DB".to_owned(), db.display().to_string())]);
    let mut printed = Vec::new();
    for block in blocks.filter_map(|rest| rest.split("```").next()) {
        if block.contains("-- serve") {
            let own = if block.contains("demo.db") {
                "demo.db"
            } else {
                "gatepost.db"
            };
            served = Some(Served::start(&folder.path().join(own)));
            continue;
        }
        let origin = served
            .as_ref()
            .map(|served| format!("http://{}", served.address));
        let commands = adapted(block, &origin.expect("a server"), folder.path());
        let out = run(&commands, &mut known);
        if let Ok(client) = serde_json::from_str::<Value>(&out) {
            for (name, key) in [
                ("GATE_CLIENT_ID", "clientId"),
                ("GATE_CLIENT_SECRET", "clientSecret"),
            ] {
                if let Some(value) = client[key].as_str() {
                    known.insert(name.to_owned(), value.to_owned());
                }
            }
        }
        assert!(!out.contains("internalCode"), "{block}{out}");
        if out.contains("check-in") {
            has(run(&commands, &mut known), "already used at Gate B");
        }
        printed.push(out);
    }
    assert!(known.contains_key("TOKEN"), "{printed:?}");
    let checked_in = |out: &&String| out.contains("\"interactionType\":\"check-in\"");
    assert_eq!(printed.iter().filter(checked_in).count(), 1, "{printed:?}");
}

/// What commands print; what they set as `TOKEN` is known to the next.
fn run(commands: &str, known: &mut BTreeMap<String, String>) -> String {
    let output = Command::new("sh")
        .args([
            "-ec",
            &format!("{commands}\nprintf '\\nTOKEN=%s' \"$TOKEN\""),
        ])
        .current_dir(ROOT)
        .env("TOKEN", "")
        .envs(known.iter())
        .output()
        .expect("a shell");
    assert!(output.status.success(), "{commands}{output:?}");
    let out = String::from_utf8(output.stdout).expect("text");
    let (out, token) = out.rsplit_once("\nTOKEN=").expect("the last line");
    if !token.is_empty() {
        known.insert("TOKEN".to_owned(), token.to_owned());
    }
    out.to_owned()
}

#[test]
fn the_licences_of_all_packages_are_listed() {
    let read = |path: &str| std::fs::read_to_string(Path::new(ROOT).join(path)).expect(path);
    let lock = read("Cargo.lock");
    let field = |package: &str, name: &str| -> Option<String> {
        let value = package.split(&format!("\n{name} = \"")).nth(1)?;
        value.split('"').next().map(ToOwned::to_owned)
    };
    let locked: BTreeSet<(String, String)> = lock
        .split("[[package]]")
        .filter(|package| package.contains("\nsource = "))
        .filter_map(|package| Some((field(package, "name")?, field(package, "version")?)))
        .collect();
    let page = read("assets/handbook/licences.md");
    let (_, table) = page
        .rsplit_once("|---|---|---|---|\n")
        .expect("the packages");
    let listed: BTreeSet<(String, String)> = table
        .lines()
        .filter_map(|row| {
            let mut cells = row.split('|').skip(1).map(|cell| cell.trim().to_owned());
            Some((cells.next()?, cells.next()?))
        })
        .collect();
    let differing: Vec<_> = locked.symmetric_difference(&listed).collect();
    assert!(
        differing.is_empty(),
        "`tests/licences` brings the list up to date: {differing:?}"
    );
}
