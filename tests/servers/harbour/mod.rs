//! A small server, implemented with the official SDKs for TypeScript and Python. The same checks run for both, in both
//! eras.

mod calls;
mod elicitation;
mod notifications;

use treenail::McpClient;
use treenail::client::McpClientBuilder;
use treenail::schema::Revision;

use crate::installed::{node, python, with_captured_stderr};

/// Connection to a server with the expected revision.
#[derive(Clone, Copy)]
pub(crate) struct Harbour {
    connect: fn() -> McpClientBuilder,
    revision: Revision,
}

impl Harbour {
    fn builder(self) -> McpClientBuilder {
        let builder = (self.connect)();
        if self.revision.is_modern() {
            // The client detects the modern era by itself.
            return builder;
        }
        builder.protocol_version(self.revision)
    }

    async fn client(self) -> McpClient {
        self.builder().build().await.unwrap()
    }
}

fn typescript_sdk() -> McpClientBuilder {
    McpClient::builder().command(with_captured_stderr(node("harbour.mjs")))
}

fn python_sdk() -> McpClientBuilder {
    McpClient::builder().command(with_captured_stderr(python("harbour.py")))
}

/// Declares a test for each check with a server and a revision.
macro_rules! over {
    ($name:ident: $connect:ident, $revision:ident; $($module:ident::$check:ident,)*) => {
        mod $name {
            $(
                #[tokio::test]
                async fn $check() {
                    let harbour = super::Harbour {
                        connect: super::$connect,
                        revision: treenail::schema::Revision::$revision,
                    };
                    super::$module::$check(harbour).await;
                }
            )*
        }
    };
}

macro_rules! over_all {
    ($($checks:tt)*) => {
        over! { typescript_modern: typescript_sdk, V2026_07_28; $($checks)* }
        over! { typescript_legacy: typescript_sdk, V2025_11_25; $($checks)* }
        over! { python_modern: python_sdk, V2026_07_28; $($checks)* }
        over! { python_legacy: python_sdk, V2025_11_25; $($checks)* }
    };
}

over_all! {
    calls::server_info_is_received,
    calls::tools_return_values_and_errors,
    calls::media_links_and_resources_are_returned,
    calls::prompts_resources_and_completions,
    calls::progress_and_log_messages_are_received,
    calls::dropped_call_is_cancelled,
    elicitation::form_is_answered,
    elicitation::several_rounds_are_answered,
    elicitation::request_without_a_handler_fails,
    notifications::new_tool_is_announced_and_listed,
    notifications::updated_resource_is_announced,
}
