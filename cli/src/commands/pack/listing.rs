//! `server.json`, which describes a bundle for the MCP registry.

use serde_json::{Map, Value, json};

use super::FieldArgs;
use super::manifest::web;
use super::metadata::Metadata;
use crate::exit::Failure;

const SCHEMA: &str = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";

/// Maximum length of a description, in characters.
const MAX_DESCRIPTION: usize = 100;

/// Returns the description of a bundle, with its file name and its digest.
pub(super) fn server_json(
    metadata: &Metadata,
    fields: &FieldArgs,
    (file, sha256): (&str, &str),
) -> Result<String, Failure> {
    let repository = web(metadata.package.repository.as_deref());
    let github = repository.and_then(github_owner);
    let name = registry_name(metadata, fields, github)?;
    let url = download_url(&metadata.version, fields, github, file)?;

    let mut listing = Map::new();
    let mut insert = |name: &str, value: Value| listing.insert(name.to_owned(), value);
    insert("$schema", SCHEMA.into());
    insert("name", name.into());
    if let Some(title) = &metadata.title {
        insert("title", shorten(title).into());
    }
    insert("description", shorten(&metadata.description).into());
    insert("version", json!(metadata.version));
    if let Some(repository) = repository.and_then(described_repository) {
        insert("repository", repository);
    }
    if let Some(homepage) = web(metadata.package.homepage.as_deref()) {
        insert("websiteUrl", homepage.into());
    }
    insert("packages", json!([package(metadata, &url, sha256)]));
    Ok(serde_json::to_string_pretty(&listing).unwrap_or_default() + "\n")
}

/// Returns the name in the registry: as given, or in the namespace of the owner on GitHub.
fn registry_name(
    metadata: &Metadata,
    fields: &FieldArgs,
    github: Option<(&str, &str)>,
) -> Result<String, Failure> {
    let name = fields.registry_name.clone().or_else(|| {
        let (owner, _) = github?;
        Some(format!("io.github.{owner}/{}", metadata.name))
    });
    let name = name.ok_or_else(|| unknown("the name in the registry", "--registry-name"))?;
    check_name(&name)?;
    Ok(name)
}

/// Returns the URL of the bundle: as given, or in the release of this version on GitHub.
fn download_url(
    version: &str,
    fields: &FieldArgs,
    github: Option<(&str, &str)>,
    file: &str,
) -> Result<String, Failure> {
    let url = fields.download_url.clone().or_else(|| {
        let (owner, project) = github?;
        Some(format!(
            "https://github.com/{owner}/{project}/releases/download/v{version}/{file}"
        ))
    });
    let url = url.ok_or_else(|| unknown("the URL of the bundle", "--download-url"))?;
    if !url.starts_with("https://") || !url.contains("mcp") {
        return Err(Failure::usage(format!(
            "`{url}` for --download-url: the registry requires an https URL that contains `mcp`"
        )));
    }
    Ok(url)
}

/// Returns the repository with its source, if the registry knows the source.
fn described_repository(url: &str) -> Option<Value> {
    let source = ["github", "gitlab"]
        .into_iter()
        .find(|name| url.contains(&format!("//{name}.com/")))?;
    Some(json!({"url": url, "source": source}))
}

/// Returns the bundle as a package, with the environment variables that it requires.
fn package(metadata: &Metadata, url: &str, sha256: &str) -> Value {
    let mut package = json!({
        "registryType": "mcpb",
        "identifier": url,
        "fileSha256": sha256,
        "transport": {"type": "stdio"},
    });
    if !metadata.settings.is_empty() {
        let settings = metadata.settings.iter();
        let settings =
            settings.map(|name| json!({"name": name, "isRequired": true, "isSecret": true}));
        package["environmentVariables"] = Value::Array(settings.collect());
    }
    package
}

/// Returns the owner and the name of a repository on GitHub.
fn github_owner(url: &str) -> Option<(&str, &str)> {
    let (owner, project) = url.strip_prefix("https://github.com/")?.split_once('/')?;
    let project = project.split('/').next().unwrap_or(project);
    let project = project.strip_suffix(".git").unwrap_or(project);
    (!owner.is_empty() && !project.is_empty()).then_some((owner, project))
}

fn unknown(field: &str, option: &str) -> Failure {
    Failure::usage(format!("{field} is unknown")).note(format!(
        "give it with {option}, or `repository` in the `Cargo.toml` of the server"
    ))
}

/// Checks a name with a namespace in reverse order, such as `io.github.me/calculator`.
fn check_name(name: &str) -> Result<(), Failure> {
    let valid = |part: &str, more: &str| {
        let valid = |c: char| c.is_ascii_alphanumeric() || more.contains(c);
        !part.is_empty() && part.chars().all(valid)
    };
    let parts = name.split_once('/');
    if parts.is_some_and(|(space, name)| valid(space, ".-") && valid(name, "._-"))
        && name.len() <= 200
    {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "`{name}` cannot be a name in the registry: expected a namespace and a name, such as io.github.me/calculator"
    )))
}

/// Shortens a text to the length that the registry accepts.
fn shorten(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.chars().count() <= MAX_DESCRIPTION {
        return text;
    }
    let kept: String = text.chars().take(MAX_DESCRIPTION - 1).collect();
    let end = kept.rfind(' ').unwrap_or(kept.len());
    format!("{}…", &kept[..end])
}
