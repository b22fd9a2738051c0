//! Servers: mounting, namespaces, and changes while they run.

#[doc(inline)]
pub use treenail_runtime::{
    Caller, Component, Edit, FeatureDescriptor, FeatureRef, Mount, Namespace, Server,
    ServerBuilder, SubscribedResources, WeakServer,
};

/// Creates a server builder with the name and version of the calling crate.
///
/// ```
/// let server = treenail::server!().build()?;
/// # Ok::<(), treenail::Error>(())
/// ```
#[macro_export]
macro_rules! server {
    () => {
        $crate::Server::builder(
            ::core::env!("CARGO_PKG_NAME"),
            ::core::env!("CARGO_PKG_VERSION"),
        )
    };
    ($($argument:tt)+) => {
        ::core::compile_error!(::core::concat!(
            "`server!` takes no arguments; write `Server::builder(",
            ::core::stringify!($($argument)+),
            ")`"
        ))
    };
}
