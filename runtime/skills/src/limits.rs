//! Bounds of skills.

/// Maximum number of files of a skill, which is that of the protocol.
pub(crate) const MAX_FILES: usize = 512;

/// Maximum size of all files of a skill, which is that of the protocol.
pub(crate) const MAX_BYTES: usize = 16 * 1024 * 1024;

/// Maximum number of skills of a server.
pub(crate) const MAX_SKILLS: usize = 1_000;

/// Maximum number of files and folders below the folder of the skills.
const MAX_ENTRIES: usize = 65_536;

/// Maximum depth of the folders below the folder of the skills.
pub(crate) const MAX_DEPTH: usize = 16;

/// Maximum size of all files of a server.
const MAX_TOTAL_BYTES: usize = 256 * 1024 * 1024;

/// Maximum length of a path below the folder of the skills, in bytes.
pub(crate) const MAX_PATH: usize = 1024;

/// Checks the number of files and folders of a server, and the size of all files.
pub(crate) fn check_total(entries: usize, bytes: usize) -> Result<(), String> {
    if entries > MAX_ENTRIES {
        return Err(format!(
            "there are more than {MAX_ENTRIES} files and folders"
        ));
    }
    if bytes > MAX_TOTAL_BYTES {
        return Err(format!(
            "the files of all skills have more than {MAX_TOTAL_BYTES} bytes"
        ));
    }
    Ok(())
}
