//! Thousands of lines that are almost valid messages.

use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, duplex, split};
use treenail::jsoncall::JsoncallSession;

use super::peer::{Peer, call};

/// Lines that are almost valid messages.
fn broken_lines(count: usize) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(11);
    let whole = [
        call(5, "slow", &json!({"number": 0})),
        r#"{"jsonrpc":"2.0","id":"\u00e9\ud83d\ude00","method":"tools/list","params":{}}"#
            .to_owned(),
        r#"{"jsonrpc":"2.0","id":3,"result":{"a":[1e3,"\u0000"]}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":0,"error":{"code":-1,"message":"x","data":[[]]}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}"#
            .to_owned(),
        r#"[{"jsonrpc":"2.0","id":9,"method":"ping"}]"#.to_owned(),
    ];
    let mut lines = Vec::new();
    for _ in 0..count {
        let mut line = whole[random.usize(..whole.len())].clone().into_bytes();
        for _ in 0..random.usize(1..4) {
            let at = random.usize(..line.len());
            match random.u8(..4) {
                0 => drop(line.remove(at)),
                1 => line.insert(at, random.u8(..)),
                2 => line[at] = *random.choice(b"{}[]\",:0e-\\u\x00\xff").unwrap(),
                _ => {
                    let piece = line[at..].to_vec();
                    line.splice(at..at, piece);
                }
            }
        }
        line.retain(|byte| *byte != b'\n');
        line.push(b'\n');
        lines.extend(line);
    }
    lines
}

#[tokio::test]
async fn ten_thousand_broken_lines_do_not_end_a_server() {
    let Peer {
        lines: mut answers,
        mut writer,
        task,
    } = Peer::initialized().await;
    let writing = tokio::spawn(async move {
        writer.write_all(&broken_lines(10_000)).await.unwrap();
        let ping = b"{\"jsonrpc\":\"2.0\",\"id\":\"alive?\",\"method\":\"ping\"}\n";
        writer.write_all(ping).await.unwrap();
        writer
    });
    while !answers
        .next_line()
        .await
        .unwrap()
        .unwrap()
        .contains("alive?")
    {}
    drop(writing.await.unwrap());
    drop(answers);
    task.await.unwrap();
}

#[tokio::test]
async fn ten_thousand_broken_lines_do_not_end_a_client() {
    let (ours, theirs) = duplex(1 << 16);
    let (reader, writer) = split(ours);
    let session = JsoncallSession::new(reader, writer);
    let (their_reader, mut their_writer) = split(theirs);
    let request = treenail::client::SessionRequest::new(77, "ping", "{}".to_owned());
    tokio::spawn(async move {
        let mut requests = BufReader::new(their_reader).lines();
        requests.next_line().await.unwrap().unwrap();
        let mut rest = requests.into_inner();
        let reading = tokio::spawn(async move {
            drop(tokio::io::copy(&mut rest, &mut tokio::io::sink()).await);
        });
        their_writer.write_all(&broken_lines(10_000)).await.unwrap();
        let answer = b"{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{\"alive\":true}}\n";
        their_writer.write_all(answer).await.unwrap();
        reading.await.unwrap();
    });
    let answer = treenail::client::Session::request(&session, request).await;
    assert_eq!(answer.unwrap(), "{\"alive\":true}");
}
