//! The client, for programs that use servers and for the tests of servers.
//!
//! Guide: [clients](crate::guide::clients), [testing](crate::guide::testing).

#[cfg(feature = "http-client")]
#[doc(inline)]
pub use treenail_http_session::{
    HttpClient, HttpClientBody, HttpClientBuilderExt, HttpClientFuture, HttpSession,
    HttpSessionBuilder, NotSent, TlsConfig,
};
#[doc(inline)]
pub use treenail_runtime::client::*;
