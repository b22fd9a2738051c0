//! Prompts, and completions of their arguments.

use treenail::prelude::*;
use treenail::schema::{ContentBlock, PromptMessage, TextResourceContents};

use crate::content::DOT;

pub(crate) struct Prompts;

#[mcp_form]
struct UserContext {
    context: String,
}

#[mcp_tool]
impl Prompts {
    /// Has no arguments.
    #[prompt]
    fn test_simple_prompt() -> &'static str {
        "This is a simple prompt for testing."
    }

    /// Has two arguments.
    #[prompt]
    fn test_prompt_with_arguments(
        /// First test argument
        #[arg(complete = complete_value)]
        arg1: String,
        /// Second test argument
        arg2: String,
    ) -> String {
        format!("Prompt with arguments: arg1='{arg1}', arg2='{arg2}'")
    }

    /// Has the contents of a resource.
    #[prompt]
    fn test_prompt_with_embedded_resource(
        /// URI of the resource to embed
        #[arg(name = "resourceUri")]
        resource_uri: String,
    ) -> Vec<PromptMessage> {
        let text = "Embedded resource content for testing.";
        let contents = TextResourceContents::new(resource_uri, text).with_mime_type("text/plain");
        vec![
            PromptMessage::user(ContentBlock::resource(contents)),
            PromptMessage::user("Please process the embedded resource above."),
        ]
    }

    /// Has an image.
    #[prompt]
    fn test_prompt_with_image() -> Vec<PromptMessage> {
        vec![
            PromptMessage::user(ContentBlock::image(DOT, "image/png")),
            PromptMessage::user("Please analyze the image above."),
        ]
    }

    /// Asks the user for the context.
    #[prompt]
    async fn test_input_required_result_prompt(cx: &Context) -> Result<String, AskError> {
        let question = cx.elicit("What context should the prompt use?");
        let UserContext { context } = question.key("user_context").await?;
        Ok(format!("Use the following context: {context}"))
    }
}

fn complete_value(typed: &str) -> Vec<&'static str> {
    let values = ["paris", "park", "party", "test", "testing"];
    values
        .into_iter()
        .filter(|value| value.starts_with(typed))
        .collect()
}
