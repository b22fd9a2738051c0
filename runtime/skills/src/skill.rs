//! Skill of a server: its entry of `skills/list`, and the resource of its `SKILL.md`.

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};
use treenail_schema::Resource;

use crate::file::File;
use crate::front_matter::{check, read};
use crate::limits::{MAX_BYTES, MAX_FILES};
use crate::uri::last;

/// Name of the file that makes a folder a skill.
pub(crate) const SKILL_FILE: &str = "SKILL.md";

/// Skill, complete.
#[derive(Debug)]
pub(crate) struct Skill {
    pub(crate) name: String,
    /// The path of the folder.
    pub(crate) folder: Box<str>,
    pub(crate) uri: Box<str>,
    /// The JSON of the entry.
    pub(crate) entry: Box<RawValue>,
    /// The descriptor of `SKILL.md`.
    pub(crate) resource: Resource,
}

#[derive(Serialize)]
struct Entry<'a> {
    uri: &'a str,
    frontmatter: &'a Map<String, Value>,
    resources: Vec<EntryFile<'a>>,
}

#[derive(Serialize)]
struct EntryFile<'a> {
    uri: &'a str,
    digest: &'a str,
    size: usize,
}

impl Skill {
    /// Completes the skill in `folder`, whose `SKILL.md` is `main`, with all of its `files`.
    pub(crate) fn new(folder: &str, main: &File, files: &[&File]) -> Result<Self, String> {
        let (fields, _) = read(main.bytes()).map_err(|problem| problem.to_string())?;
        let checked = check(&fields, last(folder)).map_err(|problem| problem.to_string())?;
        let (name, description) = (checked.0.to_owned(), checked.1.to_owned());
        if files.len() > MAX_FILES {
            let count = files.len();
            return Err(format!(
                "the skill has {count} files, more than {MAX_FILES}; divide it, or move files out of its folder"
            ));
        }
        let bytes: usize = files.iter().map(|file| file.bytes().len()).sum();
        if bytes > MAX_BYTES {
            return Err(format!(
                "the files of the skill have {bytes} bytes, more than {MAX_BYTES}; divide it, or move files out of its folder"
            ));
        }
        let resources = files.iter().map(|file| EntryFile {
            uri: &file.uri,
            digest: &file.digest,
            size: file.bytes().len(),
        });
        let entry = Entry {
            uri: &main.uri,
            frontmatter: &fields,
            resources: resources.collect(),
        };
        let entry = to_raw_value(&entry).map_err(|error| error.to_string())?;
        let mut resource = main.resource();
        resource.name.clone_from(&name);
        resource.description = Some(description);
        Ok(Self {
            name,
            folder: folder.into(),
            uri: main.uri.clone(),
            entry,
            resource,
        })
    }
}
