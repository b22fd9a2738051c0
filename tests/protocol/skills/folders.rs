//! Skills that are read from a folder.

use std::fs;
use std::path::Path;

use tempfile::TempDir;
use treenail::prelude::*;
use treenail::schema::Revision;
use treenail::skills::Skills;

use super::{listed, result, server_of, uris};
use crate::support::peer::Peer;

/// Writes a file, and the folders around it.
pub(super) fn write(folder: &Path, path: &str, content: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

pub(super) fn skill(folder: &Path, path: &str) {
    let name = path.rsplit('/').next().unwrap();
    let content = format!("---\nname: {name}\ndescription: Skill.\n---\n");
    write(folder, &format!("{path}/SKILL.md"), &content);
}

fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    skill(folder.path(), "a");
    skill(folder.path(), "group/b");
    skill(folder.path(), "group/b/inner/c");
    write(folder.path(), "README.md", "not a part of a skill");
    write(folder.path(), "group/notes.txt", "not a part of a skill");
    write(folder.path(), "a/.git/config", "hidden");
    write(folder.path(), "a/.env", "hidden");
    write(folder.path(), "a/files/x.txt", "x");
    write(folder.path(), ".hidden/d/SKILL.md", "hidden");
    fs::create_dir(folder.path().join("a/empty")).unwrap();
    folder
}

#[tokio::test]
async fn all_skills_below_the_folder_are_served() {
    let folder = folder();
    let skills = Skills::folder(folder.path()).unwrap();
    let server = server_of(skills);
    let mut peer = Peer::connect(&server, Revision::LATEST).await;
    let expected = [
        "skill://a/SKILL.md",
        "skill://group/b/SKILL.md",
        "skill://group/b/inner/c/SKILL.md",
    ];
    assert_eq!(listed(&mut peer).await, expected, "SKILL-S-10");
    let list = result(&mut peer, "skills/list", json!({})).await;
    let counts = [2, 2, 1];
    for (skill, count) in list["skills"].as_array().unwrap().iter().zip(counts) {
        assert_eq!(
            skill["resources"].as_array().unwrap().len(),
            count,
            "SKILL-S-13: {skill}"
        );
    }
    for (folder, expected) in [
        (
            "skill://a",
            &["skill://a/SKILL.md", "skill://a/empty", "skill://a/files"][..],
        ),
        ("skill://a/empty", &[]),
        ("skill://group", &["skill://group/b"]),
    ] {
        let params = json!({"uri": folder});
        let children = uris(&mut peer, "resources/directory/read", "resources", params).await;
        assert_eq!(children, expected, "SKILL-S-18");
    }
    for uri in [
        "skill://a/.env",
        "skill://README.md",
        "skill://group/notes.txt",
        "skill://a/../README.md",
    ] {
        assert_eq!(
            peer.refused("resources/read", json!({"uri": uri})).await.0,
            -32602,
            "{uri}"
        );
    }
}

#[test]
fn folders_that_break_a_rule_are_refused() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let refused = || {
        let error = Skills::folder(path).unwrap_err().to_string();
        error.replace(path.to_str().unwrap(), "FOLDER")
    };
    Skills::folder(path).unwrap(); // An empty folder may be filled later.
    let missing = Skills::folder(path.join("none")).unwrap_err().to_string();
    assert!(missing.contains("none` could not be opened: "), "{missing}");

    write(path, "SKILL.md", "");
    assert!(
        refused().starts_with("`FOLDER/SKILL.md`: a skill is a folder of its own"),
        "{}",
        refused()
    );
    fs::remove_file(path.join("SKILL.md")).unwrap();

    skill(path, "a");
    write(path, "b/SKILL.md", "---\nname: B\n---\n");
    assert!(
        refused().starts_with("`FOLDER/b/SKILL.md`: the name `B` is not valid"),
        "{}",
        refused()
    );
    fs::remove_dir_all(path.join("b")).unwrap();

    let deep = vec!["x"; 18].join("/");
    fs::create_dir_all(path.join(&deep)).unwrap();
    assert!(
        refused().ends_with("the folder is more than 16 levels deep"),
        "{}",
        refused()
    );
    fs::remove_dir_all(path.join("x")).unwrap();
    Skills::folder(path).unwrap();

    let large = fs::File::create(path.join("a/large")).unwrap();
    large.set_len(16 * 1024 * 1024 + 1).unwrap();
    let expected =
        "`FOLDER/a/large`: the file has more than 16777216 bytes, the maximum of a skill";
    assert_eq!(refused(), expected, "SKILL-S-14");
}

#[cfg(unix)]
#[test]
fn symbolic_links_stay_in_the_folder() {
    use std::os::unix::fs::symlink;

    let outside = TempDir::new().unwrap();
    write(outside.path(), "secret", "secret");
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    skill(path, "a");
    skill(path, "b");
    symlink(path.join("b/SKILL.md"), path.join("a/link.md")).unwrap();
    symlink("../b", path.join("a/linked")).unwrap();
    let error = Skills::folder(path).unwrap_err().to_string();
    assert!(
        error.contains("a/linked/SKILL.md`: the name `b` is not that of the folder"),
        "{error}"
    );
    fs::remove_file(path.join("a/linked")).unwrap();
    let skills = Skills::folder(path).unwrap();
    assert_eq!(
        format!("{skills:?}"),
        "[\"skill://a/SKILL.md\", \"skill://b/SKILL.md\"]"
    );

    write(path, ".env", "hidden");
    write(path, ".git/config", "hidden");
    write(path, "b/.cache/x", "hidden");
    for (target, expected) in [
        (path.join(".env"), "leads to a hidden file or folder"),
        (path.join(".git"), "leads to a hidden file or folder"),
        (path.join(".git/config"), "leads to a hidden file or folder"),
        (path.join("b/.cache/x"), "leads to a hidden file or folder"),
        (
            outside.path().join("secret"),
            "leads out of the folder of the skills",
        ),
        (
            outside.path().to_owned(),
            "leads out of the folder of the skills",
        ),
        (path.join("a"), "leads to a folder around it"),
        (path.to_owned(), "leads to a folder around it"),
        (path.join("none"), "could not be read"),
    ] {
        let link = path.join("a/link");
        symlink(&target, &link).unwrap();
        let error = Skills::folder(path).unwrap_err().to_string();
        assert!(
            error.contains("a/link`") && error.contains(expected),
            "{target:?}: {error}"
        );
        fs::remove_file(link).unwrap();
    }
}
