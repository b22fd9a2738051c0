//! One call at a time over HTTP, on one connection.

use std::time::Instant;

use super::server::{Program, with_threads};
use super::{Client, ERAS, check};
use crate::Result;
use crate::dialect::{Calls, Era};
use crate::table::{Table, median, microseconds, ratio};

const WARM_UP: usize = 2_000;

/// Seconds: half and 99 % of the calls take at most as long, and the CPU time of one; and how many threads wake up for one.
#[derive(Clone, Copy)]
struct Sample {
    half: f64,
    most: f64,
    cpu: f64,
    wakes: f64,
}

/// Measures all servers in turn, `rounds` times, and prints the medians.
pub(crate) fn compare(rounds: usize, calls: usize) -> Result<()> {
    let programs = with_threads();
    let head = [
        "era",
        "server",
        "p50 µs",
        "× floor",
        "p99 µs",
        "CPU µs/call",
        "wake-ups/call",
    ];
    let mut table = Table::new(&head);
    for era in ERAS {
        let mut samples = vec![Vec::new(); programs.len()];
        for _ in 0..rounds {
            for (samples, program) in samples.iter_mut().zip(&programs) {
                samples.push(measure(*program, era, calls / program.patience)?);
            }
        }
        let medians: Vec<Sample> = samples.iter().map(|samples| medians(samples)).collect();
        for (program, sample) in programs.iter().zip(&medians) {
            let floor = usize::from(program.name.contains("axum"));
            table.row(&[
                era.name().to_owned(),
                program.name.to_owned(),
                microseconds(sample.half),
                ratio(sample.half, medians[floor].half),
                microseconds(sample.most),
                microseconds(sample.cpu),
                format!("{:.2}", sample.wakes),
            ]);
        }
    }
    table.print();
    Ok(())
}

fn medians(samples: &[Sample]) -> Sample {
    let of = |part: fn(&Sample) -> f64| median(samples.iter().map(part).collect());
    Sample {
        half: of(|it| it.half),
        most: of(|it| it.most),
        cpu: of(|it| it.cpu),
        wakes: of(|it| it.wakes),
    }
}

#[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52 calls")]
fn measure(program: Program, era: Era, calls: usize) -> Result<Sample> {
    let server = program.start(&[])?;
    let mut client = Client::with(&server, era, 1)?;
    client.call(&Calls::new(era, WARM_UP / program.patience))?;
    let calls = Calls::new(era, calls);
    let requests = client.requests(&calls);
    let connection = &mut client.connections[0];
    let (mut times, mut answers) = (Vec::new(), Vec::new());
    let (before, waits) = (server.cpu()?, server.waits()?);
    for request in &requests {
        let start = Instant::now();
        connection.send(request)?;
        answers.push(connection.receive()?);
        times.push(start.elapsed().as_secs_f64());
    }
    let cpu = server.cpu()?.saturating_sub(before).as_secs_f64();
    let waits = server.waits()? - waits;
    check(&calls, answers, program)?;
    server.stop()?;
    times.sort_unstable_by(f64::total_cmp);
    Ok(Sample {
        half: times[times.len() / 2],
        most: times[times.len() * 99 / 100],
        cpu: cpu / times.len() as f64,
        wakes: waits as f64 / times.len() as f64,
    })
}
