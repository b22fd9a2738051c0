//! The committed files of the schema crate are up to date with the committed schemas.

use std::fs;
use std::path::Path;

#[test]
fn committed_output_is_up_to_date() {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../schema");
    let files = treenail_codegen::generate(&treenail_codegen::read(&schema.join("json")).unwrap());
    for file in files.unwrap() {
        let committed = fs::read_to_string(schema.join("src/generated").join(file.name)).unwrap();
        assert!(
            committed == file.text,
            "{} is out of date; run `cargo codegen`",
            file.name
        );
    }
}

#[test]
fn committed_schemas_are_distilled() {
    let json = Path::new(env!("CARGO_MANIFEST_DIR")).join("../schema/json");
    for (revision, text) in treenail_codegen::REVISIONS
        .iter()
        .zip(treenail_codegen::read(&json).unwrap())
    {
        let again = treenail_codegen::distil(&text).unwrap();
        assert!(
            again == text,
            "{revision} is not distilled; run `cargo codegen distil <schema>`"
        );
    }
}
