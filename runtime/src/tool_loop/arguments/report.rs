//! What is told to the model of arguments that are wrong.

use serde_json::{Map, Value};

use crate::client::validation::{Kind, Mistake};
use crate::function::expected::schema_at;
use crate::function::problem::{self, Fault, Problem, TOLD, push_token};
use crate::name::nearest;
use crate::wire::quoted;

/// All that is wrong with the arguments, in the words that a server would use.
pub(super) fn report(
    tool: &str,
    value: &Value,
    mistakes: &[Mistake],
    root: &Map<String, Value>,
) -> String {
    let mut problems = Problems {
        value,
        root,
        told: Vec::new(),
        more: false,
    };
    problems.all(mistakes);
    let heading = format!("Wrong arguments for the tool {}:", quoted(tool));
    let told: Vec<_> = problems
        .told
        .into_iter()
        .map(|(_, problem)| problem)
        .collect();
    let mut text = problem::report(heading, &told, root);
    if problems.more {
        text.push_str("\n- and more");
    }
    text + "\nCorrect them and call the tool again."
}

/// What is told where it cannot be told what is wrong.
pub(super) fn too_large(tool: &str) -> String {
    format!(
        "Wrong arguments for the tool {}: they do not fit its schema, and are too large to tell where.\n\
        Send less at once, and call the tool again.",
        quoted(tool)
    )
}

struct Problems<'a> {
    value: &'a Value,
    root: &'a Map<String, Value>,
    /// With what is told only once of a place.
    told: Vec<(String, Problem)>,
    /// There is more than is told.
    more: bool,
}

impl Problems<'_> {
    fn all(&mut self, mistakes: &[Mistake]) {
        for mistake in mistakes {
            self.mistake(mistake);
        }
    }

    fn mistake(&mut self, mistake: &Mistake) {
        let pointer = &mistake.pointer;
        match &mistake.kind {
            Kind::Missing(name) => self.add(inner(pointer, name), Fault::Missing),
            Kind::Unknown(name) => {
                let nearest = self.nearest(pointer, name);
                self.add(inner(pointer, name), Fault::Unknown { nearest });
            }
            Kind::Choice(branches) => match meant(pointer, branches) {
                Some(branch) => self.all(branch),
                None => self.wrong(pointer),
            },
            Kind::Type(_) | Kind::Option(_) | Kind::Bounds => self.wrong(pointer),
            Kind::Other(reason) => {
                let (value, reason) = (None, reason.clone());
                self.add(pointer.clone(), Fault::Unreadable { value, reason });
            }
        }
    }

    fn wrong(&mut self, pointer: &str) {
        let value = self.value.pointer(pointer).unwrap_or(&Value::Null);
        self.add(pointer.to_owned(), Fault::wrong(&value.to_string()));
    }

    fn nearest(&self, pointer: &str, name: &str) -> Option<String> {
        let schema = schema_at(self.root, pointer)?;
        let known = schema.get("properties")?.as_object()?;
        nearest(name, known.keys().map(String::as_str)).map(str::to_owned)
    }

    fn add(&mut self, pointer: String, fault: Fault) {
        // A value can be wrong for several keywords, of which all is told at once.
        if self.told.iter().any(|(told, _)| *told == pointer) {
            return;
        }
        if self.told.len() == TOLD {
            self.more = true;
            return;
        }
        self.told
            .push((pointer.clone(), Problem::at(pointer, fault)));
    }
}

fn inner(pointer: &str, name: &str) -> String {
    let mut inner = pointer.to_owned();
    push_token(&mut inner, name);
    inner
}

/// The branch of a choice that was probably meant: the one of the right type in which the least is wrong.
fn meant<'a>(pointer: &str, branches: &'a [Vec<Mistake>]) -> Option<&'a Vec<Mistake>> {
    let is_far = |mistake: &Mistake| {
        mistake.pointer == pointer && !matches!(mistake.kind, Kind::Missing(_) | Kind::Unknown(_))
    };
    let near = branches.iter().filter(|branch| !branch.iter().any(is_far));
    near.min_by_key(|branch| branch.len())
}
