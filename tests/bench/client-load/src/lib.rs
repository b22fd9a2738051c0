//! What the clients that are compared have in common: so many calls, 64 of them in flight, and what they cost this process.

use std::env;
use std::error::Error;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Instant;

pub type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Calls in flight.
const IN_FLIGHT: usize = 64;

/// What a client is started with: `<server> <calls> [modern]`.
pub struct Arguments {
    pub server: String,
    pub calls: i64,
    pub modern: bool,
}

impl Arguments {
    pub fn read() -> Result<Self> {
        let mut arguments = env::args().skip(1);
        let server = arguments.next().ok_or("give the path of a server")?;
        let calls = arguments
            .next()
            .ok_or("give the number of calls")?
            .parse()?;
        let modern = arguments.next().is_some_and(|era| era == "modern");
        Ok(Self {
            server,
            calls,
            modern,
        })
    }
}

/// Makes the calls, after a tenth of them that does not count, and prints the seconds and the CPU seconds of the thread. A
/// call gets a number, and returns its sum with 1.
pub async fn measure<F, A>(calls: i64, call: F) -> Result<()>
where
    F: Fn(i64) -> A + Clone + Send + Sync + 'static,
    A: Future<Output = Result<i64>> + Send,
{
    run(calls / 10, call.clone()).await?;
    let (started, before) = (Instant::now(), cpu()?);
    run(calls, call).await?;
    let (wall, cpu) = (started.elapsed().as_secs_f64(), cpu()? - before);
    println!("{wall} {cpu}");
    Ok(())
}

async fn run<F, A>(calls: i64, call: F) -> Result<()>
where
    F: Fn(i64) -> A + Clone + Send + Sync + 'static,
    A: Future<Output = Result<i64>> + Send,
{
    let next = Arc::new(AtomicI64::new(0));
    let workers = (0..IN_FLIGHT).map(|_| {
        let (next, call) = (Arc::clone(&next), call.clone());
        tokio::spawn(async move {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= calls {
                    return Ok(());
                }
                let sum = call(number).await?;
                if sum != number + 1 {
                    return Err::<(), Box<dyn Error + Send + Sync>>("a wrong sum".into());
                }
            }
        })
    });
    for worker in workers.collect::<Vec<_>>() {
        worker.await??;
    }
    Ok(())
}

/// The seconds that this thread has been on a CPU; all clients have one thread.
fn cpu() -> Result<f64> {
    let times = fs::read_to_string("/proc/self/schedstat")?;
    let nanoseconds: f64 = times.split(' ').next().unwrap_or_default().parse()?;
    Ok(nanoseconds / 1e9)
}
