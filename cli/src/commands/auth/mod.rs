//! `treenail auth`.

mod check;
mod login;
mod logout;
mod status;

use clap::{Args, Subcommand};

use crate::args::OutputArgs;
use crate::exit::{Exit, Failure};
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
