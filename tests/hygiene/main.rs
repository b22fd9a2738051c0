//! Generated code of the macros compiles in unusual environments.

#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, unused_qualifications)]
#![deny(missing_debug_implementations, unreachable_pub)]
#![deny(unused_lifetimes, single_use_lifetimes, unnameable_types)]
#![deny(clippy::all, clippy::pedantic, clippy::nursery)]
#![allow(
    clippy::missing_const_for_fn,
    clippy::missing_errors_doc,
    clippy::must_use_candidate,
    clippy::unnecessary_literal_bound,
    clippy::unused_self,
    reason = "these lints concern the code of the test, not the generated code"
)]

pub mod bare;
pub mod calls;
pub mod documented;
pub mod from_macro_rules;
pub mod generic;
pub mod keywords;
pub mod lints;
pub mod many_tools;
pub mod renamed;
pub mod restriction;
pub mod shadowed;

use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::{env, fs};

/// A unit of length.
#[treenail::mcp_type]
#[derive(Clone, Copy, Debug, Default)]
pub enum Unit {
    /// SI unit.
    #[default]
    Metre,
    /// Imperial unit.
    Foot,
}

#[test]
fn generated_code_compiles_and_runs() {
    let server = treenail::server!()
        .mount(bare::State)
        .mount(bare::Whole)
        .namespace("more", |more| more.mount(renamed::Text::default()))
        .mount(renamed::State)
        .mount(shadowed::State)
        .mount(from_macro_rules::Made)
        .mount(from_macro_rules::Prompts)
        .mount(from_macro_rules::MockParts::new())
        .mount(lints::State)
        .mount(lints::Block)
        .mount(keywords::r#mod::r#struct)
        .mount(generic::Borrowing { value: "a" })
        .mount(generic::Unnamed("a"))
        .mount(generic::Stored(Mutex::new([1, 2])))
        .mount(many_tools::ManyTools)
        .tools(from_macro_rules::all())
        .tools(keywords::all())
        .tools(lints::all())
        .tools(shadowed::all())
        .tools(documented::all())
        .tools(bare::all())
        .tools(renamed::all())
        .tools(restriction::all())
        .tools(calls::all())
        .build();
    assert!(server.is_ok(), "{:?}", server.err());
    assert_eq!(
        <bare::Stay as treenail::form::Form>::schema()
            .properties
            .len(),
        5
    );
    let choice = [("choice".to_owned(), "Only".into())];
    let form = <renamed::Form as treenail::form::Form>::read(choice.into());
    assert!(form.is_ok(), "{:?}", form.err());
}

#[test]
fn one_dependency_suffices() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let user = root.join("tests/one-dependency");
    // The same versions as in the workspace, so that nothing is downloaded.
    fs::copy(root.join("Cargo.lock"), user.join("Cargo.lock")).unwrap();
    let status = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--offline", "--target-dir"])
        .arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join("one-dependency"))
        .current_dir(user)
        .status()
        .unwrap();
    assert!(status.success(), "tests/one-dependency does not build");
}
