//! Values that a call gets from outside of the protocol: the principal, HTTP headers, results of layers.

use std::any::{Any, TypeId, type_name};
use std::fmt;
use std::sync::Arc;

/// Map of values by type, which a transport or a layer attaches to calls.
///
/// A transport sets the values of a connection ([`Connection::extensions_mut`](crate::Connection::extensions_mut)), a layer
/// those of one request (`Request::extensions_mut`), and functions read them
/// ([`Context::extension`](crate::Context::extension)). Clones share the values. An empty map does not allocate.
///
/// ```
/// use treenail::context::Extensions;
///
/// #[derive(Debug, PartialEq)]
/// struct Tenant(u32);
///
/// let mut extensions = Extensions::new();
/// extensions.insert(Tenant(7));
/// assert_eq!(extensions.get::<Tenant>(), Some(&Tenant(7)));
/// assert_eq!(extensions.get::<String>(), None);
/// ```
#[derive(Clone, Default)]
pub struct Extensions {
    /// A short list, so a linear search is fast. A change copies the list if a call still shares it.
    values: Option<Arc<Vec<Extension>>>,
}

#[derive(Clone)]
struct Extension {
    id: TypeId,
    /// The name of the type, for `Debug`.
    name: &'static str,
    value: Arc<dyn Any + Send + Sync>,
}

impl Extensions {
    /// Makes an empty map.
    pub const fn new() -> Self {
        Self { values: None }
    }

    /// Inserts a value, which replaces one of the same type.
    ///
    /// Clones of the map do not change.
    pub fn insert<T: Send + Sync + 'static>(&mut self, value: T) {
        let extension = Extension {
            id: TypeId::of::<T>(),
            name: type_name::<T>(),
            value: Arc::new(value),
        };
        let values = Arc::make_mut(self.values.get_or_insert_default());
        match values.iter_mut().find(|old| old.id == extension.id) {
            Some(old) => *old = extension,
            None => values.push(extension),
        }
    }

    /// Returns the value of the type `T`, if there is one.
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<&T> {
        let mut values = self.values.as_deref()?.iter();
        let extension = values.find(|extension| extension.id == TypeId::of::<T>())?;
        extension.value.downcast_ref()
    }

    /// Returns the value of the type `T`, here or in the extensions of the HTTP request.
    pub(crate) fn find<T: Send + Sync + 'static>(&self) -> Option<&T> {
        let own = self.get();
        #[cfg(feature = "http-server")]
        let own = own.or_else(|| {
            let request = self.get::<http::request::Parts>()?;
            request.extensions.get()
        });
        own
    }

    /// Removes the value of the type `T`. Returns `true` if there was one.
    pub fn remove<T: Send + Sync + 'static>(&mut self) -> bool {
        let found = self.get::<T>().is_some();
        if let Some(values) = self.values.as_mut().filter(|_| found) {
            Arc::make_mut(values).retain(|extension| extension.id != TypeId::of::<T>());
        }
        found
    }
}

/// Writes only the names of the types, because values may be secrets.
impl fmt::Debug for Extensions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values = self.values.as_deref().map_or(&[][..], Vec::as_slice);
        let names = values.iter().map(|extension| extension.name);
        formatter.debug_set().entries(names).finish()
    }
}

/// Id of a caller that a transport or a layer has authenticated. It is opaque to this library.
///
/// It is an [extension](Extensions) that functions read with [`Context::principal`](crate::Context::principal). Two calls
/// are of the same caller if the ids are equal. Data that no other caller may use is bound to it.
///
/// The id is written to logs (`Debug`, `Display`), so it must be the name of an account, and never a token or password.
///
/// ```
/// use treenail::Server;
/// use treenail::context::Principal;
///
/// // In a transport of your own, after authentication:
/// # let server = Server::builder("demo", "1.0.0").build()?;
/// let mut connection = server.connect();
/// connection.extensions_mut().insert(Principal::new("alice@example.com"));
/// # Ok::<(), treenail::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Principal(Arc<str>);

impl Principal {
    /// Makes the principal with this id.
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self(id.into())
    }

    /// Returns the id.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Principal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::{Extensions, Principal};

    #[test]
    fn a_change_is_not_seen_by_clones() {
        let mut one = Extensions::new();
        one.insert(Principal::new("alice"));
        one.insert(1_u8);
        let other = one.clone();
        one.insert(Principal::new("bob"));
        assert!(one.remove::<u8>());
        assert!(!one.remove::<u8>());
        assert_eq!(one.get::<Principal>().unwrap().as_str(), "bob");
        assert_eq!(one.get::<u8>(), None);
        assert_eq!(other.get::<Principal>().unwrap().as_str(), "alice");
        assert_eq!(other.get::<u8>(), Some(&1));
    }

    #[test]
    fn debug_shows_types_and_no_values() {
        let mut extensions = Extensions::new();
        assert_eq!(format!("{extensions:?}"), "{}");
        extensions.insert("a secret");
        assert_eq!(format!("{extensions:?}"), r#"{"&str"}"#);
    }
}
