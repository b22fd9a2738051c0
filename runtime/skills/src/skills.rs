//! Skills of a server.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::json;
use treenail_runtime::internal::resource_source::{ReadResource, ResourceSource};
use treenail_runtime::{Error, Extension, Result, Server, WeakServer};
use treenail_schema::{Resource, ResourceTemplate};

use crate::methods::{self, Content};
use crate::set::{SkillSet, Unchecked};
use crate::{ID, folder};

/// Skills of a server: folders of instructions for models (extension `io.modelcontextprotocol/skills`).
///
/// A skill is a folder with a file `SKILL.md`: YAML front matter with `name` and `description`, and Markdown. Clients read the
/// instructions when a task needs them, and the other files of the folder when the instructions refer to them.
///
/// ```no_run
/// use treenail::skills::Skills;
///
/// // Relative to the working directory, as all paths are.
/// let skills = Skills::folder("skills")?;
/// let server = treenail::server!().extension(skills).build()?;
/// # Ok::<(), treenail::Error>(())
/// ```
///
/// - The path below the folder becomes the URI: `skill://plan-trip/SKILL.md`. Folders may be nested, and so may skills; a file
///   then belongs to all skills around it.
/// - All files are in memory, so their digests always fit. [`reload`](Self::reload) reads a folder again.
/// - The name is that of its folder, and unique: 1 to 64 of `a-z`, `0-9` and single hyphens. The description has at most 1,024
///   characters. A skill has at most 512 files and 16 MiB. A server has at most 1,000 skills and 256 MiB.
/// - Front matter is YAML 1.2 with the core schema, in at most 32 KiB and 16 levels, without aliases, tags and repeated keys.
/// - Files and folders whose names start with a dot are not served. A symbolic link may lead to another place in the folder, and
///   neither out of it nor to a hidden one.
/// - Rules of [`visible`](treenail_runtime::ServerBuilder::visible) decide about a skill by the resource of its `SKILL.md`. A
///   hidden skill is in no list, and its files cannot be read, unless a visible skill is around it: they are files of that one
///   too. Do not nest a skill that fewer callers may see. The files beside `SKILL.md` are one resource template for the rules,
///   `skill://{+path}`.
///
/// A clone is the same skills.
#[derive(Clone)]
pub struct Skills {
    shared: Arc<Shared>,
}

/// Skills that clones and servers share.
#[derive(Debug)]
pub(crate) struct Shared {
    /// The folder, if they are from one.
    folder: Option<PathBuf>,
    source: ResourceSource,
    current: Mutex<Arc<SkillSet>>,
    /// The servers that a reload changes.
    servers: Mutex<Vec<WeakServer>>,
    /// Locked during a whole reload, so that an older reading does not replace a newer one, and while a server is added.
    reload: Mutex<()>,
}

impl fmt::Debug for Skills {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let current = self.shared.current();
        let uris = current.skills.iter().map(|skill| &skill.uri);
        formatter.debug_list().entries(uris).finish()
    }
}

impl Skills {
    /// Reads all skills in a folder: each folder below it that has a `SKILL.md`.
    ///
    /// A relative path is relative to the working directory of the process, which hosts choose. `concat!(env!("CARGO_MANIFEST_DIR"),
    /// "/skills")` is a folder beside the sources.
    ///
    /// # Errors
    ///
    /// [`Error::Build`] if a file cannot be read or breaks a rule. The message names the file and the rule.
    pub fn folder(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let set = folder::read(path).and_then(SkillSet::new);
        let set = set.map_err(Error::Build)?;
        Ok(Self::new(set, Some(path.to_owned())))
    }

    /// Takes skills from memory: the path and the content of each file.
    ///
    /// A program can contain them:
    ///
    /// ```
    /// use treenail::skills::Skills;
    ///
    /// # macro_rules! include_str { ($path:literal) => { "---\nname: plan-trip\ndescription: Plans a trip.\n---\nAsk for the dates." } }
    /// let skills = Skills::embedded([
    ///     ("plan-trip/SKILL.md", include_str!("../skills/plan-trip/SKILL.md")),
    ///     ("plan-trip/references/visa.md", include_str!("../skills/plan-trip/references/visa.md")),
    /// ])?;
    /// let server = treenail::server!().extension(skills).build()?;
    /// # Ok::<(), treenail::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Build`] if a file breaks a rule, or there is no `SKILL.md`. The message names the file and the rule.
    pub fn embedded<P, C>(files: impl IntoIterator<Item = (P, C)>) -> Result<Self>
    where
        P: Into<String>,
        C: Into<Vec<u8>>,
    {
        let files = files.into_iter();
        let set = SkillSet::new(Unchecked {
            files: files
                .map(|(path, content)| (path.into(), content.into()))
                .collect(),
            ..Unchecked::default()
        });
        let set = set.map_err(Error::Build)?;
        if set.skills.is_empty() {
            let message = "there is no skill: give a file such as `plan-trip/SKILL.md`";
            return Err(Error::Build(message.to_owned()));
        }
        Ok(Self::new(set, None))
    }

    fn new(set: SkillSet, folder: Option<PathBuf>) -> Self {
        Self {
            shared: Arc::new(Shared {
                folder,
                source: ResourceSource::default(),
                current: Mutex::new(Arc::new(set)),
                servers: Mutex::default(),
                reload: Mutex::default(),
            }),
        }
    }

    /// Reads the folder again, replaces the skills of all servers that have them, and notifies the clients that the list of
    /// resources has changed. Without a change, and for skills from memory, it does nothing.
    ///
    /// It reads files, so call it on a thread for blocking work:
    ///
    /// ```no_run
    /// use treenail::skills::Skills;
    ///
    /// # async fn example(skills: Skills) -> Result<(), Box<dyn std::error::Error>> {
    /// let of_server = skills.clone();
    /// tokio::task::spawn_blocking(move || of_server.reload()).await??;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Other replicas do not read their folders: call it at each.
    ///
    /// # Errors
    ///
    /// Those of [`folder`](Self::folder), and [`Error::Build`] if a server has another resource at the URI of a new skill. The skills
    /// are then those of before.
    pub fn reload(&self) -> Result<()> {
        let Some(path) = &self.shared.folder else {
            return Ok(());
        };
        // Dropped after the lock, because they may be the last references.
        let known;
        let _reload = lock(&self.shared.reload);
        let set = folder::read(path).and_then(SkillSet::new);
        let new = Arc::new(set.map_err(Error::Build)?);
        let old = self.shared.current();
        if new.is_same(&old) {
            return Ok(());
        }
        known = self.shared.known();
        let (servers, _) = &known;
        // Before the resources, whose replacement is announced: the entries must be new by then.
        self.shared.replace(Arc::clone(&new));
        for (position, server) in servers.iter().enumerate() {
            if let Err(error) = self.shared.provide(server, &new) {
                self.shared.replace(Arc::clone(&old));
                for server in &servers[..position] {
                    // The first error is the cause, and the other servers must get the old resources too.
                    let _ = self.shared.provide(server, &old);
                }
                return Err(error);
            }
        }
        Ok(())
    }
}

impl Shared {
    /// Returns the skills that are served now.
    pub(crate) fn current(&self) -> Arc<SkillSet> {
        Arc::clone(&lock(&self.current))
    }

    fn replace(&self, new: Arc<SkillSet>) {
        let old = std::mem::replace(&mut *lock(&self.current), new);
        // Without the lock: it may be the last reference.
        drop(old);
    }

    /// Replaces the resources of a server with those of a set, and notifies the peers.
    fn provide(&self, server: &Server, set: &Arc<SkillSet>) -> Result<()> {
        let (resources, content) = resources(set);
        self.source.provide(server, resources, &content)
    }

    /// Serves the resources at a server that is being built.
    fn start(&self, server: &Server) -> Result<(), String> {
        // Dropped after the lock, because they may be the last references.
        let _known;
        // A reload between the two would be lost at this server.
        let _reload = lock(&self.reload);
        let (resources, content) = resources(&self.current());
        self.source
            .start(server, resources, &content)
            .map_err(|error| error.to_string())?;
        if self.folder.is_some() {
            _known = self.known();
            lock(&self.servers).push(server.downgrade());
        }
        Ok(())
    }

    /// Forgets the servers that have ended. Returns the others, and references to all of them that the caller drops without a lock.
    fn known(&self) -> (Vec<Server>, Vec<WeakServer>) {
        let known = lock(&self.servers).clone();
        let servers: Vec<_> = known.iter().filter_map(WeakServer::upgrade).collect();
        let alive = servers.iter().map(Server::downgrade).collect();
        let old = std::mem::replace(&mut *lock(&self.servers), alive);
        (servers, old)
    }
}

/// Returns the resources of a set: those in lists and the template of the others, and their content.
fn resources(set: &Arc<SkillSet>) -> ((Vec<Resource>, ResourceTemplate), Arc<dyn ReadResource>) {
    let listed = set.skills.iter().map(|skill| skill.resource.clone());
    let template = ResourceTemplate::new("skill://{+path}", "skill-files");
    let content = Arc::new(Content::new(Arc::clone(set)));
    ((listed.collect(), template), content)
}

impl From<Skills> for Extension {
    fn from(skills: Skills) -> Self {
        let shared = skills.shared;
        let starting = Arc::clone(&shared);
        let extension = Self::new(ID)
            .settings(json!({"directoryRead": true}))
            .changes_resources()
            .on_build(move |server| starting.start(server));
        methods::add(extension, &shared)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
