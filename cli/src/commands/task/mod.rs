//! `treenail task`.

mod list;
mod one;

pub(super) use self::one::print_outcome;
use clap::{Args, Subcommand};

use crate::args::OutputArgs;
use crate::exit::{Exit, Failure};
use crate::terminal::Terminal;

/// Show, await, answer and cancel the tasks that `treenail call` has started
#[derive(Debug, Args)]
pub(crate) struct Task {
    #[command(subcommand)]
    command: TaskCommand,
}

#[derive(Debug, Subcommand)]
enum TaskCommand {
    List(list::List),
    /// Show the state of a task
    Get(Box<one::OneTask>),
    /// Wait for the end of a task and print its result
    Wait(Box<one::AwaitedTask>),
    /// Answer the open questions of a task
    Answer(Box<one::OneTask>),
    /// Cancel a task
    Cancel(Box<one::OneTask>),
}

impl Task {
    pub(super) fn output(&self) -> OutputArgs {
        match &self.command {
            TaskCommand::List(list) => list.output,
            TaskCommand::Wait(wait) => wait.task.server.output,
            TaskCommand::Get(task) | TaskCommand::Answer(task) | TaskCommand::Cancel(task) => {
                task.server.output
            }
        }
    }

    pub(super) async fn run(mut self, terminal: &Terminal) -> Result<Exit, Failure> {
        match &mut self.command {
            TaskCommand::List(_) => {}
            TaskCommand::Wait(wait) => wait.task.server.tasks = true,
            TaskCommand::Get(task) | TaskCommand::Answer(task) | TaskCommand::Cancel(task) => {
                task.server.tasks = true;
            }
        }
        match self.command {
            TaskCommand::List(list) => list.run(terminal).await,
            TaskCommand::Get(task) => task.get(terminal).await,
            TaskCommand::Wait(wait) => wait.wait(terminal).await,
            TaskCommand::Answer(task) => task.answer(terminal).await,
            TaskCommand::Cancel(task) => task.cancel(terminal).await,
        }
    }
}
