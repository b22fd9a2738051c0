//! Loading of a skill: its files are read when they are needed, and verified each time.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use treenail_runtime::client::McpClient;
use treenail_schema::{ReadResourceResult, ResourceContents};

use super::compare::difference;
use super::entry::{SkillEntry, SkillResources};
use super::error::SkillError;
use super::reference::{decoded, resolve};
use crate::digest::sha256;
use crate::front_matter;
use crate::limits::{MAX_BYTES, MAX_FILES};

/// Skill whose `SKILL.md` has been read and verified, from [`SkillClient::load`](super::SkillClient::load).
///
/// It holds the entry that it was loaded with: after a change at the server, its files fail their verification. A clone is the same
/// skill.
#[cfg(feature = "client")]
#[derive(Clone)]
pub struct LoadedSkill {
    client: McpClient,
    entry: Arc<SkillEntry>,
    instructions: Arc<str>,
    /// The sizes of the files of a dynamic skill that have been read.
    read: Arc<Mutex<HashMap<String, usize>>>,
}

impl fmt::Debug for LoadedSkill {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("LoadedSkill")
            .field("uri", &self.entry.uri)
            .finish_non_exhaustive()
    }
}

impl LoadedSkill {
    pub(super) async fn load(client: McpClient, entry: SkillEntry) -> Result<Self, SkillError> {
        entry.check()?;
        let mut skill = Self {
            client,
            entry: Arc::new(entry),
            instructions: "".into(),
            read: Arc::default(),
        };
        let bytes = skill.fetch(&skill.entry.uri).await?;
        skill.instructions = skill.check_front_matter(&bytes)?.into();
        Ok(skill)
    }

    /// Returns the entry.
    pub fn entry(&self) -> &SkillEntry {
        &self.entry
    }

    /// Returns the instructions: the text of `SKILL.md` after its front matter. It is untrusted input.
    pub fn instructions(&self) -> &str {
        &self.instructions
    }

    /// Reads a file of the skill, and verifies it. `path` is relative to the folder of the skill, as in its instructions, or the URI of
    /// the file, with a fragment or without. Nothing is cached.
    ///
    /// # Errors
    ///
    /// [`SkillError::NotListed`] for a file that is not in the entry; nothing is sent then. Any other [`SkillError`].
    pub async fn read(&self, path: impl AsRef<str>) -> Result<Vec<u8>, SkillError> {
        let path = path.as_ref();
        let uri = self.find(path)?.ok_or_else(|| SkillError::NotListed {
            uri: path.to_owned(),
        })?;
        self.fetch(&uri).await
    }

    /// Returns the URI of the file that a reference leads to, as the server writes it if the file is listed.
    fn find(&self, reference: &str) -> Result<Option<Cow<'_, str>>, SkillError> {
        let root = self.entry.root()?;
        let plain = reference
            .split_once('#')
            .map_or(reference, |(path, _)| path);
        let SkillResources::Listed(files) = &self.entry.resources else {
            return Ok(resolve(root, plain).map(Cow::Owned));
        };
        // A name may have a `#`, so the whole reference is first.
        let found = [reference, plain].into_iter().find_map(|reference| {
            let exact = files.iter().find(|file| file.uri == reference);
            exact.or_else(|| {
                let path = decoded(root, reference)?;
                let mut files = files.iter();
                files.find(|file| decoded(root, &file.uri).as_ref() == Some(&path))
            })
        });
        Ok(found.map(|file| Cow::Borrowed(&*file.uri)))
    }

    /// Reads and verifies the file at a URI.
    async fn fetch(&self, uri: &str) -> Result<Vec<u8>, SkillError> {
        let listed = match &self.entry.resources {
            SkillResources::Listed(files) => {
                let file = files.iter().find(|file| file.uri == uri);
                Some(file.ok_or_else(|| SkillError::NotListed {
                    uri: uri.to_owned(),
                })?)
            }
            _ => None,
        };
        let read = self.client.session().resources_read(uri).await?;
        let bytes = bytes(read, uri)?;
        let Some(file) = listed else {
            self.count(uri, bytes.len())?;
            return Ok(bytes);
        };
        let actual = bytes.len() as u64;
        let uri = uri.to_owned();
        if actual != file.size {
            let expected = file.size;
            return Err(SkillError::Size {
                uri,
                expected,
                actual,
            });
        }
        if sha256(&bytes) != file.digest {
            return Err(SkillError::Digest { uri });
        }
        Ok(bytes)
    }

    /// Counts a file of a dynamic skill towards the limits.
    fn count(&self, uri: &str, size: usize) -> Result<(), SkillError> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let others = read.iter().filter(|(other, _)| **other != *uri);
        let (count, bytes) = others.fold((1, size), |(count, bytes), (_, size)| {
            (count + 1, bytes + size)
        });
        if count > MAX_FILES || bytes > MAX_BYTES {
            return Err(SkillError::TooLarge {
                uri: self.entry.uri.clone(),
            });
        }
        read.insert(uri.to_owned(), size);
        Ok(())
    }

    /// Compares the front matter with that of the entry, and returns the text after it.
    fn check_front_matter<'a>(&self, bytes: &'a [u8]) -> Result<&'a str, SkillError> {
        let failed = |reason| SkillError::FrontMatter {
            uri: self.entry.uri.clone(),
            reason,
        };
        let read = front_matter::read(bytes);
        let (fields, text) = read.map_err(|problem| failed(problem.to_string()))?;
        match difference(&fields, &self.entry.frontmatter) {
            Some(field) => Err(failed(format!("{field:?} is not that of the entry"))),
            None => Ok(text),
        }
    }
}

/// Returns the bytes of the file at `uri`.
fn bytes(read: ReadResourceResult, uri: &str) -> Result<Vec<u8>, SkillError> {
    let mut contents = read.contents.into_iter();
    let bytes = match (contents.next(), contents.next()) {
        (Some(ResourceContents::Text(text)), None) if text.uri == uri => {
            Some(text.text.into_bytes())
        }
        (Some(ResourceContents::Blob(blob)), None) if blob.uri == uri => {
            STANDARD.decode(blob.blob).ok()
        }
        _ => None,
    };
    bytes.ok_or_else(|| SkillError::Contents {
        uri: uri.to_owned(),
    })
}
