//! CPU time of requests over HTTP with one thread and with two.

use super::server::{Program, with_threads};
use super::{ERAS, measure_with};
use crate::Result;
use crate::dialect::Era;
use crate::table::{Table, median, microseconds, ratio};

const THREADS: [usize; 2] = [1, 2];

/// Measures all servers in turn, `rounds` times, and prints the medians.
///
/// The CPU time shows what a second thread adds to each request. Requests per second are limited by the driver, which needs one of
/// the two cores.
pub(crate) fn compare(rounds: usize, calls: usize) -> Result<()> {
    let head = [
        "era",
        "server",
        "CPU µs/request, 1 thread",
        "2 threads",
        "2 × 1 thread ÷ 2 threads",
    ];
    let mut table = Table::new(&head);
    let programs = with_threads().into_iter().filter(|it| it.patience == 1);
    let programs: Vec<Program> = programs.collect();
    for era in ERAS {
        let mut samples = vec![[Vec::new(), Vec::new()]; programs.len()];
        for _ in 0..rounds {
            for (samples, program) in samples.iter_mut().zip(&programs) {
                for (samples, threads) in samples.iter_mut().zip(THREADS) {
                    samples.push(measure(*program, era, calls, threads)?);
                }
            }
        }
        for (program, samples) in programs.iter().zip(samples) {
            let [one, two] = samples.map(median);
            table.row(&[
                era.name().to_owned(),
                program.name.to_owned(),
                microseconds(one),
                microseconds(two),
                ratio(2.0 * one, two),
            ]);
        }
    }
    table.print();
    Ok(())
}

/// Returns the CPU time of one request, in seconds.
fn measure(program: Program, era: Era, calls: usize, threads: usize) -> Result<f64> {
    let tool = ["env".to_owned(), format!("TOKIO_WORKER_THREADS={threads}")];
    let (_, cpu) = measure_with(&tool, program, era, calls)?;
    Ok(cpu)
}
