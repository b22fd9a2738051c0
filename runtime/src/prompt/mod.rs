//! Prompts: declarations made with `#[prompt]`, and their registration with the server.

pub(crate) mod output;

use std::sync::Arc;

use serde_json::{Map, Value};
use treenail_schema::{Prompt, PromptArgument};

use crate::call::Call;
use crate::completion::listed_completers;
use crate::definition::{Definition, Metadata};
use crate::function::FeatureKind;
use crate::function::argument_error::{Problem, format_problems};
use crate::function::run::panic_error;
use crate::registered::Registered;
use crate::result_writer::ResultWriter;
use crate::wire::RpcError;

/// Metadata of a prompt beside its arguments.
pub type PromptMetadata = Metadata<PromptInfo>;

/// A prompt on the state `S` that is not bound to a value of it yet.
pub type PromptDefinition<S> = Definition<S, PromptInfo>;

impl<S: Send + Sync + 'static> PromptDefinition<S> {
    /// Binds the prompt to `state`, in `namespace`.
    pub(crate) fn bind(
        mut self,
        namespace: &str,
        state: &Arc<S>,
    ) -> Result<Registered<Prompt>, String> {
        let name = self.metadata.full_name("prompt", namespace)?;
        let input_schema = self
            .function
            .take_input_schema()
            .map_err(|error| format!("prompt `{name}`: {error}"))?;
        let metadata = &mut self.metadata;
        let meta = metadata.take_meta();
        let meta = meta.map_err(|error| format!("prompt `{name}`: {error}"))?;
        let mut descriptor = Prompt::new(name);
        descriptor.title = metadata.title.map(str::to_owned);
        descriptor.description = metadata.description.map(str::to_owned);
        descriptor.icons = metadata.take_icons();
        descriptor.meta = meta;
        descriptor.arguments = arguments(&input_schema);
        let listed: Vec<_> = listed_completers(&input_schema).collect();
        let bound = self.bind_to(state, descriptor, |descriptor| {
            PromptInfo::new(descriptor, input_schema)
        });
        Ok(bound.with_default_completers(listed))
    }
}

/// Converts the input schema to the argument list of the protocol.
#[inline]
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

/// Information about a prompt that its requests need.
#[derive(Debug)]
pub struct PromptInfo {
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    input_schema: Map<String, Value>,
}

impl PromptInfo {
    /// Creates the information about a prompt. The schema is for error messages.
    pub(crate) fn new(descriptor: &Prompt, input_schema: Map<String, Value>) -> Self {
        Self {
            name: descriptor.name.clone(),
            description: descriptor.description.clone(),
            input_schema,
        }
    }
}

impl FeatureKind for PromptInfo {
    type Details = ();
    type WriteContext = ();

    fn write_context(_: &Call<'_>) {}

    fn reject(
        &self,
        problems: &[Problem],
        _: Option<&str>,
        _: &mut ResultWriter<'_>,
    ) -> Result<(), RpcError> {
        let heading = format!("wrong arguments for the prompt `{}`:", self.name);
        Err(RpcError::invalid_params(format_problems(
            heading,
            problems,
            &Value::Null,
            &self.input_schema,
        )))
    }

    fn on_panic(&self, message: &str, _: &mut ResultWriter<'_>) -> Result<(), RpcError> {
        Err(panic_error("prompt", &self.name, message))
    }
}
