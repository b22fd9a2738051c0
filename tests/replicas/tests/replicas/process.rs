//! A replica in a process of its own.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

/// A replica that runs until this is dropped.
pub(crate) struct Replica {
    process: Child,
    pub(crate) address: SocketAddr,
}

impl Replica {
    /// Starts one with these keys of request states.
    pub(crate) fn start(keys: &str) -> Self {
        Self::start_with(keys, None)
    }

    /// Starts one that hears of others over a Redis.
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
            address: address.expect("the replica says where it listens"),
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// Lets it end, as it does when nobody needs it any more; returns its log.
    pub(crate) fn end(mut self) -> String {
        drop(self.process.stdin.take());
        let log = self.log();
        assert!(self.process.wait().unwrap().success(), "{log}");
        log
    }

    /// Waits until its log says something, and ends it as a crash would; returns its log.
    #[cfg(feature = "redis")]
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

    fn log(&mut self) -> String {
        let mut log = String::new();
        let mut output = self.process.stderr.take().unwrap();
        output.read_to_string(&mut log).unwrap();
        log
    }
}

impl Drop for Replica {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
