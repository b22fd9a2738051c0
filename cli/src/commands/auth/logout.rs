//! `treenail auth logout`.

use clap::Args;

use crate::args::OutputArgs;
use crate::exit::{Exit, Failure};
use crate::server::stored_client;
use crate::terminal::Terminal;

/// Revoke the tokens for a server and delete them
#[derive(Debug, Args)]
pub(super) struct Logout {
    /// URL of the server
    #[arg(value_name = "URL")]
    url: String,

    #[command(flatten)]
    pub(super) output: OutputArgs,
}

impl Logout {
    pub(super) async fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        let oauth = stored_client()?;
        let status = oauth.status(&self.url).await?;
        if status.is_none() {
            terminal.print_text("not signed in")?;
            return Ok(Exit::Success);
        }
        let revoked = oauth.logout(&self.url).await;
        let is_deleted = oauth.status(&self.url).await?.is_none();
        match revoked {
            Ok(()) => terminal.print_text("signed out")?,
            Err(error) if is_deleted => {
                terminal.print_text("signed out")?;
                terminal.print_note(&format!(
                    "the tokens were deleted, but not revoked: {error}"
                ));
            }
            Err(error) => return Err(error.into()),
        }
        Ok(Exit::Success)
    }
}
