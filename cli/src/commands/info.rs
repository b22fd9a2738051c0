//! `treenail info`.

use clap::Args;
use serde_json::{Value, json};
use treenail::client::PeerInfo;

use super::printed_as_json;
use crate::args::ServerArgs;
use crate::exit::{Exit, Failure};
use crate::screen::Screen;
use crate::server::Connected;
use crate::show::{clean, clean_line};

/// Show who a server is: its name, the revision that is spoken, what it can do, its instructions
#[derive(Debug, Args)]
pub(crate) struct Info {
    #[command(flatten)]
    pub(super) server: ServerArgs,
}

impl Info {
    pub(super) async fn run(self, screen: &Screen) -> Result<Exit, Failure> {
        Connected::with(&self.server, screen, async |server| self.info(server)).await
    }

    fn info(&self, connected: &Connected) -> Result<Exit, Failure> {
        let facts = connected.client.session().peer_info();
        let screen = &connected.screen;
        let json = json!({
            "protocolVersion": facts.revision,
            "supportedVersions": facts.supported_versions,
            "serverInfo": facts.info,
            "capabilities": facts.capabilities,
            "instructions": facts.instructions,
        });
        if !printed_as_json(self.server.output, screen, &json)? {
            screen.print(&told(&facts))?;
        }
        Ok(Exit::Success)
    }
}

fn told(facts: &PeerInfo) -> String {
    let mut lines = Vec::new();
    if let Some(info) = &facts.info {
        let title = info.title.as_deref().map(|title| format!(" ({title})"));
        let title = title.unwrap_or_default();
        let name = format!("{} {}{title}", info.name, info.version);
        lines.push(format!("server        {}", clean_line(&name)));
    }
    lines.push(format!("protocol      {}", facts.revision));
    if !facts.supported_versions.is_empty() {
        let versions = facts.supported_versions.join(", ");
        lines.push(format!("speaks        {}", clean_line(&versions)));
    }
    let capabilities = capabilities(&json!(facts.capabilities));
    lines.push(format!("capabilities  {}", clean_line(&capabilities)));
    if let Some(instructions) = &facts.instructions {
        lines.push(format!("\n{}", clean(instructions.trim())));
    }
    lines.join("\n")
}

/// As in `tools (listChanged), logging`.
fn capabilities(declared: &Value) -> String {
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
