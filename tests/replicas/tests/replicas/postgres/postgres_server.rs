//! PostgreSQL server for the tests, on a socket in a temporary directory.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use rustix::process::{Pid, Signal, geteuid, kill_process};
use tempfile::TempDir;
use tokio_postgres::{Client, NoTls, SimpleQueryMessage};
use treenail::tasks::{PostgresStore, PostgresStoreBuilder};

/// Directory of the programs in the package of Debian, with a directory for each version.
const DEBIAN: &str = "/usr/lib/postgresql";
/// Users other than `tasks` need no password.
const ACCESS: &str = "local all tasks scram-sha-256\nlocal all all trust\n";

/// Server for tests that do not stop it.
static SHARED: Mutex<Weak<PostgresServer>> = Mutex::new(Weak::new());
/// Number of tables.
static TABLES: AtomicU64 = AtomicU64::new(0);

/// PostgreSQL server that can be stopped and restarted. It stops on drop.
pub(crate) struct PostgresServer {
    directory: TempDir,
    arguments: &'static [&'static str],
    running: Option<(Child, BufReader<ChildStderr>)>,
}

impl PostgresServer {
    /// Returns a server that other tests use at the same time. It does not wait for the disk.
    pub(crate) fn shared() -> Arc<Self> {
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        shared.upgrade().unwrap_or_else(|| {
            let server = Arc::new(Self::start(&["-c", "fsync=off"]));
            *shared = Arc::downgrade(&server);
            server
        })
    }

    /// Creates and starts a server with further arguments.
    pub(crate) fn start(arguments: &'static [&'static str]) -> Self {
        let mut server = Self {
            directory: tempfile::tempdir().unwrap(),
            arguments,
            running: None,
        };
        let owner = user();
        if let Some((uid, gid)) = owner {
            std::os::unix::fs::chown(server.directory.path(), Some(uid), Some(gid)).unwrap();
        }
        let created = command("initdb")
            .args([
                "--username=admin",
                "--auth=trust",
                "--no-sync",
                "--encoding=UTF8",
            ])
            .arg("--pgdata")
            .arg(server.data())
            .output()
            .unwrap();
        assert!(created.status.success(), "{created:?}");
        fs::write(server.data().join("pg_hba.conf"), ACCESS).unwrap();
        server.resume();
        server
    }

    fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.directory.path().join(".s.PGSQL.5432")
    }

    /// Returns the URL for a user, with the password of that user, if there is one, and options.
    pub(crate) fn url_of(&self, user: &str) -> String {
        let socket = self.directory.path().display().to_string();
        format!("postgres://{user}@{}/postgres", socket.replace('/', "%2F"))
    }

    pub(crate) fn url(&self) -> String {
        self.url_of("admin")
    }

    /// Starts the server, and waits until it accepts connections.
    pub(crate) fn resume(&mut self) {
        let mut process = command("postgres")
            .args([
                "-c",
                "listen_addresses=",
                "-c",
                "log_min_messages=log",
                "-c",
                "log_checkpoints=off",
                "-c",
            ])
            .arg(format!(
                "unix_socket_directories={}",
                self.directory.path().display()
            ))
            .args(self.arguments)
            .arg("-D")
            .arg(self.data())
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(process.stderr.take().unwrap());
        let (mut log, mut line) = (String::new(), String::new());
        while !line.contains("ready to accept connections") {
            line.clear();
            let length = output.read_line(&mut line).unwrap();
            log += &line;
            assert_ne!(length, 0, "`postgres` has exited: {log}");
        }
        self.running = Some((process, output));
    }

    /// Ends the server at once, as a crash does.
    pub(crate) fn stop(&mut self) {
        if let Some((mut process, _)) = self.running.take() {
            // The process may have exited already. After `SIGKILL`, its children would remain for a time.
            let _ = kill_process(Pid::from_child(&process), Signal::QUIT);
            let _ = process.wait();
        }
    }

    /// Connects as the administrator.
    pub(crate) async fn admin(&self) -> Admin {
        let (client, connection) = tokio_postgres::connect(&self.url(), NoTls).await.unwrap();
        tokio::spawn(connection);
        Admin(client)
    }

    /// Returns the builder of a store with a table of its own, and the name of the table.
    pub(crate) fn builder() -> (PostgresStoreBuilder, String) {
        let table = format!("tasks_{}", TABLES.fetch_add(1, Ordering::Relaxed));
        (PostgresStore::builder().table(&table), table)
    }

    /// Creates a store with a table of its own.
    pub(crate) fn store(&self) -> (PostgresStore, String) {
        let (builder, table) = Self::builder();
        (builder.build(self.url()).unwrap(), table)
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Connection of the administrator.
pub(crate) struct Admin(Client);

impl Admin {
    /// Runs statements, and returns the values of the rows.
    pub(crate) async fn run(&self, statements: &str) -> Vec<String> {
        let messages = self.0.simple_query(statements).await.unwrap();
        let values = messages.into_iter().filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
            _ => None,
        });
        values.collect()
    }

    /// Ends the connections of all stores.
    pub(crate) async fn end_connections(&self) -> usize {
        let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'treenail'";
        self.run(end).await.len()
    }
}

/// Creates the command of a program. PostgreSQL refuses to run as root, so it gets another user.
fn command(program: &str) -> Command {
    let versions = fs::read_dir(DEBIAN).into_iter().flatten();
    let version = versions.filter_map(|entry| {
        let path = entry.ok()?.path();
        let number: u32 = path.file_name()?.to_str()?.parse().ok()?;
        let path = path.join("bin").join(program);
        path.exists().then_some((number, path))
    });
    let path = version
        .max()
        .map_or_else(|| program.into(), |(_, path)| path);
    let mut command = Command::new(path);
    command.env("LC_ALL", "C").current_dir("/");
    if let Some((uid, gid)) = user() {
        command.uid(uid).gid(gid);
    }
    command
}

/// Returns the ids of the user of PostgreSQL, if this process has to use another one.
fn user() -> Option<(u32, u32)> {
    if !geteuid().is_root() {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").unwrap();
    let user = users.lines().find(|line| line.starts_with("postgres:"));
    let user = user.expect("there is a user `postgres`; on Debian, `apt-get install postgresql`");
    let mut ids = user.split(':').skip(2).map(|id| id.parse().unwrap());
    ids.next().zip(ids.next())
}
