//! Comparison of resources and resource templates. Sizes and times are not part of a contract, because they change with the
//! contents of a resource.

use treenail_schema::{Annotations, Resource, ResourceTemplate};

use crate::Severity;
use crate::compare::report::EntryReport;

/// The common members of resources and templates.
struct CommonMembers<'a> {
    name: &'a str,
    title: Option<&'a str>,
    description: Option<&'a str>,
    mime_type: Option<&'a str>,
    annotations: Option<&'a Annotations>,
}

macro_rules! common_members {
    ($entry:expr) => {
        CommonMembers {
            name: &$entry.name,
            title: $entry.title.as_deref(),
            description: $entry.description.as_deref(),
            mime_type: $entry.mime_type.as_deref(),
            annotations: $entry.annotations.as_ref(),
        }
    };
}

pub(super) fn compare(old: &Resource, new: &Resource, entry: &mut EntryReport<'_, '_>) {
    let (old, new) = (common_members!(old), common_members!(new));
    // Programs look resources up by their URI, so the name is wording.
    compare_members(&old, &new, Severity::Wording, entry);
}

pub(super) fn compare_templates(
    old: &ResourceTemplate,
    new: &ResourceTemplate,
    entry: &mut EntryReport<'_, '_>,
) {
    let (old, new) = (common_members!(old), common_members!(new));
    // Programs look templates up by their name, so a changed name is breaking.
    compare_members(&old, &new, Severity::Breaking, entry);
}

fn compare_members(
    old: &CommonMembers<'_>,
    new: &CommonMembers<'_>,
    name_severity: Severity,
    entry: &mut EntryReport<'_, '_>,
) {
    let names = (Some(old.name), Some(new.name));
    entry.report_text(name_severity, "/name", "the name", names);
    entry.report_title("/title", old.title, new.title);
    entry.report_wording(
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
    entry.report_text(severity, "/mimeType", "the media type", types);
    let audience = |it: &CommonMembers<'_>| it.annotations.and_then(audience_roles);
    let audiences = (audience(old), audience(new));
    let path = "/annotations/audience";
    entry.report_wording(
        path,
        "the audience",
        audiences.0.as_deref(),
        audiences.1.as_deref(),
    );
    let priority = |it: &CommonMembers<'_>| it.annotations.and_then(|it| it.priority.clone());
    let old = priority(old).map(|priority| priority.to_string());
    let new = priority(new).map(|priority| priority.to_string());
    let path = "/annotations/priority";
    entry.report_wording(path, "the priority", old.as_deref(), new.as_deref());
}

/// Returns the sorted roles of the audience.
fn audience_roles(annotations: &Annotations) -> Option<String> {
    let roles = annotations.audience.as_ref()?.iter();
    let mut roles: Vec<_> = roles
        .map(|role| format!("{role:?}").to_lowercase())
        .collect();
    roles.sort();
    Some(roles.join(", "))
}
