//! Keys in Redis, and members of its sorted sets.

use crate::store::{StoredTask, TaskId};

/// Digits of a time of creation, so that texts have the order of numbers. Enough for 2⁵³ - 1.
const DIGITS: usize = 16;
/// Characters of an id.
const ID: usize = 22;

/// Keys of one server. The braces put them into one slot of a cluster, as scripts need it.
#[derive(Clone)]
pub(super) struct Keys {
    prefix: String,
}

impl Keys {
    pub(super) fn new(server: &str) -> Self {
        let escaped = server.replace('%', "%25").replace('{', "%7B");
        let escaped = escaped.replace('}', "%7D");
        Self {
            prefix: format!("{{treenail:{escaped}}}:"),
        }
    }

    pub(super) fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Hash of a task: `o` owner, `c` time of creation, `v` version, `s` state, `n` size of the state, `b` body.
    pub(super) fn task(&self, id: &TaskId) -> String {
        format!("{}task:{}", self.prefix, id.as_str())
    }

    /// Ids of all tasks by wake time in milliseconds.
    pub(super) fn due(&self) -> String {
        format!("{}due", self.prefix)
    }

    /// [`member`]s of all tasks, in the order of their bytes.
    pub(super) fn order(&self) -> String {
        format!("{}order", self.prefix)
    }

    /// Hash with the number of tasks (`t:` and the owner), their size (`b:` and the owner), and the size and [`member`] of each task
    /// (`i:` and the id), which are needed if Redis has evicted it.
    pub(super) fn usage(&self) -> String {
        format!("{}usage", self.prefix)
    }
}

/// Start of the members of an owner. Its length makes it unambiguous.
fn owner_prefix(owner: &str) -> String {
    format!("{}:{owner}:", owner.len())
}

/// Time of creation as a text of fixed length.
pub(super) fn created(created_ms: u64) -> String {
    format!("{created_ms:0DIGITS$}")
}

/// Entry of a task in the order of all tasks: by owner, then time of creation, then id.
fn member(task: &StoredTask) -> String {
    owner_prefix(&task.owner) + &created(task.created_ms) + task.id.as_str()
}

/// Bound of `ZRANGEBYLEX` before the first task of an owner.
pub(super) fn first_member(owner: &str) -> String {
    format!("[{}", owner_prefix(owner))
}

/// Bound of `ZRANGEBYLEX` behind a task.
pub(super) fn member_after(task: &StoredTask) -> String {
    format!("({}", member(task))
}

/// Bound of `ZRANGEBYLEX` behind an entry.
pub(super) fn behind(entry: &[u8]) -> Vec<u8> {
    [b"(", entry].concat()
}

/// Bound of `ZRANGEBYLEX` behind the last task of an owner: a colon follows all digits.
pub(super) fn last_member(owner: &str) -> String {
    format!("({}:", owner_prefix(owner))
}

/// Returns the id at the end of a member, or the id itself.
pub(super) fn id_of(member: &[u8]) -> Option<TaskId> {
    let id = member.get(member.len().checked_sub(ID)?..)?;
    std::str::from_utf8(id).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_keys_are_in_one_slot() {
        let id = TaskId::random().unwrap();
        for name in ["demo", "", "a}b", "{}", "}{", "%7D", "ä {b}"] {
            let keys = Keys::new(name);
            for key in [keys.task(&id), keys.due(), keys.order(), keys.usage()] {
                let tag = key.split(['{', '}']).nth(1).unwrap();
                assert!(
                    key.starts_with('{') && tag.starts_with("treenail:"),
                    "{key}"
                );
                assert_eq!(key.matches(['{', '}']).count(), 2, "{key}");
            }
        }
        assert_ne!(Keys::new("}").prefix(), Keys::new("%7D").prefix());
    }

    #[test]
    fn members_have_the_order_of_their_tasks() {
        let task = |created_ms| StoredTask::new(TaskId::random().unwrap(), "a:b", created_ms, []);
        let times = [0, 9, 10, 99, 1_700_000_000_000, (1 << 53) - 1];
        let members: Vec<String> = times.map(|time| member(&task(time))).into();
        assert!(members.is_sorted());
        for member in members {
            assert!(first_member("a:b")[1..] < *member && *member < last_member("a:b")[1..]);
        }
    }
}
