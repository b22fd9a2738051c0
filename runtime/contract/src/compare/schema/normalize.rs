//! Normalization of schemas: references and trivial choices are resolved, so that equivalent forms compare equal.

use std::fmt::Write;
use std::sync::LazyLock;

use serde_json::Value;
use treenail_schema::JsonObject;
use treenail_schema::internal::json_schema::{Fragment, local_fragment, value_at};

use crate::compare::schema::constants::ConstantChoice;
use crate::compare::schema::types::{Types, listed_values};
use crate::keyword::{KeywordRole, keyword_role};

/// Maximum number of consecutive schemas that only refer to another schema.
const MAX_REFERENCE_HOPS: usize = 64;

static EMPTY: LazyLock<JsonObject> = LazyLock::new(JsonObject::new);

/// A schema.
#[derive(Clone, Copy, Debug)]
pub(super) enum Node<'a> {
    /// `true` allows every value, `false` none.
    Bool(bool),
    Object(&'a JsonObject),
}

impl<'a> Node<'a> {
    /// Wraps a value. A value that is not a schema allows everything.
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

    /// Returns `true` if the schema obviously allows every value.
    pub(super) fn allows_all(self) -> bool {
        match self {
            Self::Bool(all) => all,
            Self::Object(members) => constraints(members).next().is_none(),
        }
    }
}

/// Returns the keywords of a schema that restrict values.
pub(super) fn constraints(schema: &JsonObject) -> impl Iterator<Item = (&str, &Value)> {
    let members = schema.iter().map(|(name, value)| (&**name, value));
    members.filter(|(name, _)| keyword_role(name) == KeywordRole::Constraint)
}

/// A schema after its references and trivial choices are resolved.
#[derive(Debug)]
pub(super) struct Normalized<'a> {
    pub(super) node: Node<'a>,
    /// All schemas on the way, from outside to inside. The texts of each apply.
    pub(super) layers: Vec<&'a JsonObject>,
    /// If it is an alternative to `null`: the schema with both alternatives, and the keyword.
    pub(super) or_null: Option<(&'a JsonObject, &'static str)>,
    /// JSON Pointer to the schema, relative to the original one, or to the root if `from_root`.
    pub(super) pointer: String,
    pub(super) from_root: bool,
    /// Is `true` if the schema has an `$id` of its own. References within it then have another base.
    pub(super) is_foreign: bool,
    /// Work of the normalization: about the number of keywords that were read.
    pub(super) cost: usize,
}

impl<'a> Normalized<'a> {
    pub(super) fn members(&self) -> &'a JsonObject {
        match self.node {
            Node::Object(members) => members,
            Node::Bool(_) => &EMPTY,
        }
    }

    /// Returns `true` if the schema allows no value.
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
        if self.allows_null() {
            types.with(Types::NULL)
        } else {
            types
        }
    }

    /// Returns `true` if `null` is allowed beside the values of the schema. Programs that know the keyword `nullable` of `OpenAPI` 3.0
    /// use `null`, although JSON Schema ignores the keyword.
    pub(super) fn allows_null(&self) -> bool {
        let mut layers = self.layers.iter();
        self.or_null.is_some()
            || layers.any(|schema| schema.get("nullable") == Some(&Value::Bool(true)))
    }
}

/// Resolves a schema that consists of a single `$ref`, a single alternative, or one alternative besides `null`.
pub(super) fn normalize<'a>(root: &'a JsonObject, node: Node<'a>) -> Normalized<'a> {
    normalize_node(root, node, true)
}

/// Implements [`normalize`]. An alternative besides `null` is resolved only if `allow_null`. Within such an alternative it is
/// not, so that the recursion is at most two levels deep even for schemas that refer to themselves.
fn normalize_node<'a>(root: &'a JsonObject, node: Node<'a>, allow_null: bool) -> Normalized<'a> {
    let mut normalized = Normalized {
        node,
        layers: Vec::new(),
        or_null: None,
        pointer: String::new(),
        from_root: false,
        is_foreign: false,
        cost: 0,
    };
    for _ in 0..MAX_REFERENCE_HOPS {
        let Node::Object(members) = normalized.node else {
            break;
        };
        normalized.layers.push(members);
        normalized.cost = normalized.cost.saturating_add(reading_cost(members));
        let id = members.get("$id").and_then(Value::as_str);
        if id.is_some_and(|id| !id.starts_with('#')) && !std::ptr::eq(members, root) {
            normalized.is_foreign = true;
            break;
        }
        if !normalized.follow(root, members, allow_null) {
            break;
        }
    }
    normalized
}

impl<'a> Normalized<'a> {
    /// Resolves one level. Returns `false` if there is nothing more to resolve.
    fn follow(&mut self, root: &'a JsonObject, members: &'a JsonObject, allow_null: bool) -> bool {
        let mut keywords = constraints(members);
        let (Some((keyword, value)), None) = (keywords.next(), keywords.next()) else {
            return false;
        };
        match (keyword, value) {
            ("$ref", Value::String(reference)) => {
                let Some((pointer, node)) = resolve(root, reference) else {
                    return false;
                };
                self.pointer = pointer;
                self.from_root = true;
                self.node = node;
                true
            }
            ("allOf" | "anyOf" | "oneOf", Value::Array(only)) if only.len() == 1 => {
                self.push_step(keyword, 0);
                self.node = Node::of(&only[0]);
                true
            }
            ("anyOf", Value::Array(two)) if allow_null => {
                self.follow_or_null(root, members, "anyOf", two)
            }
            ("oneOf", Value::Array(two)) if allow_null => {
                self.follow_or_null(root, members, "oneOf", two)
            }
            _ => false,
        }
    }

    fn push_step(&mut self, keyword: &str, index: usize) {
        write!(self.pointer, "/{keyword}/{index}").expect("writing to a string does not fail");
    }

    /// Resolves an alternative besides `null`.
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
        let branches = two.iter().filter_map(Value::as_object);
        self.cost += branches.map(reading_cost).sum::<usize>();
        let (index, other) = match (is_null(first), is_null(second)) {
            (true, false) => (1, second),
            (false, true) => (0, first),
            _ => return false,
        };
        // Only if no keyword of the alternative could apply to `null`.
        let inner = normalize_node(root, Node::of(other), false);
        let cost = inner.cost + choice_cost(inner.members());
        self.cost = self.cost.saturating_add(cost);
        let is_separable = match inner.node {
            Node::Bool(_) => false,
            Node::Object(members) => {
                constraints(members).all(|(name, _)| is_type_specific(name))
                    || ConstantChoice::of(members).is_some()
            }
        };
        let overlaps = keyword == "oneOf" && inner.types().overlaps(Types::NULL);
        if !is_separable || overlaps || inner.is_foreign {
            return false;
        }
        self.or_null = Some((members, keyword));
        if inner.from_root {
            self.pointer = inner.pointer;
            self.from_root = true;
        } else {
            self.push_step(keyword, index);
            self.pointer.push_str(&inner.pointer);
        }
        self.node = inner.node;
        self.layers.extend(inner.layers);
        // The alternative is already resolved.
        false
    }
}

/// Returns the cost of reading the keywords, the enumerated values and the reference of a schema.
fn reading_cost(schema: &JsonObject) -> usize {
    let values = schema.get("enum").and_then(Value::as_array);
    let reference = schema.get("$ref").and_then(Value::as_str);
    schema.len() + values.map_or(0, Vec::len) / 2 + reference.map_or(0, str::len) / 32
}

/// Returns the cost of reading the alternatives of a schema and the values that they list, whether or not they list values only.
pub(super) fn choice_cost(schema: &JsonObject) -> usize {
    let choices = ["anyOf", "oneOf"].into_iter();
    let lists = choices.filter_map(|keyword| schema.get(keyword)?.as_array());
    let cost = |branch: &JsonObject| {
        let values = listed_values(branch).unwrap_or_default().iter();
        let texts = values.filter_map(Value::as_str);
        reading_cost(branch) + texts.map(|text| text.len() / 32).sum::<usize>()
    };
    let branches = lists
        .flatten()
        .map(|branch| 1 + branch.as_object().map_or(0, cost));
    branches.sum()
}

/// Returns `true` if a schema allows only `null`.
fn is_null(schema: &Value) -> bool {
    match Node::of(schema) {
        Node::Object(members) => {
            constraints(members).all(|(name, _)| matches!(name, "type" | "const" | "enum"))
                && Types::of(members) == Types::NULL
        }
        Node::Bool(_) => false,
    }
}

/// Returns `true` if a keyword applies to one type only, or lists types or values from which `null` can be separated.
fn is_type_specific(keyword: &str) -> bool {
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

/// Resolves a reference within the schema. Returns its pointer and the target. Anchors (`$anchor`) are not supported.
pub(super) fn resolve<'a>(root: &'a JsonObject, reference: &str) -> Option<(String, Node<'a>)> {
    let Fragment::Pointer(pointer) = local_fragment(reference)? else {
        return None;
    };
    let node = if pointer.is_empty() {
        Node::Object(root)
    } else {
        Node::of(value_at(root, &pointer)?)
    };
    Some((pointer.into_owned(), node))
}
