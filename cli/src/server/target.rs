//! What the command line says to connect to.

use std::env;
use std::ffi::OsString;
use std::path::Path;

use crate::args::{HeaderArgs, ServerArgs};
use crate::exit::Failure;

/// What is connected to.
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
    pub(super) fn of(args: &ServerArgs) -> Result<Self, Failure> {
        let target = &args.target;
        if let Some(url) = &target.url {
            let headers = headers(&args.headers)?;
            return Ok(Self::Url {
                url: url.clone(),
                headers,
            });
        }
        let mut words = match &target.command {
            Some(command) => words(command)?,
            None => target.program.clone(),
        }
        .into_iter();
        let program = words
            .next()
            .ok_or_else(|| Failure::usage("--command names no program"))?;
        Ok(Self::Program {
            program,
            arguments: words.collect(),
        })
    }
}

/// The words of a command, as a shell takes them apart. No shell is started.
fn words(command: &str) -> Result<Vec<OsString>, Failure> {
    let words = shlex::split(command).ok_or_else(|| {
        Failure::usage(format!(
            "--command `{command}` has a quote that does not end"
        ))
    })?;
    Ok(words.into_iter().map(OsString::from).collect())
}

fn headers(args: &HeaderArgs) -> Result<Vec<(String, String)>, Failure> {
    let plain = args.plain.iter().map(|header| {
        let (name, value) = header.split_once(':').ok_or_else(|| {
            Failure::usage(format!("--header `{header}` is not like `Name: value`"))
        })?;
        Ok((name.trim().to_owned(), value.trim().to_owned()))
    });
    let from_env = args.from_env.iter().map(|header| {
        let (name, variable) = header.split_once('=').ok_or_else(|| {
            Failure::usage(format!(
                "--header-env `{header}` is not like `Name=VARIABLE`"
            ))
        })?;
        let value = env::var(variable).map_err(|error| {
            Failure::usage(format!(
                "the variable `{variable}` for --header-env: {error}"
            ))
        })?;
        Ok((name.trim().to_owned(), value))
    });
    plain.chain(from_env).collect()
}

/// The URI of a path, which is absolute.
pub(super) fn file_uri(path: &Path) -> String {
    let mut uri = "file://".to_owned();
    let text = path.to_string_lossy().replace('\\', "/");
    if !text.starts_with('/') {
        uri.push('/');
    }
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
    fn commands_are_taken_apart_as_shells_do() {
        let words = words(r#"npx -y "my server" 'a b' c\ d"#).unwrap();
        assert_eq!(words, ["npx", "-y", "my server", "a b", "c d"]);
        assert!(super::words("npx 'a").is_err());
    }

    #[test]
    fn paths_become_uris() {
        assert_eq!(
            file_uri(Path::new("/a b/ü.txt")),
            "file:///a%20b/%C3%BC.txt"
        );
    }
}
