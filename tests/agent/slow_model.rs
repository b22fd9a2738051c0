//! Scripted model that needs time for each message.

use std::time::Duration;

use treenail::agent::{Model, ModelFuture, ScriptedModel, TextSink};
use treenail::schema::CreateMessageRequestParams;

pub(crate) struct SlowModel {
    model: ScriptedModel,
    delay: Duration,
}

impl SlowModel {
    pub(crate) fn new(model: ScriptedModel, delay: Duration) -> Self {
        Self { model, delay }
    }
}

impl Model for SlowModel {
    fn create_message<'a>(
        &'a self,
        request: &'a CreateMessageRequestParams,
        on_text: TextSink<'a>,
    ) -> ModelFuture<'a> {
        Box::pin(async move {
            tokio::time::sleep(self.delay).await;
            self.model.create_message(request, on_text).await
        })
    }
}
