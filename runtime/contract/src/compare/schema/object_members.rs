//! Keywords for the members of an object.

use std::collections::BTreeSet;

use serde_json::Value;
use treenail_schema::JsonObject;

use crate::compare::schema::normalize::Node;
use crate::compare::schema::text::members;
use crate::compare::schema::walk::Walk;

/// Keywords for the members of an object.
pub(super) struct Members<'a> {
    pub(super) properties: Option<&'a JsonObject>,
    pub(super) required: BTreeSet<&'a str>,
    root: &'a JsonObject,
    patterns: Vec<(NamePattern<'a>, Node<'a>)>,
    /// Schema of members that are undeclared and match no pattern.
    pub(super) others: Node<'a>,
}

/// Schemas of one member of an object.
pub(super) struct Member<'a> {
    pub(super) declared: Option<Node<'a>>,
    /// The schemas that apply if it is undeclared, each with `true` if it applies certainly.
    pub(super) undeclared: Vec<(Node<'a>, bool)>,
    pub(super) is_required: bool,
    /// Is `true` if no value is allowed: the schema allows none, or the member is undeclared and such members are forbidden.
    pub(super) is_forbidden: bool,
}

impl Member<'_> {
    /// Returns `true` if the member is allowed and declared. A required member counts as declared.
    pub(super) fn is_known(&self) -> bool {
        (self.declared.is_some() || self.is_required) && !self.is_forbidden
    }

    /// Returns `true` if no object is allowed, because the member is required and forbidden.
    pub(super) fn is_impossible(&self) -> bool {
        self.is_required && self.is_forbidden
    }
}

impl<'a> Members<'a> {
    pub(super) fn of(root: &'a JsonObject, schema: &'a JsonObject) -> Self {
        let required = schema.get("required").and_then(Value::as_array);
        let required = required.into_iter().flatten().filter_map(Value::as_str);
        let patterns = members(schema.get("patternProperties"));
        let patterns = patterns.into_iter().flatten();
        Self {
            properties: members(schema.get("properties")),
            required: required.collect(),
            root,
            patterns: patterns
                .map(|(pattern, schema)| (NamePattern::of(pattern), Node::of(schema)))
                .collect(),
            others: schema
                .get("additionalProperties")
                .map_or(Node::Bool(true), Node::of),
        }
    }

    /// Returns the number of declared and required members and of patterns.
    pub(super) fn count(&self) -> usize {
        self.properties.map_or(0, JsonObject::len) + self.required.len() + self.patterns.len()
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &'a str> {
        self.declared().chain(self.required.iter().copied())
    }

    pub(super) fn declared(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let declared = self.properties.into_iter().flat_map(|all| all.keys());
        declared.map(|name| &**name)
    }

    /// Returns `true` if undeclared members have a schema, as in a map.
    pub(super) fn is_map(&self) -> bool {
        matches!(self.others, Node::Object(_)) && !self.others.allows_all()
    }

    pub(super) fn is_closed(&self) -> bool {
        matches!(self.others, Node::Bool(false))
    }

    /// Returns `true` if undeclared members are forbidden, whatever their names.
    pub(super) fn allows_only_declared(&self) -> bool {
        self.is_closed() && self.patterns.is_empty()
    }

    /// Returns the schemas that apply to an undeclared member, each with `true` if it applies certainly.
    fn undeclared(&self, name: &str) -> Vec<(Node<'a>, bool)> {
        let patterns = self.patterns.iter();
        let mut found: Vec<_> = patterns
            .filter_map(|(pattern, schema)| match pattern.matches(name) {
                Some(false) => None,
                matches => Some((*schema, matches.is_some())),
            })
            .collect();
        if !found.iter().any(|(_, is_certain)| *is_certain) {
            found.push((self.others, found.is_empty()));
        }
        found
    }
}

impl<'a> Walk<'_, 'a, '_, '_> {
    /// Returns the schemas of one member of an object.
    pub(super) fn member(&mut self, all: &Members<'a>, name: &str) -> Member<'a> {
        let declared = all.properties.and_then(|all| all.get(name)).map(Node::of);
        let (undeclared, is_forbidden) = if let Some(schema) = declared {
            let is_never = self.normalized(all.root, schema).is_never();
            (Vec::new(), is_never)
        } else {
            self.take_steps(all.patterns.len() / 8);
            let schemas = all.undeclared(name);
            let is_never = |(schema, is_certain): &(_, bool)| {
                *is_certain && matches!(schema, Node::Bool(false))
            };
            let is_forbidden = schemas.iter().any(is_never);
            (schemas, is_forbidden)
        };
        Member {
            declared,
            undeclared,
            is_required: all.required.contains(name),
            is_forbidden,
        }
    }
}

/// Pattern of member names. Only the simplest regular expressions are interpreted.
#[derive(Clone, Copy, Debug)]
enum NamePattern<'a> {
    All,
    Exact(&'a str),
    Prefix(&'a str),
    Unknown,
}

impl<'a> NamePattern<'a> {
    fn of(pattern: &'a str) -> Self {
        if matches!(pattern, "" | "^" | ".*" | "^.*" | "^.*$") {
            return Self::All;
        }
        let Some(rest) = pattern.strip_prefix('^') else {
            return Self::Unknown;
        };
        let exact = rest.strip_suffix('$');
        let literal = exact.unwrap_or(rest);
        match exact {
            _ if literal.contains(is_special) => Self::Unknown,
            Some(exact) => Self::Exact(exact),
            None => Self::Prefix(rest),
        }
    }

    /// Returns `None` if the pattern is not interpreted.
    fn matches(self, name: &str) -> Option<bool> {
        match self {
            Self::All => Some(true),
            Self::Exact(exact) => Some(name == exact),
            Self::Prefix(prefix) => Some(name.starts_with(prefix)),
            Self::Unknown => None,
        }
    }
}

/// Returns `true` if a character has a meaning of its own in a regular expression.
fn is_special(character: char) -> bool {
    r"\^$.|?*+()[]{}".contains(character)
}

#[cfg(test)]
mod tests {
    use super::NamePattern;

    #[test]
    fn only_simple_name_patterns_are_interpreted() {
        let matches = |pattern, name| NamePattern::of(pattern).matches(name);
        assert_eq!(matches("^x-", "x-a"), Some(true));
        assert_eq!(matches("^x-", "ax-"), Some(false));
        assert_eq!(matches("^x$", "x"), Some(true));
        assert_eq!(matches("^x$", "xa"), Some(false));
        assert_eq!(matches(".*", "a"), Some(true));
        for pattern in ["x", "^x|y", "^[a-z]+$", r"^\w", "^x.$", "^x*"] {
            assert_eq!(matches(pattern, "x"), None, "{pattern}");
        }
    }
}
