//! The streaming tools, made at run time.

use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio_stream::StreamExt;
use treenail::dynamic::{Feature, Fold};
use treenail::{Limits, Server, Stream, ToolError};

pub(crate) use super::Fixture;
use super::Station;
use crate::support::made::Made;
use crate::support::stream_tools::{twin, up_to};

pub(crate) fn server() -> Server {
    fixture(Limits::default()).server
}

pub(crate) fn fixture(limits: Limits) -> Fixture {
    let station = Arc::new(Station {
        names: vec!["north".to_owned(), "south".to_owned()],
        made: Arc::default(),
        open: Arc::default(),
        dropped: Arc::default(),
        gate: Arc::new(Semaphore::new(0)),
    });
    let made = Made::of(&super::server());
    let builder = treenail::server!().limits(limits);
    let builder = builder.add(methods(&made, &station)).add(twin::all(&made));
    Fixture {
        server: builder.build().unwrap(),
        made: Arc::clone(&station.made),
        open: Arc::clone(&station.open),
        dropped: Arc::clone(&station.dropped),
        gate: Arc::clone(&station.gate),
    }
}

fn methods(made: &Made, station: &Arc<Station>) -> Vec<Feature> {
    let state = || Arc::clone(station);
    let (one, two, three, four) = (state(), state(), state(), state());
    vec![
        made.tool("station.names")
            .fold(Fold::Concat)
            .stream(move |cx, _| {
                let names = tokio_stream::iter(one.names.clone());
                names.map(move |name| format!("{name} for {}, ", cx.request_id()))
            }),
        made.tool("station.boxed")
            .fold(Fold::Concat)
            .stream(move |_, _| {
                let names: twin::Boxed<String> = Box::pin(tokio_stream::iter(two.names.clone()));
                Ok::<_, ToolError>(names)
            }),
        made.tool("station.eager")
            .fold(Fold::Last)
            .stream(move |_, _| three.numbers()),
        made.tool("station.endless")
            .stream(move |_, _| endless(&four)),
        made.tool("station.telling").stream(|cx, _| {
            up_to(3, |at| at).then(move |at| {
                let cx = cx.clone();
                async move {
                    if at == 2 {
                        cx.progress(50).message("half").await;
                        cx.progress(1).await;
                    }
                    at
                }
            })
        }),
    ]
}

fn endless(station: &Arc<Station>) -> impl Stream<Item = usize> + use<> {
    let gate = Arc::clone(&station.gate);
    station.numbers().then(move |number| {
        let gate = Arc::clone(&gate);
        async move {
            gate.acquire().await.expect("it is never closed").forget();
            number
        }
    })
}
