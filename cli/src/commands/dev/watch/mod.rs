//! Watch of source files. `rules` decides which files count.

mod rules;

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use notify::event::{AccessKind, EventKind, MetadataKind, ModifyKind};
use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout, timeout_at};

use self::rules::{Contents, Rules};
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
    /// Directories of Cargo packages, in which only sources count.
    pub(super) directories: Vec<PathBuf>,
    /// Files, and directories in which all files count.
    pub(super) paths: Vec<PathBuf>,
    /// Directories that are not watched.
    pub(super) ignored: Vec<PathBuf>,
}

/// Watch of source files.
#[derive(Debug)]
pub(super) struct SourceWatch {
    watcher: RecommendedWatcher,
    changes: mpsc::UnboundedReceiver<PathBuf>,
    rules: Rules,
    directories: HashSet<PathBuf>,
    contents: Contents,
    terminal: Terminal,
    /// The limit has been reported.
    is_full: bool,
    /// A change that was seen but not returned.
    seen: Option<PathBuf>,
}

/// Passes on the paths of a change. Reading a file is none.
fn send_paths(event: notify::Result<notify::Event>, sender: &mpsc::UnboundedSender<PathBuf>) {
    let Ok(event) = event else { return };
    let is_change = match event.kind {
        EventKind::Access(AccessKind::Close(notify::event::AccessMode::Write)) => true,
        EventKind::Access(_)
        | EventKind::Modify(ModifyKind::Metadata(MetadataKind::AccessTime)) => false,
        _ => true,
    };
    if is_change {
        for path in event.paths {
            // The watch has ended.
            let _ = sender.send(path);
        }
    }
}
