//! Notes about the state of a server.

use treenail::proxy::{Mounted, Status};

use crate::server::StderrTail;
use crate::terminal::Terminal;

/// Reports the state of a server, now and after each change. A server that is not connected may have written the cause to standard
/// error. The last lines since it was connected are shown, unless those of the attempt before were the same.
pub(super) async fn report(mut mounted: Mounted, tail: StderrTail, terminal: Terminal) {
    let mut shown = Vec::new();
    while let Some(status) = mounted.changed().await {
        let name = mounted.name();
        terminal.print_note(&format!("server `{name}`: {status}"));
        match status {
            Status::Connected { .. } => {
                tail.clear();
                shown.clear();
            }
            Status::Disconnected { .. } => {
                let lines = tail.last_lines().await;
                let new = lines.iter().filter(|line| !shown.contains(*line));
                new.for_each(|line| terminal.print_note(&format!("server `{name}` wrote: {line}")));
                shown = lines;
            }
            _ => {}
        }
    }
}
