//! `@modelcontextprotocol/server-everything`: the same checks of all its features over each transport.

mod content;
mod discovery;
mod elicitation;
mod notifications;
mod restart;
mod tasks;
mod timing;

use std::future::{Ready, ready};

use treenail::McpClient;
use treenail::client::McpClientBuilder;

use crate::http_server::HttpServer;
use crate::installed::{reference, reference_program};

/// Creates builders for sessions with a server. Each one opens a new session.
pub(crate) type Connect<'a> = &'a (dyn Fn() -> McpClientBuilder + Sync);

/// Declares a test for each check over a transport.
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
    discovery::server_info_is_received,
    discovery::every_legacy_revision_is_negotiated,
    discovery::tools_prompts_and_resources_are_listed,
    discovery::contracts_are_byte_identical,
    discovery::tools_depend_on_client_capabilities,
    content::tools_return_results,
    content::structured_content_is_typed,
    content::resources_are_linked_and_embedded,
    content::invalid_calls_have_distinct_errors,
    content::prompts_return_messages,
    content::arguments_are_completed,
    content::resources_are_read,
    notifications::log_messages_respect_the_level,
    notifications::subscriptions_report_updates,
    notifications::new_resources_change_the_list,
    notifications::changed_roots_are_fetched_again,
    elicitation::forms_are_accepted,
    elicitation::forms_are_declined_and_cancelled,
    elicitation::invalid_values_are_not_sent,
    elicitation::urls_are_accepted,
    elicitation::sampling_requests_are_answered,
    elicitation::roots_are_listed,
    elicitation::task_requests_are_answered_immediately,
    timing::progress_is_reported,
    timing::slow_calls_time_out,
    timing::many_calls_are_in_flight,
    tasks::call_runs_as_a_task,
}

/// The server as a child process.
fn stdio() -> Ready<impl Fn() -> McpClientBuilder> {
    ready(|| McpClient::builder().command(reference("everything")))
}

/// The server over Streamable HTTP.
async fn streamable_http() -> impl Fn() -> McpClientBuilder {
    let program = reference_program("everything");
    let server = HttpServer::start(&program, "streamableHttp", "/mcp").await;
    move || server.builder()
}

/// The server over HTTP+SSE, the transport of 2024-11-05.
async fn http_with_sse() -> impl Fn() -> McpClientBuilder {
    let program = reference_program("everything");
    let server = HttpServer::start(&program, "sse", "/sse").await;
    move || server.builder()
}

async fn client(connect: Connect<'_>) -> McpClient {
    connect().build().await.unwrap()
}
