//! Plan of a client: its methods, and the types they need.

mod tool;

use std::collections::BTreeSet;

use serde_json::Value;

use super::budget::Budget;
use super::docs::{Docs, code};
use super::lock::{Entry, Lock};
use super::name;
use super::schema::{Field, MAX_FIELDS, Record, Shape, TypeId, Types};

/// The methods and types to generate.
#[derive(Debug)]
pub(super) struct Plan {
    pub methods: Vec<Method>,
    pub types: Types,
}

/// A method of the client.
#[derive(Debug)]
pub(super) struct Method {
    pub name: String,
    /// Its name on the server.
    pub remote: String,
    pub docs: Docs,
    /// The arguments, if there are any.
    pub arguments: Option<Shape>,
    pub call: Call,
}

impl Method {
    /// The output of a tool with an output schema.
    pub(super) fn output(&self) -> Option<&Shape> {
        match &self.call {
            Call::Tool(output) => output.as_ref(),
            _ => None,
        }
    }
}

/// Operation of a method.
#[derive(Debug)]
pub(super) enum Call {
    /// Calls a tool with this output, or without an output schema.
    Tool(Option<Shape>),
    Prompt,
    /// Reads a resource with this URI template.
    Template(String),
}

/// Methods that every client has, and inherited ones.
const RESERVED_METHODS: [&str; 4] = ["new", "client", "clone", "fmt"];

impl Plan {
    pub(super) fn of(lock: &Lock, budget: &Budget, keeps_null: bool) -> Self {
        let mut planner = Planner {
            budget,
            keeps_null,
            types: Types::default(),
        };
        let mut methods: Vec<Method> = Vec::new();
        let mut names = method_names(lock).into_iter();
        let tools = lock.tools.iter().zip(&mut names);
        methods.extend(tools.map(|(tool, name)| planner.tool(tool, name)));
        let prompts = lock.prompts.iter().zip(&mut names);
        methods.extend(prompts.map(|(prompt, name)| planner.prompt(prompt, name)));
        let templates = lock.templates.iter().zip(names);
        methods.extend(templates.map(|(template, name)| planner.template(template, name)));
        let mut types = planner.types;
        let arguments: Vec<_> = methods
            .iter()
            .filter_map(|it| it.arguments.as_ref())
            .collect();
        let outputs: Vec<_> = methods.iter().filter_map(Method::output).collect();
        let now = types.deduplicate(&arguments, &outputs);
        let to = |id: TypeId| now.get(id.0).copied().unwrap_or(id);
        for method in &mut methods {
            let output = match &mut method.call {
                Call::Tool(output) => output.as_mut(),
                _ => None,
            };
            method
                .arguments
                .iter_mut()
                .chain(output)
                .for_each(|shape| shape.refer(&to));
        }
        Self { methods, types }
    }
}

/// The names of the methods for tools, prompts and resource templates, in this order.
fn method_names(lock: &Lock) -> Vec<String> {
    let lists = [
        (&lock.tools, "", "tool"),
        (&lock.prompts, "prompt_", "prompt"),
        (&lock.templates, "read_", "resource"),
    ];
    let forms = lists.into_iter().flat_map(|(entries, prefix, suffix)| {
        entries.iter().map(move |entry| {
            let mut forms = name::snake_forms(&format!("{prefix}{}", entry.name));
            let plain = forms[0].clone();
            forms.insert(1, format!("{plain}_{suffix}"));
            // Templates can have the same name.
            let uri = entry.text("uriTemplate");
            forms.extend(uri.map(|uri| format!("{plain}_{}", name::code(uri))));
            forms
        })
    });
    name::unique(&forms.collect::<Vec<_>>(), &RESERVED_METHODS)
}

struct Planner<'a> {
    budget: &'a Budget,
    /// Set if null differs from a missing member in the arguments of tools.
    keeps_null: bool,
    types: Types,
}

impl Planner<'_> {
    fn prompt(&mut self, prompt: &Entry, name: String) -> Method {
        let listed = prompt
            .get("arguments")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        let mut fields: Vec<Field> = Vec::new();
        let mut seen = BTreeSet::new();
        for argument in listed {
            let text = |key: &str| argument.get(key).and_then(Value::as_str).map(str::to_owned);
            let Some(member) = text("name") else { continue };
            if !seen.insert(member.clone()) {
                continue;
            }
            fields.push(Field {
                member,
                shape: Shape::Text,
                required: argument.get("required") == Some(&Value::Bool(true)),
                keeps_null: false,
                description: text("description").or_else(|| text("title")),
                notes: Vec::new(),
            });
        }
        let mut docs = entry_docs(prompt);
        docs.add(&format!("The prompt {}.", code(&prompt.name)));
        let arguments = self.record(&name, fields);
        Method {
            docs,
            remote: prompt.name.clone(),
            arguments,
            call: Call::Prompt,
            name,
        }
    }

    fn template(&mut self, template: &Entry, name: String) -> Method {
        let uri = template.text("uriTemplate").unwrap_or_default();
        let mut docs = entry_docs(template);
        docs.add(&format!("The resource at {}.", code(uri)));
        if let Some(mime_type) = template.text("mimeType") {
            docs.add(&format!("Its media type: {}.", code(mime_type)));
        }
        let arguments = self.record(&name, variables(uri));
        Method {
            docs,
            remote: template.name.clone(),
            arguments,
            call: Call::Template(uri.to_owned()),
            name,
        }
    }

    fn record(&mut self, method: &str, fields: Vec<Field>) -> Option<Shape> {
        let record = Record {
            fields,
            ..Record::default()
        };
        if record.fields.len() > MAX_FIELDS {
            // The values are texts or lists of texts.
            let reason = format!("there are more than {MAX_FIELDS} of them");
            return Some(Shape::Map(Box::new(Shape::any(reason))));
        }
        (!record.fields.is_empty()).then(|| self.types.add(name::pascal(method), record))
    }
}

fn entry_docs(entry: &Entry) -> Docs {
    let text = entry
        .text("description")
        .filter(|text| !text.trim().is_empty());
    Docs::quoted(text.or_else(|| entry.text("title")).unwrap_or_default())
}

/// The variables of a URI template (RFC 6570). Those of a query, of parameters and of a fragment are optional.
fn variables(template: &str) -> Vec<Field> {
    let mut fields: Vec<Field> = Vec::new();
    let mut seen = BTreeSet::new();
    for expression in template
        .split('{')
        .skip(1)
        .filter_map(|part| part.split_once('}'))
    {
        let operator = expression
            .0
            .chars()
            .next()
            .filter(|sign| "+#./;?&".contains(*sign));
        let names = expression
            .0
            .trim_start_matches(|sign| Some(sign) == operator);
        for variable in names.split(',').filter(|variable| !variable.is_empty()) {
            let name = variable.split([':', '*']).next().unwrap_or_default();
            if name.is_empty() || !seen.insert(name) {
                continue;
            }
            let shape = if variable.ends_with('*') {
                Shape::List(Box::new(Shape::Text))
            } else {
                Shape::Text
            };
            fields.push(Field {
                member: name.to_owned(),
                shape,
                required: !operator.is_some_and(|sign| "#;?&".contains(sign)),
                keeps_null: false,
                description: None,
                notes: Vec::new(),
            });
        }
    }
    fields
}
