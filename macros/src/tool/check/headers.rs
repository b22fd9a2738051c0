//! The rules for the headers that arguments are mirrored in.

use crate::args::Given;
use crate::diag::Sink;
use crate::tool::model::{Argument, Feature};

/// What a header's name may have in it beside letters and digits (RFC 9110, `tchar`).
const SIGNS: &str = "!#$%&'*+-.^_`|~";

/// The name of a header has at least one character, of those that HTTP allows.
pub(super) fn legal_header(argument: &Argument, sink: &mut Sink) {
    let Some(Given { value: literal, .. }) = &argument.header else {
        return;
    };
    let name = literal.value();
    let legal = |c: &char| c.is_ascii_alphanumeric() || SIGNS.contains(*c);
    if name.is_empty() {
        sink.error(
            literal,
            "a header needs a name; write `header = \"Region\"` for `Mcp-Param-Region`",
        );
    } else if let Some(c) = name.chars().find(|c| !legal(c)) {
        sink.error(
            literal,
            format!("{c:?} is not allowed in the name of a header; use letters, digits and `-`"),
        );
    }
}

/// No two arguments have the same header. The case of letters makes no difference.
pub(super) fn distinct_headers(feature: &Feature, sink: &mut Sink) {
    let headers: Vec<_> = feature
        .arguments()
        .filter_map(|argument| argument.header.as_ref())
        .map(|given| (&given.value, given.value.value()))
        .collect();
    for (index, (literal, name)) in headers.iter().enumerate() {
        let mut earlier = headers[..index].iter();
        if let Some((_, other)) = earlier.find(|(_, other)| other.eq_ignore_ascii_case(name)) {
            sink.error(
                literal,
                format!("another argument has the header `{other}`; rename one"),
            );
        }
    }
}
