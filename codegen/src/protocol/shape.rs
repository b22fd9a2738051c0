//! Flat shapes of the definitions of one revision: each inline schema gets a name.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Map, Value, json};

use crate::protocol::load::{Revision, is_open, is_schema, refer_to, reference, strings};
use crate::protocol::names;
use crate::protocol::overlay::{Inline, Overlay};

/// A definition without inline definitions.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    Record(Record),
    /// One of these definitions, in the schema's order.
    Union(Vec<String>),
    /// One of these strings.
    Choice(BTreeSet<String>),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Record {
    pub fields: BTreeMap<String, FieldShape>,
    /// Set if members that the schema does not list are part of the data.
    pub open: bool,
    /// The required constant that distinguishes the record from others, as in `type`, `text`.
    pub tag: Option<(String, String)>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FieldShape {
    pub schema: Value,
    pub required: bool,
}

/// Collector of the shapes of one revision, starting from the added definitions.
pub(crate) struct Shapes<'a> {
    revision: &'a Revision,
    overlay: &'a Overlay,
    pub found: BTreeMap<String, Shape>,
    pending: Vec<String>,
}

impl<'a> Shapes<'a> {
    pub(crate) fn new(revision: &'a Revision, overlay: &'a Overlay) -> Self {
        Self {
            revision,
            overlay,
            found: BTreeMap::new(),
            pending: Vec::new(),
        }
    }

    /// Adds the definition `name`, if the revision has it, and all definitions that it refers to.
    pub(crate) fn add(&mut self, name: &str) -> Result<bool> {
        self.pending.push(name.to_owned());
        self.resolve_pending()?;
        Ok(self.found.contains_key(name))
    }

    /// Adds the inline schema at `at` under the name `default`, unless the overlay has another name.
    pub(crate) fn add_inline(&mut self, at: &str, schema: &Value, default: &str) -> Result<()> {
        if self.overlay.replacement(at).is_some() {
            return self.add(default).map(drop);
        }
        if let Some(name) = reference(schema) {
            return self.add(name).map(drop);
        }
        let named = self.overlay.name(at);
        let name = named.map_or(default, |named| named.name.as_str());
        self.define(name, schema)?;
        if let Some(union) = named.and_then(|named| named.union.as_ref()) {
            self.insert(union, Shape::Union(vec![name.to_owned()]))?;
        }
        self.resolve_pending()
    }

    fn resolve_pending(&mut self) -> Result<()> {
        while let Some(name) = self.pending.pop() {
            if self.found.contains_key(&name) || self.overlay.external(&name).is_some() {
                continue;
            }
            if let Some(schema) = self.revision.definitions.get(&name) {
                self.define(&name, schema)?;
            }
        }
        Ok(())
    }

    fn define(&mut self, name: &str, schema: &Value) -> Result<()> {
        let shape = self
            .shape(name, schema)
            .with_context(|| format!("the definition {name}"))?;
        self.insert(name, shape)
    }

    /// Adds a shape. Several inline copies of a definition, each of which can be partial, are merged.
    fn insert(&mut self, name: &str, shape: Shape) -> Result<()> {
        match (self.found.get_mut(name), shape) {
            (None, shape) => {
                self.found.insert(name.to_owned(), shape);
            }
            (Some(Shape::Union(known)), Shape::Union(mut new)) => {
                new.retain(|member| !known.contains(member));
                known.extend(new);
            }
            (Some(Shape::Record(known)), Shape::Record(new)) => {
                known.open |= new.open;
                for (field, shape) in new.fields {
                    let known = known.fields.entry(field).or_insert_with(|| shape.clone());
                    ensure!(*known == shape, "two inline definitions of {name} disagree");
                }
            }
            (Some(known), new) => ensure!(*known == new, "two definitions of {name} disagree"),
        }
        Ok(())
    }

    fn shape(&mut self, name: &str, schema: &Value) -> Result<Shape> {
        if let Some(members) = schema.get("anyOf").and_then(Value::as_array) {
            return Ok(Shape::Union(self.members(members)?));
        }
        if let Some(values) = strings(schema, "enum") {
            return Ok(Shape::Choice(values));
        }
        if let Some(constant) = schema.get("const").and_then(Value::as_str) {
            return Ok(Shape::Choice(BTreeSet::from([constant.to_owned()])));
        }
        match schema.get("properties").and_then(Value::as_object) {
            Some(properties) => self.record(name, schema, properties).map(Shape::Record),
            None => bail!("it is not an object, a union or a choice of strings"),
        }
    }

    fn members(&mut self, members: &[Value]) -> Result<Vec<String>> {
        let mut names = Vec::new();
        for member in members {
            if let Some(name) = reference(member) {
                self.pending.push(name.to_owned());
                names.push(name.to_owned());
            } else if let Some(item) = member.get("items").and_then(reference) {
                self.pending.push(item.to_owned());
            } else {
                bail!("a member of a union has no name: {member}");
            }
        }
        Ok(names)
    }

    fn record(
        &mut self,
        name: &str,
        schema: &Value,
        properties: &Map<String, Value>,
    ) -> Result<Record> {
        let required = strings(schema, "required").unwrap_or_default();
        let mut record = Record {
            open: is_open(schema),
            ..Record::default()
        };
        for (field, schema) in properties {
            let required = required.contains(field);
            let at = format!("{name}.{field}");
            let constant = schema.get("const").and_then(Value::as_str);
            match constant.or_else(|| self.overlay.constant(&at)) {
                Some(constant) if required => {
                    ensure!(record.tag.is_none(), "{name} has two constants");
                    record.tag = Some((field.clone(), constant.to_owned()));
                }
                _ => {
                    let schema = self.schema_at(&at, schema)?;
                    record
                        .fields
                        .insert(field.clone(), FieldShape { schema, required });
                }
            }
        }
        Ok(record)
    }

    /// Returns the schema for `at`, with references in place of inline definitions.
    fn schema_at(&mut self, at: &str, schema: &Value) -> Result<Value> {
        if let Some(with) = self.overlay.replacement(at) {
            self.pending.push(with.to_owned());
            return Ok(refer_to(with));
        }
        if let Some(name) = reference(schema) {
            self.pending.push(name.to_owned());
            return Ok(refer_to(name));
        }
        if ["anyOf", "enum", "const"]
            .iter()
            .any(|key| schema.get(key).is_some())
        {
            return self.hoist(at, schema);
        }
        let kind = schema.get("type");
        match kind.and_then(Value::as_str) {
            Some("object") => self.object_at(at, schema),
            Some("array") => {
                let item = schema
                    .get("items")
                    .with_context(|| format!("{at} has no items"))?;
                let item = self.schema_at(&format!("{at}[]"), item)?;
                Ok(json!({ "type": "array", "items": item }))
            }
            Some("number") => Ok(refer_to("Number")),
            Some("integer") if schema.get("minimum") == Some(&json!(0)) => {
                Ok(json!({ "type": "integer", "minimum": 0 }))
            }
            Some(scalar @ ("integer" | "string" | "boolean")) => Ok(json!({ "type": scalar })),
            None if *schema == json!({}) => Ok(json!({})),
            None if kind == Some(&json!(["integer", "null"])) => Ok(json!({ "type": kind })),
            _ => bail!("{at} uses a construct that the generator does not know: {schema}"),
        }
    }

    fn object_at(&mut self, at: &str, schema: &Value) -> Result<Value> {
        let properties = schema.get("properties").and_then(Value::as_object);
        if !properties.is_none_or(Map::is_empty) || at.ends_with("._meta") {
            return self.hoist(at, schema);
        }
        match schema.get("additionalProperties") {
            Some(values) if is_schema(values) => {
                let values = self.schema_at(&format!("{at}{{}}"), values)?;
                Ok(json!({ "type": "object", "additionalProperties": values }))
            }
            _ => Ok(refer_to("JSONObject")),
        }
    }

    /// Turns the inline schema at `at` into a definition.
    fn hoist(&mut self, at: &str, schema: &Value) -> Result<Value> {
        let named = self.overlay.name(at);
        let name = match (named, at.strip_suffix("._meta")) {
            (Some(named), _) => named.name.clone(),
            (None, Some(parent)) => names::meta_object(parent).to_owned(),
            (None, None) => names::inline(at),
        };
        if self.overlay.external(&name).is_none() {
            let bare = json!({ "properties": {}, "additionalProperties": {} });
            let is_bare = at.ends_with("._meta") && schema.get("properties").is_none();
            let schema = if is_bare { &bare } else { schema };
            self.define(&name, schema)?;
        }
        Ok(match named {
            Some(Inline { many: true, .. }) => refer_to(&format!("OneOrMany{name}")),
            _ => refer_to(&name),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::load;

    fn shape(definition: &str) -> Result<BTreeMap<String, Shape>> {
        let text = format!(r#"{{"$defs": {{"A": {definition}}}}}"#);
        let revision = load::revision("test", &text)?;
        let overlay = Overlay::parse(include_str!("../../overlay.toml"))?;
        let mut shapes = Shapes::new(&revision, &overlay);
        shapes.add("A")?;
        Ok(shapes.found)
    }

    #[test]
    fn a_required_constant_is_a_tag_and_an_optional_one_a_choice() {
        let constant = r#"{"type": "object", "properties": {"t": {"const": "x"}}"#;
        let Shape::Record(required) =
            &shape(&format!(r#"{constant}, "required": ["t"]}}"#)).unwrap()["A"]
        else {
            panic!("it is no record")
        };
        assert_eq!(required.tag, Some(("t".to_owned(), "x".to_owned())));
        let optional = shape(&format!("{constant}}}")).unwrap();
        assert_eq!(
            optional["AT"],
            Shape::Choice(BTreeSet::from(["x".to_owned()]))
        );
    }

    #[test]
    fn unsupported_constructs_are_rejected() {
        let definition = r#"{"type": "object", "properties": {"a": {"type": ["string", "null"]}}}"#;
        let error = format!("{:#}", shape(definition).unwrap_err());
        assert!(error.contains("A.a uses a construct"), "{error}");
    }
}
