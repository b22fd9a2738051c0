//! Tests of the program `treenail`, run as a process with test servers: output, prompts and exit codes.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

#[cfg(unix)]
mod authorization;
mod call;
mod chat;
mod completions;
#[cfg(unix)]
mod dev;
mod elicitation;
mod environment;
mod exit_codes;
// Fake model endpoint, shared with the tests of the tool loop.
#[path = "../../../tests/agent/openai/fake/mod.rs"]
mod fake;
mod generate;
mod hints;
mod http;
mod inspect;
mod install;
mod list;
mod lock;
mod new;
mod pack;
mod process;
mod proxy;
mod read;
#[cfg(unix)]
mod repl;
mod task;
#[cfg(unix)]
mod terminal;
mod tls;
mod trace;
