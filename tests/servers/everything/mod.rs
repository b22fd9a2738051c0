//! `@modelcontextprotocol/server-everything`: all that it has, by the same checks over each transport.

mod asked;
mod changes;
mod content;
mod lists;
mod tasks;
mod timing;

use std::future::{Ready, ready};

use treenail::McpClient;
use treenail::client::McpClientBuilder;

use crate::installed::{reference, reference_program};
use crate::listening::Listening;

/// A way to reach a server, as often as a test likes; each time it is a session of its own.
pub(crate) type Connect<'a> = &'a (dyn Fn() -> McpClientBuilder + Sync);

/// Each check is a test over a transport.
macro_rules! over {
    ($transport:ident: $connect:expr; $($module:ident::$check:ident,)*) => {
        mod $transport {
            $(
                #[tokio::test]
                async fn $check() {
                    let connect = $connect.await;
                    super::$module::$check(&connect).await;
                }
            )*
        }
    };
}

macro_rules! over_all_transports {
    ($($checks:tt)*) => {
        over! { stdio: super::stdio(); $($checks)* }
        over! { streamable_http: super::streamable_http(); $($checks)* }
        over! { http_with_sse: super::http_with_sse(); $($checks)* }
    };
}

over_all_transports! {
    lists::the_server_says_what_it_is,
    lists::every_legacy_revision_is_spoken,
    lists::everything_is_listed,
    lists::two_recordings_are_the_same_bytes,
    lists::tools_for_questions_are_there_if_they_are_answered,
    content::every_tool_gives_its_result,
    content::structured_content_is_a_type,
    content::resources_are_linked_and_embedded,
    content::wrong_calls_are_told_apart,
    content::prompts_bring_their_messages,
    content::values_are_proposed,
    content::resources_are_read,
    changes::logs_are_told_from_the_level_on,
    changes::subscriptions_bring_updates,
    changes::new_resources_change_the_list,
    changes::changed_roots_are_fetched_again,
    asked::forms_are_filled_in,
    asked::forms_are_declined_and_cancelled,
    asked::wrong_values_are_not_sent,
    asked::pages_are_opened,
    asked::a_model_is_asked,
    asked::roots_are_listed,
    asked::questions_as_tasks_are_answered_at_once,
    timing::progress_is_told,
    timing::a_call_that_takes_too_long_is_given_up,
    timing::many_calls_are_in_flight,
    tasks::a_call_runs_as_a_task,
}

/// The server as a child process.
fn stdio() -> Ready<impl Fn() -> McpClientBuilder> {
    ready(|| McpClient::builder().command(reference("everything")))
}

/// The server over Streamable HTTP.
async fn streamable_http() -> impl Fn() -> McpClientBuilder {
    let program = reference_program("everything");
    let server = Listening::start(&program, "streamableHttp", "/mcp").await;
    move || server.builder()
}

/// The server over HTTP+SSE, the transport of 2024-11-05.
async fn http_with_sse() -> impl Fn() -> McpClientBuilder {
    let program = reference_program("everything");
    let server = Listening::start(&program, "sse", "/sse").await;
    move || server.builder()
}

async fn client(connect: Connect<'_>) -> McpClient {
    connect().build().await.unwrap()
}
