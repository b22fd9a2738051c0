//! Server target from the command line.

use std::env;
use std::ffi::OsString;
use std::path::Path;

use crate::args::{HeaderArgs, ServerArgs};
use crate::exit::Failure;

/// Program to start, or URL to connect to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Target {
    Program {
        program: OsString,
        arguments: Vec<OsString>,
    },
    Url {
        url: String,
        headers: Vec<(String, String)>,
    },
}

impl Target {
    pub(super) fn from_args(args: &ServerArgs) -> Result<Self, Failure> {
        let target = &args.target;
        if let Some(url) = &target.url {
            let headers = parse_headers(&args.headers)?;
            return Ok(Self::Url {
                url: url.clone(),
                headers,
            });
        }
        let mut words = match &target.command {
            Some(command) => split_command(command)?,
            None => target.program.clone(),
        }
        .into_iter();
        let program = words
            .next()
            .ok_or_else(|| Failure::usage("--command is empty"))?;
        Ok(Self::Program {
            program,
            arguments: words.collect(),
        })
    }
}

/// Splits a command line by the quoting rules of a shell. No shell is started.
fn split_command(command: &str) -> Result<Vec<OsString>, Failure> {
    let words = shlex::split(command).ok_or_else(|| {
        Failure::usage(format!("--command `{command}` has an unterminated quote"))
    })?;
    Ok(words.into_iter().map(OsString::from).collect())
}

fn parse_headers(args: &HeaderArgs) -> Result<Vec<(String, String)>, Failure> {
    let plain = args.plain.iter().map(|header| {
        let (name, value) = header.split_once(':').ok_or_else(|| {
            Failure::usage(format!(
                "invalid value `{header}` for --header: expected `Name: value`"
            ))
        })?;
        Ok((name.trim().to_owned(), value.trim().to_owned()))
    });
    let from_env = args.from_env.iter().map(|header| {
        let (name, variable) = header.split_once('=').ok_or_else(|| {
            Failure::usage(format!(
                "invalid value `{header}` for --header-env: expected `Name=VARIABLE`"
            ))
        })?;
        let value = env::var(variable).map_err(|error| {
            Failure::usage(format!(
                "environment variable `{variable}` for --header-env: {error}"
            ))
        })?;
        Ok((name.trim().to_owned(), value))
    });
    plain.chain(from_env).collect()
}

/// Returns the `file:` URI of an absolute path. Names on Unix are bytes, and may contain a backslash.
pub(super) fn file_uri(path: &Path) -> String {
    let bytes = path.as_os_str().as_encoded_bytes();
    if cfg!(windows) {
        windows_uri(bytes)
    } else {
        format!("file://{}", percent_encoded(bytes.iter().copied()))
    }
}

/// Returns the URI of a path of Windows, which may have the verbatim form, and a host in place of a drive.
fn windows_uri(path: &[u8]) -> String {
    let slashes = path
        .iter()
        .map(|byte| if *byte == b'\\' { b'/' } else { *byte });
    let text = percent_encoded(slashes);
    // The verbatim form starts with `//?/`.
    let rest = text.strip_prefix("//%3F/");
    match (rest.and_then(|rest| rest.strip_prefix("UNC/")), rest) {
        (Some(share), _) => format!("file://{share}"),
        (None, Some(drive)) => format!("file:///{drive}"),
        (None, None) if text.starts_with("//") => format!("file:{text}"),
        (None, None) => format!("file:///{text}"),
    }
}

fn percent_encoded(bytes: impl Iterator<Item = u8>) -> String {
    let mut text = String::new();
    for byte in bytes {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' | b':' => {
                text.push(char::from(byte));
            }
            _ => text.extend(format!("%{byte:02X}").chars()),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_split_like_in_a_shell() {
        let words = split_command(r#"npx -y "my server" 'a b' c\ d"#).unwrap();
        assert_eq!(words, ["npx", "-y", "my server", "a b", "c d"]);
        assert!(split_command("npx 'a").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn the_bytes_of_paths_are_percent_encoded() {
        use std::os::unix::ffi::OsStrExt as _;

        for (path, expected) in [
            ("/a b/ü.txt".as_bytes(), "file:///a%20b/%C3%BC.txt"),
            (br"/a\b", "file:///a%5Cb"),
            (b"/x\xff", "file:///x%FF"),
        ] {
            let path = Path::new(std::ffi::OsStr::from_bytes(path));
            assert_eq!(file_uri(path), expected, "{path:?}");
        }
    }

    #[test]
    fn paths_of_windows_have_a_drive_or_a_host() {
        for (path, expected) in [
            (r"C:\a b", "file:///C:/a%20b"),
            (r"C:\a", "file:///C:/a"),
            (r"\\?\C:\a", "file:///C:/a"),
            (r"\\host\share\a", "file://host/share/a"),
            (r"\\?\UNC\host\share\a", "file://host/share/a"),
        ] {
            assert_eq!(windows_uri(path.as_bytes()), expected, "{path}");
        }
    }
}
