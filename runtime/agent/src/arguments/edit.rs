//! Candidate edits that turn an invalid value into the probably intended one.

use serde_json::{Map, Value};
use treenail_schema::internal::json_schema::{push_token, schema_at, tokens};
use treenail_validation::{ExpectedType, Violation, ViolationKind};

use super::number::{number_text, parse_number, to_integer};

/// An edit of arguments.
#[derive(Clone, Debug)]
pub(super) struct Edit {
    changes: Vec<Change>,
    /// Pointer to the value within which the edit may reveal mistakes that validation could not see before.
    pub(super) reveals: Option<String>,
    /// Tried only after all other edits.
    is_fallback: bool,
}

#[derive(Clone, Debug)]
enum Change {
    /// Replaces the value at a pointer.
    Put(String, Value),
    /// Removes the member with this name from the object at a pointer.
    Remove(String, String),
    /// Renames a member of the object at a pointer.
    Rename {
        object: String,
        from: String,
        to: String,
    },
}

impl Edit {
    fn new(change: Change) -> Self {
        Self {
            changes: vec![change],
            reveals: None,
            is_fallback: false,
        }
    }

    pub(super) fn apply(&self, value: &mut Value) {
        for change in &self.changes {
            change.apply(value);
        }
    }
}

impl Change {
    fn apply(&self, value: &mut Value) {
        match self {
            Self::Put(pointer, new) => {
                if let Some(place) = value.pointer_mut(pointer) {
                    place.clone_from(new);
                }
            }
            Self::Remove(object, name) => {
                let object = value.pointer_mut(object).and_then(Value::as_object_mut);
                object.and_then(|object| object.shift_remove(name));
            }
            Self::Rename { object, from, to } => {
                let object = value.pointer_mut(object).and_then(Value::as_object_mut);
                if let Some(object) = object {
                    let renamed = |name| if name == *from { to.clone() } else { name };
                    let members = std::mem::take(object).into_iter();
                    object.extend(members.map(|(name, member)| (renamed(name), member)));
                }
            }
        }
    }
}

/// Returns candidate edits for a mistake, the likeliest first.
pub(super) fn edits(mistake: &Violation, value: &Value, root: &Map<String, Value>) -> Vec<Edit> {
    let pointer = mistake.pointer.as_str();
    let Some(found) = value.pointer(pointer) else {
        return Vec::new();
    };
    match &mistake.kind {
        ViolationKind::Type(wanted) => type_edits(pointer, found, wanted),
        ViolationKind::Option(options) => {
            option_edit(pointer, found, options).into_iter().collect()
        }
        ViolationKind::Missing(name) => rename_to_missing(pointer, value, name, root)
            .into_iter()
            .collect(),
        ViolationKind::Unknown(name) => rename_unknown(pointer, value, name, root)
            .into_iter()
            .collect(),
        ViolationKind::Choice(branches) => {
            let edits = branches
                .iter()
                .flat_map(|branch| edits_for_branch(branch, value, root));
            let mut edits: Vec<_> = edits.collect();
            edits.sort_by_key(|edit| edit.is_fallback);
            edits
        }
        ViolationKind::Bounds | ViolationKind::Other(_) => Vec::new(),
    }
}

/// Returns candidate edits for all mistakes of a branch.
fn edits_for_branch(branch: &[Violation], value: &Value, root: &Map<String, Value>) -> Vec<Edit> {
    match branch {
        [only] => edits(only, value, root),
        several => combined(several, value, root).into_iter().collect(),
    }
}

/// Combines the likeliest edit for each mistake, if each has one.
pub(super) fn combined(
    mistakes: &[Violation],
    value: &Value,
    root: &Map<String, Value>,
) -> Option<Edit> {
    let first = |mistake| edits(mistake, value, root).into_iter().next();
    let edits: Vec<Edit> = mistakes.iter().map(first).collect::<Option<_>>()?;
    Some(Edit {
        is_fallback: edits.iter().any(|edit| edit.is_fallback),
        changes: edits.into_iter().flat_map(|edit| edit.changes).collect(),
        reveals: None,
    })
}

fn type_edits(pointer: &str, found: &Value, wanted: &[ExpectedType]) -> Vec<Edit> {
    let put = |new: Value| {
        // The content of the text has not been validated yet.
        let reveals = (new.is_array() || new.is_object()).then(|| pointer.to_owned());
        let edit = Edit::new(Change::Put(pointer.to_owned(), new));
        Edit { reveals, ..edit }
    };
    let converted = |wanted: &ExpectedType| converted(found, *wanted);
    let mut edits: Vec<Edit> = wanted.iter().filter_map(converted).map(put).collect();
    if found.is_null() {
        edits.extend(pointer.rfind('/').and_then(|end| {
            let (object, name) = pointer.split_at(end);
            let name = tokens(name).next()?.into_owned();
            Some(Edit::new(Change::Remove(object.to_owned(), name)))
        }));
    }
    if wanted.contains(&ExpectedType::Array) && !found.is_null() && !found.is_array() {
        let others = [
            ExpectedType::Integer,
            ExpectedType::Number,
            ExpectedType::Boolean,
            ExpectedType::String,
        ];
        let items = [found.clone()]
            .into_iter()
            .chain(others.iter().filter_map(converted));
        edits.extend(items.map(|item| {
            let list = Value::Array(vec![item]);
            let edit = Edit::new(Change::Put(pointer.to_owned(), list));
            Edit {
                is_fallback: true,
                ..edit
            }
        }));
    }
    edits
}

/// Converts a value to another type without loss; `None` if that is impossible or the type already matches.
fn converted(found: &Value, wanted: ExpectedType) -> Option<Value> {
    match (found, wanted) {
        (Value::String(text), ExpectedType::Number) => parse_number(text).map(Value::Number),
        (Value::String(text), ExpectedType::Integer) => {
            to_integer(&parse_number(text)?).map(Value::Number)
        }
        (Value::Number(number), ExpectedType::Integer) if number.is_f64() => {
            to_integer(number).map(Value::Number)
        }
        (Value::String(text), ExpectedType::Boolean) => match text.as_str() {
            "true" | "True" | "TRUE" => Some(Value::Bool(true)),
            "false" | "False" | "FALSE" => Some(Value::Bool(false)),
            _ => None,
        },
        (Value::Number(number), ExpectedType::String) => number_text(number).map(Value::String),
        (Value::Bool(value), ExpectedType::String) => Some(Value::String(value.to_string())),
        (Value::String(text), ExpectedType::Array) => parse_json(text, '[', Value::is_array),
        (Value::String(text), ExpectedType::Object) => parse_json(text, '{', Value::is_object),
        _ => None,
    }
}

fn parse_json(text: &str, first: char, is_wanted: fn(&Value) -> bool) -> Option<Value> {
    if !text.trim_start().starts_with(first) {
        return None;
    }
    serde_json::from_str(text).ok().filter(is_wanted)
}

/// Replaces a value by the only option with the same spelling.
fn option_edit(pointer: &str, found: &Value, options: &[Value]) -> Option<Edit> {
    let written = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => number_text(number),
        Value::Bool(value) => Some(value.to_string()),
        _ => None,
    };
    let found = written(found)?;
    let mut same = options
        .iter()
        .filter(|option| written(option).as_ref() == Some(&found));
    let option = same.next().filter(|_| same.next().is_none())?;
    let change = Change::Put(pointer.to_owned(), option.clone());
    Some(Edit::new(change))
}

/// Renames a differently spelled member to a missing one, if it is the only candidate.
fn rename_to_missing(
    pointer: &str,
    value: &Value,
    name: &str,
    root: &Map<String, Value>,
) -> Option<Edit> {
    let object = value.pointer(pointer)?.as_object()?;
    let known = schema_at(root, value, pointer)?.get("properties")?;
    let known = known.as_object()?;
    let mut spellings = object
        .keys()
        .filter(|other| !known.contains_key(*other) && is_same_spelling(other, name));
    let from = spellings.next().filter(|_| spellings.next().is_none())?;
    Some(rename(pointer, from, name))
}

/// Renames an unknown member to the known one of the same spelling, if that is absent and there is only one candidate.
fn rename_unknown(
    pointer: &str,
    value: &Value,
    name: &str,
    root: &Map<String, Value>,
) -> Option<Edit> {
    let object = value.pointer(pointer)?.as_object()?;
    let known = schema_at(root, value, pointer)?.get("properties")?;
    let known = known.as_object()?;
    let mut candidates = known.keys().filter(|known| is_same_spelling(known, name));
    let to = candidates.next().filter(|_| candidates.next().is_none())?;
    let spellings = object.keys().filter(|other| is_same_spelling(other, name));
    if object.contains_key(to) || spellings.count() > 1 {
        return None;
    }
    Some(rename(pointer, name, to))
}

fn rename(object: &str, from: &str, to: &str) -> Edit {
    let mut place = object.to_owned();
    push_token(&mut place, to);
    let change = Change::Rename {
        object: object.to_owned(),
        from: from.to_owned(),
        to: to.to_owned(),
    };
    let edit = Edit::new(change);
    let reveals = Some(place);
    Edit { reveals, ..edit }
}

/// Compares names, ignoring case, hyphens, underscores and spaces.
fn is_same_spelling(one: &str, other: &str) -> bool {
    let letters = |name: &str| -> String {
        let letters = name
            .chars()
            .filter(|letter| !matches!(letter, '-' | '_' | ' '));
        letters.flat_map(char::to_lowercase).collect()
    };
    letters(one) == letters(other)
}
