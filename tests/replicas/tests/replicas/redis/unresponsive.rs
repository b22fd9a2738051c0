//! Fake Redis that stops responding, like a host that has failed without closing its connections, or that becomes a copy.

use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use treenail::Server;
use treenail::events::RedisBus;

const PRIMARY: &[u8] = b"*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n";
const COPY: &[u8] = b"*5\r\n$5\r\nslave\r\n$9\r\n127.0.0.1\r\n:1\r\n$9\r\nconnected\r\n:0\r\n";
const FORBIDDEN: &[u8] = b"-NOPERM this user has no permissions to run the 'role' command\r\n";

/// Answers the commands on a connection up to a check of the role after as many as there are `roles`, and leaves the connection
/// open. Adds the messages that are published.
async fn answer_until_check(
    socket: &mut BufReader<TcpStream>,
    roles: &[&'static [u8]],
    published: &mut Vec<String>,
) -> std::io::Result<()> {
    let mut roles = roles.iter();
    loop {
        let mut command = read_command(socket).await?;
        let reply: &[u8] = match &*command[0] {
            "HELLO" => b"%1\r\n$5\r\nproto\r\n:3\r\n",
            "CLIENT" => b"+OK\r\n",
            "SUBSCRIBE" => b">3\r\n$9\r\nsubscribe\r\n$8\r\ntreenail\r\n:1\r\n",
            "ROLE" => match roles.next() {
                Some(role) => role,
                None => return Ok(()),
            },
            "PUBLISH" => {
                published.extend(command.pop());
                b":1\r\n"
            }
            other => panic!("an unexpected command: {other}"),
        };
        socket.write_all(reply).await?;
    }
}

/// Reads the words of the next command.
pub(super) async fn read_command(
    socket: &mut BufReader<TcpStream>,
) -> std::io::Result<Vec<String>> {
    let mut words = Vec::new();
    for _ in 0..read_number(socket).await? {
        let mut word = vec![0; read_number(socket).await? + 2];
        socket.read_exact(&mut word).await?;
        words.push(String::from_utf8(word).unwrap().trim_end().to_owned());
    }
    Ok(words)
}

/// Reads the number in a line such as `*3` or `$12`.
async fn read_number(socket: &mut BufReader<TcpStream>) -> std::io::Result<usize> {
    let mut line = String::new();
    socket.read_line(&mut line).await?;
    let number = line.trim_end().get(1..);
    let number = number.ok_or(std::io::ErrorKind::UnexpectedEof)?;
    Ok(number.parse().unwrap())
}

#[tokio::test(start_paused = true)]
async fn bus_reconnects_if_redis_stops_responding() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let bus = RedisBus::new(format!("redis://{address}")).unwrap();
    let server = Server::builder("demo", "1").event_bus(bus).build().unwrap();
    let mut open_sockets = Vec::new();
    // The paused clock advances while all tasks are idle.
    for _ in 0..3 {
        let mut socket = BufReader::new(listener.accept().await.unwrap().0);
        let mut published = Vec::new();
        let connected = answer_until_check(&mut socket, &[PRIMARY], &mut published).await;
        connected.unwrap();
        open_sockets.push(socket);
        // The publishing connection gets no response at all.
        open_sockets.push(BufReader::new(listener.accept().await.unwrap().0));
    }
    // An event that could not be published stays queued, and a wait for it can be abandoned.
    server.resource_updated("notes://1");
    let published = tokio::time::timeout(Duration::from_secs(300), server.flush_events());
    assert!(published.await.is_err(), "the event was not published");
}

#[tokio::test(start_paused = true)]
async fn bus_leaves_a_redis_that_becomes_a_copy() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let bus = RedisBus::new(format!("redis://{address}")).unwrap();
    let _server = Server::builder("demo", "1").event_bus(bus).build().unwrap();
    // The last connection of each case is the one that stays: a user may not ask for the role.
    let connections: [&[&[u8]]; 3] = [&[PRIMARY, PRIMARY, COPY], &[COPY], &[FORBIDDEN, FORBIDDEN]];
    for roles in connections {
        let mut socket = BufReader::new(listener.accept().await.unwrap().0);
        let answered = answer_until_check(&mut socket, roles, &mut Vec::new()).await;
        // The bus closes a connection that it leaves.
        assert_eq!(answered.is_ok(), roles.last() == Some(&FORBIDDEN));
    }
}

#[tokio::test(start_paused = true)]
async fn other_replicas_are_resynchronized_after_messages_to_a_copy() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let bus = RedisBus::new(format!("redis://{address}")).unwrap();
    let server = Server::builder("demo", "1").event_bus(bus).build().unwrap();
    let mut published = Vec::new();
    server.resource_updated("notes://1");
    // The message on the second connection is followed by a successful check.
    let connections: [&[&[u8]]; 3] = [&[PRIMARY, COPY], &[PRIMARY, PRIMARY, COPY], &[PRIMARY]];
    for roles in connections {
        let mut socket = BufReader::new(listener.accept().await.unwrap().0);
        let answered = answer_until_check(&mut socket, roles, &mut published).await;
        assert_eq!(answered.is_ok(), roles == [PRIMARY]);
    }
    let events = published.iter().map(|event| event.contains("everything"));
    assert_eq!(events.collect::<Vec<_>>(), [false, true], "{published:?}");
}

#[test]
fn invalid_redis_urls_are_rejected() {
    for url in [
        "",
        "redis",
        "http://127.0.0.1",
        "redis://user:secret@host:port",
    ] {
        let error = RedisBus::new(url).unwrap_err().to_string();
        assert!(error.starts_with("invalid Redis URL: "), "{error}");
        assert!(!error.contains("secret"), "{error}");
    }
    let bus = RedisBus::new("redis://user:secret@127.0.0.1").unwrap();
    assert_eq!(
        format!("{bus:?}"),
        r#"RedisBus { channel: "treenail", .. }"#
    );
}
