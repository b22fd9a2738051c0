//! How a server has changed since its contract was recorded.

use std::fmt;

use serde::{Serialize, Serializer};
use treenail_schema::internal::quoted;

use crate::visible::visible;

/// How much a change matters to a program that was written against the recorded contract. They are in order:
/// `Wording < Additive < Breaking`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Words that people and models read: titles, descriptions, instructions, examples. They decide how a model uses a
    /// server, so they are told, but no program depends on them.
    Wording,
    /// The program goes on working: there is something new, less is asked for, or more is promised. A changed default of
    /// an argument is such a change too.
    Additive,
    /// The program may fail, or do what nobody has agreed to: something is gone, more is asked for, less is promised; a
    /// tool has become more dangerous by its own annotations; or it cannot be judged.
    Breaking,
}

impl Severity {
    /// All of them, the worst first.
    pub const ALL: [Self; 3] = [Self::Breaking, Self::Additive, Self::Wording];

    fn counted(self, count: usize) -> String {
        let s = if count == 1 { "" } else { "s" };
        match self {
            Self::Breaking => format!("{count} breaking change{s}"),
            Self::Additive => format!("{count} additive change{s}"),
            Self::Wording => format!("{count} change{s} of wording"),
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

/// What has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Subject {
    /// The server itself.
    Server,
    /// A tool, known by its name.
    Tool,
    /// A prompt, known by its name.
    Prompt,
    /// A template for URIs, known by its URI template.
    ResourceTemplate,
    /// A resource, known by its URI.
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

/// One change. What is in it comes from the server, and has a bound; `Display` shows it without anything that a terminal
/// would obey.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Change {
    /// How much it matters.
    pub severity: Severity,
    /// What has changed.
    pub subject: Subject,
    /// Which one: a name, a URI or a URI template.
    pub name: String,
    /// Where, as a JSON Pointer into the entry of the live server, or of the recorded one if it is gone there. Empty for
    /// the whole entry.
    pub path: String,
    /// What is different.
    pub message: String,
    /// What it was, where texts and values can be shown; from where they differ, if they are long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<String>,
    /// What it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<String>,
}

impl fmt::Display for Change {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{} {}",
            self.subject,
            quoted(&visible(&self.name))
        )?;
        if !self.path.is_empty() {
            write!(formatter, " at {}", visible(&self.path))?;
        }
        write!(formatter, ": {}", visible(&self.message))?;
        let old: Vec<_> = self.old.iter().flat_map(|text| text.lines()).collect();
        let new: Vec<_> = self.new.iter().flat_map(|text| text.lines()).collect();
        let same = |(one, other): &(&&str, &&str)| one == other;
        let before = old.iter().zip(&new).take_while(same).count();
        let (old, new) = (&old[before..], &new[before..]);
        let after = old.iter().rev().zip(new.iter().rev()).take_while(same);
        let after = after.count();
        for (sign, lines) in [('-', old), ('+', new)] {
            for line in &lines[..lines.len() - after] {
                write!(formatter, "\n    {sign} {}", visible(line))?;
            }
        }
        Ok(())
    }
}

/// How a server differs from a contract: what [`Contract::drift`](crate::Contract::drift) finds.
///
/// The number of changes that are kept, and what is kept of each, has bounds in
/// [`DriftLimits`](crate::DriftLimits); all of them are counted.
///
/// `Display` shows the changes by severity, in at most 100 lines, and how many more there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drift {
    /// The worst first.
    pub(super) changes: Vec<Change>,
    /// How many there are of each severity, in the order of [`Severity::ALL`].
    pub(super) counts: [usize; 3],
}

impl Drift {
    /// Lines that are shown.
    const LINES: usize = 100;

    /// The changes, the worst first, then in the order of the contract.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// How many changes of this severity there are, those included that were not kept.
    pub fn count(&self, severity: Severity) -> usize {
        let place = Severity::ALL.iter().position(|one| *one == severity);
        place.map_or(0, |place| self.counts[place])
    }

    /// Whether the server is what it was.
    pub fn is_empty(&self) -> bool {
        self.worst().is_none()
    }

    /// The severity of the worst change.
    pub fn worst(&self) -> Option<Severity> {
        let mut all = Severity::ALL.into_iter();
        all.find(|severity| self.count(*severity) > 0)
    }

    /// How many changes were not kept, because there are too many.
    pub fn left_out(&self) -> usize {
        self.counts.iter().sum::<usize>() - self.changes.len()
    }

    /// Returns the number of changes of each severity, and the first change, in one line.
    pub fn summary(&self) -> String {
        let counts = Severity::ALL.map(|severity| (severity, self.count(severity)));
        let told = counts.iter().filter(|(_, count)| *count > 0);
        let told = told.map(|(severity, count)| severity.counted(*count));
        let told = told.collect::<Vec<_>>().join(", ");
        let first = self.changes.first().map(Change::to_string);
        match first.as_ref().and_then(|first| first.lines().next()) {
            Some(first) => format!("{told}; the first: {first}"),
            None => told,
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
            if lines > Self::LINES && shown > 0 {
                break;
            }
            if heading != Some(change.severity) {
                let end = if shown == 0 { "" } else { "\n" };
                let count = self.count(change.severity);
                write!(formatter, "{end}{}:", change.severity.counted(count))?;
                heading = Some(change.severity);
            }
            for line in text.lines().take(Self::LINES) {
                write!(formatter, "\n  {line}")?;
            }
            shown += 1;
        }
        match self.changes.len() - shown + self.left_out() {
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
