//! Output types of prompts, and their conversion to a result.

use std::error::Error;

use treenail_schema::{ContentBlock, GetPromptResult, PromptMessage};

use crate::function::Output;
use crate::function::run::to_rpc_error;
use crate::prompt::PromptInfo;
use crate::result_writer::ResultWriter;
use crate::revision::downgrade_block;
use crate::wire::RpcError;

/// A type that a prompt can return.
///
/// - `String`, `&'static str` and [`ContentBlock`]: one user message.
/// - [`PromptMessage`], a `Vec` of them, and [`GetPromptResult`].
/// - `Result<T, E>` of those, where `E` is any error that converts to `Box<dyn Error + Send + Sync>`: its message becomes an
///   internal error (-32603); an [`RpcError`] is returned unchanged, unless 2026-07-28 has retired
///   its code.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the output of a prompt",
    label = "a prompt returns text or messages, the error of a `Result` needs `Error`",
    note = "return `String`, `PromptMessage`, `Vec<PromptMessage>`, or a `Result` of those",
    note = "an error derives `thiserror::Error` or is an `RpcError`; `Box<dyn Error>` needs `+ Send + Sync`"
)]
pub trait PromptOutput: Sized {
    /// Converts the value to a complete result.
    fn into_prompt(self) -> Result<GetPromptResult, RpcError>;

    /// Returns the operations of the output as functions, so only this function needs trait bounds on the type.
    fn output() -> Output<Self, PromptInfo> {
        Output {
            schema: |_| None,
            write: write_result,
        }
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature is that of every kind of function"
)]
fn write_result<T: PromptOutput>(
    value: T,
    info: &PromptInfo,
    (): &(),
    result: &mut ResultWriter<'_>,
) -> Result<(), RpcError> {
    write(value.into_prompt()?, info, result);
    Ok(())
}

#[inline]
fn write(mut prompt: GetPromptResult, info: &PromptInfo, result: &mut ResultWriter<'_>) {
    let revision = result.style().revision();
    for message in &mut prompt.messages {
        downgrade_block(&mut message.content, revision);
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
