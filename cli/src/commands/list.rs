//! `treenail list`.

use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};
use treenail::client::UrlTemplate;

use super::printed_as_json;
use crate::args::ServerArgs;
use crate::exit::{Exit, Failure};
use crate::screen::Screen;
use crate::server::Connected;
use crate::show;

/// Show what a server offers: tools with their arguments, prompts, resources
#[derive(Debug, Args)]
pub(crate) struct List {
    /// Only these
    what: Option<Kind>,

    #[command(flatten)]
    pub(super) server: ServerArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    Tools,
    Prompts,
    Resources,
    Templates,
}

impl Kind {
    const ALL: [Self; 4] = [Self::Tools, Self::Prompts, Self::Resources, Self::Templates];

    /// The heading, and the key in the JSON of the protocol.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Tools => ("Tools", "tools"),
            Self::Prompts => ("Prompts", "prompts"),
            Self::Resources => ("Resources", "resources"),
            Self::Templates => ("Templates for resources", "resourceTemplates"),
        }
    }
}

/// One list, in both forms.
struct Listed {
    kind: Kind,
    count: usize,
    json: Value,
    text: String,
}

impl List {
    pub(super) async fn run(self, screen: &Screen) -> Result<Exit, Failure> {
        Connected::with(&self.server, screen, async |server| self.list(server).await).await
    }

    async fn list(&self, connected: &Connected) -> Result<Exit, Failure> {
        let kinds = match self.what {
            Some(kind) => vec![kind],
            None => Kind::ALL.into(),
        };
        let mut lists = Vec::new();
        for kind in kinds {
            lists.push(fetch(kind, connected).await?);
        }
        connected.note_missing_lists();
        let screen = &connected.screen;
        let json: Map<_, _> = lists
            .iter_mut()
            .map(|list| (list.kind.names().1.to_owned(), list.json.take()))
            .collect();
        if printed_as_json(self.server.output, screen, &json)? {
            return Ok(Exit::Success);
        }
        let several = lists.len() > 1;
        lists.retain(|list| list.count > 0);
        if lists.is_empty() {
            screen.note("the server offers nothing of this");
        }
        let texts = lists.into_iter().map(|list| {
            if several {
                let (heading, _) = list.kind.names();
                format!("{heading} ({})\n\n{}", list.count, list.text)
            } else {
                list.text
            }
        });
        screen.print(&texts.collect::<Vec<_>>().join("\n\n"))?;
        Ok(Exit::Success)
    }
}

async fn fetch(kind: Kind, connected: &Connected) -> Result<Listed, Failure> {
    let client = &connected.client;
    let width = Screen::width();
    let (count, json, text) = match kind {
        Kind::Tools => {
            let tools = connected.bounded(client.tools()).await?;
            (
                tools.len(),
                json!(plain(&tools)),
                show::tools(&tools, width),
            )
        }
        Kind::Prompts => {
            let prompts = connected.bounded(client.prompts()).await?;
            (
                prompts.len(),
                json!(plain(&prompts)),
                show::prompts(&prompts, width),
            )
        }
        Kind::Resources => {
            let resources = connected.bounded(client.resources()).await?;
            (
                resources.len(),
                json!(plain(&resources)),
                show::resources(&resources, width),
            )
        }
        Kind::Templates => {
            let templates = connected.bounded(client.url_templates()).await?;
            let listed: Vec<_> = templates.iter().map(UrlTemplate::listed).collect();
            (
                templates.len(),
                json!(listed),
                show::templates(&templates, width),
            )
        }
    };
    Ok(Listed {
        kind,
        count,
        json,
        text,
    })
}

fn plain<T>(items: &[std::sync::Arc<T>]) -> Vec<&T> {
    items.iter().map(|item| &**item).collect()
}
