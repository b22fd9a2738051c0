//! The environment of a server that is started.

use std::env;

use treenail::client::ServerCommand;

use crate::args::EnvArgs;
use crate::exit::Failure;

/// The command, with the environment that the command line gives it.
pub(super) fn with_environment(
    mut command: ServerCommand,
    args: &EnvArgs,
) -> Result<ServerCommand, Failure> {
    if args.inherit {
        command = command.inherit_env();
    }
    // Also from a short list that happens to name one of them.
    command = args.secrets.iter().fold(command, ServerCommand::env_remove);
    args.set.iter().try_fold(command, |command, given| {
        let (name, value) = match given.split_once('=') {
            Some((name, value)) => (name, Some(value.into())),
            None => (given.as_str(), env::var_os(given)),
        };
        if name.is_empty() {
            let why = format!("--env `{given}` is not like `NAME=VALUE` or `NAME`");
            return Err(Failure::usage(why));
        }
        let value = value
            .ok_or_else(|| Failure::usage(format!("the variable `{name}` for --env is not set")))?;
        Ok(command.env(name, value))
    })
}
