//! Equal seeds have equal transcripts.

use treenail::prelude::*;
use treenail::schema::Revision;
use treenail::sim::{Faults, Simulation, Transport};

use crate::desk::{Desk, builder, call};

const REVISIONS: &[Revision] = &[
    Revision::LATEST,
    Revision::V2025_11_25,
    Revision::V2025_06_18,
];

fn simulation(seed: u64, transport: Transport) -> Simulation {
    let desk = Desk::default();
    Simulation::new(seed)
        .server(move |replica| desk.builder(replica).build())
        .replicas(2)
        .transport(transport)
        .faults(Faults::default().all_at_once())
        // The tool `fail` panics in some calls.
        .allow_panics()
        .clients(3, |client| async move {
            for number in 0..12 {
                if let Ok(session) = builder(&client, REVISIONS).build().await {
                    call(&client, &session, number).await;
                    let _ = session.call_tool("touch", json!({})).await;
                }
            }
        })
}

#[test]
fn equal_seeds_have_equal_transcripts() {
    for transport in [Transport::Http, Transport::Stream] {
        for seed in 0..3 {
            let one = simulation(seed, transport).run();
            let two = simulation(seed, transport).run();
            let lines = one
                .transcript()
                .lines()
                .iter()
                .zip(two.transcript().lines());
            for (index, (one, two)) in lines.enumerate() {
                assert_eq!(one, two, "line {index} of seed {seed} over {transport:?}");
            }
            assert_eq!(one.transcript(), two.transcript());
            assert!(one.transcript().lines().len() > 100);
        }
    }
}

#[test]
fn other_seeds_have_other_transcripts() {
    let [one, two] = [1, 2].map(|seed| simulation(seed, Transport::Http).run());
    assert_ne!(one.transcript(), two.transcript());
}
