//! The texts of the console: every one of a template stands in `assets/texts`, every key has a text in each language,
//! and no text is left that nobody shows.

use crate::{
    console::{Crew, browser, page},
    faults::process::{GATEPOST, Served},
    harness::{PASSWORD, Server},
};
use gatepost::{core::texts, domain::reports, identity::ConsoleRole};
use regex::Regex;
use reqwest::{
    Method,
    header::{ACCEPT_LANGUAGE, CONTENT_DISPOSITION, SET_COOKIE},
};
use serde_json::json;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::LazyLock,
};

/// Words that are the same in all languages.
const SAME: [&str; 6] = ["kbd", "code", "pre", "script", "style", "textarea"];

fn files(folder: &str, extension: &str) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let (mut folders, mut found) = (vec![root.clone()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path: PathBuf = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|known| known == extension) {
                let name = path.strip_prefix(&root).expect("a path below");
                let text = fs::read_to_string(&path).expect("a text");
                found.push((name.to_string_lossy().into_owned(), text));
            }
        }
    }
    found.sort();
    found
}

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a pattern")
}

/// A template with its English words in place of their keys.
pub fn in_english(template: &str) -> String {
    let words: BTreeMap<String, String> = texts::keys("en")
        .into_iter()
        .map(|(key, _, words)| (key, words))
        .collect();
    let call = regex(r#"\{\{ crate::(?:t|tx|html)\("([a-z0-9-]+)"\)[^}]*\}\}"#);
    let shown = |found: &regex::Captures| words.get(&found[1]).cloned().unwrap_or_default();
    call.replace_all(template, shown).into_owned()
}

/// What a text takes.
fn arguments(words: &str) -> BTreeSet<String> {
    let names = regex(r"\$(\w+)");
    names
        .captures_iter(words)
        .map(|found| found[1].to_owned())
        .collect()
}

#[test]
fn every_key_has_a_text_in_each_language() {
    let english = texts::keys("en");
    let (mut names, mut faults) = (BTreeSet::new(), Vec::new());
    for (key, file, _) in &english {
        if !names.insert(key) {
            faults.push(format!("{file} has {key} a second time"));
        }
    }
    let german: BTreeMap<String, (String, String)> = texts::keys("de")
        .into_iter()
        .map(|(key, file, words)| (key, (file, words)))
        .collect();
    for (key, file, words) in &english {
        match german.get(key) {
            None => faults.push(format!("{key} of {file} has no German text")),
            Some((_, german)) if arguments(german) != arguments(words) => {
                faults.push(format!("{key} takes other arguments in German"));
            }
            Some((of, _)) if of[2..] != file[2..] => {
                faults.push(format!("{key} stands in {file} and in {of}"));
            }
            Some(_) => {}
        }
    }
    let strange = german.keys().filter(|key| !names.contains(key));
    faults.extend(strange.map(|key| format!("{key} has no English text")));
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_text_is_shown_somewhere_and_every_key_is_there() {
    let code: Vec<String> = ["assets/templates", "src"]
        .iter()
        .flat_map(|folder| files(folder, if *folder == "src" { "rs" } else { "html" }))
        .filter(|(name, _)| !name.ends_with("tests.rs"))
        .map(|(_, text)| text)
        .collect();
    let call = regex(r#"\b(?:t|tx|html)\(\s*"([a-z0-9-]+)""#);
    let key = regex(r#""([a-z0-9]+(?:-[a-z0-9]+)+)""#);
    let names = |pattern: &Regex| -> BTreeSet<String> {
        let found = code.iter().flat_map(|text| pattern.captures_iter(text));
        found.map(|found| found[1].to_owned()).collect()
    };
    let (called, named) = (names(&call), names(&key));
    let mut said = said(&code);
    said.extend(shipped());
    let scripts: String = files("assets/static", "js")
        .into_iter()
        .map(|(_, text)| text)
        .collect();
    let (mut faults, mut known) = (Vec::new(), BTreeSet::new());
    for (key, file, words) in texts::keys("en") {
        let is_shown = match file.strip_prefix("en/").unwrap_or_default() {
            // Made of parts of keys.
            "moments.ftl" => true,
            "scripts.ftl" => scripts.contains(&format!("\"{words}\"")),
            "words.ftl" => said.contains(&shape(&words)),
            "sentences.ftl" => is_said(&said, &shape(&words)),
            _ => named.contains(&key),
        };
        if !is_shown {
            faults.push(format!("nobody shows {key} of {file}: {words}"));
        }
        known.insert(key);
    }
    let unknown = called.difference(&known);
    faults.extend(unknown.map(|key| format!("{key} has no text")));
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Where something is filled in.
static FILLED: LazyLock<Regex> = LazyLock::new(|| regex(r"\{[^{}]*\}"));

/// A text without what is filled in, and without braces of its own.
fn shape(words: &str) -> String {
    let words = words.replace("{\"{\"}", "").replace("{\"}\"}", "");
    let words = FILLED.replace_all(&words, "\u{1}");
    words.replace(['{', '}'], "").replace('\u{1}', "{}")
}

/// Tells whether the source says a sentence: as it is, or with words of it filled in.
fn is_said(said: &BTreeSet<String>, sentence: &str) -> bool {
    let fills = |shape: &String| {
        let mut parts = shape.split("{}");
        let mut rest = parts.next().and_then(|first| sentence.strip_prefix(first));
        for part in parts {
            rest = rest.and_then(|rest| Some(&rest[rest.find(part)? + part.len()..]));
        }
        let letters = shape.chars().filter(|letter| letter.is_alphabetic());
        letters.count() > 8 && rest.is_some_and(|rest| rest.is_empty() || shape.ends_with("{}"))
    };
    said.contains(sentence) || said.iter().any(fills)
}

/// What the reports that come with Gatepost are called, with their parameters, columns and words: their SQL has it.
fn shipped() -> BTreeSet<String> {
    let (name, word) = (regex(r"\w+"), regex(r"'(\w+)'"));
    let mut said = BTreeSet::new();
    for report in reports::shipped().expect("reports") {
        said.extend(report.asked().map(|asked| asked.shown().to_owned()));
        let columns = name.find_iter(&report.query);
        said.extend(columns.map(|column| report.heading(column.as_str())));
        let words = word.captures_iter(&report.query);
        said.extend(words.map(|word| word[1].to_owned()));
        said.insert(report.label);
    }
    said
}

/// The texts of the source, without what is filled in; labels as they are made of the names of properties.
fn said(code: &[String]) -> BTreeSet<String> {
    let literal = regex(r#"(?s)"((?:[^"\\]|\\.)*)""#);
    let unfold = regex(r"\\\n\s*");
    let mut said = BTreeSet::new();
    for text in code {
        let text = text.replace("'\"'", "");
        for found in literal.captures_iter(&text) {
            let words = unfold.replace_all(&found[1], "");
            let words = words.replace("\\\"", "\"").replace("\\\\", "\\");
            let words = words.replace("\\u{201c}", "“").replace("\\u{201d}", "”");
            let words = words.replace("{{", "").replace("}}", "");
            let words = shape(&words);
            said.insert(gatepost::types::text::label(&words));
            said.insert(gatepost::types::text::capital(&words));
            said.insert(words);
        }
    }
    said
}

#[test]
fn no_template_has_a_text_of_its_own() {
    let code = regex(r"(?s)\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}");
    let kept = regex(&format!(
        r"(?s){}",
        SAME.map(|name| format!(r"<{name}\b.*?</{name}>")).join("|")
    ));
    let attribute =
        regex(r#"\b(?:aria-label|placeholder|title|alt|data-confirm|data-name)="([^"]*)""#);
    let (tag, entity) = (regex(r"(?s)<[^<>]*>"), regex(r"&\w+;"));
    let word = regex(r"[A-Za-z]{2,}");
    let mut faults = Vec::new();
    for (name, text) in files("assets/templates", "html") {
        let text = code.replace_all(&text, "");
        for found in attribute.captures_iter(&text) {
            if word.is_match(&found[1]) {
                faults.push(format!("{name}: {}", &found[0]));
            }
        }
        let text = kept.replace_all(&text, "");
        let text = tag.replace_all(&text, "\n");
        let text = entity.replace_all(&text, "");
        // Macros have attributes outside of tags.
        let is_text = |line: &&str| word.is_match(line) && !line.contains("=\"");
        let lines = text.lines().filter(is_text);
        faults.extend(lines.map(|line| format!("{name}: {}", line.trim())));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_console_speaks_the_language_of_the_browser() {
    let server = Server::start();
    let sign_in = |accepted: &str| {
        let path = format!("{}/console/sign-in", server.url());
        page(browser().get(path).header(ACCEPT_LANGUAGE, accepted)).shown()
    };
    let german = sign_in("de-AT,de;q=0.9");
    assert!(german.contains("<html lang=\"de\">"), "{german}");
    assert!(german.contains(">Anmelden</button>"), "{german}");
    let english = sign_in("fr");
    assert!(english.contains("<html lang=\"en\">"), "{english}");
    assert!(english.contains(">Sign in</button>"), "{english}");
}

#[test]
fn the_language_is_chosen_in_the_account() {
    let server = Server::start();
    let mut crew = server.administrator();
    let choose = |crew: &Crew, language: &str| {
        let form = [("csrf", crew.csrf.as_str()), ("language", language)];
        let request = crew.request(Method::POST, "/console/account/language");
        let answer = request.form(&form).send().expect("an answer");
        assert_eq!(answer.status(), 303, "{answer:?}");
        let cookie = answer.headers()[SET_COOKIE].to_str().expect("text");
        cookie.to_owned()
    };
    let cookie = choose(&crew, "de");
    assert!(cookie.starts_with("gatepost_language=de; "), "{cookie}");
    crew.cookie.push_str("; gatepost_language=de");
    crew.sees(
        "/console/account",
        ["Sprache geändert.", "<h2 id=\"language\">Sprache</h2>"],
    );
    crew.sees("/console", ["<html lang=\"de\">", "Übersicht"]);
    // Pages are found by their German names and their English ones.
    crew.sees("/console/find?q=Bericht", ["/console/reports"]);
    crew.sees("/console/find?q=Report", ["Berichte"]);
    // What people named stays as they wrote it.
    let named =
        json!({"name": "Reports", "deviceType": "room", "data": {"Access": {"capacity": 1}}});
    let api = server.caller_with_all();
    let place = api.device(&named);
    let ada = api.delegate(&json!({"firstName": "Ada", "barcode": "A"}));
    api.scan("check-in", format!("id:{ada}").as_str(), place)
        .is(201);
    crew.sees(
        "/console/find?q=Reports",
        [">Reports</a> <span class=\"soft\">Raum"],
    );
    crew.sees("/console", "<strong>Reports</strong>");
    api.delegate(&json!({"firstName": "Bo", "lastName": "Bauer"}));
    crew.sees("/console/find?q=Bauer", "Nicht gekommen");
    // What went wrong is said in the language, too, and the API stays English.
    crew.post(
        "/console/delegates/new",
        &[("firstName", ""), ("lastName", "")],
    )
    .refused(422, "Mindestens einen Namen oder Code eingeben");
    // So are what presets write on paper, and the names of files.
    crew.sees(
        "/console/settings/badges/edit?preset=Certificate%20(A4)",
        ["Hiermit wird bestätigt:", "hat teilgenommen an"],
    );
    let download = crew.request(Method::GET, "/console/day/download");
    let headers = download.send().expect("an answer").headers().clone();
    let name = headers[CONTENT_DISPOSITION].to_str().expect("text");
    assert!(name.contains("\"tag-"), "{name}");
    // It is the user's: every browser gets it at the sign-in, and loses another user's.
    let signed_in = |email: &str| {
        let form = [("email", email), ("password", PASSWORD)];
        let request = browser().post(format!("{}/console/sign-in", server.url()));
        let answer = request.form(&form).send().expect("an answer");
        let cookies = answer.headers().get_all(SET_COOKIE).iter();
        let mut cookies = cookies.filter_map(|cookie| cookie.to_str().ok());
        let language = cookies.find(|cookie| cookie.starts_with("gatepost_language="));
        language.expect("the language").to_owned()
    };
    let administrator = "administrator@example.com";
    assert!(signed_in(administrator).starts_with("gatepost_language=de; "));
    server.console_user("viewer@example.com", ConsoleRole::Viewer);
    assert!(signed_in("viewer@example.com").contains("Max-Age=0"));
    assert!(choose(&crew, "").contains("Max-Age=0"));
    assert!(signed_in(administrator).contains("Max-Age=0"));
}

#[test]
fn a_third_language_is_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let texts = folder.path().join("texts");
    fs::create_dir(&texts).expect("a folder");
    let words = "language-name = tlhIngan\naccount-sign-in = yI'el\n";
    fs::write(texts.join("tlh.ftl"), words).expect("written");
    let db = folder.path().join("event.db");
    let texts = texts.to_str().expect("a name");
    let served = Served::start_by(Command::new(GATEPOST), &db, &["--texts", texts]);
    let sign_in = browser().get(format!("http://{}/console/sign-in", served.address));
    let html = page(sign_in.header(ACCEPT_LANGUAGE, "tlh")).shown();
    assert!(html.contains("<html lang=\"tlh\">"), "{html}");
    // What it lacks stays English.
    assert!(html.contains("<h1>yI&#39;el</h1>"), "{html}");
    assert!(html.contains(">Password</label>"), "{html}");
}
