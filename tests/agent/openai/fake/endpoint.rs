//! The running endpoint: its script, and the events that the test reads or awaits.

use std::collections::VecDeque;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use super::Reply;
use super::connection::{Asked, Serving};

/// Timeout for expected events.
const SOON: Duration = Duration::from_secs(30);

/// The endpoint, which runs until the end of the test.
pub(crate) struct Endpoint {
    /// The base URL.
    pub(crate) url: String,
    requests: Receiver<Asked>,
    replies: Arc<Mutex<VecDeque<Reply>>>,
    silent: Receiver<()>,
    left: Receiver<()>,
}

impl Endpoint {
    /// Starts an endpoint with these replies, in order.
    pub(crate) fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let replies = Arc::new(Mutex::new(replies.into_iter().collect()));
        let (asked, requests) = channel();
        let (silence, silent) = channel();
        let (leaving, left) = channel();
        let script = Arc::clone(&replies);
        thread::spawn(move || {
            for stream in listener.incoming().map(Result::unwrap) {
                let mut serving = Serving {
                    asked: asked.clone(),
                    silence: silence.clone(),
                    leaving: leaving.clone(),
                    replies: Arc::clone(&script),
                };
                // A connection ends with an error when the client disconnects.
                thread::spawn(move || drop(serving.serve(&stream)));
            }
        });
        Self {
            url,
            requests,
            replies,
            silent,
            left,
        }
    }

    /// Adds replies.
    pub(crate) fn then(&self, replies: impl IntoIterator<Item = Reply>) {
        self.replies.lock().unwrap().extend(replies);
    }

    /// Returns the next recorded request.
    #[track_caller]
    pub(crate) fn asked(&self) -> Asked {
        self.requests.recv_timeout(SOON).expect("a request")
    }

    /// Returns all recorded requests that were not taken yet, after the last one got its reply.
    pub(crate) fn all_asked(&self) -> Vec<Asked> {
        self.requests.try_iter().collect()
    }

    /// Returns true once for each held reply, after its last byte was sent.
    pub(crate) fn is_silent(&self) -> bool {
        self.silent.try_recv().is_ok()
    }

    /// Returns true once for each held reply whose client has disconnected.
    pub(crate) fn was_left(&self) -> bool {
        self.left.try_recv().is_ok()
    }

    /// Waits until the client of a held reply disconnects.
    #[track_caller]
    pub(crate) fn is_left(&self) {
        self.left.recv_timeout(SOON).expect("the client leaves");
    }
}
