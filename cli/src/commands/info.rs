//! `treenail info`.

use clap::Args;
use serde_json::{Value, json};
use treenail::client::PeerInfo;

use super::print_if_json;
use crate::args::ServerArgs;
use crate::exit::{Exit, Failure};
use crate::render::{sanitize_line, sanitize_text};
use crate::server::Connection;
use crate::terminal::Terminal;

/// Show the name, protocol revision, capabilities and instructions of a server
#[derive(Debug, Args)]
pub(crate) struct Info {
    #[command(flatten)]
    pub(super) server: ServerArgs,
}

impl Info {
    pub(super) async fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        Connection::with_connection(&self.server, terminal, async |server| {
            self.info(server).await
        })
        .await
    }

    async fn info(&self, connection: &Connection) -> Result<Exit, Failure> {
        let facts = connection.client.session().peer_info();
        let terminal = &connection.terminal;
        let json = json!({
            "protocolVersion": facts.revision,
            "supportedVersions": facts.supported_versions,
            "serverInfo": facts.info,
            "capabilities": facts.capabilities,
            "instructions": facts.instructions,
        });
        if !print_if_json(self.server.output, terminal, &json).await? {
            terminal.print_text(&render_info(&facts)).await?;
        }
        Ok(Exit::Success)
    }
}

fn render_info(facts: &PeerInfo) -> String {
    let mut lines = Vec::new();
    if let Some(info) = &facts.info {
        let title = info.title.as_deref().map(|title| format!(" ({title})"));
        let title = title.unwrap_or_default();
        let name = format!("{} {}{title}", info.name, info.version);
        lines.push(format!("server        {}", sanitize_line(&name)));
    }
    lines.push(format!("protocol      {}", facts.revision));
    if !facts.supported_versions.is_empty() {
        let versions = facts.supported_versions.join(", ");
        lines.push(format!("supports      {}", sanitize_line(&versions)));
    }
    let capabilities = format_capabilities(&json!(facts.capabilities));
    lines.push(format!("capabilities  {}", sanitize_line(&capabilities)));
    if let Some(instructions) = &facts.instructions {
        lines.push(format!("\n{}", sanitize_text(instructions.trim())));
    }
    lines.join("\n")
}

/// Formats capabilities as in `tools (listChanged), logging`.
fn format_capabilities(declared: &Value) -> String {
    let declared = declared.as_object().into_iter().flatten();
    let names: Vec<_> = declared
        .map(|(name, more)| {
            let more = more.as_object().into_iter().flatten();
            let more: Vec<_> = more
                .filter(|(_, value)| **value != json!(false))
                .map(|(name, _)| name.as_str())
                .collect();
            if more.is_empty() {
                name.clone()
            } else {
                format!("{name} ({})", more.join(", "))
            }
        })
        .collect();
    if names.is_empty() {
        return "none".to_owned();
    }
    names.join(", ")
}
