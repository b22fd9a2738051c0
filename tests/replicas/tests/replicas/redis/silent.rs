//! What looks like a Redis, and stops answering: a host that is gone without a word.

use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use treenail::{RedisBus, Server};

/// Takes one connection, and answers its commands as long as they are not `PING`. Then it is kept open, without a word.
async fn answer(socket: &mut BufReader<TcpStream>) -> std::io::Result<()> {
    loop {
        let command = command(socket).await?;
        let reply: &[u8] = match &*command[0] {
            "HELLO" => b"%1\r\n$5\r\nproto\r\n:3\r\n",
            "CLIENT" => b"+OK\r\n",
            "SUBSCRIBE" => b">3\r\n$9\r\nsubscribe\r\n$8\r\ntreenail\r\n:1\r\n",
            "PING" => return Ok(()),
            other => panic!("an unexpected command: {other}"),
        };
        socket.write_all(reply).await?;
    }
}

/// The next command, in words.
async fn command(socket: &mut BufReader<TcpStream>) -> std::io::Result<Vec<String>> {
    let mut words = Vec::new();
    for _ in 0..number(socket).await? {
        let mut word = vec![0; number(socket).await? + 2];
        socket.read_exact(&mut word).await?;
        words.push(String::from_utf8(word).unwrap().trim_end().to_owned());
    }
    Ok(words)
}

/// The number in a line such as `*3` or `$12`.
async fn number(socket: &mut BufReader<TcpStream>) -> std::io::Result<usize> {
    let mut line = String::new();
    socket.read_line(&mut line).await?;
    Ok(line.trim_end()[1..].parse().unwrap())
}

#[tokio::test(start_paused = true)]
async fn an_engine_that_stops_answering_is_left() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let bus = RedisBus::new(format!("redis://{address}")).unwrap();
    let server = Server::builder("demo", "1").event_bus(bus).build().unwrap();
    let mut kept = Vec::new();
    // The paused clock goes on while nothing happens.
    for _ in 0..3 {
        let mut socket = BufReader::new(listener.accept().await.unwrap().0);
        answer(&mut socket).await.unwrap();
        kept.push(socket);
        // This one says nothing at all.
        kept.push(BufReader::new(listener.accept().await.unwrap().0));
    }
    // What could not be published is not lost, and who waits for that is not kept.
    server.resource_updated("notes://1");
    let published = tokio::time::timeout(Duration::from_secs(300), server.flush_events());
    assert!(published.await.is_err(), "nobody has taken it");
}

#[test]
fn what_is_no_url_of_a_redis_is_refused() {
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
