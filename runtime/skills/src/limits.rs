//! Bounds of skills.

/// Maximum number of files of a skill, which is that of the protocol.
pub(crate) const MAX_FILES: usize = 512;

/// Maximum size of all files of a skill, which is that of the protocol.
pub(crate) const MAX_BYTES: usize = 16 * 1024 * 1024;

/// Maximum number of skills of a server.
pub(crate) const MAX_SKILLS: usize = 1_000;

/// Maximum number of files and folders below the folder of the skills.
pub(crate) const MAX_ENTRIES: usize = 65_536;

/// Maximum depth of the folders below the folder of the skills.
pub(crate) const MAX_DEPTH: usize = 16;

/// Maximum size of all files of a server.
pub(crate) const MAX_TOTAL_BYTES: usize = 256 * 1024 * 1024;

/// Maximum length of a path below the folder of the skills, in bytes.
pub(crate) const MAX_PATH: usize = 1024;
