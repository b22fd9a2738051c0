//! Declarations of the requirements and revisions that a test exercises. A test gets its list of revisions from the
//! declaration, so the declared revisions are the ones that run.

use std::sync::LazyLock;

use treenail::schema::Revision;

/// A line of `requirements.tsv`.
#[derive(Debug)]
pub(crate) struct Requirement {
    pub(crate) id: &'static str,
    pub(crate) level: &'static str,
    pub(crate) revisions: Vec<Revision>,
    pub(crate) about: &'static str,
}

static REQUIREMENTS: LazyLock<Vec<Requirement>> = LazyLock::new(|| {
    let lines = include_str!("../requirements.tsv").lines().skip(1);
    lines.map(Requirement::read).collect()
});

/// Returns all requirements that can be tested with a server in memory, in the order of the list.
pub(crate) fn requirements() -> &'static [Requirement] {
    &REQUIREMENTS
}

impl Requirement {
    fn read(line: &'static str) -> Self {
        let mut fields = line.split('\t');
        let mut next = || fields.next().unwrap_or_else(|| panic!("too short: {line}"));
        let (id, level) = (next(), next());
        let (first, last) = (revision(next()).unwrap(), revision(next()).unwrap());
        let revisions = Revision::ALL.into_iter();
        Self {
            id,
            level,
            revisions: revisions
                .filter(|revision| (first..=last).contains(revision))
                .collect(),
            about: next(),
        }
    }

    /// Returns the area: `TOOL` for `SRV-TOOL-01`, `TASK` for `TASK-S-01`.
    pub(crate) fn area(&self) -> &'static str {
        let part = usize::from(!is_of_extension(self.id));
        self.id.split('-').nth(part).expect("an id has three parts")
    }
}

/// Returns whether an id is that of a requirement of extensions for servers (`S`) or both sides (`B`). Tests quote such ids in their
/// messages.
pub(crate) fn is_of_extension(id: &str) -> bool {
    let mut parts = id.split('-');
    let area = parts
        .next()
        .is_some_and(|area| ["EXT", "TASK", "LTASK", "SKILL"].contains(&area));
    let side = parts.next().is_some_and(|side| side == "S" || side == "B");
    let is_number = |part: &str| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
    area && side && parts.next().is_some_and(is_number) && parts.next().is_none()
}

/// Returns the revisions in which a test exercises requirements, oldest first.
///
/// The declaration lists the requirements, followed by the revisions unless it applies to all:
///
/// ```text
/// for revision in covering("SRV-TOOL-01, SRV-TOOL-05") {
/// for revision in covering("SRV-TOOL-12 since 2025-06-18") {      // or `until`
/// for revision in covering("SRV-LOG-03 in 2026-07-28") {          // or `in 2025-03-26, 2026-07-28`
/// ```
///
/// A requirement counts as exercised in those of the revisions to which it applies. The declaration must be a literal,
/// because the module `coverage` reads it from the source.
#[must_use]
pub(crate) fn covering(declaration: &str) -> Vec<Revision> {
    match Declaration::read(declaration) {
        Ok(declaration) => declaration.revisions,
        Err(problem) => panic!("{declaration}: {problem}"),
    }
}

/// Returns the single revision in which a test exercises requirements.
pub(crate) fn covering_one(declaration: &str) -> Revision {
    match covering(declaration)[..] {
        [revision] => revision,
        _ => panic!("{declaration}: not one revision"),
    }
}

/// A parsed declaration.
#[derive(Debug)]
pub(crate) struct Declaration {
    pub(crate) requirements: Vec<&'static Requirement>,
    pub(crate) revisions: Vec<Revision>,
}

impl Declaration {
    /// Returns the declaration of a test that quotes the id of a requirement.
    pub(crate) fn of_id(id: &str) -> Result<Self, String> {
        let requirement = find(id)?;
        Ok(Self {
            requirements: vec![requirement],
            revisions: requirement.revisions.clone(),
        })
    }

    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let mut words = text
            .split([',', ' '])
            .filter(|word| !word.is_empty())
            .peekable();
        let mut requirements = Vec::new();
        while let Some(id) = words.next_if(|word| word.contains(char::is_uppercase)) {
            requirements.push(find(id)?);
        }
        let scope = words.next();
        let revisions = scope_of(scope, words.map(revision).collect::<Result<Vec<_>, _>>()?)?;
        for requirement in &requirements {
            if !revisions
                .iter()
                .any(|revision| requirement.revisions.contains(revision))
            {
                return Err(format!("{} is not in these revisions", requirement.id));
            }
        }
        if requirements.is_empty() {
            return Err("no requirement is named".to_owned());
        }
        Ok(Self {
            requirements,
            revisions,
        })
    }
}

fn find(id: &str) -> Result<&'static Requirement, String> {
    let found = requirements()
        .iter()
        .find(|requirement| requirement.id == id);
    found.ok_or_else(|| format!("`requirements.tsv` has no {id}"))
}

/// Parses `since 2025-06-18`, `until 2025-11-25`, `in 2025-03-26, 2026-07-28`, or an empty scope for all revisions.
pub(crate) fn scope_of(word: Option<&str>, named: Vec<Revision>) -> Result<Vec<Revision>, String> {
    let all = Revision::ALL.into_iter();
    match (word, &named[..]) {
        (None | Some("all"), []) => Ok(all.collect()),
        (Some("since"), [first]) => Ok(all.filter(|revision| revision >= first).collect()),
        (Some("until"), [last]) => Ok(all.filter(|revision| revision <= last).collect()),
        (Some("in"), [_, ..]) => Ok(named),
        _ => Err("write `since`, `until` or `in`, and revisions".to_owned()),
    }
}

/// Parses the date of a revision.
pub(crate) fn revision(text: &str) -> Result<Revision, String> {
    let mut all = Revision::ALL.into_iter();
    all.find(|revision| revision.as_str() == text)
        .ok_or_else(|| format!("there is no revision {text}"))
}
