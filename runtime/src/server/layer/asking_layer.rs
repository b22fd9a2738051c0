//! One layer around a request, which a question to the client stops.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Poll, Waker};

use crate::ask::{Level, Questions};
use crate::call::CallState;
use crate::panic::catch;
use crate::result_writer::ResultWriter;
use crate::revision::ResultFormat;
use crate::server::layer::{BoxError, Request, Response, ResponseFuture};

/// Layer that may ask the client of the modern era. Its question becomes the response that the layers around it get, as if the
/// function had asked.
pub(super) struct AskingLayer {
    state: Arc<CallState>,
    level: Level,
}

impl AskingLayer {
    /// Makes the next inner place that of the request.
    pub(super) fn enter(request: &mut Request) -> Self {
        let level = request.context.asker().level.inner();
        request.context.set_level(level);
        let state = Arc::clone(request.context.state());
        if let Some(round) = state.round() {
            round.begin_layer(level);
        }
        Self { state, level }
    }

    /// Waits for the response of the layer, or for a question of it.
    pub(super) async fn run(self, mut response: ResponseFuture) -> Result<Response, BoxError> {
        let (responded, stopped) = poll_fn(|context| match response.as_mut().poll(context) {
            Poll::Ready(responded) => Poll::Ready((responded, false)),
            Poll::Pending => match self.stop(context.waker()) {
                Some(stopped) => Poll::Ready((stopped, true)),
                None => Poll::Pending,
            },
        })
        .await;
        if stopped {
            if let Err(message) = catch(|| drop(response)) {
                tracing::error!(message, "a layer panicked when its values were dropped");
            }
        }
        responded
    }

    fn stop(&self, waker: &Waker) -> Option<Result<Response, BoxError>> {
        let stopped = self.state.round()?.take_questions(self.level, waker)?;
        let respond = |asked: Questions| {
            let mut text = Vec::new();
            let mut result = ResultWriter::new(&mut text, ResultFormat::bare());
            result.input_required(&asked.questions, &asked.state);
            Response::written(text, None)
        };
        Some(stopped.map(respond).map_err(Into::into))
    }
}
