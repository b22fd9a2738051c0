//! Tools that need input in one or several rounds.

use treenail::prelude::*;

use crate::client_requests::{sampled_text, sampling_request};

pub(crate) struct InputRounds;

#[mcp_form]
struct Name {
    name: String,
}

#[mcp_form]
struct Agreement {
    ok: bool,
}

#[mcp_form]
struct Colour {
    color: String,
}

#[mcp_tool]
#[allow(deprecated, reason = "sampling and roots are deprecated, but tested")]
impl InputRounds {
    /// Asks for the name of the user, and greets the user.
    #[tool]
    async fn test_input_required_result_elicitation(cx: &Context) -> Result<String, AskError> {
        let Name { name } = cx.elicit("What is your name?").key("user_name").await?;
        Ok(format!("Hello, {name}!"))
    }

    /// Asks the client's model.
    #[tool]
    async fn test_input_required_result_sampling(cx: &Context) -> Result<String, AskError> {
        let question = sampling_request("What is the capital of France?");
        let answer = cx.sample(question).key("capital_question").await?;
        Ok(sampled_text(&answer).to_owned())
    }

    /// Asks for the roots of the client.
    #[tool]
    async fn test_input_required_result_list_roots(cx: &Context) -> Result<String, AskError> {
        let roots = cx.roots().key("client_roots").await?;
        Ok(format!("{} roots", roots.len()))
    }

    /// Asks the user to agree.
    #[tool]
    async fn test_input_required_result_request_state(cx: &Context) -> Result<String, AskError> {
        let Agreement { ok } = cx.elicit("Please confirm").key("confirm").await?;
        Ok(format!("state-ok: {ok}"))
    }

    /// Asks the user, the client's model and for the roots, all at once.
    #[tool]
    async fn test_input_required_result_multiple_inputs(cx: &Context) -> Result<String, AskError> {
        let (user, greeting, roots) = tokio::try_join!(
            cx.elicit::<Name>("What is your name?")
                .key("user_name")
                .into_future(),
            cx.sample(sampling_request("Generate a greeting"))
                .key("greeting")
                .into_future(),
            cx.roots().key("client_roots").into_future(),
        )?;
        Ok(format!(
            "{} {}, {} roots",
            sampled_text(&greeting),
            user.name,
            roots.len()
        ))
    }

    /// Asks the user twice.
    #[tool]
    async fn test_input_required_result_multi_round(cx: &Context) -> Result<String, AskError> {
        let Name { name } = cx.elicit("Step 1: what is your name?").key("step1").await?;
        let Colour { color } = cx
            .elicit("Step 2: your favourite colour?")
            .key("step2")
            .await?;
        Ok(format!("{name} likes {color}"))
    }

    /// Asks the user to agree, and rejects tampered state.
    #[tool]
    async fn test_input_required_result_tampered_state(cx: &Context) -> Result<String, AskError> {
        let Agreement { ok } = cx.elicit("Please confirm").key("confirm").await?;
        Ok(format!("confirmed: {ok}"))
    }

    /// Asks the user if the client supports it, or else its model.
    #[tool]
    async fn test_input_required_result_capabilities(cx: &Context) -> Result<String, AskError> {
        let name = cx.elicit::<Name>("What is your name?").key("user_name");
        if let Some(Name { name }) = name.if_supported().await? {
            return Ok(format!("Hello, {name}!"));
        }
        let answer = cx
            .sample(sampling_request("Think of a name"))
            .key("model_name")
            .await?;
        Ok(format!("Hello, {}!", sampled_text(&answer)))
    }
}
