//! `manifest.json` of a bundle, in version 0.3 of its format.

use serde_json::{Map, Value, json};

use super::metadata::Metadata;
use super::program::Binary;
use crate::exit::Failure;
use crate::render::sanitize_text;
use crate::server::Connection;

/// Facts that the server reports about itself.
#[derive(Debug)]
pub(super) struct Offer {
    pub(super) name: Option<String>,
    pub(super) title: Option<String>,
    pub(super) version: String,
    pub(super) description: Option<String>,
    /// Names and descriptions.
    tools: Vec<(String, Option<String>)>,
    changes_tools: bool,
    has_prompts: bool,
}

impl Offer {
    pub(super) async fn of(connection: &Connection) -> Result<Self, Failure> {
        let client = &connection.client;
        let facts = client.session().peer_info();
        let capabilities = &facts.capabilities;
        let tools = match &capabilities.tools {
            Some(_) => connection.with_timeout(client.tools()).await?,
            None => Vec::new(),
        };
        let info = facts.info.as_ref();
        Ok(Self {
            name: info.map(|info| info.name.clone()),
            title: info.and_then(|info| info.title.clone()),
            version: info.map_or_else(|| "0.0.0".to_owned(), |info| info.version.clone()),
            description: info.and_then(|info| info.description.clone()),
            tools: tools
                .iter()
                .map(|tool| (tool.name.clone(), tool.description.clone()))
                .collect(),
            changes_tools: capabilities
                .tools
                .as_ref()
                .is_some_and(|tools| tools.list_changed == Some(true)),
            has_prompts: capabilities.prompts.is_some(),
        })
    }
}

/// Path of the program in the bundle.
pub(super) fn entry_point(binary: &Binary) -> String {
    format!("server/{}", binary.name)
}

/// Returns the manifest as text.
pub(super) fn manifest(metadata: &Metadata, offer: &Offer, binary: &Binary) -> String {
    let mut manifest = Map::new();
    let mut insert = |name: &str, value: Value| {
        if !value.is_null() {
            manifest.insert(name.to_owned(), value);
        }
    };
    let package = &metadata.package;
    insert("manifest_version", "0.3".into());
    insert("name", json!(metadata.name));
    insert("display_name", json!(metadata.title));
    insert("version", json!(metadata.version));
    insert("description", json!(metadata.description));
    insert("author", author(metadata));
    if let Some(url) = web(package.repository.as_deref()) {
        insert("repository", json!({"type": "git", "url": url}));
    }
    insert("homepage", json!(web(package.homepage.as_deref())));
    insert(
        "documentation",
        json!(web(package.documentation.as_deref())),
    );
    insert("server", server(metadata, binary));
    insert("tools", tools(offer));
    insert("tools_generated", offer.changes_tools.into());
    // The manifest would need their texts, which depend on their arguments.
    insert("prompts_generated", offer.has_prompts.into());
    if !package.keywords.is_empty() {
        insert("keywords", json!(package.keywords));
    }
    insert("license", json!(package.license));
    insert("compatibility", json!({"platforms": [binary.platform]}));
    if !metadata.settings.is_empty() {
        insert("user_config", user_config(metadata));
    }
    let text = serde_json::to_string_pretty(&manifest).unwrap_or_default();
    text + "\n"
}

fn author(metadata: &Metadata) -> Value {
    match &metadata.email {
        Some(email) => json!({"name": metadata.author, "email": email}),
        None => json!({"name": metadata.author}),
    }
}

/// Returns a URL of the web. Other addresses of repositories, such as those for SSH, have no place in a manifest.
pub(super) fn web(url: Option<&str>) -> Option<&str> {
    url.filter(|url| url.starts_with("https://") || url.starts_with("http://"))
}

fn server(metadata: &Metadata, binary: &Binary) -> Value {
    let entry_point = entry_point(binary);
    let mut config = json!({
        "command": format!("${{__dirname}}/{entry_point}"),
        "args": binary.args,
    });
    if !metadata.settings.is_empty() {
        let settings = metadata.settings.iter();
        let env = settings.map(|name| {
            let reference = format!("${{user_config.{}}}", setting_key(name));
            (name.clone(), Value::from(reference))
        });
        config["env"] = Value::Object(env.collect());
    }
    json!({"type": "binary", "entry_point": entry_point, "mcp_config": config})
}

fn tools(offer: &Offer) -> Value {
    let tools = offer
        .tools
        .iter()
        .map(|(name, description)| match description {
            // Hosts display the text.
            Some(text) => json!({"name": name, "description": sanitize_text(text)}),
            None => json!({"name": name}),
        });
    Value::Array(tools.collect())
}

fn user_config(metadata: &Metadata) -> Value {
    let settings = metadata.settings.iter().map(|name| {
        let setting = json!({
            "type": "string",
            "title": name,
            "description": format!("Value of the environment variable {name}"),
            "required": true,
            "sensitive": true,
        });
        (setting_key(name), setting)
    });
    Value::Object(settings.collect())
}

fn setting_key(variable: &str) -> String {
    variable.to_ascii_lowercase()
}
