//! Compiler errors for the incorrect code in `tool`, `form` and `client`. The code in `pass` compiles.
//!
//! All cases with errors are checked by one run of Cargo. A case that has to be built would make it a run for each case, so that
//! the modules of `pass` are part of this program.
//!
//! The cases of tools have one folder for each theme. `cargo test --package ui -- mistakes trybuild=tool/names` runs one folder.
//!
//! The `.stderr` files match one release of the compiler. On other releases the test is skipped, except
//! in CI. `TRYBUILD=overwrite cargo test --package ui` updates the files.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Compiler release of the `.stderr` files.
const BLESSED: &str = "rustc 1.95.";

/// Maximum number of lines of an error, so that users read it.
const MAX_LINES: usize = 12;

/// Errors from rustc itself, with their number and the maximum number of lines. Their details about the user's code, such as
/// the value held across an `await`, are worth more than brevity.
const OF_RUSTC: [(&str, usize, usize); 19] = [
    ("form/form-without-type", 1, 14),
    ("form/type-as-form", 1, 17),
    ("tool/lists/function-without-list", 1, 15),
    ("tool/lists/functions-without-tools-macro", 1, 15),
    ("tool/lists/type-as-tools", 1, 19),
    ("tool/functions/held-across-await", 1, 15),
    ("tool/blocks/mount-borrowing-type", 1, 18),
    ("tool/blocks/mount-function", 1, 17),
    ("tool/blocks/mount-lock", 1, 20),
    ("tool/blocks/mount-without-block", 1, 21),
    ("tool/outputs/borrow-of-nothing", 1, 16),
    // The place of the method, or of its type.
    ("tool/missing_features/add", 1, 14),
    ("tool/missing_features/bind-http", 1, 14),
    ("tool/missing_features/layer", 1, 15),
    ("tool/missing_features/serve-http", 1, 14),
    // One of rustc, and one of the macro.
    ("tool/arguments/default-in-signature", 2, 11),
    ("tool/blocks/syntax-error-in-signature", 2, 14),
    // One for `Send` and one for `Sync`.
    ("tool/functions/state-not-sent", 2, 27),
    ("tool/functions/state-not-shared", 1, 14),
];

/// Errors of `macro_rules`, whose place is the whole call.
const OF_MACRO_RULES: [&str; 1] = ["tool/lists/server-with-arguments"];

#[allow(
    unreachable_pub,
    unused_qualifications,
    clippy::all,
    clippy::pedantic,
    clippy::nursery,
    clippy::restriction,
    reason = "the cases are written like the code of users"
)]
mod pass {
    pub(crate) mod blocks;
    pub(crate) mod contracts;
    pub(crate) mod features;
    pub(crate) mod forms;
    pub(crate) mod functions;
    pub(crate) mod streams;
    pub(crate) mod tasks;
    pub(crate) mod types;
}

#[test]
fn correct_code_compiles_and_runs() {
    pass::blocks::main();
    pass::contracts::main();
    pass::features::main();
    pass::forms::main();
    pass::functions::main();
    pass::streams::main();
    pass::tasks::main();
    pass::types::main();
}

#[test]
fn mistakes_are_explained() {
    if env::var_os("CI").is_none() && !is_blessed() {
        return;
    }
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tool/*/*.rs");
    cases.compile_fail("form/*.rs");
    cases.compile_fail("client/*.rs");
}

#[test]
fn one_mistake_is_one_short_error_in_the_users_terms() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let themes = paths_in(&root.join("tool"));
    let folders = themes.chain(["form", "client"].map(|folder| root.join(folder)));
    for path in folders.flat_map(|folder| paths_in(&folder)) {
        let name = path.display();
        let error = match path.extension().and_then(|extension| extension.to_str()) {
            Some("stderr") => fs::read_to_string(&path).unwrap(),
            Some("rs") => {
                let error = path.with_extension("stderr");
                assert!(error.exists(), "{name} has no .stderr");
                continue;
            }
            _ => panic!("{name} is no case"),
        };
        let case = path.with_extension("");
        let of_rustc = OF_RUSTC.iter().find(|(known, ..)| case.ends_with(known));
        let (errors, most) = of_rustc.map_or((1, MAX_LINES), |(_, errors, most)| (*errors, *most));
        let count = |kind| error.lines().filter(|line| line.starts_with(kind)).count();
        assert_eq!((count("error"), count("warning")), (errors, 0), "{name}");
        assert!(error.lines().count() <= most, "{name} is too long");
        let insides = [
            "__",
            "$RUST",
            "originates in the attribute macro",
            "originates in the macro",
        ];
        let of_macro_rules = OF_MACRO_RULES.iter().any(|known| case.ends_with(known));
        let is_allowed = |inside: &str| of_macro_rules && inside.ends_with("in the macro");
        for inside in insides.into_iter().filter(|inside| !is_allowed(inside)) {
            assert!(!error.contains(inside), "{name} shows `{inside}`");
        }
    }
}

/// Returns the paths in a folder, which must be one: a case of tools belongs to a theme.
fn paths_in(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries =
        fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.map(|entry| entry.expect("an entry of the folder").path())
}

fn is_blessed() -> bool {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output();
    output.is_ok_and(|output| output.stdout.starts_with(BLESSED.as_bytes()))
}
