//! A keep-alive connection to an HTTP server, and the responses that come on it.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use memchr::memmem;

use crate::Result;

pub(crate) struct Connection {
    stream: TcpStream,
    /// What has been read and belongs to no response yet.
    ahead: Vec<u8>,
}

pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) session: Option<String>,
    /// The body, without the lengths of its chunks.
    pub(crate) body: Vec<u8>,
}

impl Connection {
    pub(crate) fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            ahead: Vec::with_capacity(16 * 1024),
        })
    }

    pub(crate) fn send(&mut self, request: &[u8]) -> Result<()> {
        Ok(self.stream.write_all(request)?)
    }

    /// Reads one response to its end.
    pub(crate) fn receive(&mut self) -> Result<Response> {
        let end = loop {
            match memmem::find(&self.ahead, b"\r\n\r\n") {
                Some(end) => break end + 4,
                None => self.more()?,
            }
        };
        let head = Head::read(std::str::from_utf8(&self.ahead[..end])?)?;
        self.ahead.drain(..end);
        let body = match head.length {
            Length::Known(length) => self.take(length)?,
            Length::Chunked => self.chunks()?,
        };
        Ok(Response {
            status: head.status,
            session: head.session,
            body,
        })
    }

    fn chunks(&mut self) -> Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let end = loop {
                match memmem::find(&self.ahead, b"\r\n") {
                    Some(end) => break end,
                    None => self.more()?,
                }
            };
            let length = usize::from_str_radix(std::str::from_utf8(&self.ahead[..end])?, 16)?;
            self.ahead.drain(..end + 2);
            let mut chunk = self.take(length + 2)?;
            if length == 0 {
                return Ok(body);
            }
            chunk.truncate(length);
            body.append(&mut chunk);
        }
    }

    fn take(&mut self, length: usize) -> Result<Vec<u8>> {
        while self.ahead.len() < length {
            self.more()?;
        }
        let rest = self.ahead.split_off(length);
        Ok(std::mem::replace(&mut self.ahead, rest))
    }

    fn more(&mut self) -> Result<()> {
        let mut chunk = [0; 8 * 1024];
        match self.stream.read(&mut chunk)? {
            0 => Err("the server has closed a connection".into()),
            count => {
                self.ahead.extend_from_slice(&chunk[..count]);
                Ok(())
            }
        }
    }
}

struct Head {
    status: u16,
    session: Option<String>,
    length: Length,
}

enum Length {
    Known(usize),
    Chunked,
}

impl Head {
    fn read(text: &str) -> Result<Self> {
        let mut lines = text.lines();
        let status = lines.next().and_then(|line| line.split(' ').nth(1));
        let mut head = Self {
            status: status.ok_or("a response has no status")?.parse()?,
            session: None,
            length: Length::Known(0),
        };
        for (name, value) in lines.filter_map(|line| line.split_once(": ")) {
            if name.eq_ignore_ascii_case("content-length") {
                head.length = Length::Known(value.parse()?);
            } else if name.eq_ignore_ascii_case("transfer-encoding") {
                head.length = Length::Chunked;
            } else if name.eq_ignore_ascii_case("mcp-session-id") {
                head.session = Some(value.to_owned());
            }
        }
        Ok(head)
    }
}
