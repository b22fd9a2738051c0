//! All skills of a server at one time, checked and in memory.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::file::File;
use crate::limits::{MAX_DEPTH, MAX_PATH, MAX_SKILLS, check_total};
use crate::skill::{SKILL_FILE, Skill};
use crate::uri::{self, last};

/// Skills and their files. It never changes; reading the folder again makes a new one.
#[derive(Debug, Default)]
pub(crate) struct SkillSet {
    /// The skills in the order of their paths.
    pub(crate) skills: Vec<Skill>,
    /// The files in the order of their paths.
    pub(crate) files: Vec<File>,
    /// The position of each file, by URI.
    by_uri: HashMap<Box<str>, usize>,
    /// The folders, by URI.
    pub(crate) folders: BTreeMap<String, Folder>,
}

/// Folder of a skill, or one with skills in it.
#[derive(Debug, Default)]
pub(crate) struct Folder {
    pub(crate) name: Box<str>,
    /// The children: files in the order of their paths, then folders in the order of their URIs.
    pub(crate) children: BTreeSet<Child>,
    /// The skills that it belongs to, or that are in it, by position.
    pub(crate) skills: BTreeSet<usize>,
}

/// Direct child of a folder.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Child {
    /// The position of a file.
    File(usize),
    /// The URI of a folder.
    Folder(String),
}

/// Files of skills that have not been checked, by their paths with slashes.
#[derive(Debug, Default)]
pub(crate) struct Unchecked {
    pub(crate) files: Vec<(String, Vec<u8>)>,
    /// The folders of skills, among them empty ones.
    pub(crate) folders: Vec<String>,
    /// Text in front of a path in messages.
    pub(crate) origin: String,
}

impl SkillSet {
    /// Checks all files. An error names the file.
    pub(crate) fn new(unchecked: Unchecked) -> Result<Self, String> {
        let Unchecked {
            mut files,
            folders,
            origin,
        } = unchecked;
        let at = |path: &str, problem: &str| match (&*origin, path) {
            ("", "") => problem.to_owned(),
            _ => format!("`{origin}{path}`: {problem}"),
        };
        let bytes = files.iter().map(|(_, bytes)| bytes.len()).sum();
        check_total(files.len() + folders.len(), bytes).map_err(|problem| at("", &problem))?;
        files.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        for pair in files.windows(2) {
            if pair[0].0 == pair[1].0 {
                return Err(at(&pair[0].0, "the file is given twice"));
            }
        }
        for path in files.iter().map(|(path, _)| path).chain(&folders) {
            check_path(path).map_err(|problem| at(path, problem))?;
        }
        for (path, _) in &files {
            let prefix = format!("{path}/");
            let first = files.partition_point(|(other, _)| *other < prefix);
            let inner = files.get(first);
            if inner.is_some_and(|(other, _)| other.starts_with(&prefix)) {
                let problem = "it is a file and a folder; rename one of them";
                return Err(at(path, problem));
            }
        }
        let files = files
            .into_iter()
            .map(|(path, bytes)| File::new(path, bytes));
        let mut set = Self {
            files: files.collect(),
            ..Self::default()
        };
        set.add_skills(&at)?;
        let uris = set.files.iter().map(|file| file.uri.clone());
        set.by_uri = uris.zip(0..).collect();
        set.add_folders(&folders);
        Ok(set)
    }

    fn add_skills(&mut self, at: &dyn Fn(&str, &str) -> String) -> Result<(), String> {
        let mut roots = Vec::new();
        for (position, file) in self.files.iter().enumerate() {
            if file.name() == SKILL_FILE {
                let folder = file.path.strip_suffix(SKILL_FILE).unwrap_or_default();
                let folder = folder.trim_end_matches('/');
                if folder.is_empty() {
                    let problem = "a skill is a folder of its own; move it into a folder that has the name of the skill";
                    return Err(at(&file.path, problem));
                }
                roots.push((folder.to_owned(), position));
            }
        }
        roots.sort_unstable();
        if roots.len() > MAX_SKILLS {
            return Err(at("", &format!("there are more than {MAX_SKILLS} skills")));
        }
        let mut names: HashMap<String, Box<str>> = HashMap::new();
        for (position, (folder, main)) in roots.into_iter().enumerate() {
            let prefix = format!("{folder}/");
            let own = |file: &File| file.path.starts_with(&prefix);
            let first = self.files.partition_point(|file| *file.path < *prefix);
            let count = self.files[first..]
                .iter()
                .take_while(|file| own(file))
                .count();
            let files: Vec<_> = self.files[first..first + count].iter().collect();
            let main = &self.files[main];
            let skill = Skill::new(&folder, main, &files);
            let skill = skill.map_err(|problem| at(&main.path, &problem))?;
            if let Some(other) = names.insert(skill.name.clone(), main.path.clone()) {
                let name = &skill.name;
                let problem =
                    format!("the name `{name}` is that of the skill `{other}`; rename one of them");
                return Err(at(&main.path, &problem));
            }
            self.skills.push(skill);
            for file in &mut self.files[first..first + count] {
                file.skills.push(position);
            }
        }
        match self.files.iter().find(|file| file.skills.is_empty()) {
            Some(file) => Err(at(
                &file.path,
                "the file belongs to no skill: no folder around it has a `SKILL.md`",
            )),
            None => Ok(()),
        }
    }

    /// Adds the folders of all files, and `empty` ones.
    fn add_folders(&mut self, empty: &[String]) {
        let mut folders = BTreeMap::new();
        for (position, file) in self.files.iter().enumerate() {
            add(
                &mut folders,
                &file.path,
                Child::File(position),
                &file.skills,
            );
        }
        for path in empty {
            let is_around = |skill: &Skill| {
                let rest = path.strip_prefix(&*skill.folder);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            let skills = self.skills.iter().enumerate();
            let skills = skills.filter(|(_, skill)| is_around(skill));
            let skills: Vec<_> = skills.map(|(position, _)| position).collect();
            let uri = uri::of_path(path);
            let folder: &mut Folder = folders.entry(uri.clone()).or_default();
            folder.name = last(path).into();
            folder.skills.extend(&skills);
            add(&mut folders, path, Child::Folder(uri), &skills);
        }
        self.folders = folders;
    }

    /// Returns the file at a URI.
    pub(crate) fn file(&self, uri: &str) -> Option<&File> {
        self.by_uri.get(uri).map(|position| &self.files[*position])
    }

    /// Returns the URI of a child.
    pub(crate) fn uri_of<'a>(&'a self, child: &'a Child) -> &'a str {
        match child {
            Child::File(position) => &self.files[*position].uri,
            Child::Folder(uri) => uri,
        }
    }

    /// Returns true if both have the same content.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let folders = self.folders.keys().eq(other.folders.keys());
        folders && self.digests().eq(other.digests())
    }

    fn digests(&self) -> impl Iterator<Item = (&str, &str)> {
        let files = self.files.iter();
        files.map(|file| (&*file.uri, &*file.digest))
    }
}

/// Adds a child to its folder, and the folders around it.
fn add(folders: &mut BTreeMap<String, Folder>, path: &str, child: Child, skills: &[usize]) {
    let (mut path, mut child) = (path, child);
    while let Some((parent, _)) = path.rsplit_once('/') {
        let uri = uri::of_path(parent);
        let folder = folders.entry(uri.clone()).or_default();
        folder.name = last(parent).into();
        folder.skills.extend(skills);
        folder.children.insert(child);
        (path, child) = (parent, Child::Folder(uri));
    }
}

fn check_path(path: &str) -> Result<(), &'static str> {
    if path.len() > MAX_PATH {
        return Err("the path is longer than 1024 bytes");
    }
    if path.matches('/').count() > MAX_DEPTH {
        return Err("the file is more than 16 folders deep");
    }
    if path.contains('\\') || path.chars().any(char::is_control) {
        return Err(
            "a path has slashes, and no backslashes or control characters; rename the file",
        );
    }
    if path.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Err(
            "a path is relative, without `.`, `..` and empty parts, such as `plan-trip/SKILL.md`",
        );
    }
    Ok(())
}
