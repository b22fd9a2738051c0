//! Differences between a recorded contract and a live server.

use std::fmt;

use serde::{Serialize, Serializer};
use treenail_schema::internal::quoted;

use crate::escape::escape_invisible;

/// Effect of a change on a program that was written against the recorded contract. Ordered: `Wording < Additive <
/// Breaking`.
///
/// The three are all possible effects, so a `match` needs no other arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Text for people and models: titles, descriptions, instructions, examples. No program depends on it. It is reported
    /// because it influences how a model uses the server.
    Wording,
    /// The program continues to work: something was added, less is required, or more is guaranteed. A changed default of
    /// an argument is additive too.
    Additive,
    /// The program may fail, or do something that was not approved: something was removed, more is required, or less is
    /// guaranteed; the annotations of a tool now describe it as more dangerous; or the effect cannot be judged.
    Breaking,
}

impl Severity {
    /// All severities, the worst first.
    pub const ALL: [Self; 3] = [Self::Breaking, Self::Additive, Self::Wording];

    fn with_count(self, count: usize) -> String {
        let s = if count == 1 { "" } else { "s" };
        match self {
            Self::Breaking => format!("{count} breaking change{s}"),
            Self::Additive => format!("{count} additive change{s}"),
            Self::Wording => format!("{count} wording change{s}"),
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Breaking => "breaking",
            Self::Additive => "additive",
            Self::Wording => "wording",
        })
    }
}

/// Kind of the entry that has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Subject {
    /// The server itself.
    Server,
    /// A tool, identified by its name.
    Tool,
    /// A prompt, identified by its name.
    Prompt,
    /// A resource template, identified by its URI template.
    ResourceTemplate,
    /// A resource, identified by its URI.
    Resource,
}

impl fmt::Display for Subject {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Server => "server",
            Self::Tool => "tool",
            Self::Prompt => "prompt",
            Self::ResourceTemplate => "resource template",
            Self::Resource => "resource",
        })
    }
}

/// One change. Its texts originate from the server and have bounded lengths. `Display` escapes invisible characters and
/// terminal control sequences.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Change {
    /// Effect on a program.
    pub severity: Severity,
    /// Kind of the changed entry.
    pub subject: Subject,
    /// Name, URI or URI template of the entry.
    pub name: String,
    /// JSON Pointer into the entry of the live server, or into the recorded entry if the part was removed. Empty for the
    /// whole entry.
    pub path: String,
    /// Description of the difference.
    pub message: String,
    /// Recorded text or value, if there is one to display. Long texts are cut around the first difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<String>,
    /// Live text or value, in the same form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<String>,
}

impl fmt::Display for Change {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{} {}",
            self.subject,
            quoted(&escape_invisible(&self.name))
        )?;
        if !self.path.is_empty() {
            write!(formatter, " at {}", escape_invisible(&self.path))?;
        }
        write!(formatter, ": {}", escape_invisible(&self.message))?;
        let old: Vec<_> = self.old.iter().flat_map(|text| text.lines()).collect();
        let new: Vec<_> = self.new.iter().flat_map(|text| text.lines()).collect();
        let same = |(one, other): &(&&str, &&str)| one == other;
        let before = old.iter().zip(&new).take_while(same).count();
        let (old, new) = (&old[before..], &new[before..]);
        let after = old.iter().rev().zip(new.iter().rev()).take_while(same);
        let after = after.count();
        for (sign, lines) in [('-', old), ('+', new)] {
            for line in &lines[..lines.len() - after] {
                write!(formatter, "\n    {sign} {}", escape_invisible(line))?;
            }
        }
        Ok(())
    }
}

/// Differences between a recorded contract and a live server, returned by [`Contract::drift`](crate::Contract::drift).
///
/// [`DriftLimits`](crate::DriftLimits) bounds the number of listed changes and the size of each. All changes are counted.
///
/// `Display` lists the changes by severity, in at most 100 lines, followed by the number of remaining changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drift {
    /// Listed changes, the worst first.
    pub(super) changes: Vec<Change>,
    /// Number of changes of each severity, in the order of [`Severity::ALL`].
    pub(super) counts: [usize; 3],
}

impl Drift {
    /// Maximum number of lines of changes that `Display` writes.
    const MAX_DISPLAY_LINES: usize = 100;

    /// Returns the listed changes, the worst first, then in the order of the contract.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Returns the number of changes of this severity, including omitted ones.
    pub fn count(&self, severity: Severity) -> usize {
        let index = Severity::ALL.iter().position(|one| *one == severity);
        index.map_or(0, |index| self.counts[index])
    }

    /// Returns `true` if there are no changes.
    pub fn is_empty(&self) -> bool {
        self.worst().is_none()
    }

    /// Returns the severity of the worst change.
    pub fn worst(&self) -> Option<Severity> {
        let mut all = Severity::ALL.into_iter();
        all.find(|severity| self.count(*severity) > 0)
    }

    /// Returns the number of changes that are not listed because there are more than [`DriftLimits`](crate::DriftLimits)
    /// allows.
    pub fn omitted(&self) -> usize {
        self.counts.iter().sum::<usize>() - self.changes.len()
    }

    /// Returns the number of changes of each severity, and the first change, in one line.
    pub fn summary(&self) -> String {
        let counts = Severity::ALL.map(|severity| (severity, self.count(severity)));
        let counts = counts.iter().filter(|(_, count)| *count > 0);
        let counts = counts.map(|(severity, count)| severity.with_count(*count));
        let counts = counts.collect::<Vec<_>>().join(", ");
        let first = self.changes.first().map(Change::to_string);
        match first.as_ref().and_then(|first| first.lines().next()) {
            Some(first) => format!("{counts}; first: {first}"),
            None => counts,
        }
    }
}

impl fmt::Display for Drift {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return formatter.write_str("no changes");
        }
        let (mut lines, mut shown, mut heading) = (0, 0, None);
        for change in &self.changes {
            let text = change.to_string();
            lines += text.lines().count() + usize::from(heading != Some(change.severity));
            if lines > Self::MAX_DISPLAY_LINES && shown > 0 {
                break;
            }
            if heading != Some(change.severity) {
                let end = if shown == 0 { "" } else { "\n" };
                let count = self.count(change.severity);
                write!(formatter, "{end}{}:", change.severity.with_count(count))?;
                heading = Some(change.severity);
            }
            for line in text.lines().take(Self::MAX_DISPLAY_LINES) {
                write!(formatter, "\n  {line}")?;
            }
            shown += 1;
        }
        match self.changes.len() - shown + self.omitted() {
            0 => Ok(()),
            more => write!(formatter, "\n… and {more} more"),
        }
    }
}

impl Serialize for Drift {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Written<'a> {
            breaking: usize,
            additive: usize,
            wording: usize,
            changes: &'a [Change],
        }

        let [breaking, additive, wording] = self.counts;
        let changes = &self.changes;
        Written {
            breaking,
            additive,
            wording,
            changes,
        }
        .serialize(serializer)
    }
}
