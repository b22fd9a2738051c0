//! Redis whose host disappears without closing its connections, and callers that wait for less time than the store.

use std::time::Duration;

use tokio::io::{AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use treenail::tasks::{RedisStore, TaskId, TaskStore};

use super::unresponsive::read_command;

/// Answers the commands on a connection. The one that is open becomes silent after `replies` to `HMGET`.
async fn answer(socket: TcpStream, mut replies: usize) -> std::io::Result<()> {
    let mut socket = BufReader::new(socket);
    loop {
        let command = read_command(&mut socket).await?;
        let reply: &[u8] = match &*command[0] {
            "HELLO" => b"%1\r\n$5\r\nproto\r\n:3\r\n",
            "CLIENT" => b"+OK\r\n",
            "HMGET" if replies == 0 => continue,
            "HMGET" => b"*5\r\n_\r\n_\r\n_\r\n_\r\n_\r\n",
            _ => b"-NOPERM\r\n",
        };
        replies -= usize::from(command[0] == "HMGET");
        socket.write_all(reply).await?;
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_connection_is_replaced_although_no_caller_waits_for_it() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        for replies in [1, usize::MAX] {
            let (socket, _) = listener.accept().await.unwrap();
            tokio::spawn(answer(socket, replies));
        }
    });
    let store = RedisStore::new(format!("redis://{address}")).unwrap();
    let id = TaskId::random().unwrap();
    assert_eq!(store.state(&id).await, Ok(None));
    let mut silent = 0;
    while timeout(Duration::from_secs(3), store.state(&id)).await != Ok(Ok(None)) {
        silent += 1;
        // Those that start within the ten seconds that Redis has for a response.
        assert!(silent <= 4, "the connection remains");
    }
}
