//! Methods of features that are off: the compiler names the feature where such a method is called.

#[cfg(not(feature = "http-server"))]
use crate::error::{Error, Result};
#[cfg(not(feature = "http-server"))]
use crate::server::Server;
#[cfg(any(not(feature = "http-server"), not(feature = "tower")))]
use crate::server::ServerBuilder;

/// Trait without implementations, for parameters of methods that need the feature `http-server`.
#[cfg(not(feature = "http-server"))]
#[diagnostic::on_unimplemented(
    message = "this method needs the feature `http-server` of `treenail`",
    label = "the feature `http-server` is off",
    note = "run `cargo add treenail --features http-server`"
)]
pub trait NeedsHttpServer {}

#[cfg(not(feature = "http-server"))]
#[expect(
    clippy::unused_async,
    reason = "the signature is that of the method with the feature"
)]
impl ServerBuilder {
    #[doc(hidden)]
    pub async fn serve_http<A: NeedsHttpServer>(self, _: A) -> Result<()> {
        self.build().and_then(|_| Err(off()))
    }
}

#[cfg(not(feature = "http-server"))]
#[expect(
    clippy::unused_async,
    reason = "the signature is that of the method with the feature"
)]
impl Server {
    #[doc(hidden)]
    pub async fn serve_http<A: NeedsHttpServer>(&self, _: A) -> Result<()> {
        Err(off())
    }

    #[doc(hidden)]
    pub async fn bind_http<A: NeedsHttpServer>(&self, _: A) -> Result<()> {
        Err(off())
    }
}

#[cfg(not(feature = "http-server"))]
fn off() -> Error {
    Error::Build("the feature `http-server` is off".to_owned())
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
