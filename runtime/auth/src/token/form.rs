//! Forms of requests to endpoints of an authorization server (`application/x-www-form-urlencoded`).

use form_urlencoded::Serializer;

use crate::Secret;

/// Parameters of a request, each of them once. They may contain secrets, so `Debug` shows the names only.
#[derive(Clone)]
pub(crate) struct Form(Vec<(&'static str, Secret)>);

impl Form {
    /// Returns a form with this `grant_type`.
    pub(crate) fn grant(grant_type: &str) -> Self {
        Self::new().with("grant_type", grant_type)
    }

    /// Returns an empty form.
    pub(crate) fn new() -> Self {
        Self(Vec::new())
    }

    /// Sets a parameter.
    #[must_use]
    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.set(name, value);
        self
    }

    /// Sets a parameter if there is a value.
    #[must_use]
    pub(crate) fn with_some(self, name: &'static str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// Sets a parameter.
    pub(crate) fn set(&mut self, name: &'static str, value: &str) {
        self.0.retain(|(known, _)| *known != name);
        self.0.push((name, value.into()));
    }

    /// Returns the parameters in their order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.0.iter().map(|(name, value)| (*name, value.expose()))
    }

    /// Returns the encoded form.
    pub(crate) fn encode(&self) -> Secret {
        // Room for most forms, so that no reallocation leaves a copy of a secret in memory.
        let mut serializer = Serializer::new(String::with_capacity(32 * 1024));
        serializer.extend_pairs(self.iter());
        serializer.finish().into()
    }
}

impl std::fmt::Debug for Form {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = self.0.iter().map(|(name, _)| name);
        formatter.debug_list().entries(names).finish()
    }
}
