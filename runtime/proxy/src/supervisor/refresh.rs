//! Lists of a server, fetched and served as features of the proxy.

use std::borrow::Cow;

use tokio::time::Instant;
use treenail_runtime::Server;
use treenail_runtime::client::{ClientError, McpClient};
use treenail_runtime::dynamic::Feature;

use super::Supervisor;
use crate::features::FeatureMaker;
use crate::lists::{ListKind, Lists};
use crate::upstream::KnownResources;

impl Supervisor {
    /// Fetches the lists of the server until `deadline`, and serves them by one edit if they have changed.
    pub(super) async fn refresh(
        &mut self,
        client: &McpClient,
        deadline: Instant,
    ) -> Result<(), ClientError> {
        let name = &self.upstream.name;
        let fetched = Lists::fetch(client, name, &self.fetched, deadline).await?;
        let (mut lists, is_complete) = fetched;
        self.fetched = lists.clone();
        self.note_fetch(is_complete);
        let mut known = KnownResources {
            uris: lists
                .resources
                .iter()
                .map(|resource| resource.uri.clone())
                .collect(),
            templates: lists.matchers(|_| true),
            served: Vec::new(),
        };
        lists.select(&self.remote, self.upstream.limits.features);
        let uris = &self.upstream.uris;
        uris.claim(lists.uris());
        let listed = lists.uris().map(|uri| uris.listed(uri));
        lists.listed = listed.map(|uri| uri.map(Cow::into_owned)).collect();
        known.served =
            lists.matchers(|template| uris.listed(template).as_deref() == Some(template));
        self.upstream.set_known(known);
        if lists == self.served {
            return Ok(());
        }
        let Some(server) = self.server.upgrade() else {
            return Ok(());
        };
        if let Err(error) = self.edit(&server, &lists) {
            let name = &self.upstream.name;
            tracing::error!(server = %name, %error, "the features of a server could not be served");
        }
        self.served = lists;
        Ok(())
    }

    fn edit(&self, server: &Server, lists: &Lists) -> treenail_runtime::Result<()> {
        let maker = FeatureMaker {
            upstream: &self.upstream,
            names: &self.names,
            lists,
            task: self.remote.task.as_ref(),
        };
        let changed = ListKind::ALL.into_iter();
        let changed: Vec<_> = changed
            .filter(|kind| !kind.is_same(lists, &self.served))
            .collect();
        let provide = |make: &dyn Fn(ListKind) -> Vec<Feature>| {
            let removed = self.sources.lock_removed();
            if *removed {
                return Ok(());
            }
            server.edit(|edit| {
                changed.iter().fold(edit, |edit, kind| {
                    let source = self.sources.get(*kind).clone();
                    let instructions = lists.instructions.as_deref();
                    let instructions = instructions.filter(|_| *kind == ListKind::Tools);
                    let source = source.instructions(instructions.unwrap_or_default());
                    edit.provide(&source, make(*kind))
                })
            })
        };
        if provide(&|kind| maker.make(kind)).is_ok() {
            return Ok(());
        }
        // One feature that the server does not accept must not hide the others.
        provide(&|kind| {
            let accepted = maker
                .make(kind)
                .into_iter()
                .map(|feature| self.accepts(feature));
            let features = maker.make(kind).into_iter().zip(accepted);
            features
                .filter(|(_, accepted)| *accepted)
                .map(|(feature, _)| feature)
                .collect()
        })
    }

    /// Returns true if a server can have this feature.
    fn accepts(&self, feature: Feature) -> bool {
        let name = feature.name().to_owned();
        let checked = Server::builder("check", "0").add(feature).build();
        if let Err(error) = &checked {
            let server = &self.upstream.name;
            tracing::warn!(%server, name, %error, "omitted a feature of a server");
        }
        checked.is_ok()
    }
}
