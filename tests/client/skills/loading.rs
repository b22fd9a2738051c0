//! Skills that pass their verification.

use treenail::prelude::*;
use treenail::schema::Revision;
use treenail::skills::{SkillError, SkillResources, Skills};

use super::{FORMS, FORMS_DIGEST, Fake, TEXT, URI};

#[tokio::test]
async fn skills_of_this_library_are_loaded() {
    let main = "---\nname: plan-trip\ndescription: Plans a trip.\n---\nRead `a b.md`.\n";
    let files: [(&str, &[u8]); 3] = [
        ("travel/plan-trip/SKILL.md", main.as_bytes()),
        ("travel/plan-trip/a b.md", b"\xff\x00"),
        ("travel/plan-trip/x/empty", b""),
    ];
    for revision in Revision::ALL {
        let skills = Skills::embedded(files).unwrap();
        let server = treenail::server!().extension(skills).build().unwrap();
        let client = McpClient::builder()
            .server(&server)
            .protocol_version(revision);
        let client = client.build().await.unwrap();
        let skills = client.skills();
        let entry = skills.list().await.unwrap().remove(0);
        assert_eq!(
            (entry.name(), entry.description()),
            ("plan-trip", "Plans a trip.")
        );
        let got = skills
            .get("skill://travel/plan-trip/SKILL.md")
            .await
            .unwrap();
        assert_eq!(got, entry, "SKILL-C-02: {revision}");
        let skill = skills.load(&entry).await.unwrap();
        assert_eq!(skill.instructions(), "Read `a b.md`.\n");
        assert_eq!(skill.entry().uri, entry.uri);
        for path in [
            "a b.md",
            "./a%20b.md",
            "x/../a b.md",
            "skill://travel/plan-trip/a%20b.md",
        ] {
            assert_eq!(skill.read(path).await.unwrap(), b"\xff\x00", "{path}");
        }
        assert_eq!(skill.read("x/empty").await.unwrap(), b"");
    }
}

#[tokio::test]
async fn files_are_read_when_they_are_needed() {
    for revision in Revision::ALL {
        let fake = Fake::new();
        let client = fake.client(revision).await;
        let skills = client.skills();
        let entry = skills.list().await.unwrap().remove(0);
        assert_eq!(skills.get(URI).await.unwrap(), entry);
        assert!(fake.reads().is_empty(), "SKILL-C-03");
        let skill = skills.load(&entry).await.unwrap();
        assert_eq!(fake.reads(), [URI], "SKILL-C-03");
        for _ in 0..2 {
            assert_eq!(skill.read("references/FORMS.md").await.unwrap(), b"forms");
        }
        assert_eq!(
            fake.reads(),
            [URI, FORMS, FORMS],
            "each reading is verified: SKILL-C-04"
        );
    }
}

#[tokio::test]
async fn files_are_found_in_other_encodings() {
    let uris = [
        "skill://a/%75s%20a.md",
        "skill://a/%c3%bc.md",
        "skill://a/%28x%29.md",
        "skill://a/c#.md",
    ];
    let fake = Fake::new().with(|fake| {
        for uri in uris {
            let file = json!({"uri": uri, "digest": FORMS_DIGEST, "size": 5});
            fake.entry["resources"].as_array_mut().unwrap().push(file);
            fake.contents[uri] = json!([{"uri": uri, "text": "forms"}]);
        }
    });
    let client = fake.client(Revision::LATEST).await;
    let entry = client.skills().list().await.unwrap().remove(0);
    let skill = client.skills().load(&entry).await.unwrap();
    for (path, uri) in [
        ("us a.md", uris[0]),
        ("us%20a.md#visa", uris[0]),
        (uris[0], uris[0]),
        ("ü.md", uris[1]),
        ("skill://a/%C3%BC.md", uris[1]),
        ("(x).md", uris[2]),
        ("c#.md", uris[3]),
        ("references/FORMS.md#fees", FORMS),
    ] {
        assert_eq!(skill.read(path).await.unwrap(), b"forms", "{path}");
        assert_eq!(fake.reads().last().unwrap(), uri, "{path}");
    }
}

#[tokio::test]
async fn files_of_dynamic_skills_are_counted() {
    let dynamic = Fake::new().with(|fake| fake.entry["resources"] = json!("dynamic"));
    let client = dynamic.client(Revision::LATEST).await;
    let entry = client.skills().list().await.unwrap().remove(0);
    assert_eq!(entry.resources, SkillResources::Dynamic);
    let skill = client.skills().load(&entry).await.unwrap();
    for _ in 0..2 {
        for number in 1..512 {
            skill.read(format!("{number}")).await.unwrap();
        }
    }
    let error = skill.read("512").await.unwrap_err();
    assert!(
        matches!(error, SkillError::TooLarge { .. }),
        "SKILL-C-08: {error}"
    );
    assert_eq!(
        skill.read("1").await.unwrap(),
        b"more",
        "a file that counts already"
    );

    let large = "x".repeat(6 << 20);
    let large = dynamic.with(|fake| {
        fake.contents = json!({URI: [{"uri": URI, "text": TEXT}]});
        for name in ["a", "b", "c"] {
            let uri = format!("skill://a/{name}");
            fake.contents[&uri] = json!([{"uri": uri, "text": large}]);
        }
    });
    let client = large.client(Revision::LATEST).await;
    let skill = client.skills().load(&entry).await.unwrap();
    skill.read("a").await.unwrap();
    skill.read("b").await.unwrap();
    let error = skill.read("c").await.unwrap_err();
    assert!(
        matches!(error, SkillError::TooLarge { .. }),
        "SKILL-C-08: {error}"
    );
}
