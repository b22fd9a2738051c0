//! Proxies that are servers in their own configuration files.

use std::fs;

use serde_json::json;

use super::{server, through_proxy};

#[test]
fn a_proxy_does_not_start_itself() {
    let folder = tempfile::tempdir().unwrap();
    let (file, other) = (
        folder.path().join("one.json"),
        folder.path().join("other.json"),
    );
    let (starts, program) = (folder.path().join("starts"), env!("CARGO_BIN_EXE_treenail"));
    // Without the guard, each would start the next one. The script starts only a few.
    let script = format!(
        "echo >> '{0}'; test $(wc -l < '{0}') -lt 5 && exec '{program}' proxy --config \"$0\"",
        starts.display()
    );
    let config = |next: &std::path::Path| {
        let (own, next) = (
            json!({"command": server()}),
            json!({"command": "sh", "args": ["-c", script, next]}),
        );
        json!({"mcpServers": {"own": own, "next": next}}).to_string()
    };
    for (second, deepest) in [(&file, "\"own.add\""), (&other, "\"next.own.add\"")] {
        fs::write(&file, config(second)).unwrap();
        fs::write(&other, config(&file)).unwrap();
        let options = ["--config", file.to_str().unwrap()];
        let outcome = through_proxy(&["list", "tools", "--json", "--verbose"], &options);
        assert!(outcome.stdout.contains(deepest), "{outcome:?}");
        let deeper = deepest.replace("own", "next.own");
        assert!(!outcome.stdout.contains(&deeper), "{outcome:?}");
        let refused = "one.json` has started this one, which would start itself again";
        // The standard error of a proxy behind a proxy is not shown.
        let is_shown = outcome.stderr.contains(refused);
        assert_eq!(is_shown, second == &file, "{outcome:?}");
        fs::remove_file(&starts).unwrap();
    }
}
