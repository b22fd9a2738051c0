//! Tables of tools, prompts, resources and resource templates.

use std::sync::Arc;

use console::Style;
use serde_json::Value;
use treenail::client::UrlTemplate;
use treenail::schema::{Prompt, Resource, Tool};

use super::schema::{describe_constraints, nullable_type_name};
use super::table::{Table, wrap_words};
use super::{format_size, sanitize_line, sanitize_text};

/// Indentation of the details below a name.
const INDENT: usize = 2;

/// Renders tools with their arguments.
pub(crate) fn render_tools(tools: &[Arc<Tool>], width: Option<usize>) -> String {
    let each = tools.iter().map(|tool| {
        let mut lines = vec![render_heading(
            &tool.name,
            title_of(tool),
            &annotation_labels(tool),
        )];
        push_description(&mut lines, tool.description.as_deref(), width);
        lines.extend(render_arguments(tool, width));
        lines.join("\n")
    });
    each.collect::<Vec<_>>().join("\n\n")
}

fn title_of(tool: &Tool) -> Option<&str> {
    let annotated = || tool.annotations.as_ref()?.title.as_deref();
    tool.title.as_deref().or_else(annotated)
}

/// Returns labels for the annotations of a tool, which are untrusted hints.
fn annotation_labels(tool: &Tool) -> String {
    let Some(hints) = &tool.annotations else {
        return String::new();
    };
    let labels = [
        ("read-only", hints.read_only_hint),
        ("destructive", hints.destructive_hint),
        ("idempotent", hints.idempotent_hint),
        ("open world", hints.open_world_hint),
    ];
    let labels: Vec<_> = labels
        .into_iter()
        .filter(|(_, hint)| *hint == Some(true))
        .map(|(label, _)| label)
        .collect();
    labels.join(", ")
}

/// Renders the arguments of a tool, one per line: name, type, required or default, description.
pub(crate) fn render_arguments(tool: &Tool, width: Option<usize>) -> Vec<String> {
    let schema = &*tool.input_schema;
    let properties = schema.get("properties").and_then(Value::as_object);
    let required = schema.get("required").and_then(Value::as_array);
    let is_required =
        |name: &str| required.is_some_and(|names| names.iter().any(|it| it.as_str() == Some(name)));
    let mut table = Table::indented(2 * INDENT);
    for (name, property) in properties.into_iter().flatten() {
        let need = match property.get("default") {
            Some(default) => format!("= {}", sanitize_line(&default.to_string())),
            None if is_required(name) => "required".to_owned(),
            None => String::new(),
        };
        let description = property.get("description").and_then(Value::as_str);
        let constraints =
            describe_constraints(property, schema).map(|constraints| format!("({constraints})"));
        let words = [description.map(str::to_owned), constraints];
        let words: Vec<_> = words.into_iter().flatten().collect();
        table.push_row([
            sanitize_line(name),
            sanitize_line(&nullable_type_name(property, schema)),
            need,
            sanitize_line(&words.join(" ")),
        ]);
    }
    table.to_lines(width)
}

/// Renders prompts with their arguments.
pub(crate) fn render_prompts(prompts: &[Arc<Prompt>], width: Option<usize>) -> String {
    let each = prompts.iter().map(|prompt| {
        let mut lines = vec![render_heading(&prompt.name, prompt.title.as_deref(), "")];
        push_description(&mut lines, prompt.description.as_deref(), width);
        let mut table = Table::indented(2 * INDENT);
        for argument in prompt.arguments.iter().flatten() {
            let required = argument.required == Some(true);
            table.push_row([
                sanitize_line(&argument.name),
                if required { "required" } else { "" }.to_owned(),
                sanitize_line(argument.description.as_deref().unwrap_or_default()),
            ]);
        }
        lines.extend(table.to_lines(width));
        lines.join("\n")
    });
    each.collect::<Vec<_>>().join("\n\n")
}

/// Renders resources, one per line.
pub(crate) fn render_resources(resources: &[Arc<Resource>], width: Option<usize>) -> String {
    let mut table = Table::default();
    for resource in resources {
        table.push_row([
            sanitize_line(&resource.uri),
            sanitize_line(resource.mime_type.as_deref().unwrap_or_default()),
            resource.size.map(format_size).unwrap_or_default(),
            render_summary(
                &resource.name,
                resource.title.as_deref(),
                resource.description.as_deref(),
            ),
        ]);
    }
    table.to_lines(width).join("\n")
}

/// Renders resource templates, one per line.
pub(crate) fn render_templates(templates: &[UrlTemplate], width: Option<usize>) -> String {
    let mut table = Table::default();
    for template in templates {
        let template = template.listed();
        table.push_row([
            sanitize_line(&template.uri_template),
            sanitize_line(template.mime_type.as_deref().unwrap_or_default()),
            render_summary(
                &template.name,
                template.title.as_deref(),
                template.description.as_deref(),
            ),
        ]);
    }
    table.to_lines(width).join("\n")
}

fn render_heading(name: &str, title: Option<&str>, labels: &str) -> String {
    let name = Style::new()
        .bold()
        .apply_to(sanitize_line(name))
        .to_string();
    let title = title.map(sanitize_line);
    let labels = (!labels.is_empty()).then(|| format!("[{labels}]"));
    let parts: Vec<_> = [Some(name), title, labels].into_iter().flatten().collect();
    parts.join("  ")
}

fn render_summary(name: &str, title: Option<&str>, description: Option<&str>) -> String {
    let name = sanitize_line(title.unwrap_or(name));
    match description {
        Some(description) => format!("{name}: {}", sanitize_line(description)),
        None => name,
    }
}

fn push_description(lines: &mut Vec<String>, description: Option<&str>, width: Option<usize>) {
    let room = width.map(|width| width.saturating_sub(INDENT));
    let text = sanitize_text(description.unwrap_or_default());
    for line in text.trim().lines() {
        let wrapped = wrap_words(line, room);
        lines.extend(
            wrapped
                .iter()
                .map(|line| format!("{}{line}", " ".repeat(INDENT))),
        );
    }
}
