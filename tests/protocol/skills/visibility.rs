//! Rules of the server decide about skills by the resource of `SKILL.md`.

use treenail::Server;
use treenail::context::Principal;
use treenail::prelude::*;
use treenail::schema::Revision;
use treenail::server::Component;

use super::{TRIP, VISA, listed, skills, uris};
use crate::support::peer::{MODERN, Peer};

/// A server whose skill `plan-trip` only `admin` sees.
fn server() -> Server {
    let server = treenail::server!().extension(skills());
    let server = server.visible(|feature, caller| {
        let is_admin = caller
            .principal()
            .is_some_and(|one| one.as_str() == "admin");
        feature.name() != "plan-trip" || is_admin
    });
    server.build().unwrap()
}

async fn peer(server: &Server, principal: &str, revision: Revision) -> Peer {
    let mut connection = server.connect();
    connection
        .extensions_mut()
        .insert(Principal::new(principal));
    let mut peer = Peer::over(connection, revision);
    if !revision.is_modern() {
        peer.shake_hands().await;
    }
    peer
}

#[tokio::test]
async fn hidden_skills_do_not_exist() {
    for revision in Revision::ALL {
        let server = server();
        let map = "skill://plan-trip/map.png";
        let mut admin = peer(&server, "admin", revision).await;
        assert_eq!(listed(&mut admin).await.len(), 3);
        admin.read(map).await;

        let mut user = peer(&server, "user", revision).await;
        assert_eq!(
            listed(&mut user).await,
            [VISA, "skill://workplace/a/SKILL.md"],
            "{revision}"
        );
        let code = if revision.is_modern() { -32602 } else { -32002 };
        let message = |uri: &str, refused: (i64, String)| refused.1.replace(uri, "URI");
        let (hidden, none) = (map, "skill://plan-trip/mop.png");
        let [one, other] = [hidden, none].map(|uri| json!({"uri": uri}));
        let one = user.refused("resources/read", one).await;
        let other = user.refused("resources/read", other).await;
        assert_eq!(message(hidden, one), message(none, other));
        for uri in [TRIP, map] {
            assert_eq!(
                user.refused("resources/read", json!({"uri": uri})).await.0,
                code,
                "{uri}"
            );
        }
        assert_eq!(
            user.refused("skills/get", json!({"uri": TRIP})).await.0,
            -32602
        );
        // The visible skill within it has its files, and the folders that lead to it.
        user.read("skill://plan-trip/references/visa/us%20a.md")
            .await;
        let folder = json!({"uri": "skill://plan-trip"});
        let children = uris(&mut user, "resources/directory/read", "resources", folder).await;
        assert_eq!(children, ["skill://plan-trip/references"]);
    }
}

#[tokio::test]
async fn disabled_skills_do_not_exist() {
    let server = treenail::server!()
        .dynamic()
        .extension(skills())
        .build()
        .unwrap();
    let mut peer = Peer::connect(&server, MODERN).await;
    server
        .edit(|edit| edit.disable(Component::resource(TRIP)))
        .unwrap();
    assert_eq!(
        listed(&mut peer).await,
        [VISA, "skill://workplace/a/SKILL.md"]
    );
    assert_eq!(
        peer.refused("skills/get", json!({"uri": TRIP})).await.0,
        -32602
    );
    let map = json!({"uri": "skill://plan-trip/map.png"});
    assert_eq!(peer.refused("resources/read", map).await.0, -32602);
    server
        .edit(|edit| edit.enable(Component::resource(TRIP)))
        .unwrap();
    assert_eq!(listed(&mut peer).await.len(), 3);
}
