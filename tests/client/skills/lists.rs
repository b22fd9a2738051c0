//! Lists of skills, and entries by URI.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use treenail::client::{ClientError, ClientLimits, ListLimits};
use treenail::extension::{Extension, ExtensionMethod};
use treenail::prelude::*;
use treenail::schema::Revision;
use treenail::skills::SkillResources;

use super::{FORMS, Fake, ID, URI};

/// Client of a server whose list has pages that `page` makes, given their numbers.
async fn client(page: impl Fn(usize) -> Value + Send + Sync + 'static) -> McpClient {
    let pages = Arc::new(AtomicUsize::new(0));
    let list = ExtensionMethod::new("skills/list", move |_: Context, _: Value| {
        let result = page(pages.fetch_add(1, Ordering::SeqCst));
        async move { Ok::<_, RpcError>(result) }
    });
    let extension = Extension::new(ID).add_method(list.ungated());
    let server = treenail::server!().extension(extension).build().unwrap();
    let limits =
        ClientLimits::default().lists(ListLimits::default().pages(5).items(8).bytes(2_000));
    let client = McpClient::builder().server(&server).limits(limits);
    client.build().await.unwrap()
}

fn entry(number: usize) -> Value {
    json!({"uri": format!("skill://s{number}/SKILL.md"), "frontmatter": {}, "resources": "dynamic"})
}

#[tokio::test]
async fn all_pages_are_read() {
    let last = client(|page| match page {
        0..4 => json!({"skills": [entry(page)], "nextCursor": format!("{page}")}),
        _ => json!({"skills": []}),
    });
    let skills = last.await.skills().list().await.unwrap();
    let uris: Vec<_> = skills.iter().map(|skill| &*skill.uri).collect();
    assert_eq!(uris.len(), 4);
    assert_eq!(uris[3], "skill://s3/SKILL.md");
}

#[tokio::test]
async fn lists_are_bounded() {
    let endless = client(|page| json!({"skills": [], "nextCursor": format!("{page}")}));
    let circle = client(|_| json!({"skills": [], "nextCursor": "x"}));
    let many = client(|_| json!({"skills": vec![entry(1); 9]}));
    let large = client(|_| json!({"skills": [], "x": "x".repeat(2_000)}));
    for (client, expected) in [
        (endless.await, "do not end"),
        (circle.await, "do not end"),
        (many.await, "exceeds `ClientLimits::lists`"),
        (large.await, "exceeds `ClientLimits::lists`"),
    ] {
        let error = client.skills().list().await.unwrap_err();
        assert!(matches!(error, ClientError::Protocol(_)), "{error}");
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[tokio::test]
async fn a_broken_entry_does_not_hide_the_others() {
    let client = client(|_| {
        let mut broken = entry(1);
        broken["resources"] = json!([{"uri": 1}]);
        let mut missing = entry(3);
        missing.as_object_mut().unwrap().remove("resources");
        let mut text = entry(4);
        text["frontmatter"] = json!("name: a");
        json!({"skills": [broken, entry(2), missing, text, {}, null, entry(5)]})
    });
    let skills = client.await.skills().list().await.unwrap();
    assert_eq!(skills[0].resources, SkillResources::Invalid, "SKILL-C-07");
    assert_eq!(skills[1].resources, SkillResources::Dynamic);
    assert_eq!(skills[2].resources, SkillResources::Invalid);
    assert_eq!(skills[3].uri, "skill://s5/SKILL.md");
    assert_eq!(skills.len(), 4, "what is no entry is skipped");
    assert_eq!((skills[1].name(), skills[1].description()), ("", ""));
}

#[tokio::test]
async fn nothing_is_sent_to_servers_without_skills() {
    for revision in Revision::ALL {
        let server = treenail::server!().build().unwrap();
        let client = McpClient::builder()
            .server(&server)
            .protocol_version(revision);
        let client = client.build().await.unwrap();
        for error in [
            client.skills().list().await.unwrap_err(),
            client.skills().get(URI).await.unwrap_err(),
        ] {
            assert!(
                matches!(error, ClientError::Unsupported(_)),
                "SKILL-C-01: {error}"
            );
        }
    }
}

#[tokio::test]
async fn entries_are_those_of_their_uri() {
    let client = Fake::new().client(Revision::LATEST).await;
    client.skills().get(URI).await.unwrap();
    let error = client.skills().get(FORMS).await.unwrap_err();
    assert!(
        error.to_string().contains("has returned another skill"),
        "{error}"
    );
}
