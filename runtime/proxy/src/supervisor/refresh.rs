//! Lists of a server, fetched and served as features of the proxy.

use std::borrow::Cow;
use std::sync::Arc;

use tokio::time::Instant;
use treenail_runtime::Server;
use treenail_runtime::client::ClientError;
use treenail_runtime::dynamic::Feature;
use treenail_schema::internal::{nearest, quoted, shortened};

use super::Supervisor;
use crate::features::FeatureMaker;
use crate::link::Link;
use crate::lists::{ListKind, Lists};
use crate::matcher::Comparisons;
use crate::omissions::Omissions;
use crate::upstream::KnownResources;

impl Supervisor {
    /// Fetches the lists of the server until `deadline`, and serves them by one edit if they have changed.
    pub(super) async fn refresh(
        &mut self,
        link: &Link,
        deadline: Instant,
    ) -> Result<(), ClientError> {
        let upstream = Arc::clone(&self.upstream);
        let (mut lists, is_complete) =
            Lists::fetch(&link.client, &upstream, &self.fetched, deadline).await?;
        self.fetched = lists.clone();
        self.note_fetch(is_complete);
        if is_complete {
            self.check_renames();
        }
        let mut known = KnownResources {
            uris: lists
                .resources
                .iter()
                .map(|resource| resource.uri.clone())
                .collect(),
            templates: lists.matchers(|_| true),
            served: Vec::new(),
        };
        let omissions = Omissions::new(&upstream.name, &upstream.omission_warnings);
        link.tap.malformed.report(&omissions);
        lists.select(&self.remote, upstream.limits.features, &omissions);
        let mut comparisons = Comparisons::default();
        // A URI that is not compared may be that of a listed resource, which has scopes of its own.
        lists.find_interfaces(|uri| known.is_listed(uri, &mut comparisons).unwrap_or(true));
        let uris = &upstream.uris;
        uris.claim(lists.uris());
        let listed = lists.uris().map(|uri| uris.listed(uri));
        lists.listed = listed.map(|uri| uri.map(Cow::into_owned)).collect();
        known.served =
            lists.matchers(|template| uris.listed(template).as_deref() == Some(template));
        upstream.set_known(known);
        if lists == self.served {
            return Ok(());
        }
        let Some(server) = self.server.upgrade() else {
            return Ok(());
        };
        if let Err(error) = self.edit(&server, &lists, &omissions) {
            let (server, error) = (&upstream.name, shortened(&error.to_string()));
            tracing::error!(%server, %error, "the features of a server could not be served");
        }
        self.served = lists;
        Ok(())
    }

    /// Warns about new names whose features the first complete lists do not contain.
    fn check_renames(&mut self) {
        if std::mem::replace(&mut self.has_checked_renames, true) {
            return;
        }
        let server = &self.upstream.name;
        for name in self.remote.renamed.keys() {
            if self.fetched.names().any(|known| known == name) {
                continue;
            }
            let hint = match nearest(name, self.fetched.names()) {
                Some(near) => format!("; did you mean {}?", quoted(near)),
                None => String::new(),
            };
            tracing::warn!(%server, "nothing to rename: the server has no `{name}`{hint}");
        }
    }

    fn edit(
        &self,
        server: &Server,
        lists: &Lists,
        omissions: &Omissions<'_>,
    ) -> treenail_runtime::Result<()> {
        let mut maker = FeatureMaker {
            upstream: &self.upstream,
            names: &self.names,
            lists,
            task: self.remote.task.as_ref(),
            scope: self.remote.scope.as_deref(),
            omissions: Some(omissions),
        };
        let changed = ListKind::ALL.into_iter();
        let changed: Vec<_> = changed
            .filter(|kind| !kind.is_same(lists, &self.served))
            .collect();
        let make = |maker: &FeatureMaker<'_>| -> Vec<_> {
            changed.iter().map(|kind| maker.make(*kind)).collect()
        };
        // The scopes of features are a function of the user, so they are made without the lock.
        let provide = |made: Vec<Vec<Feature>>| {
            let removed = self.sources.lock_removed();
            if *removed {
                return Ok(());
            }
            server.edit(|edit| {
                changed.iter().zip(made).fold(edit, |edit, (kind, made)| {
                    let source = self.sources.get(*kind).clone();
                    let instructions = lists.instructions.as_deref();
                    let instructions = instructions
                        .filter(|text| *kind == ListKind::Tools && !text.trim().is_empty());
                    let instructions =
                        instructions.map(|text| self.names.instructions(&self.remote.name, text));
                    let source = source.instructions(instructions.unwrap_or_default());
                    edit.provide(&source, made)
                })
            })
        };
        if provide(make(&maker)).is_ok() {
            return Ok(());
        }
        // One feature that the server does not accept must not hide the others.
        maker.omissions = None;
        let checked = make(&maker).into_iter().zip(make(&maker));
        let accepted = checked.map(|(checked, made)| {
            let pairs = checked.into_iter().zip(made);
            let accepted = pairs.filter_map(|(one, same)| accepts(one, omissions).then_some(same));
            accepted.collect()
        });
        provide(accepted.collect())
    }
}

/// Returns true if a server can have this feature.
fn accepts(feature: Feature, omissions: &Omissions<'_>) -> bool {
    let name = feature.name().to_owned();
    let checked = Server::builder("check", "0").add(feature).build();
    if let Err(error) = &checked {
        omissions.one("feature", &name, &shortened(&error.to_string()));
    }
    checked.is_ok()
}
