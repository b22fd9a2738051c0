//! Frames of a server over HTTP/2, for tests.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

const PREFACE_BYTES: usize = 24;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;

pub(crate) async fn accept(stream: &mut DuplexStream) -> io::Result<()> {
    stream.read_exact(&mut [0; PREFACE_BYTES]).await?;
    stream.write_all(&frame(SETTINGS, 0, 0, &[])).await
}

/// Returns the stream of the next request.
pub(crate) async fn next_request(stream: &mut DuplexStream) -> io::Result<u32> {
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head).await?;
        let [a, b, c, kind, _, id @ ..] = head;
        let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
        stream.read_exact(&mut payload).await?;
        if kind == HEADERS {
            return Ok(u32::from_be_bytes(id));
        }
    }
}

/// A whole response with status 200.
pub(crate) fn response(id: u32) -> Vec<u8> {
    const END_STREAM_AND_HEADERS: u8 = 5;
    frame(HEADERS, END_STREAM_AND_HEADERS, id, &[0x88])
}

pub(crate) fn reset(id: u32, reason: u32) -> Vec<u8> {
    frame(RST_STREAM, 0, id, &reason.to_be_bytes())
}

pub(crate) fn go_away(last_id: u32, reason: u32) -> Vec<u8> {
    let payload = [last_id.to_be_bytes(), reason.to_be_bytes()].concat();
    frame(GOAWAY, 0, 0, &payload)
}

fn frame(kind: u8, flags: u8, id: u32, payload: &[u8]) -> Vec<u8> {
    let [.., a, b, c] = payload.len().to_be_bytes();
    let mut frame = vec![a, b, c, kind, flags];
    frame.extend(id.to_be_bytes());
    frame.extend(payload);
    frame
}
