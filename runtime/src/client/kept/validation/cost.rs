//! Cost of validating a value, before that is done.

use serde_json::{Map, Value};

use crate::client::ClientLimits;
use crate::client::kept::validation::plan::{Part, Place, Plan, pieces, size};

/// How many times a pattern may go back in a step.
const BACK: u64 = 8;

/// Values, or pieces of texts, that are compared in a step.
const COMPARED: u64 = 16;

/// Names that are looked up in a step.
const LOOKUPS: u64 = 4;

/// Items of a list that are compared each with all others; more are hashed.
const PAIRWISE: usize = 15;

/// Cost of validating a value that has been found to be allowed: the steps that it may take to describe all that is wrong,
/// with the place of each mistake.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost(pub(super) u64);

/// Counts the steps that validating a value takes at most, with no regard to what an actual validation could skip; an error
/// if they are more than `most`, or go too deep. Counting takes no longer than in proportion to what is counted.
///
/// A schema of a few lines can ask for more steps than there are atoms: it takes two choices at each level of a value
/// that is a hundred levels deep.
pub(super) fn cost(
    plan: &Plan,
    value: &Value,
    limits: &ClientLimits,
    most: u64,
) -> Result<Cost, String> {
    let first = Open {
        place: 0,
        subject: Subject::Value(value),
        depth: 1,
        path: 0,
        is_marked: false,
    };
    let mut count = Count {
        limits,
        most,
        steps: 0,
        words: 0,
        open: vec![first],
    };
    while let Some(open) = count.open.pop() {
        if open.depth > limits.validation.schema_depth {
            let most = limits.validation.schema_depth;
            return Err(format!(
                "its schema would be applied to it more than {most} levels deep"
            ));
        }
        count.visit(&plan.parts[open.place], open)?;
    }
    Ok(Cost(count.steps.max(count.words)))
}

/// Returns whether the texts and names of a value, and eight bytes for each other value, take more than `most` bytes.
pub(super) fn is_larger(value: &Value, most: usize) -> bool {
    fn take(value: &Value, left: &mut usize) -> bool {
        let own = match value {
            Value::String(text) => text.len(),
            _ => 8,
        };
        let Some(rest) = left.checked_sub(own) else {
            return false;
        };
        *left = rest;
        match value {
            Value::Array(items) => items.iter().all(|item| take(item, left)),
            Value::Object(members) => members.iter().all(|(name, member)| {
                *left = left.saturating_sub(name.len());
                take(member, left)
            }),
            _ => true,
        }
    }
    let mut left = most;
    !take(value, &mut left)
}

/// Part of a value that a subschema is applied to.
#[derive(Clone, Copy)]
enum Subject<'a> {
    Value(&'a Value),
    /// The name of a member.
    Name(&'a str),
}

/// Application of a subschema that has not been looked at yet.
#[derive(Clone, Copy)]
struct Open<'a> {
    place: Place,
    subject: Subject<'a>,
    depth: u32,
    /// Bytes of the path to the subject.
    path: usize,
    /// Only the members and items that it has evaluated are looked for, for a subschema around it.
    is_marked: bool,
}

struct Count<'a> {
    limits: &'a ClientLimits,
    most: u64,
    steps: u64,
    words: u64,
    open: Vec<Open<'a>>,
}

impl<'a> Count<'a> {
    fn visit(&mut self, part: &Part, from: Open<'a>) -> Result<(), String> {
        self.add(1 + part.compared / COMPARED)?;
        self.words = self.words.saturating_add(1 + (from.path / 16) as u64);
        let depth = from.depth + 1;
        let open = Open { depth, ..from };
        // What others have not evaluated is found by evaluating them once more, and asking what they have.
        let marks = from.is_marked || part.looks_again;
        let is_marked = false;
        self.open(&part.same, Open { is_marked, ..open })?;
        if marks {
            if !from.is_marked {
                self.open(&part.same, Open { is_marked, ..open })?;
            }
            let is_marked = true;
            self.open(&part.same, Open { is_marked, ..open })?;
        }
        match from.subject {
            _ if from.is_marked => self.mark(part, open),
            Subject::Name(text) => self.text(part, text),
            Subject::Value(Value::String(text)) => self.text(part, text),
            Subject::Value(Value::Array(items)) => self.items(part, items, open),
            Subject::Value(Value::Object(_)) => self.members(part, open),
            Subject::Value(_) => Ok(()),
        }
    }

    /// Counts what it takes to find out which members or items a subschema has evaluated.
    fn mark(&mut self, part: &Part, open: Open<'a>) -> Result<(), String> {
        let is_marked = false;
        match open.subject {
            Subject::Value(Value::Array(items)) => {
                self.add(items.len() as u64)?;
                let again = part.contains || part.looks_again;
                for item in items.iter().filter(|_| again) {
                    let subject = Subject::Value(item);
                    self.open(
                        &part.items,
                        Open {
                            subject,
                            is_marked,
                            ..open
                        },
                    )?;
                }
            }
            Subject::Value(Value::Object(members)) => {
                self.add(members.len() as u64)?;
                for (name, member) in members {
                    self.add_matches(part.name_patterns, part, name)?;
                    if part.looks_again {
                        self.open(&part.members, inside(open, name, member))?;
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn text(&mut self, part: &Part, text: &str) -> Result<(), String> {
        if part.text_looks > 0 {
            self.add(part.text_looks.saturating_mul(1 + pieces(text)))?;
        }
        self.add_matches(part.text_patterns, part, text)
    }

    fn items(&mut self, part: &Part, items: &'a [Value], open: Open<'a>) -> Result<(), String> {
        if part.unique {
            let times = if items.len() > PAIRWISE {
                2
            } else {
                PAIRWISE as u64 / 2
            };
            for item in items {
                self.add(times.saturating_mul(size(item)))?;
            }
        }
        if part.items.is_empty() {
            return Ok(());
        }
        for item in items {
            let subject = Subject::Value(item);
            let (path, is_marked) = (open.path + 8, false);
            self.open(
                &part.items,
                Open {
                    subject,
                    path,
                    is_marked,
                    ..open
                },
            )?;
            if part.looks_again && part.contains {
                self.open(
                    &part.items,
                    Open {
                        subject,
                        path,
                        is_marked,
                        ..open
                    },
                )?;
            }
        }
        Ok(())
    }

    fn members(&mut self, part: &Part, open: Open<'a>) -> Result<(), String> {
        let Subject::Value(Value::Object(members)) = open.subject else {
            return Ok(());
        };
        self.add(part.lookups.div_ceil(LOOKUPS))?;
        if part.looks_again {
            self.add(members.len() as u64)?;
        }
        if part.members.is_empty() && part.names.is_empty() && part.name_patterns == 0 {
            return self.known_members(part, members, open);
        }
        for (name, member) in members {
            self.add(1 + pieces(name))?;
            self.add_matches(part.name_patterns, part, name)?;
            let subject = Subject::Name(name);
            self.open(&part.names, Open { subject, ..open })?;
            let inner = inside(open, name, member);
            if let Some(place) = part.properties.get(&**name) {
                self.open(&[*place], inner)?;
            }
            self.open(&part.members, inner)?;
        }
        Ok(())
    }

    /// As [`members`](Self::members), where only those with known names matter. The fewer of both are gone through.
    fn known_members(
        &mut self,
        part: &Part,
        members: &'a Map<String, Value>,
        open: Open<'a>,
    ) -> Result<(), String> {
        if part.properties.len() <= members.len() {
            for (name, place) in &part.properties {
                if let Some(member) = members.get(&**name) {
                    self.open(&[*place], inside(open, name, member))?;
                }
            }
            return Ok(());
        }
        self.add((members.len() as u64).div_ceil(LOOKUPS))?;
        for (name, member) in members {
            if let Some(place) = part.properties.get(&**name) {
                self.open(&[*place], inside(open, name, member))?;
            }
        }
        Ok(())
    }

    fn open(&mut self, places: &[Place], open: Open<'a>) -> Result<(), String> {
        self.add(places.len() as u64)?;
        let opened = places.iter().map(|place| Open {
            place: *place,
            ..open
        });
        self.open.extend(opened);
        Ok(())
    }

    /// Adds the matching of a text with patterns.
    fn add_matches(&mut self, patterns: u64, part: &Part, text: &str) -> Result<(), String> {
        if patterns == 0 {
            return Ok(());
        }
        let back = if part.goes_back {
            1 + self.limits.validation.pattern_backtracks as u64 / BACK
        } else {
            1
        };
        let pieces = 1 + pieces(text);
        self.add(patterns.saturating_mul(pieces).saturating_mul(back))
    }

    fn add(&mut self, steps: u64) -> Result<(), String> {
        self.steps = self.steps.saturating_add(steps);
        if self.steps <= self.most {
            return Ok(());
        }
        let most = self.most;
        Err(format!("to validate it takes more than {most} steps"))
    }
}

/// The application of a subschema to a member.
fn inside<'a>(open: Open<'a>, name: &str, member: &'a Value) -> Open<'a> {
    Open {
        subject: Subject::Value(member),
        path: open.path + 1 + name.len(),
        // Members of members are evaluated for themselves.
        is_marked: false,
        ..open
    }
}
