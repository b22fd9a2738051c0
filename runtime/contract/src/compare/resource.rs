//! Two descriptions of one resource, or of one template. Sizes and times are no part of a contract: they change with what
//! is in a resource.

use treenail_schema::{Annotations, Resource, ResourceTemplate};

use crate::Severity;
use crate::compare::report::Entry;

/// What resources and templates have in common.
struct Described<'a> {
    name: &'a str,
    title: Option<&'a str>,
    description: Option<&'a str>,
    mime_type: Option<&'a str>,
    annotations: Option<&'a Annotations>,
}

macro_rules! described {
    ($entry:expr) => {
        Described {
            name: &$entry.name,
            title: $entry.title.as_deref(),
            description: $entry.description.as_deref(),
            mime_type: $entry.mime_type.as_deref(),
            annotations: $entry.annotations.as_ref(),
        }
    };
}

pub(super) fn compare(old: &Resource, new: &Resource, entry: &mut Entry<'_, '_>) {
    let (old, new) = (described!(old), described!(new));
    // Resources are looked up by their URI.
    compare_described(&old, &new, Severity::Wording, entry);
}

pub(super) fn compare_templates(
    old: &ResourceTemplate,
    new: &ResourceTemplate,
    entry: &mut Entry<'_, '_>,
) {
    let (old, new) = (described!(old), described!(new));
    // Templates are looked up by their name.
    compare_described(&old, &new, Severity::Breaking, entry);
}

fn compare_described(
    old: &Described<'_>,
    new: &Described<'_>,
    name: Severity,
    entry: &mut Entry<'_, '_>,
) {
    let names = (Some(old.name), Some(new.name));
    entry.differ(name, "/name", "the name", names);
    entry.words("/title", "the title", old.title, new.title);
    entry.words(
        "/description",
        "the description",
        old.description,
        new.description,
    );
    let severity = match old.mime_type {
        Some(_) => Severity::Breaking,
        None => Severity::Additive,
    };
    let types = (old.mime_type, new.mime_type);
    entry.differ(severity, "/mimeType", "the media type", types);
    let whom = |it: &Described<'_>| it.annotations.and_then(audience);
    let (old_whom, new_whom) = (whom(old), whom(new));
    let path = "/annotations/audience";
    entry.words(
        path,
        "the audience",
        old_whom.as_deref(),
        new_whom.as_deref(),
    );
    let priority = |it: &Described<'_>| it.annotations.and_then(|it| it.priority.clone());
    let old = priority(old).map(|priority| priority.to_string());
    let new = priority(new).map(|priority| priority.to_string());
    let path = "/annotations/priority";
    entry.words(path, "the priority", old.as_deref(), new.as_deref());
}

/// Whom it is meant for, in one order.
fn audience(annotations: &Annotations) -> Option<String> {
    let roles = annotations.audience.as_ref()?.iter();
    let mut roles: Vec<_> = roles
        .map(|role| format!("{role:?}").to_lowercase())
        .collect();
    roles.sort();
    Some(roles.join(", "))
}
