//! Program of a server, and its default name.

use std::path::{Path, PathBuf, absolute};
use std::{env, fs};

use crate::exit::Failure;
use crate::hosts::Scope;

/// Programs that run others, whose names are no names of servers.
const RUNNERS: [&str; 14] = [
    "bash", "bun", "bunx", "cargo", "deno", "docker", "node", "npx", "podman", "python", "python3",
    "sh", "uv", "uvx",
];

/// Returns the absolute path of a program, because hosts use another directory and another `PATH`.
///
/// In the configuration of a project, a program without a path remains as it is: other users have it elsewhere.
pub(super) fn absolute_program(program: &str, scope: Scope) -> Result<String, Failure> {
    let is_name = Path::new(program).components().count() == 1 && !program.contains(['/', '\\']);
    let found = if is_name {
        find_in_path(program)
    } else {
        Some(PathBuf::from(program))
    };
    let missing = || {
        let failure = Failure::usage(format!("there is no program `{program}`"));
        if is_name {
            return failure.note("it is not in a directory of PATH; give its path");
        }
        failure.note("build it first, for example with `cargo build --release`")
    };
    let found = found.ok_or_else(missing)?;
    let path = absolute(&found).map_err(|_| missing())?;
    let path = [path.clone(), with_suffix(&path)]
        .into_iter()
        .find(|path| path.is_file());
    let path = path.ok_or_else(missing)?;
    if !is_executable(&path) {
        let path = path.display();
        return Err(Failure::usage(format!("`{path}` is not executable")));
    }
    if is_name && scope == Scope::Project {
        return Ok(program.to_owned());
    }
    path.to_str().map(str::to_owned).ok_or_else(|| {
        let path = path.display();
        Failure::usage(format!("`{path}` is not UTF-8, and cannot be configured"))
    })
}

/// Returns notes about the arguments that are relative paths, because hosts use another directory.
pub(super) fn notes_on_paths(args: &[String]) -> impl Iterator<Item = String> {
    let relative = args.iter().filter(|arg| Path::new(arg).is_relative());
    relative.filter_map(|arg| {
        let path = absolute(arg).ok().filter(|path| path.exists())?;
        let path = path.display();
        Some(format!(
            "`{arg}` is a relative path, but hosts start the server in another directory; if it is meant as a path, give `{path}`"
        ))
    })
}

/// Returns the default name of a server: that of its program.
pub(super) fn name_of_program(program: &str) -> Result<String, Failure> {
    let path = Path::new(program);
    let is_windows_program = path.extension().is_some_and(|extension| extension == "exe");
    let name = if is_windows_program {
        path.file_stem()
    } else {
        path.file_name()
    };
    let name = name.unwrap_or_default().to_string_lossy().into_owned();
    if RUNNERS.contains(&name.as_str()) {
        let message = format!("`{name}` runs other programs, so the server needs a name");
        return Err(Failure::usage(message).note("give one with --name"));
    }
    Ok(name)
}

/// Returns the default name of a server with a URL: its host, with hyphens.
pub(super) fn name_of_url(url: &str) -> Result<String, Failure> {
    let rest = url
        .strip_prefix("https://")
        .or_else(|| url.strip_prefix("http://"));
    let authority = rest.and_then(|rest| rest.split(['/', '?', '#']).next());
    let authority = authority
        .filter(|authority| !authority.is_empty())
        .ok_or_else(|| {
            Failure::usage(format!("`{url}` is not an http or https URL"))
                .note("give a command after `--`, for example `treenail install -- ./my-server`")
        })?;
    if authority.contains('@') {
        return Err(Failure::usage("the URL contains credentials")
            .note("use --header with a variable of the host instead"));
    }
    let name = authority.replace(['.', ':', '[', ']'], "-");
    Ok(name.trim_matches('-').to_owned())
}

/// Replaces the variables of a host, such as `${TOKEN}`, with a digit, which may be in any part of a URL.
pub(super) fn without_variables(url: &str) -> String {
    let mut parts = url.split("${");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| match part.split_once('}') {
        Some((_, rest)) => format!("{text}1{rest}"),
        None => format!("{text}${{{part}"),
    })
}

fn find_in_path(name: &str) -> Option<PathBuf> {
    let folders = env::var_os("PATH")?;
    let mut files = env::split_paths(&folders).flat_map(|folder| {
        let suffixes = suffixes(name, cfg!(windows)).iter();
        suffixes.map(move |suffix| folder.join(format!("{name}{suffix}")))
    });
    files.find(|file| file.is_file() && is_executable(file))
}

/// Returns the suffixes of the files that the name of a program refers to. On Windows, npm installs `npx.cmd` beside a file `npx`
/// that only other shells can start.
fn suffixes(name: &str, is_windows: bool) -> &'static [&'static str] {
    if is_windows && !name.contains('.') {
        return &[".exe", ".cmd", ".bat"];
    }
    &[""]
}

/// Appends the suffix of programs, `.exe` on Windows.
fn with_suffix(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(env::consts::EXE_SUFFIX);
    name.into()
}

#[cfg(unix)]
fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(file).is_ok_and(|metadata| metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(file: &Path) -> bool {
    fs::metadata(file).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_on_windows_is_that_of_a_program_or_a_script() {
        assert_eq!(suffixes("npx", true), [".exe", ".cmd", ".bat"]);
        assert_eq!(suffixes("npx.cmd", true), [""]);
        assert_eq!(suffixes("npx", false), [""]);
    }
}
