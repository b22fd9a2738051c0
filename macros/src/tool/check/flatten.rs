//! Rules for flattened arguments.

use crate::diag::Sink;
use crate::tool::model::Feature;

/// At most one argument is flattened. It has no other keys and no documentation, because its fields have their own.
pub(super) fn one_flattened(feature: &Feature, sink: &mut Sink) {
    let arguments = feature.arguments().filter(|it| it.is_flattened());
    for (index, argument) in arguments.enumerate() {
        if index > 0 {
            sink.error(
                argument.flatten.as_ref().map(|given| &given.key),
                "another argument is flattened; move the fields of both types to one struct",
            );
        }
        let keys = [
            argument.default.as_ref().map(|given| &given.key),
            argument.range.as_ref().map(|given| &given.key),
            argument.length.as_ref().map(|given| &given.key),
            argument.header.as_ref().map(|given| &given.key),
        ];
        for key in keys.into_iter().flatten() {
            sink.error(
                key,
                format!("`{key}` on a flattened argument; write it on a field of the type"),
            );
        }
        if argument.name.given {
            sink.error(
                &argument.name.tokens,
                "a flattened argument has no name, but those of its fields; remove this",
            );
        }
        if argument.description.is_some() {
            sink.error(
                argument.flatten.as_ref().map(|given| &given.key),
                "a flattened argument has no description; document the fields of the type",
            );
        }
    }
}
