//! Comparison of tools.

use serde_json::Value;
use treenail_schema::internal::wrapped_value_schema;
use treenail_schema::{SchemaObject, TaskSupport, Tool, ToolAnnotations};

use crate::Severity;
use crate::compare::report::EntryReport;
use crate::compare::schema::{Direction, compare_schemas};
use crate::keyword::{KeywordRole, keyword_role};

/// Compares two tools. `undeclared` has the schemas of the results of the old and the new one, which apply where the tool
/// declares none.
pub(super) fn compare(
    old: &Tool,
    new: &Tool,
    undeclared: [Option<&SchemaObject>; 2],
    entry: &mut EntryReport<'_, '_>,
) {
    let comparable = entry.comparable();
    entry.report_title("/title", old.title.as_deref(), new.title.as_deref());
    let texts = (old.description.as_deref(), new.description.as_deref());
    entry.report_wording("/description", "the description", texts.0, texts.1);
    if comparable.annotations {
        compare_annotations(old.annotations.as_ref(), new.annotations.as_ref(), entry);
    }
    if comparable.execution {
        compare_execution(old, new, entry);
    }
    let schemas = (&*old.input_schema, &*new.input_schema);
    compare_schemas(
        schemas.0,
        schemas.1,
        Direction::Input,
        "/inputSchema",
        entry,
    );
    if comparable.output_schema {
        let [undeclared, live] = undeclared;
        let live = new.output_schema.as_ref().or(live);
        match (&old.output_schema, undeclared, live) {
            (None, Some(old), Some(new)) => compare_undeclared(old, new, entry),
            _ => compare_outputs(old, new, entry),
        }
    }
}

fn compare_outputs(old: &Tool, new: &Tool, entry: &mut EntryReport<'_, '_>) {
    // A schema without constraints counts as absent: clients of some protocol versions receive no schema in its place.
    let is_constraining = |schema: &&SchemaObject| {
        schema
            .keys()
            .any(|it| keyword_role(it) == KeywordRole::Constraint)
    };
    let old = old.output_schema.as_ref().filter(is_constraining);
    let new = new.output_schema.as_ref().filter(is_constraining);
    match (old, new) {
        (Some(old), Some(new)) => {
            compare_schemas(old, new, Direction::Output, "/outputSchema", entry);
        }
        (Some(_), None) => {
            let message = "no longer declares the schema of its results";
            entry.report(Severity::Breaking, "/outputSchema", message);
        }
        (None, Some(_)) => {
            entry.report(
                Severity::Additive,
                "/outputSchema",
                "now declares the schema of its results",
            );
        }
        (None, None) => {}
    }
}

/// Compares results that the old tool did not declare with those of the new one.
fn compare_undeclared(old: &SchemaObject, new: &SchemaObject, entry: &mut EntryReport<'_, '_>) {
    // Clients read a value that is wrapped in an object, also if the schema has no mark, which the canonical form resolves.
    let members = new.get("properties").and_then(Value::as_object);
    let is_single = members.is_some_and(|members| members.len() == 1);
    let inner = is_single.then(|| wrapped_value_schema(new)).flatten();
    let new = inner.as_ref().unwrap_or(new);
    compare_schemas(old, new, Direction::Output, "/outputSchema", entry);
}

/// Hints of a tool, with the defaults of the protocol for absent ones.
#[allow(
    clippy::struct_excessive_bools,
    reason = "the protocol defines these hints"
)]
struct EffectiveHints {
    read_only: bool,
    destructive: bool,
    idempotent: bool,
    open_world: bool,
}

impl EffectiveHints {
    fn of(annotations: Option<&ToolAnnotations>) -> Self {
        let hint = |hint: fn(&ToolAnnotations) -> Option<bool>, default: bool| {
            annotations.and_then(hint).unwrap_or(default)
        };
        Self {
            read_only: hint(|it| it.read_only_hint, false),
            destructive: hint(|it| it.destructive_hint, true),
            idempotent: hint(|it| it.idempotent_hint, false),
            open_world: hint(|it| it.open_world_hint, true),
        }
    }
}

/// Compares annotations. Calls are approved by their hints, so a less favourable hint is breaking.
fn compare_annotations(
    old: Option<&ToolAnnotations>,
    new: Option<&ToolAnnotations>,
    entry: &mut EntryReport<'_, '_>,
) {
    let title = |it: Option<&ToolAnnotations>| it.and_then(|it| it.title.clone());
    let titles = (title(old), title(new));
    entry.report_wording(
        "/annotations/title",
        "the title",
        titles.0.as_deref(),
        titles.1.as_deref(),
    );
    compare_hints(&EffectiveHints::of(old), &EffectiveHints::of(new), entry);
}

fn compare_hints(old: &EffectiveHints, new: &EffectiveHints, entry: &mut EntryReport<'_, '_>) {
    let worse = if new.destructive {
        "no longer read-only, and may be destructive"
    } else {
        "no longer read-only"
    };
    compare_hint(
        "/annotations/readOnlyHint",
        (old.read_only, new.read_only),
        ("now read-only", worse),
        entry,
    );
    // For read-only tools, these two hints have no meaning.
    if !old.read_only && !new.read_only {
        compare_hint(
            "/annotations/destructiveHint",
            (!old.destructive, !new.destructive),
            ("no longer destructive", "may now be destructive"),
            entry,
        );
        compare_hint(
            "/annotations/idempotentHint",
            (old.idempotent, new.idempotent),
            ("now idempotent", "no longer idempotent"),
            entry,
        );
    }
    compare_hint(
        "/annotations/openWorldHint",
        (!old.open_world, !new.open_world),
        (
            "no longer interacts with external entities",
            "may now interact with external entities",
        ),
        entry,
    );
}

/// Reports a change of a hint, for which `true` is favourable.
fn compare_hint(
    path: &str,
    (old, new): (bool, bool),
    (better, worse): (&str, &str),
    entry: &mut EntryReport<'_, '_>,
) {
    match (old, new) {
        (true, false) => entry.report(Severity::Breaking, path, worse),
        (false, true) => entry.report(Severity::Additive, path, better),
        _ => {}
    }
}

/// Compares the support for calls as tasks.
fn compare_execution(old: &Tool, new: &Tool, entry: &mut EntryReport<'_, '_>) {
    use TaskSupport::{Forbidden, Optional, Required};

    let support = |tool: &Tool| {
        let execution = tool.execution.as_ref();
        execution.and_then(|execution| execution.task_support)
    };
    let old = support(old).unwrap_or(Forbidden);
    let new = support(new).unwrap_or(Forbidden);
    let (severity, message) = match (old, new) {
        (Forbidden | Optional, Required) => (Severity::Breaking, "calls must now be tasks"),
        (Optional | Required, Forbidden) => (Severity::Breaking, "calls can no longer be tasks"),
        (Forbidden, Optional) => (Severity::Additive, "calls may now be tasks"),
        (Required, Optional) => (Severity::Additive, "calls no longer have to be tasks"),
        _ => return,
    };
    entry.report(severity, "/execution/taskSupport", message);
}
