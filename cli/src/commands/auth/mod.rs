//! `treenail auth`.

mod check;
mod login;
mod logout;
mod status;

use clap::{Args, Subcommand};

use crate::args::{AuthArgs, OutputArgs};
use crate::exit::{Exit, Failure};
use crate::server::{RequestTimer, SignIn, oauth_client};
use crate::terminal::Terminal;

/// Sign in to servers over HTTP, sign out, and check their authorization
#[derive(Debug, Args)]
pub(crate) struct Auth {
    #[command(subcommand)]
    command: AuthCommand,
}

#[derive(Debug, Subcommand)]
enum AuthCommand {
    Login(Box<login::Login>),
    Logout(logout::Logout),
    Status(status::Status),
    Check(check::Check),
}

impl Auth {
    pub(super) fn output(&self) -> OutputArgs {
        match &self.command {
            AuthCommand::Login(login) => login.output,
            AuthCommand::Logout(logout) => logout.output,
            AuthCommand::Status(status) => status.output,
            AuthCommand::Check(check) => check.output,
        }
    }

    pub(super) async fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        match self.command {
            AuthCommand::Login(login) => login.run(terminal).await,
            AuthCommand::Logout(logout) => logout.run(terminal).await,
            AuthCommand::Status(status) => status.run(terminal).await,
            AuthCommand::Check(check) => check.run(terminal).await,
        }
    }
}

/// Returns the OAuth client of the program, without a user.
fn stored_client(terminal: &Terminal) -> Result<treenail::auth::OAuth, Failure> {
    let timer = RequestTimer::new(std::time::Duration::from_secs(60));
    let client = oauth_client(&AuthArgs::default(), SignIn::Never, terminal, &timer)?;
    client.ok_or_else(|| treenail::auth::AuthError::invalid("authorization is off").into())
}
