//! Lists per caller: a feature that a rule hides does not exist for the caller.

mod edits;
mod hidden;
mod rules;
mod subscriptions;

use treenail::context::Principal;
use treenail::schema::Revision;
use treenail::server::{Caller, FeatureRef};
use treenail::transport::Connection;
use treenail::{Limits, Server, ServerBuilder};

use super::office::{HAS_INSTRUCTIONS, add_desk, add_late, add_safe};
use crate::support::peer::Peer;

fn builder() -> ServerBuilder {
    Server::builder("office", "1.0.0").limits(Limits::default().page_size(1))
}

fn is_secret(feature: &FeatureRef<'_>) -> bool {
    feature.is_in("desk_close") || feature.name() == "late"
}

fn is_admin(caller: &Caller<'_>) -> bool {
    caller
        .principal()
        .is_some_and(|one| one.as_str() == "admin")
}

fn visible(feature: &FeatureRef<'_>, caller: &Caller<'_>) -> bool {
    !is_secret(feature) || is_admin(caller)
}

/// A server whose safe only `admin` sees.
fn office() -> ServerBuilder {
    add_desk(add_safe(builder())).visible(visible)
}

fn connection(server: &Server, principal: &str) -> Connection {
    let mut connection = server.connect();
    if !principal.is_empty() {
        connection
            .extensions_mut()
            .insert(Principal::new(principal));
    }
    connection
}

async fn peer(server: &Server, principal: &str, revision: Revision) -> Peer {
    let mut peer = Peer::over(connection(server, principal), revision);
    if !revision.is_modern() {
        peer.shake_hands().await;
    }
    peer
}
