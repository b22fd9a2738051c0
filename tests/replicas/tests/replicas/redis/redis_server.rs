//! Redis server for the tests, on a socket in a temporary directory and by default without persistence.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Instant;

use tempfile::TempDir;

use crate::request::TEST_TIMEOUT;

/// Password of the server.
pub(crate) const PASSWORD: &str = "open-sesame-8151";
/// Channel of the replicas.
pub(crate) const CHANNEL: &str = "hotel";

/// Redis server that can be stopped and restarted. It stops on drop.
pub(crate) struct RedisServer {
    directory: TempDir,
    arguments: &'static [&'static str],
    running: Option<(Child, BufReader<ChildStdout>)>,
}

impl RedisServer {
    pub(crate) fn start() -> Self {
        Self::start_with(&[])
    }

    /// Starts a server with further arguments.
    pub(crate) fn start_with(arguments: &'static [&'static str]) -> Self {
        let mut redis = Self::stopped();
        redis.arguments = arguments;
        redis.resume();
        redis
    }

    /// Creates a server that has a socket path but is not running.
    pub(crate) fn stopped() -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
            arguments: &[],
            running: None,
        }
    }

    fn socket(&self) -> PathBuf {
        self.directory.path().join("redis.sock")
    }

    /// Makes new connections to the address of `other` arrive at this server. Those that exist stay.
    pub(crate) fn take_address_of(&self, other: &Self) {
        std::fs::rename(self.socket(), other.socket()).unwrap();
    }

    pub(crate) fn url(&self) -> String {
        format!("redis+unix://{}?pass={PASSWORD}", self.socket().display())
    }

    /// Starts the server, and waits until it accepts connections.
    pub(crate) fn resume(&mut self) {
        let mut process = Command::new("redis-server")
            .args(["--port", "0", "--save", "", "--appendonly", "no"])
            .args(self.arguments)
            .args(["--requirepass", PASSWORD, "--unixsocket"])
            .arg(self.socket())
            .arg("--dir")
            .arg(self.directory.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("`redis-server` is on the PATH; on Debian, `apt-get install redis-server`");
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let (mut log, mut line) = (String::new(), String::new());
        while !line.to_lowercase().contains("ready to accept connections") {
            line.clear();
            let length = output.read_line(&mut line).unwrap();
            log += &line;
            assert_ne!(length, 0, "`redis-server` has exited: {log}");
        }
        self.running = Some((process, output));
    }

    /// Kills the server.
    pub(crate) fn stop(&mut self) {
        if let Some((mut process, _)) = self.running.take() {
            // The process may have exited already.
            let _ = process.kill();
            let _ = process.wait();
        }
    }

    /// Sends a command and returns the raw reply.
    pub(crate) fn command(&self, arguments: &[&[u8]]) -> String {
        let mut socket = UnixStream::connect(self.socket()).unwrap();
        socket.set_read_timeout(Some(TEST_TIMEOUT)).unwrap();
        for arguments in [&[b"AUTH", PASSWORD.as_bytes()], arguments, &[b"QUIT"]] {
            let mut command = format!("*{}\r\n", arguments.len()).into_bytes();
            for argument in arguments {
                command.extend(format!("${}\r\n", argument.len()).bytes());
                command.extend(*argument);
                command.extend(b"\r\n");
            }
            socket.write_all(&command).unwrap();
        }
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        let answer = answer
            .strip_prefix("+OK\r\n")
            .expect("the password was accepted");
        answer.strip_suffix("+OK\r\n").unwrap().to_owned()
    }

    /// Publishes a message on the channel of the replicas.
    pub(crate) fn publish(&self, message: &[u8]) {
        let answer = self.command(&[b"PUBLISH", CHANNEL.as_bytes(), message]);
        assert_eq!(answer, ":2\r\n", "both replicas received the message");
    }

    /// Waits until `count` replicas have subscribed.
    pub(crate) fn wait_for_replicas(&self, count: usize) {
        let expected = format!(":{count}\r\n");
        let deadline = Instant::now() + TEST_TIMEOUT;
        loop {
            let answer = self.command(&[b"PUBSUB", b"NUMSUB", CHANNEL.as_bytes()]);
            if answer.ends_with(&expected) {
                return;
            }
            assert!(
                Instant::now() < deadline,
                "the replicas did not subscribe: {answer}"
            );
        }
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        self.stop();
    }
}
