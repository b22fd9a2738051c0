//! `treenail auth logout`.

use clap::Args;
use serde_json::json;

use crate::args::OutputArgs;
use crate::commands::print_if_json;
use crate::exit::{Exit, Failure};
use crate::server::{TlsArgs, stored_client};
use crate::terminal::Terminal;

/// Revoke the tokens for a server and delete them
#[derive(Debug, Args)]
pub(super) struct Logout {
    /// URL of the server
    #[arg(value_name = "URL")]
    url: String,

    #[command(flatten)]
    tls: TlsArgs,

    #[command(flatten)]
    pub(super) output: OutputArgs,
}

impl Logout {
    pub(super) async fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        let oauth = self.tls.oauth(stored_client()?);
        let status = oauth.status(&self.url).await?;
        if status.is_none() {
            return self.print(false, terminal).await;
        }
        let revoked = oauth.logout(&self.url).await;
        let is_deleted = oauth.status(&self.url).await?.is_none();
        match revoked {
            Ok(()) => self.print(true, terminal).await,
            Err(error) if is_deleted => {
                terminal.print_note(&format!(
                    "the tokens were deleted, but not revoked: {error}"
                ));
                self.print(true, terminal).await
            }
            Err(error) => Err(error.into()),
        }
    }

    async fn print(&self, signed_out: bool, terminal: &Terminal) -> Result<Exit, Failure> {
        let json = json!({ "signedOut": signed_out });
        if !print_if_json(self.output, terminal, &json).await? {
            let text = if signed_out {
                "signed out"
            } else {
                "not signed in"
            };
            terminal.print_text(text).await?;
        }
        Ok(Exit::Success)
    }
}
