//! One small server, written with the official SDKs of TypeScript and of Python: the same checks for both, in both eras.

mod asked;
mod calls;
mod changes;

use treenail::McpClient;
use treenail::client::McpClientBuilder;
use treenail::schema::Revision;

use crate::installed::{heard, node, python};

/// A way to reach a server, and the revision that it is to speak.
#[derive(Clone, Copy)]
pub(crate) struct Harbour {
    connect: fn() -> McpClientBuilder,
    revision: Revision,
}

impl Harbour {
    fn builder(self) -> McpClientBuilder {
        let builder = (self.connect)();
        if self.revision.is_modern() {
            // That it is modern, the client finds out.
            return builder;
        }
        builder.protocol_version(self.revision)
    }

    async fn client(self) -> McpClient {
        self.builder().build().await.unwrap()
    }
}

fn typescript() -> McpClientBuilder {
    McpClient::builder().command(heard(node("harbour.mjs")))
}

fn with_python() -> McpClientBuilder {
    McpClient::builder().command(heard(python("harbour.py")))
}

/// Each check is a test for a server and a revision.
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
        over! { typescript_modern: typescript, V2026_07_28; $($checks)* }
        over! { typescript_legacy: typescript, V2025_11_25; $($checks)* }
        over! { python_modern: with_python, V2026_07_28; $($checks)* }
        over! { python_legacy: with_python, V2025_11_25; $($checks)* }
    };
}

over_all! {
    calls::the_server_is_known,
    calls::tools_return_values_and_errors,
    calls::media_links_and_resources_are_returned,
    calls::prompts_resources_and_proposals,
    calls::progress_and_logs_are_told,
    calls::a_dropped_call_is_cancelled,
    asked::a_form_is_answered,
    asked::several_rounds_are_answered,
    asked::what_nobody_answers_is_refused,
    changes::a_new_tool_is_told_and_found,
    changes::an_updated_resource_is_told,
}
