//! The time of `tools/list` with 1,000 tools.

use std::time::Instant;

use serde::Deserialize;

use crate::Result;
use crate::dialect::Era;
use crate::program::{Program, with_many};
use crate::table::{Table, median, microseconds, ratio};

const TOOLS: usize = 1_000;

/// Asks all servers in turn, `rounds` times, and prints the medians of `calls` lists each.
pub(crate) fn compare(rounds: usize, calls: usize) -> Result<()> {
    let programs = with_many();
    let mut table = Table::new(&["era", "server", "tools/list µs", "× floor", "kB"]);
    for era in [Era::Legacy, Era::Modern] {
        let mut samples = vec![Vec::new(); programs.len()];
        let mut sizes = vec![0; programs.len()];
        for _ in 0..rounds {
            for (index, program) in programs.iter().enumerate() {
                let (time, size) = list(*program, era, calls)?;
                samples[index].push(time);
                sizes[index] = size;
            }
        }
        let medians: Vec<f64> = samples.into_iter().map(median).collect();
        for (index, program) in programs.iter().enumerate() {
            table.row(&[
                era.name().to_owned(),
                program.name.to_owned(),
                microseconds(medians[index]),
                ratio(medians[index], medians[0]),
                (sizes[index] / 1_000).to_string(),
            ]);
        }
    }
    table.print();
    Ok(())
}

/// The median time of a list, in seconds, and its size.
fn list(program: Program, era: Era, calls: usize) -> Result<(f64, usize)> {
    let mut server = program.start(era)?;
    let mut times = Vec::new();
    let mut size = 0;
    for id in 1..=calls {
        let request = era.request(id, "tools/list", "");
        let start = Instant::now();
        let answer = server.ask(&request)?;
        times.push(start.elapsed().as_secs_f64());
        check(&answer, id)?;
        size = answer.len();
    }
    server.stop()?;
    Ok((median(times), size))
}

#[derive(Deserialize)]
struct Answer<'a> {
    id: usize,
    #[serde(borrow)]
    result: List<'a>,
}

#[derive(Deserialize)]
struct List<'a> {
    #[serde(borrow)]
    tools: Vec<Tool<'a>>,
}

#[derive(Deserialize)]
struct Tool<'a> {
    name: &'a str,
}

fn check(answer: &[u8], id: usize) -> Result<()> {
    let answer: Answer<'_> = serde_json::from_slice(answer)?;
    let mut names: Vec<&str> = answer.result.tools.iter().map(|tool| tool.name).collect();
    names.sort_unstable();
    names.dedup();
    if answer.id == id && names.len() == TOOLS {
        Ok(())
    } else {
        Err(format!("{} tools are listed in one page", names.len()).into())
    }
}
