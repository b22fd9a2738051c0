//! The least work that answers calls of `add` over standard input and output, written by hand for this one tool.
//!
//! It reads and writes as much at once as there is, borrows what it parses, and reads the arguments with their types. It
//! keeps to the protocol in both eras, and has no bound, no concurrency and no second tool: what a framework costs is
//! counted from here.

mod answer;
mod request;

use std::env;
use std::io::{self, Read, Write};

use crate::answer::Session;

const CHUNK: usize = 64 * 1024;

fn main() -> io::Result<()> {
    let tools = env::args()
        .nth(1)
        .and_then(|tools| tools.parse().ok())
        .unwrap_or(1);
    let mut session = Session::new(tools);
    let (mut stdin, mut stdout) = (io::stdin().lock(), io::stdout().lock());
    let (mut input, mut filled) = (vec![0; CHUNK], 0);
    let mut output = Vec::new();
    loop {
        if input.len() - filled < CHUNK / 2 {
            input.resize(filled + CHUNK, 0);
        }
        let count = stdin.read(&mut input[filled..])?;
        if count == 0 {
            return Ok(());
        }
        filled += count;
        let answered = answer_lines(&mut session, &input[..filled], &mut output);
        input.copy_within(answered..filled, 0);
        filled -= answered;
        stdout.write_all(&output)?;
        stdout.flush()?;
        output.clear();
    }
}

/// Answers the whole lines in `input` and says how many bytes they are.
fn answer_lines(session: &mut Session, input: &[u8], output: &mut Vec<u8>) -> usize {
    let mut start = 0;
    while let Some(length) = memchr::memchr(b'\n', &input[start..]) {
        session.answer(&input[start..start + length], output);
        start += length + 1;
    }
    start
}
