//! The server with functions that panic or never end, made at run time.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use tokio::sync::Semaphore;
use treenail::dynamic::Feature;
use treenail::{Limits, Server};

use super::{Bomb, Fragile, Watch, proposed};
use crate::support::made::{Made, get};

pub(crate) fn fragile(limits: Limits) -> (Server, Arc<Watch>) {
    let watch = Arc::new(Watch {
        begun: Semaphore::new(0),
        dropped: Semaphore::new(0),
        running: AtomicUsize::new(0),
        most: AtomicUsize::new(0),
        done: AtomicUsize::new(0),
    });
    let fragile = Arc::new(Fragile(Arc::clone(&watch)));
    let made = Made::of(&super::fragile(Limits::default()).0);
    let builder = treenail::server!().limits(limits);
    let builder = builder.add(panicking(&made, &fragile));
    let builder = builder.add(running(&made, &fragile));
    (builder.add(others(&made, &fragile)).build().unwrap(), watch)
}

/// Makes a tool of a method, given its arguments.
macro_rules! method {
    ($made:ident, $state:ident, $name:ident $(, $argument:literal)*) => {{
        let state = Arc::clone($state);
        $made.tool(stringify!($name)).handler(move |_, it| {
            let (state, _) = (Arc::clone(&state), &it);
            async move { state.$name($(get(&it, $argument)),*).await }
        })
    }};
}

fn panicking(made: &Made, state: &Arc<Fragile>) -> Vec<Feature> {
    vec![
        // The handler itself panics, before there is a future.
        made.tool("at_once").handler(|_, _| {
            Fragile::at_once();
            async {}
        }),
        method!(made, state, in_first_poll),
        method!(made, state, later),
        made.tool("on_a_thread")
            .blocking(|_, _| Fragile::on_a_thread()),
        made.tool("takes").handler(|_, it| async move {
            let bomb: Bomb = get(&it, "bomb");
            Fragile::takes(bomb)
        }),
        made.tool("gives")
            .handler(|_, _| async { Fragile::gives() }),
        made.tool("fails").handler(|_, _| Fragile::fails()),
    ]
}

fn running(made: &Made, state: &Arc<Fragile>) -> Vec<Feature> {
    let tell = Arc::clone(state);
    vec![
        method!(made, state, clings),
        method!(made, state, never),
        method!(made, state, measured, "number"),
        method!(made, state, large, "later"),
        made.tool("tell").handler(move |cx, _| {
            let state = Arc::clone(&tell);
            async move { state.tell(&cx).await }
        }),
    ]
}

fn others(made: &Made, state: &Arc<Fragile>) -> Vec<Feature> {
    let state = Arc::clone(state);
    vec![
        made.prompt("prompt_at_once")
            .handler(|_, _| async { Fragile::prompt_at_once() }),
        made.prompt("prompt_later")
            .complete("name", |typed| proposed(typed.text()))
            .handler(|_, it| Fragile::prompt_later(it.get("name").unwrap())),
        made.prompt("prompt_on_a_thread")
            .blocking(|_, _| Fragile::prompt_on_a_thread()),
        made.resource("fragile://at-once")
            .handler(|_, _| async { Fragile::resource_at_once() }),
        made.template("fragile://later/{name}")
            .complete("name", move |typed| {
                let state = Arc::clone(&state);
                async move { state.proposed_later(typed.text()).await }
            })
            .handler(|_, request| Fragile::resource_later(request.variable("name").unwrap())),
        made.resource("fragile://on-a-thread")
            .blocking(|_, _| Fragile::resource_on_a_thread()),
    ]
}
