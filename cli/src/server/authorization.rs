//! Authorization of servers over HTTP.

use std::sync::Arc;

use treenail::auth::{
    AuthError, AuthorizationRequest, Browser, ClientCredentials, Console, FileStore, OAuth, Scopes,
    UserAgent, UserAgentFlow, UserAgentFuture,
};

use super::Pauses;
use crate::args::{AuthMode, ServerArgs};
use crate::exit::{Exit, Failure};
use crate::terminal::Terminal;

/// Name of the program for users and for the directory of its tokens.
const NAME: &str = "treenail";

/// Way to let the user sign in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SignIn {
    /// Opens the browser of this computer.
    Browser,
    /// Prints the URL, and reads the URL of the redirect.
    Console,
    /// Does not ask the user: only stored tokens are used.
    Never,
}

impl SignIn {
    /// Returns the way for commands other than `treenail auth login`.
    fn automatic() -> Self {
        if Terminal::is_interactive() {
            Self::Browser
        } else {
            Self::Never
        }
    }
}

/// Returns the OAuth client for a connection; `None` for `--auth never`.
///
/// Without an explicit way to sign in, the connection may succeed without tokens, so it does not need the store. `pauses`
/// has one while the user signs in.
pub(crate) fn oauth_client(
    args: &ServerArgs,
    terminal: &Terminal,
    pauses: &Pauses,
) -> Result<Option<OAuth>, Failure> {
    let (auth, sign_in) = (&args.auth, args.sign_in);
    if auth.mode == AuthMode::Never {
        return Ok(None);
    }
    let agent = PausingAgent {
        agent: user_agent(sign_in.unwrap_or_else(SignIn::automatic), terminal),
        pauses: pauses.clone(),
    };
    let mut oauth = OAuth::user_agent(NAME, agent);
    match open_store() {
        Ok(store) => oauth = oauth.store(store),
        Err(failure) if sign_in.is_some() => return Err(failure),
        Err(failure) => terminal.print_note(&format!("no stored tokens: {}", failure.message())),
    }
    if let Some(client_id) = &auth.client_id {
        oauth = oauth.client(ClientCredentials::public(client_id));
    }
    if !auth.scopes.is_empty() {
        let scopes: Scopes = auth.scopes.join(" ").parse()?;
        oauth = oauth.scopes(scopes);
    }
    Ok(Some(args.tls.oauth(oauth)))
}

/// Fails if the options are for tokens that the server cannot receive.
pub(super) async fn check_options(args: &ServerArgs) -> Result<(), Failure> {
    let auth = &args.auth;
    let wants_tokens = auth.client_id.is_some() || !auth.scopes.is_empty();
    if let Some(url) = &args.target.url
        && wants_tokens
        && auth.mode != AuthMode::Never
    {
        client_without_tokens().status(url).await?;
    }
    Ok(())
}

/// Returns an OAuth client for the stored authorizations, which asks no user.
pub(crate) fn stored_client() -> Result<OAuth, Failure> {
    Ok(OAuth::user_agent(NAME, NoUser).store(open_store()?))
}

/// Returns an OAuth client without stored authorizations, which asks no user.
pub(crate) fn client_without_tokens() -> OAuth {
    OAuth::user_agent(NAME, NoUser)
}

/// Opens the store of tokens. On platforms without a common keyring, the key is in a file that only the user can read.
fn open_store() -> Result<FileStore, Failure> {
    let store = if cfg!(any(target_os = "macos", windows)) {
        FileStore::open(NAME)
    } else {
        FileStore::builder(NAME).key_file().open()
    };
    Ok(store?)
}

impl From<AuthError> for Failure {
    fn from(error: AuthError) -> Self {
        let exit = match &error {
            AuthError::Invalid(_) => Exit::Usage,
            AuthError::Store(_) => Exit::Io,
            AuthError::Unavailable(_) => Exit::Connection,
            AuthError::Document { .. } => Exit::Protocol,
            _ => Exit::Refused,
        };
        Self::new(exit, error.to_string())
    }
}

fn user_agent(sign_in: SignIn, terminal: &Terminal) -> Arc<dyn UserAgent> {
    match sign_in {
        SignIn::Browser => {
            let terminal = terminal.clone();
            Arc::new(Browser::new().notify(move |request| {
                let (server, host) = (request.server(), request.authorization_server());
                terminal.print_message(&format!(
                    "{server} requires authorization; sign in at {host} in the browser. If it does not open, use this URL:\n{}",
                    request.url()
                ));
            }))
        }
        SignIn::Console => Arc::new(Console::new()),
        SignIn::Never => Arc::new(NoUser),
    }
}

/// User agent of a program without a user at its terminal.
#[derive(Debug)]
struct NoUser;

impl UserAgent for NoUser {
    fn redirect_uri(&self) -> String {
        Browser::new().redirect_uri()
    }

    fn prepare<'a>(&'a self, _: Option<&'a str>) -> UserAgentFuture<'a, Box<dyn UserAgentFlow>> {
        let reason = "no user can be asked, since standard input is not a terminal; run `treenail auth login URL` first";
        Box::pin(async move { Err(AuthError::NotAuthorized(reason.into())) })
    }
}

/// User agent that pauses the timeouts of requests while the user signs in.
#[derive(Debug)]
struct PausingAgent {
    agent: Arc<dyn UserAgent>,
    pauses: Pauses,
}

struct PausingFlow {
    flow: Box<dyn UserAgentFlow>,
    pauses: Pauses,
}

impl UserAgent for PausingAgent {
    fn redirect_uri(&self) -> String {
        self.agent.redirect_uri()
    }

    fn prepare<'a>(
        &'a self,
        registered: Option<&'a str>,
    ) -> UserAgentFuture<'a, Box<dyn UserAgentFlow>> {
        Box::pin(async move {
            let flow = self.agent.prepare(registered).await?;
            let pauses = self.pauses.clone();
            Ok(Box::new(PausingFlow { flow, pauses }) as Box<dyn UserAgentFlow>)
        })
    }
}

impl UserAgentFlow for PausingFlow {
    fn redirect_uri(&self) -> &str {
        self.flow.redirect_uri()
    }

    fn authorize<'a>(
        &'a mut self,
        request: &'a AuthorizationRequest,
    ) -> UserAgentFuture<'a, String> {
        let paused = self.pauses.pause();
        Box::pin(async move {
            let redirect = self.flow.authorize(request).await;
            drop(paused);
            redirect
        })
    }
}
