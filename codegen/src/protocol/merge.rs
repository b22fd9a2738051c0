//! Merge of all revisions into one set of definitions that can represent each of them.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::protocol::error_codes;
use crate::protocol::load::{Revision, reference};
use crate::protocol::methods::{self, Method};
use crate::protocol::overlay::Overlay;
use crate::protocol::revisions::RevisionSet;
use crate::protocol::shape::{Record, Shape, Shapes};

/// The merged definitions, from which the files are generated.
#[derive(Debug)]
pub(crate) struct Merged {
    /// The names of the revisions, oldest first.
    pub revisions: Vec<String>,
    pub definitions: BTreeMap<String, Definition>,
    pub methods: Vec<Method>,
    /// Error codes by the name of the constant.
    pub error_codes: Vec<(String, i64)>,
}

#[derive(Debug)]
pub(crate) struct Definition {
    pub kind: Kind,
    pub revisions: RevisionSet,
}

impl Definition {
    /// Creates an empty definition of the same kind, without revisions.
    fn new(shape: &Shape) -> Self {
        let kind = match shape {
            Shape::Record(_) => Kind::Record {
                fields: BTreeMap::new(),
                open: false,
                tag: None,
            },
            Shape::Union(_) => Kind::Union(Vec::new()),
            Shape::Choice(_) => Kind::Choice(BTreeSet::new()),
        };
        Self {
            kind,
            revisions: RevisionSet::default(),
        }
    }
}

#[derive(Debug)]
pub(crate) enum Kind {
    Record {
        fields: BTreeMap<String, Field>,
        open: bool,
        tag: Option<(String, String)>,
    },
    /// The members in the newest order, with the revisions that allow each.
    Union(Vec<(String, RevisionSet)>),
    Choice(BTreeSet<String>),
}

#[derive(Debug)]
pub(crate) struct Field {
    pub schema: Value,
    pub revisions: RevisionSet,
    pub required_in: RevisionSet,
    /// Set if every revision with the definition requires the field, so that readers can require it.
    pub required: bool,
}

/// Merges the revisions, given oldest first.
pub(crate) fn merge(mut revisions: Vec<Revision>, overlay: &Overlay) -> Result<Merged> {
    for revision in &mut revisions {
        let name = revision.name.clone();
        for (from, to) in overlay.renames(&name) {
            if revision.rename(from, to) {
                overlay.renamed(from);
            }
        }
    }
    let methods = methods::collect(&revisions)?;
    let mut merged = Merged {
        revisions: revisions
            .iter()
            .map(|revision| revision.name.clone())
            .collect(),
        definitions: BTreeMap::new(),
        methods,
        error_codes: error_codes::collect(&revisions, overlay),
    };
    for (index, revision) in revisions.iter().enumerate() {
        for (name, shape) in shapes(revision, &merged.methods, overlay)? {
            add(&mut merged.definitions, &name, shape, index, overlay)
                .with_context(|| format!("{name} of {}", revision.name))?;
        }
    }
    for (name, definition) in &mut merged.definitions {
        finish(name, definition, overlay);
    }
    Ok(merged)
}

/// Collects the shapes of one revision: params and results of its methods, data of its errors, and the
/// definitions that the overlay adds.
fn shapes(
    revision: &Revision,
    methods: &[Method],
    overlay: &Overlay,
) -> Result<BTreeMap<String, Shape>> {
    let mut shapes = Shapes::new(revision, overlay);
    for method in methods {
        let Some(schema) = revision.definitions.get(&method.definition) else {
            continue;
        };
        if let Some(params) = schema["properties"].get("params") {
            let at = format!("{}.params", method.definition);
            shapes.add_inline(&at, params, &method.params)?;
        }
        if let Some(result) = &method.result {
            shapes.add(result)?;
        }
    }
    for (name, schema) in &revision.definitions {
        let data = &schema["properties"]["error"]["properties"]["data"];
        if data.get("properties").is_some() {
            shapes.add_inline(&format!("{name}.data"), data, &format!("{name}Data"))?;
        }
    }
    for name in overlay.additional() {
        if shapes.add(name)? {
            overlay.mark_additional(name);
        }
    }
    Ok(shapes.found)
}

fn add(
    definitions: &mut BTreeMap<String, Definition>,
    name: &str,
    shape: Shape,
    index: usize,
    overlay: &Overlay,
) -> Result<()> {
    let definition = definitions
        .entry(name.to_owned())
        .or_insert_with(|| Definition::new(&shape));
    definition.revisions.insert(index);
    match (&mut definition.kind, shape) {
        (Kind::Record { fields, open, tag }, Shape::Record(record)) => {
            *open |= record.open;
            ensure!(
                tag.is_none() || *tag == record.tag,
                "its constant has changed"
            );
            tag.clone_from(&record.tag);
            add_fields(fields, name, record, index, overlay)?;
        }
        (Kind::Union(known), Shape::Union(members)) => add_members(known, members, index),
        (Kind::Choice(known), Shape::Choice(values)) => known.extend(values),
        _ => bail!("it is something else in an older revision"),
    }
    Ok(())
}

/// Sorts the members in the order of this revision, followed by those that it no longer has.
fn add_members(known: &mut Vec<(String, RevisionSet)>, members: Vec<String>, index: usize) {
    let mut older = std::mem::take(known);
    for member in members {
        let position = older.iter().position(|(name, _)| *name == member);
        let mut revisions = position.map(|at| older.remove(at).1).unwrap_or_default();
        revisions.insert(index);
        known.push((member, revisions));
    }
    known.append(&mut older);
}

fn add_fields(
    fields: &mut BTreeMap<String, Field>,
    definition: &str,
    record: Record,
    index: usize,
    overlay: &Overlay,
) -> Result<()> {
    for (name, shape) in record.fields {
        let field = fields.entry(name.clone()).or_insert_with(|| Field {
            schema: shape.schema.clone(),
            revisions: RevisionSet::default(),
            required_in: RevisionSet::default(),
            required: false,
        });
        field.revisions.insert(index);
        if shape.required {
            field.required_in.insert(index);
        }
        let at = format!("{definition}.{name}");
        if field.schema == shape.schema || is_exact(&field.schema, &shape.schema) {
            continue;
        }
        if !is_exact(&shape.schema, &field.schema) && !overlay.newest_is_widest(&at) {
            bail!("`{name}` was {} and is {}", field.schema, shape.schema);
        }
        field.schema = shape.schema;
    }
    Ok(())
}

/// Returns `true` if `loose` is any object and `exact` a named definition.
fn is_exact(exact: &Value, loose: &Value) -> bool {
    reference(loose) == Some("JSONObject") && reference(exact).is_some()
}

fn finish(name: &str, definition: &mut Definition, overlay: &Overlay) {
    if let Kind::Record { fields, open, .. } = &mut definition.kind {
        *open |= overlay.is_open(name);
        for (field, facts) in fields {
            let everywhere = facts.required_in == definition.revisions;
            facts.required = everywhere && !overlay.is_optional(&format!("{name}.{field}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::load;

    /// Merges revisions of the notification `XNotification` with these params.
    fn params(revisions: &[&str]) -> Result<Definition> {
        let text = |params| {
            format!(
                r#"{{"$defs": {{"XNotification": {{"properties":
                    {{"method": {{"const": "x"}}, "params": {params}}}}}}}}}"#
            )
        };
        let revisions = revisions
            .iter()
            .map(|params| load::revision("test", &text(params)));
        let overlay = Overlay::parse(include_str!("../../overlay.toml"))?;
        let mut merged = merge(revisions.collect::<Result<_>>()?, &overlay)?;
        merged
            .definitions
            .remove("XNotificationParams")
            .context("no params")
    }

    fn fields(definition: &Definition) -> &BTreeMap<String, Field> {
        let Kind::Record { fields, .. } = &definition.kind else {
            panic!("it is no record")
        };
        fields
    }

    #[test]
    fn a_member_is_required_where_all_revisions_require_it() {
        let old = r#"{"properties": {"a": {}, "b": {}}, "required": ["a"]}"#;
        let new = r#"{"properties": {"a": {}, "b": {}}, "required": ["a", "b"]}"#;
        let merged = params(&[old, new]).unwrap();
        assert!(fields(&merged)["a"].required && !fields(&merged)["b"].required);
        assert_eq!(fields(&merged)["b"].required_in, RevisionSet(0b10));
    }

    #[test]
    fn a_record_takes_precedence_over_any_object_in_another_revision() {
        let exact = r#"{"properties": {"a": {"type": "object", "properties": {"b": {}}}}}"#;
        let loose = r#"{"properties": {"a": {"type": "object"}}}"#;
        for revisions in [[exact, loose], [loose, exact]] {
            let merged = params(&revisions).unwrap();
            assert_eq!(
                reference(&fields(&merged)["a"].schema),
                Some("XNotificationParamsA")
            );
        }
    }

    #[test]
    fn a_change_that_the_overlay_does_not_list_is_rejected() {
        let old = r#"{"properties": {"a": {"type": "string"}}}"#;
        let new = r#"{"properties": {"a": {"type": "boolean"}}}"#;
        let error = format!("{:#}", params(&[old, new]).unwrap_err());
        assert!(error.contains("`a` was"), "{error}");
    }
}
