//! A connection's end of its subscriptions: the requests of its peer, and the messages to it.

mod accepting;

use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use treenail_schema::Revision;

use crate::extension::{Accepting, Topics};
#[cfg(feature = "http-server")]
use crate::extensions::Extensions;
use crate::json::json_text;
use crate::server::Server;
use crate::server::observe::{Observation, Outcome};
use crate::server::registry::{Registry, Snapshot};
#[cfg(feature = "http-server")]
use crate::server::subscriptions::Event;
use crate::server::subscriptions::Kinds;
use crate::server::subscriptions::admission::{
    accept, check_length, check_room, check_uris, filter, kinds,
};
use crate::server::subscriptions::history::{Decision, OpaqueSnapshot};
use crate::server::subscriptions::hub::Registration;
use crate::server::subscriptions::listener::State;
use crate::server::subscriptions::message::SubscriptionMessage;
use crate::server::subscriptions::observations::Observations;
use crate::server::subscriptions::review::{Audience, Review, Unreviewed};
use crate::server::subscriptions::subscription::{ListenId, Subscription};
use crate::wire::{Params, RpcError, string};

/// Subscriptions of one connection. Most connections have none.
#[derive(Debug, Default)]
pub(crate) struct Subscriber {
    /// `None` while there is no subscription.
    registration: Option<Registration>,
    /// Its caller, if lists may change.
    audience: Option<Audience>,
    /// Subscriptions whose topics have to be accepted, by the ids of their requests.
    accepting: Vec<(ListenId, Accepting)>,
    observations: Observations,
}

impl Subscriber {
    /// Starts the notifications of a legacy peer, which needs no subscription for changed lists.
    pub(crate) fn start_legacy(&mut self, server: &Server, audience: Audience) {
        let changing = server.state.config.changing;
        if !changing.is_empty() {
            self.change(server, |state| {
                let snapshot: OpaqueSnapshot = Registry::of(server).snapshot();
                state.legacy(changing).since(&snapshot);
            });
            self.attend(server, audience);
        }
    }

    /// Sets the caller of the subscriptions.
    pub(crate) fn attend(&mut self, server: &Server, audience: Audience) {
        let config = &server.state.config;
        if !config.changing.is_empty() || config.is_filtered() {
            self.audience = Some(audience);
        }
    }

    /// Replaces the values that identify the caller, such as its token.
    #[cfg(feature = "http-server")]
    pub(crate) fn renew_caller(&mut self, extensions: &Extensions) {
        if let Some(audience) = &mut self.audience {
            audience.renew(extensions);
        }
    }

    /// Marks all lists and resources of the subscriptions as changed. Returns the waker of the connection if it has something new
    /// to send.
    #[cfg(feature = "http-server")]
    pub(crate) fn resync(&self) -> Option<Waker> {
        self.registration.as_ref()?.listener.mark(&Event::Resync)
    }

    /// Handles `subscriptions/listen`. The first message of the subscription is an acknowledgement, the last one its result.
    pub(crate) fn listen(
        &mut self,
        server: &Server,
        snapshot: &Snapshot,
        (id, params): (&str, &Params<'_>),
        topics: Option<Topics>,
    ) -> Result<(), RpcError> {
        let limits = server.limits();
        if id.len() > limits.subscriptions.bytes {
            return Err(RpcError::invalid_request(
                "`id` is too long for a subscription",
            ));
        }
        let accepted = accept(snapshot, filter(params)?, limits)?;
        let kinds = kinds(&accepted);
        let acknowledged = json_text(&accepted);
        let uris = accepted.resource_subscriptions.unwrap_or_default();
        let mut accepting = None;
        self.change(server, |state| {
            check_room(state, id, limits)?;
            let count = topics.as_ref().map_or(0, |topics| topics.keys.len());
            check_uris(state, uris.len() + count, limits)?;
            let id = ListenId::new(id);
            let mut subscription = Subscription::listen(id, kinds, uris, acknowledged);
            // Read after the registration: later edits are marked.
            let snapshot: OpaqueSnapshot = Registry::of(server).snapshot();
            subscription.since(&snapshot);
            state.subscriptions.push(match topics {
                None => subscription,
                Some(topics) => {
                    accepting = Some(topics.accepting);
                    subscription.with_topics(topics.keys)
                }
            });
            Ok::<_, RpcError>(())
        })?;
        let (id, mut context) = (ListenId::new(id), Context::from_waker(Waker::noop()));
        match accepting {
            None => Ok(()),
            Some(mut accepting) => match accepting.poll(&mut context) {
                Poll::Ready(accepted) => self.start(&id, accepted),
                // It is polled again with the waker of the connection.
                Poll::Pending => {
                    self.accepting.push((id, accepting));
                    Ok(())
                }
            },
        }
    }

    /// Attaches the observation of the request that started a subscription.
    pub(crate) fn observe(&mut self, id: &str, observation: Box<dyn Observation>) {
        self.observations.add(id, observation);
    }

    /// Handles `resources/subscribe`.
    pub(crate) fn subscribe(
        &mut self,
        server: &Server,
        snapshot: &Snapshot,
        params: &Params<'_>,
        revision: Revision,
    ) -> Result<(), RpcError> {
        let limits = server.limits();
        let uri = string("uri", params.member("uri")?)?;
        snapshot.resources.check_subscription(&uri, revision)?;
        check_length(&uri, limits)?;
        self.change(server, |state| {
            if !state.legacy(Kinds::default()).has(&uri) {
                check_uris(state, 1, limits)?;
            }
            state.legacy(Kinds::default()).add(&uri);
            Ok(())
        })
    }

    /// Handles `resources/unsubscribe`. Without such a subscription, it has no effect.
    pub(crate) fn unsubscribe(
        &mut self,
        server: &Server,
        params: &Params<'_>,
    ) -> Result<(), RpcError> {
        let uri = string("uri", params.member("uri")?)?;
        if self.registration.is_some() {
            self.change(server, |state| {
                state.legacy(Kinds::default()).remove(&uri);
            });
        }
        Ok(())
    }

    /// Ends the subscription that the request `id` started, if there is one. Without an `outcome`, the request is cancelled.
    pub(crate) fn end(&mut self, server: &Server, id: &str, outcome: Option<&Outcome>) -> bool {
        if self.registration.is_none() {
            return false;
        }
        self.accepting.retain(|(one, _)| !one.is(id));
        self.observations.end(id, outcome);
        let removed = self.change(server, |state| state.take(|one| one.is(id)));
        !removed.is_empty()
    }

    /// Polls the next message for the peer.
    pub(crate) fn poll_next(
        &mut self,
        server: &Server,
        context: &mut Context<'_>,
    ) -> Poll<Unreviewed> {
        if let Some((id, error)) = self.poll_accepting(context) {
            let response = self.observations.fail(&id.text, &error);
            return Poll::Ready(Unreviewed::Message(response));
        }
        let Some(registration) = &self.registration else {
            return Poll::Pending;
        };
        let config = &server.state.config;
        let mut ended = None;
        let write = |message: SubscriptionMessage, id: Option<&str>| {
            let uri = match &message {
                SubscriptionMessage::Updated(uri) if config.is_filtered() => Some(Arc::clone(uri)),
                _ => None,
            };
            if message == SubscriptionMessage::Ended {
                ended = id.map(str::to_owned);
            }
            (message.write(id, &config.info), uri)
        };
        let polled = ready!(registration.listener.poll_next(context, write));
        // Without the lock, because the observer is the user's code.
        if let Some(id) = ended {
            self.observations.end(&id, Some(&Outcome::Success));
        }
        let audience = self.audience.as_ref();
        let review = |snapshots, update| {
            Unreviewed::Change(Review::new(audience, server, snapshots, update))
        };
        let polled = match polled {
            Ok((message, None)) => Unreviewed::Message(message),
            Ok((message, Some(uri))) => review(Vec::new(), Some((uri, message))),
            Err(snapshots) => review(snapshots, None),
        };
        self.drop_idle();
        Poll::Ready(polled)
    }

    /// Applies the decision of a review. Returns the message that it has allowed.
    pub(crate) fn settle(&mut self, decision: &mut Decision) -> Option<Vec<u8>> {
        if let Some(registration) = &self.registration {
            registration.listener.lock().settle(decision);
        }
        decision.message.take()
    }

    /// Returns `true` while a request for a subscription has no result.
    pub(crate) fn is_listening(&self) -> bool {
        self.registration.as_ref().is_some_and(|registration| {
            let state = registration.listener.lock();
            state.subscriptions.iter().any(Subscription::is_unanswered)
        })
    }

    fn change<T>(&mut self, server: &Server, change: impl FnOnce(&mut State) -> T) -> T {
        let register = || server.state.hub.register();
        let registration = self.registration.get_or_insert_with(register);
        let (changed, has_new_interests) = registration.listener.change(change);
        self.drop_idle();
        if has_new_interests {
            server.state.hub.note_interest();
        }
        changed
    }

    /// Drops idle subscriptions, and leaves the hub without any.
    fn drop_idle(&mut self) {
        // Dropped after the lock is released.
        let mut idle = Vec::new();
        self.registration.take_if(|registration| {
            let state = &mut registration.listener.lock();
            idle = state.take(Subscription::is_idle);
            state.subscriptions.is_empty()
        });
    }
}
