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
        loop {
            if let Some(response) = take_response(&mut self.ahead)? {
                return Ok(response);
            }
            self.more()?;
        }
    }

    /// Reads the head of a response, whose body has no end, and returns its status.
    pub(crate) fn receive_status(&mut self) -> Result<u16> {
        loop {
            if let Some(end) = memmem::find(&self.ahead, b"\r\n\r\n") {
                return Ok(Head::read(std::str::from_utf8(&self.ahead[..end])?)?.status);
            }
            self.more()?;
        }
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

/// Takes the first response from bytes that have been read, if it is complete.
pub(crate) fn take_response(ahead: &mut Vec<u8>) -> Result<Option<Response>> {
    let Some(end) = memmem::find(ahead, b"\r\n\r\n") else {
        return Ok(None);
    };
    let head = Head::read(std::str::from_utf8(&ahead[..end])?)?;
    let rest = &ahead[end + 4..];
    let body = match head.length {
        Length::Known(length) => rest.get(..length).map(|body| (body.to_vec(), length)),
        Length::Chunked => chunks(rest)?,
    };
    let Some((body, length)) = body else {
        return Ok(None);
    };
    ahead.drain(..end + 4 + length);
    Ok(Some(Response {
        status: head.status,
        session: head.session,
        body,
    }))
}

/// The body in chunks, without their lengths, and its length with them. `None` if it is not complete.
fn chunks(bytes: &[u8]) -> Result<Option<(Vec<u8>, usize)>> {
    let (mut body, mut read) = (Vec::new(), 0);
    loop {
        let Some(end) = memmem::find(&bytes[read..], b"\r\n") else {
            return Ok(None);
        };
        let length = std::str::from_utf8(&bytes[read..read + end])?;
        let length = usize::from_str_radix(length, 16)?;
        let start = read + end + 2;
        let Some(chunk) = bytes.get(start..start + length + 2) else {
            return Ok(None);
        };
        read = start + length + 2;
        if length == 0 {
            return Ok(Some((body, read)));
        }
        body.extend_from_slice(&chunk[..length]);
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
