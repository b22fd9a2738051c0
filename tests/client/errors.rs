//! Errors of the client as errors of the crate.

use std::error::Error as _;

use treenail::agent::ModelError;
use treenail::client::{ClientError, ContractError};
use treenail::schema::{CallToolResult, ContentBlock};

/// Returns an error as `main` of a program does.
fn read_lock(text: &str) -> treenail::Result<treenail::client::Contract> {
    Ok(treenail::client::Contract::from_json(text)?)
}

fn ask_model(fails: bool) -> treenail::Result<()> {
    if fails {
        Err(ModelError::unavailable("it is asleep"))?;
    }
    Ok(())
}

#[test]
fn contract_and_model_errors_convert_to_the_crate_error() {
    let error = read_lock("{}").unwrap_err();
    assert!(matches!(&error, treenail::Error::Other(error) if error.is::<ContractError>()));
    let error = ask_model(true).unwrap_err();
    assert!(matches!(&error, treenail::Error::Other(error) if error.is::<ModelError>()));
    ask_model(false).unwrap();
}

#[test]
fn a_failed_tool_has_all_its_texts() {
    let content = [ContentBlock::text("one"), ContentBlock::text("two")];
    let failed = ClientError::Tool(Box::new(CallToolResult::new(content)));
    assert_eq!(failed.to_string(), "the tool failed: one\ntwo");
    let silent = ClientError::Tool(Box::new(CallToolResult::new([])));
    assert_eq!(silent.to_string(), "the tool failed: no reason given");
}

#[derive(Debug, thiserror::Error)]
#[error("the broker did not answer")]
struct BrokerError(#[source] std::io::Error);

#[test]
fn the_causes_of_an_authorization_error_follow_it() {
    let cause = std::io::Error::other("connection reset");
    let error = ClientError::authorization(BrokerError(cause));
    assert_eq!(
        error.to_string(),
        "no authorization: the broker did not answer"
    );
    let cause = error.source().map(ToString::to_string);
    assert_eq!(cause.as_deref(), Some("connection reset"));
    let error = treenail::Error::from(error);
    assert_eq!(
        format!("{error:?}"),
        "no authorization: the broker did not answer\ncaused by: connection reset"
    );
    let closed = ClientError::closed("the peer has left");
    assert!(closed.source().is_none());
}
