//! The cost of a call on the side of the client.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::Result;
use crate::count::{LONG, SHORT, callgrind, callgrind_total, scratch};
use crate::program::built;
use crate::table::{Table, median, microseconds, ratio};

/// The clients, and whether they speak the newest revision; the first one is the floor.
const CLIENTS: [(&str, &str, bool); 5] = [
    ("floor", "floor-client", true),
    ("floor, whole result", "floor-client-whole", true),
    ("Treenail, session", "treenail-client-session", true),
    ("Treenail", "treenail-client", true),
    ("rmcp", "rmcp-client", false),
];

/// Runs all clients in turn, `rounds` times, against the same server, and prints the medians.
pub(crate) fn compare(rounds: usize, calls: usize) -> Result<()> {
    let mut table = Table::new(&["era", "client", "calls/s", "CPU µs per call", "× floor"]);
    for (era, modern) in [("legacy", false), ("modern", true)] {
        let clients: Vec<_> = CLIENTS.iter().filter(|(.., can)| *can || !modern).collect();
        let mut samples = vec![(Vec::new(), Vec::new()); clients.len()];
        for _ in 0..rounds {
            for (index, (_, file, _)) in clients.iter().enumerate() {
                let (wall, cpu) = run(&[], file, era, calls)?;
                samples[index].0.push(wall);
                samples[index].1.push(cpu);
            }
        }
        let medians: Vec<_> = samples
            .into_iter()
            .map(|(wall, cpu)| (median(wall), median(cpu)))
            .collect();
        for (index, (name, ..)) in clients.iter().enumerate() {
            let (wall, cpu) = medians[index];
            table.row(&[
                era.to_owned(),
                (*name).to_owned(),
                format!("{:.0}", 1.0 / wall),
                microseconds(cpu),
                ratio(cpu, medians[0].1),
            ]);
        }
    }
    table.print();
    Ok(())
}

/// Prints instructions per call of each client; the files of callgrind go to `keep`, if they are wanted.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
pub(crate) fn instructions(keep: Option<&Path>) -> Result<()> {
    let directory = keep.map_or_else(scratch, Path::to_path_buf);
    fs::create_dir_all(&directory)?;
    let mut table = Table::new(&["era", "client", "instructions/call", "× floor"]);
    for (era, modern) in [("legacy", false), ("modern", true)] {
        let mut first = None;
        for (name, client, _) in CLIENTS.iter().filter(|(.., can)| *can || !modern) {
            let mut totals = [0; 2];
            for (total, calls) in totals.iter_mut().zip([SHORT, LONG]) {
                let file = directory.join(format!("{client}-{era}-{calls}"));
                run(&callgrind(&file), client, era, calls)?;
                *total = callgrind_total(&file)?;
            }
            // A tenth of the calls are made before the time is taken.
            let calls = (LONG - SHORT) as f64 * 1.1;
            let counted = totals[1].abs_diff(totals[0]) as f64 / calls;
            table.row(&[
                era.to_owned(),
                (*name).to_owned(),
                format!("{counted:.0}"),
                ratio(counted, *first.get_or_insert(counted)),
            ]);
        }
    }
    if keep.is_none() {
        fs::remove_dir_all(directory)?;
    }
    table.print();
    Ok(())
}

/// The time and the CPU time of one call, in seconds. The client is the last argument of `tool`, a command that may be empty.
fn run(tool: &[String], client: &str, era: &str, calls: usize) -> Result<(f64, f64)> {
    let client_path = built(client)?.into_os_string();
    let mut words = tool.iter().map(Into::into).chain([client_path]);
    let output = Command::new(words.next().unwrap_or_default())
        .args(words)
        .arg(built("treenail-server")?)
        .args([&calls.to_string(), era])
        .output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{client} failed: {said}").into());
    }
    let output = String::from_utf8(output.stdout)?;
    let mut numbers = output.split_whitespace().map(str::parse::<f64>);
    let mut next = || Ok::<_, Box<dyn std::error::Error>>(numbers.next().ok_or("no figures")??);
    #[allow(clippy::cast_precision_loss, reason = "there are not that many calls")]
    let calls = calls as f64;
    Ok((next()? / calls, next()? / calls))
}
