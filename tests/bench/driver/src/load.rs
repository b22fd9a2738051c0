//! Calls per second, CPU time per call, and latency.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use crate::Result;
use crate::dialect::{Calls, Era};
use crate::program::{Program, Server, Streams, with_add};
use crate::table::{Table, median, microseconds, ratio};

/// Calls in flight under load.
pub(crate) const IN_FLIGHT: usize = 64;

const WARM_UP: usize = 2_000;

const HEAD: [&str; 9] = [
    "era",
    "server",
    "calls/s",
    "× last row",
    "CPU µs/call",
    "CPU × floor",
    "p50 µs",
    "p50 × floor",
    "p99 µs",
];

/// Measures all servers in turn, `rounds` times, and prints the medians.
pub(crate) fn compare(rounds: usize, calls: usize, streams: Streams) -> Result<()> {
    let programs = with_add(streams);
    let mut table = Table::new(&HEAD);
    for era in Era::ALL {
        let work = Work::new(era, calls);
        let mut samples = vec![Vec::new(); programs.len()];
        for _ in 0..rounds {
            for (samples, program) in samples.iter_mut().zip(&programs) {
                samples.push(work.measure(*program)?);
            }
        }
        let medians: Vec<Sample> = samples.iter().map(|it| Sample::median(it)).collect();
        for (program, sample) in programs.iter().zip(&medians) {
            let mut row = vec![era.name().to_owned(), program.name.to_owned()];
            row.extend(sample.cells(medians[0], medians[medians.len() - 1]));
            table.row(&row);
        }
    }
    table.print();
    Ok(())
}

/// What is measured of one server; all in seconds per call.
#[derive(Clone, Copy)]
struct Sample {
    time: f64,
    cpu: f64,
    p50: f64,
    p99: f64,
}

impl Sample {
    fn median(samples: &[Self]) -> Self {
        let of = |member: fn(&Self) -> f64| median(samples.iter().map(member).collect());
        Self {
            time: of(|sample| sample.time),
            cpu: of(|sample| sample.cpu),
            p50: of(|sample| sample.p50),
            p99: of(|sample| sample.p99),
        }
    }

    /// The cells of a row, beside the samples of the first and of the last row.
    fn cells(self, first: Self, last: Self) -> [String; 7] {
        [
            format!("{:.0}", 1.0 / self.time),
            ratio(last.time, self.time),
            microseconds(self.cpu),
            ratio(self.cpu, first.cpu),
            microseconds(self.p50),
            ratio(self.p50, first.p50),
            microseconds(self.p99),
        ]
    }
}

/// The calls of one measurement.
struct Work {
    era: Era,
    warm_up: Calls,
    under_load: Calls,
    one_by_one: Calls,
}

impl Work {
    fn new(era: Era, calls: usize) -> Self {
        Self {
            era,
            warm_up: Calls::new(era, WARM_UP),
            under_load: Calls::new(era, calls),
            one_by_one: Calls::new(era, calls / 10),
        }
    }

    fn measure(&self, program: Program) -> Result<Sample> {
        let mut server = program.start(self.era)?;
        drive(&mut server, &self.warm_up)?;
        let (before, start) = (server.cpu()?, Instant::now());
        let answers = drive(&mut server, &self.under_load)?;
        let (time, cpu) = (start.elapsed(), server.cpu()?.saturating_sub(before));
        self.under_load.check(&answers)?;
        let latencies = one_by_one(&mut server, &self.one_by_one)?;
        server.stop()?;
        let at = |percent: usize| latencies[latencies.len() * percent / 100].as_secs_f64();
        Ok(Sample {
            time: per_call(time, &self.under_load),
            cpu: per_call(cpu, &self.under_load),
            p50: at(50),
            p99: at(99),
        })
    }
}

#[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52 calls")]
fn per_call(time: Duration, calls: &Calls) -> f64 {
    time.as_secs_f64() / calls.len() as f64
}

/// Makes all calls with [`IN_FLIGHT`] of them at a time, and returns the answers.
///
/// The calls are prepared before and the answers are looked at after, so that little but the server takes time. What has
/// been answered by one read is sent for anew by one write, which the pipe has room for.
pub(crate) fn drive(server: &mut Server, calls: &Calls) -> Result<Vec<u8>> {
    let (mut answers, mut chunk) = (Vec::with_capacity(512 * calls.len()), vec![0; 64 * 1024]);
    let (mut sent, mut answered) = (0, 0);
    while answered < calls.len() {
        let next = calls.len().min(answered + IN_FLIGHT);
        if next > sent {
            server.stdin.write_all(calls.lines(sent, next))?;
            sent = next;
        }
        let count = server.stdout.read(&mut chunk)?;
        if count == 0 {
            return Err("the server has ended".into());
        }
        answered += memchr::memchr_iter(b'\n', &chunk[..count]).count();
        answers.extend_from_slice(&chunk[..count]);
    }
    Ok(answers)
}

/// Makes one call after the other, and returns how long each took, the shortest first.
fn one_by_one(server: &mut Server, calls: &Calls) -> Result<Vec<Duration>> {
    let (mut answers, mut chunk) = (Vec::new(), vec![0; 64 * 1024]);
    let mut latencies = Vec::with_capacity(calls.len());
    for call in 0..calls.len() {
        let start = Instant::now();
        server.stdin.write_all(calls.lines(call, call + 1))?;
        while answers.last() != Some(&b'\n') || latencies.len() == call {
            let count = server.stdout.read(&mut chunk)?;
            if count == 0 {
                return Err("the server has ended".into());
            }
            answers.extend_from_slice(&chunk[..count]);
            if chunk[count - 1] == b'\n' {
                latencies.push(start.elapsed());
            }
        }
    }
    calls.check(&answers)?;
    latencies.sort_unstable();
    Ok(latencies)
}
