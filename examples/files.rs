//! Server that lists, reads and searches the text files of one directory: `files <directory>` over standard input and
//! output, `files --http 127.0.0.1:8080 <directory>` over HTTP.

#[path = "files/mod.rs"]
mod directory;

use std::env;
use std::path::Path;
use std::process::ExitCode;

use treenail::prelude::*;

use directory::{Directory, FilesError, Found, Listing, Page};

struct Files {
    directory: Directory,
}

/// Read-only access to the text files of one directory. Paths are relative to it and use `/` as the
/// separator. Hidden files and files excluded by a `.gitignore` are not listed or searched, but can be
/// read by path.
#[mcp_tool(namespace = "files")]
impl Files {
    /// List the files below a directory, sorted by path.
    #[tool(read_only, blocking, title = "List files")]
    fn list(
        &self,
        /// Directory to list, e.g. `src`
        #[arg(default)]
        path: String,
        /// Glob to filter the files: `*.rs` in any directory, or `src/**/*.toml`
        glob: Option<String>,
        /// Maximum number of files to return
        #[arg(default = 200, range = 1..=2000)]
        limit: usize,
    ) -> Result<Listing, FilesError> {
        self.directory.list(&path, glob.as_deref(), limit)
    }

    /// Read a text file, or a range of its lines.
    #[tool(read_only, blocking, title = "Read a file")]
    fn read(
        &self,
        /// Path of the file, e.g. `src/main.rs`
        path: String,
        /// First line to return, counted from 1
        #[arg(default = 1, range = 1..)]
        first_line: usize,
        /// Last line to return; defaults to the end of the file
        #[arg(range = 1..)]
        last_line: Option<usize>,
    ) -> Result<Page, FilesError> {
        self.directory.read(&path, first_line, last_line)
    }

    /// Search the lines of all text files for a regular expression.
    /// Matches are sorted by path and line.
    #[tool(read_only, blocking, title = "Search files")]
    fn search(
        &self,
        cx: &Context,
        /// Regular expression in Rust syntax that matches within one line, e.g. `fn \w+_test` or `(?i)todo`
        pattern: String,
        /// Glob to filter the files: `*.rs` in any directory, or `src/**/*.toml`
        glob: Option<String>,
        /// Maximum number of matches to return
        #[arg(default = 100, range = 1..=1000)]
        limit: usize,
    ) -> Result<Found, FilesError> {
        let stop = || cx.is_finished();
        self.directory
            .search(&pattern, glob.as_deref(), limit, stop)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let (address, directory) = match parse_arguments() {
        Ok(arguments) => arguments,
        Err(message) => return exit_with_error(2, &message),
    };
    match serve(Files { directory }, address).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => exit_with_error(1, &format!("{:#}", anyhow::Error::from(error))),
    }
}

#[expect(
    clippy::print_stderr,
    reason = "the user needs the address of the server"
)]
async fn serve(files: Files, address: Option<String>) -> treenail::Result<()> {
    let server = Server::builder("files", env!("CARGO_PKG_VERSION"))
        .mount(files)
        .build()?;
    let Some(address) = address else {
        return server.serve_stdio().await;
    };
    let http = server.bind_http(address).await?;
    eprintln!("http://{}/mcp", http.local_addr());
    http.serve().await
}

/// Parses the address for HTTP, if any, and the directory.
fn parse_arguments() -> Result<(Option<String>, Directory), String> {
    let arguments: Vec<_> = env::args_os().skip(1).collect();
    let (address, path) = match &arguments[..] {
        [path] => (None, Path::new(path)),
        [option, address, path] if option == "--http" => {
            let address = address.to_string_lossy();
            (Some(address.into_owned()), Path::new(path))
        }
        _ => return Err("usage: files [--http <address>] <directory>".to_owned()),
    };
    let directory = Directory::open(path)
        .map_err(|error| format!("cannot open the directory `{}`: {error}", path.display()))?;
    Ok((address, directory))
}

/// Prints an error to standard error, because standard output carries the protocol.
#[expect(clippy::print_stderr, reason = "the program reports its error")]
fn exit_with_error(code: u8, message: &str) -> ExitCode {
    eprintln!("files: {message}");
    ExitCode::from(code)
}
