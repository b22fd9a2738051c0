//! `@modelcontextprotocol/server-everything`: tools with and without output schemas, prompts and resource templates.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use generated::everything::{EverythingClient, types};
use treenail::client::Contract;
use treenail::schema::ResourceContents;

use crate::installed::{command, connect};

async fn client() -> EverythingClient {
    EverythingClient::new(&connect(command("everything")).await)
}

#[tokio::test]
async fn structured_output_is_typed() {
    let everything = client().await;
    let location = types::GetStructuredContentLocation::NewYork;
    let weather = everything.get_structured_content(types::GetStructuredContent::new(location));
    let weather: types::GetStructuredContentOutput = weather.await.unwrap();
    assert_eq!(weather.conditions, "Cloudy");
    assert!(weather.humidity > 0.0 && weather.temperature > 0.0);
}

#[tokio::test]
async fn tools_without_output_schema_return_the_whole_result() {
    let everything = client().await;
    let sum = everything
        .get_sum(types::GetSum { a: 2.0, b: 3.5 })
        .await
        .unwrap();
    assert_eq!(
        sum.content[0].as_text(),
        Some("The sum of 2 and 3.5 is 5.5.")
    );
    let image = everything.get_tiny_image().await.unwrap();
    assert_eq!(image.content.len(), 3, "a tool without arguments");
    let kind = types::GetAnnotatedMessageMessageType::Error;
    let message = types::GetAnnotatedMessage::new(kind).with_include_image(true);
    let message = everything.get_annotated_message(message).await.unwrap();
    assert_eq!(message.content.len(), 2);
}

#[tokio::test]
async fn calls_take_options() {
    let everything = client().await;
    let steps = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&steps);
    let arguments = types::TriggerLongRunningOperation::new()
        .with_duration(0.2)
        .with_steps(2);
    everything
        .trigger_long_running_operation(arguments)
        .timeout(Duration::from_secs(30))
        .on_progress(move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
        })
        .await
        .unwrap();
    assert_eq!(steps.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn prompts_and_resources_are_typed() {
    let everything = client().await;
    let trip = types::PromptArgsPrompt::new("Oslo").with_state("Viken");
    let trip = everything.prompt_args_prompt(trip).await.unwrap();
    let text = serde_json::to_string(&trip.messages).unwrap();
    assert!(text.contains("Oslo, Viken"), "{text}");
    let simple = everything.prompt_simple_prompt().await.unwrap();
    assert_eq!(simple.messages.len(), 1);

    let variables = types::ReadDynamicTextResource::new("7");
    let read = everything
        .read_dynamic_text_resource(variables)
        .await
        .unwrap();
    let ResourceContents::Text(text) = &read.contents[0] else {
        panic!("no text: {read:?}");
    };
    assert_eq!(text.uri, "demo://resource/dynamic/text/7");
}

#[test]
fn lock_file_is_available_as_a_contract() {
    let contract = Contract::from_json(EverythingClient::LOCK).unwrap();
    assert!(contract.tool("get-sum").is_some());
}
