//! One connection to the endpoint: the requests read from it, and the replies written to it.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};

use serde_json::Value;

use super::{End, Reply};

/// A request.
#[derive(Debug)]
pub(crate) struct Asked {
    /// The request line, and the headers with lower-case names.
    pub(crate) head: Vec<String>,
    pub(crate) body: String,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.iter();
        lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// One connection.
pub(super) struct Serving {
    pub(super) asked: Sender<Asked>,
    pub(super) silence: Sender<()>,
    pub(super) leaving: Sender<()>,
    pub(super) replies: Arc<Mutex<VecDeque<Reply>>>,
}

impl Serving {
    pub(super) fn serve(&mut self, mut stream: &TcpStream) -> std::io::Result<()> {
        stream.set_nodelay(true)?;
        let mut reader = BufReader::new(stream);
        while let Some(asked) = read(&mut reader)? {
            let reply = self.replies.lock().unwrap().pop_front();
            let reply = reply.unwrap_or_else(|| Reply::error(400, "nothing is scripted", "script"));
            // The test has ended.
            if self.asked.send(asked).is_err() {
                return Ok(());
            }
            if reply.end != End::Silent {
                write(stream, &reply)?;
            }
            match reply.end {
                End::Whole => {}
                End::InvalidResponse => return Ok(()),
                End::KeptAlive => loop {
                    write!(stream, "4\r\n: \n\n\r\n")?;
                },
                End::Held | End::Silent => {
                    let _ = self.silence.send(());
                    // Returns when the client closes its end.
                    let _ = reader.read(&mut [0]);
                    let _ = self.leaving.send(());
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

fn read(reader: &mut BufReader<&TcpStream>) -> std::io::Result<Option<Asked>> {
    let mut head: Vec<String> = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        head.push(match line.split_once(": ") {
            Some((name, value)) => format!("{}: {value}", name.to_lowercase()),
            None => line.to_owned(),
        });
    }
    let mut asked = Asked {
        head,
        body: String::new(),
    };
    let length = asked
        .header("content-length")
        .map_or(0, |text| text.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    asked.body = String::from_utf8(body).unwrap();
    Ok(Some(asked))
}

fn write(mut stream: &TcpStream, reply: &Reply) -> std::io::Result<()> {
    let mut head = format!("HTTP/1.1 {} Status\r\n", reply.status);
    for (name, value) in &reply.headers {
        head.extend([name, ": ", value.as_str(), "\r\n"]);
    }
    let Some(sizes) = &reply.pieces else {
        let length = reply.body.len();
        write!(stream, "{head}content-length: {length}\r\n\r\n")?;
        return stream.write_all(&reply.body);
    };
    write!(stream, "{head}transfer-encoding: chunked\r\n\r\n")?;
    let (mut rest, mut sizes) = (&*reply.body, sizes.iter().cycle());
    while !rest.is_empty() {
        let size = sizes
            .next()
            .map_or(rest.len(), |size| (*size).min(rest.len()));
        let (piece, others) = rest.split_at(size);
        rest = others;
        write!(stream, "{size:x}\r\n")?;
        stream.write_all(piece)?;
        stream.write_all(b"\r\n")?;
    }
    if reply.end == End::Whole {
        stream.write_all(b"0\r\n\r\n")?;
    }
    Ok(())
}
