//! Analysis of a schema within limits: the subschemas and their targets, with all references resolved.

use std::collections::{HashMap, HashSet};

use jsonschema::Draft;
use serde_json::{Map, Value};
use treenail_schema::internal::{ValidationLimits, quoted};

use crate::keyword::{AppliesTo, Keyword};
use crate::pattern::{self, needs_backtracking};
use crate::place::{PathBudget, Place, count_paths};
use crate::reference::{Target, resolve};
use crate::size::{count_values, name_lookups, names_lookups};
use crate::subschema::{Index, Subschema};

/// Cost of checking that a string is a valid pattern, relative to reading it.
const REGEX_CHECK_FACTOR: u64 = 64;

/// All subschemas of a schema, linked by index. The first one is the schema itself.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) subschemas: Vec<Subschema>,
    /// Number of patterns.
    pub(crate) patterns: usize,
}

/// Analyses a schema. The error is the reason for rejecting it.
pub(crate) fn build_plan(
    schema: &Value,
    draft: Draft,
    limits: &ValidationLimits,
) -> Result<Plan, String> {
    let mut builder = PlanBuilder {
        schema,
        draft,
        limits,
        plan: Plan::default(),
        heights: Vec::new(),
        path_bytes: Vec::new(),
        paths: PathBudget::new(limits.path_bytes),
        indexes: HashMap::new(),
        anchors: HashMap::new(),
        references: Vec::new(),
    };
    builder.add_subschema(schema, Place::of_root(schema))?;
    builder.resolve_references()?;
    Ok(builder.plan)
}

struct PlanBuilder<'a> {
    schema: &'a Value,
    draft: Draft,
    limits: &'a ValidationLimits,
    plan: Plan,
    /// Nesting depth of each subschema, including itself.
    heights: Vec<u32>,
    /// Size of the path to each subschema.
    path_bytes: Vec<usize>,
    paths: PathBudget,
    /// Indexes of the known subschemas, by address.
    indexes: HashMap<usize, Index>,
    anchors: HashMap<&'a str, Index>,
    /// References, each with the subschema that contains it.
    references: Vec<(Index, &'a str)>,
}

impl<'a> PlanBuilder<'a> {
    fn add_subschema(&mut self, schema: &'a Value, place: Place) -> Result<Index, String> {
        let address = std::ptr::from_ref(schema) as usize;
        if let Some(index) = self.indexes.get(&address) {
            return Ok(*index);
        }
        self.check_depth(place.depth + 1)?;
        self.paths.charge(1, place.path_bytes)?;
        let index = self.plan.subschemas.len();
        if index >= self.limits.subschemas {
            return Err(format!("it has more than {index} subschemas"));
        }
        self.plan.subschemas.push(Subschema::default());
        self.heights.push(1);
        self.path_bytes.push(place.path_bytes);
        self.indexes.insert(address, index);
        for (name, value) in schema.as_object().into_iter().flatten() {
            self.plan.subschemas[index].uses_unevaluated |= name.starts_with("unevaluated");
            self.plan.subschemas[index].contains |= name == "contains";
            self.add_keyword(index, name, value, place.member(name))?;
        }
        Ok(index)
    }

    fn add_keyword(
        &mut self,
        index: Index,
        name: &'a str,
        value: &'a Value,
        place: Place,
    ) -> Result<(), String> {
        let keyword = Keyword::from_name(name);
        self.paths
            .charge(count_paths(keyword, value), place.path_bytes)?;
        match (keyword, value) {
            (Keyword::Schemas(applies_to), value) => {
                self.add_schemas(index, applies_to, value, place)?;
            }
            (Keyword::Named(applies_to), Value::Object(members)) => {
                self.add_named(index, applies_to, members, place)?;
            }
            (Keyword::Properties, Value::Object(members)) => {
                self.add_properties(index, members, place)?;
            }
            (Keyword::PatternProperties, Value::Object(members)) => {
                self.add_pattern_properties(index, members, place)?;
            }
            (Keyword::Values, values) => {
                self.plan.subschemas[index].compared += count_values(values);
            }
            (Keyword::Required, names) => {
                self.plan.subschemas[index].lookups += names_lookups(names);
            }
            (Keyword::Unique, Value::Bool(true)) => self.plan.subschemas[index].unique_items = true,
            (Keyword::Text(_), Value::String(format)) if format == "regex" => {
                self.plan.subschemas[index].text_steps += REGEX_CHECK_FACTOR;
            }
            (Keyword::Text(steps), _) => self.plan.subschemas[index].text_steps += steps,
            (Keyword::Dialect, _) if index > 0 => {
                return Err("a subschema has a `$schema` of its own".to_owned());
            }
            (keyword, Value::String(text)) => self.add_text_keyword(index, keyword, name, text)?,
            _ => {}
        }
        Ok(())
    }

    /// Adds the subschema of a keyword, or those of its list.
    fn add_schemas(
        &mut self,
        index: Index,
        applies_to: AppliesTo,
        value: &'a Value,
        place: Place,
    ) -> Result<(), String> {
        let Value::Array(schemas) = value else {
            let inner = self.add_inner(index, value, place)?;
            self.plan.subschemas[index].link(applies_to, inner);
            return Ok(());
        };
        for (at, schema) in schemas.iter().enumerate() {
            let inner = self.add_inner(index, schema, place.item(at))?;
            self.plan.subschemas[index].link(applies_to, inner);
        }
        Ok(())
    }

    fn add_named(
        &mut self,
        index: Index,
        applies_to: AppliesTo,
        members: &'a Map<String, Value>,
        place: Place,
    ) -> Result<(), String> {
        for (name, member) in members {
            let subschema = &mut self.plan.subschemas[index];
            if applies_to == AppliesTo::SameValue {
                subschema.lookups += name_lookups(name);
            }
            // In `dependencies`, some members are lists of names.
            if member.is_array() {
                subschema.lookups += names_lookups(member);
                continue;
            }
            let inner = self.add_inner(index, member, place.member(name))?;
            self.plan.subschemas[index].link(applies_to, inner);
        }
        Ok(())
    }

    fn add_properties(
        &mut self,
        index: Index,
        members: &'a Map<String, Value>,
        place: Place,
    ) -> Result<(), String> {
        for (name, member) in members {
            let inner = self.add_inner(index, member, place.member(name))?;
            let subschema = &mut self.plan.subschemas[index];
            subschema.lookups += name_lookups(name);
            subschema.properties.insert(name.as_str().into(), inner);
        }
        Ok(())
    }

    fn add_pattern_properties(
        &mut self,
        index: Index,
        members: &'a Map<String, Value>,
        place: Place,
    ) -> Result<(), String> {
        for (pattern, member) in members {
            let inner = self.add_inner(index, member, place.member(pattern))?;
            self.plan.subschemas[index].link(AppliesTo::Members, inner);
            let steps = pattern::match_steps(pattern);
            let subschema = &mut self.plan.subschemas[index];
            subschema.name_pattern_steps = subschema.name_pattern_steps.saturating_add(steps);
            self.add_pattern(index, pattern);
        }
        Ok(())
    }

    fn add_text_keyword(
        &mut self,
        index: Index,
        keyword: Keyword,
        name: &str,
        text: &'a str,
    ) -> Result<(), String> {
        match keyword {
            Keyword::Pattern => {
                let steps = pattern::match_steps(text);
                let subschema = &mut self.plan.subschemas[index];
                subschema.text_pattern_steps = subschema.text_pattern_steps.saturating_add(steps);
                self.add_pattern(index, text);
            }
            Keyword::Reference => self.references.push((index, text)),
            Keyword::Anchor => self.add_anchor(text, index)?,
            // `id` is a keyword in draft 4 only.
            Keyword::Id if index > 0 && (name == "id") == (self.draft == Draft::Draft4) => {
                match text.strip_prefix('#') {
                    Some(anchor) => self.add_anchor(anchor, index)?,
                    None => return Err(format!("it contains another schema, {}", quoted(text))),
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn add_inner(
        &mut self,
        index: Index,
        schema: &'a Value,
        place: Place,
    ) -> Result<Index, String> {
        let inner = self.add_subschema(schema, place.inside())?;
        self.heights[index] = self.heights[index].max(self.heights[inner] + 1);
        Ok(inner)
    }

    fn add_pattern(&mut self, index: Index, pattern: &str) {
        self.plan.subschemas[index].needs_backtracking |= needs_backtracking(pattern);
        self.plan.patterns += 1;
    }

    fn add_anchor(&mut self, name: &'a str, index: Index) -> Result<(), String> {
        match self.anchors.insert(name, index) {
            Some(other) if other != index => {
                Err(format!("two subschemas have the anchor {}", quoted(name)))
            }
            _ => Ok(()),
        }
    }

    /// Resolves all references, including those inside of their targets.
    fn resolve_references(&mut self) -> Result<(), String> {
        let mut height = self.heights[0];
        let mut targets = HashSet::new();
        let mut resolved = 0;
        while let Some((from, reference)) = self.references.get(resolved).copied() {
            resolved += 1;
            let index = match resolve(self.schema, reference)? {
                Target::Schema(schema) => {
                    // The text of the reference is at least as long as the path.
                    let place = Place::of_root(self.schema).member(reference);
                    self.add_subschema(schema, place)?
                }
                Target::Anchor(name) => *self
                    .anchors
                    .get(name)
                    .ok_or_else(|| format!("the reference {} has no target", quoted(reference)))?,
            };
            self.paths.charge(1, self.path_bytes[index])?;
            if targets.insert(index) {
                // In the worst case, each target refers to the next one.
                height += self.heights[index];
                self.check_depth(height)?;
            }
            self.plan.subschemas[from].same_value.push(index);
        }
        Ok(())
    }

    fn check_depth(&self, depth: u32) -> Result<(), String> {
        let max_depth = self.limits.schema_depth;
        if depth <= max_depth {
            return Ok(());
        }
        Err(format!(
            "its subschemas, including references, are nested deeper than {max_depth}"
        ))
    }
}
