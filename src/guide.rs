//! Guide: one page for each task.
//!
//! Each page starts with the shortest working example. Options, errors and pitfalls follow. [`first_server`] is the first page.

/// Includes a page of `docs/guide`. The link definitions before it take precedence over those at the end of the page, which
/// link the files to each other.
macro_rules! pages {
    ($($(#[$attribute:meta])* $page:ident;)*) => {$(
        $(#[$attribute])*
        #[doc = ""]
        #[cfg_attr(feature = "http-server", doc = "[deployment]: crate::guide::deployment")]
        #[doc = "[arguments]: crate::guide::arguments"]
        #[doc = "[coming_from_rmcp]: crate::guide::coming_from_rmcp"]
        #[cfg_attr(feature = "dynamic", doc = "[dynamic]: crate::guide::dynamic")]
        #[doc = "[elicitation]: crate::guide::elicitation"]
        #[doc = "[errors]: crate::guide::errors"]
        #[doc = "[extensions]: crate::guide::extensions"]
        #[doc = "[hosts]: crate::guide::hosts"]
        #[doc = "[limits]: crate::guide::limits"]
        #[doc = "[logging]: crate::guide::logging"]
        #[doc = "[prompts]: crate::guide::prompts"]
        #[doc = "[resources]: crate::guide::resources"]
        #[doc = "[revisions]: crate::guide::revisions"]
        #[cfg_attr(feature = "skills", doc = "[skills]: crate::guide::skills")]
        #[doc = "[state]: crate::guide::state"]
        #[doc = "[streams]: crate::guide::streams"]
        #[cfg_attr(feature = "durable-tasks", doc = "[tasks]: crate::guide::tasks")]
        #[doc = "[tools]: crate::guide::tools"]
        #[doc = "[troubleshooting]: crate::guide::troubleshooting"]
        #[doc = "[visibility]: crate::guide::visibility"]
        #[cfg_attr(feature = "client", doc = "[clients]: crate::guide::clients")]
        #[cfg_attr(feature = "client", doc = "[first_server]: crate::guide::first_server")]
        #[cfg_attr(feature = "client", doc = "[contracts]: crate::guide::contracts")]
        #[cfg_attr(feature = "client", doc = "[testing]: crate::guide::testing")]
        #[cfg_attr(feature = "http-server", doc = "[http]: crate::guide::http")]
        #[cfg_attr(feature = "authorization", doc = "[authorization]: crate::guide::authorization")]
        #[cfg_attr(feature = "oauth", doc = "[oauth]: crate::guide::oauth")]
        #[cfg_attr(feature = "proxy", doc = "[proxies]: crate::guide::proxies")]
        #[cfg_attr(feature = "tool-loop", doc = "[agents]: crate::guide::agents")]
        #[doc = ""]
        #[doc = include_str!(concat!("../docs/guide/", stringify!($page), ".md"))]
        pub mod $page {}
    )*};
}

pages! {
    /// A server, its first call and its first test.
    #[cfg(feature = "client")]
    first_server;
    /// Revisions of the protocol, and their two eras.
    revisions;
    /// Tools from functions and methods.
    tools;
    /// Prompts, and completion of their arguments.
    prompts;
    /// Resources, URI templates and subscriptions.
    resources;
    /// Tools that produce their output item by item.
    streams;
    /// Tools, prompts and resources that are made at run time.
    #[cfg(feature = "dynamic")]
    dynamic;
    /// Forms and confirmations while a function runs.
    elicitation;
    /// Types, descriptions, defaults and bounds of arguments.
    arguments;
    /// Errors for the model, the client and the program.
    errors;
    /// Shared values, locks and databases.
    state;
    /// Calls that take long, and survive a restart.
    #[cfg(feature = "durable-tasks")]
    tasks;
    /// Limits, timeouts and rate limits.
    limits;
    /// Streamable HTTP.
    #[cfg(feature = "http-server")]
    http;
    /// Access tokens and scopes.
    #[cfg(feature = "authorization")]
    authorization;
    /// Lists and tools that differ by caller.
    visibility;
    /// Methods and capabilities beyond the protocol.
    extensions;
    /// Folders of instructions for models.
    #[cfg(feature = "skills")]
    skills;
    /// Other servers, served as a part of one server.
    #[cfg(feature = "proxy")]
    proxies;
    /// Containers, systemd, health, shutdown, proxies and replicas.
    #[cfg(feature = "http-server")]
    deployment;
    /// Configurations of Claude Desktop, Claude Code, VS Code, Cursor and Zed.
    hosts;
    /// Logs, spans and traces.
    logging;
    /// Messages, their causes and cures.
    troubleshooting;
    /// Programs that use servers.
    #[cfg(feature = "client")]
    clients;
    /// Sign-in at servers that require authorization.
    #[cfg(feature = "oauth")]
    oauth;
    /// One trait for both sides, lock files and drift.
    #[cfg(feature = "client")]
    contracts;
    /// Tests in memory, and mocks.
    #[cfg(feature = "client")]
    testing;
    /// A language model with tools.
    #[cfg(feature = "tool-loop")]
    agents;
    /// Patterns of rmcp and of this crate, side by side.
    coming_from_rmcp;
    /// The same server with `FastMCP` and with this crate, and a table of names.
    coming_from_fastmcp;
}
