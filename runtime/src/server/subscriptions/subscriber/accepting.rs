//! Subscriptions to topics of extensions, which have to be accepted.

use std::task::{Context, Poll};

use super::Subscriber;
use crate::extension::Accepted;
use crate::server::subscriptions::subscription::{ListenId, Subscription};
use crate::wire::RpcError;

impl Subscriber {
    /// Starts subscriptions whose topics have been accepted. Returns the id and the error of one that has failed.
    pub(super) fn poll_accepting(
        &mut self,
        context: &mut Context<'_>,
    ) -> Option<(ListenId, RpcError)> {
        let mut index = 0;
        while let Some((_, accepting)) = self.accepting.get_mut(index) {
            let Poll::Ready(accepted) = accepting.poll(context) else {
                index += 1;
                continue;
            };
            let (id, _) = self.accepting.remove(index);
            if let Err(error) = self.start(&id, accepted) {
                return Some((id, error));
            }
        }
        None
    }

    /// Starts a subscription with its topics, or removes it. One that the server has ended meanwhile stays as it is.
    pub(super) fn start(
        &mut self,
        id: &ListenId,
        accepted: Result<Accepted, RpcError>,
    ) -> Result<(), RpcError> {
        let Some(registration) = &self.registration else {
            return Ok(());
        };
        let mut state = registration.listener.lock();
        let waiting = |one: &Subscription| one.is(&id.text) && one.is_accepting();
        let Some(index) = state.subscriptions.iter().position(waiting) else {
            return Ok(());
        };
        let failed = accepted.map(|accepted| state.subscriptions[index].accept(accepted));
        let removed = failed.is_err().then(|| state.subscriptions.remove(index));
        drop(state);
        if removed.is_some() {
            registration.note_interest();
        }
        // Without the lock, because the handlers of removed entries may run the user's code.
        drop(removed);
        self.drop_idle();
        failed
    }
}
