//! Limits of tasks.

use std::time::Duration;

use treenail_schema::internal::limits;

limits! {
    /// Limits of the [`Tasks`](crate::Tasks) of a server. The defaults are safe with untrusted clients.
    ///
    /// A task beyond a limit of its owner or process is not created. Its call continues as a plain one. The
    /// older form of tasks (revision 2025-11-25) refuses it with -32603.
    ///
    /// ```
    /// use std::time::Duration;
    /// use treenail::tasks::TaskLimits;
    ///
    /// let limits = TaskLimits::default().run_time(Duration::from_secs(3600));
    /// assert_eq!(limits.tasks_per_owner, 1_000);
    /// ```
    struct TaskLimits {
        /// Maximum number of stored tasks of one owner, finished ones included. All callers without a principal are one owner.
        /// Tasks that this process is creating count too, so concurrent calls do not exceed it. Each further replica that creates
        /// tasks of the owner at the same time may exceed it by those. Default 1,000.
        tasks_per_owner: usize = 1_000,
        /// Maximum size of the stored tasks of one owner in bytes, checked when a task is created. The arguments of the tasks that
        /// this process is creating count too. Results and journals add to it later. Default 64 MiB, a quarter of
        /// [`MemoryStore::max_bytes`](crate::MemoryStore::max_bytes).
        bytes_per_owner: u64 = 64 << 20,
        /// Maximum number of running tasks in this process. Default 1,024.
        running: usize = 1_024,
        /// Maximum number of tasks in this process that wait for answers, a quarter of them (at least one) of one owner. Each counts
        /// once, also with several open questions. The question of one more fails. Default 512.
        waiting: usize = 512,
        /// Maximum number of open questions of one task. One more fails. Default 16.
        questions: usize = 16,
        /// Maximum number of questions in the life of one task. One more fails. Default 256.
        questions_in_all: usize = 256,
        /// Maximum size of the journal of a task in bytes: questions, answers and values of
        /// [`Context::once`](treenail_runtime::Context::once). A question, an answer or a value beyond it is refused.
        /// Default 1 MiB.
        journal_bytes: usize = 1 << 20,
        /// Maximum size of the result of a task in bytes. A task with a larger result fails. Default 4 MiB.
        result_bytes: usize = 4 << 20,
        /// Maximum length of a `statusMessage` in characters. A longer one is shortened. Default 500.
        message_chars: usize = 500,
        /// Least time between two stored status messages of a task. Default 1 s.
        message_interval: Duration = Duration::from_secs(1),
        /// Maximum run time of a task, for tools without a `run_time` of their own. After it the task fails. Default 24 h.
        run_time: Duration = Duration::from_secs(24 * 60 * 60),
        /// Time that a finished task remains readable, for tools without a `keep` of their own. Default 1 h.
        keep: Duration = Duration::from_secs(60 * 60),
        /// Time that a call may take before it becomes a task, for tools without an `after` of their own. Default 500 ms.
        after: Duration = Duration::from_millis(500),
        /// Lease of a running task. Its process renews it after a third of this time. If a process has crashed, another one
        /// takes over its tasks at its next search after the lease, see `sweep_interval`. Default 30 s, at least 1 s.
        lease: Duration = Duration::from_secs(30),
        /// Maximum number of runs of a task, the first one included. A task that would need one more fails. Default 3.
        attempts: u32 = 3,
        /// Interval in which a running task looks for answers and cancellations that another process has stored, and in which
        /// subscribed tasks of other processes are read. Default 2 s, at least 100 ms.
        watch_interval: Duration = Duration::from_secs(2),
        /// Interval between two searches for interrupted and expired tasks. An interrupted one continues after its lease and up
        /// to this time. Default 10 s, at least 100 ms.
        sweep_interval: Duration = Duration::from_secs(10),
        /// The `pollIntervalMs` that clients receive. Default 1 s.
        poll_interval: Duration = Duration::from_secs(1),
        /// Maximum number of tasks of this process that are subscribed (`taskIds`). A subscription to more of them is acknowledged
        /// without them. A task without subscribers counts for another `watch_interval` at most. Default 1,024.
        watched: usize = 1_024,
        /// Timeout of one operation of the store. Default 10 s.
        store_timeout: Duration = Duration::from_secs(10),
        /// Number of tasks in one page of `tasks/list` (revision 2025-11-25). Default 100.
        page_size: usize = 100,
    }
}
