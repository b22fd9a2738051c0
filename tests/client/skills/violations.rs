//! Skills that fail a check, and the error for each.

use treenail::prelude::*;
use treenail::schema::Revision;

use super::{DIGEST, FORMS, Fake, TEXT, URI};

/// Loads the skill of a server, and returns the error.
async fn refused(fake: &Fake) -> String {
    let client = fake.client(Revision::LATEST).await;
    let entry = client.skills().list().await.unwrap().remove(0);
    let error = client.skills().load(&entry).await.unwrap_err();
    error.to_string()
}

#[tokio::test]
async fn entries_are_checked_before_anything_is_read() {
    let main = json!({"uri": URI, "digest": DIGEST, "size": TEXT.len()});
    let with = |uri: &str| json!([main, {"uri": uri, "digest": DIGEST, "size": 1}]);
    let many = (0..512)
        .map(|file| json!({"uri": format!("skill://a/{file}"), "digest": DIGEST, "size": 0}));
    let many: Vec<_> = many.chain([main.clone()]).collect();
    let form = "`resources` is neither a list of files nor `dynamic`";
    for (resources, expected) in [
        (json!(null), form),
        (json!("static"), form),
        (json!({}), form),
        (json!([{"uri": URI}]), form),
        (json!([{"uri": URI, "digest": DIGEST, "size": -1}]), form),
        (json!([]), "`SKILL.md` is not among the files"),
        (with(URI), "a file is listed twice"),
        (with("skill://ab/x"), "a file is not in the folder"),
        (with("https://example.com/"), "a file is not in the folder"),
        (with("skill://a/../b/x"), "a file is not in the folder"),
        (json!(many), "has more than 512 files or 16 MiB"),
        (
            json!([main, {"uri": "skill://a/x", "digest": DIGEST, "size": 16 << 20}]),
            "or 16 MiB",
        ),
        (
            json!([main, {"uri": "skill://a/x", "digest": DIGEST, "size": u64::MAX}]),
            "or 16 MiB",
        ),
    ] {
        let fake = Fake::new().with(|fake| fake.entry["resources"] = resources.clone());
        let error = refused(&fake).await;
        assert!(
            error.contains(expected),
            "SKILL-C-07, SKILL-C-08: {resources}: {error}"
        );
        assert!(fake.reads().is_empty(), "{resources}");
    }
    let fake = Fake::new().with(|fake| fake.entry["uri"] = json!("skill://a/README.md"));
    assert!(refused(&fake).await.contains("does not end in `/SKILL.md`"));
}

#[tokio::test]
async fn instructions_are_verified() {
    let read = |text: &str| json!([{"uri": URI, "text": text}]);
    let longer = TEXT.len() + 1;
    let size = format!("has {longer} bytes, and its entry has {}", TEXT.len());
    let contents = "are not one text or blob";
    for (read, expected) in [
        (
            read(&TEXT.replace("Read", "Rede")),
            "the digest of the file \"skill://a/SKILL.md\" is not that of its entry",
        ),
        (read(&format!("{TEXT}.")), &*size),
        (json!([{"uri": URI, "blob": "?"}]), contents),
        (json!([{"uri": FORMS, "text": TEXT}]), contents),
        (
            json!([{"uri": URI, "text": TEXT}, {"uri": URI, "text": TEXT}]),
            contents,
        ),
        (json!([]), contents),
    ] {
        let fake = Fake::new().with(|fake| fake.contents[URI] = read.clone());
        let error = refused(&fake).await;
        assert!(error.contains(expected), "SKILL-C-04: {read}: {error}");
    }
}

#[tokio::test]
async fn front_matter_is_that_of_the_entry() {
    for (key, value) in [
        ("description", json!("B.")),
        ("version", json!("1.0")),
        ("more", json!(null)),
    ] {
        let fake = Fake::new().with(|fake| fake.entry["frontmatter"][key] = value);
        let expected = format!("the front matter of {URI:?}: {key:?} is not that of the entry");
        assert_eq!(refused(&fake).await, expected, "SKILL-C-06");
    }
    for (text, expected) in [
        ("# A\n", "it does not start with front matter"),
        (
            "---\nname: a\n---\n",
            "\"description\" is not that of the entry",
        ),
        ("---\na: &x [b]\nc: *x\n---\n", "line 3: aliases"),
        (
            "---\nname: a\nname: a\n---\n",
            "line 3: the key `name` is repeated",
        ),
    ] {
        let fake = Fake::new().with(|fake| {
            fake.entry["resources"] = json!("dynamic");
            fake.contents[URI] = json!([{"uri": URI, "text": text}]);
        });
        let error = refused(&fake).await;
        assert!(error.contains(expected), "SKILL-C-06: dynamic: {error}");
    }
}

#[tokio::test]
async fn other_files_are_verified_and_unlisted_ones_are_not_read() {
    let fake =
        Fake::new().with(|fake| fake.contents[FORMS] = json!([{"uri": FORMS, "text": "FORMS"}]));
    let client = fake.client(Revision::LATEST).await;
    let entry = client.skills().list().await.unwrap().remove(0);
    let skill = client.skills().load(&entry).await.unwrap();
    let error = skill.read("references/FORMS.md").await.unwrap_err();
    assert!(
        error.to_string().starts_with("the digest of the file"),
        "SKILL-C-04: {error}"
    );
    assert_eq!(fake.reads(), [URI, FORMS]);
    for path in [
        "x.md",
        "../a/SKILL.md",
        "skill://b/SKILL.md",
        "references",
        "/SKILL.md",
        "",
    ] {
        let error = skill.read(path).await.unwrap_err().to_string();
        assert!(
            error.ends_with("is not a file of the skill"),
            "SKILL-C-05: {path}: {error}"
        );
    }
    assert_eq!(fake.reads().len(), 2, "SKILL-C-05: nothing is sent");
}
