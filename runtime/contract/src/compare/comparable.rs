//! Members that the protocol versions of both contracts have.

/// Members that both protocol versions declare in the same way. Others are not compared.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "independent members")]
pub(super) struct Comparable {
    /// The titles of tools, prompts, their arguments, resources and templates.
    pub(super) titles: bool,
    /// The annotations of tools.
    pub(super) annotations: bool,
    pub(super) output_schema: bool,
    /// The support for tasks, which each version declares differently.
    pub(super) execution: bool,
}

impl Comparable {
    /// `None` is an unknown version, such as that of a contract of a trait.
    pub(super) fn of(old: Option<&str>, new: Option<&str>) -> Self {
        // Versions are dates.
        let has = |since: &str| [old, new].iter().flatten().all(|version| *version >= since);
        Self {
            titles: has("2025-06-18"),
            annotations: has("2025-03-26"),
            output_schema: has("2025-06-18"),
            execution: old == new,
        }
    }
}
