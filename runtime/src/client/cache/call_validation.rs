//! Validation of the result of a call against the output schema of its tool.

use std::time::Duration;

use treenail_schema::{CallToolResult, Revision};

use crate::client::ClientError;
use crate::client::cache::McpClient;
use crate::client::cache::validation::{ExpectedOutput, Mismatch, Unchecked};
use crate::wire::quoted;

impl McpClient {
    /// Returns the validator for the result of a call, if the tool is listed with an output schema. The error for a schema that
    /// cannot be used depends on whether the tool has run.
    pub(super) async fn expected_output(
        &self,
        name: &str,
        has_run: bool,
    ) -> Result<Option<ExpectedOutput>, ClientError> {
        // Earlier revisions have no output schemas.
        let has_schemas = self.session().protocol_version() >= Revision::V2025_06_18;
        let list = self.inner.lists.tools.latest().filter(|_| has_schemas);
        match (&self.inner.validators, list) {
            (Some(validators), Some(list)) => {
                let limits = self.session().limits();
                let expected = validators.expected_output(&list, name, limits).await;
                expected.map_err(|error| match error {
                    ClientError::Protocol(reason) => {
                        let state = if has_run {
                            "has run, but"
                        } else {
                            "was not called, because"
                        };
                        ClientError::protocol(format!("tool {} {state} {reason}", quoted(name)))
                    }
                    other => other,
                })
            }
            _ => Ok(None),
        }
    }

    /// Returns the result of a call if it matches the output schema of its tool. The check may take `limit` by itself,
    /// because the call may have taken longer than its timeout while the user was asked.
    pub(in crate::client) async fn check_result(
        &self,
        unchecked: Unchecked,
        result: CallToolResult,
        limit: Duration,
    ) -> Result<CallToolResult, ClientError> {
        match unchecked.check(result, limit).await? {
            Ok(result) => Ok(result),
            Err(mismatch) => self.check_again(*mismatch, limit).await,
        }
    }

    /// Checks a result against the current schema, if the list of tools was out of date.
    async fn check_again(
        &self,
        mismatch: Mismatch,
        limit: Duration,
    ) -> Result<CallToolResult, ClientError> {
        let name = &mismatch.tool.name;
        let expected = match self.tool(name).await {
            Ok(Some(tool)) if tool.output_schema != mismatch.tool.output_schema => {
                self.expected_output(name, true).await?
            }
            Ok(None) => None,
            Ok(Some(_)) | Err(_) => return Err(mismatch.into_error()),
        };
        let Some(expected) = expected else {
            return Ok(mismatch.result);
        };
        let result = mismatch.result;
        match expected.check(&result) {
            Ok(()) => Ok(result),
            Err(unchecked) => {
                let checked = unchecked.check(result, limit).await?;
                checked.map_err(|mismatch| mismatch.into_error())
            }
        }
    }
}
