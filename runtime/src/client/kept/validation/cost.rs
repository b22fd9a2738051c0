//! What it would take to validate a value, before that is done.

use serde_json::Value;

use crate::client::ClientLimits;
use crate::client::kept::validation::plan::{Part, Place, Plan};

/// How many bytes of a text are matched with a pattern in a step.
const BYTES: usize = 16;

/// How many times a pattern may go back in a step.
const BACK: u64 = 8;

/// How many values are compared in a step.
const COMPARED: u64 = 16;

/// How many steps a value takes at most, with no regard to what an actual validation could skip; an error if they are too
/// many, or go too deep.
///
/// A schema of a few lines can ask for more steps than there are atoms: it takes two choices at each level of a value
/// that is a hundred levels deep.
pub(super) fn steps(plan: &Plan, value: &Value, limits: &ClientLimits) -> Result<u64, String> {
    let mut count = Count {
        limits,
        steps: 0,
        open: vec![(0, Subject::Value(value), 1)],
    };
    while let Some((place, subject, depth)) = count.open.pop() {
        if depth > limits.schema_depth {
            let most = limits.schema_depth;
            return Err(format!(
                "its schema would be applied to it more than {most} levels deep"
            ));
        }
        count.visit(&plan.parts[place], subject, depth + 1)?;
    }
    Ok(count.steps)
}

/// What a subschema is applied to.
#[derive(Clone, Copy)]
enum Subject<'a> {
    Value(&'a Value),
    /// The name of a member.
    Name(&'a str),
}

struct Count<'a> {
    limits: &'a ClientLimits,
    steps: u64,
    /// What has not been looked at yet: a subschema, what it is applied to, and how deep that is.
    open: Vec<(Place, Subject<'a>, u32)>,
}

impl<'a> Count<'a> {
    fn visit(&mut self, part: &Part, subject: Subject<'a>, depth: u32) -> Result<(), String> {
        self.add(1 + part.compared / COMPARED)?;
        // What others have not evaluated is found by evaluating them once more.
        for _ in 0..=u8::from(part.looks_again) {
            self.open(&part.same, subject, depth)?;
        }
        match subject {
            Subject::Name(text) => self.add_matches(part.text_patterns, part, text),
            Subject::Value(Value::String(text)) => self.add_matches(part.text_patterns, part, text),
            Subject::Value(Value::Array(items)) => items
                .iter()
                .try_for_each(|item| self.open(&part.items, Subject::Value(item), depth)),
            Subject::Value(Value::Object(members)) => members
                .iter()
                .try_for_each(|(name, member)| self.member(part, name, member, depth)),
            Subject::Value(_) => Ok(()),
        }
    }

    fn member(
        &mut self,
        part: &Part,
        name: &'a str,
        member: &'a Value,
        depth: u32,
    ) -> Result<(), String> {
        self.add_matches(part.name_patterns, part, name)?;
        self.open(&part.names, Subject::Name(name), depth)?;
        if let Some(place) = part.properties.get(name) {
            self.open(&[*place], Subject::Value(member), depth)?;
        }
        self.open(&part.members, Subject::Value(member), depth)
    }

    fn open(&mut self, places: &[Place], subject: Subject<'a>, depth: u32) -> Result<(), String> {
        self.add(places.len() as u64)?;
        let open = places.iter().map(|place| (*place, subject, depth));
        self.open.extend(open);
        Ok(())
    }

    /// Adds the matching of a text with patterns.
    fn add_matches(&mut self, patterns: u64, part: &Part, text: &str) -> Result<(), String> {
        let pieces = 1 + (text.len() / BYTES) as u64;
        let back = if part.goes_back {
            1 + self.limits.pattern_backtracks as u64 / BACK
        } else {
            1
        };
        self.add(patterns.saturating_mul(pieces).saturating_mul(back))
    }

    fn add(&mut self, steps: u64) -> Result<(), String> {
        self.steps = self.steps.saturating_add(steps);
        let most = self.limits.validation_steps;
        if self.steps <= most {
            return Ok(());
        }
        Err(format!("to validate it takes more than {most} steps"))
    }
}
