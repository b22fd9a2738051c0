//! `treenail pack`: bundles and descriptions, validated against the official schemas.

use std::fs;
use std::io::Read;
use std::path::Path;

use flate2::bufread::DeflateDecoder;
use jsonschema::Validator;
use rawzip::ZipArchive;
use serde_json::Value;

use crate::process::{Outcome, outcome_of, run_alone, test_server};

/// Facts of the schemas, without their prose.
const MANIFEST: &str = include_str!("schemas/mcpb-manifest-0.3.json");
const SERVER: &str = include_str!("schemas/server-2025-12-11.json");

#[track_caller]
fn validate(schema: &str, value: &Value) {
    let schema = serde_json::from_str(schema).unwrap();
    let validator: Validator = jsonschema::options()
        .should_validate_formats(true)
        .build(&schema)
        .unwrap();
    let errors: Vec<_> = validator
        .iter_errors(value)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{errors:?} in {value:#}");
}

/// Runs the program in a folder.
fn pack(folder: &Path, args: &[&str], server: &[&str]) -> Outcome {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_treenail"));
    command
        .arg("pack")
        .args(args)
        .arg("--")
        .arg(test_server())
        .args(server);
    outcome_of(command.current_dir(folder).output().unwrap())
}

/// Returns the files of an archive: name, permissions and content.
fn unpack(file: &Path) -> Vec<(String, u32, Vec<u8>)> {
    let bytes = fs::read(file).unwrap();
    let archive = ZipArchive::from_slice(&bytes).unwrap();
    let mut entries = archive.entries();
    let mut files = Vec::new();
    while let Some(entry) = entries.next_entry().unwrap() {
        let found = archive.get_entry(entry.wayfinder()).unwrap();
        let mut reader = found.verifying_reader(DeflateDecoder::new(found.data()));
        let mut content = Vec::new();
        reader.read_to_end(&mut content).unwrap();
        let name = entry.file_path().try_normalize().unwrap();
        files.push((
            name.as_ref().to_owned(),
            entry.mode().value() & 0o777,
            content,
        ));
    }
    files
}

/// Writes a package whose program has the name of the test server.
fn write_package(folder: &Path) {
    let manifest = "[package]\nname = \"words\"\nversion = \"1.0.0\"\nedition = \"2024\"\ndescription = \"Words: all of them\"\n\
        license = \"MIT\"\nkeywords = [\"a\"]\nrepository = \"https://github.com/me/words\"\nhomepage = \"https://example.com\"\n\
        authors = [\"Ada <ada@example.com>\"]\n[[bin]]\nname = \"cli-test-server\"\npath = \"main.rs\"\n[workspace]\n";
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    fs::write(folder.join("main.rs"), "fn main() {}").unwrap();
}

/// Packs the test server.
fn pack_words(folder: &Path, output: &str) -> Outcome {
    let args = [
        "--name",
        "words",
        "--setting",
        "API_KEY",
        "--server-json",
        "--output",
        output,
    ];
    pack(folder, &args, &["before"])
}

fn check_manifest(manifest: &Value) {
    validate(MANIFEST, manifest);
    assert_eq!(manifest["author"]["name"], "Ada");
    assert_eq!(manifest["description"], "Words: all of them");
    assert_eq!(manifest["tools"][0]["name"], "forecast");
    assert_eq!(manifest["server"]["entry_point"], "server/cli-test-server");
    let config = &manifest["server"]["mcp_config"];
    assert_eq!(config["command"], "${__dirname}/server/cli-test-server");
    assert_eq!(config["args"][0], "before");
    assert_eq!(config["env"]["API_KEY"], "${user_config.api_key}");
    assert_eq!(manifest["user_config"]["api_key"]["sensitive"], true);
}

fn check_listing(listing: &Value, bundle: &[u8]) {
    validate(SERVER, listing);
    assert_eq!(listing["name"], "io.github.me/words");
    let package = &listing["packages"][0];
    let version = listing["version"].as_str().unwrap();
    let url = format!("https://github.com/me/words/releases/download/v{version}/words.mcpb");
    assert_eq!(package["identifier"], url);
    let digest = ring::digest::digest(&ring::digest::SHA256, bundle);
    assert_eq!(package["fileSha256"], hex(digest.as_ref()));
    assert_eq!(package["environmentVariables"][0]["name"], "API_KEY");
}

fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits
        .map(|digit| char::from_digit(digit.into(), 16).unwrap())
        .collect()
}

#[test]
fn bundle_has_the_program_and_a_valid_manifest() {
    let home = tempfile::tempdir().unwrap();
    write_package(home.path());
    let first = pack_words(home.path(), "words.mcpb");
    let Outcome {
        code,
        stdout,
        stderr,
    } = &first;
    assert_eq!((*code, &**stdout), (0, ""), "{stderr}");
    assert!(stderr.contains("this is a debug build"), "{stderr}");

    let files = unpack(&home.path().join("words.mcpb"));
    let names: Vec<_> = files
        .iter()
        .map(|(name, mode, _)| (&**name, *mode))
        .collect();
    assert_eq!(
        names,
        [("manifest.json", 0o644), ("server/cli-test-server", 0o755)]
    );
    assert!(files[1].2 == fs::read(test_server()).unwrap());
    check_manifest(&serde_json::from_slice(&files[0].2).unwrap());
    let bundle = fs::read(home.path().join("words.mcpb")).unwrap();
    let listing = fs::read(home.path().join("server.json")).unwrap();
    check_listing(&serde_json::from_slice(&listing).unwrap(), &bundle);

    // Equal input gives equal bytes.
    pack_words(home.path(), "again.mcpb");
    assert!(fs::read(home.path().join("again.mcpb")).unwrap() == bundle);
}

#[test]
fn missing_facts_are_named_before_anything_is_written() {
    let home = tempfile::tempdir().unwrap();
    let error = |args: &[&str]| {
        let outcome = pack(home.path(), args, &["before"]);
        assert_eq!(outcome.code, 2, "{}", outcome.stderr);
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
        outcome.stderr
    };
    let description = error(&["--author", "Ada"]);
    assert!(
        description.contains("give it with --description"),
        "{description}"
    );
    let all = [
        "--author",
        "Ada",
        "--description",
        "Weather",
        "--server-json",
    ];
    assert!(error(&all).contains("give it with --registry-name"));
    let name = error(&[&all[..], &["--registry-name", "words"]].concat());
    assert!(name.contains("such as io.github.me/calculator"), "{name}");
    let url = error(
        &[
            &all[..],
            &["--registry-name", "a.b/c", "--download-url", "http://x/mcp"],
        ]
        .concat(),
    );
    assert!(url.contains("an https URL"), "{url}");
    let name = error(&[
        "--author",
        "Ada",
        "--description",
        "Weather",
        "--name",
        "../up",
    ]);
    assert!(name.contains("cannot be the name of a bundle"), "{name}");
}

#[test]
fn only_compiled_programs_are_packed() {
    let home = tempfile::tempdir().unwrap();
    let script = home.path().join("server.sh");
    fs::write(&script, "#!/bin/sh\n").unwrap();
    let outcome = run_alone(&["pack", "--", script.to_str().unwrap()]);
    let message = format!(
        "error: `{}`: this is no compiled program\n note: pack servers in other languages with the tool `mcpb` of npm\n",
        script.display()
    );
    outcome.check(2, "", &message);
    let url = run_alone(&["pack", "--url", "https://example.com/mcp"]);
    assert_eq!(url.code, 2);
    assert!(
        url.stderr
            .contains("treenail pack -- target/release/my-server"),
        "{}",
        url.stderr
    );
}

#[cfg(unix)]
#[test]
fn the_packed_program_is_described_and_not_one_in_path() {
    use std::os::unix::fs::PermissionsExt as _;
    use std::process::Command;

    let home = tempfile::tempdir().unwrap();
    let name = "cli-test-server";
    fs::copy(test_server(), home.path().join(name)).unwrap();
    let folder = home.path().join("bin");
    fs::create_dir(&folder).unwrap();
    let other = folder.join(name);
    fs::write(&other, "#!/bin/sh\nexit 1\n").unwrap();
    fs::set_permissions(&other, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_treenail"));
    let fields = ["--author", "Ada", "--description", "Weather"];
    command
        .args(["pack", "--output", "words.mcpb"])
        .args(fields)
        .args(["--", name, "before"]);
    command.current_dir(home.path()).env("PATH", &folder);
    let outcome = outcome_of(command.output().unwrap());
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let files = unpack(&home.path().join("words.mcpb"));
    let manifest: Value = serde_json::from_slice(&files[0].2).unwrap();
    assert_eq!(manifest["tools"][0]["name"], "forecast");
}
