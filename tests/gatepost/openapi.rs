//! The API's document as integrators use it: linters find no errors in it, and clients that are
//! made from it get a token and check somebody in.

use crate::harness::{Server, has};
use gatepost::identity::Role;
use reqwest::Method;
use std::{
    path::{Path, PathBuf},
    process::Command,
};
use tempfile::TempDir;

/// Where `tests/run` installs the tools: beside the build's profiles.
fn tools() -> PathBuf {
    let binary = Path::new(env!("CARGO_BIN_EXE_gatepost"));
    let tools = binary.ancestors().nth(2).expect("the target folder");
    let tools = tools.join("openapi");
    assert!(
        tools.join("installed").exists(),
        "{} is missing: `tests/run` installs it, which takes npm, python3 with venv and the network",
        tools.display()
    );
    tools
}

/// A folder among the tools, where Node finds its modules, with the document of a server.
fn folder(server: &Server) -> TempDir {
    let folder = tempfile::tempdir_in(tools()).expect("a folder");
    let document = server
        .request(Method::GET, "/openapi.json")
        .send()
        .and_then(reqwest::blocking::Response::bytes)
        .expect("the document");
    std::fs::write(folder.path().join("openapi.json"), document).expect("written");
    folder
}

fn given(folder: &TempDir, name: &str) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/openapi")
        .join(name);
    std::fs::copy(source, folder.path().join(name)).expect(name);
}

/// Runs one of the tools to its end.
#[track_caller]
fn run(folder: &TempDir, tool: &str, arguments: &[&str]) -> String {
    let tool = if tool == "node" {
        tool.into()
    } else {
        tools().join(tool)
    };
    let output = Command::new(&tool)
        .args(arguments)
        .current_dir(folder.path())
        .env("REDOCLY_TELEMETRY", "off")
        .env("REDOCLY_SUPPRESS_UPDATE_NOTICE", "true")
        .output()
        .unwrap_or_else(|cause| panic!("{}: {cause}", tool.display()));
    let told = [output.stdout, output.stderr].concat();
    let told = String::from_utf8_lossy(&told).into_owned();
    assert!(output.status.success(), "{}\n{told}", tool.display());
    told
}

/// What a client is started with: where the API is, and its credentials.
fn access(server: &Server) -> [String; 3] {
    let (id, secret) = server.client(Role::ALL, &[]);
    [format!("{}/api/v5", server.url()), id, secret]
}

#[test]
fn redocly_and_spectral_find_no_errors() {
    let server = Server::start();
    let folder = folder(&server);
    given(&folder, "spectral.yaml");
    let redocly = ["lint", "--extends=recommended", "openapi.json"];
    run(&folder, "node_modules/.bin/redocly", &redocly);
    let spectral = ["lint", "-r", "spectral.yaml", "openapi.json"];
    run(&folder, "node_modules/.bin/spectral", &spectral);
}

#[test]
fn a_typescript_client_checks_somebody_in() {
    let server = Server::start();
    let folder = folder(&server);
    for name in ["client.ts", "tsconfig.json"] {
        given(&folder, name);
    }
    let types = ["openapi.json", "-o", "api.d.ts"];
    run(&folder, "node_modules/.bin/openapi-typescript", &types);
    // Strictly.
    run(&folder, "node_modules/.bin/tsc", &["-p", "."]);
    let [url, id, secret] = access(&server);
    let told = run(&folder, "node", &["client.js", &url, &id, &secret]);
    has(&told, "checked in");
}

#[test]
fn a_python_client_checks_somebody_in() {
    let server = Server::start();
    let folder = folder(&server);
    for name in ["client.py", "python.yaml"] {
        given(&folder, name);
    }
    let generate = [
        "generate",
        "--path",
        "openapi.json",
        "--meta",
        "none",
        "--output-path",
        "gatepost_client",
        "--config",
        "python.yaml",
        "--fail-on-warning",
    ];
    run(&folder, "python/bin/openapi-python-client", &generate);
    let [url, id, secret] = access(&server);
    let told = run(
        &folder,
        "python/bin/python",
        &["client.py", &url, &id, &secret],
    );
    has(&told, "checked in");
}
