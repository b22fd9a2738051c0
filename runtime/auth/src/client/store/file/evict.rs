//! Bound on the number of entries: a hostile server may name a new issuer in each response.

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
