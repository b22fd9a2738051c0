//! Tasks of other servers: calls that wait for them, and handles to them.
//!
//! `snapshot` reads the states of a task in the formats of both eras. `observer` watches one task until its end, with
//! `push` (subscriptions), `poll` (times of polls), `questions` (answers of the client) and `payload` (results of revision 2025-11-25). `driver` makes
//! plain calls wait, `handle` is a task in the hands of its caller, and `ticket` names it across processes.

mod cancel;
mod driver;
mod extension;
mod handle;
mod observation;
mod observer;
mod payload;
mod poll;
mod push;
mod questions;
mod remote;
mod snapshot;
mod ticket;
mod updates;

pub use self::extension::{StartTask, TaskBuilderExt, TaskCallExt, TaskClientExt};
pub use self::handle::TaskHandle;
pub use self::snapshot::TaskUpdate;
pub use self::ticket::TaskTicket;
pub use self::updates::TaskUpdates;
