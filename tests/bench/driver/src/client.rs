//! The cost of a call on the side of the client.

use std::process::Command;

use crate::Result;
use crate::program::built;
use crate::table::{Table, median, microseconds, ratio};

/// The clients, and whether they speak the newest revision; the first one is the floor.
const CLIENTS: [(&str, &str, bool); 3] = [
    ("floor", "floor-client", true),
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
                let (wall, cpu) = run(file, era, calls)?;
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

/// The time and the CPU time of one call, in seconds.
fn run(client: &str, era: &str, calls: usize) -> Result<(f64, f64)> {
    let output = Command::new(built(client)?)
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
