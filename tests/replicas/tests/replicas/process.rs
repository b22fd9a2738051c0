//! Replicas as child processes.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

/// Replica that stops on drop.
pub(crate) struct Replica {
    process: Child,
    pub(crate) address: SocketAddr,
}

impl Replica {
    /// Starts a replica with these keys for request states.
    pub(crate) fn start(keys: &str) -> Self {
        Self::start_with(keys, None)
    }

    /// Starts a replica, optionally with an event bus over Redis.
    pub(crate) fn start_with(keys: &str, redis: Option<&str>) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_replica"));
        command.env("STATE_KEYS", keys).env_remove("REDIS_URL");
        command.envs(redis.map(|url| ("REDIS_URL", url)));
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut address = String::new();
        let output = process.stdout.as_mut().unwrap();
        BufReader::new(output).read_line(&mut address).unwrap();
        let address = address.trim_end().parse();
        Self {
            process,
            address: address.expect("the replica prints its address"),
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// Closes the input, waits for the replica to exit, and returns its log.
    pub(crate) fn stop(mut self) -> String {
        drop(self.process.stdin.take());
        let log = self.read_log();
        assert!(self.process.wait().unwrap().success(), "{log}");
        log
    }

    /// Waits for `line` in the log, kills the replica, and returns its log.
    pub(crate) fn kill_after(mut self, line: &str) -> String {
        let mut output = BufReader::new(self.process.stderr.take().unwrap());
        let mut log = String::new();
        while !log.contains(line) {
            assert_ne!(output.read_line(&mut log).unwrap(), 0, "{log}");
        }
        self.process.kill().unwrap();
        output.read_to_string(&mut log).unwrap();
        log
    }

    fn read_log(&mut self) -> String {
        let mut log = String::new();
        let mut output = self.process.stderr.take().unwrap();
        output.read_to_string(&mut log).unwrap();
        log
    }
}

impl Drop for Replica {
    fn drop(&mut self) {
        // The process may have exited already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
