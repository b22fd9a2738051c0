//! Skills of the framework Treenail: folders of instructions for models, which servers offer and clients load with digests.
//!
//! Use the crate `treenail`, which re-exports this one as `treenail::skills`.

// The modules: `front_matter` (YAML as JSON, and its rules), `file`, `skill` and `set` (checked skills in memory), `folder` (reading
// them), `skills` (the public type), `methods` (requests of clients), and `client` (skills of other servers).

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "client")]
mod client;
mod digest;
mod file;
mod folder;
mod front_matter;
mod limits;
mod methods;
mod set;
mod skill;
mod skills;
mod uri;

#[cfg(feature = "client")]
pub use self::client::{
    LoadedSkill, SkillClient, SkillClientExt, SkillEntry, SkillError, SkillFile, SkillResources,
};
pub use self::skills::Skills;

/// Identifier of the extension.
const ID: &str = "io.modelcontextprotocol/skills";
