//! Events of the client for its operator.

use serde_json::json;
use treenail::prelude::*;
use treenail::schema::ElicitResult;

use crate::lines::Log;

/// Code to enter.
#[mcp_form]
struct Code {
    #[field(length = 1..=4)]
    pin: String,
    #[field(range = 1..=9)]
    attempts: u8,
}

/// Asks for a code.
#[mcp_tool]
async fn unlock(cx: &Context) -> Result<bool, AskError> {
    let Code { pin, attempts } = cx.elicit("Your PIN?").await?;
    Ok(pin.len() > usize::from(attempts))
}

#[tokio::test]
async fn entered_values_are_not_logged() {
    Log::start();
    let server = treenail::server!().tools(tools![unlock]).build().unwrap();
    let client = McpClient::builder()
        .server(&server)
        .on_elicit(|_| async {
            ElicitResult::accept(json!({"pin": "hunter2-secret", "attempts": 77}))
        })
        .build()
        .await
        .unwrap();
    let error = client
        .call_tool("unlock", ())
        .await
        .unwrap_err()
        .to_string();
    let log = Log::take();
    assert_eq!(log.len(), 1, "{log:#?}");
    let fields =
        "`pin`: expected a string (1 to 4 characters), `attempts`: expected an integer (1 to 9)";
    assert!(log[0].contains(fields), "{log:#?}");
    assert!(
        error.contains(fields) && !error.contains("hunter2"),
        "{error}"
    );
    assert!(log[0].contains("WARN"), "{log:#?}");
    assert!(
        !log[0].contains("hunter2") && !log[0].contains("77"),
        "{log:#?}"
    );
}
