//! `treenail list`.

use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};
use treenail::client::UrlTemplate;

use super::print_if_json;
use crate::args::ServerArgs;
use crate::exit::{Exit, Failure};
use crate::render;
use crate::server::Connection;
use crate::terminal::Terminal;

/// List the tools, prompts and resources of a server
#[derive(Debug, Args)]
pub(crate) struct List {
    /// List only this kind
    kind: Option<ListKind>,

    #[command(flatten)]
    pub(super) server: ServerArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ListKind {
    Tools,
    Prompts,
    Resources,
    Templates,
}

impl ListKind {
    const ALL: [Self; 4] = [Self::Tools, Self::Prompts, Self::Resources, Self::Templates];

    /// Returns the heading and the JSON key of the protocol.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Tools => ("Tools", "tools"),
            Self::Prompts => ("Prompts", "prompts"),
            Self::Resources => ("Resources", "resources"),
            Self::Templates => ("Resource templates", "resourceTemplates"),
        }
    }
}

/// List in both output formats.
struct FetchedList {
    kind: ListKind,
    count: usize,
    json: Value,
    text: String,
}

impl List {
    pub(super) async fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        Connection::with_connection(&self.server, terminal, async |server| {
            self.list(server).await
        })
        .await
    }

    async fn list(&self, connection: &Connection) -> Result<Exit, Failure> {
        let kinds = match self.kind {
            Some(kind) => vec![kind],
            None => ListKind::ALL.into(),
        };
        let mut lists = Vec::new();
        for kind in kinds {
            lists.push(fetch_list(kind, connection).await?);
        }
        connection.note_missing_lists();
        let terminal = &connection.terminal;
        let json: Map<_, _> = lists
            .iter_mut()
            .map(|list| (list.kind.names().1.to_owned(), list.json.take()))
            .collect();
        if print_if_json(self.server.output, terminal, &json).await? {
            return Ok(Exit::Success);
        }
        let several = lists.len() > 1;
        lists.retain(|list| list.count > 0);
        if lists.is_empty() {
            terminal.print_note("nothing to list");
        }
        let texts = lists.into_iter().map(|list| {
            if several {
                let (heading, _) = list.kind.names();
                format!("{heading} ({})\n\n{}", list.count, list.text)
            } else {
                list.text
            }
        });
        terminal
            .print_text(&texts.collect::<Vec<_>>().join("\n\n"))
            .await?;
        Ok(Exit::Success)
    }
}

async fn fetch_list(kind: ListKind, connection: &Connection) -> Result<FetchedList, Failure> {
    let client = &connection.client;
    let width = Terminal::stdout_width();
    let (count, json, text) = match kind {
        ListKind::Tools => {
            let tools = connection.with_timeout(client.tools()).await?;
            (
                tools.len(),
                json!(as_refs(&tools)),
                render::render_tools(&tools, width),
            )
        }
        ListKind::Prompts => {
            let prompts = connection.with_timeout(client.prompts()).await?;
            (
                prompts.len(),
                json!(as_refs(&prompts)),
                render::render_prompts(&prompts, width),
            )
        }
        ListKind::Resources => {
            let resources = connection.with_timeout(client.resources()).await?;
            (
                resources.len(),
                json!(as_refs(&resources)),
                render::render_resources(&resources, width),
            )
        }
        ListKind::Templates => {
            let templates = connection.with_timeout(client.url_templates()).await?;
            let listed: Vec<_> = templates.iter().map(UrlTemplate::listed).collect();
            (
                templates.len(),
                json!(listed),
                render::render_templates(&templates, width),
            )
        }
    };
    Ok(FetchedList {
        kind,
        count,
        json,
        text,
    })
}

fn as_refs<T>(items: &[std::sync::Arc<T>]) -> Vec<&T> {
    items.iter().map(|item| &**item).collect()
}
