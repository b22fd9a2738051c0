//! Elicitation requests, answered from the command line or by the user at the terminal.

mod field;
mod form;
mod line_reader;
mod page;

use std::collections::BTreeMap;
use std::future::pending;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use treenail::RpcError;
use treenail::client::PeerInfo;
use treenail::schema::{ElicitAction, ElicitRequestParams, ElicitResult, error_code};

pub(crate) use self::line_reader::{Input, LineReader, SharedLineReader};

use crate::args::AnswerArgs;
use crate::exit::Failure;
use crate::render::sanitize_line;
use crate::server::RequestTimer;
use crate::terminal::Terminal;

/// Handler of elicitation requests.
#[derive(Debug)]
pub(crate) struct ElicitationHandler {
    terminal: Terminal,
    timer: Arc<RequestTimer>,
    /// Values of `--answer`, by field.
    fields: BTreeMap<String, Vec<String>>,
    yes: bool,
    hosts: Vec<String>,
    /// Name of the server for prompts.
    server: Mutex<String>,
    /// Locked during a request, so that the user answers one request at a time.
    line_reader: SharedLineReader,
    /// True if requests are left unanswered.
    is_silent: AtomicBool,
}

impl ElicitationHandler {
    pub(crate) fn new(
        args: &AnswerArgs,
        terminal: &Terminal,
        line_reader: &SharedLineReader,
        timer: &Arc<RequestTimer>,
    ) -> Result<Arc<Self>, Failure> {
        let mut fields: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for answer in &args.fields {
            let (name, text) = answer.split_once('=').ok_or_else(|| {
                Failure::usage(format!(
                    "invalid value `{answer}` for --answer: expected `name=value`"
                ))
            })?;
            fields
                .entry(name.to_owned())
                .or_default()
                .push(text.to_owned());
        }
        Ok(Arc::new(Self {
            terminal: terminal.clone(),
            timer: Arc::clone(timer),
            fields,
            yes: args.yes,
            hosts: args.hosts.clone(),
            server: Mutex::new("the server".to_owned()),
            line_reader: Arc::clone(line_reader),
            is_silent: AtomicBool::new(false),
        }))
    }

    /// Sets the name of the server, which is part of each prompt.
    pub(crate) fn set_server_name(&self, facts: &PeerInfo) {
        if let Some(info) = &facts.info {
            let name = sanitize_line(info.title.as_deref().unwrap_or(&info.name));
            *self.server.lock().unwrap_or_else(PoisonError::into_inner) = format!("`{name}`");
        }
    }

    /// Leaves all further requests unanswered: those of a task are for a command that waits for it.
    pub(crate) fn stop_answering(&self) {
        self.is_silent.store(true, Ordering::Relaxed);
    }

    /// Answers an elicitation request.
    pub(crate) async fn handle(
        self: Arc<Self>,
        request: ElicitRequestParams,
    ) -> Result<ElicitResult, RpcError> {
        if self.is_silent.load(Ordering::Relaxed) {
            return pending().await;
        }
        // The time that the user needs does not count towards the timeout of the call.
        let _pause = self.timer.pauses().pause();
        let mut line_reader = self.line_reader.lock().await;
        self.terminal.clear_progress();
        match request {
            ElicitRequestParams::Form(form) => Ok(self.answer_form(&form, &mut line_reader).await),
            ElicitRequestParams::Url(page) => Ok(self.answer_url(&page, &mut line_reader).await),
            _ => Err(RpcError::new(
                error_code::INVALID_PARAMS,
                "unsupported elicitation mode",
            )),
        }
    }

    fn server_name(&self) -> String {
        let server = self.server.lock().unwrap_or_else(PoisonError::into_inner);
        server.clone()
    }

    /// Declines a request that the user has not seen, and reports the reason.
    fn decline_request(&self, message: &str, why: &str) -> ElicitResult {
        let (server, message) = (self.server_name(), sanitize_line(message));
        self.terminal.print_message(&format!(
            "declined a request from {server} (\"{message}\"): {why}"
        ));
        ElicitResult::new(ElicitAction::Decline)
    }
}
