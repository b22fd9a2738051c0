//! Sign-in in the browser of this computer.

use std::fmt;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use tokio::sync::{Mutex, OwnedMutexGuard};

use super::launcher;
use super::listener::Listener;
use super::{AuthorizationRequest, UserAgent, UserAgentFlow, UserAgentFuture};
use crate::AuthError;

const PATH: &str = "/callback";

type Notify = dyn Fn(&AuthorizationRequest) + Send + Sync;

/// Sign-in in the browser of this computer. The redirect arrives at a listener on a loopback address (RFC 8252, section 7.3).
///
/// The listener is open for the duration of a flow, and accepts the redirect of this flow only.
#[derive(Clone)]
#[cfg(feature = "oauth")]
pub struct Browser {
    port: Option<u16>,
    /// Held by a flow with this port, which the next one waits for.
    turn: Arc<Mutex<()>>,
    notify: Arc<Notify>,
}

impl Browser {
    /// Returns a user agent that prints the host of the authorization server to standard error, and opens the browser.
    ///
    /// If the browser cannot be opened, the flow waits on: the printed text contains the URL.
    pub fn new() -> Self {
        Self {
            port: None,
            turn: Arc::default(),
            notify: Arc::new(print_url),
        }
    }

    /// Opens an HTML file in the program for such files, usually the browser, for pages of the program itself. Returns after the
    /// program has been started.
    ///
    /// Other users of the computer may see the path, but not the content if the file is private. A file can thus lead to a URL that
    /// contains a secret.
    ///
    /// # Errors
    ///
    /// If the path is not absolute or does not end with `.html`, or no program can open the file.
    pub fn launch_file(file: &Path) -> std::io::Result<()> {
        launcher::open_file(file)
    }

    /// Sets the function that is called before the browser opens, for programs with their own display. Default: one that prints to
    /// standard error.
    #[must_use]
    pub fn notify(
        mut self,
        notify: impl Fn(&AuthorizationRequest) + Send + Sync + 'static,
    ) -> Self {
        self.notify = Arc::new(notify);
        self
    }

    /// Sets the port of the listener, for authorization servers that compare it. Default: a free one.
    ///
    /// Flows of this user agent and its clones then run one after the other. So a function for
    /// [`OAuth::confirm_sign_in`](crate::OAuth::confirm_sign_in) must not wait for another one of them.
    #[must_use]
    pub fn port(mut self, port: u16) -> Self {
        self.port = Some(port);
        self
    }
}

fn print_url(request: &AuthorizationRequest) {
    let (server, host) = (request.server(), request.authorization_server());
    let url = request.url();
    let text = format!(
        "{server} requires authorization. Sign in at {host} in the browser. If it does not open, use this URL:\n{url}\n"
    );
    // The text is a courtesy, and standard error may be closed.
    let _ = std::io::stderr().write_all(text.as_bytes());
}

impl Default for Browser {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Browser {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Browser")
            .field("port", &self.port)
            .finish_non_exhaustive()
    }
}

impl UserAgent for Browser {
    fn redirect_uri(&self) -> String {
        match self.port {
            Some(port) => format!("http://127.0.0.1:{port}{PATH}"),
            None => format!("http://127.0.0.1{PATH}"),
        }
    }

    fn prepare<'a>(
        &'a self,
        registered: Option<&'a str>,
    ) -> UserAgentFuture<'a, Box<dyn UserAgentFlow>> {
        let browser = self.clone();
        Box::pin(async move {
            let turn = match browser.port {
                Some(_) => Some(Arc::clone(&browser.turn).lock_owned().await),
                None => None,
            };
            let listener = match (browser.port, registered.and_then(registered_port)) {
                (Some(port), _) => Listener::bind(port, PATH).await,
                (None, Some(port)) => match Listener::bind(port, PATH).await {
                    Ok(listener) => Ok(listener),
                    Err(_) => Listener::bind(0, PATH).await,
                },
                (None, None) => Listener::bind(0, PATH).await,
            };
            let listener = listener.map_err(|error| {
                AuthError::NotAuthorized(
                    format!("the listener for the redirect of the browser failed: {error}").into(),
                )
            })?;
            let flow = BrowserFlow {
                browser,
                listener,
                _turn: turn,
            };
            Ok(Box::new(flow) as Box<dyn UserAgentFlow>)
        })
    }
}

/// Returns the port of a redirect URI of this user agent.
fn registered_port(redirect_uri: &str) -> Option<u16> {
    let rest = redirect_uri.strip_prefix("http://127.0.0.1:")?;
    rest.strip_suffix(PATH)?.parse().ok()
}

struct BrowserFlow {
    browser: Browser,
    listener: Listener,
    /// Released after the listener was closed.
    _turn: Option<OwnedMutexGuard<()>>,
}

impl UserAgentFlow for BrowserFlow {
    fn redirect_uri(&self) -> &str {
        self.listener.redirect_uri()
    }

    fn authorize<'a>(
        &'a mut self,
        request: &'a AuthorizationRequest,
    ) -> UserAgentFuture<'a, String> {
        Box::pin(async move {
            (self.browser.notify)(request);
            if let Err(error) = launcher::open(request.url()) {
                tracing::warn!(%error, "the browser could not be opened");
            }
            Ok(self.listener.receive(request).await)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_port_of_a_registration_is_used_again_if_it_is_free() {
        let browser = Browser::new();
        let first = browser.prepare(None).await.unwrap();
        let registered = first.redirect_uri().to_owned();
        let other = browser.prepare(Some(&registered)).await.unwrap();
        assert_ne!(other.redirect_uri(), registered, "the port is in use");
        drop(first);
        let again = browser.prepare(Some(&registered)).await.unwrap();
        assert_eq!(again.redirect_uri(), registered, "AUTH-C-68");
    }

    #[tokio::test]
    async fn flows_with_a_fixed_port_run_one_after_the_other() {
        let free = Browser::new().prepare(None).await.unwrap();
        let port = registered_port(free.redirect_uri()).unwrap();
        drop(free);
        let browser = Browser::new().port(port);
        let first = browser.prepare(None).await.unwrap();
        let clone = browser.clone();
        let mut second = clone.prepare(None);
        tokio::select! {
            biased;
            _ = &mut second => panic!("the port is in use"),
            () = tokio::task::yield_now() => {}
        }
        drop(first);
        assert_eq!(second.await.unwrap().redirect_uri(), browser.redirect_uri());
    }

    #[test]
    fn documents_list_a_loopback_address_without_port() {
        assert_eq!(
            Browser::new().redirect_uri(),
            "http://127.0.0.1/callback",
            "AUTH-C-61"
        );
        let fixed = Browser::new().port(4000);
        assert_eq!(
            fixed.redirect_uri(),
            "http://127.0.0.1:4000/callback",
            "AUTH-C-61"
        );
    }
}
