//! Templates of projects. They are files in `templates/`, embedded in the program.

use clap::ValueEnum;

use super::versions::VERSIONS;

/// Kind of project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Template {
    /// Server over standard input and output
    Stdio,
    /// Server over HTTP in axum, with health checks
    Http,
    /// Client of a server
    Client,
    /// Language model with tools
    Agent,
    /// Server and client with a common contract
    Contract,
}

/// Path in the project, and text with placeholders.
type File = (&'static str, &'static str);

/// Embeds a file of `templates/`.
macro_rules! file {
    ($path:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/templates/", $path))
    };
}

/// Files of all projects.
const COMMON: [File; 4] = [
    (".github/workflows/ci.yml", file!("common/ci.yml")),
    (".gitignore", file!("common/gitignore")),
    (".dockerignore", file!("common/dockerignore")),
    ("AGENTS.md", file!("common/AGENTS.md")),
];

const DOCKERFILE: File = ("Dockerfile", file!("common/Dockerfile"));

// The manifests have another name here, because Cargo packages no folder that contains a `Cargo.toml`.
const STDIO: &[File] = &[
    DOCKERFILE,
    ("Cargo.toml", file!("stdio/Cargo.toml.in")),
    ("README.md", file!("stdio/README.md")),
    ("src/main.rs", file!("stdio/src/main.rs")),
    ("src/tools.rs", file!("stdio/src/tools.rs")),
    ("src/tests.rs", file!("stdio/src/tests.rs")),
];

const HTTP: &[File] = &[
    ("Dockerfile", file!("http/Dockerfile")),
    ("Cargo.toml", file!("http/Cargo.toml.in")),
    ("README.md", file!("http/README.md")),
    ("src/main.rs", file!("http/src/main.rs")),
    ("src/tools.rs", file!("stdio/src/tools.rs")),
    ("src/tests.rs", file!("http/src/tests.rs")),
];

const CLIENT: &[File] = &[
    DOCKERFILE,
    ("Cargo.toml", file!("client/Cargo.toml.in")),
    ("README.md", file!("client/README.md")),
    ("src/main.rs", file!("client/src/main.rs")),
    ("src/tests.rs", file!("client/src/tests.rs")),
];

const AGENT: &[File] = &[
    DOCKERFILE,
    ("Cargo.toml", file!("agent/Cargo.toml.in")),
    ("README.md", file!("agent/README.md")),
    ("src/main.rs", file!("agent/src/main.rs")),
    ("src/tests.rs", file!("agent/src/tests.rs")),
];

const CONTRACT: &[File] = &[
    DOCKERFILE,
    ("Cargo.toml", file!("contract/Cargo.toml.in")),
    ("README.md", file!("contract/README.md")),
    ("api/Cargo.toml", file!("contract/api/Cargo.toml.in")),
    ("api/src/lib.rs", file!("contract/api/src/lib.rs")),
    ("server/Cargo.toml", file!("contract/server/Cargo.toml.in")),
    ("server/src/main.rs", file!("contract/server/src/main.rs")),
    ("server/src/tests.rs", file!("contract/server/src/tests.rs")),
    ("client/Cargo.toml", file!("contract/client/Cargo.toml.in")),
    ("client/src/main.rs", file!("contract/client/src/main.rs")),
    ("client/src/tests.rs", file!("contract/client/src/tests.rs")),
];

impl Template {
    pub(super) fn description(self) -> &'static str {
        match self {
            Self::Stdio => "a server over standard input and output",
            Self::Http => "a server over HTTP",
            Self::Client => "a client",
            Self::Agent => "an agent",
            Self::Contract => "a server and a client with a common contract",
        }
    }

    fn files(self) -> &'static [File] {
        match self {
            Self::Stdio => STDIO,
            Self::Http => HTTP,
            Self::Client => CLIENT,
            Self::Agent => AGENT,
            Self::Contract => CONTRACT,
        }
    }

    /// Returns the files of a project with their text. `dependency` is the source of Treenail.
    pub(super) fn render(self, name: &str, dependency: &str) -> Vec<(&'static str, String)> {
        let program = match self {
            Self::Contract => format!("{name}-server"),
            _ => name.to_owned(),
        };
        let mut values = vec![
            ("name", name),
            ("program", &program),
            ("treenail", dependency),
        ];
        values.extend(VERSIONS);
        let files = COMMON.iter().chain(self.files());
        files
            .map(|(path, text)| (*path, fill(text, &values)))
            .collect()
    }
}

/// Replaces placeholders such as `{{name}}`.
fn fill(text: &str, values: &[(&str, &str)]) -> String {
    let mut text = text.to_owned();
    for (name, value) in values {
        text = text.replace(&format!("{{{{{name}}}}}"), value);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_placeholders_are_filled() {
        for template in Template::value_variants() {
            for (path, text) in template.render("calculator", "version = \"1\"") {
                assert!(!text.contains("{{"), "{path}: {text}");
                assert!(text.ends_with('\n'), "{path}");
            }
        }
    }
}
