//! Merges the revisions into one set of definitions that reads all of them.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::load::{Revision, refer_to, reference};
use crate::methods::{self, Method};
use crate::overlay::Overlay;
use crate::revisions::RevisionSet;
use crate::shape::{Record, Shape, Shapes};

/// Everything the generated files are made from.
#[derive(Debug)]
pub(crate) struct Hub {
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

#[derive(Debug)]
pub(crate) enum Kind {
    Record {
        fields: BTreeMap<String, Field>,
        open: bool,
        tag: Option<(String, String)>,
    },
    /// The members in the newest order, and where each may stand.
    Union(Vec<(String, RevisionSet)>),
    Choice(BTreeMap<String, RevisionSet>),
}

#[derive(Debug)]
pub(crate) struct Field {
    pub schema: Value,
    pub revisions: RevisionSet,
    pub required_in: RevisionSet,
    /// Required in every revision that has the definition, so that the reader may insist on it.
    pub required: bool,
}

/// Merges the revisions, which come oldest first.
pub(crate) fn merge(mut revisions: Vec<Revision>, overlay: &Overlay) -> Result<Hub> {
    for revision in &mut revisions {
        rename(revision, overlay);
    }
    let methods = methods::collect(&revisions)?;
    let mut hub = Hub {
        revisions: revisions
            .iter()
            .map(|revision| revision.name.clone())
            .collect(),
        definitions: BTreeMap::new(),
        methods,
        error_codes: error_codes(&revisions, overlay),
    };
    for (index, revision) in revisions.iter().enumerate() {
        for (name, shape) in shapes(revision, &hub.methods, overlay)? {
            add(&mut hub.definitions, &name, shape, index, overlay)
                .with_context(|| format!("{name} of {}", revision.name))?;
        }
    }
    for (name, definition) in &mut hub.definitions {
        finish(name, definition, overlay);
    }
    Ok(hub)
}

fn rename(revision: &mut Revision, overlay: &Overlay) {
    for (from, to) in overlay.renames(&revision.name) {
        let Some(schema) = revision.definitions.remove(from) else {
            continue;
        };
        revision.definitions.insert(to.to_owned(), schema);
        overlay.renamed(from);
        for schema in revision.definitions.values_mut() {
            rename_references(schema, from, to);
        }
    }
}

fn rename_references(schema: &mut Value, from: &str, to: &str) {
    if reference(schema) == Some(from) {
        *schema = refer_to(to);
    }
    crate::load::each_child(schema, &mut |child| rename_references(child, from, to));
}

/// The shapes of one revision: what its methods carry, what its errors carry, and what the overlay
/// asks for.
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
    for name in overlay.kept() {
        if shapes.add(name)? {
            overlay.kept_one(name);
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
        .or_insert_with(|| Definition {
            kind: match &shape {
                Shape::Record(_) => Kind::Record {
                    fields: BTreeMap::new(),
                    open: false,
                    tag: None,
                },
                Shape::Union(_) => Kind::Union(Vec::new()),
                Shape::Choice(_) => Kind::Choice(BTreeMap::new()),
            },
            revisions: RevisionSet::default(),
        });
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
        (Kind::Choice(known), Shape::Choice(names)) => {
            for name in names {
                known.entry(name).or_default().insert(index);
            }
        }
        _ => bail!("it is something else in an older revision"),
    }
    Ok(())
}

/// Puts the members into the order of this revision, and what it no longer has after them.
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

/// Whether `exact` describes by name what `loose` calls just an object.
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

/// The codes of the error definitions, and those that only the text of the specification has.
fn error_codes(revisions: &[Revision], overlay: &Overlay) -> Vec<(String, i64)> {
    let mut codes: BTreeMap<String, i64> = BTreeMap::new();
    for (name, schema) in revisions.iter().flat_map(|revision| &revision.definitions) {
        let properties = &schema["properties"];
        let code = [
            &properties["code"],
            &properties["error"]["properties"]["code"],
        ];
        let code = code.iter().find_map(|code| code.get("const")?.as_i64());
        if let (Some(stem), Some(code)) = (name.strip_suffix("Error"), code) {
            codes.insert(constant_name(stem), code);
        }
    }
    let more = overlay
        .error_codes()
        .map(|(name, code)| (name.to_owned(), code));
    let mut codes: Vec<_> = codes.into_iter().chain(more).collect();
    codes.sort_by_key(|(_, code)| std::cmp::Reverse(*code));
    codes
}

/// `PARSE_ERROR` for `Parse`, but `METHOD_NOT_FOUND`: one word alone would not say what it is.
fn constant_name(stem: &str) -> String {
    let name = screaming(stem);
    if name.contains('_') {
        name
    } else {
        format!("{name}_ERROR")
    }
}

/// `URL_ELICITATION_REQUIRED` for `URLElicitationRequired`.
fn screaming(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut out = String::new();
    for (nth, letter) in letters.iter().enumerate() {
        let after_small = nth > 0 && letters[nth - 1].is_lowercase();
        let before_small = letters.get(nth + 1).is_some_and(|next| next.is_lowercase());
        if letter.is_uppercase() && nth > 0 && (after_small || before_small) {
            out.push('_');
        }
        out.extend(letter.to_uppercase());
    }
    out
}
