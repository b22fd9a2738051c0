//! Tool arguments that are also sent as HTTP headers (`x-mcp-header`).

use std::borrow::Cow;

use treenail_schema::Tool;

use crate::client::cache::list::Snapshot;
use crate::tool::header_params::{FoundArgument, HeaderParam, find_arguments, header_params};
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

/// Arguments of a tool that are sent as headers.
#[derive(Clone, Debug, Default)]
pub struct HeaderArguments(Vec<HeaderParam>);

impl HeaderArguments {
    /// Returns the arguments of a tool that its schema marks. None if the schema is invalid.
    pub fn of(tool: &Tool) -> Self {
        Self(header_params(&tool.input_schema).unwrap_or_default())
    }

    /// Returns the headers of a call: the names without `Mcp-Param-`, and the values. The arguments are a JSON object.
    pub fn headers(&self, arguments: &str) -> Vec<(String, String)> {
        let found = find_arguments(arguments, &self.0);
        let header = |(param, value): (&HeaderParam, FoundArgument<'_>)| {
            let value = value.ok()??;
            let value = as_string(value).map_or_else(|| value.to_owned(), Cow::into_owned);
            let name = param.header.strip_prefix(PREFIX)?.to_owned();
            Some((name, value))
        };
        self.0.iter().zip(found).filter_map(header).collect()
    }
}

impl Snapshot<Tool> {
    /// Returns the headers of a call. The schemas are searched for header arguments once.
    pub(super) fn argument_headers(&self, tool: &str, arguments: &str) -> Vec<(String, String)> {
        let by_tool = self.header_arguments.get_or_init(|| {
            let all = self.items.iter();
            let all = all.map(|tool| (tool.name.as_str().into(), HeaderArguments::of(tool)));
            all.filter(|(_, arguments)| !arguments.0.is_empty())
                .collect()
        });
        let marked = by_tool.get(tool);
        marked.map_or_else(Vec::new, |marked| marked.headers(arguments))
    }
}
