//! Rules for the URIs of resources.

use crate::diag::Sink;
use crate::tool::model::{Feature, uri::Uri};

use super::names::exclusive;

fn uri(feature: &Feature) -> Option<&Uri> {
    feature.resource()?.uri.as_ref()
}

/// The URIs of the resources in a block are distinct.
pub(super) fn distinct_uris(features: &[Feature], sink: &mut Sink) {
    for (index, feature) in features.iter().enumerate() {
        let Some(Uri { literal, .. }) = uri(feature) else {
            continue;
        };
        let mut earlier = features[..index].iter();
        if earlier.any(|earlier| {
            uri(earlier).is_some_and(|other| other.literal.value() == literal.value())
                && !exclusive(earlier, feature)
        }) {
            sink.error(
                literal,
                "another resource in this block has this URI; change one",
            );
        }
    }
}

/// Each argument is a variable of the URI, and each variable an argument.
///
/// If neither holds, a name is probably misspelt, so only the argument is reported.
pub(super) fn variables_are_arguments(feature: &Feature, sink: &mut Sink) {
    let Some(uri) = uri(feature) else {
        return;
    };
    let is_argument = |variable: &str| feature.arguments().any(|it| it.name.text == variable);
    let mut missing = uri.variables().filter(|variable| !is_argument(variable));
    let is_variable = |name: &str| uri.variables().any(|variable| variable == name);
    let mut foreign = feature
        .arguments()
        .filter(|it| !is_variable(&it.name.text))
        .peekable();
    if foreign.peek().is_none() {
        for variable in missing {
            sink.error(
                &uri.literal,
                format!("no argument for variable `{variable}`; add a parameter of this name"),
            );
        }
        return;
    }
    for argument in foreign {
        let name = &argument.name.text;
        let hint = match missing.next() {
            Some(variable) => {
                format!("rename it to `{variable}`, or write `{{{name}}}` in the URI")
            }
            None => format!("write `{{{name}}}` in it"),
        };
        let message = format!("the URI has no variable `{name}`; {hint}");
        sink.error(&argument.name.tokens, message);
    }
}
