//! Environment of the server process.

use std::env;

use treenail::client::ServerCommand;

use crate::args::EnvArgs;
use crate::exit::Failure;

/// Applies the environment options to the command.
pub(super) fn apply_environment(
    mut command: ServerCommand,
    args: &EnvArgs,
) -> Result<ServerCommand, Failure> {
    if args.inherit {
        command = command.inherit_env();
    }
    // The short list of inherited variables may contain one of them, too.
    command = args.secrets.iter().fold(command, ServerCommand::env_remove);
    args.set.iter().try_fold(command, |command, given| {
        let (name, value) = match given.split_once('=') {
            Some((name, value)) => (name, Some(value.into())),
            None => (given.as_str(), env::var_os(given)),
        };
        if name.is_empty() {
            let message =
                format!("invalid value `{given}` for --env: expected `NAME=VALUE` or `NAME`");
            return Err(Failure::usage(message));
        }
        let value = value.ok_or_else(|| {
            let message = format!("environment variable `{name}` for --env is not set");
            Failure::usage(message)
        })?;
        Ok(command.env(name, value))
    })
}
