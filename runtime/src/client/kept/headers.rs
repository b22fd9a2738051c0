//! Arguments that a tool wants to have in headers of HTTP too: `x-mcp-header`.

use std::borrow::Cow;

use treenail_schema::Tool;

use crate::tool::header_params::{HeaderParam, find, header_params};
use crate::wire::as_string;

/// What the header of an argument begins with.
const PREFIX: &str = "mcp-param-";

/// Tools of a page that are named in warnings, each in its own.
const WARNED: usize = 10;

/// Drops the tools that say it wrongly, as clients over HTTP have to; the others stay.
pub(super) fn without_wrong(tools: Vec<Tool>) -> Vec<Tool> {
    let mut wrong = 0_usize;
    let is_right = |tool: &Tool| match header_params(&tool.input_schema) {
        Ok(_) => true,
        Err(reason) => {
            wrong += 1;
            if wrong <= WARNED {
                let tool = crate::wire::quoted(&tool.name);
                tracing::warn!(tool, reason, "a tool was left out");
            }
            false
        }
    };
    let right = tools.into_iter().filter(is_right).collect();
    if wrong > WARNED {
        tracing::warn!(wrong, "more tools of a list were left out");
    }
    right
}

/// The headers of a call with these arguments, a JSON object: the names behind `Mcp-Param-`, and the values.
pub(super) fn headers(tool: &Tool, arguments: &str) -> Vec<(String, String)> {
    let header_params = header_params(&tool.input_schema).unwrap_or_default();
    let header = |param: HeaderParam| {
        let value = find(arguments, &param.path)?;
        let value = as_string(value).map_or_else(|| value.to_owned(), Cow::into_owned);
        let name = param.header.strip_prefix(PREFIX)?.to_owned();
        Some((name, value))
    };
    header_params.into_iter().filter_map(header).collect()
}
