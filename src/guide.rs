//! Guide: one page for each task.
//!
//! Each page starts with the shortest working example. Options, errors and pitfalls follow.

/// Includes a page of `docs/guide`. The link definitions before it take precedence over those at the end of the page, which
/// link the files to each other.
macro_rules! pages {
    ($($(#[$attribute:meta])* $page:ident;)*) => {$(
        $(#[$attribute])*
        #[doc = ""]
        #[cfg_attr(feature = "http-server", doc = "[deployment]: crate::guide::deployment")]
        #[doc = "[elicitation]: crate::guide::elicitation"]
        #[doc = "[errors]: crate::guide::errors"]
        #[doc = "[limits]: crate::guide::limits"]
        #[doc = "[prompts]: crate::guide::prompts"]
        #[doc = "[resources]: crate::guide::resources"]
        #[doc = "[streams]: crate::guide::streams"]
        #[doc = "[tools]: crate::guide::tools"]
        #[cfg_attr(feature = "client", doc = "[clients]: crate::guide::clients")]
        #[cfg_attr(feature = "client", doc = "[contracts]: crate::guide::contracts")]
        #[cfg_attr(feature = "http-server", doc = "[http]: crate::guide::http")]
        #[cfg_attr(feature = "authorization", doc = "[authorization]: crate::guide::authorization")]
        #[cfg_attr(feature = "oauth", doc = "[oauth]: crate::guide::oauth")]
        #[cfg_attr(feature = "tool-loop", doc = "[agents]: crate::guide::agents")]
        #[doc = ""]
        #[doc = include_str!(concat!("../docs/guide/", stringify!($page), ".md"))]
        pub mod $page {}
    )*};
}

pages! {
    /// Tools from functions and methods.
    tools;
    /// Prompts, and completion of their arguments.
    prompts;
    /// Resources, URI templates and subscriptions.
    resources;
    /// Tools that produce their output item by item.
    streams;
    /// Forms and confirmations while a function runs.
    elicitation;
    /// Errors for the model, the client and the program.
    errors;
    /// Limits, timeouts and rate limits.
    limits;
    /// Streamable HTTP.
    #[cfg(feature = "http-server")]
    http;
    /// Access tokens and scopes.
    #[cfg(feature = "authorization")]
    authorization;
    /// Public servers, replicas and shutdown.
    #[cfg(feature = "http-server")]
    deployment;
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
}
