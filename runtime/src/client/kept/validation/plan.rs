//! A schema, read within bounds: which subschemas it applies to what, all references followed.

use std::collections::{HashMap, HashSet};

use jsonschema::Draft;
use serde_json::Value;

use crate::client::ClientLimits;
use crate::client::kept::validation::keyword::{Applied, Keyword};
use crate::client::kept::validation::pattern::{self, goes_back};
use crate::client::kept::validation::reference::{Target, target};
use crate::wire::quoted;

/// Bytes of a text that are looked at in one step.
const PIECE: usize = 16;

/// How much longer than reading a text it takes to find out whether it is a pattern.
const REGEX: u64 = 64;

/// The place of a subschema in a [`Plan`].
pub(super) type Place = usize;

/// What a schema applies to what. The first part is the schema itself.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) parts: Vec<Part>,
    /// How many patterns there are.
    pub(super) patterns: usize,
}

/// One subschema.
#[derive(Debug, Default)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is about another keyword"
)]
pub(super) struct Part {
    /// What it applies to the same value.
    pub(super) same: Vec<Place>,
    /// What it applies to one member of an object.
    pub(super) properties: HashMap<Box<str>, Place>,
    /// What it may apply to any member of an object.
    pub(super) members: Vec<Place>,
    /// What it applies to the names of members.
    pub(super) names: Vec<Place>,
    /// What it may apply to any item of a list.
    pub(super) items: Vec<Place>,
    /// Size of the values that a value is compared with.
    pub(super) compared: u64,
    /// Steps for each piece of a text that keywords other than patterns look at.
    pub(super) text_looks: u64,
    /// Names that are looked up in an object; a long one counts for several.
    pub(super) lookups: u64,
    /// Whether it counts items that fit a subschema.
    pub(super) contains: bool,
    /// Whether the items of a list are compared with each other.
    pub(super) unique: bool,
    /// Steps for each piece of a text that is matched with patterns.
    pub(super) text_patterns: u64,
    /// Steps for each piece of the name of a member that is matched with patterns.
    pub(super) name_patterns: u64,
    /// Whether one of them may have to go back, and so take longer than in proportion to the text.
    pub(super) goes_back: bool,
    /// Whether it asks what its other keywords have evaluated.
    pub(super) looks_again: bool,
}

/// Reads a schema; the error tells what is wrong with it.
pub(super) fn plan(schema: &Value, draft: Draft, limits: &ClientLimits) -> Result<Plan, String> {
    let mut reader = Reader {
        schema,
        draft,
        limits,
        plan: Plan::default(),
        heights: Vec::new(),
        places: HashMap::new(),
        anchors: HashMap::new(),
        references: Vec::new(),
    };
    reader.subschema(schema, 0)?;
    reader.follow()?;
    Ok(reader.plan)
}

struct Reader<'a> {
    schema: &'a Value,
    draft: Draft,
    limits: &'a ClientLimits,
    plan: Plan,
    /// How many subschemas are inside of each other in each one, itself counted.
    heights: Vec<u32>,
    /// The places of the subschemas that have been read, by their addresses.
    places: HashMap<usize, Place>,
    anchors: HashMap<&'a str, Place>,
    /// References, and where they stand.
    references: Vec<(Place, &'a str)>,
}

impl<'a> Reader<'a> {
    fn subschema(&mut self, schema: &'a Value, depth: u32) -> Result<Place, String> {
        let address = std::ptr::from_ref(schema) as usize;
        if let Some(place) = self.places.get(&address) {
            return Ok(*place);
        }
        self.check_depth(depth + 1)?;
        let place = self.plan.parts.len();
        if place >= self.limits.validation.subschemas {
            return Err(format!("it has more than {place} subschemas"));
        }
        self.plan.parts.push(Part::default());
        self.heights.push(1);
        self.places.insert(address, place);
        for (name, value) in schema.as_object().into_iter().flatten() {
            self.plan.parts[place].looks_again |= name.starts_with("unevaluated");
            self.plan.parts[place].contains |= name == "contains";
            self.keyword(place, name, value, depth)?;
        }
        Ok(place)
    }

    fn keyword(
        &mut self,
        place: Place,
        name: &'a str,
        value: &'a Value,
        depth: u32,
    ) -> Result<(), String> {
        match (Keyword::of(name), value) {
            (Keyword::Schemas(applied), Value::Array(items)) => {
                for item in items {
                    let inner = self.inner(place, item, depth)?;
                    self.apply(place, applied, inner);
                }
            }
            (Keyword::Schemas(applied), schema) => {
                let inner = self.inner(place, schema, depth)?;
                self.apply(place, applied, inner);
            }
            (Keyword::Named(applied), Value::Object(members)) => {
                for (name, member) in members {
                    if applied == Applied::Same {
                        self.plan.parts[place].lookups += lookup(name);
                    }
                    // In `dependencies`, some are lists of names.
                    if member.is_array() {
                        self.plan.parts[place].lookups += lookups(member);
                        continue;
                    }
                    let inner = self.inner(place, member, depth)?;
                    self.apply(place, applied, inner);
                }
            }
            (Keyword::Properties, Value::Object(members)) => {
                for (name, member) in members {
                    let inner = self.inner(place, member, depth)?;
                    let part = &mut self.plan.parts[place];
                    part.lookups += lookup(name);
                    part.properties.insert(name.as_str().into(), inner);
                }
            }
            (Keyword::PatternProperties, Value::Object(members)) => {
                for (pattern, member) in members {
                    let inner = self.inner(place, member, depth)?;
                    self.apply(place, Applied::Members, inner);
                    let steps = pattern::steps(pattern);
                    let part = &mut self.plan.parts[place];
                    part.name_patterns = part.name_patterns.saturating_add(steps);
                    self.pattern(place, pattern);
                }
            }
            (Keyword::Values, values) => self.plan.parts[place].compared += size(values),
            (Keyword::Required, names) => self.plan.parts[place].lookups += lookups(names),
            (Keyword::Unique, Value::Bool(true)) => self.plan.parts[place].unique = true,
            (Keyword::Text(looks), _) => {
                let is_pattern = value.as_str() == Some("regex");
                let looks = if is_pattern { REGEX } else { looks };
                self.plan.parts[place].text_looks += looks;
            }
            (Keyword::Dialect, _) if place > 0 => {
                return Err("a subschema has a `$schema` of its own".to_owned());
            }
            (keyword, Value::String(text)) => self.text(place, keyword, name, text)?,
            _ => {}
        }
        Ok(())
    }

    fn text(
        &mut self,
        place: Place,
        keyword: Keyword,
        name: &str,
        text: &'a str,
    ) -> Result<(), String> {
        match keyword {
            Keyword::Pattern => {
                let steps = pattern::steps(text);
                let part = &mut self.plan.parts[place];
                part.text_patterns = part.text_patterns.saturating_add(steps);
                self.pattern(place, text);
            }
            Keyword::Reference => self.references.push((place, text)),
            Keyword::Anchor => self.anchor(text, place)?,
            // `id` is that of draft 4, and may be anything in the others.
            Keyword::Id if place > 0 && (name == "id") == (self.draft == Draft::Draft4) => {
                match text.strip_prefix('#') {
                    Some(anchor) => self.anchor(anchor, place)?,
                    None => return Err(format!("another schema is in it, {}", quoted(text))),
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn inner(&mut self, place: Place, schema: &'a Value, depth: u32) -> Result<Place, String> {
        let inner = self.subschema(schema, depth + 1)?;
        self.heights[place] = self.heights[place].max(self.heights[inner] + 1);
        Ok(inner)
    }

    fn apply(&mut self, place: Place, applied: Applied, inner: Place) {
        let part = &mut self.plan.parts[place];
        match applied {
            Applied::Same => part.same.push(inner),
            Applied::Members => part.members.push(inner),
            Applied::Names => part.names.push(inner),
            Applied::Items => part.items.push(inner),
            Applied::Later => {}
        }
    }

    fn pattern(&mut self, place: Place, pattern: &str) {
        self.plan.parts[place].goes_back |= goes_back(pattern);
        self.plan.patterns += 1;
    }

    fn anchor(&mut self, name: &'a str, place: Place) -> Result<(), String> {
        match self.anchors.insert(name, place) {
            Some(other) if other != place => {
                Err(format!("two subschemas have the anchor {}", quoted(name)))
            }
            _ => Ok(()),
        }
    }

    /// Follows all references, those too that are in what is found at their ends.
    fn follow(&mut self) -> Result<(), String> {
        let mut height = self.heights[0];
        let mut targets = HashSet::new();
        let mut followed = 0;
        while let Some((from, reference)) = self.references.get(followed).copied() {
            followed += 1;
            let place = match target(self.schema, reference)? {
                Target::Schema(schema) => self.subschema(schema, 0)?,
                Target::Anchor(name) => *self
                    .anchors
                    .get(name)
                    .ok_or_else(|| format!("nothing is at {}", quoted(reference)))?,
            };
            if targets.insert(place) {
                // At worst, each target leads to the next one.
                height += self.heights[place];
                self.check_depth(height)?;
            }
            self.plan.parts[from].same.push(place);
        }
        Ok(())
    }

    fn check_depth(&self, depth: u32) -> Result<(), String> {
        let most = self.limits.validation.schema_depth;
        if depth <= most {
            return Ok(());
        }
        Err(format!(
            "its subschemas, with those they refer to, are nested deeper than {most}"
        ))
    }
}

/// Lookups that finding a member by its name counts for.
fn lookup(name: &str) -> u64 {
    1 + pieces(name) / 4
}

/// As [`lookup`], for a list of names, or lists of them by other names.
fn lookups(names: &Value) -> u64 {
    match names {
        Value::Array(names) => names.iter().map(lookups).sum(),
        Value::Object(members) => members
            .iter()
            .map(|(name, names)| lookup(name) + lookups(names))
            .sum(),
        Value::String(name) => lookup(name),
        _ => 0,
    }
}

/// Pieces of a text, each of which is looked at in one step.
pub(super) fn pieces(text: &str) -> u64 {
    (text.len() / PIECE) as u64
}

/// Values and pieces of texts in a value, itself counted.
pub(super) fn size(value: &Value) -> u64 {
    match value {
        Value::Array(items) => 1 + items.iter().map(size).sum::<u64>(),
        Value::Object(members) => members
            .iter()
            .map(|(name, member)| pieces(name) + size(member))
            .fold(1, u64::saturating_add),
        Value::String(text) => 1 + pieces(text),
        _ => 1,
    }
}
