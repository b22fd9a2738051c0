//! Limits that several crates share, and the macro that defines structs of limits.

use std::time::Duration;

/// Defines a struct of limits: its fields with their defaults, and a setter for each.
#[doc(hidden)]
#[macro_export]
macro_rules! __limits {
    ($(#[$meta:meta])* struct $name:ident {
        $($(#[$doc:meta])* $field:ident: $type:ty = $default:expr,)*
    }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct $name {
            $($(#[$doc])* pub $field: $type,)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }

        impl $name {
            $(
                #[doc = concat!(
                    "Sets [`", stringify!($field), "`](Self#structfield.", stringify!($field), ")."
                )]
                #[must_use]
                pub fn $field(mut self, $field: $type) -> Self {
                    self.$field = $field;
                    self
                }
            )*
        }
    };
}

pub use crate::__limits as limits;

limits! {
    /// Limits of validation against a JSON Schema: of results in a client, with the feature `validation` and as a part of
    /// `ClientLimits`, and of the arguments of tools that are made at run time.
    ///
    /// The fields describe the client. For a tool that is made at run time, a schema beyond a limit fails the build, arguments
    /// beyond a limit are refused, and the default of `steps` is 500,000.
    struct ValidationLimits {
        /// Maximum size of an output schema in bytes. A tool with a larger one is not called. Default 256 KiB.
        schema_bytes: usize = 256 << 10,
        /// Maximum number of subschemas of an output schema, with the same consequence. Default 10,000.
        subschemas: usize = 10_000,
        /// Maximum nesting depth of subschemas, references included, both in the schema and when applied to a result. Default
        /// 512.
        schema_depth: u32 = 512,
        /// Maximum size of the paths to all subschemas and keywords of an output schema together, in bytes, with the same
        /// consequence as that of `schema_bytes`. A compiled schema stores each path, so a long name counts once for every
        /// subschema and keyword below it. Default 8 MiB.
        path_bytes: usize = 8 << 20,
        /// Maximum size of all compiled patterns of an output schema together, in bytes. Default 16 MiB.
        pattern_bytes: usize = 16 << 20,
        /// Maximum number of backtracking steps for matching one text with one pattern that needs backtracking. Default
        /// 10,000.
        pattern_backtracks: usize = 10_000,
        /// Maximum size of the texts, names and numbers of a validated result in bytes. A larger result is an error. Default
        /// 4 MiB.
        value_bytes: usize = 4 << 20,
        /// Maximum number of steps for validating a result. A step is a subschema applied to a value, a few names looked up,
        /// or 16 bytes of text examined by one keyword; large patterns take several. More is an error. Longer validations run
        /// on a thread for blocking work. Default 4,000,000.
        steps: u64 = 4_000_000,
        /// Maximum number of compiled schemas in the cache. Default 256.
        compiled_schemas: usize = 256,
    }
}

limits! {
    /// Limits of the HTTP client. Part of `ClientLimits`.
    ///
    /// The end of a dead connection is detected with fixed values: after 30 s of silence, HTTP/2 connections are pinged and
    /// sockets are probed by TCP; without a response for another 20 s, the connection ends.
    struct HttpClientLimits {
        /// Maximum size of the headers of a response in bytes, at least 8 KiB and checked approximately. Larger ones fail the
        /// request, and so do more than 100 headers over HTTP/1.1. Default 64 KiB.
        header_bytes: usize = 64 << 10,
        /// Maximum number of redirects of one request. Only those that preserve the method (307 and 308) and stay within the
        /// origin are followed. Default 5.
        redirects: u32 = 5,
        /// Maximum number of informational responses (1xx) before the head of the GET stream. With more, the stream is not
        /// read. Default 100.
        informational_responses: u32 = 100,
        /// Timeout for opening a connection: the look-up of its name, TCP, the tunnel of a proxy and TLS together. It does not
        /// apply to an HTTP client of the user. Default 10 s.
        connect_timeout: Duration = Duration::from_secs(10),
        /// Maximum number of consecutive failed attempts to resume a broken stream of a server of the legacy era. Then the
        /// waiting request fails. Also the number of times that the answer of a user or a model to such a server is sent again.
        /// Default 8.
        resume_attempts: u32 = 8,
    }
}
