//! Completion of arguments whose schema lists their values.

use serde_json::{Map, Value};
use treenail_schema::Completion;
use treenail_schema::internal::json_schema::listed_strings;

use super::{CompletionRequest, TypedArgument, first_values, write};
use crate::function::argument::ArgumentList;
use crate::handler::Handler;
use crate::wire::RpcError;

/// Returns the arguments whose schema lists strings, such as the variants of an enum, with handlers that suggest them.
pub(crate) fn listed_completers(
    input_schema: &Map<String, Value>,
) -> impl Iterator<Item = (String, Handler)> {
    let properties = input_schema.get("properties").and_then(Value::as_object);
    properties
        .into_iter()
        .flatten()
        .filter_map(|(argument, schema)| {
            let values = listed_strings(schema.as_object()?, input_schema)?;
            Some((argument.clone(), handler(values)))
        })
}

fn handler(values: Vec<String>) -> Handler {
    Box::new(move |call, result| {
        let request = TypedArgument.read(call.target.arguments);
        let request =
            request.map_err(|_| RpcError::invalid_params("expected `params.argument.value`"))?;
        write(&starting_with(&request, &values), result);
        Ok(None)
    })
}

/// Returns the values that start with the text of the user, in upper or lower case.
fn starting_with(request: &CompletionRequest, values: &[String]) -> Completion {
    let typed = request.text().to_lowercase();
    let fits = |value: &&String| value.to_lowercase().starts_with(&typed);
    first_values(values.iter().filter(fits).cloned().collect::<Vec<_>>())
}
