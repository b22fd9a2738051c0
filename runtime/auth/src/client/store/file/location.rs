//! Directory of a store.

use std::path::PathBuf;

use crate::AuthError;

/// Folder within the data directory of the program, so that its mode concerns no other data of the program.
const FOLDER: &str = "authorization";

/// Checks the name of a program.
pub(super) fn check_name(name: &str) -> Result<(), AuthError> {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let is_valid = (1..=64).contains(&name.len()) && name.bytes().all(is_allowed);
    if is_valid && !name.starts_with('.') {
        return Ok(());
    }
    let expected = "1 to 64 ASCII letters, digits, `-`, `_` and `.`, the first no `.`";
    let reason = format!("the name of a token store is {expected}");
    Err(AuthError::invalid(reason))
}

/// Returns the default directory of a program.
pub(super) fn default_directory(name: &str) -> Result<PathBuf, AuthError> {
    let data = data_directory().ok_or_else(|| {
        let reason = format!(
            "the data directory is unknown: set {VARIABLES}, or choose a directory with `FileStoreBuilder::directory`"
        );
        AuthError::Store(reason.into())
    })?;
    Ok(data.join(name).join(FOLDER))
}

#[cfg(windows)]
const VARIABLES: &str = "`LOCALAPPDATA`";
#[cfg(target_os = "macos")]
const VARIABLES: &str = "`HOME`";
#[cfg(not(any(windows, target_os = "macos")))]
const VARIABLES: &str = "`HOME` or `XDG_DATA_HOME`";

#[cfg(windows)]
fn data_directory() -> Option<PathBuf> {
    variable("LOCALAPPDATA")
}

#[cfg(target_os = "macos")]
fn data_directory() -> Option<PathBuf> {
    variable("HOME").map(|home| home.join("Library/Application Support"))
}

#[cfg(not(any(windows, target_os = "macos")))]
fn data_directory() -> Option<PathBuf> {
    let fallback = || variable("HOME").map(|home| home.join(".local/share"));
    variable("XDG_DATA_HOME").or_else(fallback)
}

/// Returns an environment variable with an absolute path. Relative ones are ignored, as the XDG specification demands.
fn variable(name: &str) -> Option<PathBuf> {
    let path = PathBuf::from(std::env::var_os(name)?);
    path.is_absolute().then_some(path)
}
