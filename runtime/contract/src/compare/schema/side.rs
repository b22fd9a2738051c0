//! What a schema says, whatever way it says it.

use std::borrow::Cow;
use std::fmt::Write;
use std::sync::LazyLock;

use serde_json::Value;
use treenail_schema::JsonObject;
use treenail_schema::internal::percent_decode;

use crate::compare::schema::types::Types;
use crate::keyword::{Does, does};

/// How many schemas that only refer to another one may stand in a row.
const HOPS: usize = 64;

static NOTHING: LazyLock<JsonObject> = LazyLock::new(JsonObject::new);

/// A schema.
#[derive(Clone, Copy, Debug)]
pub(super) enum Node<'a> {
    /// All values, or none.
    Bool(bool),
    Object(&'a JsonObject),
}

impl<'a> Node<'a> {
    /// What is no schema at all says nothing.
    pub(super) fn of(value: &'a Value) -> Self {
        match value {
            Value::Bool(all) => Self::Bool(*all),
            Value::Object(members) => Self::Object(members),
            _ => Self::Bool(true),
        }
    }

    pub(super) fn address(self) -> usize {
        match self {
            Self::Bool(all) => usize::from(all),
            Self::Object(members) => std::ptr::from_ref(members) as usize,
        }
    }

    /// Whether every value is allowed, as can be seen at once.
    pub(super) fn allows_all(self) -> bool {
        match self {
            Self::Bool(all) => all,
            Self::Object(members) => constraints(members).next().is_none(),
        }
    }
}

/// The keywords of a schema that say what is allowed.
pub(super) fn constraints(schema: &JsonObject) -> impl Iterator<Item = (&str, &Value)> {
    let members = schema.iter().map(|(name, value)| (&**name, value));
    members.filter(|(name, _)| does(name) == Does::Constrain)
}

/// A schema, after what only refers to another one has been followed.
#[derive(Debug)]
pub(super) struct Settled<'a> {
    pub(super) node: Node<'a>,
    /// All that have words for it, from outside to inside.
    pub(super) told: Vec<&'a JsonObject>,
    /// If it was one of two choices, and the other was `null`: the schema with the choices.
    pub(super) or_null: Option<(&'a JsonObject, &'static str)>,
    /// Where it is, from where it began or from the root.
    pub(super) trail: String,
    pub(super) from_root: bool,
    /// Whether it says that it is a schema of its own, so that references in it mean something else.
    pub(super) is_foreign: bool,
}

impl<'a> Settled<'a> {
    pub(super) fn members(&self) -> &'a JsonObject {
        match self.node {
            Node::Object(members) => members,
            Node::Bool(_) => &NOTHING,
        }
    }

    /// Whether no value is allowed.
    pub(super) fn is_never(&self) -> bool {
        match self.node {
            Node::Bool(all) => !all,
            Node::Object(members) => {
                let mut keywords = constraints(members);
                let only = (keywords.next(), keywords.next());
                matches!(only, (Some(("not", all)), None) if Node::of(all).allows_all())
            }
        }
    }

    pub(super) fn types(&self) -> Types {
        let types = if self.is_never() {
            Types::NONE
        } else {
            Types::of(self.members())
        };
        match self.or_null {
            Some(_) => types.with(Types::NULL),
            None => types,
        }
    }
}

/// Follows what only refers to another schema: a `$ref` alone, one choice alone, one choice or `null`.
pub(super) fn settle<'a>(root: &'a JsonObject, node: Node<'a>) -> Settled<'a> {
    settled(root, node, true)
}

/// [`settle`]; one choice or `null` is followed if that `may_be_null`. Within another one it may not, so this never goes
/// deeper than twice, whatever refers to itself.
fn settled<'a>(root: &'a JsonObject, node: Node<'a>, may_be_null: bool) -> Settled<'a> {
    let mut settled = Settled {
        node,
        told: Vec::new(),
        or_null: None,
        trail: String::new(),
        from_root: false,
        is_foreign: false,
    };
    for _ in 0..HOPS {
        let Node::Object(members) = settled.node else {
            break;
        };
        settled.told.push(members);
        let id = members.get("$id").and_then(Value::as_str);
        if id.is_some_and(|id| !id.starts_with('#')) && !std::ptr::eq(members, root) {
            settled.is_foreign = true;
            break;
        }
        if !settled.follow(root, members, may_be_null) {
            break;
        }
    }
    settled
}

impl<'a> Settled<'a> {
    /// Goes one step on, if there is one.
    fn follow(&mut self, root: &'a JsonObject, members: &'a JsonObject, may_be_null: bool) -> bool {
        let mut keywords = constraints(members);
        let (Some((keyword, value)), None) = (keywords.next(), keywords.next()) else {
            return false;
        };
        match (keyword, value) {
            ("$ref", Value::String(reference)) => {
                let Some((pointer, node)) = resolve(root, reference) else {
                    return false;
                };
                self.trail = pointer;
                self.from_root = true;
                self.node = node;
                true
            }
            ("allOf" | "anyOf" | "oneOf", Value::Array(only)) if only.len() == 1 => {
                self.go(keyword, 0);
                self.node = Node::of(&only[0]);
                true
            }
            ("anyOf", Value::Array(two)) if may_be_null => {
                self.follow_or_null(root, members, "anyOf", two)
            }
            ("oneOf", Value::Array(two)) if may_be_null => {
                self.follow_or_null(root, members, "oneOf", two)
            }
            _ => false,
        }
    }

    fn go(&mut self, keyword: &str, index: usize) {
        write!(self.trail, "/{keyword}/{index}").expect("a string takes everything");
    }

    /// Goes on to a schema that may be `null` beside what it is.
    fn follow_or_null(
        &mut self,
        root: &'a JsonObject,
        members: &'a JsonObject,
        keyword: &'static str,
        two: &'a [Value],
    ) -> bool {
        let [first, second] = two else {
            return false;
        };
        let (index, other) = match (is_null(first), is_null(second)) {
            (true, false) => (1, second),
            (false, true) => (0, first),
            _ => return false,
        };
        // Only where nothing that applies to all types could say something of `null`.
        let inner = settled(root, Node::of(other), false);
        let can = match inner.node {
            Node::Bool(_) => false,
            Node::Object(members) => constraints(members).all(|(name, _)| is_of_one_type(name)),
        };
        let overlaps = keyword == "oneOf" && inner.types().overlaps(Types::NULL);
        if !can || overlaps || inner.is_foreign {
            return false;
        }
        self.or_null = Some((members, keyword));
        if inner.from_root {
            self.trail = inner.trail;
            self.from_root = true;
        } else {
            self.go(keyword, index);
            self.trail.push_str(&inner.trail);
        }
        self.node = inner.node;
        self.told.extend(inner.told);
        // What is inside has been followed already.
        false
    }
}

/// Whether a schema allows `null` and nothing else.
fn is_null(schema: &Value) -> bool {
    match Node::of(schema) {
        Node::Object(members) => {
            constraints(members).all(|(name, _)| matches!(name, "type" | "const" | "enum"))
                && Types::of(members) == Types::NULL
        }
        Node::Bool(_) => false,
    }
}

/// Whether a keyword says something of values of one type only, or can be made to: types and values.
fn is_of_one_type(keyword: &str) -> bool {
    !matches!(
        keyword,
        "$dynamicRef"
            | "$recursiveRef"
            | "$ref"
            | "allOf"
            | "anyOf"
            | "else"
            | "if"
            | "not"
            | "oneOf"
            | "then"
    )
}

/// What a reference within the schema refers to, and its pointer. Names (`$anchor`) are not looked for.
pub(super) fn resolve<'a>(root: &'a JsonObject, reference: &str) -> Option<(String, Node<'a>)> {
    let fragment = reference.strip_prefix('#')?;
    let pointer: Cow<'_, str> = percent_decode(fragment)?;
    if pointer.is_empty() {
        return Some((String::new(), Node::Object(root)));
    }
    let steps = pointer.strip_prefix('/')?;
    let (first, rest) = match steps.find('/') {
        Some(end) => steps.split_at(end),
        None => (steps, ""),
    };
    let first = first.replace("~1", "/").replace("~0", "~");
    let node = root.get(&first)?.pointer(rest)?;
    Some((pointer.into_owned(), Node::of(node)))
}
