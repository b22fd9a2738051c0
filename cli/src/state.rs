//! Directory of the user for the state of this program: tickets of tasks, and locks.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::exit::{Exit, Failure};

/// Returns the directory, which may not exist yet.
pub(crate) fn state_folder() -> Result<PathBuf, Failure> {
    let variable = |name: &str| {
        let value: Option<OsString> = std::env::var_os(name);
        value.map(PathBuf::from).filter(|path| path.is_absolute())
    };
    let base = if cfg!(windows) {
        variable("LOCALAPPDATA")
    } else {
        let home = || variable("HOME").map(|home| home.join(".local/state"));
        variable("XDG_STATE_HOME").or_else(home)
    };
    let base = base.ok_or_else(|| {
        let variable = if cfg!(windows) {
            "LOCALAPPDATA"
        } else {
            "HOME"
        };
        let message = format!(
            "there is no directory for the state of this program: the variable `{variable}` is not set"
        );
        Failure::new(Exit::Io, message)
    })?;
    Ok(base.join("treenail"))
}
