//! Bound on the number of files: a hostile server may name a new issuer in each response.

use std::collections::HashSet;

use super::directory::Directory;
use crate::AuthError;

/// Extension of entries.
pub(super) const ENTRY: &str = ".entry";
const LOCK: &str = ".lock";
const MAX_ENTRIES: usize = 1024;

/// Returns the lock file of an entry.
pub(super) fn lock_name(entry: &str) -> String {
    entry.trim_end_matches(ENTRY).to_owned() + LOCK
}

/// Removes the oldest entries until `name` fits, except those that another task or process has locked.
pub(super) fn make_room(directory: &Directory, name: &str) -> Result<(), AuthError> {
    let mut entries = directory.list(ENTRY)?;
    let is_new = entries.iter().all(|entry| entry.name != name);
    if !is_new || entries.len() < MAX_ENTRIES {
        return Ok(());
    }
    entries.sort_by_key(|entry| entry.modified);
    let surplus = entries.len() - MAX_ENTRIES + 1;
    for entry in entries.iter().take(surplus) {
        let lock = lock_name(&entry.name);
        let Some(held) = directory.try_lock(&lock)? else {
            continue;
        };
        directory.remove(&entry.name)?;
        directory.remove_lock(&lock, held)?;
    }
    Ok(())
}

/// Removes the locks of entries that were deleted, except those that another task or process holds.
pub(super) fn remove_left_over_locks(directory: &Directory) -> Result<(), AuthError> {
    let entries = directory.list(ENTRY)?;
    let used: HashSet<_> = entries.iter().map(|entry| lock_name(&entry.name)).collect();
    for lock in directory.list(LOCK)? {
        if used.contains(&lock.name) || !lock.is_left_over() {
            continue;
        }
        // A file that is refused here is reported when its lock is needed.
        if let Ok(Some(held)) = directory.try_lock(&lock.name) {
            directory.remove_lock(&lock.name, held)?;
        }
    }
    Ok(())
}
