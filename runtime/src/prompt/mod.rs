//! Prompts: what `#[prompt]` declares, and what the server makes of it.

pub(crate) mod output;

use std::sync::Arc;

use serde_json::{Map, Value};
use treenail_schema::{Prompt, PromptArgument};

use crate::call::Call;
use crate::definition::{Bound, Definition, Head};
use crate::function::Purpose;
use crate::function::problem::{Problem, report};
use crate::function::run::panicked;
use crate::result_writer::ResultWriter;
use crate::wire::RpcError;

/// What is told about a prompt beside its arguments.
pub type PromptHead = Head<PromptFacts>;

/// A prompt of the state `S`, not yet bound to a value of it.
pub type PromptDefinition<S> = Definition<S, PromptFacts>;

impl<S: Send + Sync + 'static> PromptDefinition<S> {
    /// The prompt in `namespace`, run on `state`.
    pub(crate) fn bind(mut self, namespace: &str, state: &Arc<S>) -> Result<Bound<Prompt>, String> {
        let name = self.head.full_name("prompt", namespace)?;
        let input_schema = self
            .function
            .take_input_schema()
            .map_err(|error| format!("prompt `{name}`: {error}"))?;
        let head = &mut self.head;
        let mut descriptor = Prompt::new(name);
        descriptor.title = head.title.map(str::to_owned);
        descriptor.description = head.description.map(str::to_owned);
        descriptor.icons = head.take_icons();
        descriptor.meta = head.meta.take();
        descriptor.arguments = arguments(&input_schema);
        Ok(self.bind_to(state, descriptor, |descriptor| PromptFacts {
            name: descriptor.name.clone(),
            description: descriptor.description.clone(),
            input_schema,
        }))
    }
}

/// The arguments, as far as the protocol tells of them.
fn arguments(input_schema: &Map<String, Value>) -> Option<Vec<PromptArgument>> {
    let required = input_schema.get("required").and_then(Value::as_array);
    let properties = input_schema.get("properties")?.as_object();
    let properties = properties.filter(|properties| !properties.is_empty())?;
    let argument = |(name, property): (&String, &Value)| {
        let mut argument = PromptArgument::new(name);
        argument.description = property["description"].as_str().map(str::to_owned);
        argument.required =
            Some(required.is_some_and(|required| required.iter().any(|other| other == name)));
        argument
    };
    Some(properties.iter().map(argument).collect())
}

/// What a request needs to know of its prompt.
#[derive(Debug)]
pub struct PromptFacts {
    name: String,
    description: Option<String>,
    input_schema: Map<String, Value>,
}

impl Purpose for PromptFacts {
    type Details = ();
    type Subject = ();

    fn subject(_: &Call<'_>) {}

    fn reject(&self, problems: &[Problem], _: &mut ResultWriter<'_>) -> Result<(), RpcError> {
        let heading = format!("wrong arguments for the prompt `{}`:", self.name);
        Err(RpcError::invalid_params(report(
            heading,
            problems,
            &self.input_schema,
        )))
    }

    fn panicked(&self, message: &str, _: &mut ResultWriter<'_>) -> Result<(), RpcError> {
        Err(panicked("prompt", &self.name, message))
    }
}
