//! Two descriptions of one tool.

use treenail_schema::{SchemaObject, TaskSupport, Tool, ToolAnnotations};

use crate::Severity;
use crate::compare::report::Entry;
use crate::compare::schema::{Role, compare_schemas};
use crate::keyword::{Does, does};

pub(super) fn compare(old: &Tool, new: &Tool, entry: &mut Entry<'_, '_>) {
    entry.words(
        "/title",
        "the title",
        old.title.as_deref(),
        new.title.as_deref(),
    );
    let texts = (old.description.as_deref(), new.description.as_deref());
    entry.words("/description", "the description", texts.0, texts.1);
    compare_annotations(old.annotations.as_ref(), new.annotations.as_ref(), entry);
    compare_execution(old, new, entry);
    let schemas = (&*old.input_schema, &*new.input_schema);
    compare_schemas(schemas.0, schemas.1, Role::Input, "/inputSchema", entry);
    // What says nothing of results is the same as no schema, which peers of some revisions get instead.
    let telling = |schema: &&SchemaObject| schema.keys().any(|it| does(it) == Does::Constrain);
    let old = old.output_schema.as_ref().filter(telling);
    let new = new.output_schema.as_ref().filter(telling);
    match (old, new) {
        (Some(old), Some(new)) => compare_schemas(old, new, Role::Output, "/outputSchema", entry),
        (Some(_), None) => {
            let message = "it does not say any more what it returns";
            entry.change(Severity::Breaking, "/outputSchema", message);
        }
        (None, Some(_)) => {
            entry.change(
                Severity::Additive,
                "/outputSchema",
                "it says what it returns",
            );
        }
        (None, None) => {}
    }
}

/// What annotations mean, those that are absent included.
#[allow(
    clippy::struct_excessive_bools,
    reason = "they are the hints of the protocol"
)]
struct Promises {
    read_only: bool,
    destructive: bool,
    idempotent: bool,
    open_world: bool,
}

impl Promises {
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

/// Annotations are what calls are agreed to by, so a tool that promises less than when somebody agreed is breaking.
fn compare_annotations(
    old: Option<&ToolAnnotations>,
    new: Option<&ToolAnnotations>,
    entry: &mut Entry<'_, '_>,
) {
    let title = |it: Option<&ToolAnnotations>| it.and_then(|it| it.title.clone());
    let titles = (title(old), title(new));
    let (old, new) = (Promises::of(old), Promises::of(new));
    entry.words(
        "/annotations/title",
        "the title",
        titles.0.as_deref(),
        titles.1.as_deref(),
    );
    let mut compare = |hint: &str, old: bool, new: bool, better: &str, worse: &str| {
        let path = format!("/annotations/{hint}");
        match (old, new) {
            (true, false) => entry.change(Severity::Breaking, &path, worse),
            (false, true) => entry.change(Severity::Additive, &path, better),
            _ => {}
        }
    };
    let worse = if new.destructive {
        "it is not read-only any more, and may destroy"
    } else {
        "it is not read-only any more"
    };
    compare(
        "readOnlyHint",
        old.read_only,
        new.read_only,
        "it is read-only now",
        worse,
    );
    // What reads only neither destroys nor does anything more when it is repeated.
    if !old.read_only && !new.read_only {
        compare(
            "destructiveHint",
            !old.destructive,
            !new.destructive,
            "it does not destroy any more",
            "it may destroy now",
        );
        compare(
            "idempotentHint",
            old.idempotent,
            new.idempotent,
            "it may be repeated now",
            "repeating it does something more now",
        );
    }
    compare(
        "openWorldHint",
        !old.open_world,
        !new.open_world,
        "it stays within the server now",
        "it deals with things outside of the server now",
    );
}

/// Whether a call may or must be a task.
fn compare_execution(old: &Tool, new: &Tool, entry: &mut Entry<'_, '_>) {
    use TaskSupport::{Forbidden, Optional, Required};

    let support = |tool: &Tool| {
        let execution = tool.execution.as_ref();
        execution.and_then(|execution| execution.task_support)
    };
    let old = support(old).unwrap_or(Forbidden);
    let new = support(new).unwrap_or(Forbidden);
    let (severity, message) = match (old, new) {
        (Forbidden | Optional, Required) => (Severity::Breaking, "a call must be a task now"),
        (Optional | Required, Forbidden) => {
            (Severity::Breaking, "a call cannot be a task any more")
        }
        (Forbidden, Optional) => (Severity::Additive, "a call may be a task now"),
        (Required, Optional) => (Severity::Additive, "a call need not be a task any more"),
        _ => return,
    };
    entry.change(severity, "/execution/taskSupport", message);
}
