//! The least work that a proxy over standard input and output does, written by hand: it gives each request an id of its own,
//! removes the namespace `far.` from the name of the tool, and gives the response its old id. It has no other features and no
//! bounds. Its argument is the program behind it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use serde::Deserialize;
use serde_json::value::RawValue;

type Ids = Arc<Mutex<HashMap<u64, Box<str>>>>;

#[derive(Deserialize)]
struct Request<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Cow<'a, str>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Call<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow, rename = "_meta", default)]
    meta: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Response<'a> {
    id: u64,
    #[serde(borrow)]
    result: &'a RawValue,
}

fn main() -> io::Result<()> {
    let program = std::env::args().nth(1).unwrap_or_default();
    let mut command = Command::new(program);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let missing = || io::Error::other("no pipe");
    let mut to_server = child.stdin.take().ok_or_else(missing)?;
    let from_server = child.stdout.take().ok_or_else(missing)?;
    let ids = Ids::default();
    let back = Arc::clone(&ids);
    let answering = thread::spawn(move || {
        let ids = back;
        each_chunk(from_server, &mut io::stdout(), |line, out| {
            respond(line, &ids, out)
        })
    });
    let mut last = 0;
    each_chunk(io::stdin(), &mut to_server, |line, out| {
        request(line, &mut last, &ids, out)
    })?;
    drop(to_server);
    answering
        .join()
        .map_err(|_| io::Error::other("panicked"))??;
    child.wait().map(drop)
}

/// Converts all lines of each chunk that is read, and writes them at once.
fn each_chunk(
    mut from: impl Read,
    to: &mut impl Write,
    mut convert: impl FnMut(&[u8], &mut Vec<u8>),
) -> io::Result<()> {
    const CHUNK: usize = 64 * 1024;
    let (mut input, mut filled, mut output) = (vec![0; CHUNK], 0, Vec::new());
    loop {
        if input.len() - filled < CHUNK / 2 {
            input.resize(filled + CHUNK, 0);
        }
        let count = from.read(&mut input[filled..])?;
        if count == 0 {
            return Ok(());
        }
        filled += count;
        let mut start = 0;
        while let Some(length) = memchr::memchr(b'\n', &input[start..filled]) {
            convert(&input[start..start + length], &mut output);
            start += length + 1;
        }
        input.copy_within(start..filled, 0);
        filled -= start;
        to.write_all(&output)?;
        to.flush()?;
        output.clear();
    }
}

fn request(line: &[u8], last: &mut u64, ids: &Ids, out: &mut Vec<u8>) {
    let Ok(request) = serde_json::from_slice::<Request<'_>>(line) else {
        return;
    };
    let params = request.params.map_or("{}", RawValue::get);
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",");
    if let Some(id) = request.id {
        *last += 1;
        let mut ids = ids.lock().unwrap_or_else(PoisonError::into_inner);
        ids.insert(*last, id.get().into());
        out.extend_from_slice(format!("\"id\":{last},").as_bytes());
    }
    let method = &request.method;
    let call = (method == "tools/call").then(|| serde_json::from_str::<Call<'_>>(params));
    if let Some(Ok(call)) = call {
        let name = call.name.strip_prefix("far.").unwrap_or(&call.name);
        let arguments = call.arguments.map_or("{}", RawValue::get);
        let meta = call.meta.map_or("{}", RawValue::get);
        out.extend_from_slice(
            format!(
                "\"method\":\"tools/call\",\"params\":{{\"name\":\"{name}\",\"arguments\":{arguments},\"_meta\":{meta}}}}}\n"
            )
            .as_bytes(),
        );
    } else {
        out.extend_from_slice(
            format!("\"method\":\"{method}\",\"params\":{params}}}\n").as_bytes(),
        );
    }
}

fn respond(line: &[u8], ids: &Ids, out: &mut Vec<u8>) {
    let Ok(response) = serde_json::from_slice::<Response<'_>>(line) else {
        return;
    };
    let id = ids
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .remove(&response.id);
    let Some(id) = id else { return };
    let result = response.result;
    out.extend_from_slice(
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n").as_bytes(),
    );
}
