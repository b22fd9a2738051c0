//! `treenail auth login`.

use std::time::SystemTime;

use clap::Args;

use super::status::{render_status, status_json};
use crate::args::{AuthArgs, AuthMode, OutputArgs, ServerArgs, TraceArgs};
use crate::commands::print_if_json;
use crate::exit::{Exit, Failure};
use crate::render::sanitize_line;
use crate::server::{Connection, SignIn, TlsArgs, stored_client};
use crate::terminal::Terminal;

/// Sign in to a server, and store the tokens for later commands
#[derive(Debug, Args)]
pub(super) struct Login {
    /// URL of the server
    #[arg(value_name = "URL")]
    url: String,

    /// Print the URL to open, for example in the browser of another computer, and read the URL of the redirect
    #[arg(long)]
    no_browser: bool,

    #[command(flatten)]
    auth: LoginArgs,

    #[command(flatten)]
    tls: TlsArgs,

    #[command(flatten)]
    pub(super) output: OutputArgs,

    #[command(flatten)]
    trace: TraceArgs,
}

#[derive(Debug, Args)]
struct LoginArgs {
    /// Client id that is registered at the authorization server; by default, the program registers itself
    #[arg(long, value_name = "ID")]
    client_id: Option<String>,

    /// Scope to ask for, in place of those that the server requires; can be repeated
    #[arg(long = "scope", value_name = "SCOPE")]
    scopes: Vec<String>,
}

impl Login {
    pub(super) async fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        self.check_stored().await?;
        let sign_in = if self.no_browser {
            SignIn::Console
        } else {
            SignIn::Browser
        };
        let mut args = ServerArgs::of_url(&self.url, self.output);
        args.auth = AuthArgs {
            mode: AuthMode::Auto,
            client_id: self.auth.client_id,
            scopes: self.auth.scopes,
        };
        args.tls = self.tls;
        args.trace = self.trace;
        args.sign_in = Some(sign_in);
        // The request that the server refuses makes the client sign in.
        Connection::with_connection(&args, terminal, async |_| Ok(())).await?;
        let oauth = stored_client()?;
        let status = oauth.status(&self.url).await?;
        let now = SystemTime::now();
        let json = status_json(status.as_ref(), now);
        if print_if_json(args.output, terminal, &json).await? {
            return Ok(Exit::Success);
        }
        let text = match status {
            Some(status) => render_status(&status, now),
            None => "the server requires no authorization".to_owned(),
        };
        terminal.print_text(&text).await?;
        Ok(Exit::Success)
    }

    /// Fails if the stored tokens, which are used again, are not those that the options ask for.
    async fn check_stored(&self) -> Result<(), Failure> {
        let (scopes, client_id) = (&self.auth.scopes, self.auth.client_id.as_deref());
        if scopes.is_empty() && client_id.is_none() {
            return Ok(());
        }
        let Some(status) = stored_client()?.status(&self.url).await? else {
            return Ok(());
        };
        let has_scope = |scope: &String| status.scopes.iter().any(|granted| granted == scope);
        let has_scopes = scopes.iter().all(has_scope);
        if has_scopes && client_id.is_none_or(|client_id| client_id == status.client_id) {
            return Ok(());
        }
        let message = "you are signed in already, with other scopes or another client id";
        let url = sanitize_line(&self.url);
        let note = format!("run `treenail auth logout {url}` first");
        Err(Failure::usage(message).note(note))
    }
}
