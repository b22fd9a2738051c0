//! Violations of a schema as problems with the arguments of a call.

use serde_json::{Map, Value};
use treenail_schema::internal::json_schema::{push_token, schema_at};
use treenail_validation::{Violation, ViolationKind};

use crate::function::argument_error::{Fault, MAX_REPORTED, Problem};
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
            ViolationKind::Choice(branches) => match closest_branch(pointer, branches) {
                Some(branch) => self.all(branch),
                None => self.wrong(pointer),
            },
            ViolationKind::Type(_) | ViolationKind::Option(_) | ViolationKind::Bounds => {
                self.wrong(pointer);
            }
            ViolationKind::Other(reason) => {
                let (value, reason) = (None, reason.clone());
                self.add(pointer.clone(), |_| Fault::Unreadable { value, reason });
            }
        }
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

/// Returns the branch of a choice that was probably intended: of the matching type, with the fewest mistakes.
fn closest_branch<'a>(pointer: &str, branches: &'a [Vec<Violation>]) -> Option<&'a Vec<Violation>> {
    let is_mismatch = |mistake: &Violation| {
        mistake.pointer == pointer
            && !matches!(
                mistake.kind,
                ViolationKind::Missing(_) | ViolationKind::Unknown(_)
            )
    };
    let candidates = branches
        .iter()
        .filter(|branch| !branch.iter().any(is_mismatch));
    candidates.min_by_key(|branch| branch.len())
}
