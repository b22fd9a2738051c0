//! What a server offers, in tables.

use std::sync::Arc;

use console::Style;
use serde_json::Value;
use treenail::client::UrlTemplate;
use treenail::schema::{Prompt, Resource, Tool};

use super::schema::{limits_of, type_name};
use super::table::{Table, wrap};
use super::{clean, clean_line, size};

/// Spaces before what belongs to a name.
const INDENT: usize = 2;

/// Tools, with their arguments.
pub(crate) fn tools(tools: &[Arc<Tool>], width: Option<usize>) -> String {
    let each = tools.iter().map(|tool| {
        let mut lines = vec![heading(&tool.name, title_of(tool), &marks(tool))];
        push_description(&mut lines, tool.description.as_deref(), width);
        lines.extend(arguments_of(tool, width));
        lines.join("\n")
    });
    each.collect::<Vec<_>>().join("\n\n")
}

fn title_of(tool: &Tool) -> Option<&str> {
    let annotated = || tool.annotations.as_ref()?.title.as_deref();
    tool.title.as_deref().or_else(annotated)
}

/// What the server says that a tool does; it is not to be relied on.
fn marks(tool: &Tool) -> String {
    let Some(hints) = &tool.annotations else {
        return String::new();
    };
    let marks = [
        ("read-only", hints.read_only_hint),
        ("destructive", hints.destructive_hint),
        ("idempotent", hints.idempotent_hint),
        ("open world", hints.open_world_hint),
    ];
    let marks: Vec<_> = marks
        .into_iter()
        .filter(|(_, hint)| *hint == Some(true))
        .map(|(mark, _)| mark)
        .collect();
    marks.join(", ")
}

/// The arguments of a tool, a line each: name, type, required or default, description.
pub(crate) fn arguments_of(tool: &Tool, width: Option<usize>) -> Vec<String> {
    let schema = &*tool.input_schema;
    let properties = schema.get("properties").and_then(Value::as_object);
    let required = schema.get("required").and_then(Value::as_array);
    let is_required =
        |name: &str| required.is_some_and(|names| names.iter().any(|it| it.as_str() == Some(name)));
    let mut table = Table::indented(2 * INDENT);
    for (name, property) in properties.into_iter().flatten() {
        let need = match property.get("default") {
            Some(default) => format!("= {}", clean_line(&compact(default))),
            None if is_required(name) => "required".to_owned(),
            None => String::new(),
        };
        let description = property.get("description").and_then(Value::as_str);
        let limits = limits_of(property, schema).map(|limits| format!("({limits})"));
        let words = [description.map(str::to_owned), limits];
        let words: Vec<_> = words.into_iter().flatten().collect();
        table.row([
            clean_line(name),
            clean_line(&type_name(property, schema)),
            need,
            clean_line(&words.join(" ")),
        ]);
    }
    table.lines(width)
}

/// JSON in few characters, for a cell.
fn compact(value: &Value) -> String {
    value.to_string()
}

/// Prompts, with their arguments.
pub(crate) fn prompts(prompts: &[Arc<Prompt>], width: Option<usize>) -> String {
    let each = prompts.iter().map(|prompt| {
        let mut lines = vec![heading(&prompt.name, prompt.title.as_deref(), "")];
        push_description(&mut lines, prompt.description.as_deref(), width);
        let mut table = Table::indented(2 * INDENT);
        for argument in prompt.arguments.iter().flatten() {
            let required = argument.required == Some(true);
            table.row([
                clean_line(&argument.name),
                if required { "required" } else { "" }.to_owned(),
                clean_line(argument.description.as_deref().unwrap_or_default()),
            ]);
        }
        lines.extend(table.lines(width));
        lines.join("\n")
    });
    each.collect::<Vec<_>>().join("\n\n")
}

/// Resources, a line each.
pub(crate) fn resources(resources: &[Arc<Resource>], width: Option<usize>) -> String {
    let mut table = Table::default();
    for resource in resources {
        table.row([
            clean_line(&resource.uri),
            clean_line(resource.mime_type.as_deref().unwrap_or_default()),
            resource.size.map(size).unwrap_or_default(),
            about(
                &resource.name,
                resource.title.as_deref(),
                resource.description.as_deref(),
            ),
        ]);
    }
    table.lines(width).join("\n")
}

/// Templates for URIs, a line each.
pub(crate) fn templates(templates: &[UrlTemplate], width: Option<usize>) -> String {
    let mut table = Table::default();
    for template in templates {
        let template = template.listed();
        table.row([
            clean_line(&template.uri_template),
            clean_line(template.mime_type.as_deref().unwrap_or_default()),
            about(
                &template.name,
                template.title.as_deref(),
                template.description.as_deref(),
            ),
        ]);
    }
    table.lines(width).join("\n")
}

fn heading(name: &str, title: Option<&str>, marks: &str) -> String {
    let name = Style::new().bold().apply_to(clean_line(name)).to_string();
    let title = title.map(clean_line);
    let marks = (!marks.is_empty()).then(|| format!("[{marks}]"));
    let parts: Vec<_> = [Some(name), title, marks].into_iter().flatten().collect();
    parts.join("  ")
}

fn about(name: &str, title: Option<&str>, description: Option<&str>) -> String {
    let name = clean_line(title.unwrap_or(name));
    match description {
        Some(description) => format!("{name}: {}", clean_line(description)),
        None => name,
    }
}

fn push_description(lines: &mut Vec<String>, description: Option<&str>, width: Option<usize>) {
    let room = width.map(|width| width.saturating_sub(INDENT));
    let text = clean(description.unwrap_or_default());
    for line in text.trim().lines() {
        let wrapped = wrap(line, room);
        lines.extend(
            wrapped
                .iter()
                .map(|line| format!("{}{line}", " ".repeat(INDENT))),
        );
    }
}
