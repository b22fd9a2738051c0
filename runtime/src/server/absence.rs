//! Reasons why features are missing.

use std::fmt;
use std::sync::Arc;

/// Reason why a source does not have its features at present.
#[derive(Clone)]
pub(crate) struct Absence {
    namespace: Arc<str>,
    explain: Arc<dyn Fn() -> Option<String> + Send + Sync>,
}

impl fmt::Debug for Absence {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_tuple("Absence")
            .field(&self.namespace)
            .finish()
    }
}

impl Absence {
    #[cfg(feature = "dynamic")]
    pub(crate) fn new(
        namespace: &Arc<str>,
        explain: impl Fn() -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        let (namespace, explain) = (Arc::clone(namespace), Arc::new(explain));
        Self { namespace, explain }
    }

    /// Returns the reason why there is no feature with this name, if the source may have it.
    pub(crate) fn reason_for(&self, name: &str, separator: &str) -> Option<String> {
        if !self.namespace.is_empty() {
            let namespace = self.namespace.replace('.', separator);
            name.strip_prefix(&*namespace)?.strip_prefix(separator)?;
        }
        (self.explain)()
    }
}
