//! The tools with a policy, made at run time.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use treenail::Limits;
use treenail::dynamic::{Feature, Tool};

pub(crate) use super::Fixture;
use super::{Seen, Slow};
use crate::support::made::{Made, get};

pub(crate) fn fixture(limits: Limits) -> Fixture {
    let seen = Arc::new(Seen::default());
    let (unblock, block) = channel();
    let slow = Arc::new(Slow {
        seen: Arc::clone(&seen),
        block: block.into(),
    });
    let made = Made::of(&super::fixture(Limits::default()).server);
    let server = treenail::server!().limits(limits).add(tools(&made, &slow));
    Fixture {
        server: server.build().unwrap(),
        seen,
        unblock,
    }
}

fn tools(made: &Made, slow: &Arc<Slow>) -> Vec<Feature> {
    let (blocking, streaming) = (Arc::clone(slow), Arc::clone(slow));
    let work = |tool: Tool| {
        let slow = Arc::clone(slow);
        tool.handler(move |_, it| {
            let slow = Arc::clone(&slow);
            async move { slow.work(get(&it, "call")).await }
        })
    };
    let sleep = |tool: Tool| {
        tool.handler(|_, it| async move {
            let seconds: u64 = get(&it, "seconds");
            tokio::time::sleep(Duration::from_secs(seconds)).await;
            seconds
        })
    };
    let five = Duration::from_secs(5);
    vec![
        work(made.tool("limited").timeout(five)),
        made.tool("limited_stream")
            .timeout(five)
            .stream(move |_, it| streaming.endless(get(&it, "call"))),
        sleep(made.tool("waits_itself").timeout(five)),
        sleep(made.tool("patient").timeout(Duration::MAX)),
        sleep(made.tool("plain")),
        made.tool("explodes_when_dropped")
            .timeout(five)
            .handler(|_, _| Slow::explodes_when_dropped()),
        work(made.tool("two").max_concurrency(2)),
        work(made.tool("one").max_concurrency(1).timeout(five)),
        made.tool("at_once")
            .max_concurrency(1)
            .handler(|_, it| async move { get::<u32>(&it, "call") }),
        made.tool("blocks")
            .timeout(five)
            .max_concurrency(1)
            .blocking(move |_, it| blocking.blocks(get(&it, "call"))),
    ]
}
