//! Guard against a proxy that starts itself, by way of its own configuration file.

use std::env;
use std::path::{Path, PathBuf};

use crate::exit::Failure;

/// Variable of the servers of a proxy: its configuration files and those of the proxies above it, one in each line.
const VARIABLE: &str = "TREENAIL_PROXY_CONFIGS";

/// Returns the variable for the servers of a proxy with these configuration files, if there is any file.
///
/// # Errors
///
/// If a proxy above this one has one of the files: each proxy would start the next.
pub(super) fn nested_files(files: &[PathBuf]) -> Result<Option<(String, String)>, Failure> {
    let above = env::var(VARIABLE).unwrap_or_default();
    let mut all = above.clone();
    for file in files {
        let name = canonical_name(file);
        if above.lines().any(|above| above == name) {
            let message = format!(
                "a proxy with the configuration file `{}` has started this one, which would start itself again",
                file.display()
            );
            return Err(Failure::usage(message).note(
                "the file of a proxy cannot contain the proxy; list its servers in another file",
            ));
        }
        all.push_str(&name);
        all.push('\n');
    }
    Ok((!all.is_empty()).then(|| (VARIABLE.to_owned(), all)))
}

/// Returns the name that a file has in all working directories. A file that does not exist is reported when it is read.
fn canonical_name(file: &Path) -> String {
    let full = file.canonicalize();
    full.as_deref()
        .unwrap_or(file)
        .to_string_lossy()
        .into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_given_twice_is_not_above_itself() {
        let file = PathBuf::from("a.json");
        let variable = nested_files(&[file.clone(), file]).expect("no proxy is above this one");
        let (_, names) = variable.expect("there is a file");
        assert_eq!(names, "a.json\na.json\n");
    }
}
