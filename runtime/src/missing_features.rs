//! Functions of features that are off: the compiler names the feature where such a function is called.
//!
//! A function has the bound `for<'a> Self: Needs…`, which fails at the call only. Its output is that of the trait, so that the rest of
//! the expression has no further errors.

#![allow(
    unused_lifetimes,
    reason = "a bound without a lifetime would fail at the function itself"
)]

#[cfg(not(feature = "http-server"))]
use crate::server::Server;
#[cfg(any(
    not(feature = "dynamic"),
    not(feature = "http-server"),
    not(feature = "tower")
))]
use crate::server::ServerBuilder;

/// Trait without implementations, for types with methods that need the feature `http-server`.
#[cfg(not(feature = "http-server"))]
#[diagnostic::on_unimplemented(
    message = "this method needs the feature `http-server` of `treenail`",
    label = "the feature `http-server` is off",
    note = "run `cargo add treenail --features http-server`"
)]
pub trait NeedsHttpServer {
    #[doc(hidden)]
    type Output;
    #[doc(hidden)]
    fn never(&self) -> Self::Output;
}

#[cfg(not(feature = "http-server"))]
macro_rules! http_methods {
    ($($server:ty),*) => {$(
        impl $server {
            #[doc(hidden)]
            pub fn serve_http<A>(&self, _: A) -> <Self as NeedsHttpServer>::Output
            where
                for<'a> Self: NeedsHttpServer,
            {
                self.never()
            }

            #[doc(hidden)]
            pub fn bind_http<A>(&self, _: A) -> <Self as NeedsHttpServer>::Output
            where
                for<'a> Self: NeedsHttpServer,
            {
                self.never()
            }
        }
    )*};
}

#[cfg(not(feature = "http-server"))]
http_methods!(Server, ServerBuilder);

/// Trait without implementations, for types with methods that need the feature `dynamic`.
#[cfg(not(feature = "dynamic"))]
#[diagnostic::on_unimplemented(
    message = "this method needs the feature `dynamic` of `treenail`",
    label = "the feature `dynamic` is off",
    note = "run `cargo add treenail --features dynamic`"
)]
pub trait NeedsDynamic {
    #[doc(hidden)]
    type Output;
    #[doc(hidden)]
    fn never(&self) -> Self::Output;
}

#[cfg(not(feature = "dynamic"))]
impl ServerBuilder {
    #[doc(hidden)]
    pub fn add<F>(&self, _: F) -> <Self as NeedsDynamic>::Output
    where
        for<'a> Self: NeedsDynamic,
    {
        self.never()
    }
}

/// Trait without implementations, for parameters of methods that need the feature `tower`.
#[cfg(not(feature = "tower"))]
#[diagnostic::on_unimplemented(
    message = "this method needs the feature `tower` of `treenail`",
    label = "the feature `tower` is off",
    note = "run `cargo add treenail --features tower`"
)]
pub trait NeedsTower {}

#[cfg(not(feature = "tower"))]
impl ServerBuilder {
    #[doc(hidden)]
    pub fn layer<L: NeedsTower>(self, _: L) -> Self {
        self
    }
}

/// The function that the macros call for the key `task` of a tool, without the feature `tasks` of `treenail`.
pub mod tasks {
    use treenail_schema::TaskSupport;

    use crate::extension::Extension;
    use crate::handler::Handler;
    use crate::task::{TaskTool, ToolFacts};

    /// Trait without implementations, for keys that need the feature `tasks`.
    #[diagnostic::on_unimplemented(
        message = "the key `task` needs the feature `tasks` of `treenail`",
        label = "the feature `tasks` is off",
        note = "run `cargo add treenail --features tasks`"
    )]
    pub trait NeedsTasks {
        #[doc(hidden)]
        fn never() -> NoTask;
    }

    /// Does not compile, for any argument.
    pub fn task<K: NeedsTasks>(_: &[K]) -> NoTask {
        K::never()
    }

    /// Task support without values.
    #[derive(Debug)]
    pub enum NoTask {}

    impl TaskTool for NoTask {
        fn support(&self) -> TaskSupport {
            match *self {}
        }

        fn extension(&self) -> Extension {
            match *self {}
        }

        fn wrap(&self, _: &ToolFacts, _: Handler) -> Handler {
            match *self {}
        }
    }
}

/// Trait without implementations, for parameters of methods that need the feature `http-client`.
#[cfg(all(feature = "client", not(feature = "http-client")))]
#[diagnostic::on_unimplemented(
    message = "this method needs the feature `http-client` of `treenail`",
    label = "the feature `http-client` is off",
    note = "run `cargo add treenail --features http-client`"
)]
pub trait NeedsHttpClient {}

#[cfg(all(feature = "client", not(feature = "http-client")))]
impl crate::client::McpClientBuilder {
    #[doc(hidden)]
    pub fn url<U: NeedsHttpClient>(self, _: U) -> Self {
        self
    }

    #[doc(hidden)]
    pub fn http<H: NeedsHttpClient>(self, _: H) -> Self {
        self
    }
}

/// Placeholders for the client, without the feature `client` of `treenail`. That of this crate may be on, for another crate.
pub mod client {
    /// Trait without implementations, for types that need the feature `client`.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` needs the feature `client` of `treenail`",
        label = "the feature `client` is off",
        note = "run `cargo add treenail --features client`"
    )]
    pub trait NeedsClient {
        #[doc(hidden)]
        type Output;
        #[doc(hidden)]
        fn never() -> Self::Output;
    }

    /// Client that cannot be built.
    #[derive(Clone, Debug)]
    pub enum McpClient {}

    impl McpClient {
        #[doc(hidden)]
        pub fn builder() -> <Self as NeedsClient>::Output
        where
            for<'a> Self: NeedsClient,
        {
            Self::never()
        }

        #[doc(hidden)]
        pub fn new<S>(_: S) -> <Self as NeedsClient>::Output
        where
            for<'a> Self: NeedsClient,
        {
            Self::never()
        }
    }

    /// Client that cannot be built.
    #[derive(Clone, Debug)]
    pub enum McpClientSession {}

    impl McpClientSession {
        #[doc(hidden)]
        pub fn builder() -> <Self as NeedsClient>::Output
        where
            for<'a> Self: NeedsClient,
        {
            Self::never()
        }
    }
}
