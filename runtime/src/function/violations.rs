//! Violations of a schema as problems with the arguments of a call.

use serde_json::{Map, Value};
use treenail_schema::internal::json_schema::{push_token, schema_at};
use treenail_validation::{Violation, ViolationKind};

use crate::function::argument_error::{Fault, MAX_REPORTED, Problem, truncated_json};
use crate::function::schema_hint::describe_schema;
use crate::naming::nearest;

/// Converts the violations of `value` to problems, at most one for each place in the value. Also returns `true` if there are
/// more problems than are reported.
pub fn to_problems(
    value: &Value,
    violations: &[Violation],
    root: &Map<String, Value>,
) -> (Vec<Problem>, bool) {
    let mut problems = Problems {
        value,
        root,
        reported: Vec::new(),
        has_more: false,
    };
    problems.all(violations);
    let reported = problems.reported.into_iter();
    (
        reported.map(|(_, problem)| problem).collect(),
        problems.has_more,
    )
}

struct Problems<'a> {
    value: &'a Value,
    root: &'a Map<String, Value>,
    /// Problems by pointer; only the first one of each value is reported.
    reported: Vec<(String, Problem)>,
    /// True if there are more problems than are reported.
    has_more: bool,
}

impl Problems<'_> {
    fn all(&mut self, mistakes: &[Violation]) {
        for mistake in mistakes {
            self.mistake(mistake);
        }
    }

    fn mistake(&mut self, mistake: &Violation) {
        let pointer = &mistake.pointer;
        match &mistake.kind {
            ViolationKind::Missing(name) => {
                self.add(member_pointer(pointer, name), |_| Fault::Missing);
            }
            ViolationKind::Unknown(name) => {
                let fault = |problems: &Self| Fault::Unknown {
                    nearest: problems.nearest(pointer, name),
                };
                self.add(member_pointer(pointer, name), fault);
            }
            ViolationKind::Choice(branches) => self.choice(pointer, branches),
            ViolationKind::Type(_) | ViolationKind::Option(_) | ViolationKind::Bounds => {
                self.wrong(pointer);
            }
            ViolationKind::Other(reason) => {
                let (value, reason) = (None, reason.clone());
                self.add(pointer.clone(), |_| Fault::Unreadable { value, reason });
            }
        }
    }

    /// Adds the mistakes of the branch that was probably intended. If no branch has the tag of the value, the tag is the mistake.
    fn choice(&mut self, pointer: &str, branches: &[Vec<Violation>]) {
        let closest = closest_branches(pointer, branches);
        let Some(first) = closest.first() else {
            return self.wrong(pointer);
        };
        match wrong_tags(pointer, first).next() {
            Some((tag, _)) if closest.len() > 1 => {
                let all = closest.iter().flat_map(|it| wrong_tags(pointer, it));
                let mut tags = Vec::new();
                for (_, value) in all.filter(|(other, _)| *other == tag) {
                    if !tags.contains(value) {
                        tags.push(value.clone());
                    }
                }
                self.wrong_tag(tag, tags);
            }
            _ => self.all(first),
        }
    }

    fn wrong_tag(&mut self, pointer: &str, tags: Vec<Value>) {
        self.add(pointer.to_owned(), |problems| {
            let schema = Map::from_iter([("enum".to_owned(), tags.into())]);
            let expected = describe_schema(&schema, &schema).unwrap_or_default();
            let value = problems.value.pointer(pointer).unwrap_or(&Value::Null);
            let shown = truncated_json(&value.to_string());
            let reason = format!("expected {expected}, got {shown}");
            let value = None;
            Fault::Unreadable { value, reason }
        });
    }

    fn wrong(&mut self, pointer: &str) {
        self.add(pointer.to_owned(), |problems| {
            let value = problems.value.pointer(pointer).unwrap_or(&Value::Null);
            Fault::wrong(&value.to_string())
        });
    }

    fn nearest(&self, pointer: &str, name: &str) -> Option<String> {
        let schema = schema_at(self.root, self.value, pointer)?;
        let known = schema.get("properties")?.as_object()?;
        let given = self.value.pointer(pointer).and_then(Value::as_object);
        // A member that is given already is not meant.
        let is_given = |name: &str| given.is_some_and(|given| given.contains_key(name));
        let missing = known
            .keys()
            .map(String::as_str)
            .filter(|name| !is_given(name));
        nearest(name, missing).map(str::to_owned)
    }

    /// Adds a problem. Its fault is only made if it is reported, because it can take as long as the value.
    fn add(&mut self, pointer: String, fault: impl FnOnce(&Self) -> Fault) {
        // Several keywords can fail for one value; one report covers them all.
        if self
            .reported
            .iter()
            .any(|(reported, _)| *reported == pointer)
        {
            return;
        }
        if self.reported.len() == MAX_REPORTED {
            self.has_more = true;
            return;
        }
        let fault = fault(self);
        self.reported
            .push((pointer.clone(), Problem::at(pointer, fault)));
    }
}

pub(crate) fn member_pointer(pointer: &str, name: &str) -> String {
    let mut member_pointer = pointer.to_owned();
    push_token(&mut member_pointer, name);
    member_pointer
}

/// Returns the branches of a choice that may have been intended, the one with the fewest mistakes first: of the matching type, and
/// with the fewest wrong tags.
fn closest_branches<'a>(pointer: &str, branches: &'a [Vec<Violation>]) -> Vec<&'a [Violation]> {
    let is_mismatch = |mistake: &Violation| {
        mistake.pointer == pointer
            && !matches!(
                mistake.kind,
                ViolationKind::Missing(_) | ViolationKind::Unknown(_)
            )
    };
    let mut closest: Vec<_> = branches.iter().map(Vec::as_slice).collect();
    closest.retain(|branch| !branch.iter().any(is_mismatch));
    let count = |branch: &&[Violation]| wrong_tags(pointer, branch).count();
    let fewest = closest.iter().map(count).min();
    closest.retain(|branch| Some(count(branch)) == fewest);
    closest.sort_by_key(|branch| branch.len());
    closest
}

/// Returns the members of the value at `pointer` that differ from the only value that a branch allows, with that value.
fn wrong_tags<'a>(
    pointer: &str,
    branch: &'a [Violation],
) -> impl Iterator<Item = (&'a str, &'a Value)> {
    branch.iter().filter_map(move |mistake| {
        let member = mistake.pointer.strip_prefix(pointer)?.strip_prefix('/')?;
        match &mistake.kind {
            ViolationKind::Option(values) if !member.contains('/') => match &**values {
                [only] => Some((&*mistake.pointer, only)),
                _ => None,
            },
            _ => None,
        }
    })
}
