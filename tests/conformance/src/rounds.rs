//! Tools that need input, over one round or several.

use treenail::prelude::*;

use crate::asking::{prompt, said};

pub(crate) struct Rounds;

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
#[allow(
    deprecated,
    reason = "sampling and roots are deprecated, and they are what is tested"
)]
impl Rounds {
    /// Greets the user, whose name it asks for.
    #[tool]
    async fn test_input_required_result_elicitation(cx: &Context) -> Result<String, AskError> {
        let Name { name } = cx.elicit("What is your name?").key("user_name").await?;
        Ok(format!("Hello, {name}!"))
    }

    /// Asks the client's model.
    #[tool]
    async fn test_input_required_result_sampling(cx: &Context) -> Result<String, AskError> {
        let question = prompt("What is the capital of France?");
        let answer = cx.sample(question).key("capital_question").await?;
        Ok(said(&answer).to_owned())
    }

    /// Asks where the client works.
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

    /// Asks the user and the client's model, and where the client works, all at once.
    #[tool]
    async fn test_input_required_result_multiple_inputs(cx: &Context) -> Result<String, AskError> {
        let (user, greeting, roots) = tokio::try_join!(
            cx.elicit::<Name>("What is your name?")
                .key("user_name")
                .into_future(),
            cx.sample(prompt("Generate a greeting"))
                .key("greeting")
                .into_future(),
            cx.roots().key("client_roots").into_future(),
        )?;
        Ok(format!(
            "{} {}, {} roots",
            said(&greeting),
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

    /// Asks the user to agree, and takes no state that is not its own.
    #[tool]
    async fn test_input_required_result_tampered_state(cx: &Context) -> Result<String, AskError> {
        let Agreement { ok } = cx.elicit("Please confirm").key("confirm").await?;
        Ok(format!("confirmed: {ok}"))
    }

    /// Asks whom the client can ask: the user, or else its model.
    #[tool]
    async fn test_input_required_result_capabilities(cx: &Context) -> Result<String, AskError> {
        let who = cx.elicit::<Name>("What is your name?").key("user_name");
        if let Some(Name { name }) = who.if_supported().await? {
            return Ok(format!("Hello, {name}!"));
        }
        let answer = cx
            .sample(prompt("Think of a name"))
            .key("model_name")
            .await?;
        Ok(format!("Hello, {}!", said(&answer)))
    }
}
