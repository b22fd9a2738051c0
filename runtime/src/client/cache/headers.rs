//! Tool arguments that are also sent as HTTP headers (`x-mcp-header`).

use std::borrow::Cow;

use treenail_schema::Tool;

use crate::tool::header_params::{HeaderParam, find, header_params};
use crate::wire::as_string;

/// Prefix of the header of an argument.
const PREFIX: &str = "mcp-param-";

/// Maximum number of tools of a page that get a warning each.
const MAX_WARNINGS: usize = 10;

/// Drops the tools whose `x-mcp-header` is invalid, as the protocol requires of clients over HTTP.
pub(super) fn drop_invalid_tools(tools: Vec<Tool>) -> Vec<Tool> {
    let mut invalid = 0_usize;
    let is_valid = |tool: &Tool| match header_params(&tool.input_schema) {
        Ok(_) => true,
        Err(reason) => {
            invalid += 1;
            if invalid <= MAX_WARNINGS {
                let tool = crate::wire::quoted(&tool.name);
                tracing::warn!(
                    tool,
                    reason,
                    "omitted a tool with an invalid `x-mcp-header`"
                );
            }
            false
        }
    };
    let valid = tools.into_iter().filter(is_valid).collect();
    if invalid > MAX_WARNINGS {
        tracing::warn!(invalid, "omitted further tools of a list");
    }
    valid
}

/// Returns the headers of a call: the names without `Mcp-Param-`, and the values. The arguments are a JSON object.
pub(super) fn argument_headers(tool: &Tool, arguments: &str) -> Vec<(String, String)> {
    let params = header_params(&tool.input_schema).unwrap_or_default();
    let header = |param: HeaderParam| {
        let value = find(arguments, &param.path).ok()??;
        let value = as_string(value).map_or_else(|| value.to_owned(), Cow::into_owned);
        let name = param.header.strip_prefix(PREFIX)?.to_owned();
        Some((name, value))
    };
    params.into_iter().filter_map(header).collect()
}
