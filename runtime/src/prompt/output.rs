//! What a prompt may return, and how it becomes a result.

use std::error::Error;

use treenail_schema::{ContentBlock, GetPromptResult, PromptMessage};

use crate::function::Output;
use crate::function::run::to_rpc_error;
use crate::prompt::PromptInfo;
use crate::respond::ResultWriter;
use crate::revision::speak_block;
use crate::wire::RpcError;

/// A type that a prompt can return.
///
/// - `String`, `&'static str` and [`ContentBlock`]: one message of the user.
/// - [`PromptMessage`], a `Vec` of them, and [`GetPromptResult`].
/// - `Result<T, E>` of those, where `E` is any error that turns into `Box<dyn Error + Send + Sync>`: its text becomes an
///   internal error (-32603); an [`RpcError`] is passed on as it is.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the output of a prompt",
    label = "a prompt returns text or messages",
    note = "return `String`, `PromptMessage`, `Vec<PromptMessage>`, or a `Result` of those with an `Error`"
)]
pub trait PromptOutput: Sized {
    /// The whole result.
    fn into_prompt(self) -> Result<GetPromptResult, RpcError>;

    /// The output of a prompt as functions, so that the bounds on the type are asked for in one place only.
    fn output() -> Output<Self, PromptInfo> {
        Output {
            schema: |_| None,
            write: |value, info, (), result| {
                write(value.into_prompt()?, info, result);
                Ok(())
            },
        }
    }
}

fn write(mut prompt: GetPromptResult, info: &PromptInfo, result: &mut ResultWriter<'_>) {
    let revision = result.style().revision();
    for message in &mut prompt.messages {
        speak_block(&mut message.content, revision);
    }
    result.push(br#"{"messages":"#);
    result.value(&prompt.messages);
    if let Some(description) = prompt.description.as_ref().or(info.description.as_ref()) {
        result.push(br#","description":"#);
        result.value(description);
    }
    result.end(prompt.meta);
}

#[diagnostic::do_not_recommend]
impl PromptOutput for GetPromptResult {
    fn into_prompt(self) -> Result<GetPromptResult, RpcError> {
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
impl PromptOutput for Vec<PromptMessage> {
    fn into_prompt(self) -> Result<GetPromptResult, RpcError> {
        Ok(GetPromptResult::new(self))
    }
}

#[diagnostic::do_not_recommend]
impl PromptOutput for PromptMessage {
    fn into_prompt(self) -> Result<GetPromptResult, RpcError> {
        vec![self].into_prompt()
    }
}

macro_rules! users {
    ($($content:ty)*) => {$(
        #[diagnostic::do_not_recommend]
        impl PromptOutput for $content {
            fn into_prompt(self) -> Result<GetPromptResult, RpcError> {
                PromptMessage::user(self).into_prompt()
            }
        }
    )*};
}

users!(String &'static str ContentBlock);

#[diagnostic::do_not_recommend]
impl<T, E> PromptOutput for Result<T, E>
where
    T: PromptOutput,
    E: Into<Box<dyn Error + Send + Sync>>,
{
    fn into_prompt(self) -> Result<GetPromptResult, RpcError> {
        self.map_err(to_rpc_error)?.into_prompt()
    }
}
