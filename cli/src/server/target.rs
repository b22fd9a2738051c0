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

/// Returns the `file:` URI of an absolute path. Paths of Windows may have the verbatim form, and a host in place of a drive.
pub(super) fn file_uri(path: &Path) -> String {
    let text = path.to_string_lossy().replace('\\', "/");
    let text = match (text.strip_prefix("//?/UNC/"), text.strip_prefix("//?/")) {
        (Some(share), _) => format!("//{share}"),
        (None, Some(drive)) => format!("///{drive}"),
        (None, None) if text.starts_with("//") => text,
        (None, None) => format!("//{}{text}", if text.starts_with('/') { "" } else { "/" }),
    };
    let mut uri = "file:".to_owned();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' | b':' => {
                uri.push(char::from(byte));
            }
            _ => uri.extend(format!("%{byte:02X}").chars()),
        }
    }
    uri
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

    #[test]
    fn paths_are_percent_encoded() {
        for (path, expected) in [
            ("/a b/ü.txt", "file:///a%20b/%C3%BC.txt"),
            (r"C:\a", "file:///C:/a"),
            (r"\\?\C:\a", "file:///C:/a"),
            (r"\\host\share\a", "file://host/share/a"),
            (r"\\?\UNC\host\share\a", "file://host/share/a"),
        ] {
            assert_eq!(file_uri(Path::new(path)), expected, "{path}");
        }
    }
}
