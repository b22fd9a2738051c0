//! `tasks/get` of a finished task beside a plain call on the same server.

use std::fs;
use std::path::Path;

use serde::Deserialize;

use crate::Result;
use crate::count::{LONG, SHORT, callgrind, callgrind_total, scratch};
use crate::dialect::{Calls, Era};
use crate::load::drive;
use crate::program::{Program, Server, with_tasks};
use crate::table::{Table, microseconds, ratio};

/// What the client sends in each request.
const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1.0.0"},"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}"#;

/// Sum of the task.
const SUM: usize = 42;

/// Prints instructions and CPU time per request; the files of callgrind go to `keep`, if they are wanted.
pub(crate) fn compare(keep: Option<&Path>) -> Result<()> {
    let directory = keep.map_or_else(scratch, Path::to_path_buf);
    fs::create_dir_all(&directory)?;
    let head = [
        "store",
        "request",
        "instructions",
        "instructions × call",
        "CPU µs",
        "CPU × call",
    ];
    let mut table = Table::new(&head);
    for program in with_tasks() {
        let call = Costs::measure(program, Kind::Call, &directory)?;
        let get = Costs::measure(program, Kind::Get, &directory)?;
        for (kind, costs) in [(Kind::Call, &call), (Kind::Get, &get)] {
            table.row(&[
                program.name.to_owned(),
                kind.name().to_owned(),
                format!("{:.0}", costs.instructions),
                ratio(costs.instructions, call.instructions),
                microseconds(costs.cpu),
                ratio(costs.cpu, call.cpu),
            ]);
        }
    }
    if keep.is_none() {
        fs::remove_dir_all(directory)?;
    }
    table.print();
    Ok(())
}

#[derive(Clone, Copy)]
enum Kind {
    Call,
    Get,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Call => "tools/call",
            Self::Get => "tasks/get",
        }
    }

    fn requests(self, count: usize, task: &str) -> Calls {
        Calls::of(count, |id| match self {
            Self::Call => call(id, "add"),
            Self::Get => get(id, task),
        })
    }
}

/// Costs of one request: instructions, and CPU time in seconds.
struct Costs {
    instructions: f64,
    cpu: f64,
}

impl Costs {
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
    fn measure(program: Program, kind: Kind, directory: &Path) -> Result<Self> {
        let file = directory.join(format!(
            "{}-{}",
            program.file,
            kind.name().replace('/', "-")
        ));
        let long = instructions(program, kind, LONG, &file)?;
        let short = instructions(program, kind, SHORT, &file)?;
        let mut server = program.start(Era::Modern)?;
        let task = finished_task(&mut server)?;
        drive(&mut server, &kind.requests(SHORT, &task))?;
        let before = server.cpu()?;
        drive(&mut server, &kind.requests(5 * LONG, &task))?;
        let cpu = server.cpu()?.saturating_sub(before).as_secs_f64();
        server.stop()?;
        Ok(Self {
            instructions: long.abs_diff(short) as f64 / (LONG - SHORT) as f64,
            cpu: cpu / (5 * LONG) as f64,
        })
    }
}

fn instructions(program: Program, kind: Kind, count: usize, file: &Path) -> Result<u64> {
    let mut server = program.start_under(&callgrind(file), Era::Modern)?;
    let task = finished_task(&mut server)?;
    let answers = drive(&mut server, &kind.requests(count, &task))?;
    server.stop()?;
    let right = answers
        .split(|byte| *byte == b'\n')
        .filter(|line| answers_sum(line))
        .count();
    if right != count {
        return Err(format!("{right} of {count} answers are right").into());
    }
    callgrind_total(file)
}

/// Runs a task to its end, and returns its id.
fn finished_task(server: &mut Server) -> Result<String> {
    let created = server.ask(&call(0, "add_later"))?;
    let Answer { result } = serde_json::from_slice(&created)?;
    let task = result.task_id.ok_or("the call did not become a task")?;
    loop {
        let answer = server.ask(&get(0, &task))?;
        let Answer { result } = serde_json::from_slice(&answer)?;
        if result.status.as_deref() == Some("completed") {
            return Ok(task);
        }
    }
}

fn call(id: usize, tool: &str) -> String {
    let (a, b) = (SUM - 2, 2);
    format!(
        r#"{{"method":"tools/call","params":{{"name":"{tool}","arguments":{{"a":{a},"b":{b}}},{META}}},"jsonrpc":"2.0","id":{id}}}"#
    )
}

fn get(id: usize, task: &str) -> String {
    format!(
        r#"{{"method":"tasks/get","params":{{"taskId":"{task}",{META}}},"jsonrpc":"2.0","id":{id}}}"#
    )
}

#[derive(Deserialize)]
struct Answer {
    result: Body,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Body {
    task_id: Option<String>,
    status: Option<String>,
    structured_content: Option<usize>,
    result: Option<Box<Body>>,
}

/// Returns whether a line is the sum: of a call, or of a completed task.
fn answers_sum(line: &[u8]) -> bool {
    let Ok(Answer { result }) = serde_json::from_slice(line) else {
        return false;
    };
    let sum = result.structured_content;
    sum.or(result.result.and_then(|it| it.structured_content)) == Some(SUM)
}
