//! Builds, and the program that they produce.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::process::Command;
use tokio::sync::mpsc;
use tokio::time::Instant;
use treenail::client::ServerCommand;

use super::cargo::CargoBuild;
use super::process::ProcessGroup;
use super::watch::{SourceWatch, Watched};
use crate::exit::Failure;
use crate::terminal::Terminal;

/// Maximum length of the remembered output of a failed build, in bytes.
const MAX_OUTPUT_BYTES: usize = 16 << 10;

/// Maximum number of copies of a program that run at the same time.
const MAX_COPIES: u32 = 8;

/// Pause after a failed start of a build command, which would otherwise be repeated at once if sources change all the time.
const RETRY_DELAY: Duration = Duration::from_millis(100);

/// Program of the server, with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Program {
    pub(super) path: OsString,
    pub(super) arguments: Vec<OsString>,
}

impl Program {
    /// Returns the command of a server on standard streams. It gets the environment of this program, whose place it takes in
    /// the configuration of a host.
    pub(super) fn to_server_command(&self) -> ServerCommand {
        let copy = self.runnable_copy();
        ServerCommand::new(copy.as_deref().unwrap_or(Path::new(&self.path)))
            .args(&self.arguments)
            .inherit_env()
    }

    /// Copies the program where the system locks running programs. Otherwise, the next build could not replace it.
    fn runnable_copy(&self) -> Option<PathBuf> {
        let path = Path::new(&self.path);
        if !cfg!(windows) || !path.is_absolute() {
            return None;
        }
        let name = path.file_name()?.to_string_lossy();
        let copies =
            (0..MAX_COPIES).map(|number| path.with_file_name(format!("dev-{number}-{name}")));
        // The first ones may be running.
        copies.into_iter().find(|copy| fs::copy(path, copy).is_ok())
    }
}

/// Way to build a server.
#[derive(Debug)]
pub(super) enum BuildPlan {
    Cargo(CargoBuild),
    /// A command of the user, if there is something to build.
    Command {
        build: Option<Vec<OsString>>,
        program: Program,
        watched: Watched,
    },
}

/// Outcome of a build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BuildOutcome {
    Built {
        program: Program,
        /// False if the same program has been built before.
        is_changed: bool,
    },
    /// The errors of the build.
    Failed(String),
}

/// Builder that builds again whenever sources change.
#[derive(Debug)]
pub(super) struct Builder {
    plan: BuildPlan,
    watch: SourceWatch,
    terminal: Terminal,
    /// State of the program after the last build.
    built: Option<(Program, Option<(SystemTime, u64)>)>,
    /// The running build, also after its future has been dropped.
    process: Option<ProcessGroup>,
}

impl Builder {
    /// Creates a builder. Changes of the file `trace`, which must exist, are ignored.
    pub(super) async fn new(
        mut plan: BuildPlan,
        trace: Option<&Path>,
        terminal: &Terminal,
    ) -> Result<Self, Failure> {
        let mut watched = match &mut plan {
            BuildPlan::Cargo(cargo) => cargo.watched().await,
            BuildPlan::Command { watched, .. } => watched.clone(),
        };
        watched.ignored.extend(trace.map(Path::to_owned));
        Ok(Self {
            plan,
            watch: SourceWatch::start(&watched, terminal)?,
            terminal: terminal.clone(),
            built: None,
            process: None,
        })
    }

    /// Builds until the receiver is dropped, which stops a running build.
    pub(super) async fn run(mut self, outcomes: mpsc::Sender<BuildOutcome>) {
        tokio::select! {
            () = outcomes.closed() => {}
            () = self.build_changes(&outcomes) => {}
        }
        if let Some(process) = self.process.take() {
            process.stop().await;
        }
    }

    async fn build_changes(&mut self, outcomes: &mpsc::Sender<BuildOutcome>) {
        loop {
            let outcome = self.build().await;
            if outcomes.send(outcome).await.is_err() {
                return;
            }
            let Some(changed) = self.watch.wait_for_change().await else {
                return;
            };
            self.note(&format!("{} changed", changed.display()));
            if let BuildPlan::Cargo(cargo) = &mut self.plan
                && changed.file_name().is_some_and(|name| name == "Cargo.toml")
            {
                self.watch.watch_also(&cargo.watched().await);
            }
        }
    }

    async fn build(&mut self) -> BuildOutcome {
        let started = Instant::now();
        let built = match &mut self.plan {
            BuildPlan::Cargo(cargo) => {
                let built = cargo.build(&mut self.process, &self.terminal).await;
                self.watch.watch_files(cargo.sources());
                built
            }
            BuildPlan::Command { build, program, .. } => match build {
                Some(words) => {
                    let built = run_command(words, &mut self.process, &self.terminal).await;
                    built.map(|()| program.clone())
                }
                None => Ok(program.clone()),
            },
        };
        match built {
            Ok(program) => {
                if self.plan.builds() {
                    self.note(&format!(
                        "built in {:.1} s",
                        started.elapsed().as_secs_f64()
                    ));
                }
                let is_changed = self.note_program(&program);
                BuildOutcome::Built {
                    program,
                    is_changed,
                }
            }
            Err(reason) => BuildOutcome::Failed(reason),
        }
    }

    /// Returns whether a program differs from that of the last build.
    fn note_program(&mut self, program: &Program) -> bool {
        let metadata = fs::metadata(&program.path).ok();
        let state = metadata.and_then(|it| Some((it.modified().ok()?, it.len())));
        let built = Some((program.clone(), state));
        // A program without a build is an interpreter of changed sources.
        let is_same = self.built == built && matches!(self.plan, BuildPlan::Cargo(_));
        self.built = built;
        !is_same
    }

    fn note(&self, text: &str) {
        self.terminal.print_note(&format!("treenail dev: {text}"));
    }
}

impl BuildPlan {
    fn builds(&self) -> bool {
        !matches!(self, Self::Command { build: None, .. })
    }
}

/// Runs a build command. Returns its output if it fails.
async fn run_command(
    words: &[OsString],
    running: &mut Option<ProcessGroup>,
    terminal: &Terminal,
) -> Result<(), String> {
    let (program, arguments) = words.split_first().ok_or("the build command is empty")?;
    let name = Path::new(program).display();
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let process = match ProcessGroup::spawn(&mut command) {
        Ok(process) => running.insert(process),
        Err(error) => {
            tokio::time::sleep(RETRY_DELAY).await;
            let reason = format!("`{name}` cannot be started: {error}");
            terminal.print_note(&reason);
            return Err(reason);
        }
    };
    let (stdout, stderr) = process.take_output();
    let (mut output, mut errors) = (String::new(), String::new());
    let reading = async {
        tokio::join!(
            pass_lines(stdout, &mut output, terminal),
            pass_lines(stderr, &mut errors, terminal),
        );
    };
    let status = process.wait_with_output(reading).await;
    if let Some(process) = running.take() {
        process.release();
    }
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{output}{errors}`{name}` failed: {status}")),
        Err(error) => Err(format!("`{name}`: {error}")),
    }
}

/// Prints lines of a build to standard error, and appends them to `text`.
async fn pass_lines(
    stream: Option<impl AsyncRead + Unpin>,
    text: &mut String,
    terminal: &Terminal,
) {
    let Some(stream) = stream else { return };
    let mut lines = BufReader::new(stream);
    let mut line = Vec::new();
    while lines
        .read_until(b'\n', &mut line)
        .await
        .is_ok_and(|count| count > 0)
    {
        let shown = String::from_utf8_lossy(&line);
        let shown = shown.trim_end();
        terminal.print_message(shown);
        push_limited(text, shown);
        line.clear();
    }
}

/// Appends a line, unless the text is long already.
pub(super) fn push_limited(text: &mut String, line: &str) {
    if text.len() + line.len() < MAX_OUTPUT_BYTES {
        text.push_str(line);
        text.push('\n');
    }
}
