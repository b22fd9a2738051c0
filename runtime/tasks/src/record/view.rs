//! A task as clients see it, in the form of each revision.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::value::RawValue;
use treenail_runtime::{RpcError, Server};
use treenail_schema::Revision;

use super::time::iso8601;
use super::{Outcome, Record, Status, StoredError, TaskKey};

/// Form of a task in the messages of a revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `CreateTaskResult` of the extension: no questions and no outcome.
    Created,
    /// `tasks/get` and notifications of the extension.
    Complete,
    /// Tasks of 2025-11-25.
    Older,
}

/// Members of a task in one of the forms.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct View<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    result_type: Option<&'static str>,
    task_id: &'a str,
    status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    status_message: Option<&'a str>,
    created_at: String,
    last_updated_at: String,
    #[serde(flatten)]
    times: Times,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_requests: Option<BTreeMap<&'a str, &'a RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a StoredError>,
}

/// Members for times, whose names differ between the revisions.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Times {
    #[serde(rename_all = "camelCase")]
    Modern {
        ttl_ms: Option<u64>,
        poll_interval_ms: u64,
    },
    #[serde(rename_all = "camelCase")]
    Older {
        ttl: Option<u64>,
        poll_interval: u64,
    },
}

impl<'a> View<'a> {
    pub(crate) fn new(key: &'a TaskKey, record: &'a Record, form: Form) -> Self {
        let (ttl, poll) = (record.ttl_ms, record.policy.poll_ms);
        let times = match form {
            Form::Older => Times::Older {
                ttl,
                poll_interval: poll,
            },
            Form::Created | Form::Complete => Times::Modern {
                ttl_ms: ttl,
                poll_interval_ms: poll,
            },
        };
        Self {
            result_type: (form == Form::Created).then_some("task"),
            task_id: key.id.as_str(),
            status: Status::of(record, form != Form::Older),
            status_message: record.message.as_deref(),
            created_at: iso8601(key.created_ms),
            last_updated_at: iso8601(record.updated_ms.max(key.created_ms)),
            times,
            input_requests: None,
            result: None,
            error: None,
        }
    }

    /// Makes the complete form of the extension, with the open questions or the outcome.
    pub(crate) fn complete(
        server: &Server,
        key: &'a TaskKey,
        record: &'a Record,
    ) -> Result<Self, RpcError> {
        let mut view = Self::new(key, record, Form::Complete);
        match &record.outcome {
            None if view.status == Status::InputRequired => {
                let open = record.questions.iter().filter(|(_, it)| it.is_open());
                let open =
                    open.filter_map(|(key, it)| Some((key.as_str(), it.request.as_deref()?)));
                view.input_requests = Some(open.collect());
            }
            Some(Outcome::Result(result) | Outcome::Failure(result)) => {
                view.result = Some(record.result(server, Revision::LATEST, result)?);
            }
            Some(Outcome::Error(error)) => view.error = Some(error),
            None | Some(Outcome::Cancelled) => {}
        }
        Ok(view)
    }
}

impl Record {
    /// Converts the result of the task to the format of a revision.
    pub(crate) fn result(
        &self,
        server: &Server,
        revision: Revision,
        result: &RawValue,
    ) -> Result<Box<RawValue>, RpcError> {
        match &self.call {
            Some(call) => call.result(server, revision, result),
            None => Ok(result.to_owned()),
        }
    }
}
