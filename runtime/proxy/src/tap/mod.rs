//! Messages of a server that are for a call, or for the proxy.

mod requests;

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use serde::Deserialize;
use tokio::sync::{Notify, watch};
use treenail_runtime::client::{ClientLimits, IncomingHandler};
use treenail_runtime::internal::LogThrottle;
use treenail_schema::{
    LoggingMessageNotificationParams, ProgressNotificationParams, ProgressToken,
};

use self::requests::OpenRequest;
use crate::calls::Calls;
use crate::event::Event;
use crate::limits::{MAX_URI_BYTES, ProxyLimits};
use crate::malformed::{Malformed, without_malformed};

/// State of one connection to a server, which its session and the calls share.
#[derive(Debug)]
pub(crate) struct Tap {
    /// The name of the server, for messages.
    server: Arc<str>,
    limits: ProxyLimits,
    pub(crate) calls: Arc<Calls>,
    /// Number of sessions of the legacy era that were started. Over HTTP, the client starts another one if the server ends it.
    pub(crate) sessions: watch::Sender<u64>,
    /// The least level of log messages that a server of the legacy era was asked for in its session, as a number.
    pub(crate) log_level: AtomicUsize,
    /// The handler of the client that has the connection.
    client: OnceLock<Weak<dyn IncomingHandler>>,
    news: Mutex<News>,
    /// The reason of the end of the connection, if a request has shown it.
    close_reason: OnceLock<Arc<str>>,
    /// The cause since a request has not reached the server. It may reach it again without another connection.
    unreachable: watch::Sender<Option<Arc<str>>>,
    /// Notified of each change of `news`.
    changed: Notify,
    /// Requests of the server that are not answered, by the JSON text of their id.
    open: Mutex<HashMap<Box<str>, OpenRequest>>,
    /// Rate limit for warnings about requests of the server that are refused.
    warnings: LogThrottle,
    /// Items of lists that cannot be read.
    pub(crate) malformed: Malformed,
    /// Maximum size of a list in memory, of the client that has the connection.
    decoded_bytes: OnceLock<usize>,
}

/// Changes that the server has announced and that have not been handled.
#[derive(Debug, Default)]
pub(crate) struct News {
    /// Set after a change of a list.
    pub(crate) lists: bool,
    /// URIs of updated resources.
    pub(crate) updated: HashSet<String>,
    /// Set if more resources were updated than are remembered.
    pub(crate) updates_lost: bool,
    /// Set after the end of the connection.
    pub(crate) closed: bool,
    /// Set if the server does not accept the connection any more, with the cause: it needs another handshake.
    pub(crate) outdated: Option<Arc<str>>,
}

impl News {
    fn is_empty(&self) -> bool {
        !self.lists
            && self.updated.is_empty()
            && !self.updates_lost
            && !self.closed
            && self.outdated.is_none()
    }
}

impl Tap {
    pub(crate) fn new(server: Arc<str>, limits: ProxyLimits) -> Arc<Self> {
        Arc::new(Self {
            server,
            limits,
            calls: Arc::default(),
            sessions: watch::Sender::new(0),
            log_level: AtomicUsize::new(usize::MAX),
            client: OnceLock::new(),
            news: Mutex::default(),
            close_reason: OnceLock::new(),
            unreachable: watch::Sender::default(),
            changed: Notify::new(),
            open: Mutex::default(),
            warnings: LogThrottle::default(),
            malformed: Malformed::default(),
            decoded_bytes: OnceLock::new(),
        })
    }

    /// Waits for changes, and takes them. The end of the connection is never taken.
    pub(crate) async fn news(&self) -> News {
        loop {
            let changed = self.changed.notified();
            {
                let mut news = lock(&self.news);
                if !news.is_empty() {
                    let closed = news.closed;
                    return std::mem::replace(
                        &mut news,
                        News {
                            closed,
                            ..News::default()
                        },
                    );
                }
            }
            changed.await;
        }
    }

    /// Connects the tap with the handler of the client.
    pub(crate) fn attach(&self, client: &Arc<dyn IncomingHandler>) {
        // A session has one handler.
        let _ = self.client.set(Arc::downgrade(client));
    }

    /// Notes the limits of the client, which has shaken hands.
    pub(crate) fn note_limits(&self, limits: &ClientLimits) {
        // A connection has one client.
        let _ = self.decoded_bytes.set(limits.decoded_bytes);
    }

    /// Notes the start of a session of the legacy era, which has no subscriptions, no log level and no open requests yet.
    pub(crate) fn note_session(&self) {
        lock(&self.open).clear();
        self.log_level.store(usize::MAX, Ordering::Relaxed);
        self.sessions.send_modify(|number| *number += 1);
    }

    /// Notes that messages may have been lost, at the client too, whose lists are out of date then.
    pub(crate) fn missed(&self) {
        self.invalidate_client();
        self.note(|news| {
            news.lists = true;
            news.updates_lost = true;
        });
    }

    /// Notes that changes of lists and of these resources may have been lost.
    pub(crate) fn missed_changes<'a>(&self, uris: impl Iterator<Item = &'a String>) {
        self.invalidate_client();
        self.note(|news| {
            news.lists = true;
            news.updated.extend(uris.cloned());
        });
    }

    fn invalidate_client(&self) {
        if let Some(client) = self.client.get().and_then(Weak::upgrade) {
            client.missed_notifications();
        }
    }

    /// Notes that these resources may have been updated.
    pub(crate) fn note_updates<'a>(&self, uris: impl Iterator<Item = &'a String>) {
        self.note(|news| news.updated.extend(uris.cloned()));
    }

    /// Notes that the lists may have changed.
    pub(crate) fn note_lists(&self) {
        self.note(|news| news.lists = true);
    }

    /// Notes the end of the connection before its handler does, with the reason.
    pub(crate) fn note_closed(&self, reason: &Arc<str>) {
        // The first reason is the cause of the others.
        let _ = self.close_reason.set(Arc::clone(reason));
        self.note(|news| news.closed = true);
    }

    /// Notes that the server does not accept the connection any more.
    pub(crate) fn note_outdated(&self, cause: impl Into<Arc<str>>) {
        self.note(|news| news.outdated = Some(cause.into()));
    }

    /// Notes that a request has reached the server, or the cause why it has not.
    pub(crate) fn note_reached(&self, reached: Result<(), &Arc<str>>) {
        // Most requests change nothing.
        if self.unreachable.borrow().is_some() != reached.is_err() {
            self.unreachable.send_replace(reached.err().cloned());
        }
    }

    /// Returns a receiver of the cause since a request has not reached the server.
    pub(crate) fn unreachable(&self) -> watch::Receiver<Option<Arc<str>>> {
        self.unreachable.subscribe()
    }

    /// Returns the reason after the end of the connection.
    pub(crate) fn close_reason(&self) -> Option<Arc<str>> {
        if !lock(&self.news).closed {
            return None;
        }
        let reason = self.close_reason.get().cloned();
        Some(reason.unwrap_or_else(|| "the connection was lost".into()))
    }

    pub(crate) fn note(&self, change: impl FnOnce(&mut News)) {
        change(&mut lock(&self.news));
        self.changed.notify_one();
    }

    /// Returns the text of a list without the items that cannot be read.
    pub(crate) fn readable_list(&self, method: &str, text: String) -> String {
        let max_bytes = self.decoded_bytes.get().copied();
        let max_bytes = max_bytes.unwrap_or(ClientLimits::default().decoded_bytes);
        without_malformed(method, text, max_bytes, &self.malformed)
    }

    /// Handles a notification. Returns false for one that is not for the proxy.
    pub(crate) fn on_notification(&self, method: &str, params: &str, request: Option<i64>) {
        match method {
            "notifications/progress" => self.on_progress(params),
            "notifications/message" => self.on_log(params, request),
            "notifications/cancelled" => self.on_cancelled(params),
            "notifications/tools/list_changed"
            | "notifications/prompts/list_changed"
            | "notifications/resources/list_changed" => self.note(|news| news.lists = true),
            "notifications/resources/updated" => self.on_update(params),
            _ => {}
        }
    }

    fn on_progress(&self, params: &str) {
        if params.len() > self.limits.question_bytes {
            return;
        }
        let Ok(params) = serde_json::from_str::<ProgressNotificationParams>(params) else {
            return;
        };
        if let ProgressToken::Number(id) = params.progress_token {
            if let Some(call) = self.calls.by_id(id) {
                // The call passes the messages on at the speed of its caller.
                drop(call.try_send(Event::Progress(params)));
            }
        }
    }

    /// A log message may contain data of its caller, so it is dropped if that is not known.
    fn on_log(&self, params: &str, request: Option<i64>) {
        if params.len() > self.limits.question_bytes {
            return;
        }
        let call = match request {
            Some(id) => self.calls.by_id(id),
            None => self.calls.only_client().ok().map(|(_, call)| call),
        };
        let params = serde_json::from_str::<LoggingMessageNotificationParams>(params);
        if let (Some(call), Ok(params)) = (call, params) {
            drop(call.try_send(Event::Log(params)));
        }
    }

    fn on_update(&self, params: &str) {
        #[derive(Deserialize)]
        struct Updated {
            uri: String,
        }
        let Ok(Updated { uri }) = serde_json::from_str(params) else {
            return;
        };
        let most = self.limits.subscriptions;
        self.note(|news| {
            if news.updated.len() < most && uri.len() <= MAX_URI_BYTES {
                news.updated.insert(uri);
            } else if !news.updated.contains(&uri) {
                news.updates_lost = true;
            }
        });
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
