//! Repetition of the corpus, without instrumentation.

use std::panic;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use fuzz::{TARGETS, inputs};

/// Panics so far. Treenail turns panics of functions into results, so a property could not see a panic of Treenail itself.
static PANICS: AtomicUsize = AtomicUsize::new(0);

#[test]
fn the_properties_hold_for_the_corpus() {
    let report = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        PANICS.fetch_add(1, Ordering::SeqCst);
        report(info);
    }));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let mut violations = Vec::new();
    for target in &TARGETS {
        let file = folder.join(target.name).with_extension("txt");
        let text = std::fs::read_to_string(&file).expect("each target has a corpus");
        let inputs = inputs(&text);
        assert!(!inputs.is_empty(), "{}", target.name);
        for input in inputs {
            let before = PANICS.load(Ordering::SeqCst);
            panic::catch_unwind(|| (target.run)(&input)).ok();
            if PANICS.load(Ordering::SeqCst) > before {
                violations.push(format!("{}: {}", target.name, input.escape_ascii()));
            }
        }
    }
    assert!(violations.is_empty(), "{}", violations.join("\n"));
}
