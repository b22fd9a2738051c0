//! Typed clients that the build script generates.
//!
//! The crate denies all lints that a user may deny.

#![forbid(unsafe_code)]
#![deny(
    warnings,
    missing_docs,
    unused_qualifications,
    unreachable_pub,
    unnameable_types
)]
#![deny(missing_debug_implementations, unused_lifetimes, single_use_lifetimes)]
#![deny(clippy::all, clippy::pedantic)]
#![deny(rustdoc::all)]

/// The facade under another name.
#[doc(hidden)]
pub use treenail as nail;

/// `@modelcontextprotocol/server-everything`.
pub mod everything {
    include!(concat!(env!("OUT_DIR"), "/everything.rs"));
}

/// `@modelcontextprotocol/server-filesystem`, without a prelude.
#[no_implicit_prelude]
pub mod filesystem {
    ::core::include!(::core::concat!(::core::env!("OUT_DIR"), "/filesystem.rs"));
}

/// `@modelcontextprotocol/server-memory`, in a private module.
mod private {
    include!(concat!(env!("OUT_DIR"), "/memory.rs"));
}
pub use private::{MemoryClient, types as memory};

/// Servers with awkward schemas.
pub mod awkward {
    /// `awkward/alternatives.json`.
    #[no_implicit_prelude]
    pub mod alternatives {
        ::core::include!(::core::concat!(::core::env!("OUT_DIR"), "/alternatives.rs"));
    }
    /// `awkward/booleans.json`.
    #[no_implicit_prelude]
    pub mod booleans {
        ::core::include!(::core::concat!(::core::env!("OUT_DIR"), "/booleans.rs"));
    }
    /// `awkward/conditions.json`.
    #[no_implicit_prelude]
    pub mod conditions {
        ::core::include!(::core::concat!(::core::env!("OUT_DIR"), "/conditions.rs"));
    }
    /// `awkward/constants.json`.
    #[no_implicit_prelude]
    pub mod constants {
        ::core::include!(::core::concat!(::core::env!("OUT_DIR"), "/constants.rs"));
    }
    /// `awkward/deep.json`.
    #[no_implicit_prelude]
    pub mod deep {
        ::core::include!(::core::concat!(::core::env!("OUT_DIR"), "/deep.rs"));
    }
    /// `awkward/draft-07.json`.
    #[no_implicit_prelude]
    pub mod draft_07 {
        ::core::include!(::core::concat!(::core::env!("OUT_DIR"), "/draft-07.rs"));
    }
    /// `awkward/empty.json`.
    #[no_implicit_prelude]
    pub mod empty {
        ::core::include!(::core::concat!(::core::env!("OUT_DIR"), "/empty.rs"));
    }
    /// `awkward/hostile.json`.
    #[no_implicit_prelude]
    pub mod hostile {
        ::core::include!(::core::concat!(::core::env!("OUT_DIR"), "/hostile.rs"));
    }
    /// `awkward/keywords.json`.
    #[no_implicit_prelude]
    pub mod keywords {
        ::core::include!(::core::concat!(::core::env!("OUT_DIR"), "/keywords.rs"));
    }
    /// `awkward/lists.json`.
    #[no_implicit_prelude]
    pub mod lists {
        ::core::include!(::core::concat!(::core::env!("OUT_DIR"), "/lists.rs"));
    }
    /// `awkward/names.json`.
    #[no_implicit_prelude]
    pub mod names {
        ::core::include!(::core::concat!(::core::env!("OUT_DIR"), "/names.rs"));
    }
    /// `awkward/nullable.json`, whose client distinguishes `null` from absence.
    #[no_implicit_prelude]
    pub mod nullable {
        ::core::include!(::core::concat!(::core::env!("OUT_DIR"), "/nullable.rs"));
    }
    /// `awkward/overlaps.json`.
    #[no_implicit_prelude]
    pub mod overlaps {
        ::core::include!(::core::concat!(::core::env!("OUT_DIR"), "/overlaps.rs"));
    }
    /// `awkward/recursive.json`.
    #[no_implicit_prelude]
    pub mod recursive {
        ::core::include!(::core::concat!(::core::env!("OUT_DIR"), "/recursive.rs"));
    }
    /// `awkward/united.json`.
    #[no_implicit_prelude]
    pub mod united {
        ::core::include!(::core::concat!(::core::env!("OUT_DIR"), "/united.rs"));
    }
    /// `awkward/wide.json`.
    #[no_implicit_prelude]
    pub mod wide {
        ::core::include!(::core::concat!(::core::env!("OUT_DIR"), "/wide.rs"));
    }
}
