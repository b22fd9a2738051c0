//! Two descriptions of one prompt.

use std::collections::BTreeMap;

use treenail_schema::internal::quoted;
use treenail_schema::{Prompt, PromptArgument};

use crate::Severity;
use crate::compare::report::Entry;

pub(super) fn compare(old: &Prompt, new: &Prompt, entry: &mut Entry<'_, '_>) {
    entry.words(
        "/title",
        "the title",
        old.title.as_deref(),
        new.title.as_deref(),
    );
    let texts = (old.description.as_deref(), new.description.as_deref());
    entry.words("/description", "the description", texts.0, texts.1);
    let (old, new) = (arguments(old), arguments(new));
    for (name, (place, argument)) in &old {
        if let Some((place, new)) = new.get(name) {
            compare_arguments(argument, new, *place, entry);
        } else {
            let path = format!("/arguments/{place}");
            let message = format!("the argument {} is gone", quoted(name));
            entry.change(Severity::Breaking, &path, &message);
        }
    }
    for (name, (place, argument)) in new.iter().filter(|(name, _)| !old.contains_key(*name)) {
        let name = quoted(name);
        let (severity, message) = match argument.required {
            Some(true) => (
                Severity::Breaking,
                format!("the argument {name} is new, and has to be given"),
            ),
            _ => (Severity::Additive, format!("the argument {name} is new")),
        };
        entry.change(severity, &format!("/arguments/{place}"), &message);
    }
}

/// The arguments by name, with their places. Of two with one name, the first counts.
fn arguments(prompt: &Prompt) -> BTreeMap<&str, (usize, &PromptArgument)> {
    let mut by_name = BTreeMap::new();
    for (place, argument) in prompt.arguments.iter().flatten().enumerate() {
        by_name.entry(&*argument.name).or_insert((place, argument));
    }
    by_name
}

fn compare_arguments(
    old: &PromptArgument,
    new: &PromptArgument,
    place: usize,
    entry: &mut Entry<'_, '_>,
) {
    let path = |member: &str| format!("/arguments/{place}/{member}");
    let (title, description) = (path("title"), path("description"));
    entry.words(
        &title,
        "the title",
        old.title.as_deref(),
        new.title.as_deref(),
    );
    let texts = (old.description.as_deref(), new.description.as_deref());
    entry.words(&description, "the description", texts.0, texts.1);
    let name = quoted(&new.name);
    match (old.required == Some(true), new.required == Some(true)) {
        (false, true) => {
            let message = format!("the argument {name} has to be given now");
            entry.change(Severity::Breaking, &path("required"), &message);
        }
        (true, false) => {
            let message = format!("the argument {name} may be left out now");
            entry.change(Severity::Additive, &path("required"), &message);
        }
        _ => {}
    }
}
