//! Watch of source files. `rules` decides which files count.

mod rules;

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use notify::event::{AccessKind, EventKind, MetadataKind, ModifyKind, RenameMode};
use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout, timeout_at};

pub(super) use self::rules::CARGO_EXTENSIONS;
use self::rules::{Contents, LANGUAGE_EXTENSIONS, Rules};
use crate::exit::{Exit, Failure};
use crate::terminal::Terminal;

/// A change is complete when nothing has changed for this time. Editors write a file in several steps.
const QUIET: Duration = Duration::from_millis(100);

/// Maximum delay of a build while files change all the time.
const MAX_DELAY: Duration = Duration::from_secs(2);

/// Maximum number of watched directories, for a tree that is no source tree.
const MAX_DIRECTORIES: usize = 20_000;

/// Files to watch.
#[derive(Clone, Debug, Default)]
pub(super) struct Watched {
    /// Directories in which files with one of the `extensions` count.
    pub(super) directories: Vec<PathBuf>,
    pub(super) extensions: &'static [&'static str],
    /// Files, and directories in which all files count.
    pub(super) paths: Vec<PathBuf>,
    /// Directories and files that are not watched.
    pub(super) ignored: Vec<PathBuf>,
}

impl Watched {
    /// Returns the sources of a server without Cargo: the given paths. Without these, the sources in the working directory, and
    /// `program` if it is a file. A server that writes other files there does not restart itself.
    pub(super) fn without_cargo(given: &[PathBuf], program: Option<&Path>) -> Self {
        if !given.is_empty() {
            return Self {
                paths: given.to_vec(),
                ..Self::default()
            };
        }
        Self {
            directories: vec![PathBuf::from(".")],
            extensions: &LANGUAGE_EXTENSIONS,
            paths: program
                .filter(|it| it.is_file())
                .map(Path::to_owned)
                .into_iter()
                .collect(),
            ignored: Vec::new(),
        }
    }
}

/// Change of a path.
struct Change {
    path: PathBuf,
    /// The path was removed, or has another name now. Another one may have it already.
    is_removal: bool,
}

/// Watch of source files.
#[derive(Debug)]
pub(super) struct SourceWatch {
    watcher: RecommendedWatcher,
    changes: mpsc::UnboundedReceiver<Change>,
    rules: Rules,
    directories: HashSet<PathBuf>,
    contents: Contents,
    terminal: Terminal,
    /// The limit has been reported.
    is_full: bool,
    /// A changed file that was seen but not returned.
    seen: Option<PathBuf>,
}

impl SourceWatch {
    pub(super) fn start(sources: &Watched, terminal: &Terminal) -> Result<Self, Failure> {
        let (sender, changes) = mpsc::unbounded_channel();
        let watcher = notify::recommended_watcher(move |event| send_paths(event, &sender));
        let watcher = watcher.map_err(|error| {
            Failure::new(Exit::Io, format!("source files cannot be watched: {error}"))
        })?;
        let mut watch = Self {
            watcher,
            changes,
            rules: Rules::default(),
            directories: HashSet::new(),
            contents: Contents::default(),
            terminal: terminal.clone(),
            is_full: false,
            seen: None,
        };
        for path in &sources.paths {
            let exists = fs::metadata(path);
            exists.map_err(Failure::io(format!("`{}`", path.display())))?;
        }
        watch.watch_also(sources);
        Ok(watch)
    }

    /// Watches further files.
    pub(super) fn watch_also(&mut self, watched: &Watched) {
        let absolute = |paths: &[PathBuf]| -> Vec<PathBuf> {
            paths
                .iter()
                .filter_map(|path| path.canonicalize().ok())
                .collect()
        };
        self.rules.extensions = watched.extensions;
        self.rules.ignored.extend(absolute(&watched.ignored));
        self.rules.paths.extend(absolute(&watched.paths));
        for path in absolute(&watched.directories)
            .iter()
            .chain(&absolute(&watched.paths))
        {
            if path.is_dir() {
                self.watch_tree(path);
            } else if let Some(parent) = path.parent() {
                // Editors replace files, which would end the watch of the file itself.
                self.watch_directory(parent);
            }
        }
    }

    /// Replaces the files that the last build has read.
    pub(super) fn watch_files(&mut self, files: &[PathBuf]) {
        self.rules.files = files.iter().cloned().collect();
        for file in files {
            if let Some(parent) = file.parent() {
                self.watch_directory(parent);
            }
        }
    }

    /// Waits for a change, and until no file changes any more. Returns the first changed file, or `None` if there will be no more
    /// changes.
    pub(super) async fn wait_for_change(&mut self) -> Option<PathBuf> {
        while self.seen.is_none() {
            let change = self.changes.recv().await?;
            self.see(change);
        }
        let end = Instant::now() + MAX_DELAY;
        while let Ok(Ok(Some(change))) = timeout_at(end, timeout(QUIET, self.changes.recv())).await
        {
            self.see(change);
        }
        self.seen.take()
    }

    /// Remembers a change that counts. A manifest takes precedence, because it may add directories.
    fn see(&mut self, change: Change) {
        let Change { path, is_removal } = change;
        if is_removal || !path.exists() {
            self.forget(&path);
        }
        if path.is_dir() && !self.rules.is_ignored(&path) {
            // Files may have been written before the watch.
            let found = self.watch_tree(&path);
            self.seen = self.seen.take().or(found);
            return;
        }
        if !self.rules.counts(&path) || !self.contents.has_changed(&path) {
            return;
        }
        let is_manifest = path.file_name().is_some_and(|name| name == "Cargo.toml");
        if self.seen.is_none() || is_manifest {
            self.seen = Some(path);
        }
    }

    /// Forgets a directory that was removed, and those below it. They are watched again if they return, or have returned already.
    fn forget(&mut self, path: &Path) {
        if self.directories.remove(path) {
            self.directories
                .retain(|directory| !directory.starts_with(path));
        }
    }

    /// Watches a directory and those below it. Returns a file that counts and was not watched before.
    fn watch_tree(&mut self, root: &Path) -> Option<PathBuf> {
        let mut found = None;
        let mut rest = vec![root.to_owned()];
        while let Some(directory) = rest.pop() {
            let is_new = self.watch_directory(&directory);
            // The directory may have been removed since.
            let entries = fs::read_dir(&directory).into_iter().flatten().flatten();
            for entry in entries {
                let (path, kind) = (entry.path(), entry.file_type());
                let is_directory = kind.is_ok_and(|kind| kind.is_dir());
                if is_directory && !self.rules.is_ignored(&path) {
                    rest.push(path);
                } else if !is_directory && is_new && self.rules.counts(&path) {
                    found = Some(path);
                }
            }
        }
        found
    }

    /// Watches the files of one directory. Returns false if they are watched already.
    fn watch_directory(&mut self, directory: &Path) -> bool {
        if self.directories.len() >= MAX_DIRECTORIES {
            if !std::mem::replace(&mut self.is_full, true) {
                self.terminal.print_note(&format!(
                    "more than {MAX_DIRECTORIES} directories; the rest is not watched"
                ));
            }
            return false;
        }
        if self.directories.contains(directory) {
            return false;
        }
        match self.watcher.watch(directory, RecursiveMode::NonRecursive) {
            Ok(()) => self.directories.insert(directory.to_owned()),
            Err(error) => {
                let name = directory.display();
                self.terminal
                    .print_note(&format!("`{name}` is not watched: {error}"));
                false
            }
        }
    }
}

/// Passes on the paths of a change. Reading a file is none.
fn send_paths(event: notify::Result<notify::Event>, sender: &mpsc::UnboundedSender<Change>) {
    let Ok(event) = event else { return };
    let is_change = match event.kind {
        EventKind::Access(AccessKind::Close(notify::event::AccessMode::Write)) => true,
        EventKind::Access(_)
        | EventKind::Modify(ModifyKind::Metadata(MetadataKind::AccessTime)) => false,
        _ => true,
    };
    let is_removal = matches!(
        event.kind,
        EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(RenameMode::From))
    );
    if is_change {
        for path in event.paths {
            // The watch has ended.
            let _ = sender.send(Change { path, is_removal });
        }
    }
}
