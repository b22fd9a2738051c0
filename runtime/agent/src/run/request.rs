//! Requests to the model.

use treenail_schema::{CreateMessageRequestParams, ToolChoice as Mode, ToolChoiceMode};

use super::engine::Engine;
use crate::ToolChoice;
use crate::model_call::append_to_prompt;
use crate::report::Fault;

impl Engine {
    /// Builds the next request. The last one allows no call but the submission of an output, so that the model answers.
    pub(super) fn request(&self, is_last: bool) -> Result<CreateMessageRequestParams, Fault> {
        let config = &self.shared.config;
        let state = self.shared.state();
        let is_first = state.iterations == 0;
        let mut request =
            CreateMessageRequestParams::new(state.messages.clone(), config.max_tokens);
        drop(state);
        request.system_prompt.clone_from(&config.system_prompt);
        let has_output = config.output.is_some();
        let choice = match &config.tool_choice {
            _ if is_last && has_output => &ToolChoice::None,
            ToolChoice::Required | ToolChoice::Tool(_) if !is_first => &ToolChoice::Auto,
            choice => choice,
        };
        let tools = self.catalog.offered(choice)?;
        let mode = match choice {
            _ if has_output => Some(ToolChoiceMode::Required),
            _ if is_last => Some(ToolChoiceMode::None),
            ToolChoice::Auto => None,
            ToolChoice::None => Some(ToolChoiceMode::None),
            ToolChoice::Required | ToolChoice::Tool(_) => Some(ToolChoiceMode::Required),
        };
        if is_last {
            let prompt = request.system_prompt.take();
            request.system_prompt = append_to_prompt(prompt, self.final_round_prompt());
        }
        if !tools.is_empty() {
            request.tools = Some(tools);
            request.tool_choice = mode.map(|mode| Mode::new().with_mode(mode));
        }
        if let Some(edit) = &config.edit {
            edit(&mut request);
        }
        Ok(request)
    }

    /// System prompt for the last message, after all iterations are used.
    fn final_round_prompt(&self) -> String {
        let max = self.shared.config.limits.max_iterations.max(1);
        let rounds = if max == 1 { "round" } else { "rounds" };
        let answer = match self.catalog.submission() {
            Some(tool) => format!("Call only the tool `{}` now, with what you know.", tool.name),
            None => "Do not call tools any more: answer now with what you know, and say what is missing."
                .to_owned(),
        };
        format!("You have had {max} {rounds} of tool calls, which is the limit. {answer}")
    }
}
