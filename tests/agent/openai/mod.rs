//! The model behind an OpenAI-compatible endpoint, against a fake one on loopback.

mod example;
mod failures;
pub(crate) mod fake;
mod outputs;
mod requests;
mod responses;
mod secrets;
mod text_tools;
mod timeouts;

use std::sync::Mutex;
use std::time::Duration;

use treenail::agent::{
    Model, ModelError, ModelReply, OpenAiLimits, OpenAiModel, OpenAiModelBuilder,
};
use treenail::schema::{CreateMessageRequestParams, Role, SamplingMessage};
use treenail::schema::{SamplingMessageContentBlock as Block, ToolUseContent};

use self::fake::Endpoint;

/// Short limits.
fn limits() -> OpenAiLimits {
    OpenAiLimits::default()
        .retries(2)
        .initial_backoff(Duration::from_millis(2))
        .max_backoff(Duration::from_millis(500))
}

fn model(endpoint: &Endpoint) -> OpenAiModelBuilder {
    OpenAiModel::builder("fake-1")
        .base_url(&endpoint.url)
        .limits(limits())
}

fn question(text: &str) -> CreateMessageRequestParams {
    CreateMessageRequestParams::new([user(text)], 100)
}

fn user(text: &str) -> SamplingMessage {
    SamplingMessage::new(Role::User, Block::text(text))
}

/// Reply of a model, and the text chunks that it streamed.
async fn ask(
    model: &OpenAiModel,
    request: &CreateMessageRequestParams,
) -> (Result<ModelReply, ModelError>, Vec<String>) {
    let pieces = Mutex::new(Vec::new());
    let on_text = |text: &str| pieces.lock().unwrap().push(text.to_owned());
    let reply = model.create_message(request, &on_text).await;
    (reply, pieces.into_inner().unwrap())
}

/// Drives the client until it disconnects from a held reply.
async fn left(endpoint: &Endpoint) {
    let leaving = async {
        while !endpoint.was_left() {
            tokio::task::yield_now().await;
        }
    };
    let left = tokio::time::timeout(Duration::from_secs(30), leaving).await;
    left.expect("the client leaves");
}

fn text_of(reply: &ModelReply) -> String {
    let texts = reply.message.content.iter().filter_map(Block::as_text);
    texts.collect()
}

fn calls_of(reply: &ModelReply) -> Vec<&ToolUseContent> {
    let blocks = reply.message.content.iter();
    let calls = blocks.filter_map(|block| match block {
        Block::ToolUse(call) => Some(call),
        _ => None,
    });
    calls.collect()
}
