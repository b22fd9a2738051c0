//! Comparison of prompts.

use std::collections::BTreeMap;

use treenail_schema::internal::quoted;
use treenail_schema::{Prompt, PromptArgument};

use crate::Severity;
use crate::compare::report::EntryReport;

pub(super) fn compare(old: &Prompt, new: &Prompt, entry: &mut EntryReport<'_, '_>) {
    entry.report_title("/title", old.title.as_deref(), new.title.as_deref());
    let texts = (old.description.as_deref(), new.description.as_deref());
    entry.report_wording("/description", "the description", texts.0, texts.1);
    let (old, new) = (arguments_by_name(old), arguments_by_name(new));
    for (name, (index, argument)) in &old {
        if let Some((index, new)) = new.get(name) {
            compare_arguments(argument, new, *index, entry);
        } else {
            let path = format!("/arguments/{index}");
            let message = format!("removed the argument {}", quoted(name));
            entry.report(Severity::Breaking, &path, &message);
        }
    }
    for (name, (index, argument)) in new.iter().filter(|(name, _)| !old.contains_key(*name)) {
        let name = quoted(name);
        let (severity, message) = match argument.required {
            Some(true) => (
                Severity::Breaking,
                format!("added the required argument {name}"),
            ),
            _ => (Severity::Additive, format!("added the argument {name}")),
        };
        entry.report(severity, &format!("/arguments/{index}"), &message);
    }
}

/// Returns the arguments by name, with their indices. Of two arguments with one name, the first is used.
fn arguments_by_name(prompt: &Prompt) -> BTreeMap<&str, (usize, &PromptArgument)> {
    let mut by_name = BTreeMap::new();
    for (index, argument) in prompt.arguments.iter().flatten().enumerate() {
        by_name.entry(&*argument.name).or_insert((index, argument));
    }
    by_name
}

fn compare_arguments(
    old: &PromptArgument,
    new: &PromptArgument,
    index: usize,
    entry: &mut EntryReport<'_, '_>,
) {
    let path = |member: &str| format!("/arguments/{index}/{member}");
    let (title, description) = (path("title"), path("description"));
    entry.report_title(&title, old.title.as_deref(), new.title.as_deref());
    let texts = (old.description.as_deref(), new.description.as_deref());
    entry.report_wording(&description, "the description", texts.0, texts.1);
    let name = quoted(&new.name);
    match (old.required == Some(true), new.required == Some(true)) {
        (false, true) => {
            let message = format!("the argument {name} is now required");
            entry.report(Severity::Breaking, &path("required"), &message);
        }
        (true, false) => {
            let message = format!("the argument {name} is now optional");
            entry.report(Severity::Additive, &path("required"), &message);
        }
        _ => {}
    }
}
