//! Rules for the HTTP headers that mirror arguments.

use crate::args::Attr;
use crate::diag::Sink;
use crate::tool::model::{Argument, Feature};

/// Characters allowed in a header name besides letters and digits (RFC 9110, `tchar`).
const TCHAR_SYMBOLS: &str = "!#$%&'*+-.^_`|~";

/// The name of a header is not empty and consists of characters that HTTP allows.
pub(super) fn legal_header(argument: &Argument, sink: &mut Sink) {
    let Some(Attr { value: literal, .. }) = &argument.header else {
        return;
    };
    let name = literal.value();
    let legal = |c: &char| c.is_ascii_alphanumeric() || TCHAR_SYMBOLS.contains(*c);
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

/// The headers of the arguments are distinct, ignoring case.
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
