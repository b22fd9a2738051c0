//! Snapshot of the enabled entries of a server, and the route of a request to one of them.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::{Map, Value, json};
#[cfg(feature = "tower")]
use treenail_schema::{Prompt, Tool};
use treenail_schema::{Revision, field};

use crate::completion::empty_handler;
use crate::entry::Entry;
use crate::handler::Handler;
use crate::server::absence::Absence;
use crate::server::config::ServerConfig;
use crate::server::registry::catalog::Catalog;
use crate::server::registry::list::List;
use crate::server::registry::resources::Resources;
use crate::server::registry::view::Views;
use crate::server::subscriptions::{Kind, Kinds};

/// Enabled entries of a server at one time. It never changes; an edit makes a new one.
pub(crate) struct Snapshot {
    /// Number of edits before it.
    pub(crate) version: u64,
    /// The lists that an edit may change.
    pub(crate) changing: Kinds,
    /// Set if an entry requires scopes.
    pub(crate) requires_scopes: bool,
    pub(super) tools: Arc<List>,
    /// Set if clients repeat arguments of a tool in HTTP headers.
    #[cfg(feature = "http-server")]
    has_mirrors: bool,
    pub(super) prompts: Arc<List>,
    pub(crate) resources: Resources,
    /// The result of `initialize` or `server/discover`, for each revision.
    handshake_results: [Vec<u8>; Revision::ALL.len()],
    /// The capabilities that depend on the entries.
    offered: Offered,
    /// The views of callers; `None` if all see the same items, and in a view.
    pub(crate) views: Option<Views>,
    /// Reasons why features are missing, if all callers see the same items.
    pub(super) absences: Vec<Absence>,
    /// Completer of arguments without one of their own.
    pub(super) no_completions: Handler,
}

impl fmt::Debug for Snapshot {
    #[inline]
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Snapshot")
            .field("tools", &self.tools)
            .field("prompts", &self.prompts)
            .field("resources", &self.resources)
            .finish_non_exhaustive()
    }
}

impl Snapshot {
    /// Collects the enabled entries of `catalog`, and shares the lists that have not changed with `old`.
    pub(crate) fn new(catalog: &Catalog, old: Option<&Self>, config: &ServerConfig) -> Self {
        if catalog.has_rules() {
            config.filtered.store(true, Ordering::Relaxed);
        }
        let mut snapshot = Self::list(catalog, old, config);
        snapshot.version = old.map_or(0, |old| old.version + 1);
        snapshot.offered = snapshot.offered(config);
        #[cfg(feature = "http-server")]
        {
            let mut tools = snapshot.tools.index.entries().iter();
            snapshot.has_mirrors = tools.any(|tool| !tool.mirrors().is_empty());
        }
        snapshot.requires_scopes = snapshot.has_scopes();
        if config.is_filtered() {
            snapshot.views = Some(Views::new(catalog));
        } else {
            snapshot.absences = catalog.absences();
        }
        snapshot.with_handshake_results(catalog, config)
    }

    /// Creates the view of callers that see only the entries of `catalog`. It has the capabilities of `base`, because the results
    /// of rules may change during a session.
    pub(super) fn view_of(base: &Self, catalog: &Catalog, config: &ServerConfig) -> Self {
        let mut view = Self::list(catalog, Some(base), config);
        view.version = base.version;
        view.offered = base.offered;
        #[cfg(feature = "http-server")]
        {
            view.has_mirrors = base.has_mirrors;
        }
        view.requires_scopes = base.requires_scopes;
        view.with_handshake_results(catalog, config)
    }

    /// Lists the enabled entries of `catalog`.
    fn list(catalog: &Catalog, old: Option<&Self>, config: &ServerConfig) -> Self {
        let (tools, prompts) = (&catalog.tools, &catalog.prompts);
        let (single, families) = (&catalog.resources, &catalog.templates);
        let resources = Resources {
            single: List::new(single, old.map(|old| &old.resources.single), config),
            families: List::new(families, old.map(|old| &old.resources.families), config),
            unlisted: catalog.unlisted.enabled().cloned().collect(),
        };
        let tools = List::new(tools, old.map(|old| &old.tools), config);
        Self {
            version: 0,
            changing: config.changing,
            requires_scopes: false,
            #[cfg(feature = "http-server")]
            has_mirrors: false,
            tools,
            prompts: List::new(prompts, old.map(|old| &old.prompts), config),
            resources,
            handshake_results: Default::default(),
            offered: Offered::default(),
            views: None,
            absences: Vec::new(),
            no_completions: empty_handler(),
        }
    }

    fn with_handshake_results(mut self, catalog: &Catalog, config: &ServerConfig) -> Self {
        let instructions = catalog.instructions();
        self.handshake_results = Revision::ALL.map(|revision| {
            let mut capabilities = self.capabilities(revision);
            config.extensions.declare(revision, &mut capabilities);
            config.handshake_result(revision, &capabilities.into(), &instructions)
        });
        self
    }

    /// Returns the capabilities of a server with these entries.
    fn offered(&self, config: &ServerConfig) -> Offered {
        let (prompts, families) = (&self.prompts.index, &self.resources.families.index);
        let changing = self.changing;
        let tools = changing.contains(Kind::Tools) || !self.tools.index.is_empty();
        let has_prompts = changing.contains(Kind::Prompts) || !prompts.is_empty();
        let resources = changing.contains(Kind::Resources) || !self.resources.is_empty();
        Offered {
            tools,
            prompts: has_prompts,
            resources,
            logging: tools || has_prompts || resources || config.extensions.has_methods(),
            completions: prompts.has_completers() || families.has_completers(),
            subscriptions: self.resources.are_subscribable(),
        }
    }

    /// Returns the kinds of lists that differ from those of `old`.
    pub(crate) fn changes_since(&self, old: &Self) -> Kinds {
        let resources = self.resources.single.is_same(&old.resources.single)
            && self.resources.families.is_same(&old.resources.families);
        let same = [
            (Kind::Tools, self.tools.is_same(&old.tools)),
            (Kind::Prompts, self.prompts.is_same(&old.prompts)),
            (Kind::Resources, resources),
        ];
        let changed = same.into_iter().filter(|(_, same)| !same);
        changed.map(|(kind, _)| kind).collect()
    }

    /// Returns the arguments of a tool that clients repeat in HTTP headers.
    #[cfg(feature = "http-server")]
    pub(crate) fn mirrors(&self, tool: &str) -> &[crate::tool::header_params::HeaderParam] {
        if !self.has_mirrors {
            return &[];
        }
        // A tool has the same headers under all of its names.
        let tool = self.tools.index.known(tool);
        tool.map_or(&[], Entry::mirrors)
    }

    /// Returns `true` if there is a tool with this name.
    pub(crate) fn has_tool(&self, name: &str) -> bool {
        self.tools.index.get(name).is_some()
    }

    /// Returns the entry of a tool.
    pub(crate) fn tool_entry(&self, name: &str) -> Option<&Arc<Entry>> {
        let index = &self.tools.index;
        index.position(name).map(|at| &index.entries()[at])
    }

    /// Returns `true` if there is a prompt with this name.
    pub(crate) fn has_prompt(&self, name: &str) -> bool {
        self.prompts.index.get(name).is_some()
    }

    /// Returns the tool that a call of `name` runs.
    #[cfg(feature = "tower")]
    pub(crate) fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.index.known(name).and_then(Entry::tool)
    }

    /// Returns the prompt that a request of `name` gets.
    #[cfg(feature = "tower")]
    pub(crate) fn prompt(&self, name: &str) -> Option<&Prompt> {
        self.prompts.index.known(name).and_then(Entry::prompt)
    }

    /// Returns the result of `initialize`, or of `server/discover` in the modern era.
    pub(crate) fn handshake_result(&self, revision: Revision) -> &[u8] {
        &self.handshake_results[revision.index()]
    }

    /// Returns `true` if some function can send log messages, now or after an edit.
    pub(crate) fn has_logging(&self) -> bool {
        self.offered.logging
    }

    /// Returns `true` if some resource can be subscribed to.
    pub(crate) fn has_subscriptions(&self) -> bool {
        self.offered.subscriptions
    }

    /// Returns `true` if there are tools, now or after an edit.
    pub(super) fn has_tools(&self) -> bool {
        self.offered.tools
    }

    pub(super) fn has_prompts(&self) -> bool {
        self.offered.prompts
    }

    pub(super) fn has_resources(&self) -> bool {
        self.offered.resources
    }

    pub(super) fn has_completers(&self) -> bool {
        self.offered.completions
    }

    /// Returns the capabilities that the server declares to peers of a revision.
    fn capabilities(&self, revision: Revision) -> Map<String, Value> {
        let known = |capability: &str| {
            let facts = field("ServerCapabilities", capability);
            facts.is_some_and(|facts| facts.revisions.contains(revision))
        };
        let list = |kind| {
            if self.changing.contains(kind) {
                json!({ "listChanged": true })
            } else {
                json!({})
            }
        };
        let mut resources = list(Kind::Resources);
        if self.has_subscriptions() {
            resources["subscribe"] = true.into();
        }
        let all = [
            ("logging", self.has_logging(), json!({})),
            ("completions", self.has_completers(), json!({})),
            ("prompts", self.has_prompts(), list(Kind::Prompts)),
            ("resources", self.has_resources(), resources),
            ("tools", self.has_tools(), list(Kind::Tools)),
        ];
        all.into_iter()
            .filter(|(capability, present, _)| *present && known(capability))
            .map(|(capability, _, details)| (capability.to_owned(), details))
            .collect()
    }
}

/// Capabilities that depend on the entries, now or after an edit.
#[derive(Clone, Copy, Debug, Default)]
#[allow(clippy::struct_excessive_bools, reason = "independent capabilities")]
struct Offered {
    tools: bool,
    prompts: bool,
    resources: bool,
    logging: bool,
    completions: bool,
    subscriptions: bool,
}
