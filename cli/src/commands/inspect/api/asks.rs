//! Answers of users to requests of the server.

use http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use treenail::form::parse_form_content;
use treenail::schema::{ElicitAction, ElicitRequestParams, ElicitResult};

use super::{App, Refused, bad_request, parse};
use crate::commands::inspect::hub::AskKind;

/// Answers a request of the server, after a check of the content.
pub(super) fn answer(app: &App, id: u64, input: Value) -> Result<Value, Refused> {
    #[derive(Deserialize)]
    struct Input {
        result: Option<Value>,
        error: Option<String>,
    }

    let gone = || {
        (
            StatusCode::CONFLICT,
            "the request is no longer open".to_owned(),
        )
    };
    let Input { result, error } = parse(input)?;
    let answer = match (result, error) {
        (Some(result), None) => {
            let state = app.hub.state();
            let (kind, params) = state.asks.get(id).ok_or_else(gone)?;
            if kind == AskKind::Elicitation {
                check_elicitation(params, &result)?;
            }
            Ok(result)
        }
        (None, Some(error)) => Err(error),
        _ => return Err(bad_request("expected either `result` or `error`")),
    };
    let is_answered = app.hub.answer(id, answer);
    is_answered.then(|| json!({})).ok_or_else(gone)
}

/// Checks the content of a form, so that the user can correct it.
fn check_elicitation(params: &Value, result: &Value) -> Result<(), Refused> {
    let unprocessable = |message| (StatusCode::UNPROCESSABLE_ENTITY, message);
    let result: ElicitResult = parse(result.clone())?;
    if result.action != ElicitAction::Accept {
        return Ok(());
    }
    let ElicitRequestParams::Form(form) = parse(params.clone())? else {
        return Ok(());
    };
    let checked = parse_form_content(&form.requested_schema, result.content.unwrap_or_default());
    checked
        .map(drop)
        .map_err(|error| unprocessable(error.to_string()))
}
