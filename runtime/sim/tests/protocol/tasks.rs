//! Tasks on replicas with a common store.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::time::{sleep, timeout};
use treenail::elicit::{AskError, RequestStateKey};
use treenail::prelude::*;
use treenail::schema::Revision;
use treenail::sim::{Balance, Client, Faults, Simulation, check};
use treenail::tasks::{MemoryStore, ServerTasks, TaskLimits, TaskStore, TaskTicket, Tasks};

use crate::SEEDS;
use crate::desk::{BUSY_BYTES, Ledger, measure};

/// Memory that a replica may hold without clients, in bytes. One that has had no clients yet holds 36,230.
const IDLE_BYTES: usize = 41_000;

/// Number of the effects of a job.
const STEPS: u64 = 4;

#[derive(Clone, Default)]
struct Works {
    ledger: Ledger,
    /// Jobs that clients have started, with the tickets of the tasks that they have learnt of.
    jobs: Arc<Mutex<BTreeMap<String, Option<TaskTicket>>>>,
}

impl Works {
    /// Returns the tickets by their jobs.
    fn tickets(&self) -> BTreeMap<String, TaskTicket> {
        let jobs = self.jobs.lock().unwrap().clone().into_iter();
        jobs.filter_map(|(key, ticket)| Some((key, ticket?)))
            .collect()
    }

    /// Has an effect in the middle of its time, or at its end.
    async fn effect(&self, key: String, at_end: bool) -> Result<u64, AskError> {
        let count = || self.ledger.count(format!("effect {key}"));
        let first = (!at_end).then(count);
        sleep(Duration::from_millis(20)).await;
        Ok(first.unwrap_or_else(count))
    }
}

#[mcp_tool]
impl Works {
    /// Has effects that must not happen twice.
    #[tool(task(resume, after = "200ms"))]
    async fn job(
        &self,
        cx: &Context,
        key: String,
        pause: u64,
        asks: bool,
    ) -> Result<String, AskError> {
        let _running = self.ledger.enter();
        let reserve = || self.effect(format!("{key} reserve"), false);
        if asks {
            cx.once("reserve", reserve()).await?;
            cx.confirm(format!("Go on with {key}?")).await?;
        }
        self.ledger.count(format!("run {key}"));
        for step in 0..STEPS {
            // One of the pauses may be longer than the lease.
            let pauses = if step == 1 { 20 } else { 5 };
            for done in 0..pauses {
                sleep(Duration::from_millis(pause / 5)).await;
                cx.progress(20 * step + done)
                    .message(format!("step {step}"))
                    .await;
            }
            if asks {
                cx.once("reserve", reserve()).await?;
            }
            let effect = self.effect(format!("{key} {step}"), step % 2 == 1);
            cx.once(format!("step {step}"), effect).await?;
        }
        self.ledger.count(format!("end {key}"));
        Ok(format!("{key} is done"))
    }

    /// Asks during a task.
    #[tool(idempotent, task(always, run_time = "20s"))]
    async fn inquire(&self, cx: &Context, key: String) -> Result<String, AskError> {
        let _running = self.ledger.enter();
        sleep(Duration::from_millis(300)).await;
        cx.confirm(format!("Go on with {key}?")).await?;
        Ok(format!("{key} is done"))
    }
}

fn limits() -> TaskLimits {
    let second = Duration::from_secs(1);
    TaskLimits::default()
        .lease(5 * second)
        .watch_interval(second)
        .sweep_interval(2 * second)
        .store_timeout(3 * second)
}

fn builder(client: &Client) -> treenail::client::McpClientBuilder {
    // After a late response to its probe, a client may fall back to a session, which random replicas do not know.
    let builder = client.builder().protocol_version(Revision::LATEST);
    builder.tasks().on_elicit(|_| async {
        Ok(treenail::schema::ElicitResult::new(
            treenail::schema::ElicitAction::Accept,
        ))
    })
}

async fn work(client: Client, works: Works) {
    for number in 0..6 {
        client.pause(Duration::from_secs(3)).await;
        let Ok(session) = builder(&client).build().await else {
            continue;
        };
        let key = format!("{}-{number}", client.index());
        if client.random(4) == 0 {
            let inquiry = session.call_tool("inquire", json!({"key": key}));
            if let Ok(Ok(result)) = timeout(Duration::from_secs(90), inquiry).await {
                let text = json!(result).to_string();
                let is_interrupted = result.is_error == Some(true);
                assert!(
                    is_interrupted || text.contains(&format!("{key} is done")),
                    "{text}"
                );
            }
            continue;
        }
        let arguments = json!({
            "key": key, "pause": client.random(2_000), "asks": client.random(3) == 0,
        });
        works.jobs.lock().unwrap().insert(key.clone(), None);
        let Ok(task) = session.call_tool("job", arguments).task().await else {
            continue;
        };
        let Some(ticket) = task.ticket() else {
            continue;
        };
        works.jobs.lock().unwrap().insert(key.clone(), Some(ticket));
        if client.random(6) == 0 {
            client.pause(Duration::from_secs(3)).await;
            // After a failure, the server may have received it all the same.
            works.ledger.count(format!("cancel {key}"));
            let _ = task.cancel().await;
        }
    }
}

/// Every task that a client has learnt of has an outcome, and each effect has happened at most once.
async fn check_outcomes(client: Client, works: Works) {
    let session = builder(&client)
        .build()
        .await
        .expect("a server without faults accepts a session");
    for (key, ticket) in &works.tickets() {
        let mut task = session
            .resume_task(ticket)
            .expect("a ticket can be resumed");
        let outcome = timeout(Duration::from_secs(120), task.wait()).await;
        let outcome = outcome.unwrap_or_else(|_| panic!("the task of {key} has no outcome"));
        let again = session
            .resume_task(ticket)
            .expect("a ticket can be resumed")
            .status()
            .await;
        let again = again.expect("a server without faults answers");
        assert!(
            again
                .as_ref()
                .is_some_and(treenail::tasks::TaskUpdate::is_final),
            "{key}: {again:?}"
        );
        let completed = match outcome {
            Ok(result) => {
                let text = json!(result).to_string();
                let is_done = text.contains(&format!("{key} is done"));
                assert!(is_done || result.is_error == Some(true), "{key}: {text}");
                is_done
            }
            Err(error) => {
                let text = error.to_string();
                assert!(
                    !text.contains("unknown"),
                    "the task of {key} is lost: {text}"
                );
                false
            }
        };
        check_effects(&works, key, completed);
    }
    sleep(Duration::from_secs(30)).await;
    let running = works
        .ledger
        .running
        .load(std::sync::atomic::Ordering::SeqCst);
    assert_eq!(running, 0, "functions run although their tasks have ended");
    // A call that remained a plain one has no second run.
    for key in works.jobs.lock().unwrap().keys() {
        check_effects(&works, key, false);
    }
}

/// Checks the effects of one job.
fn check_effects(works: &Works, key: &str, completed: bool) {
    for step in 0..STEPS {
        let effects = works.ledger.get(&format!("effect {key} {step}"));
        assert!(
            effects <= 1,
            "effect {step} of {key} has happened {effects} times"
        );
        assert!(
            effects == 1 || !completed,
            "effect {step} of {key} is missing"
        );
    }
    let reserved = works.ledger.get(&format!("effect {key} reserve"));
    assert!(reserved <= 1, "{key} was reserved {reserved} times");
    let ends = works.ledger.get(&format!("end {key}"));
    assert!(
        ends >= 1 || !completed,
        "{key} is completed without its end"
    );
    let runs = works.ledger.get(&format!("run {key}"));
    assert!(runs <= 3, "{key} has run {runs} times");
}

fn simulation(seed: u64, works: &Works) -> Simulation {
    let store: Arc<dyn TaskStore> = Arc::new(MemoryStore::new());
    let (mounted, worked, checked) = (works.clone(), works.clone(), works.clone());
    Simulation::new(seed)
        .server(move |replica| {
            let store = replica.store(Arc::clone(&store));
            let server = Server::builder("works", "1.0.0")
                .mount(mounted.clone())
                .extension(Tasks::new().store(store).limits(limits()))
                .request_state_key(RequestStateKey::new([7; 32]))
                .build()?;
            let (closing, tasks) = (server.downgrade(), ServerTasks::of(&server));
            tokio::spawn(async move {
                closing.closed().await;
                if let Some(tasks) = tasks {
                    tasks.release().await;
                }
            });
            Ok(server)
        })
        .replicas(3)
        .balance(Balance::Random)
        .memory_limits(BUSY_BYTES, IDLE_BYTES, measure)
        .clients(3, move |client| work(client, worked.clone()))
        .afterwards(move |client| check_outcomes(client, checked.clone()))
}

#[test]
fn tasks_are_neither_lost_nor_doubled() {
    // A request that arrives twice is two calls.
    let faults = Faults::default().duplicates(0.0);
    check(SEEDS, |seed| {
        simulation(seed, &Works::default()).faults(faults.clone())
    });
}

#[test]
fn tasks_without_interruptions_run_once() {
    let faults = Faults::none().latency(Duration::ZERO..=Duration::from_millis(40));
    check(SEEDS, |seed| {
        let works = Works::default();
        simulation(seed, &works)
            .faults(faults.clone().drops(0.2).store_failures(0.05))
            .afterwards(move |client| {
                let works = works.clone();
                async move {
                    check_outcomes(client, works.clone()).await;
                    for key in works.tickets().keys() {
                        assert_eq!(works.ledger.get(&format!("run {key}")), 1, "runs of {key}");
                        let ends = works.ledger.get(&format!("end {key}"));
                        let is_cancelled = works.ledger.get(&format!("cancel {key}")) > 0;
                        assert!(ends == 1 || is_cancelled, "{key} has ended {ends} times");
                    }
                }
            })
    });
}
