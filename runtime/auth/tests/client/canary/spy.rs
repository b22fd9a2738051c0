//! Secrets of stores and requests.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use treenail::auth::testing::TestAuthorizationServer;
use treenail::auth::{
    Generation, MemoryStore, StoreFuture, StoreKey, StoreLock, StoredEntry, TokenStore,
};

use super::CANARY;
use super::recorder::{log, record};

/// Store in memory that remembers each secret of its entries.
#[derive(Clone, Debug, Default)]
pub(super) struct Spy {
    store: Arc<MemoryStore>,
    pub(super) secrets: Secrets,
}

/// Secrets that were seen. `Debug` is that of a type with secrets in a program.
#[derive(Clone, Default)]
pub(super) struct Secrets(Arc<Mutex<BTreeSet<String>>>);

impl std::fmt::Debug for Secrets {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Secrets")
    }
}

impl Secrets {
    pub(super) fn add(&self, secret: &str) {
        // Shorter texts, such as ids, may be in a log by chance.
        if secret.len() >= 12 {
            let mut secrets = self.0.lock().expect("no panic");
            secrets.insert(secret.to_owned());
        }
    }

    /// Adds the secrets of the requests that an authorization server has received.
    pub(super) fn add_requests(&self, server: &TestAuthorizationServer) {
        const NAMES: [&str; 8] = [
            "assertion",
            "client_assertion",
            "client_secret",
            "code",
            "code_verifier",
            "refresh_token",
            "subject_token",
            "token",
        ];
        for request in server.requests() {
            for name in NAMES {
                self.add(request.parameter(name).unwrap_or_default());
            }
            for header in ["authorization", "dpop"] {
                let value = request
                    .headers
                    .get(header)
                    .and_then(|value| value.to_str().ok());
                let value = value.unwrap_or_default();
                self.add(value.split(' ').next_back().unwrap_or_default());
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.0.lock().expect("no panic").len()
    }

    /// Checks that no secret was written.
    pub(super) fn check(&self) {
        let log = log();
        let secrets = self.0.lock().expect("no panic").clone();
        for secret in secrets.iter().map(String::as_str).chain([CANARY]) {
            let line = log.lines().find(|line| line.contains(secret));
            assert!(line.is_none(), "{secret}: {line:?}");
        }
    }
}

impl TokenStore for Spy {
    fn load<'a>(&'a self, key: &'a StoreKey) -> StoreFuture<'a, Option<StoredEntry>> {
        self.store.load(key)
    }

    fn store<'a>(&'a self, key: &'a StoreKey, entry: StoredEntry) -> StoreFuture<'a, ()> {
        record(&format!("{key:?} {key} {entry:?}"));
        let members: Value = serde_json::from_str(entry.text.expose()).expect("JSON");
        for name in ["access_token", "refresh_token", "client_secret", "pkcs8"] {
            self.secrets.add(members[name].as_str().unwrap_or_default());
        }
        self.store.store(key, entry)
    }

    fn delete<'a>(&'a self, key: &'a StoreKey, generation: Generation) -> StoreFuture<'a, bool> {
        self.store.delete(key, generation)
    }

    fn lock<'a>(&'a self, key: &'a StoreKey) -> StoreFuture<'a, StoreLock> {
        self.store.lock(key)
    }
}
