//! What the server asks, answered by the command line, or by whoever sits at the terminal.

mod dialog;
mod entry;
mod form;
mod page;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use treenail::RpcError;
use treenail::client::PeerInfo;
use treenail::schema::{ElicitAction, ElicitRequestParams, ElicitResult, error_code};

pub(crate) use self::dialog::{Lines, SharedLines, Typed};

use crate::args::AnswerArgs;
use crate::exit::Failure;
use crate::screen::Screen;
use crate::server::Clock;
use crate::show::clean_line;

/// Who answers.
#[derive(Debug)]
pub(crate) struct Asked {
    screen: Screen,
    clock: Arc<Clock>,
    /// The texts of `--answer`, by field.
    fields: BTreeMap<String, Vec<String>>,
    yes: bool,
    hosts: Vec<String>,
    /// Who asks.
    server: Mutex<String>,
    /// One question at a time, whoever asks.
    lines: SharedLines,
}

impl Asked {
    pub(crate) fn new(
        args: &AnswerArgs,
        screen: &Screen,
        lines: &SharedLines,
        clock: &Arc<Clock>,
    ) -> Result<Arc<Self>, Failure> {
        let mut fields: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for answer in &args.fields {
            let (name, text) = answer.split_once('=').ok_or_else(|| {
                Failure::usage(format!("--answer `{answer}` is not like `name=value`"))
            })?;
            fields
                .entry(name.to_owned())
                .or_default()
                .push(text.to_owned());
        }
        Ok(Arc::new(Self {
            screen: screen.clone(),
            clock: Arc::clone(clock),
            fields,
            yes: args.yes,
            hosts: args.hosts.clone(),
            server: Mutex::new("the server".to_owned()),
            lines: Arc::clone(lines),
        }))
    }

    /// Takes note of the name of the server, which is shown with each question.
    pub(crate) fn know(&self, facts: &PeerInfo) {
        if let Some(info) = &facts.info {
            let name = clean_line(info.title.as_deref().unwrap_or(&info.name));
            *self.server.lock().unwrap_or_else(PoisonError::into_inner) = format!("`{name}`");
        }
    }

    /// Answers a question.
    pub(crate) async fn answer(
        self: Arc<Self>,
        question: ElicitRequestParams,
    ) -> Result<ElicitResult, RpcError> {
        // Whoever thinks about an answer is not to be blamed for a slow call.
        let _stopped = self.clock.stop();
        let mut lines = self.lines.lock().await;
        self.screen.end_progress();
        match question {
            ElicitRequestParams::Form(form) => Ok(self.form(&form, &mut lines).await),
            ElicitRequestParams::Url(page) => Ok(self.page(&page, &mut lines).await),
            _ => Err(RpcError::new(
                error_code::INVALID_PARAMS,
                "unknown mode of elicitation",
            )),
        }
    }

    fn server(&self) -> String {
        let server = self.server.lock().unwrap_or_else(PoisonError::into_inner);
        server.clone()
    }

    /// Declines, and says that it did, since nobody else has seen the question.
    fn decline(&self, message: &str, why: &str) -> ElicitResult {
        let (server, message) = (self.server(), clean_line(message));
        self.screen.say(&format!(
            "declined what {server} asks (\"{message}\"): {why}"
        ));
        ElicitResult::new(ElicitAction::Decline)
    }
}
