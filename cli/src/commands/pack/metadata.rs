//! Name, version, description and author of a bundle.

use std::path::Path;
use std::process::{Command, Stdio};

use serde::Deserialize;

use super::FieldArgs;
use super::manifest::Offer;
use super::program::Binary;
use crate::exit::Failure;

/// Facts about the server in a bundle.
#[derive(Debug)]
pub(super) struct Metadata {
    pub(super) name: String,
    pub(super) title: Option<String>,
    pub(super) version: String,
    pub(super) description: String,
    pub(super) author: String,
    pub(super) email: Option<String>,
    /// Names of environment variables.
    pub(super) settings: Vec<String>,
    pub(super) package: Package,
}

/// Package in the current directory that builds the program; empty if there is none.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Package {
    description: Option<String>,
    authors: Vec<String>,
    pub(super) license: Option<String>,
    pub(super) repository: Option<String>,
    pub(super) homepage: Option<String>,
    pub(super) documentation: Option<String>,
    pub(super) keywords: Vec<String>,
    targets: Vec<Target>,
}

#[derive(Debug, Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Workspace {
    packages: Vec<Package>,
}

impl Metadata {
    pub(super) fn collect(
        fields: &FieldArgs,
        offer: &Offer,
        binary: &Binary,
    ) -> Result<Self, Failure> {
        let package = find_package(&binary.name).unwrap_or_default();
        let name = fields.name.clone().or_else(|| offer.name.clone());
        let name = name.ok_or_else(|| missing("a name", "--name"))?;
        check_name(&name)?;
        for setting in &fields.settings {
            check_variable(setting)?;
        }
        let description = [
            &fields.description,
            &package.description,
            &offer.description,
        ];
        let description = description.into_iter().flatten().map(|text| text.trim());
        let description = description.into_iter().find(|text| !text.is_empty());
        let description = description.ok_or_else(|| missing("a description", "--description"))?;
        let author = fields
            .author
            .clone()
            .or_else(|| package.authors.first().cloned());
        let author = author.or_else(git_author);
        let author = author.ok_or_else(|| missing("an author", "--author"))?;
        // `Name <address>`, as Cargo and Git write it.
        let (author, email) = match author.trim_end_matches('>').split_once(" <") {
            Some((author, email)) => (author.to_owned(), Some(email.to_owned())),
            None => (author, None),
        };
        Ok(Self {
            title: offer.title.clone(),
            version: offer.version.clone(),
            description: description.to_owned(),
            settings: fields.settings.clone(),
            name,
            author,
            email: email.filter(|email| email.contains('@')),
            package,
        })
    }
}

fn missing(field: &str, option: &str) -> Failure {
    Failure::usage(format!("the bundle needs {field}")).note(format!(
        "give it with {option}, or in the `Cargo.toml` of the server"
    ))
}

/// Checks a name that becomes part of file names and URLs.
fn check_name(name: &str) -> Result<(), Failure> {
    let valid = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if !name.is_empty() && !name.starts_with('.') && name.len() <= 100 && name.chars().all(valid) {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "{name:?} cannot be the name of a bundle: use at most 100 of the characters a-z, A-Z, 0-9, `-`, `_` and `.`"
    ))
    .note("give another one with --name"))
}

fn check_variable(name: &str) -> Result<(), Failure> {
    let valid = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if !name.is_empty() && name.chars().all(valid) {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "invalid value {name:?} for --setting: expected the name of an environment variable"
    )))
}

/// Returns the package in the current directory that has this program.
fn find_package(program: &str) -> Option<Package> {
    let stem = Path::new(program).file_stem()?.to_str()?;
    let arguments = [
        "metadata",
        "--no-deps",
        "--offline",
        "--format-version",
        "1",
    ];
    let workspace: Workspace = serde_json::from_str(&output("cargo", &arguments)?).ok()?;
    let builds = |target: &Target| {
        target.name == stem
            && target
                .kind
                .iter()
                .any(|kind| kind == "bin" || kind == "example")
    };
    workspace
        .packages
        .into_iter()
        .find(|package| package.targets.iter().any(builds))
}

fn git_author() -> Option<String> {
    let author = output("git", &["config", "user.name"])?;
    Some(author.trim().to_owned()).filter(|author| !author.is_empty())
}

/// Returns the output of a program, unless it fails or does not exist.
fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    let output = command
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok()
}
