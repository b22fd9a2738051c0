//! Start of servers, and the replacement of the running one.

use std::mem;

use super::server::{Abandoned, Launch, RunningServer};
use super::{Event, Relay, ServerState, memory};
use crate::server::StderrTail;

impl Relay {
    /// Starts a server of the last build, which replaces the running one when it is ready. It takes the place of a server
    /// that is still being started.
    pub(super) fn launch(&mut self) {
        if !self.options.stop_first {
            self.launch_after(None);
        } else if let Some(launch) = &mut self.launching {
            // Only one server may run: `on_launched` starts the next one when this one has stopped.
            launch.keep = None;
        } else {
            let old = self.take_server();
            self.launch_after(old);
        }
    }

    /// Starts a server of the last build when `old` has stopped.
    fn launch_after(&mut self, old: Option<RunningServer>) {
        let Some(command) = self.command.clone() else {
            return;
        };
        self.last_generation += 1;
        let generation = self.last_generation;
        let (launch, abandoned) = Launch::new(generation);
        self.launching = Some(launch);
        let (launcher, memory) = (self.launcher.clone(), self.memory.clone());
        self.background.spawn(async move {
            if let Some(old) = old {
                let retired = Event::Retired(old.generation);
                old.retire().await;
                let _ = launcher.events.send(retired);
            }
            let launch = launcher.launch(&command, memory, generation, abandoned);
            let result = launch.await;
            // The relay has ended.
            let _ = launcher.events.send(Event::Launched { generation, result });
        });
    }

    pub(super) fn on_launched(&mut self, generation: u64, result: Result<RunningServer, String>) {
        let launch = self.launching.take_if(|it| it.generation == generation);
        let Some(launch) = launch else {
            // A newer build is being started.
            if let Ok(server) = result {
                self.background.spawn(server.stop());
            }
            return;
        };
        if launch.keep.is_none() {
            return self.launch_after(result.ok());
        }
        match result {
            Ok(server) if self.exited == generation => {
                self.launching = Some(launch);
                self.explain_exit(server.tail(), generation);
            }
            Ok(server) if *server.memory != self.memory => {
                let (launch, abandoned) = Launch::new(generation);
                self.launching = Some(launch);
                self.catch_up(server, abandoned);
            }
            Ok(server) => self.replace_server(server),
            Err(reason) => {
                let stays = matches!(self.server, ServerState::Running(_));
                let stays = if stays { "; the old server stays" } else { "" };
                let reason = format!("the server does not start: {reason}");
                self.note(&format!("{reason}{stays}"));
                self.fail(&reason);
            }
        }
    }

    /// Repeats for a new server the requests that the client has made since its start.
    fn catch_up(&mut self, server: RunningServer, abandoned: Abandoned) {
        let (launcher, memory) = (self.launcher.clone(), self.memory.clone());
        self.background.spawn(async move {
            let generation = server.generation;
            let result = launcher.catch_up(server, memory, abandoned).await;
            // The relay has ended.
            let _ = launcher.events.send(Event::Launched { generation, result });
        });
    }

    /// Reports a server that has exited before it was used.
    fn explain_exit(&mut self, tail: StderrTail, generation: u64) {
        let events = self.launcher.events.clone();
        self.background.spawn(async move {
            let lines = tail.last_lines().await.join("\n");
            let result = Err(format!("it has exited\n{lines}"));
            // The relay has ended.
            let _ = events.send(Event::Launched { generation, result });
        });
    }

    fn replace_server(&mut self, server: RunningServer) {
        let is_first = server.generation == 1;
        let old = self.take_server();
        self.server = ServerState::Running(server);
        let subscriptions = &self.subscriptions;
        self.waiting
            .retain(|request| !subscriptions.contains(&request.id));
        let mut repeated = self.subscriptions.reconnect();
        let calls = self.pending.values();
        let noted = calls.filter(|call| memory::is_noted(&call.request.method));
        let mut noted: Vec<_> = noted.collect();
        noted.sort_unstable_by_key(|call| call.server_id);
        repeated.extend(noted.into_iter().map(|call| call.request.clone()));
        for request in &repeated {
            // Otherwise, the old server would be waited for until the client ends its subscription.
            if let Some(call) = self.pending.remove(&request.id) {
                call.abort.abort();
            }
        }
        if let Some(old) = old {
            self.retire(old);
        }
        for request in repeated {
            self.send(request);
        }
        if !is_first {
            self.announce_changes();
        }
        self.note(if is_first {
            "the server runs"
        } else {
            "the server was restarted"
        });
        for request in mem::take(&mut self.waiting) {
            self.forward(request);
        }
    }
}
