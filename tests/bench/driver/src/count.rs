//! Instructions and system calls per call: what a tool counts in a long run, less what it counts in a short one.

use std::fs;
use std::path::{Path, PathBuf};

use crate::dialect::{Calls, Era};
use crate::load::drive;
use crate::program::{Program, Streams, with_add};
use crate::table::{Table, ratio};
use crate::{Options, Result};

pub(crate) const SHORT: usize = 2_000;
pub(crate) const LONG: usize = 12_000;

/// Prints instructions per call; the files of callgrind go to `keep`, if they are wanted.
pub(crate) fn instructions(mut programs: Vec<Program>, options: Options) -> Result<()> {
    let Options {
        keep, only, calls, ..
    } = options;
    let long = calls.unwrap_or(LONG);
    if long <= SHORT {
        return Err(format!("count over {SHORT} calls").into());
    }
    let directory = keep.clone().unwrap_or_else(scratch);
    fs::create_dir_all(&directory)?;
    if let Some(only) = only {
        programs.retain(|it| only.split(',').any(|name| name == it.file));
    }
    if programs.is_empty() {
        return Err("none of these programs is built".into());
    }
    let counted = compare(
        &programs,
        long,
        "instructions/call",
        0,
        |program, era, calls| {
            let name = format!("{}-{}-{}", program.file, era.name(), calls.len());
            let file = directory.join(name);
            run(program, era, calls, &callgrind(&file))?;
            callgrind_total(&file)
        },
    );
    if keep.is_none() {
        fs::remove_dir_all(directory)?;
    }
    counted
}

/// Prints system calls per call.
pub(crate) fn system_calls() -> Result<()> {
    let directory = scratch();
    fs::create_dir_all(&directory)?;
    let file = directory.join("strace");
    let programs = with_add(Streams::Pipes);
    let counted = compare(
        &programs,
        LONG,
        "system calls/call",
        2,
        |program, era, calls| {
            let mut tool = command("strace -f -c -o");
            tool.push(file.display().to_string());
            run(program, era, calls, &tool)?;
            strace_total(&file)
        },
    );
    fs::remove_dir_all(directory)?;
    counted
}

pub(crate) fn scratch() -> PathBuf {
    std::env::temp_dir().join(format!("treenail-bench-{}", std::process::id()))
}

/// The command that counts the instructions of a program, and writes them to `file`.
pub(crate) fn callgrind(file: &Path) -> Vec<String> {
    let mut tool = command("valgrind --tool=callgrind --quiet");
    tool.push(format!("--callgrind-out-file={}", file.display()));
    tool
}

fn command(words: &str) -> Vec<String> {
    words.split(' ').map(str::to_owned).collect()
}

fn run(program: Program, era: Era, calls: &Calls, tool: &[String]) -> Result<()> {
    let mut server = program.start_under(tool, era)?;
    let answers = drive(&mut server, calls)?;
    server.stop()?;
    calls.check(&answers)
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn compare(
    programs: &[Program],
    calls: usize,
    what: &str,
    digits: usize,
    mut count: impl FnMut(Program, Era, &Calls) -> Result<u64>,
) -> Result<()> {
    let mut table = Table::new(&["era", "server", what, "× first row", "last row ÷ this"]);
    for era in Era::ALL {
        let (short, long) = (Calls::new(era, SHORT), Calls::new(era, calls));
        let mut counts = Vec::new();
        for program in programs {
            let difference = count(*program, era, &long)?.abs_diff(count(*program, era, &short)?);
            counts.push(difference as f64 / (calls - SHORT) as f64);
        }
        let (first, last) = (counts[0], counts[counts.len() - 1]);
        for (program, count) in programs.iter().zip(counts) {
            table.row(&[
                era.name().to_owned(),
                program.name.to_owned(),
                format!("{count:.digits$}"),
                ratio(count, first),
                ratio(last, count),
            ]);
        }
    }
    table.print();
    Ok(())
}

/// The line `totals: 123` of a file of callgrind.
pub(crate) fn callgrind_total(file: &Path) -> Result<u64> {
    let text = fs::read_to_string(file)?;
    let total = text
        .lines()
        .find_map(|line| line.strip_prefix("totals: "))
        .ok_or("callgrind has counted nothing")?;
    Ok(total.trim().parse()?)
}

/// The fourth column of the last line of `strace -c`.
fn strace_total(file: &Path) -> Result<u64> {
    let text = fs::read_to_string(file)?;
    let total = text
        .lines()
        .find(|line| line.ends_with(" total"))
        .and_then(|line| line.split_whitespace().nth(3))
        .ok_or("strace has counted nothing")?;
    Ok(total.parse()?)
}
