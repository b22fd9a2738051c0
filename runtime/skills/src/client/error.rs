//! Errors of loading a skill.

use treenail_runtime::client::ClientError;

/// Reason why a skill, or a file of it, was not loaded. Each variant but the first is a failed check, after which the content must not
/// be used.
#[cfg(feature = "client")]
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SkillError {
    /// A request has failed.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The entry breaks the rules of the protocol.
    #[error("the entry of the skill {uri:?} is invalid: {reason}")]
    #[non_exhaustive]
    Entry {
        /// The URI of the skill.
        uri: String,
        /// The rule.
        reason: String,
    },
    /// The skill has more than 512 files or 16 MiB. The files of a dynamic skill count as they are read.
    #[error("the skill {uri:?} has more than 512 files or 16 MiB")]
    #[non_exhaustive]
    TooLarge {
        /// The URI of the skill.
        uri: String,
    },
    /// The file is not in the list of the entry, or not in the folder of the skill.
    #[error("the file {uri:?} is not a file of the skill")]
    #[non_exhaustive]
    NotListed {
        /// The URI or the path, as it was given.
        uri: String,
    },
    /// The server has returned other contents than those of the file, or a blob that is not base64.
    #[error("the contents of the file {uri:?} are not one text or blob")]
    #[non_exhaustive]
    Contents {
        /// The URI of the file.
        uri: String,
    },
    /// The size is not that of the entry.
    #[error("the file {uri:?} has {actual} bytes, and its entry has {expected}")]
    #[non_exhaustive]
    Size {
        /// The URI of the file.
        uri: String,
        /// The size in the entry.
        expected: u64,
        /// The size of the file.
        actual: u64,
    },
    /// The digest is not that of the entry.
    #[error("the digest of the file {uri:?} is not that of its entry")]
    #[non_exhaustive]
    Digest {
        /// The URI of the file.
        uri: String,
    },
    /// The front matter of `SKILL.md` is invalid, or not that of the entry.
    #[error("the front matter of {uri:?}: {reason}")]
    #[non_exhaustive]
    FrontMatter {
        /// The URI of the skill.
        uri: String,
        /// The difference, or the error in the YAML.
        reason: String,
    },
}

impl From<SkillError> for treenail_runtime::Error {
    fn from(error: SkillError) -> Self {
        Self::Other(Box::new(error))
    }
}
