//! Programs that open a URL or a file in the browser of the user.
//!
//! Each one receives it as one argument. No shell, no `cmd`, no PowerShell and no Explorer is in between, because they would
//! interpret its characters.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::client::urls::check_browser_url;

/// Program with the arguments before the target.
type Launcher = (&'static str, &'static [&'static str]);

#[cfg(windows)]
const LAUNCHERS: &[Launcher] = &[("rundll32.exe", &["url.dll,FileProtocolHandler"])];
#[cfg(target_os = "macos")]
const LAUNCHERS: &[Launcher] = &[("/usr/bin/open", &["--"])];
#[cfg(not(any(windows, target_os = "macos")))]
const LAUNCHERS: &[Launcher] = &[("xdg-open", &[]), ("gio", &["open"]), ("wslview", &[])];

/// Opens a URL. Returns after the program has started.
pub(super) fn open(url: &str) -> io::Result<()> {
    check_browser_url(url).map_err(|error| io::Error::other(error.to_string()))?;
    launch(url.as_ref())
}

/// Opens an HTML file. Returns after the program has started.
pub(super) fn open_file(file: &Path) -> io::Result<()> {
    // A relative path could be an option, or the URL of another scheme. Other files could be programs.
    if !file.is_absolute() || file.extension() != Some("html".as_ref()) {
        let message = "the path of the file is not absolute, or does not end with `.html`";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    launch(file.as_ref())
}

fn launch(target: &OsStr) -> io::Result<()> {
    let mut failure = io::Error::from(io::ErrorKind::NotFound);
    for launcher in LAUNCHERS {
        match command(launcher, target).spawn() {
            Ok(mut child) => {
                // The exit status is collected, so that no zombie remains.
                std::thread::spawn(move || child.wait());
                return Ok(());
            }
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

fn command((program, arguments): &Launcher, target: &OsStr) -> Command {
    let mut command = Command::new(program);
    command
        .args(*arguments)
        .arg(target)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    /// AUTH-X-08, AUTH-C-78
    #[test]
    fn a_url_is_one_argument_of_a_program_that_is_no_shell() {
        let url = "https://example.com/$(id)&calc;'x'?a=b|c";
        for launcher in LAUNCHERS {
            let command = command(launcher, url.as_ref());
            let arguments: Vec<_> = command.get_args().collect();
            assert_eq!(arguments.iter().filter(|one| ***one == *url).count(), 1);
            assert_eq!(arguments.len(), launcher.1.len() + 1);
            for shell in ["sh", "bash", "cmd", "powershell", "explorer"] {
                assert!(!launcher.0.starts_with(shell), "{launcher:?}");
            }
        }
    }

    /// AUTH-X-08
    #[test]
    fn other_texts_start_no_program() {
        for text in [
            "--help",
            "file:///etc/passwd",
            "javascript:x",
            "https://a/\nb",
            "https://a/ b",
        ] {
            assert!(open(text).is_err(), "{text}");
            assert!(open_file(Path::new(text)).is_err(), "{text}");
        }
    }
}
